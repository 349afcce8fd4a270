//! The 64-bit tag that travels with a packet through switches and links: when it was sent, and its class then.
//!
//! The sending time and the class are all that is needed to account for a delivery, and they fit: 61 bits of
//! picoseconds last for 26 days. So no state is kept for packets under way or cleaned up for lost packets, and copies
//! made inside a switch have the tag of their original.

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

/// Returns the tag of a frame of `wire_len` bytes sent at `sent`, of which the first are given.
#[inline]
pub(crate) fn of_frame(sent: Time, captured: &[u8], wire_len: usize) -> u64 {
    encode(sent, classify_snapped(captured, wire_len))
}

/// Returns the sending time and the class of a packet; a class number that `encode` does not write reads as class `other`.
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
