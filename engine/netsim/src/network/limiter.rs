//! Limiters of a NIC: paced queues, one per flow with a rate.
//!
//! A frame leaves a limiter when the frame before it has had its time at the limiter's rate: departure k + 1 is not before
//! departure k + wire length / rate. Unused rate is not saved, with one exception: a frame that had to wait for the wire does not
//! delay those behind it, up to one frame's time; otherwise flows whose rates fill a link would not get them. If the rate changes
//! in between, the remaining debt is paid at the new rate. Limiters that are due, and the NIC's FIFO, take turns.
//!
//! If the NIC has queues by priority, a limiter's first frame belongs to one of them: it takes turns there, and waits while that
//! queue is paused. A frame that had to wait for the end of a pause delays those behind it: a pause saves nothing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use units::{Bytes, Time};

use crate::limits::MAX_LIMITERS;
use crate::network::frame::HostFrame;
use crate::network::nic_classes::PRIORITIES;

/// One bit in the unit of debts: one bit per second for one picosecond.
const BIT: u128 = 1_000_000_000_000;

/// One paced queue.
struct Limiter {
    /// Bits per second on the wire; at 0 nothing leaves.
    rate_bps: u64,
    /// What must pass from `since` on before the next frame may leave, in millionths of a millionth of a bit.
    debt: u128,
    since: Time,
    /// When the first frame was present and due.
    eligible: Time,
    /// Each with its priority.
    frames: VecDeque<(usize, HostFrame)>,
    /// Whether it is among the limiters that are due.
    is_ready: bool,
}

impl Limiter {
    /// Returns when the first frame may leave; `None` at rate 0.
    fn due(&self) -> Option<Time> {
        if self.rate_bps == 0 {
            return None;
        }
        let at = u128::from(self.since.as_ps()) + self.debt.div_ceil(self.rate_bps.into());
        Some(Time::from_ps(u64::try_from(at).unwrap_or(u64::MAX)))
    }
}

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Fifo,
    Limiter(u32),
}

/// Limiters whose first frame has one priority.
#[derive(Default)]
struct OfPriority {
    /// Limiters that are not due yet.
    waiting: BinaryHeap<Reverse<(Time, u32)>>,
    /// Limiters that are due, and the FIFO, in the order of their turns.
    ready: VecDeque<Turn>,
}

/// All limiters of a NIC.
#[derive(Default)]
pub(super) struct Limiters {
    limiters: Vec<Option<Limiter>>,
    free: Vec<u32>,
    queues: [OfPriority; PRIORITIES],
    pub(super) queued_bytes: u64,
    pub(super) queued_frames: usize,
}

/// What leaves next.
pub(super) enum Next {
    /// The first frame of the FIFO.
    Fifo,
    /// A frame of a limiter.
    Frame(HostFrame),
    /// Nothing.
    Nothing,
}

impl Limiters {
    /// Adds a limiter without frames, whose first may leave at once. `None` if there are [`MAX_LIMITERS`] already.
    pub(super) fn add(&mut self, now: Time, rate_bps: u64) -> Option<u32> {
        let new = Limiter {
            rate_bps,
            debt: 0,
            since: now,
            eligible: now,
            frames: VecDeque::new(),
            is_ready: false,
        };
        if let Some(number) = self.free.pop() {
            self.limiters[number as usize] = Some(new);
            return Some(number);
        }
        if self.limiters.len() >= MAX_LIMITERS {
            return None;
        }
        self.limiters.push(Some(new));
        Some(self.limiters.len() as u32 - 1)
    }

    fn get(&mut self, number: u32) -> &mut Limiter {
        self.limiters[number as usize].as_mut().expect("a limiter's owner gives it up once")
    }

    /// Sets the rate of a limiter from now on.
    pub(super) fn set_rate(&mut self, now: Time, number: u32, rate_bps: u64) {
        let limiter = self.get(number);
        let passed = u128::from(limiter.rate_bps) * u128::from(now.saturating_since(limiter.since).as_ps());
        limiter.debt = limiter.debt.saturating_sub(passed);
        limiter.since = now;
        limiter.rate_bps = rate_bps;
        self.leave_turn(number);
        self.wait(now, number);
    }

    /// Removes a limiter and returns its frames in order.
    pub(super) fn remove(&mut self, number: u32) -> impl Iterator<Item = HostFrame> {
        self.leave_turn(number);
        let limiter = self.limiters[number as usize].take().expect("a limiter's owner gives it up once");
        self.free.push(number);
        self.queued_frames -= limiter.frames.len();
        self.queued_bytes -= limiter.frames.iter().map(|(_, frame)| u64::from(frame.wire_len)).sum::<u64>();
        limiter.frames.into_iter().map(|(_, frame)| frame)
    }

    fn leave_turn(&mut self, number: u32) {
        let limiter = self.get(number);
        let is_ready = std::mem::take(&mut limiter.is_ready);
        let Some(priority) = limiter.frames.front().map(|(priority, _)| *priority) else { return };
        let queue = &mut self.queues[priority];
        queue.waiting.retain(|Reverse((_, other))| *other != number);
        if is_ready {
            queue.ready.retain(|turn| *turn != Turn::Limiter(number));
        }
    }

    fn wait(&mut self, now: Time, number: u32) {
        let limiter = self.get(number);
        let Some(priority) = limiter.frames.front().map(|(priority, _)| *priority) else { return };
        if let Some(due) = limiter.due() {
            let due = due.max(now);
            limiter.eligible = due;
            self.queues[priority].waiting.push(Reverse((due, number)));
        }
    }

    /// Adds a frame of a priority to a limiter, which must exist.
    pub(super) fn push(&mut self, now: Time, number: u32, priority: usize, frame: HostFrame) {
        self.queued_bytes += u64::from(frame.wire_len);
        self.queued_frames += 1;
        let limiter = self.get(number);
        limiter.frames.push_back((priority, frame));
        if limiter.frames.len() == 1 {
            self.wait(now, number);
        }
    }

    /// Returns the earliest time at which a frame of a priority may leave a limiter; a time in the past if one is due.
    pub(super) fn next(&self, priority: usize) -> Option<Time> {
        let queue = &self.queues[priority];
        if queue.ready.iter().any(|turn| *turn != Turn::Fifo) {
            return Some(Time::ZERO);
        }
        queue.waiting.peek().map(|Reverse((due, _))| *due)
    }

    /// Takes the next frame of a priority at `now`. Its queue has been open since `open_since`, and `fifo_waits` says
    /// whether frames wait there. `overhead` is added to a frame for its time on the wire.
    pub(super) fn take(
        &mut self,
        now: Time,
        priority: usize,
        open_since: Time,
        fifo_waits: bool,
        overhead: Bytes,
    ) -> Next {
        let queue = &mut self.queues[priority];
        if fifo_waits && !queue.ready.contains(&Turn::Fifo) {
            queue.ready.push_back(Turn::Fifo);
        }
        while let Some(Reverse((_, number))) =
            queue.waiting.peek().copied().filter(|Reverse((due, _))| *due <= now)
        {
            queue.waiting.pop();
            queue.ready.push_back(Turn::Limiter(number));
            if let Some(limiter) = &mut self.limiters[number as usize] {
                limiter.is_ready = true;
            }
        }
        loop {
            match queue.ready.pop_front() {
                None => return Next::Nothing,
                Some(Turn::Fifo) if fifo_waits => return Next::Fifo,
                Some(Turn::Fifo) => {}
                Some(Turn::Limiter(number)) => {
                    return Next::Frame(self.depart(now, number, open_since, overhead))
                }
            }
        }
    }

    fn depart(&mut self, now: Time, number: u32, open_since: Time, overhead: Bytes) -> HostFrame {
        let limiter = self.get(number);
        let (_, frame) = limiter.frames.pop_front().expect("a limiter whose time has come has a frame");
        let bits = u128::from((u64::from(frame.wire_len) + overhead.get()) * 8);
        let late = u128::from(now.saturating_since(limiter.eligible.max(open_since)).as_ps());
        let credit = late.saturating_mul(u128::from(limiter.rate_bps));
        (limiter.debt, limiter.since, limiter.is_ready) = ((bits * BIT).saturating_sub(credit), now, false);
        self.queued_bytes -= u64::from(frame.wire_len);
        self.queued_frames -= 1;
        self.wait(now, number);
        frame
    }
}
