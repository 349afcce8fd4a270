//! Parser and ingress, and the requests of ingress.
//!
//! After the ingress pipeline, BMv2's order: clone, digest, resubmit, multicast, drop, unicast.

use super::watch::watcher;
use super::Switch;
use crate::journey::{error_name, What};
use crate::limits::INSTANT_LIMIT;
use crate::packet::PacketId;
use crate::stats::DropCause;
use crate::unread::Digest;
use crate::v1model::instance_type;

impl Switch {
    /// Runs a packet whose metadata is set through parser and ingress, again for each resubmission.
    #[inline]
    pub(super) fn ingress(&mut self, id: PacketId) {
        let timed_port = self.timed_port(id);
        if self.watch.is_some() {
            self.ingress_watched(id);
        } else {
            while self.ingress_once::<false>(id) {}
        }
        if let Some(port) = timed_port {
            self.reread_timers(port);
        }
    }

    #[cold]
    fn ingress_watched(&mut self, id: PacketId) {
        if self.follows(id) {
            self.packets.get_mut(id).frame.make_whole();
        }
        while self.ingress_once::<true>(id) {}
    }

    /// Runs ingress once, and returns whether the packet must run again.
    fn ingress_once<const WATCHED: bool>(&mut self, id: PacketId) -> bool {
        let v1model = &self.v1model;
        let (packet, phv) = self.packets.open(id);
        let trace = watcher::<WATCHED>(&mut self.watch, id);
        let error = self.state.parse(v1model.parser, phv, &packet.frame, trace);
        if error != self.no_error {
            // Resubmitted and recirculated packets are whole, so this packet has just arrived.
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
        let trace = watcher::<WATCHED>(&mut self.watch, id);
        let checksums_hold = self.state.verify_checksums(phv, &packet.frame, trace);
        if let Some(field) = v1model.checksum_error {
            phv.set(field, u64::from(!checksums_hold));
        }
        if let (true, Some(watch)) = (WATCHED, &mut self.watch) {
            watch.traced(id, self.now, |follower| What::Parsed {
                events: follower.trace.take(),
                error: error_name(&self.program, error),
                checksums_hold,
            });
        }

        self.effects.start(self.now);
        let trace = watcher::<WATCHED>(&mut self.watch, id);
        let ran = self.state.run(v1model.ingress, phv, &mut self.effects, trace);
        let arrival_port = packet.arrival_port;
        if let (true, Some(watch)) = (WATCHED, &mut self.watch) {
            watch.ran(id, self.now, None, packet, phv, ran.as_ref().err());
        }
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
            self.reread_class_gates(arrival_port);
        } else {
            phv.set(self.v1model.instance_type, instance_type::NORMAL);
            self.enqueue::<WATCHED>(id, egress_spec);
        }
        false
    }

    pub(super) fn digest(&mut self, id: PacketId, learn_list: u64) {
        let Some(info) = self.program.learn_list(learn_list) else { return };
        let mut sample = Vec::new();
        let (_, phv) = self.packets.open(id);
        phv.sample(&self.program, info.list, &mut sample);
        self.digests.push(Digest { learn_list, sample });
    }

    /// Resets the packet to its state at arrival with only the metadata of the field list. Returns whether it may run again.
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

    /// Resets a packet of `length` bytes for another run of ingress, and keeps the fields of a list. BMv2 does not set
    /// the ingress port and its timestamp again: both read 0.
    pub(super) fn start_again(&mut self, id: PacketId, field_list: u64, length: u64, instance_type: u64) {
        let (packet, phv) = self.packets.open(id);
        packet.frame.make_whole();
        packet.truncate_to = u64::MAX;
        packet.recirculate = 0;
        std::mem::swap(phv, &mut self.scratch.phv);
        phv.reset(&self.program, length);
        if let Some(list) = self.program.field_list(field_list) {
            phv.copy_fields(&self.program, list, &self.scratch.phv);
        }
        phv.set(self.v1model.instance_type, instance_type);
        phv.set(self.v1model.packet_length, length);
    }
}
