//! A switch with its clock, and the state that it needs before it has a program.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use port_io::PortInfo;
use simple_switch::{Switch, SwitchConfig};
use units::Time;

use crate::clock::Clock;

/// Maximum time for the switch's own backlog before frames, transmission and control calls get their turn.
const CATCH_UP_LIMIT: Duration = Duration::from_millis(1);
/// Number of wake-ups between two checks of the clock while catching up.
const CATCH_UP_STEP: usize = 32;

/// The tag of all frames; it is not used to distinguish them.
const TAG: u64 = 0;

/// The state that the lock between the loop and its callers protects.
pub(crate) struct Engine {
    pub(crate) config: SwitchConfig,
    pub(crate) switch: Option<Switch>,
    pub(crate) clock: Clock,
    pub(crate) no_program: u64,
    /// Ports whose link is down, for a switch that is created later.
    down: BTreeSet<u16>,
    /// Whether the link of an unlisted port is up. An interface that has gone is down; a port that a socket's peer has
    /// not mentioned is up, as in BMv2.
    unlisted_are_up: bool,
    /// Whether every packet is followed, with any program.
    follows_all: bool,
}

/// Number of pending steps of followed packets above which frames wait at the ports.
const STEPS_LIMIT: usize = simple_switch::MAX_STEPS / 4;

impl Engine {
    /// Creates the engine. Every link is up until [`Engine::set_links`] changes it. A switch that is created later also
    /// uses `config`.
    pub(crate) fn new(
        config: SwitchConfig,
        switch: Option<Switch>,
        clock: Clock,
        unlisted_are_up: bool,
        follows_all: bool,
    ) -> Self {
        let mut engine = Self {
            config,
            switch,
            clock,
            no_program: 0,
            down: BTreeSet::new(),
            unlisted_are_up,
            follows_all,
        };
        engine.follow();
        engine
    }

    /// Follows every packet of the current program, if enabled.
    pub(crate) fn follow(&mut self) {
        if let Some(switch) = self.switch.as_mut().filter(|_| self.follows_all) {
            switch.follow(TAG);
        }
    }

    /// Returns whether too many steps of followed packets are pending.
    pub(crate) fn is_full(&self) -> bool {
        self.switch.as_ref().is_some_and(|switch| switch.journey_steps() > STEPS_LIMIT)
    }

    /// Sets the link states: those of `ports` as listed, all others to `unlisted_are_up`.
    pub(crate) fn set_links(&mut self, ports: &[PortInfo]) {
        let listed: BTreeMap<u16, bool> = ports.iter().map(|info| (info.port, info.is_up)).collect();
        let is_up = |port: &u16| listed.get(port).copied().unwrap_or(self.unlisted_are_up);
        self.down = self.config.ports.iter().map(|port| port.port).filter(|port| !is_up(port)).collect();
        self.tell_links();
    }

    /// Reports the link states to the switch.
    pub(crate) fn tell_links(&mut self) {
        let Some(switch) = &mut self.switch else { return };
        for port in &self.config.ports {
            switch.set_link(port.port, !self.down.contains(&port.port));
        }
    }

    /// Runs the switch's due work. Returns the time up to which it is done. If that takes too long, the clock is held
    /// back, as BMv2's packets wait for its threads: otherwise a program that recirculates forever would fall behind
    /// further with each round.
    pub(crate) fn catch_up(&mut self) -> Time {
        self.catch_up_within(CATCH_UP_LIMIT)
    }

    fn catch_up_within(&mut self, limit: Duration) -> Time {
        let start = Instant::now();
        let target = self.clock.at(start);
        let Some(switch) = &mut self.switch else { return target };
        let mut steps = 0;
        while let Some(at) = switch.next_wakeup().filter(|at| *at <= target) {
            switch.handle_wakeup(at);
            steps += 1;
            if steps % CATCH_UP_STEP == 0 && start.elapsed() > limit {
                self.clock.hold_back_to(at, Instant::now());
                return at;
            }
        }
        target
    }

    /// Passes an arriving frame to the switch. `now` is the clock's time, up to which the switch has caught up.
    pub(crate) fn arrive(&mut self, now: Time, port: u16, frame: &[u8]) {
        match &mut self.switch {
            Some(switch) => switch.handle_packet(now, port, frame, TAG),
            None => self.no_program += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use bm::{Executable, Program};
    use simple_switch::PortConfig;

    use super::*;

    fn three_ports() -> SwitchConfig {
        SwitchConfig { ports: (0..3).map(PortConfig::unlimited).collect(), ..SwitchConfig::default() }
    }

    fn switch(config: &SwitchConfig) -> Switch {
        let json = include_bytes!("../../simple_switch/tests/p4/probe.json");
        Switch::new(Executable::new(Program::from_json(json).unwrap()), config.clone()).unwrap()
    }

    fn port(port: u16, is_up: bool) -> PortInfo {
        PortInfo { port, name: format!("if{port}"), is_up }
    }

    fn up(engine: &Engine) -> [bool; 3] {
        [0, 1, 2].map(|port| engine.switch.as_ref().unwrap().is_up(port))
    }

    #[test]
    fn a_switch_that_is_made_later_knows_the_links_that_were_down_before() {
        let mut engine = Engine::new(three_ports(), None, Clock::new(Instant::now()), false, false);
        // Port 2 is no longer listed.
        engine.set_links(&[port(0, true), port(1, false)]);
        engine.switch = Some(switch(&engine.config));
        engine.tell_links();
        assert_eq!(up(&engine), [true, false, false]);
        engine.set_links(&[port(0, false), port(1, true), port(2, true)]);
        assert_eq!(up(&engine), [false, true, true]);
    }

    #[test]
    fn ports_that_a_peer_has_not_spoken_of_are_up_and_those_that_it_removed_are_not() {
        let switch = switch(&three_ports());
        let mut engine = Engine::new(three_ports(), Some(switch), Clock::new(Instant::now()), true, false);
        engine.set_links(&[]);
        assert_eq!(up(&engine), [true, true, true]);
        engine.set_links(&[port(1, true), port(2, false)]);
        assert_eq!(up(&engine), [true, true, false]);
    }

    #[test]
    fn a_program_that_recirculates_faster_than_the_computer_can_slows_its_own_clock() {
        const RECIRCULATE: u8 = 3;
        const ROUNDS: u8 = 255;
        let rate = units::DataRate::from_bps(10_000_000_000);
        let config = SwitchConfig {
            recirculation_delay: units::Duration::from_ps(1),
            ports: (0..2).map(|port| PortConfig::ethernet(port, rate)).collect(),
            ..SwitchConfig::default()
        };
        let switch = switch(&config);
        // The clock has run for a second, so all rounds of a packet at time zero are due.
        let clock = Clock::new(Instant::now() - Duration::from_secs(1));
        let mut engine = Engine::new(config, Some(switch), clock, false, false);
        let mut frame = [0; 64];
        (frame[0], frame[1], frame[3]) = (RECIRCULATE, ROUNDS, 1);
        engine.arrive(Time::ZERO, 0, &frame);

        // With a limit of zero, the backlog cannot be finished.
        let reached = engine.catch_up_within(Duration::ZERO);
        assert!(reached <= Time::from_ps(u64::from(ROUNDS)), "{reached:?}");
        assert!(engine.clock.held_back() >= Duration::from_millis(999));
        let recirculated = |engine: &Engine| engine.switch.as_ref().unwrap().stats().recirculated;
        assert!(recirculated(&engine) < u64::from(ROUNDS));

        engine.catch_up_within(Duration::from_secs(60));
        assert_eq!(recirculated(&engine), u64::from(ROUNDS));
    }
}
