//! A packet's path from its queue to the wire: egress, the deparser, and the requests of egress.
//!
//! After the egress pipeline, BMv2's order: clone, drop, deparse, recirculate, transmit.

use super::watch::watcher;
use super::{Switch, Transmit};
use crate::effects::CloneRequest;
use crate::journey::What;
use crate::limits::MAX_FRAME_BYTES;
use crate::packet::PacketId;
use crate::stats::DropCause;
use crate::traffic_manager::Dequeued;
use crate::v1model::instance_type;

impl Switch {
    /// Runs a packet that has just left its queue through egress, and then sends, recirculates or drops it.
    #[inline]
    pub(super) fn egress(&mut self, port: u16, dequeued: Dequeued) {
        let timed_port = self.timed_port(dequeued.packet);
        if self.watch.is_some() {
            self.egress_watched(port, dequeued);
        } else {
            self.egress_once::<false>(port, dequeued);
        }
        if let Some(port) = timed_port {
            self.reread_timers(port);
        }
    }

    #[cold]
    fn egress_watched(&mut self, port: u16, dequeued: Dequeued) {
        self.note(dequeued.packet, |_| What::Dequeued { port });
        self.egress_once::<true>(port, dequeued);
    }

    fn egress_once<const WATCHED: bool>(&mut self, port: u16, dequeued: Dequeued) {
        let Dequeued { packet: id, priority, depth } = dequeued;
        let v1model = &self.v1model;
        let drop_port = u64::from(self.config.drop_port);
        let (packet, phv) = self.packets.open_dequeued(id);
        let ticks = self.clock.ticks(self.now);
        if let Some(field) = v1model.egress_global_timestamp {
            phv.set(field, ticks);
        }
        if let Some(fields) = &v1model.queueing {
            phv.set(fields.deq_timedelta, ticks.wrapping_sub(phv.get(fields.enq_timestamp)));
            phv.set(fields.deq_qdepth, depth as u64);
            if let Some(qid) = fields.qid {
                phv.set(qid, priority.min(self.config.priorities - 1) as u64);
            }
        }
        phv.set(v1model.egress_port, u64::from(port));
        // BMv2 writes this value; it must only differ from the drop port.
        phv.set(v1model.egress_spec, drop_port + 1);
        phv.set(v1model.packet_length, phv.packet_length);

        self.effects.start(self.now);
        let trace = watcher::<WATCHED>(&mut self.watch, id);
        let ran = self.state.run(v1model.egress, phv, &mut self.effects, trace);
        if let (true, Some(watch)) = (WATCHED, &mut self.watch) {
            watch.ran(id, self.now, Some(port), packet, phv, ran.as_ref().err());
        }
        if ran.is_err() {
            return self.drop_packet(id, port, DropCause::ProgramFault);
        }
        let requests = self.effects.requests();
        packet.truncate_to = packet.truncate_to.min(requests.truncate_to);
        if requests.recirculate != 0 {
            packet.recirculate = requests.recirculate;
        }
        let is_dropped = phv.get(v1model.egress_spec) == drop_port;

        if let Some(clone) = requests.clone {
            self.clone_egress_to_egress(id, clone);
        }
        if is_dropped {
            return self.drop_packet(id, port, DropCause::Egress);
        }
        self.deparse::<WATCHED>(id);
        let packet = self.packets.get(id);
        if packet.frame.len() > MAX_FRAME_BYTES {
            self.drop_packet(id, port, DropCause::FrameTooLong);
        } else if packet.recirculate != 0 {
            self.recirculate(id, port);
        } else if !self.tm.is_attached(port) {
            self.drop_packet(id, port, DropCause::NoSuchPort);
        } else {
            self.transmit::<WATCHED>(id, port);
        }
    }

    /// Clones the packet as egress left it; the clone keeps only the metadata of the field list.
    fn clone_egress_to_egress(&mut self, id: PacketId, request: CloneRequest) {
        let Some(session) = self.clone_session(id, request) else { return };
        let Some(copy) = self.copy(id) else { return };
        self.note(copy, |_| What::Clone { session: request.session, egress: true });
        let (_, phv) = self.packets.open(copy);
        match self.program.field_list(request.field_list) {
            Some(list) => phv.reset_metadata_except(&self.program, list),
            None => phv.reset_metadata(&self.program),
        }
        phv.set(self.v1model.instance_type, instance_type::EGRESS_CLONE);
        self.send_clone(copy, session);
    }

    /// Writes the current headers in front of the payload, and truncates the frame as `truncate` requested. A frame
    /// that recirculates stays whole, as in BMv2.
    fn deparse<const WATCHED: bool>(&mut self, id: PacketId) {
        let (packet, phv) = self.packets.open(id);
        let parsed = phv.payload_offset().min(packet.frame.len());
        let trace = watcher::<WATCHED>(&mut self.watch, id);
        self.state.update_checksums(phv, &packet.frame[parsed..], trace);
        if let (true, Some(watch)) = (WATCHED, &mut self.watch) {
            watch.traced(id, self.now, |follower| What::Deparsed { events: follower.trace.take() });
        }
        self.scratch.headers.clear();
        self.state.deparse(self.v1model.deparser, phv, &mut self.scratch.headers);
        packet.frame.replace_front(parsed, &self.scratch.headers);
        if packet.recirculate == 0 {
            packet.frame.truncate(usize::try_from(packet.truncate_to).unwrap_or(usize::MAX));
        }
    }

    /// Recirculates the packet, which is a frame again.
    fn recirculate(&mut self, id: PacketId, port: u16) {
        let packet = self.packets.get_mut(id);
        if packet.recirculations >= self.config.recirculation_limit {
            return self.drop_packet(id, port, DropCause::RecirculationLimit);
        }
        // It may be longer than when it arrived.
        if !self.packets.note_length(id) {
            return self.drop_packet(id, port, DropCause::NoBuffer);
        }
        let packet = self.packets.get_mut(id);
        packet.recirculations += 1;
        packet.instant_steps = 0;
        let (field_list, length) = (packet.recirculate, packet.frame.len() as u64);
        self.start_again(id, field_list, length, instance_type::RECIRC);
        self.counts.recirculated += 1;
        self.circulate(id);
    }

    fn transmit<const WATCHED: bool>(&mut self, id: PacketId, port: u16) {
        let packet = self.packets.get(id);
        let (tag, first_position) = (packet.tag, packet.first_position);
        let ready = self.ready.min(self.now);
        let wire_time = self.tm.transmit(port, self.now, packet.frame.len(), first_position);
        if WATCHED {
            self.note_sent(id, port, wire_time);
        }
        let frame = self.packets.remove(id);
        self.outbox.push_back(Transmit { port, at: self.now, ready, wire_time, frame, tag });
    }
}
