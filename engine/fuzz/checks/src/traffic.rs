//! A switch under traffic, and conditions that hold for any switch and program: every packet is accounted for, frames
//! leave in order and never two at a time on one wire, and a drained switch is empty.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bm::Executable;
use simple_switch::{ConfigError, Switch, SwitchConfig, MAX_FRAME_BYTES, PORT_COUNT};
use units::{Duration, Time};

/// A gate that opens later than this counts as permanently closed: 53 days.
const FOREVER: Time = Time::from_ps(1 << 62);

/// Maximum number of a switch's own events between two events of the input.
const MAX_WAKEUPS: usize = 1000;

/// Number of ingress passes after which the rest of an input is skipped: a program that copies and recirculates doubles
/// its packets in each round.
const MAX_PASSES: u64 = 4000;

/// A switch, its time, and a digest of its output.
pub(crate) struct Traffic {
    pub(crate) switch: Switch,
    now: Time,
    last_departure: Time,
    wire_is_free: Vec<Time>,
    received: u64,
    sent: u64,
    transcript: DefaultHasher,
}

impl Traffic {
    pub(crate) fn new(program: &Arc<Executable>, config: SwitchConfig) -> Result<Self, ConfigError> {
        Ok(Self {
            switch: Switch::new(Arc::clone(program), config)?,
            now: Time::ZERO,
            last_departure: Time::ZERO,
            wire_is_free: vec![Time::ZERO; PORT_COUNT],
            received: 0,
            sent: 0,
            transcript: DefaultHasher::new(),
        })
    }

    /// Delivers a frame to the switch now.
    pub(crate) fn packet(&mut self, port: u16, frame: &[u8]) {
        self.received += 1;
        self.switch.handle_packet(self.now, port, frame, self.received);
        self.collect();
    }

    /// Advances the time. The switch handles due events, up to a limited number.
    pub(crate) fn advance(&mut self, span: Duration) {
        let until = self.now.saturating_add(span).min(FOREVER);
        if self.wake_until(until) {
            self.now = until;
            self.switch.handle_wakeup(until);
        }
        self.collect();
    }

    /// Returns whether the switch has reached the limit on its work for one input.
    pub(crate) fn is_worn_out(&self) -> bool {
        self.switch.p4_passes() > MAX_PASSES
    }

    /// Runs the switch until it is idle, within the limits.
    pub(crate) fn drain(&mut self) {
        let done = self.wake_until(FOREVER);
        self.collect();
        self.check_balance();
        // Close to the end of time, a packet may recirculate after it.
        if done && self.now <= FOREVER - Duration::from_secs(1) {
            let waiting: usize = (0..PORT_COUNT as u16).map(|port| self.switch.queue_packets(port)).sum();
            assert_eq!(self.switch.stats().in_flight, waiting as u64, "packets are neither gone nor queued");
        }
    }

    fn wake_until(&mut self, until: Time) -> bool {
        for _ in 0..MAX_WAKEUPS {
            if self.is_worn_out() {
                return false;
            }
            let Some(at) = self.switch.next_wakeup().filter(|at| *at <= until) else { return true };
            assert!(at >= self.now, "a wakeup at {at} is in the past at {}", self.now);
            self.now = at;
            self.switch.handle_wakeup(at);
        }
        false
    }

    fn collect(&mut self) {
        while let Some(transmit) = self.switch.poll_transmit() {
            self.sent += 1;
            let port = usize::from(transmit.port);
            assert!(
                transmit.at >= self.last_departure && transmit.at <= self.now,
                "departures are out of order"
            );
            assert!(transmit.at >= self.wire_is_free[port], "two frames at once on port {port}");
            assert!(
                transmit.frame.len() <= MAX_FRAME_BYTES,
                "a frame of {} bytes left",
                transmit.frame.len()
            );
            assert!((1..=self.received).contains(&transmit.tag), "tag {} was never given", transmit.tag);
            self.last_departure = transmit.at;
            self.wire_is_free[port] = transmit.at.saturating_add(transmit.wire_time);
            (transmit.port, transmit.at, transmit.wire_time, transmit.tag).hash(&mut self.transcript);
            transmit.frame[..].hash(&mut self.transcript);
            self.switch.recycle(transmit.frame);
        }
        while let Some(digest) = self.switch.poll_digest() {
            (digest.learn_list, digest.sample).hash(&mut self.transcript);
        }
        while let Some(message) = self.switch.poll_log() {
            message.hash(&mut self.transcript);
        }
    }

    /// Checks that the packet counts balance. It sums over all ports, so it is called only occasionally.
    pub(crate) fn check_balance(&self) {
        let stats = self.switch.stats();
        assert!(stats.is_balanced(), "{stats:?}");
        assert_eq!((stats.received, stats.sent), (self.received, self.sent), "{stats:?}");
    }

    /// Returns a number that is the same for two runs with the same output and the same registers.
    pub(crate) fn transcript(&self) -> u64 {
        let mut hasher = self.transcript.clone();
        self.now.hash(&mut hasher);
        for register in 0..self.switch.program().register_arrays().len() {
            self.switch.state().register_cells(register).hash(&mut hasher);
        }
        format!("{:?}", self.switch.stats()).hash(&mut hasher);
        hasher.finish()
    }
}
