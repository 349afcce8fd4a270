//! AccECN (RFC 9768): each end counts the packets that came marked, and every segment carries the counter's last three bits in the field
//! ACE. Without the options of section 3.2.3, which a receiver may leave out and a sender must not need.

use wire::Ecn;

/// Where the counters of marked packets start (RFC 9768, 3.2.1).
pub(crate) const INITIAL_COUNT: u8 = 5;
/// Number of marks for which the field starts at zero.
pub(crate) const MARKS_TO_ZERO: u64 = MODULUS - INITIAL_COUNT as u64;
/// The field counts to this.
const MODULUS: u64 = 8;
/// Marks that make an ACK due (RFC 9768, 3.2.2.5.1: n = 2 for data).
pub(crate) const MARKS_AN_ACK: u8 = 2;
/// Packets an ACK on average above which a counter that may have gone round is taken to have: Linux' `ACK_COMP_THRESH`.
const THINNED: u32 = 4;
/// The average's weight is one in this number, as in Linux.
const WEIGHT: u32 = 64;

/// What the peers' SYNs say (RFC 9768, 3.1.1 and 3.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No ECN.
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 9768.
    Accurate,
}

/// Returns what a SYN asks of a server: all combinations that have no other meaning are AccECN's (3.1.2).
pub(crate) fn of_syn(ace: u8) -> Mode {
    match ace {
        0b000 => Mode::Off,
        0b011 => Mode::Classic,
        _ => Mode::Accurate,
    }
}

/// Returns what a SYN-ACK answers to a SYN that asked for AccECN (3.1.1, table 2). One that reflects what it does not know has no ECN; 101
/// is reserved and taken for AccECN (3.1.3).
pub(crate) fn of_syn_ack(ace: u8) -> Mode {
    match ace {
        0b000 | 0b111 => Mode::Off,
        0b001 => Mode::Classic,
        _ => Mode::Accurate,
    }
}

/// Returns how the ECN codepoint of a SYN or SYN-ACK is told (3.1.1, table 2; 3.2.2.1, table 3).
pub(crate) fn of_handshake(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// What a sender knows of the peer's counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feedback {
    /// s.cep, modulo 8.
    count: u8,
    /// Packets that an ACK covers, on average, in parts of [`WEIGHT`].
    covered: u32,
    /// Marked bytes that no acknowledgement has been told to contain yet.
    pub(crate) bytes: u64,
    /// The field has been looked at for zeros (3.2.2.4).
    pub(crate) looked_at: bool,
}

impl Feedback {
    pub(crate) fn new(count: u8) -> Self {
        Self { count, covered: WEIGHT, bytes: 0, looked_at: false }
    }

    /// Returns the marked packets that an ACK reports, which newly acknowledges `packets` (3.2.2.5.2, appendix A.2.1). When `packets` may
    /// have wrapped the field, and ACKs are thin, the field counts as wrapped as often as it can have been.
    pub(crate) fn take(&mut self, ace: u8, packets: u64) -> u64 {
        self.covered = self.covered - self.covered / WEIGHT + packets.min(u64::from(WEIGHT)) as u32;
        let marks = u64::from(ace.wrapping_sub(self.count) & 7);
        self.count = ace & 7;
        if packets < MODULUS || self.covered <= THINNED * WEIGHT {
            return marks;
        }
        packets - (packets - marks) % MODULUS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_goes_round() {
        let mut feedback = Feedback::new(INITIAL_COUNT);
        assert_eq!([5, 7, 0, 6].map(|ace| feedback.take(ace, 2)), [0, 2, 1, 6]);
    }

    /// Checks RFC 9768, appendix A.2.1: when the field has advanced by 2, 10 of 12 packets may have been marked.
    #[test]
    fn only_where_acks_are_thin_the_counter_is_taken_to_have_gone_round() {
        let mut feedback = Feedback::new(0);
        assert_eq!(feedback.take(2, 12), 2, "one long ACK");
        for _ in 0..200 {
            feedback.take(2, 10);
        }
        assert_eq!(feedback.take(4, 12), 10);
        assert_eq!(feedback.take(5, 7), 1, "it cannot have gone round");
    }
}
