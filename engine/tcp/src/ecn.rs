//! A sender's use of ECN (RFC 3168, 6.1): the marks that the peer feeds back, and which of them the sender has reacted to.

use units::Time;

use crate::accecn::{self, Feedback};
use crate::space::Chunk;

/// ECN state of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct SenderEcn {
    /// Whether both ends have agreed on ECN.
    pub(crate) on: bool,
    /// With AccECN: the knowledge of the peer's counter.
    feedback: Option<Feedback>,
    /// Marks below this offset have been reacted to: the highest offset sent at the last reduction (RFC 3168, 6.1.2).
    answered: u64,
    /// Whether the next new data carries CWR.
    reduced: bool,
    /// With a window of one segment, nothing is sent before this time after a mark (RFC 3168, 6.1.2); zero without such a wait.
    quiet_until: Time,
}

impl SenderEcn {
    /// Turns ECN on, once both ends have agreed on it.
    pub(crate) fn turn_on(&mut self, accurate: bool) {
        self.on = true;
        self.feedback = accurate.then(|| Feedback::new(accecn::INITIAL_COUNT));
    }

    /// Stops sending ECN-capable packets and ignores the peer's feedback, because the path clears it, or because the
    /// peer has repeated its SYN without ECN.
    pub(crate) fn turn_off(&mut self) {
        (self.on, self.feedback) = (false, None);
    }

    /// Sets s.cep to 6, because our SYN-ACK arrived marked (RFC 9768, 3.2.2.1).
    pub(crate) fn note_marked_handshake(&mut self) {
        self.feedback = Some(Feedback::new(accecn::INITIAL_COUNT + 1));
    }

    /// Returns the marked bytes that an ACK of `acked` bytes reports. The ACK must move SND.UNA, or report something new.
    #[inline]
    pub(crate) fn take_marks(&mut self, ace: u8, acked: u64, mss: u64) -> u64 {
        match &mut self.feedback {
            None => u64::from(self.on && ace & 1 != 0) * acked,
            Some(feedback) => {
                let packets = acked.div_ceil(mss).max(1);
                let is_first = !std::mem::replace(&mut feedback.looked_at, true);
                if is_first && ace == 0 && packets < accecn::MARKS_TO_ZERO {
                    // RFC 9768, 3.2.2.4: the first feedback after the handshake is zero, so the path clears the field.
                    self.turn_off();
                    return 0;
                }
                feedback.bytes += feedback.take(ace, packets) * mss;
                let marked = feedback.bytes.min(acked);
                feedback.bytes -= marked;
                marked
            }
        }
    }

    /// Returns whether a duplicate ACK reports marks. With AccECN only an ACK with new information does; the marked bytes count at the next progress.
    #[inline]
    pub(crate) fn duplicate_is_marked(&mut self, ace: u8, news: bool, mss: u64) -> bool {
        match self.feedback {
            None => ace & 1 != 0,
            Some(Feedback { bytes: before, .. }) if news => {
                self.take_marks(ace, 0, mss);
                self.feedback.map(|feedback| feedback.bytes) != Some(before)
            }
            Some(_) => false,
        }
    }

    /// Returns whether a mark that arrives with this SND.UNA belongs to a window of data that has been reacted to (RFC
    /// 3168, 6.1.2; RFC 8257, 3.3).
    #[inline]
    pub(crate) fn has_answered(&self, una: u64) -> bool {
        una <= self.answered
    }

    /// Records that the congestion window has shrunk, with everything below `max` sent. Further marks of this window have no effect.
    pub(crate) fn note_reduction(&mut self, max: u64) {
        (self.answered, self.reduced) = (max, true);
    }

    /// Returns whether the departing chunk is the first new data after a reduction and must carry CWR (RFC 3168, 6.1.2).
    #[inline]
    pub(crate) fn take_cwr(&mut self, chunk: &Chunk) -> bool {
        let says = self.on && self.feedback.is_none() && self.reduced && chunk.is_new_data();
        self.reduced &= !says;
        says
    }

    /// Sends no data before `time`, because the window cannot shrink further and the timer must pace (RFC 3168, 6.1.2).
    pub(crate) fn be_quiet_until(&mut self, time: Time) {
        self.quiet_until = time;
    }

    pub(crate) fn end_quiet(&mut self) {
        self.quiet_until = Time::ZERO;
    }

    #[inline]
    pub(crate) fn is_quiet(&self, now: Time) -> bool {
        now < self.quiet_until
    }

    /// Returns the end of the wait; `Time::MAX` if there is none.
    #[inline]
    pub(crate) fn quiet_end(&self) -> Time {
        if self.quiet_until == Time::ZERO {
            Time::MAX
        } else {
            self.quiet_until
        }
    }
}
