//! Loss repair after detection by duplicate ACKs: by RFC 6675 with SACK, by RFC 6582 without.

use crate::recovery::{FastRecovery, Recovery};
use crate::sender::Sender;

impl Sender {
    pub(crate) fn begin_fast_recovery(&mut self) {
        if self.doubt.dsack {
            self.note_prior();
        }
        // RFC 5681, 3.2 step 2: excluding the data sent by limited transmit.
        let flight = self.space.flight().min(self.congestion_window.cwnd);
        self.congestion.on_loss(&mut self.congestion_window, flight);
        self.congestion_window.cwnd = self.congestion_window.ssthresh;
        // ACKs from now on have waited for the gap, so they do not measure.
        self.timer.forget_measurement();
        self.ecn.note_reduction(self.space.max);
        self.stats.fast_recoveries += 1;
        self.loss.begin(&self.space, self.congestion_window.mss);
    }

    /// Handles an ACK that delivered `delivered` bytes; `safe` states whether it is a SafeACK. In recovery with PRR,
    /// sets the window to the bytes in the network plus the bytes that may be sent now.
    pub(crate) fn reduce_in_proportion(&mut self, delivered: u64, safe: bool) {
        let pipe = self.pipe();
        let Recovery::Fast(FastRecovery { prr: Some(prr), .. }) = &mut self.loss.state else { return };
        prr.delivered += delivered;
        let window = &mut self.congestion_window;
        let allowance = prr.allowance(delivered, safe, pipe, window);
        // RFC 9937: the first retransmission is always sent.
        let allowance = if prr.out == 0 { allowance.max(window.mss) } else { allowance };
        window.cwnd = pipe + allowance;
    }

    /// Advances a recovery by the `acked` bytes by which SND.UNA has moved. Returns whether this was the recovery's first partial ACK.
    pub(crate) fn recovery_progress(&mut self, acked: u64) -> bool {
        self.loss.duplicates = 0;
        let mss = self.congestion_window.mss;
        match self.loss.state {
            Recovery::None => false,
            Recovery::Timeout => {
                if self.space.una >= self.loss.recover {
                    self.loss.state = Recovery::None;
                    self.recovered();
                }
                false
            }
            Recovery::Fast(_) if self.space.una >= self.loss.recover => {
                if !self.loss.sack {
                    // RFC 6582, 3.2 step 3, full acknowledgement, choice (1).
                    let burst_free = self.space.flight().max(mss) + mss;
                    self.congestion_window.cwnd = self.congestion_window.ssthresh.min(burst_free);
                }
                if let Recovery::Fast(FastRecovery { prr: Some(_), .. }) = self.loss.state {
                    self.congestion_window.cwnd = self.congestion_window.ssthresh;
                }
                self.loss.state = Recovery::None;
                self.recovered();
                false
            }
            Recovery::Fast(mut fast) => {
                let first = !fast.partial_seen;
                fast.partial_seen = true;
                fast.high_rxt = fast.high_rxt.max(self.space.una);
                if !self.loss.sack {
                    // RFC 6582, 3.2 step 3, partial acknowledgement.
                    fast.first_due = true;
                    fast.inflation =
                        fast.inflation.saturating_sub(acked) + if acked >= mss { mss } else { 0 };
                }
                self.loss.state = Recovery::Fast(fast);
                self.loss.refresh_scoreboard(self.space.una, mss);
                first
            }
        }
    }

    /// Returns the range to be retransmitted before new data, if any (RFC 6675, 5 step C with 4 "NextSeg"). New data
    /// (rule 2) is sent if rule 1 yields nothing.
    pub(crate) fn retransmission(&mut self) -> Option<(u64, u64)> {
        if let Some(rack) = &mut self.loss.rack {
            let (start, end) = rack.first_lost()?;
            let first_due = matches!(&self.loss.state, Recovery::Fast(fast) if fast.first_due);
            let pipe = self.pipe();
            let fits = pipe == 0 || pipe + (end - start) <= self.congestion_window.cwnd;
            return (first_due || fits).then_some((start, end));
        }
        let Recovery::Fast(fast) = self.loss.state else { return None };
        let mss = self.mss();
        let hole = |from: u64| self.loss.hole(from, self.space.max, mss);
        if fast.first_due {
            return Some(hole(self.space.una)).filter(|(start, _)| *start < self.space.max);
        }
        if !self.loss.sack || self.pipe() + mss > self.congestion_window.cwnd {
            return None;
        }
        // Rules 1 and 3: below the highest held block, first the lost data, then (without new data) the rest.
        let (start, end) = hole(fast.high_rxt.max(self.space.una));
        let below_held = start < self.loss.sacked.end();
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
        if fast.rescue.is_some_and(|rescue| self.space.una <= rescue) {
            return None;
        }
        self.loss.last_hole(&self.space, mss)
    }
}
