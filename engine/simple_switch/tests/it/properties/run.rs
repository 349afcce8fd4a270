//! Runs one random case through one switch, and records the packets offered, the packets that left, and the counters
//! meanwhile. It makes no checks.

use bm::{MatchKeyParam, State};
use simple_switch::{Switch, SwitchConfig};
use units::{Duration, Time};

use super::case::{Case, Form, Pace, Step, IN_PORTS, OUT_PORTS};
use super::random::packets::{Built, Ends, Packet, Target, MARTIANS};
use super::random::settings::{Aqm, Buffer, Settings};
use crate::support::eeon;

/// `verdict_t` of types.p4.
pub mod verdict {
    pub const FORWARDED: u64 = 0;
    pub const MARKED: u64 = 1;
    pub const EARLY_DROPPED: u64 = 2;
    pub const TAIL_DROPPED: u64 = 3;
    pub const NO_ROUTE: u64 = 4;
    pub const TTL_EXPIRED: u64 = 5;
    pub const TO_CPU: u64 = 6;
    pub const MALFORMED: u64 = 7;
    pub const CONSUMED: u64 = 8;
    pub const NOT_ADMITTED: u64 = 9;
    pub const MARTIAN: u64 = 10;
    pub const LAST: u64 = MARTIAN;
}

/// A packet offered, and what the switch did with it.
#[derive(Clone, Debug)]
pub struct Arrived {
    pub at: u64,
    pub in_port: u16,
    /// Its port of departure, unless ingress does something else with it.
    pub out: Option<u16>,
    pub is_packet_out: bool,
    pub ttl: u8,
    pub target: Target,
    pub built: Built,
    pub bytes: u64,
    /// The queue that it finds, computed from the departures so far.
    pub found_bytes: u64,
    pub found_packets: u64,
    /// The part of it that was held outside the buffer.
    pub found_outside: u64,
    /// Whether the link was awake by its register: before the packet, and with it.
    pub awake: (bool, bool),
    /// RED's average * 2^32, with this packet's view included.
    pub average: Option<u64>,
    /// The settings of its port.
    pub settings: Settings,
    /// The one drop or packet-in of its class and port that was counted when it arrived, if any.
    pub counted: Option<u64>,
    pub left: Option<Left>,
}

impl Arrived {
    /// Whether it is held outside its port's buffer, if it is admitted.
    fn is_outside(&self) -> bool {
        matches!(self.settings.buffer, Buffer::BesideHeld(_))
            && self.settings.eee.is_some()
            && !(self.awake.0 && self.awake.1)
    }
}

#[derive(Clone, Debug)]
pub struct Left {
    pub at: u64,
    pub wire: u64,
    pub port: u16,
    /// In the queue behind it.
    pub behind_bytes: u64,
    pub frame: Vec<u8>,
}

/// The registers of a port, and its queue computed from arrivals and departures.
#[derive(Debug)]
pub struct Look {
    pub at: u64,
    pub port: u16,
    pub occupancy: (u64, u64),
    /// Bytes outside the buffer: by the register, and computed from arrivals and departures.
    pub outside: (u64, u64),
    pub queued: (u64, u64),
    /// The traffic manager's values.
    pub waiting: (u64, u64),
    pub average: (u64, u64),
}

pub struct Trace {
    pub switch: Switch,
    pub pace: Pace,
    pub form: Form,
    pub loop_ps: u64,
    pub arrived: Vec<Arrived>,
    /// Numbers of packets in the order of departure, by port of [`OUT_PORTS`].
    pub order: [Vec<usize>; 2],
    pub looks: Vec<Look>,
    /// Offered, left, counted as dropped, and inside, at some instants.
    pub counts: Vec<[u64; 4]>,
    /// All settings of a port, with the time from which on they apply.
    pub history: [Vec<(u64, Settings)>; 2],
    /// When no event can be left.
    pub limit: u64,
}

pub const SWITCH_MAC: [u8; 6] = [2, 1, 0, 0, 0, 1];
pub const NEXT_HOP: [u8; 6] = [2, 0, 0, 0, 0, 9];

fn ends(target: Target) -> Ends {
    let net = match target {
        Target::Port(port) => OUT_PORTS[usize::from(port)] as u8,
        Target::Nowhere => 77,
        Target::Controller => 88,
        Target::Elsewhere | Target::Martian(_) => OUT_PORTS[0] as u8,
    };
    let v6 = |net: u8, host: u8| {
        let mut address = [0; 16];
        (address[0], address[7], address[15]) = (0xfd, net, host);
        address
    };
    let mut ends = Ends {
        macs: [[2, 0, 0, 0, 1, 1], SWITCH_MAC],
        v4: [[10, 0, 1, 1], [10, 0, net, 9]],
        v6: [v6(1, 1), v6(net, 9)],
    };
    match target {
        Target::Elsewhere => ends.macs[1] = [0xFF; 6],
        Target::Martian(number) => {
            let (v4, v6, is_source) = MARTIANS[usize::from(number)];
            let end = usize::from(!is_source);
            (ends.v4[end], ends.v6[end]) = (v4, v6);
        }
        _ => {}
    }
    ends
}

fn write_routes(state: &mut State) {
    for port in IN_PORTS {
        eeon::admit(state, port, &SWITCH_MAC);
    }
    let profile = "eeon_ingress.route.ecmp_selector";
    let mut add = |net: u16, action: &str, data: &[Vec<u8>]| {
        let member =
            state.mt_act_prof_add_member(profile, &format!("eeon_ingress.route.{action}"), data).unwrap();
        let v4 = [MatchKeyParam::Lpm(vec![10, 0, net as u8, 0], 24)];
        state.mt_indirect_add_entry("eeon_ingress.route.ipv4_route", &v4, member, 0).unwrap();
        let v6 = [MatchKeyParam::Lpm([&[0xfd, 0, 0, 0, 0, 0, 0, net as u8][..], &[0; 8]].concat(), 64)];
        state.mt_indirect_add_entry("eeon_ingress.route.ipv6_route", &v6, member, 0).unwrap();
    };
    for port in OUT_PORTS {
        add(port, "forward", &[port.to_be_bytes().to_vec(), SWITCH_MAC.to_vec(), NEXT_HOP.to_vec()]);
    }
    add(88, "to_cpu", &[]);
}

/// Returns the counter cell of a verdict.
fn verdict_index(port: u16, class: u64, verdict: u64) -> u64 {
    u64::from(port) << 7 | class << 4 | verdict
}

pub fn run(case: &Case, form: Form) -> Trace {
    let pace = case.pace;
    let (loop_ps, clock_start) = (case.loop_ps(), case.clock_start());
    let times = case.times();
    let config = SwitchConfig {
        tick: Duration::from_ps(pace.tick_ps),
        gate_register: (form == Form::Gate).then(|| eeon::GATE.to_owned()),
        clock_start,
        recirculation_delay: Duration::from_ps(loop_ps),
        recirculation_limit: 4096, // What would never leave is dropped, and missed.
        ..eeon::config(1..=4, pace.bps)
    };
    let mut switch = Switch::new(eeon::program(), config).expect("the configuration is sound");
    write_routes(&mut switch.state_mut());
    for port in OUT_PORTS {
        let start = clock_start.to_be_bytes();
        switch.state_mut().register_write("busy_until", port.into(), &start).unwrap();
    }
    let mut trace = Trace {
        switch,
        pace,
        form,
        loop_ps,
        arrived: Vec::new(),
        order: [Vec::new(), Vec::new()],
        looks: Vec::new(),
        counts: Vec::new(),
        history: [Vec::new(), Vec::new()],
        limit: times[times.len() - 1] + 10_000 * pace.frame_ps(),
    };
    for (place, settings) in case.settings.iter().enumerate() {
        trace.set(place, *settings, 0);
    }
    for (step, at) in case.steps.iter().zip(&times) {
        trace.wake_before(*at);
        match step {
            Step::Change(place, settings) => trace.set(*place, *settings, *at),
            Step::Packet(_, in_port, packet) => trace.offer(*at, *in_port, packet),
        }
    }
    trace.wake_before(trace.limit);
    trace.balance();
    trace
}

impl Trace {
    fn set(&mut self, place: usize, settings: Settings, at: u64) {
        settings.write(&mut self.switch.state_mut(), OUT_PORTS[place], self.pace.ticks_per_byte_q24());
        self.history[place].push((at, settings));
    }

    /// Handles everything due before `end`, and only that, as `handle_packet` would.
    fn wake_before(&mut self, end: u64) {
        while let Some(due) = self.switch.next_wakeup().filter(|due| due.as_ps() < end) {
            self.switch.handle_wakeup(due);
            if self.collect() {
                self.look(due.as_ps());
            }
        }
    }

    fn offer(&mut self, at: u64, in_port: u16, packet: &Packet) {
        let in_port = if packet.is_packet_out { eeon::CPU_PORT } else { in_port };
        let place = if let Target::Port(place) = packet.target { usize::from(place) } else { 0 };
        let out_port = if matches!(packet.target, Target::Port(_)) { OUT_PORTS[place] } else { 511 };
        let built = packet.build(&ends(packet.target), out_port);
        let is_routed = packet.is_packet_out || (!built.is_malformed && built.is_ip && packet.ttl > 1);
        let out = (is_routed && out_port < eeon::CPU_PORT).then_some(out_port);
        let settings = self.history[place].last().expect("set at the start").1;
        let (found_packets, found_bytes) = self.queued(out_port);
        let average = match settings.aqm {
            Aqm::Red(red) if out.is_some() => {
                Some(red.average(self.average(out_port), found_bytes, found_packets))
            }
            _ => None,
        };
        let frame = built.bytes.clone();
        self.arrived.push(Arrived {
            at,
            in_port,
            out,
            is_packet_out: packet.is_packet_out,
            ttl: packet.ttl,
            target: packet.target,
            bytes: built.queued_bytes(packet.is_packet_out),
            built,
            found_bytes,
            found_packets,
            found_outside: self.outside(out_port),
            awake: (self.is_awake(out_port), false),
            average,
            settings,
            counted: None,
            left: None,
        });
        let tag = self.arrived.len() - 1;
        let before = self.drop_counts(tag);
        self.switch.handle_packet(Time::from_ps(at), in_port, &frame, tag as u64);
        let after = self.drop_counts(tag);
        self.arrived[tag].awake.1 = self.is_awake(out_port);
        let rose = (verdict::EARLY_DROPPED..=verdict::LAST).zip(before.iter().zip(&after));
        let rose: Vec<u64> = rose.filter(|(_, (before, after))| before != after).map(|(v, _)| v).collect();
        self.arrived[tag].counted = rose.first().copied();
        self.collect();
        self.look(at);
        if tag % 8 == 0 {
            self.balance();
        }
    }

    /// Returns the counters of a packet's class in which it may be counted when it arrives.
    fn drop_counts(&self, tag: usize) -> [u64; 7] {
        let Arrived { in_port, target, built, .. } = &self.arrived[tag];
        let out_port =
            if let Target::Port(place) = target { OUT_PORTS[usize::from(*place)] } else { *in_port };
        std::array::from_fn(|number| {
            let verdict = verdict::EARLY_DROPPED + number as u64;
            let port = if verdict <= verdict::TAIL_DROPPED { out_port } else { *in_port };
            self.count(port, built.class as u64, verdict)
        })
    }

    pub fn count(&self, port: u16, class: u64, verdict: u64) -> u64 {
        let cell = self.switch.state().read_counters("verdicts", verdict_index(port, class, verdict));
        cell.unwrap().packets
    }

    /// Takes the frames that the switch sends. Returns whether there were any.
    fn collect(&mut self) -> bool {
        let mut has_sent = false;
        while let Some(sent) = self.switch.poll_transmit() {
            let tag = sent.tag as usize;
            let twice = self.arrived[tag].left.is_some();
            assert!(!twice, "packet {tag} left twice");
            if let Some(place) = OUT_PORTS.iter().position(|port| *port == sent.port) {
                self.order[place].push(tag);
            }
            self.arrived[tag].left = Some(Left {
                at: sent.at.as_ps(),
                wire: sent.wire_time.as_ps(),
                port: sent.port,
                behind_bytes: 0,
                frame: sent.frame.to_vec(),
            });
            let (_, behind_bytes) = self.queued(sent.port);
            self.arrived[tag].left.as_mut().expect("just written").behind_bytes = behind_bytes;
            self.switch.recycle(sent.frame);
            has_sent = true;
        }
        has_sent
    }

    fn is_awake(&self, port: u16) -> bool {
        port != 511 && self.register("eee_state", port) == 0
    }

    /// Returns the bytes of a port that wait outside its buffer.
    fn outside(&self, port: u16) -> u64 {
        let waits = |a: &&Arrived| a.out == Some(port) && a.counted.is_none() && a.left.is_none();
        self.arrived.iter().filter(waits).filter(|a| a.is_outside()).map(|a| a.bytes).sum()
    }

    /// Returns the packets and bytes of a port that have arrived, were not counted as dropped, and have not left.
    fn queued(&self, port: u16) -> (u64, u64) {
        let waits = |a: &&Arrived| a.out == Some(port) && a.counted.is_none() && a.left.is_none();
        self.arrived.iter().filter(waits).fold((0, 0), |(count, bytes), a| (count + 1, bytes + a.bytes))
    }

    /// Returns RED's average after the packets so far.
    fn average(&self, port: u16) -> u64 {
        let kept = |a: &&Arrived| {
            let is_averaged = matches!(a.settings.aqm, Aqm::Red(red) if red.average_shift > 0);
            a.out == Some(port) && is_averaged && a.counted != Some(verdict::TAIL_DROPPED)
        };
        self.arrived.iter().rfind(kept).and_then(|a| a.average).unwrap_or(0)
    }

    fn look(&mut self, at: u64) {
        for port in OUT_PORTS {
            let register = |name| eeon::register(self.switch.state(), name, port);
            self.looks.push(Look {
                at,
                port,
                occupancy: (register("occupancy_packets"), register("occupancy_bytes")),
                outside: (register("outside_bytes"), self.outside(port)),
                queued: self.queued(port),
                waiting: (self.switch.queue_packets(port) as u64, self.switch.queue_bytes(port).get()),
                average: (eeon::register(self.switch.state(), "red_average", port << 3), self.average(port)),
            });
        }
    }

    fn balance(&mut self) {
        let offered = self.arrived.len() as u64;
        let left = self.arrived.iter().filter(|a| a.left.is_some()).count() as u64;
        let mut dropped = 0;
        for port in IN_PORTS.into_iter().chain(OUT_PORTS).chain([eeon::CPU_PORT]) {
            for class in 0..8 {
                for verdict in verdict::EARLY_DROPPED..=verdict::LAST {
                    // A packet-in has left; its verdict does not count as a drop.
                    let is_drop = verdict != verdict::TO_CPU;
                    dropped += if is_drop { self.count(port, class, verdict) } else { 0 };
                }
            }
        }
        self.counts.push([offered, left, dropped, self.switch.stats().in_flight]);
    }

    pub fn register(&self, name: &str, port: u16) -> u64 {
        eeon::register(self.switch.state(), name, port)
    }

    /// Returns the packets that were queued at a port, in the order of arrival, with their numbers.
    pub fn admitted(&self, place: usize) -> impl Iterator<Item = (usize, &Arrived)> {
        let port = OUT_PORTS[place];
        self.arrived.iter().enumerate().filter(move |(_, a)| a.out == Some(port) && a.counted.is_none())
    }
}
