//! The known losses and the state of their repair: fast recovery (RFC 6675 with SACK, RFC 6582 without) with PRR (RFC
//! 9937), or a timeout. `repair.rs` applies them to the window.

use units::Time;
use wire::tcp_options::SackBlock;

use crate::config::Config;
use crate::congestion::Window;
use crate::rack::Rack;
use crate::ranges::Ranges;
use crate::space::{Chunk, SendSpace};

/// Number of duplicate ACKs that signals a loss (RFC 5681, 3.2), or of segments held beyond a gap (RFC 8985, 6.2 step 4).
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

/// The sender's current reaction to a loss.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recovery {
    /// Nothing is known to be lost.
    None,
    /// Fast recovery, until everything sent before its start is acknowledged.
    Fast(FastRecovery),
    /// The timer has fired: everything from SND.UNA that the peer does not hold is retransmitted in slow start.
    Timeout,
}

/// State of fast recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastRecovery {
    /// Whether SND.UNA must be retransmitted, regardless of the window: RFC 5681, 3.2 step 2; RFC 6675, 5 step 4.3; RFC
    /// 6582, 3.2 step 3 for a partial ACK.
    pub(crate) first_due: bool,
    /// HighRxt: everything below it that the peer does not hold has been retransmitted.
    pub(crate) high_rxt: u64,
    /// RescueRxt: the SND.UNA beyond which the one rescue of RFC 6675, 4 rule 4 is available again.
    pub(crate) rescue: Option<u64>,
    /// Everything below this offset that the peer does not hold is lost (RFC 6675, 4 "IsLost").
    pub(crate) lost_below: u64,
    /// Without SACK: the bytes by which duplicate ACKs let the flight exceed the window (RFC 5681, 3.2 steps 3 and 4).
    pub(crate) inflation: u64,
    /// Whether a partial ACK has arrived (RFC 6582, 3.2 step 3).
    pub(crate) partial_seen: bool,
    /// Proportional rate reduction, if enabled.
    pub(crate) prr: Option<Prr>,
}

/// State of RFC 9937, 6.2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    /// RecoverFS: FlightSize at the start of recovery.
    pub(crate) flight: u64,
    /// Bytes delivered since.
    pub(crate) delivered: u64,
    /// Bytes sent since.
    pub(crate) out: u64,
}

impl Prr {
    /// Returns SndCnt: the bytes that may be sent with an ACK that delivers `delivered` bytes. `safe`: SafeACK, an ACK
    /// that moved SND.UNA and indicates no further loss.
    pub(crate) fn allowance(&self, delivered: u64, safe: bool, pipe: u64, window: &Window) -> u64 {
        if pipe > window.ssthresh {
            let due = u128::from(self.delivered) * u128::from(window.ssthresh);
            let due = due.div_ceil(u128::from(self.flight.max(1))) as u64;
            return due.saturating_sub(self.out);
        }
        let bound = self.delivered.saturating_sub(self.out).max(delivered);
        let bound = if safe { bound + window.mss } else { bound };
        bound.min(window.ssthresh - pipe)
    }
}

/// Loss state of a sender.
#[derive(Clone, Debug)]
pub(crate) struct LossRecovery {
    pub(crate) state: Recovery,
    /// Ranges that the peer holds beyond SND.UNA.
    pub(crate) sacked: Ranges,
    /// Whether SACK has been negotiated.
    pub(crate) sack: bool,
    limited_transmit: bool,
    pub(crate) prr: bool,
    /// Departure times of segments, if losses are detected by time.
    pub(crate) rack: Option<Rack>,
    pub(crate) duplicates: u32,
    /// Losses below this offset have been reacted to: the highest offset sent at the last reduction for loss (RFC 6582,
    /// 3.2 "recover"; RFC 6675 "RecoveryPoint").
    pub(crate) recover: u64,
}

impl LossRecovery {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            state: Recovery::None,
            sacked: Ranges::default(),
            sack: false,
            limited_transmit: config.limited_transmit,
            prr: config.prr,
            rack: None,
            duplicates: 0,
            recover: 0,
        }
    }

    /// Returns whether nothing is known to be lost.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, Recovery::None)
    }

    #[inline]
    pub(crate) fn is_fast(&self) -> bool {
        matches!(self.state, Recovery::Fast(_))
    }

    /// Returns the number of offsets that the peer is known to have received.
    pub(crate) fn delivered(&self, una: u64) -> u64 {
        una + self.sacked.bytes()
    }

    /// Returns a measure of the known losses, to be taken before an ACK and passed to [`LossRecovery::has_lost_more`] after it.
    pub(crate) fn known_lost(&self) -> u64 {
        match (&self.rack, &self.state) {
            (Some(rack), _) => rack.ever_lost(),
            (None, Recovery::Fast(fast)) => fast.lost_below,
            (None, _) => 0,
        }
    }

    /// Returns whether an ACK that has moved SND.UNA to `una` indicates further loss; `before` is [`LossRecovery::known_lost`] before the ACK.
    pub(crate) fn has_lost_more(&self, before: u64, una: u64) -> bool {
        // The scoreboard's losses end at SND.UNA at the earliest.
        self.known_lost() > if self.rack.is_some() { before } else { before.max(una) }
    }

    /// Records the ranges that the peer holds, from an ACK of `acked`. Returns whether any of them is new.
    pub(crate) fn take_sack(
        &mut self,
        now: Time,
        acked: u64,
        blocks: &[SackBlock],
        space: &SendSpace,
    ) -> bool {
        let floor = space.una.max(acked);
        let mut news = false;
        for block in blocks {
            let (left, right) = (space.offset(block.left), space.offset(block.right));
            // RFC 2018, 5: only data that has been sent and not acknowledged; this also excludes RFC 2883's duplicates.
            if left < floor as i64 || right <= left || right > space.max as i64 {
                continue;
            }
            if self.sacked.insert(left as u64, right as u64).is_some_and(|added| added > 0) {
                news = true;
                if let Some(rack) = &mut self.rack {
                    rack.hold(now, left as u64, right as u64);
                }
            }
        }
        news
    }

    /// Counts a duplicate ACK. Returns whether fast recovery must begin.
    pub(crate) fn count_duplicate(&mut self, una: u64, mss: u64) -> bool {
        self.duplicates = self.duplicates.saturating_add(1);
        if let Recovery::Fast(fast) = &mut self.state {
            // RFC 5681, 3.2 step 4.
            fast.inflation += mss;
            self.refresh_scoreboard(una, mss);
            return false;
        }
        // RFC 6582, 3.2 step 2, RFC 6675, 5.1: data sent before the last recovery or timeout does not start another.
        // Without SACK, duplicates at its very end may result from retransmissions.
        let answered = if self.sack { una < self.recover } else { una <= self.recover };
        if answered || !self.is_open() {
            return false;
        }
        self.duplicates >= DUPLICATE_THRESHOLD || (self.sack && self.lost_below(una, mss) > una)
    }

    /// Begins fast recovery.
    pub(crate) fn begin(&mut self, space: &SendSpace, mss: u64) {
        self.recover = space.max;
        self.state = Recovery::Fast(FastRecovery {
            first_due: true,
            high_rxt: space.una,
            rescue: None,
            lost_below: space.una,
            inflation: u64::from(self.duplicates) * mss,
            partial_seen: false,
            prr: (self.prr && self.sack).then(|| Prr { flight: space.flight(), delivered: 0, out: 0 }),
        });
        self.refresh_scoreboard(space.una, mss);
    }

    /// Records an expiry of the retransmission timer, with everything below `max` sent.
    pub(crate) fn time_out(&mut self, max: u64) {
        (self.state, self.recover, self.duplicates) = (Recovery::Timeout, max, 0);
    }

    /// Updates the lost range from what the peer holds now.
    pub(crate) fn refresh_scoreboard(&mut self, una: u64, mss: u64) {
        let lost_below = self.lost_below(una, mss);
        if let Recovery::Fast(fast) = &mut self.state {
            fast.lost_below = lost_below;
        }
    }

    /// Returns the highest offset below which everything that the peer does not hold is lost (RFC 6675, 4 "IsLost"):
    /// offsets below three blocks that the peer holds, or below more than two segments' worth of held data. If an
    /// offset is lost, all lower ones are.
    fn lost_below(&self, una: u64, mss: u64) -> u64 {
        let enough = u64::from(DUPLICATE_THRESHOLD - 1) * mss;
        let mut held = 0;
        for (count, (start, end)) in self.sacked.as_slice().iter().rev().enumerate() {
            held += end - start;
            if count + 1 >= DUPLICATE_THRESHOLD as usize || held > enough {
                return *start;
            }
        }
        una
    }

    /// Returns the bytes estimated to be in the network (RFC 6675, 4 "SetPipe"; without SACK, the estimate of RFC 5681 and 6582).
    #[inline]
    pub(crate) fn pipe(&self, space: &SendSpace, mss: u64) -> u64 {
        if let Some(rack) = &self.rack {
            return space.flight().saturating_sub(self.sacked.bytes() + rack.lost_bytes());
        }
        match &self.state {
            Recovery::Fast(fast) => self.pipe_in_recovery(fast, space),
            // RFC 3042: duplicate ACKs permit new data; without SACK only the first two do.
            Recovery::None if !self.limited_transmit => space.flight(),
            Recovery::None if self.sack => space.flight().saturating_sub(self.sacked.bytes()),
            Recovery::None => {
                let gone = u64::from(self.duplicates.min(2)) * mss;
                space.flight().saturating_sub(gone)
            }
            Recovery::Timeout => space.flight().saturating_sub(self.sacked.bytes_below(space.next)),
        }
    }

    /// Returns the pipe in fast recovery: data that is neither held nor lost, and retransmissions.
    fn pipe_in_recovery(&self, fast: &FastRecovery, space: &SendSpace) -> u64 {
        if !self.sack {
            return space.flight().saturating_sub(fast.inflation);
        }
        let not_held =
            |from: u64, to: u64| (to - from) - (self.sacked.bytes_below(to) - self.sacked.bytes_below(from));
        let lost_below = fast.lost_below.max(space.una);
        not_held(lost_below, space.max) + not_held(space.una, fast.high_rxt.clamp(space.una, space.max))
    }

    /// Returns the first segment at or after `from` that the peer does not hold. After the last held block, it may be unsent.
    pub(crate) fn hole(&self, from: u64, max: u64, mss: u64) -> (u64, u64) {
        let (start, held) = self.sacked.gap_from(from);
        (start, held.unwrap_or(max).min(start + mss))
    }

    /// Returns the last segment of the last gap.
    pub(crate) fn last_hole(&self, space: &SendSpace, mss: u64) -> Option<(u64, u64)> {
        let (start, end) = match self.sacked.as_slice() {
            [.., before, last] if last.1 >= space.max => (before.1, last.0),
            [last] if last.1 >= space.max => (space.una, last.0),
            _ => (self.sacked.end().max(space.una), space.max),
        };
        (start < end).then(|| (start.max(end.saturating_sub(mss)), end))
    }

    /// Records a chunk that is sent in recovery. Everything below `max` has been sent before.
    #[inline]
    pub(crate) fn note_sent(&mut self, chunk: &Chunk, max: u64) {
        let (recover, held, is_new) = (self.recover, self.sacked.end(), chunk.start >= max);
        let Recovery::Fast(fast) = &mut self.state else { return };
        if let Some(prr) = &mut fast.prr {
            prr.out += chunk.end() - chunk.start;
        }
        if is_new {
            return;
        }
        if fast.first_due || (chunk.start < held && chunk.end() > fast.high_rxt) {
            fast.high_rxt = fast.high_rxt.max(chunk.end());
        } else {
            fast.rescue = Some(recover);
        }
        fast.first_due = false;
    }
}
