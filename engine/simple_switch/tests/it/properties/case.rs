//! Random cases of one switch: settings, steps with their times, the clock.

use proptest::prelude::*;

use super::random::packets::{packets, Packet, Target};
use super::random::settings::{settings, Settings};
use crate::support::eeon::Eee;

pub const IN_PORTS: [u16; 2] = [1, 4];
pub const OUT_PORTS: [u16; 2] = [2, 3];
pub const CLOCK: u64 = 1 << 48;
/// Times after which `busy_until` is past again, and half of the clock's range.
const LONG_SILENCES: [u64; 5] =
    [(1 << 40) - 1, (1 << 40) + 1, (1 << 47) - 1, (1 << 47) + 1, (1 << 48) - (1 << 41)];
const FRAME_BYTES: u64 = 1000;
const OVERHEAD_BYTES: u64 = 24;
const SHORTEST_FRAME_BYTES: u64 = 54;

/// Tick and rate of the ports.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub tick_ps: u64,
    pub bps: u64,
    /// A byte takes whole ticks, and packets arrive on ticks.
    pub is_exact: bool,
}

const PACES: [Pace; 4] = [
    Pace { tick_ps: 1_000, bps: 1_000_000_000, is_exact: true },
    Pace { tick_ps: 1_000_000, bps: 8_000_000, is_exact: true },
    Pace { tick_ps: 1_000, bps: 10_000_000_000, is_exact: false },
    Pace { tick_ps: 1_000_000, bps: 1_000_000_000, is_exact: false },
];

impl Pace {
    fn byte_ps(&self) -> u64 {
        8 * 1_000_000_000_000 / self.bps
    }

    /// Frames of some size, the measure of all times.
    fn frame_ticks(&self) -> u64 {
        (FRAME_BYTES + OVERHEAD_BYTES) * self.byte_ps() / self.tick_ps
    }

    pub fn frame_ps(&self) -> u64 {
        self.frame_ticks() * self.tick_ps
    }

    /// Returns a time at which something may happen: a whole tick if the pace is exact.
    fn whole(&self, ps: u64) -> u64 {
        if self.is_exact {
            ps / self.tick_ps * self.tick_ps
        } else {
            ps
        }
    }

    pub fn ticks_per_byte_q24(&self) -> u64 {
        (u128::from(self.byte_ps()) << 24).div_ceil(self.tick_ps.into()) as u64
    }
}

/// How the switch holds packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Gate,
    Recirculation,
}

/// The clock's value at the start.
#[derive(Clone, Copy, Debug)]
enum Clock {
    At(u64),
    /// 0 when the gate of the first packet queued would open, if that is held.
    ZeroAtFirstGate,
    /// 0 when the packet of this number arrives.
    ZeroAtPacket(usize),
}

#[derive(Clone, Debug)]
pub enum Step {
    /// After this number of 16ths of a frame's time.
    Packet(u64, u16, Packet),
    /// The settings of one of the ports change.
    Change(usize, Settings),
}

/// A change while a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    Everything,
    /// Does not change Ts, Tw, stall, or whether EEE is on.
    AllButThePhy,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub pace: Pace,
    clock: Clock,
    pub settings: [Settings; 2],
    pub steps: Vec<Step>,
    /// The packet before which there is a long silence, and its length.
    silence: Option<(usize, u64)>,
    /// Recirculation delay, in 256ths of the shortest frame's time.
    loop_part: u64,
}

impl Case {
    /// The time of each step, in ps.
    pub fn times(&self) -> Vec<u64> {
        let mut now = 0;
        let time = |(number, step): (usize, &Step)| {
            if let Step::Packet(gap, ..) = step {
                now += self.pace.whole(gap * self.pace.frame_ps() / 16);
                if let Some((_, ticks)) = self.silence.filter(|(before, _)| *before == number) {
                    now += ticks.min((1 << 62) / self.pace.tick_ps) * self.pace.tick_ps;
                }
            }
            now
        };
        self.steps.iter().enumerate().map(time).collect()
    }

    /// Returns the delay of a recirculated packet.
    pub fn loop_ps(&self) -> u64 {
        let shortest = (SHORTEST_FRAME_BYTES + OVERHEAD_BYTES) * self.pace.byte_ps();
        self.pace.whole(shortest * self.loop_part / 256)
    }

    /// Returns the clock's value at the start.
    pub fn clock_start(&self) -> u64 {
        let times = self.times();
        let ticks = |number: usize| times[number] / self.pace.tick_ps;
        match self.clock {
            Clock::At(start) => start,
            Clock::ZeroAtPacket(number) => (CLOCK - ticks(number % times.len()) % CLOCK) % CLOCK,
            Clock::ZeroAtFirstGate => {
                let settings = |place: u8| self.settings[usize::from(place)].eee;
                let first = self.steps.iter().enumerate().find_map(|(number, step)| match step {
                    Step::Packet(_, _, Packet { target: Target::Port(place), .. }) => {
                        Some((ticks(number), settings(*place)?))
                    }
                    _ => None,
                });
                let Some((t, Eee { sleep, wake, stall, hold, .. })) = first else { return 0 };
                (CLOCK - ((t + hold).max(stall + sleep) + wake) % CLOCK) % CLOCK
            }
        }
    }
}

pub fn cases(changes: Changes, max_steps: usize) -> BoxedStrategy<Case> {
    let of_pace = move |pace: usize| {
        let pace = PACES[pace];
        let settings = || settings(pace.frame_ticks());
        let gap = prop_oneof![4 => Just(0), 4 => 0..16u64, 3 => 0..64u64, 1 => 0..640u64];
        let in_port = prop_oneof![3 => Just(IN_PORTS[0]), 1 => Just(IN_PORTS[1])];
        let packet =
            (gap, in_port, packets()).prop_map(|(gap, port, packet)| Step::Packet(gap, port, packet));
        let change = (0..2usize, settings()).prop_map(|(port, settings)| Step::Change(port, settings));
        let steps =
            prop::collection::vec(prop_oneof![12 => packet.boxed(), 1 => change.boxed()], 1..=max_steps);
        let clock = prop_oneof![
            2 => Just(Clock::At(0)),
            2 => (0..CLOCK).prop_map(Clock::At),
            1 => (0..200 * pace.frame_ticks()).prop_map(|before| Clock::At(CLOCK - 1 - before)),
            1 => (0..200 * pace.frame_ticks()).prop_map(|before| Clock::At(CLOCK / 2 - before)),
            2 => Just(Clock::ZeroAtFirstGate),
            1 => (0..max_steps).prop_map(Clock::ZeroAtPacket),
        ]
        .boxed();
        let silence =
            prop::option::weighted(0.2, (0..max_steps, prop::sample::select(LONG_SILENCES.to_vec())));
        let of_ports = [settings(), settings()];
        // A loop that is longer than a frame's time leaves gaps between held frames, which a PHY takes for sleeps.
        let longest_loop = if changes == Changes::AllButThePhy { 256u64 } else { 1024 };
        (clock, of_ports, steps, silence, 128u64..=longest_loop).prop_map(
            move |(clock, settings, mut steps, silence, loop_part)| {
                if changes == Changes::AllButThePhy {
                    keep_the_phys(&settings, &mut steps);
                }
                Case { pace, clock, settings, steps, silence, loop_part }
            },
        )
    };
    (0..PACES.len()).prop_flat_map(move |pace| of_pace(pace).boxed()).boxed()
}

fn keep_the_phys(first: &[Settings; 2], steps: &mut [Step]) {
    for step in steps {
        let Step::Change(port, settings) = step else { continue };
        settings.eee = match (first[*port].eee, settings.eee) {
            (Some(Eee { sleep, wake, stall, .. }), Some(later)) => Some(Eee { sleep, wake, stall, ..later }),
            (first, _) => first,
        };
    }
}
