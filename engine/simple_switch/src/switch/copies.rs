//! Copies of a packet: clones, and the replicas of a multicast group.

use super::Switch;
use crate::effects::CloneRequest;
use crate::journey::What;
use crate::limits::{INSTANT_COPIES, INSTANT_LIMIT};
use crate::mirroring::MirroringSession;
use crate::packet::PacketId;
use crate::pre::Replica;
use crate::stats::DropCause;
use crate::v1model::instance_type;

impl Switch {
    /// Clones a packet as it arrived: the clone is parsed again and keeps only the metadata of the field list.
    pub(super) fn clone_ingress_to_egress(&mut self, id: PacketId, request: CloneRequest) {
        let Some(session) = self.clone_session(id, request) else { return };
        let Some(copy) = self.copy(id) else { return };
        self.note(copy, |_| What::Clone { session: request.session, egress: false });
        let (packet, phv) = self.packets.open(copy);
        let length = packet.frame.len() as u64;
        std::mem::swap(phv, &mut self.scratch.phv);
        phv.reset(&self.program, length);
        // The parser may read the port, and the second parse must see what the first saw.
        phv.set(self.v1model.ingress_port, u64::from(packet.arrival_port));
        self.state.parse(self.v1model.parser, phv, &packet.frame, None);
        phv.reset_metadata(&self.program);
        if let Some(list) = self.program.field_list(request.field_list) {
            phv.copy_fields(&self.program, list, &self.scratch.phv);
        }
        phv.set(self.v1model.instance_type, instance_type::INGRESS_CLONE);
        self.send_clone(copy, session);
    }

    /// Returns the session of a request. If it does not exist, no clone is made, as in BMv2, and this is counted.
    pub(super) fn clone_session(&mut self, id: PacketId, request: CloneRequest) -> Option<MirroringSession> {
        let session = self.mirroring.get(&request.session).copied();
        if session.is_none() {
            self.counts.clone_sessions_missing += 1;
            self.note(id, |_| What::NoCloneSession { session: request.session });
        }
        session
    }

    /// Sends a clone to its session's group, then to its port.
    pub(super) fn send_clone(&mut self, id: PacketId, session: MirroringSession) {
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
                // As in BMv2, the copy to the port has the `egress_rid` of the group's last copy.
                if let (Some(last), Some(field)) = (self.scratch.replicas.last(), self.v1model.egress_rid) {
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

    /// Sends a packet to every replica of a group. With `keep`, each replica is a copy and the packet stays; otherwise
    /// the packet itself becomes the last replica. At most `length` bytes of each replica leave, whatever `truncate`
    /// set for the packet.
    pub(super) fn multicast(&mut self, id: PacketId, mgid: u16, keep: bool, length: u64) {
        let mut replicas = std::mem::take(&mut self.scratch.replicas);
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
        self.scratch.replicas = replicas;
    }

    fn set_replica(&mut self, id: PacketId, group: u16, replica: Replica) {
        let Replica { egress_port: port, rid } = replica;
        self.note(id, |_| What::Replica { group, rid, port });
        if let Some(field) = self.v1model.egress_rid {
            self.packets.open(id).1.set(field, u64::from(rid));
        }
    }

    /// Copies a packet with frame, headers and metadata into its own slot, in full length even if the packet will be
    /// truncated. Returns `None`, and counts the drop, if no copy can be made.
    pub(super) fn copy(&mut self, id: PacketId) -> Option<PacketId> {
        self.counts.copies += 1;
        let (original, _) = self.packets.open(id);
        let (tag, port, steps) = (original.tag, original.arrival_port, original.instant_steps);
        if steps == 0 || self.copied.at != self.now {
            (self.copied.at, self.copied.of_copies) = (self.now, 0);
        } else {
            self.copied.of_copies += 1;
        }
        if steps >= INSTANT_LIMIT || self.copied.of_copies > INSTANT_COPIES {
            self.tm.stats_mut(port).drops.count(DropCause::InstantLimit);
            self.note(id, |_| What::NotCopied { cause: DropCause::InstantLimit });
            return None;
        }
        original.frame.make_whole();
        let frame = self.frames.copy_of(&original.frame);
        // The original is saved; the `Phv` keeps its contents, now as the copy's.
        match self.packets.insert(frame, tag, port) {
            Ok(copy) => {
                self.packets.get_mut(copy).instant_steps = steps + 1;
                if self.watch.is_some() {
                    self.note_copy(id, copy);
                }
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
}
