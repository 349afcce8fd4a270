//! The loop: wait, take frames, let the switch work, send.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use port_io::{IoError, Poller, PortInfo, PortIo};
use simple_switch::Transmit;
use units::Time;

use crate::switch::{Command, Engine, Shared};

/// How often links are looked after and counts are published.
const TEND_EVERY: Duration = Duration::from_millis(100);
/// How long the switch may work on its own backlog before frames, transmission and control calls get their turn.
const CATCH_UP_LIMIT: Duration = Duration::from_millis(1);
/// Wake-ups between two looks at the clock while catching up.
const CATCH_UP_STEP: usize = 32;

/// Why the loop ends by itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("{0}")]
    Io(#[from] IoError),
    #[error("its clock has reached the end of its range, 213 days; start it again")]
    ClockEnds,
}

/// Says that the loop is over, also when it panics.
pub(crate) struct EndGuard<'a>(pub(crate) &'a Shared);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
        if std::thread::panicking() {
            self.0.event("the switch stops: its thread has failed; stderr says why".into());
        }
    }
}

impl Engine {
    /// Lets the switch do what has become due; the time up to which it has. When it cannot do it in time, its clock is held
    /// back, as BMv2's packets wait for its threads: a program that recirculates for ever would otherwise fall behind more
    /// with each round.
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

    /// A frame arrives. `now` is what the clock shows, and the switch has caught up with it.
    pub(crate) fn arrive(&mut self, now: Time, port: u16, frame: &[u8]) {
        match &mut self.switch {
            Some(switch) => switch.handle_packet(now, port, frame, 0),
            None => self.no_program += 1,
        }
    }
}

/// Runs until it is told to stop.
pub(crate) fn run(mut io: Box<dyn PortIo>, mut poller: Poller, shared: &Shared) -> Result<(), RunError> {
    let io = io.as_mut();
    let mut ready = Vec::new();
    let mut sent: Vec<Transmit> = Vec::new();
    let mut next_tend = Instant::now();
    let mut wait = Duration::ZERO;
    while !shared.stopping.load(Ordering::Acquire) {
        if !wait.is_zero() {
            io.flush();
        }
        poller.wait(wait, &mut ready)?;
        do_commands(io, &poller, shared)?;
        if Instant::now() >= next_tend {
            io.tend(&mut |event| shared.event(event));
            publish(io, shared);
            next_tend = Instant::now() + TEND_EVERY;
        }
        let due = shared.gate.slice(|engine| {
            recycle(engine, &mut sent);
            let now = engine.catch_up();
            if now == Time::MAX {
                return Err(RunError::ClockEnds);
            }
            let more = io.receive(&poller, &ready, &mut |port, frame| {
                // Each frame has its own time of arrival, and what is due before it goes first, within the same limit.
                let now = engine.catch_up();
                engine.arrive(now, port, frame);
            })?;
            collect(engine, shared, &mut sent);
            if more {
                return Ok(Duration::ZERO);
            }
            let wakeup = engine.switch.as_ref().and_then(|switch| switch.next_wakeup());
            let now = Instant::now();
            Ok(wakeup.map_or(Duration::MAX, |at| engine.clock.until(at, now)))
        })?;
        io.send(&mut sent.iter().map(|sent| (sent.port, &*sent.frame)));
        wait = due.min(next_tend.saturating_duration_since(Instant::now()));
    }
    io.flush();
    io.tend(&mut |event| shared.event(event));
    publish(io, shared);
    Ok(())
}

/// Gives back the buffers of what the ports have sent.
fn recycle(engine: &mut Engine, sent: &mut Vec<Transmit>) {
    match &mut engine.switch {
        Some(switch) => sent.drain(..).for_each(|sent| switch.recycle(sent.frame)),
        None => sent.clear(),
    }
}

/// Takes what the switch sends: to the controller, or to the ports.
fn collect(engine: &mut Engine, shared: &Shared, sent: &mut Vec<Transmit>) {
    let Some(switch) = &mut engine.switch else { return };
    while let Some(transmit) = switch.poll_transmit() {
        if Some(transmit.port) == engine.config.cpu_port {
            shared.packet_ins.push(transmit.frame.to_vec());
            switch.recycle(transmit.frame);
        } else {
            sent.push(transmit);
        }
    }
}

fn do_commands(io: &mut dyn PortIo, poller: &Poller, shared: &Shared) -> Result<(), IoError> {
    loop {
        // The lock is not held while a port is changed.
        let Some((command, reply)) = shared.commands.lock().pop_front() else { return Ok(()) };
        let result = change(io, command);
        if result.is_ok() {
            io.register(poller)?;
        }
        publish(io, shared);
        // Who asked may have given up.
        let _ = reply.send(result);
    }
}

/// Shows how ports and counts are now, and tells the switch when a link has changed.
pub(crate) fn publish(io: &dyn PortIo, shared: &Shared) {
    let ports = io.ports();
    let links = |ports: &[PortInfo]| ports.iter().map(|info| (info.port, info.is_up)).collect::<Vec<_>>();
    let changed = {
        let view = &mut *shared.view.lock();
        let changed = links(&view.0) != links(&ports);
        *view = (ports.clone(), io.counts());
        changed
    };
    if changed {
        shared.gate.lock().set_links(&ports);
    }
}

/// Adds or removes a port.
pub(crate) fn change(io: &mut dyn PortIo, command: Command) -> Result<(), IoError> {
    match command {
        Command::Add(port, interface) => io.add(port, *interface),
        Command::Remove(port) => io.remove(port),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bm::Program;
    use simple_switch::{PortConfig, Switch, SwitchConfig};

    use super::*;
    use crate::clock::Clock;

    #[test]
    fn a_switch_that_is_made_later_knows_the_links_that_were_down_before() {
        let json = include_bytes!("../../simple_switch/tests/p4/probe.json");
        let port = |port: u16, is_up| PortInfo { port, name: format!("if{port}"), is_up };
        let config =
            SwitchConfig { ports: (0..3).map(PortConfig::unlimited).collect(), ..SwitchConfig::default() };
        let clock = Clock::new(Instant::now());
        let mut engine = Engine { config, switch: None, clock, no_program: 0, down: Default::default() };
        // Port 2 has vanished.
        engine.set_links(&[port(0, true), port(1, false)]);
        engine.switch =
            Some(Switch::new(Arc::new(Program::from_json(json).unwrap()), engine.config.clone()).unwrap());
        engine.tell_links();
        let up = |engine: &Engine| [0, 1, 2].map(|port| engine.switch.as_ref().unwrap().is_up(port));
        assert_eq!(up(&engine), [true, false, false]);
        engine.set_links(&[port(0, false), port(1, true), port(2, true)]);
        assert_eq!(up(&engine), [false, true, true]);
    }

    #[test]
    fn a_program_that_recirculates_faster_than_the_computer_can_slows_its_own_clock() {
        const RECIRCULATE: u8 = 3;
        const ROUNDS: u8 = 255;
        let json = include_bytes!("../../simple_switch/tests/p4/probe.json");
        let rate = units::DataRate::from_bps(10_000_000_000);
        let config = SwitchConfig {
            recirculation_delay: units::Duration::from_ps(1),
            ports: (0..2).map(|port| PortConfig::ethernet(port, rate)).collect(),
            ..SwitchConfig::default()
        };
        let switch = Switch::new(Arc::new(Program::from_json(json).unwrap()), config.clone()).unwrap();
        // A clock that has run for a second, so that all rounds of a packet at time zero are due.
        let clock = Clock::new(Instant::now() - Duration::from_secs(1));
        let mut engine =
            Engine { config, switch: Some(switch), clock, no_program: 0, down: Default::default() };
        let mut frame = [0; 64];
        (frame[0], frame[1], frame[3]) = (RECIRCULATE, ROUNDS, 1);
        engine.arrive(Time::ZERO, 0, &frame);

        // No computer does anything in no time.
        let reached = engine.catch_up_within(Duration::ZERO);
        assert!(reached <= Time::from_ps(u64::from(ROUNDS)), "{reached:?}");
        assert!(engine.clock.held_back() >= Duration::from_millis(999));
        let recirculated = |engine: &Engine| engine.switch.as_ref().unwrap().stats().recirculated;
        assert!(recirculated(&engine) < u64::from(ROUNDS));

        engine.catch_up_within(Duration::from_secs(60));
        assert_eq!(recirculated(&engine), u64::from(ROUNDS));
    }
}
