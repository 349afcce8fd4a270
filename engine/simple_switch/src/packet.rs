//! Packets inside the switch, in a store of reused places, known by number.

use bm::{Phv, Program};

use crate::frame::Frame;
use crate::switch::MAX_PACKETS;

/// Names a packet in the [`PacketStore`] while it is there.
pub(crate) type PacketId = u32;

/// Where a packet stood in a queue when it first came to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstPlace {
    pub(crate) port: u16,
    pub(crate) priority: u8,
    pub(crate) sequence: u64,
}

/// One packet between its arrival and its departure.
pub(crate) struct Packet {
    /// Headers and metadata.
    pub(crate) phv: Phv,
    /// The bytes as they were parsed, until egress writes the new headers in front of the payload.
    pub(crate) frame: Frame,
    /// The caller's.
    pub(crate) tag: u64,
    /// Port by which it (or the packet it was copied from) came in; BMv2's `Packet::get_ingress_port`.
    pub(crate) arrival_port: u16,
    /// `truncate()`: at most this many bytes leave.
    pub(crate) truncate_to: u64,
    /// Field list of a `recirculate()` called in ingress, which BMv2 obeys after egress; 0 for none.
    pub(crate) recirculate: u64,
    /// Times round the recirculation loop.
    pub(crate) recirculations: u32,
    /// Resubmissions and clonings since it arrived or last recirculated.
    pub(crate) instant_steps: u16,
    /// For the reordering statistic; kept over recirculations to the same queue.
    pub(crate) first_place: Option<FirstPlace>,
}

impl Packet {
    /// Keeps at most `bytes` of the payload: what a copy of a truncated packet takes along. BMv2 keeps as many
    /// bytes, but the last ones.
    pub(crate) fn cut_payload(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.frame.truncate(self.phv.payload_offset().saturating_add(bytes));
    }
}

/// All packets of a switch. A place that is given back keeps its scratch for the next packet.
pub(crate) struct PacketStore {
    packets: Vec<Packet>,
    free: Vec<PacketId>,
}

impl PacketStore {
    pub(crate) fn new() -> Self {
        Self { packets: Vec::new(), free: Vec::new() }
    }

    /// A place for a new packet with this frame; its `phv` is as the last packet left it. `None` when the switch
    /// is full; the frame is then returned.
    pub(crate) fn insert(
        &mut self,
        program: &Program,
        frame: Frame,
        tag: u64,
        arrival_port: u16,
    ) -> Result<PacketId, Frame> {
        if let Some(id) = self.free.pop() {
            let packet = &mut self.packets[id as usize];
            packet.frame = frame;
            packet.tag = tag;
            packet.arrival_port = arrival_port;
            packet.truncate_to = u64::MAX;
            packet.recirculate = 0;
            packet.recirculations = 0;
            packet.instant_steps = 0;
            packet.first_place = None;
            return Ok(id);
        }
        if self.packets.len() >= MAX_PACKETS {
            return Err(frame);
        }
        let id = self.packets.len() as PacketId;
        self.packets.push(Packet {
            phv: Phv::new(program),
            frame,
            tag,
            arrival_port,
            truncate_to: u64::MAX,
            recirculate: 0,
            recirculations: 0,
            instant_steps: 0,
            first_place: None,
        });
        Ok(id)
    }

    /// Gives the place back and takes the frame out.
    pub(crate) fn remove(&mut self, id: PacketId) -> Frame {
        self.free.push(id);
        std::mem::take(&mut self.packets[id as usize].frame)
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }

    /// Two different packets at once: one to read, one to write.
    pub(crate) fn pair(&mut self, read: PacketId, write: PacketId) -> (&Packet, &mut Packet) {
        let (read, write) = (read as usize, write as usize);
        assert!(read != write, "a packet is not copied onto itself");
        if read < write {
            let (low, high) = self.packets.split_at_mut(write);
            (&low[read], &mut high[0])
        } else {
            let (low, high) = self.packets.split_at_mut(read);
            (&high[0], &mut low[write])
        }
    }

    /// Packets that are there now.
    pub(crate) fn in_use(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}
