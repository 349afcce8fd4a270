//! Waiting for the first of: a ready port, a point in time, a call from another thread.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{eventfd, EventfdFlags};
use rustix::io::Errno;
use rustix::time::{
    timerfd_create, timerfd_settime, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
};

use crate::IoError;

const WAKE: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;

/// Maximum number of ports reported by one wait; epoll reports the others in the next one.
const EVENTS: usize = 64;

/// Waits for ports. The owner of a port chooses its key, below 2^63.
pub struct Poller {
    epoll: OwnedFd,
    /// epoll's own timeout has a resolution of 1 ms; a port gate needs microseconds.
    timer: OwnedFd,
    wake: OwnedFd,
}

impl Poller {
    /// Creates a poller without ports.
    pub fn new() -> Result<Self, IoError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(IoError::at("epoll_create1"))?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)
            .map_err(IoError::at("timerfd_create"))?;
        let wake =
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(IoError::at("eventfd"))?;
        let poller = Self { epoll, timer, wake };
        poller.add(&poller.timer, TIMER)?;
        poller.add(&poller.wake, WAKE)?;
        Ok(poller)
    }

    /// Makes the current or the next [`Poller::wait`] return at once; for another thread.
    pub fn wake(&self) {
        // Fails only if 2^64 wake-ups are pending, in which case the wait ends anyway.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Waits for a file descriptor to become readable. Closing the descriptor removes it.
    pub fn add(&self, fd: impl AsFd, key: u64) -> Result<(), IoError> {
        epoll::add(&self.epoll, fd, EventData::new_u64(key), EventFlags::IN).map_err(IoError::at("epoll_ctl"))
    }

    /// Adds a descriptor like `add`, for reading and writing, but reports each change only once: its owner must read until nothing is left.
    pub fn add_edge(&self, fd: impl AsFd, key: u64) -> Result<(), IoError> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::ET;
        epoll::add(&self.epoll, fd, EventData::new_u64(key), flags).map_err(IoError::at("epoll_ctl"))
    }

    /// Waits until something is ready or `timeout` has passed; a zero timeout only checks. Stores the ports' keys in `ready`.
    pub fn wait(&self, timeout: Duration, ready: &mut Vec<u64>) -> Result<(), IoError> {
        ready.clear();
        if !timeout.is_zero() {
            // All zeros would disarm the timer.
            let once = Itimerspec {
                it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: Timespec {
                    tv_sec: timeout.as_secs().min(1 << 30) as i64,
                    tv_nsec: timeout.subsec_nanos().into(),
                },
            };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)
                .map_err(IoError::at("timerfd_settime"))?;
        }
        let look = Timespec { tv_sec: 0, tv_nsec: 0 };
        let limit = timeout.is_zero().then_some(&look);
        let mut events = [const { MaybeUninit::uninit() }; EVENTS];
        let events = match epoll::wait(&self.epoll, &mut events, limit) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(errno) => return Err(IoError::at("epoll_wait")(errno)),
        };
        let mut count = [0; 8];
        for event in events {
            match event.data.u64() {
                TIMER => drop(rustix::io::read(&self.timer, &mut count)),
                WAKE => drop(rustix::io::read(&self.wake, &mut count)),
                key => ready.push(key),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_wait_ends_at_its_time_and_not_before() {
        let poller = Poller::new().unwrap();
        let (start, mut ready) = (Instant::now(), Vec::new());
        poller.wait(Duration::from_micros(2_000), &mut ready).unwrap();
        assert!(start.elapsed() >= Duration::from_micros(2_000));
        assert!(ready.is_empty());
    }

    #[test]
    fn another_thread_ends_a_wait_even_before_it_begins() {
        let poller = Poller::new().unwrap();
        poller.wake();
        let (start, mut ready) = (Instant::now(), Vec::new());
        poller.wait(Duration::from_secs(60), &mut ready).unwrap();
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_readable_descriptor_is_named_by_its_key() {
        let poller = Poller::new().unwrap();
        let (from, to) = std::os::unix::net::UnixStream::pair().unwrap();
        poller.add(&from, 7).unwrap();
        let mut ready = Vec::new();
        poller.wait(Duration::ZERO, &mut ready).unwrap();
        assert!(ready.is_empty());
        rustix::io::write(&to, b"x").unwrap();
        poller.wait(Duration::ZERO, &mut ready).unwrap();
        assert_eq!(ready, [7]);
    }
}
