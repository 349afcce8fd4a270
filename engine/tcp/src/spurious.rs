//! Spurious retransmissions: premature timeouts, detected by F-RTO (RFC 5682), and retransmissions that the peer
//! reports as duplicates (RFC 2883, RFC 3708). Both lead to the Eifel response (RFC 4015).

use wire::tcp_options::SackBlock;

use crate::congestion::Congestion;
use crate::recovery::Recovery;
use crate::sender::{Acknowledgement, Sender};

/// The state of F-RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Frto {
    /// No timeout is in question.
    #[default]
    Off,
    /// Step 2: the first segment has been retransmitted, and its acknowledgement is pending.
    Retransmitted,
    /// Step 3: this number of segments of new data may be sent, and the next acknowledgement decides.
    NewData(u8),
}

/// The state that a reduction for loss has replaced.
#[derive(Clone, Debug)]
struct Prior {
    congestion: Congestion,
    /// pipe_prev of RFC 4015, step 0.
    pipe: u64,
    /// Segments retransmitted since, minus those that the peer has reported as duplicates.
    doubtful: u32,
    /// Reports count until this offset is acknowledged, a round trip after the recovery (RFC 3708, 2); unknown until the recovery has ended.
    until: u64,
}

/// Whether a reduction for loss is in question, and the state that it has replaced.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    /// Whether a timeout is in question.
    pub(crate) frto: Frto,
    prior: Option<Box<Prior>>,
    /// Whether the peer's reports of duplicates are used.
    pub(crate) dsack: bool,
}

impl Doubt {
    pub(crate) fn new(dsack: bool) -> Self {
        Self { frto: Frto::Off, prior: None, dsack }
    }

    /// Saves the state before a reduction, in case the reduction turns out to be spurious.
    pub(crate) fn remember(&mut self, congestion: &Congestion, pipe: u64) {
        let prior = Prior { congestion: congestion.clone(), pipe, doubtful: 0, until: u64::MAX };
        self.prior = Some(Box::new(prior));
    }

    /// Records the retransmission of a segment.
    pub(crate) fn note_sent_again(&mut self) {
        if let Some(prior) = &mut self.prior {
            prior.doubtful += 1;
        }
    }

    /// Counts a segment that the peer has reported as a duplicate. Returns whether all retransmissions have now been reported, so that none was needed.
    fn count_duplicate(&mut self, una: u64) -> bool {
        let Some(prior) = &mut self.prior else { return false };
        if una > prior.until {
            self.prior = None;
            return false;
        }
        let was = prior.doubtful;
        prior.doubtful = was.saturating_sub(1);
        was == 1
    }
}

impl Sender {
    /// Saves the state at the first expiry of the retransmission timer, before the window shrinks (RFC 5682, 2.1 and
    /// 3.1, step 1).
    pub(crate) fn doubt_timeout(&mut self) {
        // Data sent before the end of an earlier recovery may have been sent twice, so its ACKs prove nothing.
        if self.space.una < self.loss.recover {
            self.doubt.frto = Frto::Off;
            return;
        }
        self.note_prior();
        self.doubt.frto = Frto::Retransmitted;
    }

    pub(crate) fn note_prior(&mut self) {
        let pipe = self.space.flight().max(self.congestion_window.ssthresh);
        self.doubt.remember(&self.congestion, pipe);
    }

    /// Records that everything sent before a recovery is acknowledged.
    pub(crate) fn recovered(&mut self) {
        if let Some(prior) = &mut self.doubt.prior {
            prior.until = self.space.max;
        }
        if let Some(rack) = &mut self.loss.rack {
            rack.recovered();
        }
    }

    /// Returns whether the first block of an ACK reports a duplicate: it is below SEG.ACK, or within the second block (RFC 2883, 4).
    pub(crate) fn reports_duplicate(&self, ack: &Acknowledgement<'_>) -> bool {
        let Some(first) = ack.sack.first() else { return false };
        let (left, right) = (self.space.offset(first.left), self.space.offset(first.right));
        let inside = |outer: &SackBlock| {
            left >= self.space.offset(outer.left) && right <= self.space.offset(outer.right)
        };
        left > 0 && left < right && (right <= ack.offset as i64 || ack.sack.get(1).is_some_and(inside))
    }

    /// Undoes the reduction if every retransmission has been reported as a duplicate, so that none was needed (RFC 3708, 2).
    #[inline(never)]
    pub(crate) fn take_duplicate(&mut self, acked: u64) {
        self.stats.duplicates_reported += 1;
        if let Some(rack) = &mut self.loss.rack {
            rack.note_duplicate(self.space.una, self.space.next);
        }
        if self.doubt.count_duplicate(self.space.una) {
            self.stats.spurious_recoveries += 1;
            self.restore(acked);
        }
    }

    /// Judges a timeout in question by the next ACK. `news`: its SACK blocks are new; `duplicate`: it did not move
    /// SND.UNA, and counts as a duplicate ACK without SACK.
    #[inline(never)]
    pub(crate) fn judge_timeout(
        &mut self,
        ack: &Acknowledgement<'_>,
        prior_una: u64,
        news: bool,
        duplicate: bool,
    ) {
        let moved = ack.offset > prior_una;
        match self.doubt.frto {
            Frto::Off => {}
            // Step 2: everything in flight is acknowledged, or, without SACK, a duplicate arrived: an ordinary timeout.
            Frto::Retransmitted if moved && self.space.una >= self.loss.recover => {
                self.doubt.frto = Frto::Off
            }
            Frto::Retransmitted if moved => {
                if !self.space.can_send_new_data(self.peer_window.bytes, self.mss()) {
                    self.doubt.frto = Frto::Off;
                    return;
                }
                self.doubt.frto = Frto::NewData(2);
                self.space.next = self.space.max;
            }
            Frto::Retransmitted if !self.loss.sack && duplicate => self.doubt.frto = Frto::Off,
            Frto::Retransmitted => {}
            Frto::NewData(_) => {
                let beyond = self.loss.sack && self.space.una.max(self.loss.sacked.end()) > self.loss.recover;
                if !beyond && (moved || news) {
                    // Step 3b: data sent before the timeout, and not retransmitted, has arrived.
                    self.stats.spurious_timeouts += 1;
                    self.restore(ack.offset - prior_una);
                } else if beyond || duplicate || self.loss.sack {
                    // Step 3a: ordinary recovery, with a window of at most three segments.
                    self.doubt.frto = Frto::Off;
                    let window = &mut self.congestion_window;
                    window.cwnd = window.cwnd.min(3 * window.mss);
                    if self.loss.rack.is_none() {
                        self.space.next = self.space.una;
                    }
                }
            }
        }
    }

    /// Continues with new data, with a window based on the data in flight (RFC 4015, steps 5 to 7).
    pub(crate) fn restore(&mut self, acked: u64) {
        self.doubt.frto = Frto::Off;
        self.space.next = self.space.max;
        self.loss.state = Recovery::None;
        self.loss.duplicates = 0;
        if let Some(rack) = &mut self.loss.rack {
            rack.forget_losses();
        }
        let Some(prior) = self.doubt.prior.take() else { return };
        self.congestion = prior.congestion;
        let window = &mut self.congestion_window;
        window.ssthresh = prior.pipe.max(window.ssthresh);
        window.cwnd = window.cwnd.max(self.space.flight() + acked.min(window.initial));
    }
}
