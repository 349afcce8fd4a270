//! The EEE hold of the compiled program in every case of a small world: each combination of small settings with each
//! arrival pattern of a few packets on a grid of ticks, by gate and by recirculation, compared with the plain reference
//! in `support/hold_reference.rs`. All registers are compared after every packet, and every departure to the tick.
//!
//! Two checks show that both forms give the same departures. Each packet of either form leaves when the reference says,
//! given the departures before it, up to [`Form::lateness`]. A case without a late packet has the same departures by
//! recirculation as by gate. (A late packet may change whether its link sleeps, so later ones need not agree then.)
//!
//! A case is one run of one form of the hold. The values in a test define what it covers; its last line states the
//! number of cases. Not covered: settings changed during a hold, lost packets, and packets whose wire time is not whole
//! ticks. Pauses of the neighbour are covered before, during and after each part of a hold.

#[allow(dead_code)] // What an observer may conclude judges the reference itself, in `netsim`.
#[path = "../support/hold_reference.rs"]
mod reference;

use crate::support::eeon;
use reference::{Packet, Port, Settings, State};
use simple_switch::{PortConfig, Switch, SwitchConfig};
use units::{DataRate, Duration, Time};

const PORT: u16 = 2;
const CLOCK: u64 = 1 << 48;
const TICKETS: u64 = 1 << 32;
/// `TICK_TO_COME` of types.p4: a port may be idle for the clock's range but this.
const TO_COME: u64 = 1 << 40;
/// In `gate_open_at`. A gate that would fall on this tick opens at the next one.
const NO_GATE: u64 = 0;

// A tick is 1 ps, so that one run sees the clock go round often. On this wire 54 bytes and 24 of overhead take one
// tick, and 132 and 24 take two.
const SMALL: (u64, u64) = (54, 1);
const LARGE: (u64, u64) = (132, 2);
const BITS_PER_SECOND: u64 = 78 * 8 * 1_000_000_000_000;
/// Rounded up, because the program rounds the product down.
const TICKS_PER_BYTE_Q24: u64 = (1 << 24) / 78 + 1;

/// How the port holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Gate,
    /// By a loop of this many ticks.
    Loop(u64),
}

impl Form {
    /// Returns how much later than due a packet may leave.
    ///
    /// In a loop of one tick every packet passes at every tick. In a longer one the first packet passes up to a delay
    /// after the gate, less a tick, and the others gather in the queue while it is on the wire, unless they are in the
    /// loop for longer than that. A packet that has just entered the loop when a trigger, or the end of a pause, opens
    /// the gate is away for the whole delay.
    fn lateness(self, is_first: bool, opened_at_once: bool, shortest_wire: u64) -> u64 {
        match self {
            Form::Loop(delay) if opened_at_once => delay,
            Form::Loop(delay) if is_first || delay > shortest_wire => delay - 1,
            Form::Gate | Form::Loop(_) => 0,
        }
    }
}

const REGISTERS: [&str; 13] = [
    "eee_state",
    "gate_open_at",
    "busy_until",
    "held_packets",
    "held_bytes",
    "lpi_ticks",
    "wakes",
    "ticket_next",
    "ticket_serving",
    "occupancy_packets",
    "occupancy_bytes",
    "asleep_at",
    "wake_start",
];

/// The port's cell; of tickets that of its queue of priority 0.
fn cell_of(register: &str) -> u64 {
    u64::from(PORT) << if register.starts_with("ticket") { 3 } else { 0 }
}

macro_rules! ensure {
    ($condition:expr, $($what:tt)+) => {
        if !$condition {
            return Err(format!($($what)+));
        }
    };
}

/// A pause frame of the neighbour: when it arrives, and its duration; 0 ends a pause.
#[derive(Clone, Copy, Debug)]
struct Pause {
    at: u64,
    ticks: u16,
}

/// A switch that runs one case after the other, each at the time that its clock must show.
struct Bench {
    form: Form,
    switch: Switch,
    registers: [usize; 13],
    frames: [Vec<u8>; 2],
    settings: Option<Settings>,
    now: u64,
}

impl Bench {
    fn new(form: Form, is_pausable: bool) -> Self {
        let rate = DataRate::from_bps(BITS_PER_SECOND);
        let config = SwitchConfig {
            tick: Duration::from_ps(1),
            gate_register: (form == Form::Gate).then(|| eeon::GATE.to_owned()),
            class_gate_register: (form == Form::Gate && is_pausable).then(|| eeon::CLASS_GATE.to_owned()),
            priorities: if is_pausable { 8 } else { 1 },
            recirculation_delay: Duration::from_ps(if let Form::Loop(delay) = form { delay } else { 1 }),
            recirculation_limit: 200, // What would never leave is dropped.
            ports: [1, PORT].map(|port| PortConfig::ethernet(port, rate)).to_vec(),
            ..SwitchConfig::default()
        };
        let mut switch = Switch::new(eeon::program(), config).expect("the configuration is sound");
        let registers = REGISTERS.map(|name| switch.program().register_index(name).expect(name));
        eeon::route(&mut switch.state_mut(), 2, &[PORT]);
        if is_pausable {
            eeon::priorities(&mut switch.state_mut(), &[]);
            eeon::pausable(&mut switch.state_mut(), PORT, 1, 1);
        }
        let frames = [SMALL, LARGE].map(|(bytes, _)| eeon::tcp_frame(2, 9, 0, 1000, bytes as usize));
        let mut bench = Self { form, switch, registers, frames, settings: None, now: 0 };
        // Accounts and tickets run over their ends soon.
        bench.write("lpi_ticks", CLOCK - 100);
        bench.write("wakes", TICKETS - 100);
        bench.write("ticket_next", TICKETS - 500);
        bench.write("ticket_serving", TICKETS - 500);
        bench
    }

    fn write(&mut self, register: &str, value: u64) {
        self.switch.state_mut().register_write(register, cell_of(register), &value.to_be_bytes()).unwrap();
    }

    fn set(&mut self, settings: Settings) {
        if self.settings.replace(settings) != Some(settings) {
            eeon::eee(&mut self.switch.state_mut(), PORT, settings, TICKS_PER_BYTE_Q24);
        }
    }

    /// Runs `packets` and `pauses` at a port whose wire became idle when the clock showed `origin`, checks everything,
    /// and returns what happened. After an error the bench must not be used again.
    fn run(
        &mut self,
        settings: Settings,
        packets: &[Packet],
        pauses: &[Pause],
        origin: u64,
    ) -> Result<Case, String> {
        self.set(settings);
        self.write("busy_until", origin);
        self.write(eeon::CLASS_GATE, 0);
        // The switch's time at tick 0 of the case. It may lie before the switch's start: only the clock matters.
        let earliest = self.now + 100;
        let first = earliest + origin.wrapping_add(packets[0].at).wrapping_sub(earliest) % CLOCK;
        let mut case = Case {
            zero: first.wrapping_sub(packets[0].at),
            origin,
            start: self.values(),
            port: Port::new(settings),
            shortest_wire: packets.iter().map(|packet| packet.wire).min().expect("a case has packets"),
            departures: Vec::with_capacity(packets.len()),
            opened_at_once: false,
            was_late: false,
            was_paused: false,
            gate_at_zero: false,
        };
        let mut pauses = pauses.iter().peekable();
        for (tag, packet) in packets.iter().enumerate() {
            while let Some(pause) = pauses.next_if(|pause| pause.at <= packet.at) {
                self.pause(&mut case, *pause)?;
            }
            let now = self.advance(&mut case, packet.at)?;
            // A packet precedes other events at its instant.
            let was_shut = case.gate().is_some_and(|gate| gate > packet.at);
            case.port.admit(*packet);
            case.opened_at_once |= was_shut && case.gate().is_some_and(|gate| gate <= packet.at);
            case.gate_at_zero |= case.gate() != case.port.gate();
            let frame = &self.frames[usize::from(packet.bytes == LARGE.0)];
            self.switch.handle_packet(now, 1, frame, tag as u64);
            self.follow(&mut case)?;
            self.compare(&case, &format!("after packet {tag} at {}", packet.at))?;
        }
        for pause in pauses {
            self.pause(&mut case, *pause)?;
        }
        while let Some(due) = self.switch.next_wakeup() {
            self.switch.handle_wakeup(due);
            self.follow(&mut case)?;
        }
        self.compare(&case, "in the end")?;
        ensure!(case.port.queue.is_empty(), "{} packets never left", case.port.queue.len());
        self.now = case.zero.wrapping_add(case.port.busy_until);
        Ok(case)
    }

    /// All that is due before a tick of the case; the switch's time then.
    fn advance(&mut self, case: &mut Case, tick: u64) -> Result<Time, String> {
        let now = Time::from_ps(case.zero.wrapping_add(tick));
        while let Some(due) = self.switch.next_wakeup().filter(|due| *due < now) {
            self.switch.handle_wakeup(due);
            self.follow(case)?;
        }
        Ok(now)
    }

    /// The neighbour pauses the queue, or ends its pause.
    fn pause(&mut self, case: &mut Case, Pause { at, ticks }: Pause) -> Result<(), String> {
        let now = self.advance(case, at)?;
        let was_paused = case.port.paused_until > at;
        // A late packet may be caught by the pause.
        case.was_late |= case.port.next_departure().is_some_and(|ideal| ideal < at);
        self.switch.handle_packet(now, PORT, &eeon::pause_frame(&[(0, ticks)]), u64::MAX);
        case.port.paused_until = at + u64::from(ticks);
        case.opened_at_once |= was_paused && ticks == 0;
        self.follow(case)?;
        self.compare(case, &format!("after a pause at {at}"))?;
        let paused_until = case.port.paused_until;
        let found = eeon::register(self.switch.state(), eeon::CLASS_GATE, PORT << 3);
        let expected = if ticks == 0 { NO_GATE } else { case.clock(paused_until) };
        ensure!(found == expected, "the pause at {at} ends at {found}, expected {expected}");
        Ok(())
    }

    /// Every frame that the switch has sent leaves the reference too, in order and in time.
    fn follow(&mut self, case: &mut Case) -> Result<(), String> {
        while let Some(sent) = self.switch.poll_transmit() {
            let at = sent.at.as_ps().wrapping_sub(case.zero);
            let number = case.departures.len();
            ensure!(sent.tag == number as u64, "packet {} left instead of {number}", sent.tag);
            let Some(ideal) = case.port.next_departure() else {
                return Err(format!("packet {number} left twice"));
            };
            let due = ideal.max(case.gate().unwrap_or(0));
            let late =
                self.form.lateness(case.port.gate().is_some(), case.opened_at_once, case.shortest_wire);
            ensure!((due..=due + late).contains(&at), "packet {number} left at {at}, due {due} (+ {late})");
            case.opened_at_once = false;
            case.was_late |= at > ideal;
            case.was_paused |= case.port.paused_until > case.port.unpaused_departure();
            case.port.depart(at);
            case.departures.push(at);
            self.switch.recycle(sent.frame);
        }
        Ok(())
    }

    fn values(&self) -> [u64; 13] {
        let cell = |at: usize| cell_of(REGISTERS[at]) as usize;
        std::array::from_fn(|at| self.switch.state().register_cell(self.registers[at], cell(at)).unwrap())
    }

    /// The registers are what the reference says; those of the last sleep stand until the next.
    fn compare(&self, case: &Case, when: &str) -> Result<(), String> {
        let Case { port, start, .. } = case;
        let clock = |tick: u64| case.clock(tick);
        let queued = port.queue.len() as u64;
        let admitted = queued + case.departures.len() as u64;
        let state = match port.state {
            State::Active => 0,
            State::Hold => 1,
            State::Wake => 2,
        };
        let expected = [
            state,
            case.gate().map_or(NO_GATE, clock),
            clock(port.busy_until),
            port.held_packets,
            port.held_bytes,
            (start[5] + port.lpi) % CLOCK,
            (start[6] + port.wakes) % TICKETS,
            (start[7] + admitted) % TICKETS,
            (start[8] + admitted - queued) % TICKETS,
            queued,
            port.queue.iter().map(|packet| packet.bytes).sum(),
            port.sleep.map_or(start[11], |sleep| clock(sleep.asleep)),
            port.sleep.map_or(start[12], |sleep| clock(sleep.wake_start)),
        ];
        let found = self.values();
        for ((name, found), expected) in REGISTERS.iter().zip(found).zip(expected) {
            ensure!(found == expected, "{when}: {name} is {found}, expected {expected}");
        }
        Ok(())
    }
}

/// A case in progress.
struct Case {
    zero: u64,
    origin: u64,
    start: [u64; 13],
    port: Port,
    shortest_wire: u64,
    departures: Vec<u64>,
    /// A trigger has opened the gate at its own instant.
    opened_at_once: bool,
    /// A packet has left later than the rules require.
    was_late: bool,
    /// A packet has left later than without pauses.
    was_paused: bool,
    /// A gate was to open at the tick that means that there is none.
    gate_at_zero: bool,
}

impl Case {
    /// Returns the clock's value at a tick of the case.
    fn clock(&self, tick: u64) -> u64 {
        self.origin.wrapping_add(tick) % CLOCK
    }

    /// When nothing may leave before, as the program can say it.
    fn gate(&self) -> Option<u64> {
        self.port.gate().map(|gate| gate + u64::from(self.clock(gate) == NO_GATE))
    }
}

/// Returns every list that takes one value from each of `choices`, in order.
fn product<T: Copy>(choices: &[&[T]]) -> Vec<Vec<T>> {
    let longer = |lists: Vec<Vec<T>>, next: &&[T]| {
        lists.iter().flat_map(|list| next.iter().map(|value| [&list[..], &[*value]].concat())).collect()
    };
    choices.iter().fold(vec![Vec::new()], longer)
}

/// Returns packets of the given sizes, each a given number of ticks after the one before; the first, after the wire became idle.
fn arrivals(gaps: &[u64], sizes: &[(u64, u64)]) -> Vec<Packet> {
    let mut at = 0;
    let arrive = |(gap, (bytes, wire)): (&u64, &(u64, u64))| {
        at += gap;
        Packet { at, bytes: *bytes, wire: *wire }
    };
    gaps.iter().zip(sizes).map(arrive).collect()
}

/// Returns each combination of the values of each setting.
fn all_settings(values: [&[u64]; 6]) -> Vec<Settings> {
    let settings = |values: Vec<u64>| {
        let [sleep, wake, stall, hold, trigger_packets, trigger_bytes] = values[..] else { unreachable!() };
        Settings { sleep, wake, stall, hold, trigger_packets, trigger_bytes }
    };
    product(&values).into_iter().map(settings).collect()
}

/// Counts of a sweep.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    cases: usize,
    /// In which a packet was on its way round when it could have left, or its gate opened a tick late.
    late: usize,
    /// In which a pause held up a packet.
    paused: usize,
    /// In which the clock went round at the very tick of a gate, which then opens at the next: 0 means no gate.
    gate_at_zero: usize,
}

/// Runs all settings with every pattern, every list of pauses and every origin in every form. Forms that nothing made
/// late must agree.
///
/// # Panics
/// With the first case that is wrong, and how many are.
fn sweep(
    forms: &[Form],
    settings: &[Settings],
    patterns: &[Vec<Packet>],
    pauses: &[Vec<Pause>],
    origins: &[u64],
) -> Seen {
    let is_pausable = pauses.iter().any(|pauses| !pauses.is_empty());
    let mut benches: Vec<_> = forms.iter().map(|form| Bench::new(*form, is_pausable)).collect();
    let (mut seen, mut wrong, mut first) = (Seen::default(), 0, None);
    let mut run = |settings: Settings, pattern: &[Packet], pauses: &[Pause], origin: u64| {
        let mut departures: Option<Vec<u64>> = None;
        for bench in &mut benches {
            seen.cases += 1;
            let result = bench.run(settings, pattern, pauses, origin).and_then(|case| {
                seen.late += usize::from(case.was_late);
                seen.paused += usize::from(case.was_paused);
                seen.gate_at_zero += usize::from(case.gate_at_zero);
                let others = departures.get_or_insert_with(|| case.departures.clone());
                let is_alike = *others == case.departures;
                ensure!(case.was_late || is_alike, "{:?}, not {others:?}", case.departures);
                Ok(())
            });
            let form = bench.form;
            if let Err(what) = &result {
                wrong += 1;
                let which = || {
                    format!("{what}\n{form:?}, idle since {origin}, {settings:?}, {pattern:?}, {pauses:?}")
                };
                first.get_or_insert_with(which);
            }
            if result.is_err() || bench.now > u64::MAX / 2 {
                *bench = Bench::new(form, is_pausable);
            }
        }
    };
    for settings in settings {
        for pattern in patterns {
            for pauses in pauses {
                origins.iter().for_each(|origin| run(*settings, pattern, pauses, *origin));
            }
        }
    }
    assert!(
        wrong == 0,
        "{wrong} of {} cases are wrong; the first: {}",
        seen.cases,
        first.unwrap_or_default()
    );
    seen
}

/// A form that is never late comes first: the others are compared with it.
const BOTH: [Form; 2] = [Form::Gate, Form::Loop(1)];
const SOMEWHERE: u64 = 1000;
const NO_PAUSE: [Vec<Pause>; 1] = [Vec::new()];

/// Timers of zero, holds shorter and longer than the sleep transition, triggers of one packet, of some and of all;
/// several packets at one instant, in each state of the link, and again after it has gone back to sleep.
#[test]
fn every_small_timing_departs_and_is_accounted_for_as_the_rules_say() {
    let settings = all_settings([&[0, 1, 3], &[0, 2], &[0, 2], &[0, 1, 5], &[0, 1, 2, 3], &[0]]);
    let gaps = product(&[&[0, 1, 2, 4, 9], &[0, 1, 2, 4, 6, 11], &[0, 1, 3, 8]]);
    let patterns: Vec<_> = gaps.iter().map(|gaps| arrivals(gaps, &[SMALL; 3])).collect();
    assert_eq!(
        sweep(&BOTH, &settings, &patterns, &NO_PAUSE, &[SOMEWHERE]),
        Seen { cases: 34_560, late: 360, gate_at_zero: 0, ..Seen::default() }
    );
}

/// Triggers in bytes: reached by any packet, by a large one, by two small ones, by a small and a large one, by two
/// large ones; alone, and with a trigger in packets before or after it.
#[test]
fn packets_of_two_sizes_trigger_by_their_bytes_and_take_their_time() {
    let settings =
        all_settings([&[2], &[1], &[0], &[4], &[0, 3], &[1, 54, 55, 108, 132, 133, 186, 264, 265]]);
    let gaps = product(&[&[0, 3], &[0, 1, 2, 6], &[0, 1, 3]]);
    let sizes = product(&[&[SMALL, LARGE][..]; 3]);
    let patterns: Vec<_> =
        gaps.iter().flat_map(|gaps| sizes.iter().map(|sizes| arrivals(gaps, sizes))).collect();
    assert_eq!(
        sweep(&BOTH, &settings, &patterns, &NO_PAUSE, &[SOMEWHERE]),
        Seen { cases: 6912, late: 0, gate_at_zero: 0, ..Seen::default() }
    );
}

/// The clock goes round, or past its half, within a case; and the wire has been idle for a moment, for half of the
/// clock's range, and for all of it but what `TICK_TO_COME` keeps. Where a gate falls on tick 0 all that waits behind it is
/// a tick late, and nothing else is.
#[test]
fn wherever_the_clock_stands_a_case_goes_the_same() {
    let settings = all_settings([&[0, 2], &[1], &[0, 1], &[0, 4], &[0, 2], &[0]]);
    let idle =
        [0, 1, 3, TO_COME - 1, TO_COME, TO_COME + 4, CLOCK / 2 - 2, CLOCK / 2 + 1, CLOCK - TO_COME - 6];
    let gaps = product(&[&idle, &[0, 1, 6], &[0, 2]]);
    let patterns: Vec<_> = gaps.iter().map(|gaps| arrivals(gaps, &[SMALL; 3])).collect();
    let before = |end: u64, ticks: &[u64]| ticks.iter().map(|ticks| end - ticks).collect::<Vec<_>>();
    let origins = [before(CLOCK, &[10, 8, 6, 5, 4, 3, 2, 1]), before(CLOCK / 2, &[6, 3])].concat();
    assert_eq!(
        sweep(&BOTH, &settings, &patterns, &NO_PAUSE, &origins),
        Seen { cases: 17_280, late: 718, gate_at_zero: 862, ..Seen::default() }
    );
}

/// Five packets at two or three instants, while the first are held, while the link wakes, while it sends, and after.
#[test]
fn bursts_keep_their_order() {
    let settings = all_settings([&[0, 3], &[0, 2], &[0], &[0, 2, 6], &[0, 2, 4], &[0]]);
    let gaps = product(&[&[0, 4], &[0], &[0, 3, 5, 7, 9], &[0], &[0, 1]]);
    let patterns: Vec<_> = gaps
        .iter()
        .flat_map(|gaps| {
            [[SMALL; 5], [LARGE, SMALL, SMALL, LARGE, SMALL]].map(|sizes| arrivals(gaps, &sizes))
        })
        .collect();
    assert_eq!(
        sweep(&BOTH, &settings, &patterns, &NO_PAUSE, &[SOMEWHERE]),
        Seen { cases: 2880, late: 184, gate_at_zero: 0, ..Seen::default() }
    );
}

/// In a loop of several ticks a packet leaves up to a delay after it could, given when those before it left; and the
/// sleep after it is counted from then. In a loop shorter than a packet only the first after a sleep is late.
#[test]
fn a_longer_loop_is_late_by_its_delay_and_no_more() {
    let settings = all_settings([&[0, 3], &[0, 2], &[0, 2], &[0, 1, 5], &[0, 2, 3], &[0]]);
    let gaps = product(&[&[0, 2, 4], &[0, 1, 2, 5], &[0, 3, 8]]);
    let patterns: Vec<_> =
        gaps.iter().flat_map(|gaps| [SMALL, LARGE].map(|size| arrivals(gaps, &[size; 3]))).collect();
    assert_eq!(
        sweep(&[Form::Gate, Form::Loop(2), Form::Loop(5)], &settings, &patterns, &NO_PAUSE, &[SOMEWHERE]),
        Seen { cases: 15_552, late: 7722, gate_at_zero: 0, ..Seen::default() }
    );
}

/// One pause, two of which the second replaces the first, and one that is ended early: before the first packet, in each
/// part of its hold and of the wake, while packets leave, and after all of them.
#[test]
fn a_pause_at_any_moment_of_a_hold_stops_what_leaves_and_nothing_else() {
    let settings = all_settings([&[0, 3], &[0, 2], &[0], &[0, 1, 5], &[0, 2], &[0]]);
    let gaps = product(&[&[0, 2, 9], &[0, 1, 4, 8], &[0, 3]]);
    let patterns: Vec<_> = gaps.iter().map(|gaps| arrivals(gaps, &[SMALL; 3])).collect();
    let mut pauses = vec![Vec::new()];
    for at in [0, 1, 3, 6, 9, 13, 17] {
        pauses.extend([1, 4, 30].map(|ticks| vec![Pause { at, ticks }]));
        for (after, ticks) in [(1, 0), (2, 1), (3, 9)] {
            pauses.push(vec![Pause { at, ticks: 12 }, Pause { at: at + after, ticks }]);
        }
    }
    assert_eq!(
        sweep(&BOTH, &settings, &patterns, &pauses, &[SOMEWHERE]),
        Seen { cases: 49_536, late: 7407, paused: 25_597, gate_at_zero: 0 }
    );
}
