//! AccECN (RFC 9768): each end counts the packets that arrive marked, and reports the counter's last three bits in the field ACE of every
//! segment. The options of section 3.2.3 are not implemented: a receiver may omit them, and a sender must work without them.

use wire::Ecn;

/// Initial value of the counters of marked packets (RFC 9768, 3.2.1).
pub(crate) const INITIAL_COUNT: u8 = 5;
/// Number of marks after which the field is zero.
pub(crate) const MARKS_TO_ZERO: u64 = MODULUS - INITIAL_COUNT as u64;
/// Modulus of the field ACE.
const MODULUS: u64 = 8;
/// Number of marks that makes an ACK due (RFC 9768, 3.2.2.5.1: n = 2 for data).
pub(crate) const MARKS_AN_ACK: u8 = 2;
/// Average number of packets per ACK above which a counter that may have wrapped is assumed to have wrapped: Linux's `ACK_COMP_THRESH`.
const THINNED: u32 = 4;
/// The weight of a new sample in the average is one over this number, as in Linux.
const WEIGHT: u32 = 64;

/// The ECN mode that the SYNs agree on (RFC 9768, 3.1.1 and 3.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No ECN.
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 9768.
    Accurate,
}

/// Returns the mode that a SYN requests of a server. All combinations without another meaning request AccECN (3.1.2).
pub(crate) fn of_syn(ace: u8) -> Mode {
    match ace {
        0b000 => Mode::Off,
        0b011 => Mode::Classic,
        _ => Mode::Accurate,
    }
}

/// Returns the mode that a SYN-ACK selects for a SYN that requested AccECN (3.1.1, table 2). A SYN-ACK that reflects
/// the SYN's flags selects no ECN; 101 is reserved and selects AccECN (3.1.3).
pub(crate) fn of_syn_ack(ace: u8) -> Mode {
    match ace {
        0b000 | 0b111 => Mode::Off,
        0b001 => Mode::Classic,
        _ => Mode::Accurate,
    }
}

/// Returns the ACE value that reports the ECN codepoint of a SYN or SYN-ACK (3.1.1, table 2; 3.2.2.1, table 3).
pub(crate) fn of_handshake(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// A sender's knowledge of the peer's counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feedback {
    /// s.cep, modulo 8.
    count: u8,
    /// Average number of packets that an ACK covers, in units of 1 / [`WEIGHT`].
    covered: u32,
    /// Marked bytes that have not been attributed to an acknowledgement yet.
    pub(crate) bytes: u64,
    /// Whether the field has been checked for zero (3.2.2.4).
    pub(crate) looked_at: bool,
}

impl Feedback {
    pub(crate) fn new(count: u8) -> Self {
        Self { count, covered: WEIGHT, bytes: 0, looked_at: false }
    }

    /// Returns the number of marked packets that an ACK reports when it newly acknowledges `packets` (3.2.2.5.2, appendix A.2.1).
    /// If `packets` may have wrapped the field, and ACKs are thinned, this assumes as many wraps as possible.
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
