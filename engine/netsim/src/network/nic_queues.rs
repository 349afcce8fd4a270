//! All frames that wait in a NIC, and the order in which they leave.
//!
//! Notifications that the NIC sends (`cnp`) leave first. Then comes the highest queue that is not paused: a NIC has one
//! queue per priority (`nic_classes`), or a single one. Each queue may serve flows in turn (`nic_fair`). Flows with a
//! rate wait in limiters (`limiter`), whose first frames take turns with the queue of their priority.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use units::{Bytes, DataRate, Time};

use crate::network::frame::HostFrame;
use crate::network::limiter::{Limiters, Next};
use crate::network::nic_classes::{NicClasses, PRIORITIES};
use crate::network::nic_fair::Queue;

/// Frames of one priority.
struct Lane {
    queue: Queue,
    /// When its pause ends.
    open_at: Time,
}

/// The queues of one NIC.
pub(super) struct Queues {
    /// Notifications waiting for the wire.
    cnps: VecDeque<HostFrame>,
    /// By priority; a single one if all frames have one class, so that such NICs pay nothing for the others.
    lanes: Vec<Lane>,
    classes: Option<Box<NicClasses>>,
    /// Frames in the lanes.
    waiting: usize,
    /// Bytes that wait outside limiters.
    bytes: u64,
    /// Flows with a rate; `None` until the first gets one, so that other NICs pay nothing for them.
    limiters: Option<Box<Limiters>>,
}

impl Queues {
    /// Creates queues by priority, or one. With `is_fair`, each serves flows in turn.
    pub(super) fn new(classes: Option<NicClasses>, is_fair: bool) -> Self {
        let count = if classes.is_some() { PRIORITIES } else { 1 };
        let lane = |_| Lane { queue: Queue::new(is_fair), open_at: Time::ZERO };
        Self {
            cnps: VecDeque::new(),
            lanes: (0..count).map(lane).collect(),
            classes: classes.map(Box::new),
            waiting: 0,
            bytes: 0,
            limiters: None,
        }
    }

    pub(super) fn has_classes(&self) -> bool {
        self.classes.is_some()
    }

    /// Applies a MAC control frame. Returns whether it was a pause of a queue that may be paused.
    pub(super) fn obey(&mut self, now: Time, rate: DataRate, frame: &[u8]) -> bool {
        let mut obeys = false;
        for (priority, span) in self.classes.iter().flat_map(|classes| classes.pauses(rate, frame)) {
            self.lanes[priority].open_at = now + span;
            obeys = true;
        }
        obeys
    }

    /// Returns when the pause of a queue ends: now or earlier if it is not paused.
    pub(super) fn opens_at(&self, priority: usize) -> Time {
        self.lanes.get(priority).map_or(Time::ZERO, |lane| lane.open_at)
    }

    /// Returns the bytes and frames that wait in limiters.
    #[inline]
    fn limited(&self) -> (u64, usize) {
        self.limiters.as_ref().map_or((0, 0), |limiters| (limiters.queued_bytes, limiters.queued_frames))
    }

    /// Returns the bytes that wait outside limiters.
    #[inline]
    pub(super) fn bytes_queued(&self) -> u64 {
        self.bytes
    }

    /// Returns all bytes that wait.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes + self.limited().0
    }

    /// Returns the number of frames that wait outside limiters.
    #[inline]
    pub(super) fn frames_queued(&self) -> usize {
        self.cnps.len() + self.waiting
    }

    /// Returns the number of all frames that wait.
    #[inline]
    pub(super) fn frames(&self) -> usize {
        self.frames_queued() + self.limited().1
    }

    /// Returns when the first frame may leave: not before `opens_at`, nor, in a limiter, before its time.
    #[inline]
    pub(super) fn next(&self, opens_at: Time) -> Option<Time> {
        if !self.cnps.is_empty() {
            return Some(opens_at);
        }
        let of_lane = |(priority, lane): (usize, &Lane)| {
            let due = if lane.queue.is_empty() { self.next_limited(priority)? } else { Time::ZERO };
            Some(due.max(lane.open_at))
        };
        self.lanes.iter().enumerate().filter_map(of_lane).min().map(|due| due.max(opens_at))
    }

    /// Returns when a frame of a priority may leave a limiter.
    #[inline]
    fn next_limited(&self, priority: usize) -> Option<Time> {
        self.limiters.as_ref().and_then(|limiters| limiters.next(priority))
    }

    pub(super) fn push_cnp(&mut self, frame: HostFrame) {
        self.bytes += u64::from(frame.wire_len);
        self.cnps.push_back(frame);
    }

    /// Adds a frame to its limiter or its queue.
    #[inline]
    pub(super) fn push(&mut self, now: Time, frame: HostFrame) {
        match frame.limiter {
            Some(limiter) => self.push_limited(now, limiter, frame),
            None => self.push_queued(frame),
        }
    }

    #[inline]
    fn priority_of(&self, frame: &HostFrame) -> usize {
        self.classes.as_ref().map_or(0, |classes| classes.priority_of(frame))
    }

    fn push_limited(&mut self, now: Time, limiter: NonZeroU32, frame: HostFrame) {
        let priority = self.priority_of(&frame);
        self.existing_limiters().push(now, limiter.get() - 1, priority, frame);
    }

    #[inline]
    fn push_queued(&mut self, frame: HostFrame) {
        let priority = self.priority_of(&frame);
        self.bytes += u64::from(frame.wire_len);
        self.waiting += 1;
        self.lanes[priority].queue.push(frame);
    }

    #[inline]
    pub(super) fn pop_cnp(&mut self) -> Option<HostFrame> {
        let frame = self.cnps.pop_front()?;
        self.bytes -= u64::from(frame.wire_len);
        Some(frame)
    }

    /// Takes the first frame that may leave now, except notifications. `overhead` is added to a frame for its time on the wire.
    #[inline]
    pub(super) fn pop(&mut self, now: Time, overhead: Bytes) -> Option<HostFrame> {
        // The highest queue that is not paused and has a frame, of its own or due in a limiter.
        let (priority, lane) = self.lanes.iter().enumerate().rev().find(|(priority, lane)| {
            let is_due = || self.next_limited(*priority).is_some_and(|due| due <= now);
            lane.open_at <= now && (!lane.queue.is_empty() || is_due())
        })?;
        let (open_since, queue_waits) = (lane.open_at, !lane.queue.is_empty());
        if let Some(limiters) = &mut self.limiters {
            match limiters.take(now, priority, open_since, queue_waits, overhead) {
                Next::Nothing => return None,
                Next::Frame(frame) => return Some(frame),
                Next::Fifo => {}
            }
        }
        let frame = self.lanes[priority].queue.pop()?;
        self.waiting -= 1;
        self.bytes -= u64::from(frame.wire_len);
        Some(frame)
    }

    /// Creates a limiter with this rate in bits per second on the wire. Returns its number; `None` if there are [`crate::MAX_LIMITERS`] already.
    pub(super) fn add_limiter(&mut self, now: Time, rate_bps: u64) -> Option<NonZeroU32> {
        let number = self.limiters.get_or_insert_default().add(now, rate_bps)?;
        Some(NonZeroU32::MIN.saturating_add(number))
    }

    /// Sets the rate of a limiter from now on; at 0 nothing leaves it.
    pub(super) fn set_limiter(&mut self, now: Time, limiter: NonZeroU32, rate_bps: u64) {
        self.existing_limiters().set_rate(now, limiter.get() - 1, rate_bps);
    }

    /// Removes a limiter and moves its frames to the end of their queues. No frame may have its number afterwards.
    pub(super) fn remove_limiter(&mut self, limiter: NonZeroU32) {
        let frames: Vec<HostFrame> = self.existing_limiters().remove(limiter.get() - 1).collect();
        for mut frame in frames {
            frame.limiter = None;
            self.push_queued(frame);
        }
    }

    fn existing_limiters(&mut self) -> &mut Limiters {
        self.limiters.as_mut().expect("a limiter's number comes from the NIC that has it")
    }

    /// Moves the frames that satisfy `is_wanted` from their queues into a limiter.
    pub(super) fn limit(&mut self, now: Time, limiter: NonZeroU32, is_wanted: impl Fn(&HostFrame) -> bool) {
        let moved: Vec<_> = self.lanes.iter_mut().flat_map(|lane| lane.queue.take(&is_wanted)).collect();
        self.waiting -= moved.len();
        for mut frame in moved {
            self.bytes -= u64::from(frame.wire_len);
            frame.limiter = Some(limiter);
            self.push_limited(now, limiter, frame);
        }
    }
}
