//! Retransmissions that were not needed: a time-out that came too early, found by F-RTO (RFC 5682), and any that the peer reports as
//! duplicates (RFC 2883, RFC 3708). Their common answer is the Eifel response (RFC 4015).

use wire::tcp_options::SackBlock;

use crate::recovery::{Frto, Prior, Recovery};
use crate::sender::{Acknowledgement, Sender};

impl Sender {
    /// Remembers the state before the retransmission timer, which has fired for the first time, shrinks the window (RFC 5682, 2.1 and 3.1,
    /// step 1).
    pub(crate) fn doubt_timeout(&mut self) {
        // What was sent before an earlier recovery's end has been sent twice, perhaps, and tells nothing.
        if self.una < self.recover {
            self.frto = Frto::Off;
            return;
        }
        self.note_prior();
        self.frto = Frto::Retransmitted;
    }

    pub(crate) fn note_prior(&mut self) {
        let pipe = self.flight().max(self.congestion_window.ssthresh);
        let prior = Prior { congestion: self.congestion.clone(), pipe, doubtful: 0, until: u64::MAX };
        self.prior = Some(Box::new(prior));
    }

    /// Notes that a segment is sent again.
    pub(crate) fn note_doubtful(&mut self) {
        if let Some(prior) = &mut self.prior {
            prior.doubtful += 1;
        }
    }

    /// Notes that everything sent before a recovery began is acknowledged.
    pub(crate) fn recovered(&mut self) {
        if let Some(prior) = &mut self.prior {
            prior.until = self.max;
        }
        if let Some(rack) = &mut self.rack {
            rack.recovered();
        }
    }

    /// Returns whether the first block of an ACK reports a duplicate: it lies below SEG.ACK, or in the second block (RFC 2883, 4).
    pub(crate) fn reports_duplicate(&self, ack: &Acknowledgement<'_>) -> bool {
        let Some(first) = ack.sack.first() else { return false };
        let (left, right) = (self.offset(first.left), self.offset(first.right));
        let inside = |outer: &SackBlock| left >= self.offset(outer.left) && right <= self.offset(outer.right);
        left > 0 && left < right && (right <= ack.offset as i64 || ack.sack.get(1).is_some_and(inside))
    }

    /// Takes the reduction back when each retransmission has been reported as a duplicate, so that none was needed (RFC 3708, 2).
    #[inline(never)]
    pub(crate) fn take_duplicate(&mut self, acked: u64) {
        self.stats.duplicates_reported += 1;
        if let Some(rack) = &mut self.rack {
            rack.note_duplicate(self.una, self.next);
        }
        let Some(prior) = &mut self.prior else { return };
        if self.una > prior.until {
            self.prior = None;
            return;
        }
        let was = prior.doubtful;
        prior.doubtful = was.saturating_sub(1);
        if was == 1 {
            self.stats.spurious_recoveries += 1;
            self.restore(acked);
        }
    }

    /// Judges a time-out in question by the next ACK. `news`: its SACK blocks told something new; `duplicate`: it did not move SND.UNA, and
    /// counts as a duplicate ACK without SACK.
    #[inline(never)]
    pub(crate) fn judge_timeout(
        &mut self,
        ack: &Acknowledgement<'_>,
        prior_una: u64,
        news: bool,
        duplicate: bool,
    ) {
        let moved = ack.offset > prior_una;
        match self.frto {
            Frto::Off => {}
            // Step 2: everything that was under way is acknowledged, or, without SACK, a duplicate: a usual time-out.
            Frto::Retransmitted if moved && self.una >= self.recover => self.frto = Frto::Off,
            Frto::Retransmitted if moved => {
                if !self.can_send_new_data() {
                    self.frto = Frto::Off;
                    return;
                }
                self.frto = Frto::NewData(2);
                self.next = self.max;
            }
            Frto::Retransmitted if !self.sack && duplicate => self.frto = Frto::Off,
            Frto::Retransmitted => {}
            Frto::NewData(_) => {
                let beyond = self.sack && self.una.max(self.sacked.end()) > self.recover;
                if !beyond && (moved || news) {
                    // Step 3b: what was sent before the time-out, and not again, has arrived.
                    self.stats.spurious_timeouts += 1;
                    self.restore(ack.offset - prior_una);
                } else if beyond || duplicate || self.sack {
                    // Step 3a: the usual recovery, with a window of at most three segments.
                    self.frto = Frto::Off;
                    let window = &mut self.congestion_window;
                    window.cwnd = window.cwnd.min(3 * window.mss);
                    if self.rack.is_none() {
                        self.next = self.una;
                    }
                }
            }
        }
    }

    /// Goes on with new data, from the window that is under way (RFC 4015, steps 5 to 7).
    pub(crate) fn restore(&mut self, acked: u64) {
        self.frto = Frto::Off;
        self.next = self.max;
        self.recovery = Recovery::None;
        self.duplicates = 0;
        if let Some(rack) = &mut self.rack {
            rack.forget_losses();
        }
        let Some(prior) = self.prior.take() else { return };
        self.congestion = prior.congestion;
        let window = &mut self.congestion_window;
        window.ssthresh = prior.pipe.max(window.ssthresh);
        let flight = self.next - self.una;
        window.cwnd = window.cwnd.max(flight + acked.min(self.initial_window));
    }
}
