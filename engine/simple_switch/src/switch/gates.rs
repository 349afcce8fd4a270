//! Gates of ports and queues: registers in which the program sets when these may send.

use bm::{Program, State};
use units::{Duration, Time};

use crate::clock::Clock;
use crate::config::{refuse, ConfigError, PortConfig, SwitchConfig, MAX_PRIORITIES};

/// Values of the class gate register that are further ahead than this are past: the clock has wrapped since.
const CLASS_GATE_AHEAD_TICKS: u64 = 1 << 40;

/// A register that holds times, with the same number of cells for each port.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeRegister {
    register: usize,
    pub(super) width: u32,
    cells_of_port: usize,
}

impl TimeRegister {
    /// Finds the register that an option names and checks that each of `ports` has its cells. `None` if the option names none.
    pub(super) fn of(
        program: &Program,
        (option, name): (&'static str, Option<&String>),
        cells_of_port: usize,
        without: &'static str,
        ports: &[PortConfig],
    ) -> Result<Option<Self>, ConfigError> {
        let Some(name) = name else { return Ok(None) };
        let Some(register) = program.register_index(name) else {
            return refuse(format!(
                "{option} {name:?}: the program has no register of this name; leave it out to {without}"
            ));
        };
        let info = &program.register_arrays()[register];
        let needed = |port: u16| (usize::from(port) + 1) * cells_of_port;
        if let Some(port) = ports.iter().map(|port| port.port).find(|port| needed(*port) > info.size) {
            let lack = match cells_of_port {
                1 => format!("port {port} needs one of its own"),
                _ => format!("the queues of port {port} need {}: port << 3 | priority", needed(port)),
            };
            return refuse(format!("{option} {name:?}: has {} cells, but {lack}", info.size));
        }
        Ok(Some(Self { register, width: info.bitwidth, cells_of_port }))
    }

    /// Returns the time in a cell of a port; `None` if it is zero, which means no time, or if the port has no such cell.
    #[inline]
    pub(super) fn ticks(self, state: &State, port: u16, cell: usize) -> Option<u64> {
        let cell = usize::from(port) * self.cells_of_port + cell;
        state.register_cell(self.register, cell).filter(|ticks| *ticks != 0)
    }
}

/// The gates of ports, or of queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    times: TimeRegister,
    /// Values further ahead than this are past.
    ahead: Duration,
}

impl Gate {
    /// Returns when the gate in a cell of a port opens: [`Time::ZERO`] if it is open, [`Time::MAX`] if it never opens.
    #[inline]
    pub(super) fn opens(self, state: &State, clock: Clock, now: Time, port: u16, cell: usize) -> Time {
        let Some(ticks) = self.times.ticks(state, port, cell) else { return Time::ZERO };
        let opens = clock.time_of(ticks, self.times.width, now);
        if opens > now.saturating_add(self.ahead) {
            return Time::ZERO;
        }
        opens
    }

    /// Returns since when the gate in a port's first cell has been open; [`Time::ZERO`] if that is unknown.
    pub(super) fn open_since(self, state: &State, clock: Clock, now: Time, port: u16) -> Time {
        let ticks = self.times.ticks(state, port, 0);
        ticks.map_or(Time::ZERO, |ticks| clock.time_since(ticks, self.times.width, now))
    }
}

/// The gates of a switch, if it has any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gates {
    /// A gate for each port.
    pub(super) port: Option<Gate>,
    /// A gate for each queue of a port.
    pub(super) class: Option<Gate>,
}

impl Gates {
    /// Finds the registers and checks that each of `ports` has its cells.
    pub(super) fn of(
        program: &Program,
        config: &SwitchConfig,
        ports: &[PortConfig],
    ) -> Result<Self, ConfigError> {
        let gate = |option, name: &Option<String>, cells_of_port, ahead| {
            let option = (option, name.as_ref());
            let times = TimeRegister::of(program, option, cells_of_port, "hold by recirculation", ports)?;
            Ok(times.map(|times| Gate { times, ahead }))
        };
        let class_ahead = config.tick.saturating_mul(CLASS_GATE_AHEAD_TICKS);
        Ok(Self {
            port: gate("gate_register", &config.gate_register, 1, Duration::MAX)?,
            class: gate("class_gate_register", &config.class_gate_register, MAX_PRIORITIES, class_ahead)?,
        })
    }

    /// Returns the time at which each of a port's queues opens; `None` if queues have no gates.
    #[inline]
    pub(super) fn of_queues(
        self,
        state: &State,
        clock: Clock,
        now: Time,
        port: u16,
    ) -> Option<impl Fn(usize) -> Time + '_> {
        let gate = self.class?;
        Some(move |priority: usize| gate.opens(state, clock, now, port, priority))
    }
}
