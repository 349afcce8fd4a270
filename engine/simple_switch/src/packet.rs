//! Packets inside the switch: a store of reused slots, in which packets are identified by number.
//!
//! Headers and metadata are large, and most packets wait. The store therefore has one [`Phv`], which one packet holds
//! at a time. The packet's headers and metadata are saved in compact form only when another packet needs the [`Phv`]; a
//! packet that goes straight through is never saved.

use std::sync::Arc;

use bm::{Executable, Kept, Phv, SavedPhv};

use crate::frame::Frame;
use crate::limits::{MAX_PACKETS, MAX_STORED_BYTES};
use crate::v1model::V1Model;

/// Maximum number of buffers for saved headers and metadata kept for reuse; a bound on the memory of an idle switch.
const POOL_LIMIT: usize = 4096;

/// Identifies a packet in the [`PacketStore`] while it is there.
pub(crate) type PacketId = u32;

/// A packet's position in a queue when it first entered that queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueuePosition {
    pub(crate) port: u16,
    /// Its priority, or the traffic manager's number of a control queue.
    pub(crate) queue: u8,
    pub(crate) sequence: u64,
}

/// One packet between arrival and departure. Its headers and metadata are in the store's [`Phv`] or in `saved`.
pub(crate) struct Packet {
    /// The bytes as parsed, until egress writes the new headers in front of the payload.
    pub(crate) frame: Frame,
    /// The caller's tag.
    pub(crate) tag: u64,
    /// Maximum number of bytes that leave, from `truncate()`.
    pub(crate) truncate_to: u64,
    /// Field list of `recirculate()`; a call in ingress takes effect after egress, as in BMv2. 0: none.
    pub(crate) recirculate: u64,
    /// For the reordering statistic; kept across recirculations to the same queue.
    pub(crate) first_position: Option<QueuePosition>,
    /// Number of recirculations.
    pub(crate) recirculations: u32,
    /// Port on which it, or the packet it was copied from, arrived; BMv2's `Packet::get_ingress_port`.
    pub(crate) arrival_port: u16,
    /// Resubmissions and clones since it arrived or last recirculated.
    pub(crate) instant_steps: u16,
    /// Its frame's share of [`PacketStore::stored_bytes`].
    stored_bytes: u32,
    /// Whether it waits in a queue, so that egress is its next step.
    is_queued: bool,
    /// Meaningless while the packet holds the [`Phv`].
    saved: SavedPhv,
}

impl Packet {
    fn new(frame: Frame, tag: u64, arrival_port: u16) -> Self {
        Self {
            frame,
            tag,
            truncate_to: u64::MAX,
            recirculate: 0,
            first_position: None,
            recirculations: 0,
            arrival_port,
            instant_steps: 0,
            stored_bytes: 0,
            is_queued: false,
            saved: SavedPhv::default(),
        }
    }
}

/// All packets of a switch.
pub(crate) struct PacketStore {
    program: Arc<Executable>,
    packets: Vec<Packet>,
    free: Vec<PacketId>,
    phv: Phv,
    /// The packet whose headers and metadata are in `phv`.
    holder: Option<PacketId>,
    /// What is saved of a queued packet.
    kept: Kept,
    /// Whether all headers and metadata are saved nevertheless.
    keeps_whole_packets: bool,
    /// Buffers for `Packet::saved`.
    pool: Vec<SavedPhv>,
    /// Total bytes of all frames, with their lengths as last noted, and its limit.
    stored_bytes: usize,
    max_stored_bytes: usize,
}

impl PacketStore {
    pub(crate) fn new(program: &Arc<Executable>, v1model: &V1Model) -> Self {
        Self {
            kept: v1model.kept_while_queued(program),
            keeps_whole_packets: false,
            program: Arc::clone(program),
            packets: Vec::new(),
            free: Vec::new(),
            phv: Phv::new(program),
            holder: None,
            pool: Vec::new(),
            stored_bytes: 0,
            max_stored_bytes: MAX_STORED_BYTES,
        }
    }

    /// Returns an empty store for another program, which keeps whole packets if this one does.
    pub(crate) fn emptied(&self, program: &Arc<Executable>, v1model: &V1Model) -> Self {
        Self { keeps_whole_packets: self.keeps_whole_packets, ..Self::new(program, v1model) }
    }

    /// Takes a slot for a new packet with this frame. The packet holds the [`Phv`], still with the contents of the last
    /// holder. Returns the frame as `Err` if the switch is full.
    pub(crate) fn insert(&mut self, frame: Frame, tag: u64, arrival_port: u16) -> Result<PacketId, Frame> {
        if self.stored_bytes + frame.len() > self.max_stored_bytes {
            return Err(frame);
        }
        let id = if let Some(id) = self.free.pop() {
            self.packets[id as usize] = Packet::new(frame, tag, arrival_port);
            id
        } else if self.packets.len() < MAX_PACKETS {
            self.packets.push(Packet::new(frame, tag, arrival_port));
            self.packets.len() as PacketId - 1
        } else {
            return Err(frame);
        };
        self.put_holder_aside();
        self.holder = Some(id);
        self.note_length(id);
        Ok(id)
    }

    /// Updates the byte count after the length of a frame has changed. Returns whether the count is within its limit.
    pub(crate) fn note_length(&mut self, id: PacketId) -> bool {
        let packet = &mut self.packets[id as usize];
        let length = packet.frame.len();
        self.stored_bytes = self.stored_bytes - packet.stored_bytes as usize + length;
        // Frames are at most slightly longer than `MAX_FRAME_BYTES`.
        packet.stored_bytes = length as u32;
        self.stored_bytes <= self.max_stored_bytes
    }

    /// Frees the slot of a packet and returns its frame.
    pub(crate) fn remove(&mut self, id: PacketId) -> Frame {
        let packet = &mut self.packets[id as usize];
        let frame = std::mem::take(&mut packet.frame);
        self.stored_bytes -= packet.stored_bytes as usize;
        if self.holder == Some(id) {
            self.holder = None;
        } else {
            let saved = std::mem::take(&mut packet.saved);
            self.keep(saved);
        }
        self.free.push(id);
        frame
    }

    /// Returns a packet without its headers and metadata.
    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }

    /// Returns a packet without its headers and metadata, for changes.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }

    /// Marks a packet as queued: until [`PacketStore::open_dequeued`], only what egress needs is kept of it.
    #[inline]
    pub(crate) fn set_queued(&mut self, id: PacketId) {
        self.packets[id as usize].is_queued = true;
    }

    /// Opens a packet that has left its queue. From now on it holds the [`Phv`].
    #[inline]
    pub(crate) fn open_dequeued(&mut self, id: PacketId) -> (&mut Packet, &mut Phv) {
        if cfg!(debug_assertions) && self.holder == Some(id) {
            // In tests every packet is saved and restored, as if another had displaced it.
            self.put_holder_aside();
            self.holder = None;
        }
        self.packets[id as usize].is_queued = false;
        self.open(id)
    }

    /// Opens a packet of `length` bytes that has just arrived. It holds the [`Phv`], in which everything is 0.
    #[inline]
    pub(crate) fn begin(&mut self, id: PacketId, length: u64) -> (&mut Packet, &mut Phv) {
        self.open(id);
        self.phv.reset(&self.program, length);
        (&mut self.packets[id as usize], &mut self.phv)
    }

    /// Saves from now on all headers and metadata of packets that wait.
    pub(crate) fn keep_whole_packets(&mut self) {
        self.keeps_whole_packets = true;
    }

    /// Opens a packet that is not queued. From now on it holds the [`Phv`].
    #[inline]
    pub(crate) fn open(&mut self, id: PacketId) -> (&mut Packet, &mut Phv) {
        debug_assert!(!self.packets[id as usize].is_queued, "of a queued packet not all is there");
        if self.holder != Some(id) {
            self.hand_to(id);
        }
        (&mut self.packets[id as usize], &mut self.phv)
    }

    #[inline(never)]
    fn hand_to(&mut self, id: PacketId) {
        self.put_holder_aside();
        let saved = std::mem::take(&mut self.packets[id as usize].saved);
        self.phv.restore(&self.program, &self.kept, &saved);
        self.keep(saved);
        self.holder = Some(id);
    }

    fn put_holder_aside(&mut self) {
        if let Some(holder) = self.holder {
            let mut saved = self.pool.pop().unwrap_or_default();
            let packet = &mut self.packets[holder as usize];
            let kept = (packet.is_queued && !self.keeps_whole_packets).then_some(&self.kept);
            self.phv.save(&self.program, kept, &mut saved);
            packet.saved = saved;
        }
    }

    fn keep(&mut self, saved: SavedPhv) {
        if self.pool.len() < POOL_LIMIT {
            self.pool.push(saved);
        }
    }

    /// Returns the number of packets in the store.
    pub(crate) fn in_use(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(max_stored_bytes: usize) -> PacketStore {
        let json = include_bytes!("../tests/p4/probe.json");
        let program = Executable::new(bm::Program::from_json(json).expect("probe.json loads"));
        let v1model = V1Model::of(&program).expect("probe.json is of v1model");
        PacketStore { max_stored_bytes, ..PacketStore::new(&program, &v1model) }
    }

    fn insert(store: &mut PacketStore, bytes: usize) -> Option<PacketId> {
        store.insert(Frame::from_slice(&vec![0; bytes]), 0, 0).ok()
    }

    #[test]
    fn a_frame_that_would_exceed_the_bytes_is_refused_until_others_have_left() {
        let mut store = store(1000);
        let first = insert(&mut store, 600).expect("there is room");
        assert_eq!((insert(&mut store, 401), store.in_use()), (None, 1));
        assert!(insert(&mut store, 400).is_some());
        store.remove(first);
        assert!(insert(&mut store, 600).is_some());
    }

    #[test]
    fn a_frame_that_has_grown_is_counted_with_its_new_length() {
        let mut store = store(1000);
        let id = insert(&mut store, 600).expect("there is room");
        store.get_mut(id).frame.replace_front(0, &[0; 400]);
        assert!(store.note_length(id));
        assert_eq!(insert(&mut store, 1), None);
        store.get_mut(id).frame.replace_front(0, &[0; 1]);
        assert!(!store.note_length(id));
        store.remove(id);
        assert!(insert(&mut store, 1000).is_some());
    }
}
