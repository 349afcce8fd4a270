//! Arrival of a frame: the switch stores it or refuses it, and sets its metadata.

use super::Switch;
use crate::frame::Frame;
use crate::limits::MAX_FRAME_BYTES;
use crate::packet::PacketId;
use crate::stats::DropCause;
use crate::v1model::instance_type;

impl Switch {
    /// Receives a frame on a port.
    pub(super) fn receive(&mut self, port: u16, mut frame: Frame, tag: u64) {
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
                    if self.watch.is_some() {
                        self.note_arrival(id, port, tag);
                    }
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
    pub(super) fn begin(&mut self, id: PacketId) {
        let length = self.packets.get(id).frame.len() as u64;
        let (packet, phv) = self.packets.begin(id, length);
        phv.set(self.v1model.ingress_port, u64::from(packet.arrival_port));
        phv.set(self.v1model.packet_length, length);
        phv.set(self.v1model.instance_type, instance_type::NORMAL);
        if let Some(timestamp) = self.v1model.ingress_global_timestamp {
            phv.set(timestamp, self.clock.ticks(self.now));
        }
    }

    /// Appends the omitted zeros, which the parser may have needed, and resets the packet to its state at arrival.
    #[cold]
    pub(super) fn begin_again_whole(&mut self, id: PacketId) {
        self.packets.get_mut(id).frame.make_whole();
        self.begin(id);
    }
}
