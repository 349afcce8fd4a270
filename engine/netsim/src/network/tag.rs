//! The 64 bits that travel with a packet through switches and links: when it was sent, and its class then.
//!
//! Sent time and class are all that is needed to account for a delivery, and they fit: 61 bits of picoseconds
//! last for 26 days. So nothing has to be kept for packets under way or given up for packets lost, and copies
//! made inside a switch carry the truth about their original.

use units::Time;
use wire::{classify_snapped, PacketClass};

use crate::limits::LATEST;

/// Bits for the class.
const CLASS_BITS: u32 = 3;

const _: () =
    assert!(LATEST.as_ps() == u64::MAX >> CLASS_BITS, "the latest time fills the bits that the class leaves");

/// Returns the tag of a packet of `class` sent at `sent`, which must not be later than [`LATEST`].
#[inline]
pub(crate) fn encode(sent: Time, class: PacketClass) -> u64 {
    debug_assert!(sent <= LATEST, "a packet is sent later than a tag can say");
    (sent.as_ps() << CLASS_BITS) | class as u64
}

/// Returns the tag of a frame sent at `sent`, of whose `wire_len` bytes the first are given.
#[inline]
pub(crate) fn of_frame(sent: Time, captured: &[u8], wire_len: usize) -> u64 {
    encode(sent, classify_snapped(captured, wire_len))
}

/// Returns the sent time and the class of a packet; a tag that was not made by `encode` reads as class `other`.
#[inline]
pub(crate) fn decode(tag: u64) -> (Time, PacketClass) {
    let class = (tag & ((1 << CLASS_BITS) - 1)) as usize;
    let class = PacketClass::ALL.get(class).copied().unwrap_or(PacketClass::Other);
    (Time::from_ps(tag >> CLASS_BITS), class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_gives_back_what_was_put_in() {
        for class in PacketClass::ALL {
            for sent in [Time::ZERO, Time::from_ps(1), LATEST] {
                assert_eq!(decode(encode(sent, class)), (sent, class));
            }
        }
        assert_eq!(decode(7), (Time::ZERO, PacketClass::Other));
    }
}
