//! Saves a packet's headers and metadata in compact form, while another packet uses the [`Phv`]: all of them, or only the words
//! that may still be read (see `program::liveness`).
//!
//! Most fields of a packet are zero: the fields of headers that it does not have, and most metadata. The packet data are
//! therefore saved in blocks of a few words, without the blocks of zeros.

use super::phv::Phv;
use crate::program::{Kept, Program};

/// Value of words that were not kept and must not be read, in debug builds: it exposes a wrong read.
const UNREAD: u64 = 0xdead_dead_dead_dead;

/// Words per block. Smaller blocks need less memory; larger blocks are faster to save.
const BLOCK: usize = 4;

/// A packet saved by [`Phv::save`] or [`Phv::save_kept`]. Its buffers are reused.
#[derive(Debug, Clone, Default)]
pub struct SavedPhv {
    /// For a whole packet: for each 64 blocks, a bit per block that is not all zeros, then these blocks; at the end the words
    /// of an incomplete block. Otherwise: the words of [`Kept`], in its order.
    words: Vec<u64>,
    is_whole: bool,
    /// Bytes of the variable-length fields; their length fields give their lengths.
    vl: Vec<u8>,
    ingress_length: u64,
    packet_length: u64,
    payload_offset: usize,
}

impl Phv {
    /// Saves all packet data. Scratch memory is not saved: nothing reads it before writing it.
    pub fn save(&mut self, program: &Program, to: &mut SavedPhv) {
        let slots = &self.slots[..program.packet.reset_end];
        let (blocks, rest) = slots.split_at(slots.len() - slots.len() % BLOCK);
        let groups = blocks.chunks(64 * BLOCK);
        let mut used = rest.len() + groups.len();
        self.present.clear();
        for group in groups.clone() {
            // Free of branches and separate from the copying, because the blocks of zeros differ from packet to packet.
            let is_present = |block: &[u64]| u64::from(block.iter().fold(0, |any, word| any | word) != 0);
            let present =
                group.chunks_exact(BLOCK).rev().fold(0, |bits, block| bits << 1 | is_present(block));
            used += BLOCK * present.count_ones() as usize;
            self.present.push(present);
        }
        to.words.clear();
        // Not more than any packet has needed, because a queue holds many of these; not less, so that a reused buffer does not
        // grow.
        self.largest_saved = self.largest_saved.max(used);
        to.words.reserve_exact(self.largest_saved);
        for (group, &present) in groups.zip(&self.present) {
            to.words.push(present);
            let mut left = present;
            while left != 0 {
                let at = left.trailing_zeros() as usize * BLOCK;
                to.words.extend_from_slice(&group[at..at + BLOCK]);
                left &= left - 1;
            }
        }
        to.words.extend_from_slice(rest);
        to.is_whole = true;
        self.save_others(program, to);
    }

    /// Saves the words of `kept`, which belongs to this program.
    pub fn save_kept(&mut self, program: &Program, kept: &Kept, to: &mut SavedPhv) {
        to.words.clear();
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
        to.is_whole = false;
        self.save_others(program, to);
    }

    /// Saves the data outside the slots.
    fn save_others(&self, program: &Program, to: &mut SavedPhv) {
        to.vl.clear();
        for &store in &program.packet.vl_stores {
            to.vl.extend_from_slice(self.vl_bytes(store));
        }
        to.ingress_length = self.ingress_length;
        to.packet_length = self.packet_length;
        to.payload_offset = self.payload_offset;
    }

    /// Restores a packet that was saved from a [`Phv`] of the same program, with the same `kept`.
    pub fn restore(&mut self, program: &Program, kept: &Kept, from: &SavedPhv) {
        if from.is_whole {
            self.restore_whole(program, from);
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

    fn restore_whole(&mut self, program: &Program, from: &SavedPhv) {
        let slots = &mut self.slots[..program.packet.reset_end];
        slots.fill(0);
        let whole = slots.len() - slots.len() % BLOCK;
        let mut words = &from.words[..];
        for group in slots[..whole].chunks_mut(64 * BLOCK) {
            let mut present = words[0];
            words = &words[1..];
            while present != 0 {
                let at = present.trailing_zeros() as usize * BLOCK;
                let (block, others) = words.split_at(BLOCK);
                group[at..at + BLOCK].copy_from_slice(block);
                words = others;
                present &= present - 1;
            }
        }
        slots[whole..].copy_from_slice(words);
    }
}
