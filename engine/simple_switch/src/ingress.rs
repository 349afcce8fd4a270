//! A packet's way from its arrival to a queue: parser, ingress, and what ingress asked for.
//!
//! After the ingress pipeline, BMv2's order: clone, digest, resubmit, multicast, drop, unicast.

use crate::effects::CloneRequest;
use crate::journey::{watcher, What};
use crate::mirroring::MirroringSession;
use crate::packet::PacketId;
use crate::switch::{Switch, INSTANT_COPIES, INSTANT_LIMIT, MAX_FRAME_BYTES};
use crate::v1model::instance_type;
use crate::{Digest, DropCause, Frame, Replica};

impl Switch {
    /// Takes a frame in from a port.
    pub(crate) fn receive(&mut self, port: u16, mut frame: Frame, tag: u64) {
        if self.v1model.reads_payloads {
            frame.make_whole();
        }
        let length = frame.len();
        let stats = self.tm.stats_mut(port);
        stats.rx_packets += 1;
        stats.rx_bytes += length as u64;
        let refused = if !self.tm.is_attached(port) {
            Some((DropCause::NoSuchPort, frame))
        } else if length > MAX_FRAME_BYTES {
            Some((DropCause::FrameTooLong, frame))
        } else {
            match self.packets.insert(frame, tag, port) {
                Ok(id) => {
                    self.begin(id);
                    self.note_arrival(id, port, tag);
                    self.ingress(id);
                    None
                }
                Err(frame) => Some((DropCause::NoBuffer, frame)),
            }
        };
        if let Some((cause, frame)) = refused {
            self.tm.stats_mut(port).drops.count(cause);
            self.note_refusal(port, tag, &frame, cause);
            self.frames.give(frame);
        }
    }

    /// Sets the metadata of a packet that has just arrived.
    #[inline]
    fn begin(&mut self, id: PacketId) {
        let (packet, phv) = self.packets.open(id);
        let length = packet.frame.len() as u64;
        phv.reset(&self.program, length);
        phv.set(self.v1model.ingress_port, u64::from(packet.arrival_port));
        phv.set(self.v1model.packet_length, length);
        phv.set(self.v1model.instance_type, instance_type::NORMAL);
        if let Some(timestamp) = self.v1model.ingress_global_timestamp {
            phv.set(timestamp, self.clock.ticks(self.now));
        }
    }

    /// A packet of which the parser may have wanted bytes that are not there: puts them there, and the packet is as it came.
    #[cold]
    fn begin_again_whole(&mut self, id: PacketId) {
        self.packets.get_mut(id).frame.make_whole();
        self.begin(id);
    }

    /// Runs a packet whose metadata is set through parser and ingress, as often as it is resubmitted.
    #[inline]
    pub(crate) fn ingress(&mut self, id: PacketId) {
        if self.follower.is_some() {
            return self.ingress_watched(id);
        }
        while self.ingress_once::<false>(id) {}
    }

    #[cold]
    fn ingress_watched(&mut self, id: PacketId) {
        self.packets.get_mut(id).frame.make_whole();
        while self.ingress_once::<true>(id) {}
    }

    /// One run; returns whether the packet is to run again.
    fn ingress_once<const WATCHED: bool>(&mut self, id: PacketId) -> bool {
        let v1model = &self.v1model;
        let (packet, phv) = self.packets.open(id);
        let error = match watcher::<WATCHED>(&mut self.follower, id) {
            None => self.state.parse(v1model.parser, phv, &packet.frame),
            Some(trace) => self.state.parse_traced(v1model.parser, phv, &packet.frame, trace),
        };
        if error != self.no_error {
            // What comes round again is whole, so this packet has just arrived.
            if packet.frame.is_snapped() {
                self.begin_again_whole(id);
                return true;
            }
            self.counts.parser_errors += 1;
        }
        self.counts.p4_passes += 1;
        if let Some(field) = v1model.parser_error {
            phv.set(field, u64::from(error));
        }
        let checksums_hold = self.state.verify_checksums(phv, &packet.frame);
        if let Some(field) = v1model.checksum_error {
            phv.set(field, u64::from(!checksums_hold));
        }
        if let (true, Some(follower)) = (WATCHED, &mut self.follower) {
            follower.parsed(id, self.now, error, checksums_hold);
        }

        self.effects.start(self.now);
        let ran = match watcher::<WATCHED>(&mut self.follower, id) {
            None => self.state.run(v1model.ingress, phv, &mut self.effects),
            Some(trace) => self.state.run_traced(v1model.ingress, phv, &mut self.effects, trace),
        };
        if let (true, Some(follower)) = (WATCHED, &mut self.follower) {
            follower.ran(id, self.now, false, phv, ran.as_ref().err());
        }
        let arrival_port = packet.arrival_port;
        if ran.is_err() {
            self.drop_packet(id, arrival_port, DropCause::ProgramFault);
            return false;
        }
        let requests = self.effects.requests();
        packet.truncate_to = packet.truncate_to.min(requests.truncate_to);
        packet.recirculate = requests.recirculate;
        let egress_spec = phv.get(v1model.egress_spec);
        let mcast_grp = v1model.mcast_grp.map_or(0, |field| phv.get(field));

        if let Some(clone) = requests.clone {
            self.clone_ingress_to_egress(id, clone);
        }
        if requests.digest != 0 {
            self.digest(id, requests.digest);
        }
        if requests.resubmit != 0 {
            return self.resubmit(id, requests.resubmit);
        }
        let (_, phv) = self.packets.open(id);
        if mcast_grp != 0 {
            phv.set(self.v1model.instance_type, instance_type::REPLICATION);
            self.multicast(id, mcast_grp as u16, false, u64::MAX);
        } else if egress_spec == u64::from(self.config.drop_port) {
            self.drop_packet(id, arrival_port, DropCause::Ingress);
        } else {
            phv.set(self.v1model.instance_type, instance_type::NORMAL);
            self.enqueue::<WATCHED>(id, egress_spec);
        }
        false
    }

    /// The clone is the packet as it arrived: parsed again, and with no metadata but the field list's.
    fn clone_ingress_to_egress(&mut self, id: PacketId, request: CloneRequest) {
        let Some(session) = self.clone_session(id, request) else { return };
        let Some(copy) = self.copy(id) else { return };
        self.note(copy, |_| What::Clone { session: request.session, egress: false });
        let (packet, phv) = self.packets.open(copy);
        let length = packet.frame.len() as u64;
        std::mem::swap(phv, &mut self.spare);
        phv.reset(&self.program, length);
        // A parser may look at the port; the second parse must see what the first saw.
        phv.set(self.v1model.ingress_port, u64::from(packet.arrival_port));
        self.state.parse(self.v1model.parser, phv, &packet.frame);
        phv.reset_metadata(&self.program);
        if let Some(list) = self.program.field_list(request.field_list) {
            phv.copy_fields(&self.program, list, &self.spare);
        }
        phv.set(self.v1model.instance_type, instance_type::INGRESS_CLONE);
        self.send_clone(copy, session);
    }

    /// The session of a request; one that does not exist makes no clone, as in BMv2, and is counted.
    pub(crate) fn clone_session(&mut self, id: PacketId, request: CloneRequest) -> Option<MirroringSession> {
        let session = self.mirroring.get(request.session);
        if session.is_none() {
            self.counts.clone_sessions_missing += 1;
            self.note(id, |_| What::NoCloneSession { session: request.session });
        }
        session
    }

    /// Sends a clone to its session's group, then to its port.
    pub(crate) fn send_clone(&mut self, id: PacketId, session: MirroringSession) {
        let truncate_to = match session.packet_length_bytes {
            0 => u64::MAX,
            bytes => u64::from(bytes),
        };
        let (packet, phv) = self.packets.open(id);
        packet.truncate_to = packet.truncate_to.min(truncate_to);
        if let Some(field) = self.v1model.priority {
            phv.set(field, u64::from(session.class_of_service));
        }
        match (session.mgid, session.egress_port) {
            (Some(mgid), None) => self.multicast(id, mgid, false, truncate_to),
            (Some(mgid), Some(port)) => {
                self.multicast(id, mgid, true, truncate_to);
                // As in BMv2: the copy to the port has the `egress_rid` of the group's last one.
                if let (Some(last), Some(field)) = (self.replicas.last(), self.v1model.egress_rid) {
                    self.packets.open(id).1.set(field, u64::from(last.rid));
                }
                self.enqueue::<true>(id, u64::from(port));
            }
            (None, Some(port)) => self.enqueue::<true>(id, u64::from(port)),
            (None, None) => {
                let port = self.packets.get(id).arrival_port;
                self.drop_packet(id, port, DropCause::NoReplicas);
            }
        }
    }

    fn digest(&mut self, id: PacketId, learn_list: u64) {
        let Some(info) = self.program.learn_list(learn_list) else { return };
        let mut sample = Vec::new();
        let (_, phv) = self.packets.open(id);
        phv.sample(&self.program, info.list, &mut sample);
        if self.digests.push(Digest { learn_list, sample }) {
            self.counts.digests_lost += 1;
        }
    }

    /// Makes the packet as it arrived, with no metadata but the field list's; returns whether it may run again.
    fn resubmit(&mut self, id: PacketId, field_list: u64) -> bool {
        let packet = self.packets.get_mut(id);
        if packet.instant_steps >= INSTANT_LIMIT {
            let port = packet.arrival_port;
            self.drop_packet(id, port, DropCause::InstantLimit);
            return false;
        }
        packet.instant_steps += 1;
        let length = packet.frame.len() as u64;
        self.start_again(id, field_list, length, instance_type::RESUBMIT);
        self.counts.resubmitted += 1;
        self.note(id, |_| What::Resubmitted);
        true
    }

    /// Resets a packet of `length` bytes for another run of ingress, keeping the fields of a list. BMv2 sets neither
    /// the ingress port nor its timestamp again: both read 0.
    pub(crate) fn start_again(&mut self, id: PacketId, field_list: u64, length: u64, instance_type: u64) {
        let (packet, phv) = self.packets.open(id);
        packet.frame.make_whole();
        packet.truncate_to = u64::MAX;
        packet.recirculate = 0;
        std::mem::swap(phv, &mut self.spare);
        phv.reset(&self.program, length);
        if let Some(list) = self.program.field_list(field_list) {
            phv.copy_fields(&self.program, list, &self.spare);
        }
        phv.set(self.v1model.instance_type, instance_type);
        phv.set(self.v1model.packet_length, length);
    }

    /// Sends a packet to every replica of a group. With `keep` each is a copy and the packet stays; otherwise
    /// the packet itself becomes the last one. Of each, `length` bytes leave at most, whatever `truncate` said of
    /// the packet.
    fn multicast(&mut self, id: PacketId, mgid: u16, keep: bool, length: u64) {
        let mut replicas = std::mem::take(&mut self.replicas);
        replicas.clear();
        replicas.extend_from_slice(self.pre.replicas(mgid).unwrap_or(&[]));
        let originals = usize::from(!keep).min(replicas.len());
        let (copies, last) = replicas.split_at(replicas.len() - originals);
        for replica in copies {
            let Some(copy) = self.copy(id) else { continue };
            self.packets.get_mut(copy).truncate_to = length;
            self.set_replica(copy, mgid, *replica);
            self.enqueue::<true>(copy, u64::from(replica.egress_port));
        }
        if let [replica] = last {
            let packet = self.packets.get_mut(id);
            packet.truncate_to = length;
            packet.recirculate = 0;
            self.set_replica(id, mgid, *replica);
            self.enqueue::<true>(id, u64::from(replica.egress_port));
        } else if !keep {
            let port = self.packets.get(id).arrival_port;
            self.drop_packet(id, port, DropCause::NoReplicas);
        }
        self.replicas = replicas;
    }

    fn set_replica(&mut self, id: PacketId, group: u16, replica: Replica) {
        let Replica { egress_port: port, rid } = replica;
        self.note(id, |_| What::Replica { group, rid, port });
        if let Some(field) = self.v1model.egress_rid {
            self.packets.open(id).1.set(field, u64::from(rid));
        }
    }

    /// A copy of a packet with frame, headers and metadata in a place of its own, and whole even if the packet is to be
    /// truncated. `None`, and counted, when there can be
    /// none.
    pub(crate) fn copy(&mut self, id: PacketId) -> Option<PacketId> {
        self.counts.copies += 1;
        let (original, _) = self.packets.open(id);
        let (tag, port, steps) = (original.tag, original.arrival_port, original.instant_steps);
        if steps == 0 || self.copied_at != self.now {
            (self.copied_at, self.copies_of_copies) = (self.now, 0);
        } else {
            self.copies_of_copies += 1;
        }
        if steps >= INSTANT_LIMIT || self.copies_of_copies > INSTANT_COPIES {
            self.tm.stats_mut(port).drops.count(DropCause::InstantLimit);
            self.note(id, |_| What::NotCopied { cause: DropCause::InstantLimit });
            return None;
        }
        original.frame.make_whole();
        let frame = self.frames.copy_of(&original.frame);
        // The original is put aside, and stays in the `Phv` as the copy.
        match self.packets.insert(frame, tag, port) {
            Ok(copy) => {
                self.packets.get_mut(copy).instant_steps = steps + 1;
                self.note_copy(id, copy);
                Some(copy)
            }
            Err(frame) => {
                self.tm.stats_mut(port).drops.count(DropCause::NoBuffer);
                self.note(id, |_| What::NotCopied { cause: DropCause::NoBuffer });
                self.frames.give(frame);
                None
            }
        }
    }

    /// Puts a packet into the queue of a port, by its priority.
    pub(crate) fn enqueue<const WATCHED: bool>(&mut self, id: PacketId, port: u64) {
        // A port beyond v1model's range keeps its books under the last number that u16 has.
        let port = u16::try_from(port).unwrap_or(u16::MAX);
        if usize::from(port) >= crate::PORT_COUNT {
            return self.drop_packet(id, port, DropCause::NoSuchPort);
        }
        let (packet, phv) = self.packets.open(id);
        let priority = self.v1model.priority.map_or(0, |field| phv.get(field)) as usize;
        if priority >= self.config.priorities {
            return self.drop_packet(id, port, DropCause::PriorityOutOfRange);
        }
        if let Some(fields) = &self.v1model.queueing {
            phv.set(fields.enq_timestamp, self.clock.ticks(self.now));
            phv.set(fields.enq_qdepth, self.tm.depth(port, priority) as u64);
        }
        let bytes = u32::try_from(phv.packet_length).unwrap_or(u32::MAX);
        if self.tm.enqueue(port, priority, id, bytes, self.now).is_err() {
            return self.drop_packet(id, port, DropCause::QueueFull);
        }
        let is_here =
            |first: crate::packet::FirstPlace| first.port == port && usize::from(first.priority) == priority;
        if !packet.first_place.is_some_and(is_here) {
            packet.first_place = Some(self.tm.first_place(port, priority));
        }
        self.packets.set_queued(id);
        if WATCHED {
            self.note(id, |switch| What::Queued {
                port,
                priority,
                packets_ahead: switch.tm.depth(port, priority) - 1,
                bytes_ahead: switch.tm.queue_bytes(port).get() - u64::from(bytes),
                gate_opens: switch.gate_opens(port),
                wire_free: switch.tm.wire_free(port),
            });
        }
        self.schedule_arrival(port);
    }
}
