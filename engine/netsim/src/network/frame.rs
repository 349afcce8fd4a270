//! A frame of a host, and buffers for frames.

use std::num::NonZeroU32;

use units::Time;
use wire::PacketClass;

use crate::limits::MAX_SPARE_BUFFERS;
use crate::network::tag;

/// A frame of a host, of which only the first bytes may be stored; the rest is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFrame {
    /// The first bytes.
    pub captured: Vec<u8>,
    /// Bytes of the whole frame, without FCS; at least as many as captured.
    pub wire_len: u32,
    /// Its number among all frames that hosts have offered, from 1; 0 before it is offered.
    pub number: u32,
    /// Its tag: when it was offered to the NIC, and its class then.
    pub tag: u64,
    /// The owner to notify when it has left the NIC, if there is one: a number of the host's choice.
    pub owner: Option<NonZeroU32>,
    /// The limiter in which it waits, if not in the FIFO.
    pub limiter: Option<NonZeroU32>,
}

impl HostFrame {
    /// Creates a frame that a host offers to its NIC at `sent`, which is not later than [`crate::LATEST`].
    pub(crate) fn new(sent: Time, captured: Vec<u8>, wire_len: usize) -> Self {
        let tag = tag::of_frame(sent, &captured, wire_len);
        Self { captured, wire_len: wire_len as u32, number: 0, tag, owner: None, limiter: None }
    }

    /// Returns the class that the frame had when the host offered it.
    pub(crate) fn class(&self) -> PacketClass {
        tag::decode(self.tag).1
    }
}

/// Buffers of frames that have left their hosts, for reuse.
#[derive(Default)]
pub(crate) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// Returns a buffer with arbitrary content.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// Keeps a buffer, if there are not too many already.
    pub(crate) fn give_back(&mut self, buffer: Vec<u8>) {
        if self.0.len() < MAX_SPARE_BUFFERS {
            self.0.push(buffer);
        }
    }
}
