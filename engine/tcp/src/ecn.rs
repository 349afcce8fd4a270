//! What a sender makes of ECN (RFC 3168, 6.1): the marks that the peer feeds back, and which of them have been answered.

use units::Time;

use crate::accecn::{self, Feedback};
use crate::space::Chunk;

/// ECN of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct SenderEcn {
    /// Both ends have agreed on it.
    pub(crate) on: bool,
    /// With AccECN: what is known of the peer's counter.
    feedback: Option<Feedback>,
    /// A mark below this has been answered to: the highest offset sent at the last reduction (RFC 3168, 6.1.2).
    answered: u64,
    /// The next new data says CWR.
    reduced: bool,
    /// With a window of one segment, a mark lets nothing out before this (RFC 3168, 6.1.2); zero without such a wait.
    quiet_until: Time,
}

impl SenderEcn {
    /// Turns ECN on: both ends have agreed on it.
    pub(crate) fn turn_on(&mut self, accurate: bool) {
        self.on = true;
        self.feedback = accurate.then(|| Feedback::new(accecn::INITIAL_COUNT));
    }

    /// Sends nothing more ECN-capable and ignores what the peer feeds back: something on the path clears it, or the peer has asked without
    /// ECN, too.
    pub(crate) fn turn_off(&mut self) {
        (self.on, self.feedback) = (false, None);
    }

    /// Starts s.cep at 6, because our SYN-ACK came marked (RFC 9768, 3.2.2.1).
    pub(crate) fn note_marked_handshake(&mut self) {
        self.feedback = Some(Feedback::new(accecn::INITIAL_COUNT + 1));
    }

    /// Returns the marked bytes that an ACK of `acked` bytes reports. The ACK moves SND.UNA, or reports something new.
    #[inline]
    pub(crate) fn take_marks(&mut self, ace: u8, acked: u64, mss: u64) -> u64 {
        match &mut self.feedback {
            None => u64::from(self.on && ace & 1 != 0) * acked,
            Some(feedback) => {
                let packets = acked.div_ceil(mss).max(1);
                let is_first = !std::mem::replace(&mut feedback.looked_at, true);
                if is_first && ace == 0 && packets < accecn::MARKS_TO_ZERO {
                    // RFC 9768, 3.2.2.4: the first feedback after the handshake is zero, so something on the path clears it.
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

    /// Returns whether a duplicate ACK tells of marks. With AccECN only one with news does, and their bytes count with the next progress.
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

    /// Returns whether a mark that comes with this SND.UNA belongs to a window of data that has been answered (RFC 3168, 6.1.2; RFC 8257,
    /// 3.3).
    #[inline]
    pub(crate) fn has_answered(&self, una: u64) -> bool {
        una <= self.answered
    }

    /// Notes that the congestion window has shrunk, with everything below `max` sent: a mark of the same window adds nothing.
    pub(crate) fn note_reduction(&mut self, max: u64) {
        (self.answered, self.reduced) = (max, true);
    }

    /// Returns whether what leaves is the first new data after a reduction (RFC 3168, 6.1.2: CWR).
    #[inline]
    pub(crate) fn take_cwr(&mut self, chunk: &Chunk) -> bool {
        let says = self.on && self.feedback.is_none() && self.reduced && chunk.is_new_data();
        self.reduced &= !says;
        says
    }

    /// Lets no data out before `time`, because the window cannot shrink any more, so that the timer paces (RFC 3168, 6.1.2).
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

    /// Returns when the wait is over; `Time::MAX` without one.
    #[inline]
    pub(crate) fn quiet_end(&self) -> Time {
        if self.quiet_until == Time::ZERO {
            Time::MAX
        } else {
            self.quiet_until
        }
    }
}
