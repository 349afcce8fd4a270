//! Properties of every fabric that runs the compiled program, whatever its size, settings, packets, times and clocks: the
//! two of one switch's six (`simple_switch/tests/it/properties`) that hosts and PHYs observe from outside.
//!
//! Not covered: IPv6 routes, and packet I/O.

#[path = "../../../simple_switch/tests/support/properties/mod.rs"]
mod random;

use crate::common::{eeon, register, LeafSpine, GIGABIT, PLAIN, TEN_GIGABIT};
use netsim::spec::{NicEeeSpec, NicSpec, PhyEeeSpec, PhySpec};
use netsim::{Fabric, Report};
use proptest::prelude::*;
use random::packets::{packets, Built, Ends, Packet, Target};
use random::settings::{eees_on, settings, Settings};
use units::{Duration, Time};

const REGRESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/properties.regressions");
const TICK_PS: u64 = 1_000;
const CLOCK: u64 = 1 << 48;
/// A frame of 1000 bytes at 1 Gb/s in ns, with what is around it.
const FRAME_TICKS: u64 = 8_192;
const PACKETS: usize = 80;
/// Maximum number of ports of a fabric: four leaves of two hosts and two uplinks, two spines.
const MAX_PORTS: usize = 4 * 4 + 2 * 4;
const MAX_SWITCHES: usize = 6;

/// `verdict_t` of types.p4.
const MARKED: u64 = 1;
const EARLY_DROPPED: u64 = 2;
/// The last of `verdict_t`.
const MARTIAN: u64 = 10;

#[derive(Clone, Debug)]
struct Case {
    size: LeafSpine,
    /// Ts and Tw in ns at 1 Gb/s and above.
    transitions: [(u64, u64); 2],
    ports: Vec<Settings>,
    clocks: Vec<u64>,
    /// Time since the last in ns, from, to, and the packet; its target counts only where it is not a port.
    traffic: Vec<(u64, usize, usize, Packet)>,
    /// Before which packet all ports but their PHYs change, and to what.
    change: Option<(usize, Vec<Settings>)>,
    loop_ps: u64,
}

fn cases() -> BoxedStrategy<Case> {
    let nic_eee = eees_on(FRAME_TICKS).prop_map(|eee| NicEeeSpec {
        stall_ps: eee.stall * TICK_PS,
        hold_ps: eee.hold * TICK_PS,
        trigger_packets: eee.trigger_packets as u32,
        trigger_bytes: eee.trigger_bytes as u32,
    });
    let nic = (prop::option::of(nic_eee), prop::option::weighted(0.2, 1_500..20_000u64))
        .prop_map(|(eee, buffer_bytes)| NicSpec { eee, buffer_bytes, ..NicSpec::default() });
    let size = (2..=4usize, 1..=2usize, 1..=2usize, prop_oneof![Just(GIGABIT), Just(TEN_GIGABIT)]).prop_map(
        |(leaves, hosts_per_leaf, spines, uplink_bps)| LeafSpine {
            leaves,
            hosts_per_leaf,
            spines,
            uplink_bps,
            ..LeafSpine::default()
        },
    );
    let transition = || (prop_oneof![Just(0), 0..60_000u64], prop_oneof![Just(0), 0..20_000u64]);
    let gap = prop_oneof![3 => Just(0), 4 => 0..8_000u64, 3 => 0..80_000u64, 1 => 0..2_000_000u64];
    let traffic = prop::collection::vec((gap, 0..8usize, 0..8usize, packets()), 1..=PACKETS);
    let all_ports = || prop::collection::vec(settings(FRAME_TICKS), MAX_PORTS);
    let clock = prop_oneof![2 => Just(0), 1 => 0..CLOCK, 2 => CLOCK - 2_000_000..CLOCK];
    let clocks = prop::collection::vec(clock, MAX_SWITCHES);
    let change = prop::option::of((0..PACKETS, all_ports()));
    (
        size,
        [transition(), transition()],
        nic,
        all_ports(),
        clocks,
        traffic.boxed(),
        change,
        300_000..1_000_000u64,
    )
        .prop_map(|(size, transitions, nic, ports, clocks, traffic, change, loop_ps)| Case {
            size: LeafSpine { nic, ..size },
            transitions,
            ports,
            clocks,
            traffic,
            change,
            loop_ps,
        })
        .boxed()
}

/// A port of a switch.
struct PortRun {
    switch: usize,
    port: u16,
    bps: u64,
    is_to_host: bool,
    /// First and later settings.
    settings: Vec<Settings>,
}

struct Run {
    fabric: Fabric,
    report: Report,
    ports: Vec<PortRun>,
    sent: Vec<Built>,
}

impl Case {
    fn transition(&self, bps: u64) -> (u64, u64) {
        self.transitions[usize::from(bps != GIGABIT)]
    }

    fn ports(&self) -> Vec<PortRun> {
        let mut ports = Vec::new();
        for (switch, port, bps) in self.size.ports() {
            let is_to_host = switch < self.size.leaves && usize::from(port) <= self.size.hosts_per_leaf;
            let mut run = PortRun { switch, port, bps, is_to_host, settings: Vec::new() };
            run.settings.push(self.with_phy(self.ports[ports.len()], bps));
            if let Some((_, later)) = &self.change {
                let mut later = self.with_phy(later[ports.len()], bps);
                later.eee = match (run.settings[0].eee, later.eee) {
                    (Some(first), Some(eee)) => Some(eeon::Eee { stall: first.stall, ..eee }),
                    (first, _) => first,
                };
                run.settings.push(later);
            }
            ports.push(run);
        }
        ports
    }

    /// Returns the settings with the times of a PHY of this rate.
    fn with_phy(&self, mut settings: Settings, bps: u64) -> Settings {
        if let Some(eee) = &mut settings.eee {
            (eee.sleep, eee.wake) = self.transition(bps);
        }
        settings
    }

    fn packet(&self, size: &LeafSpine, number: usize) -> (usize, Vec<u8>, Built) {
        let (_, from, to, packet) = &self.traffic[number];
        let hosts = size.host_count();
        let (from, to) = (from % hosts, to % hosts);
        let mut destination = size.ip(to).octets();
        if !matches!(packet.target, Target::Port(_)) {
            destination[0] = 172; // No route leads there.
        }
        let ends = Ends {
            macs: [size.mac(from), [2, 1, 0, 0, 0, (from / self.size.hosts_per_leaf) as u8 + 1]],
            v4: [size.ip(from).octets(), destination],
            v6: [[0xfd; 16]; 2],
        };
        let built = Packet { is_packet_out: false, ..packet.clone() }.build(&ends, 0);
        (from, built.bytes.clone(), built)
    }
}

fn run(case: &Case, is_gated: bool) -> Run {
    let size = case.size;
    let ports = case.ports();
    let mut spec = size.spec();
    let phy = |rate_bps| {
        let (sleep, wake) = case.transition(rate_bps);
        PhySpec {
            rate_bps,
            watts: 1.0,
            lpi_fraction: 0.1,
            sleep: Duration::from_ps(sleep * TICK_PS),
            wake: Duration::from_ps(wake * TICK_PS),
        }
    };
    spec.phy = [GIGABIT, TEN_GIGABIT].map(phy).to_vec();
    spec.tick_ps = TICK_PS;
    spec.recirculation_delay_ps = case.loop_ps;
    spec.gate_register = is_gated.then(|| "gate_open_at".to_owned());
    for (switch, clock) in spec.switches.iter_mut().zip(&case.clocks) {
        switch.clock_start = *clock;
    }
    for run in &ports {
        let name = spec.switches[run.switch].name.clone();
        let ends = spec.links.iter_mut().flat_map(|link| [&mut link.a, &mut link.b]);
        for end in ends.filter(|end| end.node == name && end.port == run.port) {
            end.eee = run.settings[0].eee.map(|eee| PhyEeeSpec { stall_ps: eee.stall * TICK_PS });
        }
    }
    let mut fabric = size.fabric(spec, |_| PLAIN);
    for run in &ports {
        let clock = case.clocks[run.switch].to_be_bytes();
        let mut state = fabric.switch_mut(run.switch).state_mut();
        state.register_write("busy_until", run.port.into(), &clock).unwrap();
        run.settings[0].write(&mut state, run.port, (8_000_000_000 << 24) / run.bps);
    }
    let (mut at, mut sent) = (Time::ZERO, Vec::new());
    for number in 0..case.traffic.len() {
        at += Duration::from_ns(case.traffic[number].0);
        let is_change = case.change.as_ref().is_some_and(|(before, _)| *before == number);
        if is_change || number % 16 == 8 {
            fabric.run_until(at);
            fabric.report().expect("the counts add up at any time");
        }
        if is_change {
            for run in &ports {
                let mut state = fabric.switch_mut(run.switch).state_mut();
                run.settings[1].write(&mut state, run.port, (8_000_000_000 << 24) / run.bps);
            }
        }
        let (from, bytes, built) = case.packet(&size, number);
        fabric.send(from, at, &bytes, bytes.len()).unwrap();
        sent.push(built);
    }
    let limit = at + Duration::from_ms(100);
    fabric.run_to_idle(limit);
    let report = fabric.report().expect("the counts add up");
    Run { fabric, report, ports, sent }
}

impl Run {
    fn count(&self, switch: usize, port: u16, class: u64, verdict: u64) -> u64 {
        let cell = u64::from(port) << 7 | class << 4 | verdict;
        self.fabric.switch(switch).state().read_counters("verdicts", cell).unwrap().packets
    }

    /// Returns the packets of a class that came in by some ports.
    fn received(&self, class: u64, by: impl Fn(&&PortRun) -> bool) -> u64 {
        let read = |port: &PortRun| {
            let cell = u64::from(port.port) << 3 | class;
            self.fabric.switch(port.switch).state().read_counters("received", cell).unwrap().packets
        };
        self.ports.iter().filter(by).map(read).sum()
    }

    fn register(&self, port: &PortRun, name: &str) -> u64 {
        register(&self.fabric, port.switch, name, port.port.into())
    }
}

proptest! {
    #![proptest_config(random::config(48, REGRESSIONS))]

    /// At any time what hosts have sent is delivered, dropped or on its way; and in the end the switches' counters explain
    /// every drop, and every delivery class by class.
    #[test]
    fn property_1_every_packet_of_a_fabric_is_delivered_or_counted(case in cases(), is_gated in prop::bool::weighted(0.8)) {
        let run = run(&case, is_gated);
        prop_assert!(run.report.idle, "packets still inside: {:?}", run.report.conservation);
        let counts = run.report.conservation;
        prop_assert_eq!((counts.packet_outs, counts.copies, counts.packet_ins, counts.link_drops), (0, 0, 0, 0));
        let all = |verdicts: std::ops::RangeInclusive<u64>, class: u64| -> u64 {
            let cells = run.ports.iter().flat_map(|port| verdicts.clone().map(move |verdict| (port, verdict)));
            cells.map(|(port, verdict)| run.count(port.switch, port.port, class, verdict)).sum()
        };
        let drops: u64 = (0..8).map(|class| all(EARLY_DROPPED..=MARTIAN, class)).sum();
        prop_assert_eq!(drops, run.report.conservation.switch_drops);
        let received: u64 = (0..8).map(|class| run.received(class, |_| true)).sum();
        let verdicts: u64 = (0..8).map(|class| all(0..=MARTIAN, class)).sum();
        prop_assert_eq!(received, verdicts, "one verdict a packet and switch");
        // To a host a MAC control frame is one of the others.
        let names = ["data", "ack", "ack_ece", "syn", "syn_ack", "fin_rst", "other"];
        let classes_of_switches = |class: usize| if class == 6 { 6..=7 } else { class as u64..=class as u64 };
        for (class, name) in names.into_iter().enumerate() {
            let classes = || classes_of_switches(class);
            let to_hosts = || run.ports.iter().filter(|port| port.is_to_host);
            let counted: u64 = to_hosts()
                .flat_map(|port| classes().flat_map(move |c| (0..=MARKED).map(move |v| (port, c, v))))
                .map(|(port, c, v)| run.count(port.switch, port.port, c, v))
                .sum();
            prop_assert_eq!(counted, run.report.classes[name].delivered.packets, "{} to hosts", name);
            if case.size.nic.buffer_bytes.is_none() {
                let is_of = |built: &&Built| classes().contains(&(built.class as u64));
                let offered = run.sent.iter().filter(is_of).count() as u64;
                prop_assert_eq!(run.report.classes[name].sent.packets, offered, "{}", name);
                let to_leaves: u64 = classes().map(|class| run.received(class, |port| port.is_to_host)).sum();
                prop_assert_eq!(to_leaves, offered, "{} from hosts", name);
            }
        }
    }

    /// Each PHY's active, sleep, low-power and wake time is all the time; none is asked to send before it can; and the
    /// program's account, with the sleep that goes on, is the PHY's to two ticks a wake.
    #[test]
    fn property_6_the_programs_account_of_energy_is_the_phys(case in cases()) {
        let run = run(&case, true);
        for phy in &run.report.energy.transmitters {
            let sum = phy.active_ps + phy.sleep_ps + phy.lpi_ps + phy.wake_ps;
            prop_assert_eq!(sum, run.report.elapsed_ps, "{} port {}", phy.node, phy.port);
            let Some(port) = run.ports.iter().find(|port| {
                run.report.switches[port.switch].name == phy.node && port.port == phy.port
            }) else { continue };
            let wakes = run.register(port, "wakes");
            let Some(eee) = port.settings[0].eee else {
                prop_assert_eq!((wakes, run.register(port, "lpi_ticks"), phy.lpi_ps), (0, 0, 0));
                continue;
            };
            if eee.sleep + eee.wake < 8 {
                continue; // The PHY cannot tell sleeps of a few ticks from gaps.
            }
            prop_assert_eq!((phy.violations, phy.wakes), (0, wakes), "{} port {}", phy.node, phy.port);
            let now = (run.report.elapsed_ps / TICK_PS + case.clocks[port.switch]) % CLOCK;
            let idle = now.wrapping_sub(run.register(port, "busy_until")) % CLOCK;
            // The wire of the last frame may still be busy, or take part of a tick.
            let going_on = if idle < CLOCK / 2 { idle.saturating_sub(eee.stall + eee.sleep) } else { 0 };
            let account = (run.register(port, "lpi_ticks") + going_on) * TICK_PS;
            prop_assert!(
                account.abs_diff(phy.lpi_ps) <= 2 * TICK_PS * (wakes + 1),
                "{} port {}: program {} ps, PHY {} ps in {} wakes", phy.node, phy.port, account, phy.lpi_ps, wakes
            );
        }
    }
}
