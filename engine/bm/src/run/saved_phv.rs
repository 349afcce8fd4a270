//! Saves a packet's headers and metadata while another packet uses the [`Phv`]: all of them, or only the words that may still be
//! read (see `program::liveness`).

use super::phv::Phv;
use crate::program::{Kept, Program};

/// Value of words that were not kept and must not be read, in debug builds: it exposes a wrong read.
const UNREAD: u64 = 0xdead_dead_dead_dead;

/// A packet saved by [`Phv::save`]. Its buffers are reused.
#[derive(Debug, Clone, Default)]
pub struct SavedPhv {
    /// Of a whole packet all words, otherwise the words of [`Kept`], in its order.
    words: Vec<u64>,
    is_whole: bool,
    /// Bytes of the variable-length fields; their length fields give their lengths.
    vl: Vec<u8>,
    ingress_length: u64,
    packet_length: u64,
    payload_offset: usize,
}

impl Phv {
    /// Saves the words of `kept`, which belongs to this program, or all words. Scratch memory is not saved: nothing reads it
    /// before writing it.
    pub fn save(&mut self, program: &Program, kept: Option<&Kept>, to: &mut SavedPhv) {
        to.words.clear();
        to.is_whole = kept.is_none();
        match kept {
            Some(kept) => self.save_kept(kept, to),
            None => to.words.extend_from_slice(&self.slots[..program.packet.reset_end]),
        }
        to.vl.clear();
        for &store in &program.packet.vl_stores {
            to.vl.extend_from_slice(self.vl_bytes(store));
        }
        to.ingress_length = self.ingress_length;
        to.packet_length = self.packet_length;
        to.payload_offset = self.payload_offset;
    }

    fn save_kept(&mut self, kept: &Kept, to: &mut SavedPhv) {
        // Not more than any packet has needed, because a queue holds many of these; not less, so that a reused buffer does not
        // grow.
        to.words.reserve_exact(self.largest_kept);
        for run in &kept.always {
            to.words.extend_from_slice(&self.slots[run.clone()]);
        }
        for (valid, words) in &kept.if_valid {
            if self.slots[*valid] != 0 {
                to.words.extend_from_slice(&self.slots[words.clone()]);
            }
        }
        self.largest_kept = self.largest_kept.max(to.words.len());
    }

    /// Restores a packet that was saved from a [`Phv`] of the same program, with the same `kept`.
    pub fn restore(&mut self, program: &Program, kept: &Kept, from: &SavedPhv) {
        if from.is_whole {
            self.slots[..program.packet.reset_end].copy_from_slice(&from.words);
        } else {
            self.restore_kept(program, kept, from);
        }
        let mut vl = &from.vl[..];
        for store in &program.packet.vl_stores {
            let (bytes, others) = vl.split_at(self.slots[store.length as usize] as usize);
            self.vl[store.start..store.start + bytes.len()].copy_from_slice(bytes);
            vl = others;
        }
        self.ingress_length = from.ingress_length;
        self.packet_length = from.packet_length;
        self.payload_offset = from.payload_offset;
    }

    fn restore_kept(&mut self, program: &Program, kept: &Kept, from: &SavedPhv) {
        let slots = &mut self.slots[..program.packet.reset_end];
        if cfg!(debug_assertions) {
            slots.fill(UNREAD);
        }
        let mut words = &from.words[..];
        let mut take = |to: &mut [u64]| {
            let (these, others) = words.split_at(to.len());
            to.copy_from_slice(these);
            words = others;
        };
        for run in &kept.always {
            take(&mut slots[run.clone()]);
        }
        for (valid, words) in &kept.if_valid {
            if slots[*valid] != 0 {
                take(&mut slots[words.clone()]);
            }
        }
    }
}
