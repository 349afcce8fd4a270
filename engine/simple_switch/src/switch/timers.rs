//! Queue timers: times at which the program runs without a packet.
//!
//! BMv2 has none; hardware has packet generators for this purpose. The program keeps the times in a register, as for queue gates.

use bm::Program;
use units::Time;

use super::gates::TimeRegister;
use super::{Switch, TIMERS};
use crate::agenda::Agenda;
use crate::config::{ConfigError, PortConfig, SwitchConfig, MAX_PRIORITIES, PORT_COUNT};
use crate::packet::PacketId;
use crate::v1model::instance_type;

/// The frame of a timer's run: an Ethernet frame of minimum length, all zeros.
const NO_FRAME: [u8; 60] = [0; 60];

/// The register of the timers.
pub(super) struct Timers {
    register: TimeRegister,
    /// The register's cells as last read.
    seen: Vec<u64>,
}

impl Timers {
    /// Finds the register and checks that each of `ports` has a cell for each of its queues. `None` if no register is named.
    pub(super) fn of(
        program: &Program,
        config: &SwitchConfig,
        ports: &[PortConfig],
    ) -> Result<Option<Self>, ConfigError> {
        let option = ("timer_register", config.timer_register.as_ref());
        let register = TimeRegister::of(program, option, MAX_PRIORITIES, "have no timers", ports)?;
        Ok(register.map(|register| Self { register, seen: vec![0; PORT_COUNT * MAX_PRIORITIES] }))
    }

    /// Returns the number of timers.
    pub(super) fn count(&self) -> usize {
        self.seen.len()
    }

    /// Takes all timers off the agenda.
    pub(super) fn stop(&self, agenda: &mut Agenda) {
        (0..self.count()).for_each(|queue| agenda.set(TIMERS + queue, None));
    }
}

impl Switch {
    /// Returns the port whose timers a packet may set when the program runs: its port of arrival. `None` without timers.
    #[inline]
    pub(super) fn timed_port(&self, id: PacketId) -> Option<u16> {
        self.timers.is_some().then(|| self.packets.get(id).arrival_port)
    }

    /// Puts the timers of a port's queues on the agenda as the program has set them.
    pub(super) fn reread_timers(&mut self, port: u16) {
        let Some(timers) = &mut self.timers else { return };
        let first = usize::from(port) * MAX_PRIORITIES;
        let Some(seen) = timers.seen.get_mut(first..first + MAX_PRIORITIES) else { return };
        for (priority, seen) in seen.iter_mut().enumerate() {
            let ticks = timers.register.ticks(&self.state, port, priority).unwrap_or(0);
            if ticks == *seen {
                continue;
            }
            *seen = ticks;
            // Time must pass before the next run, whatever the program writes.
            let earliest = self.now.saturating_add(self.config.tick);
            let due = self.clock.time_of(ticks, timers.register.width, self.now).max(earliest);
            self.agenda.set(TIMERS + first + priority, (ticks != 0 && due < Time::MAX).then_some(due));
        }
    }

    /// Runs the program for a queue whose timer has expired. No packet was received, so only the run, and a clone that it requests, are counted.
    pub(super) fn run_timer(&mut self, queue: usize) {
        self.agenda.set(TIMERS + queue, None);
        let (port, priority) = ((queue / MAX_PRIORITIES) as u16, queue % MAX_PRIORITIES);
        let frame = self.frames.copy_of(&NO_FRAME);
        match self.packets.insert(frame, 0, port) {
            Err(frame) => self.frames.give(frame),
            Ok(id) => {
                self.begin(id);
                if let Some(hops) = self.hops_mut() {
                    hops.forget(id);
                }
                let (packet, phv) = self.packets.open(id);
                phv.set(self.v1model.instance_type, instance_type::TIMER);
                self.v1model.priority.iter().for_each(|field| phv.set(*field, priority as u64));
                let error = self.state.parse(self.v1model.parser, phv, &packet.frame, None);
                self.v1model.parser_error.iter().for_each(|field| phv.set(*field, u64::from(error)));
                self.counts.p4_passes += 1;
                self.effects.start(self.now);
                let ran = self.state.run(self.v1model.ingress, phv, &mut self.effects, None);
                if let (Ok(_), Some(clone)) = (ran, self.effects.requests().clone) {
                    self.clone_ingress_to_egress(id, clone);
                }
                let frame = self.packets.remove(id);
                self.frames.give(frame);
            }
        }
        self.reread_timers(port);
    }
}
