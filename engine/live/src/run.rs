//! The loop: wait, receive frames, run the switch, send.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use port_io::{IoError, PortInfo, PortIo};
use simple_switch::Transmit;
use units::Time;

use crate::engine::Engine;
use crate::shared::Shared;

/// Interval at which ports are maintained and counts are published.
const MAINTAIN_EVERY: Duration = Duration::from_millis(100);

/// Time that frames wait at the ports before the loop checks again whether the recorded steps have been taken.
const FULL_WAIT: Duration = Duration::from_millis(1);

/// The reason why the loop ends by itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("{0}")]
    Io(#[from] IoError),
    #[error("its clock has reached the end of its range, 213 days; start it again")]
    ClockEnds,
}

/// Runs until it is stopped.
pub(crate) fn run(shared: &Shared) -> Result<(), RunError> {
    let poller = &shared.poller;
    let mut ready = Vec::new();
    let mut sent: Vec<Transmit> = Vec::new();
    let mut next_maintenance = Instant::now();
    let mut wait = Duration::ZERO;
    while !shared.stopping.load(Ordering::Acquire) {
        if !wait.is_zero() {
            shared.io.lock().flush();
        }
        poller.wait(wait, &mut ready)?;
        let mut io = shared.io.lock();
        if Instant::now() >= next_maintenance {
            io.maintain(&mut |event| shared.events.push(event));
            publish(&**io, shared);
            next_maintenance = Instant::now() + MAINTAIN_EVERY;
        }
        let due = shared.engine.slice(|engine| {
            recycle(engine, &mut sent);
            let now = engine.catch_up();
            if now == Time::MAX {
                return Err(RunError::ClockEnds);
            }
            if engine.is_full() {
                collect(engine, shared, &mut sent);
                return Ok(FULL_WAIT);
            }
            let more = io.receive(poller, &ready, &mut |port, frame| {
                // Each frame has its own arrival time. Work that is due before it comes first, within the same limit.
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
        wait = due.min(next_maintenance.saturating_duration_since(Instant::now()));
    }
    let mut io = shared.io.lock();
    io.flush();
    io.maintain(&mut |event| shared.events.push(event));
    publish(&**io, shared);
    Ok(())
}

/// Returns the buffers of sent frames to the switch.
fn recycle(engine: &mut Engine, sent: &mut Vec<Transmit>) {
    match &mut engine.switch {
        Some(switch) => sent.drain(..).for_each(|sent| switch.recycle(sent.frame)),
        None => sent.clear(),
    }
}

/// Collects the switch's output: for the controller, or for the ports.
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

/// Publishes the current ports and counts, and reports changed links to the switch.
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
        shared.engine.lock().set_links(&ports);
    }
}
