//! Follows packets: what the steps of their way write down while somebody wants to know. See `journey`.

use super::Switch;
use crate::frame::Frame;
use crate::journey::{Follower, Journey, What};
use crate::packet::PacketId;
use crate::stats::DropCause;

impl Switch {
    /// From now on writes down what happens to frames that arrive with this tag, and to their copies. What was written
    /// down before is forgotten. A program loaded with [`bm::Program::from_json_for_tracing`] tells the most.
    pub fn follow(&mut self, tag: u64) {
        // A journey shows what a packet has, also where nothing reads it.
        self.packets.keep_whole_packets();
        self.follower = Some(Box::new(Follower::new(&self.program, tag)));
    }

    /// What has been written down since [`Switch::follow`], and goes on following. Empty when nothing is followed.
    pub fn take_journey(&mut self) -> Journey {
        self.follower.as_deref_mut().map(Follower::take).unwrap_or_default()
    }

    /// Follows nothing any more.
    pub fn stop_following(&mut self) {
        self.follower = None;
    }

    /// Writes a step down, if the packet is followed.
    #[inline]
    pub(super) fn note(&mut self, id: PacketId, what: impl FnOnce(&Switch) -> What) {
        if self.follower.is_some() {
            self.note_followed(id, what);
        }
    }

    #[cold]
    fn note_followed(&mut self, id: PacketId, what: impl FnOnce(&Switch) -> What) {
        if !self.follower.as_deref().is_some_and(|follower| follower.follows(id)) {
            return;
        }
        let (at, what) = (self.now, what(self));
        if let Some(follower) = self.follower.as_deref_mut() {
            follower.note(id, at, what);
        }
    }

    /// A frame has come in and has this id.
    #[inline]
    pub(super) fn note_arrival(&mut self, id: PacketId, port: u16, tag: u64) {
        if self.follower.as_deref().is_some_and(|follower| follower.is_for(tag)) {
            self.start_following(id, port);
        }
    }

    #[cold]
    pub(super) fn start_following(&mut self, id: PacketId, port: u16) {
        if let Some(follower) = self.follower.as_deref_mut() {
            follower.add(id);
        }
        self.note(id, |switch| What::Arrived { port, frame: switch.packets.get(id).frame.to_vec() });
    }

    /// A frame was refused before it had an id.
    #[cold]
    pub(super) fn note_refusal(&mut self, port: u16, tag: u64, frame: &Frame, cause: DropCause) {
        let at = self.now;
        if let Some(follower) = self.follower.as_deref_mut().filter(|follower| follower.is_for(tag)) {
            follower.refused(at, port, frame, cause);
        }
    }

    /// A copy of a packet has this id.
    #[inline]
    pub(super) fn note_copy(&mut self, id: PacketId, copy: PacketId) {
        if self.follower.is_some() {
            self.follow_copy(id, copy);
        }
    }

    #[cold]
    fn follow_copy(&mut self, id: PacketId, copy: PacketId) {
        let at = self.now;
        if let Some(follower) = self.follower.as_deref_mut() {
            follower.copied(id, copy, at);
        }
    }
}
