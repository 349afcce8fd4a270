//! What the sender is doing about a loss, as state: fast recovery (RFC 6675 with SACK, RFC 6582 without) with PRR (RFC 9937), a time-out, and
//! whether either was needed. What is done with it is in `repair.rs` and `spurious.rs`.

use crate::congestion::{Congestion, Window};

/// What the sender is doing about a loss.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recovery {
    /// Nothing is known to be lost.
    None,
    /// Fast recovery, until everything sent before it began is acknowledged.
    Fast(FastRecovery),
    /// The timer has fired: everything from SND.UNA is sent again, in slow start, but what the peer holds.
    Timeout,
}

/// State of fast recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastRecovery {
    /// SND.UNA is to be sent again, whatever the window says: RFC 5681, 3.2 step 2; RFC 6675, 5 step 4.3; RFC 6582, 3.2
    /// step 3 for a partial ACK.
    pub(crate) first_due: bool,
    /// HighRxt: everything below that the peer does not hold has been sent again.
    pub(crate) high_rxt: u64,
    /// RescueRxt: SND.UNA beyond which the one rescue of RFC 6675, 4 rule 4 is free again.
    pub(crate) rescue: Option<u64>,
    /// Everything below that the peer does not hold is lost (RFC 6675, 4 "IsLost").
    pub(crate) lost_below: u64,
    /// Without SACK: bytes by which duplicate ACKs let the flight exceed the window (RFC 5681, 3.2 steps 3 and 4).
    pub(crate) inflation: u64,
    /// No partial ACK has come (RFC 6582, 3.2 step 3).
    pub(crate) partial_seen: bool,
    /// Proportional rate reduction, if it is on.
    pub(crate) prr: Option<Prr>,
}

/// State of RFC 9937, 6.2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    /// RecoverFS: FlightSize when recovery began.
    pub(crate) flight: u64,
    /// Bytes delivered since.
    pub(crate) delivered: u64,
    /// Bytes sent since.
    pub(crate) out: u64,
}

impl Prr {
    /// Returns SndCnt: how many bytes may leave with an ACK, by the bytes that it delivers. An ACK that moved SND.UNA is a SafeACK.
    pub(crate) fn allowance(&self, delivered: u64, moved: bool, pipe: u64, window: &Window) -> u64 {
        if pipe > window.ssthresh {
            let due = u128::from(self.delivered) * u128::from(window.ssthresh);
            let due = due.div_ceil(u128::from(self.flight.max(1))) as u64;
            return due.saturating_sub(self.out);
        }
        let bound = self.delivered.saturating_sub(self.out).max(delivered);
        let bound = if moved { bound + window.mss } else { bound };
        bound.min(window.ssthresh - pipe)
    }
}

/// Where F-RTO stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Frto {
    /// No time-out is in question.
    #[default]
    Off,
    /// Step 2: the first segment has been sent again, and its acknowledgement is waited for.
    Retransmitted,
    /// Step 3: this number of segments of new data may leave, and the next acknowledgement decides.
    NewData(u8),
}

/// What a reduction by loss has replaced.
#[derive(Clone, Debug)]
pub(crate) struct Prior {
    pub(crate) congestion: Congestion,
    /// pipe_prev of RFC 4015, step 0.
    pub(crate) pipe: u64,
    /// Segments sent again since, less those that the peer has reported as duplicates.
    pub(crate) doubtful: u32,
    /// Reports count until this is acknowledged, a round trip after the recovery (RFC 3708, 2); unknown until it has ended.
    pub(crate) until: u64,
}
