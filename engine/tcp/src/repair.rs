//! Loss: found by duplicate ACKs, repaired after RFC 6675 with SACK and after RFC 6582 without.

use crate::recovery::{FastRecovery, Prr, Recovery};
use crate::sender::{Chunk, Sender, DUPLICATE_THRESHOLD};

impl Sender {
    /// Handles a duplicate ACK.
    pub(crate) fn duplicate(&mut self) {
        self.duplicates = self.duplicates.saturating_add(1);
        if let Recovery::Fast(fast) = &mut self.recovery {
            // RFC 5681, 3.2 step 4.
            fast.inflation += self.congestion_window.mss;
            self.refresh_scoreboard();
            return;
        }
        // RFC 6582, 3.2 step 2, RFC 6675, 5.1: what was sent before the last recovery or timeout does not begin another. Without
        // SACK, duplicates at its very end may come from what was sent twice.
        let answered = if self.sack { self.una < self.recover } else { self.una <= self.recover };
        if answered || !matches!(self.recovery, Recovery::None) {
            return;
        }
        if self.duplicates >= DUPLICATE_THRESHOLD || (self.sack && self.lost_below() > self.una) {
            self.begin_fast_recovery();
        }
    }

    pub(crate) fn begin_fast_recovery(&mut self) {
        if self.dsack {
            self.note_prior();
        }
        // RFC 5681, 3.2 step 2: without what limited transmit has sent.
        let flight = self.flight().min(self.congestion_window.cwnd);
        self.congestion.on_loss(&mut self.congestion_window, flight);
        self.congestion_window.cwnd = self.congestion_window.ssthresh;
        self.recover = self.max;
        // What is acknowledged from now on has waited for the gap.
        self.timed = None;
        self.reduced_for_loss();
        self.stats.fast_recoveries += 1;
        self.recovery = Recovery::Fast(FastRecovery {
            first_due: true,
            high_rxt: self.una,
            rescue: None,
            lost_below: self.una,
            inflation: u64::from(self.duplicates) * self.congestion_window.mss,
            partial_seen: false,
            prr: (self.prr && self.sack).then(|| Prr { flight: self.flight(), delivered: 0, out: 0 }),
        });
        self.refresh_scoreboard();
    }

    /// Takes an ACK that delivered `delivered` bytes, and perhaps moved SND.UNA: with PRR, in recovery, the window is what is in the network and
    /// what may leave now.
    pub(crate) fn reduce_in_proportion(&mut self, delivered: u64, moved: bool) {
        let pipe = self.pipe();
        let Recovery::Fast(FastRecovery { prr: Some(prr), .. }) = &mut self.recovery else { return };
        prr.delivered += delivered;
        let window = &mut self.congestion_window;
        let allowance = prr.allowance(delivered, moved, pipe, window);
        // RFC 9937: the first retransmission leaves in any case.
        let allowance = if prr.out == 0 { allowance.max(window.mss) } else { allowance };
        window.cwnd = pipe + allowance;
    }

    /// Moves a recovery on by the `acked` bytes by which SND.UNA has moved. Returns whether this was the first partial ACK of a recovery.
    pub(crate) fn recovery_progress(&mut self, acked: u64) -> bool {
        self.duplicates = 0;
        let mss = self.congestion_window.mss;
        match self.recovery {
            Recovery::None => false,
            Recovery::Timeout => {
                if self.una >= self.recover {
                    self.recovery = Recovery::None;
                    self.recovered();
                }
                false
            }
            Recovery::Fast(_) if self.una >= self.recover => {
                if !self.sack {
                    // RFC 6582, 3.2 step 3, full acknowledgement, choice (1).
                    let burst_free = self.flight().max(mss) + mss;
                    self.congestion_window.cwnd = self.congestion_window.ssthresh.min(burst_free);
                }
                if let Recovery::Fast(FastRecovery { prr: Some(_), .. }) = self.recovery {
                    self.congestion_window.cwnd = self.congestion_window.ssthresh;
                }
                self.recovery = Recovery::None;
                self.recovered();
                false
            }
            Recovery::Fast(mut fast) => {
                let first = !fast.partial_seen;
                fast.partial_seen = true;
                fast.high_rxt = fast.high_rxt.max(self.una);
                if !self.sack {
                    // RFC 6582, 3.2 step 3, partial acknowledgement.
                    fast.first_due = true;
                    fast.inflation =
                        fast.inflation.saturating_sub(acked) + if acked >= mss { mss } else { 0 };
                }
                self.recovery = Recovery::Fast(fast);
                self.refresh_scoreboard();
                first
            }
        }
    }

    fn refresh_scoreboard(&mut self) {
        let lost_below = self.lost_below();
        if let Recovery::Fast(fast) = &mut self.recovery {
            fast.lost_below = lost_below;
        }
    }

    /// RFC 6675, 4 "IsLost": what lies below three blocks that the peer holds, or below more than two segments' worth of
    /// them, is lost. If an offset is, then everything below it is, too: the highest such bound.
    fn lost_below(&self) -> u64 {
        let enough = u64::from(DUPLICATE_THRESHOLD - 1) * self.congestion_window.mss;
        let mut held = 0;
        for (count, (start, end)) in self.sacked.as_slice().iter().rev().enumerate() {
            held += end - start;
            if count + 1 >= DUPLICATE_THRESHOLD as usize || held > enough {
                return *start;
            }
        }
        self.una
    }

    /// Returns the pipe (RFC 6675, 4 "SetPipe"): what is neither held nor lost, and what has been sent again.
    pub(crate) fn pipe_in_recovery(&self, fast: &FastRecovery) -> u64 {
        if !self.sack {
            return self.flight().saturating_sub(fast.inflation);
        }
        let not_held =
            |from: u64, to: u64| (to - from) - (self.sacked.bytes_below(to) - self.sacked.bytes_below(from));
        let lost_below = fast.lost_below.max(self.una);
        not_held(lost_below, self.max) + not_held(self.una, fast.high_rxt.clamp(self.una, self.max))
    }

    /// Returns the range to be sent again before new data, if any (RFC 6675, 5 step C with 4 "NextSeg"). New data (rule 2) is sent where
    /// there is nothing by rule 1.
    pub(crate) fn retransmission(&mut self) -> Option<(u64, u64)> {
        if let Some(rack) = &mut self.rack {
            let (start, end) = rack.first_lost()?;
            let first_due = matches!(&self.recovery, Recovery::Fast(fast) if fast.first_due);
            let pipe = self.pipe();
            let fits = pipe == 0 || pipe + (end - start) <= self.congestion_window.cwnd;
            return (first_due || fits).then_some((start, end));
        }
        let Recovery::Fast(fast) = self.recovery else { return None };
        let mss = self.mss();
        let hole = |from: u64| {
            let (start, held) = self.sacked.gap_from(from);
            (start, held.unwrap_or(self.max).min(start + mss))
        };
        if fast.first_due {
            return Some(hole(self.una)).filter(|(start, _)| *start < self.max);
        }
        if !self.sack || self.pipe() + mss > self.congestion_window.cwnd {
            return None;
        }
        // Rules 1 and 3: below the highest block held, first what is lost, then (without new data) the rest.
        let (start, end) = hole(fast.high_rxt.max(self.una));
        let below_held = start < self.sacked.end();
        if below_held && start < fast.lost_below {
            return Some((start, end));
        }
        if self.has_new_data() {
            return None;
        }
        if below_held {
            return Some((start, end));
        }
        // Rule 4: once, the end of the last gap, so that a lost tail does not wait for the timer.
        if fast.rescue.is_some_and(|rescue| self.una <= rescue) {
            return None;
        }
        let (gap_start, gap_end) = match self.sacked.as_slice() {
            [.., before, last] if last.1 >= self.max => (before.1, last.0),
            [last] if last.1 >= self.max => (self.una, last.0),
            _ => (self.sacked.end().max(self.una), self.max),
        };
        (gap_start < gap_end).then(|| (gap_start.max(gap_end.saturating_sub(mss)), gap_end))
    }

    /// Notes, in recovery, a chunk that leaves.
    pub(crate) fn note_in_recovery(&mut self, chunk: &Chunk) {
        let (recover, held, is_new) = (self.recover, self.sacked.end(), chunk.start >= self.max);
        let Recovery::Fast(fast) = &mut self.recovery else { return };
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
