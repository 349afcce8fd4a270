//! A switch's behaviour does not depend on how much of a waiting packet it saves: the whole packet, or what egress and
//! all later steps may read. Tested with the E-EON program, the probe program and the programs of `constructs`, with
//! random defaults of their tables and randomly changed frames.

use std::sync::Arc;

use crate::stf::{self, script::Statement};
use crate::support::eeon;
use bm::{Executable, Program, State};
use proptest::prelude::*;
use simple_switch::{MirroringSession, PortConfig, Replica, Switch, SwitchConfig, Transmit};
use units::{DataRate, Duration, Time};

const PORTS: u16 = 8;

/// A program with frames that it recognizes.
type Known = (Arc<Executable>, Vec<Vec<u8>>);

fn programs() -> &'static [Known] {
    static PROGRAMS: std::sync::OnceLock<Vec<Known>> = std::sync::OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let requests = (0..20).map(|op| [&[op, 3, 0, 1, 0, 2, 0, 3, 0, 4][..], &[op; 40]].concat()).collect();
        let packets = (0..8u8).map(|n| eeon::tcp_frame(n % 4, n, n % 4, 1000, 100)).collect();
        let mut programs = vec![(crate::support::probe(), requests), (eeon::program(), packets)];
        for script in stf::constructs::scripts() {
            let program = Program::from_json(&std::fs::read(script.with_extension("json")).unwrap()).unwrap();
            let statements = stf::script::parse(&std::fs::read_to_string(script).unwrap()).unwrap();
            let frames = statements.into_iter().filter_map(|statement| match statement {
                Statement::Packet { bytes, .. } => Some(bytes),
                _ => None,
            });
            programs.push((Executable::new(program), frames.collect()));
        }
        programs
    })
}

/// A number that each choice takes a part of.
fn choose(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % below
}

fn set_defaults(state: &mut State, program: &Program, mut seed: u64) {
    for table in program.tables() {
        let action = &program.actions()[table.actions[choose(&mut seed, table.actions.len())].index()];
        let value = |seed: &mut u64, bits: u32| {
            let mut bytes = vec![0; bits.div_ceil(8) as usize];
            bytes[bits.div_ceil(8) as usize - 1] = choose(seed, 1 << bits.min(3)) as u8;
            bytes
        };
        let data: Vec<_> = action.params.iter().map(|param| value(&mut seed, param.bitwidth)).collect();
        // Constant defaults and tables with an action profile stay as they are.
        let _ = state.mt_set_default_action(&table.name, &action.name, &data);
    }
}

fn switch(program: &Arc<Executable>, seed: u64) -> Switch {
    // Slow enough that packets wait for each other.
    let rate = DataRate::from_bps(10_000_000);
    let config = SwitchConfig {
        tick: Duration::from_ns(1),
        ports: (0..PORTS).map(|port| PortConfig::ethernet(port, rate)).collect(),
        recirculation_limit: 3,
        ..SwitchConfig::default()
    };
    let mut switch = Switch::new(Arc::clone(program), config).unwrap();
    for id in 1..4 {
        let replicas = [1, 5].map(|egress_port| Replica { egress_port, rid: id });
        switch.pre_mut().set_group(id, &replicas).unwrap();
        let (egress_port, mgid) = if id == 2 { (None, Some(3)) } else { (Some(6), None) };
        switch.set_session(id, MirroringSession { egress_port, mgid, ..Default::default() }).unwrap();
    }
    set_defaults(&mut switch.state_mut(), program, seed);
    switch
}

/// All observable results of a run.
type Seen =
    (Vec<Transmit>, Vec<simple_switch::Digest>, Vec<String>, Vec<Vec<Vec<u8>>>, Vec<(u64, u64)>, String);

fn play(mut switch: Switch, frames: &[(Vec<u8>, u64, u16)]) -> Seen {
    let mut now = Time::from_ps(1_000_000);
    for (tag, (frame, gap_ns, port)) in (0..).zip(frames) {
        now += Duration::from_ns(*gap_ns);
        switch.handle_packet(now, *port, frame, tag);
    }
    switch.handle_wakeup(now + Duration::from_ms(1000));
    let sent = std::iter::from_fn(|| switch.poll_transmit()).collect();
    let digests = std::iter::from_fn(|| switch.poll_digest()).collect();
    let log = std::iter::from_fn(|| switch.poll_log()).collect();
    let (program, state) = (Arc::clone(switch.program()), switch.state());
    let registers = program.register_arrays().iter();
    let registers = registers.map(|array| state.register_read_all(&array.name).unwrap()).collect();
    let mut counts = Vec::new();
    for counter in program.counter_arrays().iter().filter(|counter| counter.direct_table.is_none()) {
        for index in 0..counter.size as u64 {
            let value = state.read_counters(&counter.name, index).unwrap();
            counts.push((value.packets, value.bytes));
        }
    }
    (sent, digests, log, registers, counts, format!("{:?}", switch.stats()))
}

/// Which of the known frames, bytes that are changed, nanoseconds since the one before, port.
type Arrival = (usize, Vec<(usize, u8)>, u64, u16);

fn frames() -> impl Strategy<Value = Vec<Arrival>> {
    let changes = prop::collection::vec((0..60usize, any::<u8>()), 0..3);
    prop::collection::vec((any::<usize>(), changes, prop_oneof![Just(0), 0..100_000u64], 0..PORTS), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn what_is_forgotten_of_waiting_packets_is_never_seen(
        program in 0..programs().len(),
        seed in any::<u64>(),
        frames in frames(),
    ) {
        let (program, known) = &programs()[program];
        let change = |(at, changes, gap, port): Arrival| {
            let mut frame = known[at % known.len()].clone();
            for (at, value) in changes {
                let length = frame.len();
                frame[at % length] = value;
            }
            (frame, gap, port)
        };
        let frames: Vec<_> = frames.into_iter().map(change).collect();
        let mut whole = switch(program, seed);
        whole.keep_whole_packets();
        prop_assert_eq!(play(switch(program, seed), &frames), play(whole, &frames));
    }
}
