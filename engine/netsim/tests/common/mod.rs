//! A leaf-spine fabric that runs the compiled P4 program, configured directly through `bm`'s runtime interface.
//!
//! Addresses: host K of leaf L (both from 1) is 10.0.L.K, 02:00:00:00:LL:KK; a leaf's host ports are 1 to K, its
//! uplinks follow; a spine's port L leads to leaf L.

#![allow(dead_code)] // Each test crate and bench uses its part.

#[path = "../../../simple_switch/tests/support/eeon.rs"]
pub mod eeon;
pub mod greedy;

use std::net::{IpAddr, Ipv4Addr};

use bm::MatchKeyParam;
pub use eeon::program;
use netsim::spec::{DscpPriority, NicClassesSpec, NicSpec};
use netsim::{Fabric, FabricSpec, FlowSpec, Mac, NicAqm, Report};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{json, Value};
use simple_switch::MirroringSession;
use units::{Duration, Time};
use wire::build::{Addresses, TcpFields};
use wire::tcp::{ACK, SYN};
use wire::Ecn;

pub const GIGABIT: u64 = 1_000_000_000;
pub const TEN_GIGABIT: u64 = 10_000_000_000;

/// A fabric's size and speeds.
#[derive(Clone, Copy, Debug)]
pub struct LeafSpine {
    pub leaves: usize,
    pub hosts_per_leaf: usize,
    pub spines: usize,
    pub host_bps: u64,
    pub uplink_bps: u64,
    pub delay_ps: u64,
    /// Every switch port sleeps.
    pub eee: bool,
    pub nic: NicSpec,
}

impl Default for LeafSpine {
    fn default() -> Self {
        Self {
            leaves: 2,
            hosts_per_leaf: 2,
            spines: 2,
            host_bps: GIGABIT,
            uplink_bps: TEN_GIGABIT,
            delay_ps: 500_000,
            eee: false,
            nic: NicSpec::default(),
        }
    }
}

/// The treatment of packets at a port.
#[derive(Clone, Debug)]
pub struct PortSettings {
    pub buffer_bytes: Option<u32>,
    /// Action of `port_aqm` and its values.
    pub aqm: Option<(&'static str, Vec<u64>)>,
    /// Values of the action `eee` of `port_eee`.
    pub eee: Option<[u64; 8]>,
}

pub const PLAIN: PortSettings = PortSettings { buffer_bytes: None, aqm: None, eee: None };

/// Returns settings of a port that marks ECT(0) above `bytes`.
pub fn marking(bytes: u64) -> PortSettings {
    PortSettings { aqm: Some(("mark_threshold", vec![bytes, 0xffff_ffff, 0])), ..PLAIN }
}

impl LeafSpine {
    pub fn host_count(&self) -> usize {
        self.leaves * self.hosts_per_leaf
    }

    pub fn ip(&self, host: usize) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, (host / self.hosts_per_leaf + 1) as u8, (host % self.hosts_per_leaf + 1) as u8)
    }

    pub fn mac(&self, host: usize) -> [u8; 6] {
        let [_, _, leaf, number] = self.ip(host).octets();
        [2, 0, 0, 0, leaf, number]
    }

    fn uplink_port(&self, spine: usize) -> u16 {
        (self.hosts_per_leaf + spine + 1) as u16
    }

    pub fn switch_count(&self) -> usize {
        self.leaves + self.spines
    }

    /// Returns all ports of switches, with the rates of their links: switch, port, bits per second.
    pub fn ports(&self) -> impl Iterator<Item = (usize, u16, u64)> {
        let leaf = [vec![self.host_bps; self.hosts_per_leaf], vec![self.uplink_bps; self.spines]].concat();
        let spine = vec![self.uplink_bps; self.leaves];
        let rates = [vec![leaf; self.leaves], vec![spine; self.spines]].concat();
        let of_switch =
            |(switch, rates): (usize, Vec<u64>)| (1..).zip(rates).map(move |(port, bps)| (switch, port, bps));
        rates.into_iter().enumerate().flat_map(of_switch)
    }

    pub fn spec(&self) -> FabricSpec {
        let eee = self.eee.then(|| json!({"stall_ps": 0}));
        let end = |node: &str, port: u16| json!({"node": node, "port": port, "eee": eee});
        let link = |a: Value, b: Value, rate_bps: u64| json!({"a": a, "b": b, "rate_bps": rate_bps, "delay_ps": self.delay_ps});
        let leaves = (0..self.leaves).map(|leaf| format!("leaf{}", leaf + 1));
        let spines = (0..self.spines).map(|spine| format!("spine{}", spine + 1));
        let host = |host: usize| json!({"name": format!("h{}", host + 1), "mac": Mac(self.mac(host)).to_string(), "ipv4": self.ip(host)});
        let mut links = Vec::new();
        for (leaf, name) in leaves.clone().enumerate() {
            for place in 1..=self.hosts_per_leaf {
                let host = json!({"node": format!("h{}", leaf * self.hosts_per_leaf + place), "port": 0});
                links.push(link(end(&name, place as u16), host, self.host_bps));
            }
            for (number, spine) in spines.clone().enumerate() {
                let uplink = end(&name, self.uplink_port(number));
                links.push(link(uplink, end(&spine, leaf as u16 + 1), self.uplink_bps));
            }
        }
        let switch = |(number, name): (usize, String)| json!({"name": name, "device_id": number + 1});
        let spec = json!({
            "seed": 1,
            "gate_register": "gate_open_at",
            "switches": leaves.chain(spines).enumerate().map(switch).collect::<Vec<_>>(),
            "hosts": (0..self.host_count()).map(host).collect::<Vec<_>>(),
            "links": links,
            "phy": [
                {"rate_bps": GIGABIT, "watts": 0.5, "sleep_ps": 182_000_000, "wake_ps": 16_500_000},
                {"rate_bps": TEN_GIGABIT, "watts": 2.5, "sleep_ps": 2_880_000, "wake_ps": 4_480_000},
            ],
        });
        FabricSpec { nic: self.nic, ..FabricSpec::from_json(spec.to_string().as_bytes()).unwrap() }
    }

    /// Returns the fabric with routes, and every port configured by `settings` for its rate.
    pub fn fabric(&self, spec: FabricSpec, settings: impl Fn(u64) -> PortSettings) -> Fabric {
        let mut fabric = Fabric::new(program(), spec).unwrap_or_else(|error| panic!("{error}"));
        for leaf in 0..self.leaves {
            for place in 0..self.hosts_per_leaf {
                let host = leaf * self.hosts_per_leaf + place;
                let ports = [(place as u16 + 1, self.mac(host))];
                add_route(&mut fabric, leaf, self.ip(host), 32, &ports);
            }
            let uplinks: Vec<_> =
                (0..self.spines).map(|s| (self.uplink_port(s), switch_mac(self.leaves + s))).collect();
            if !uplinks.is_empty() {
                add_route(&mut fabric, leaf, Ipv4Addr::new(10, 0, 0, 0), 16, &uplinks);
            }
            let (table, action) = ("eeon_ingress.route.switch_config", "eeon_ingress.route.set_ecmp_seed");
            let seed = (0x9E37_79B1 + 2 * leaf as u32).to_be_bytes().to_vec();
            fabric.switch_mut(leaf).state_mut().mt_set_default_action(table, action, &[seed]).unwrap();
        }
        for spine in self.leaves..self.switch_count() {
            for leaf in 0..self.leaves {
                let network = Ipv4Addr::new(10, 0, leaf as u8 + 1, 0);
                add_route(&mut fabric, spine, network, 24, &[(leaf as u16 + 1, switch_mac(leaf))]);
            }
        }
        for (switch, port, bps) in self.ports() {
            set_port(&mut fabric, switch, port, &settings(bps));
        }
        fabric
    }

    /// Returns the fabric with routes alone.
    pub fn plain(&self) -> Fabric {
        self.fabric(self.spec(), |_| PLAIN)
    }

    /// Returns the fabric with the papers' ports: 300 kB, marks above `bytes`, and coalescing if they sleep.
    pub fn marking(&self, bytes: u64) -> Fabric {
        self.fabric(self.spec(), |bps| PortSettings {
            buffer_bytes: Some(300_000),
            eee: self.eee.then(|| eee_values(bps, if bps == GIGABIT { 12 } else { 120 }, 10)),
            ..marking(bytes)
        })
    }

    /// Returns a TCP segment of `payload_bytes` from one host to another, as it leaves the source.
    pub fn segment(&self, from: usize, to: usize, flags: u8, payload_bytes: usize, ecn: Ecn) -> Vec<u8> {
        let [source, destination] = [from, to].map(|host| IpAddr::V4(self.ip(host)));
        let addresses = Addresses {
            source_mac: self.mac(from),
            destination_mac: switch_mac(from / self.hosts_per_leaf),
            source,
            destination,
            ecn,
        };
        let fields = TcpFields {
            source_port: 40_000 + (to % 1_000) as u16,
            destination_port: 50_000 + (from % 1_000) as u16,
            flags,
            ..TcpFields::default()
        };
        wire::build::tcp(&addresses, &fields, &vec![0; payload_bytes])
    }
}

fn switch_mac(switch: usize) -> [u8; 6] {
    [2, 1, 0, 0, 0, switch as u8 + 1]
}

/// Adds a route to one port or, by ECMP, to several, which are watched: (port, next hop's MAC address).
pub fn add_route(
    fabric: &mut Fabric,
    switch: usize,
    network: Ipv4Addr,
    length: u32,
    ports: &[(u16, [u8; 6])],
) {
    let mut state = fabric.switch_mut(switch).state_mut();
    let (admit, to_l3) = ("eeon_ingress.admit.l3_admit", "eeon_ingress.admit.admit_to_l3");
    state.mt_set_default_action(admit, to_l3, &[]).unwrap();
    let profile = "eeon_ingress.route.ecmp_selector";
    let group = state.mt_act_prof_create_group(profile).unwrap();
    for (port, mac) in ports {
        let data = [port.to_be_bytes().to_vec(), switch_mac(switch).to_vec(), mac.to_vec()];
        let member = state.mt_act_prof_add_member(profile, "eeon_ingress.route.forward", &data).unwrap();
        state.mt_act_prof_add_member_to_group(profile, member, group, Some(*port)).unwrap();
    }
    let key = [MatchKeyParam::Lpm(network.octets().to_vec(), length)];
    state.mt_indirect_ws_add_entry("eeon_ingress.route.ipv4_route", &key, group, 0).unwrap();
}

/// Sends each DSCP of `of` to its priority on one switch.
pub fn classes(fabric: &mut Fabric, switch: usize, of: &[(u8, u8)]) {
    eeon::priorities(&mut fabric.switch_mut(switch).state_mut(), of);
}

/// Writes an entry of a table and an action of one control.
fn add_entry(fabric: &mut Fabric, switch: usize, table: &str, action: &str, key: u16, data: &[u64]) {
    eeon::put(&mut fabric.switch_mut(switch).state_mut(), table, action, key, data);
}

/// Delay of a recirculation: a part of the time in which a pause is generated.
pub const LOOP_PS: u64 = 1_000_000;

/// Ports have timers, and a queue and a gate for each priority; and NICs, whose frames of `dscp` have `priority`, obey pauses of it.
pub fn pausable(spec: &mut FabricSpec, dscp: u8, priority: u8) {
    (spec.priorities, spec.class_gate_register) = (8, Some("class_gate_open_at".to_owned()));
    spec.timer_register = Some("pause_timer".to_owned());
    spec.nic_classes = Some(NicClassesSpec {
        dscp: vec![DscpPriority { dscp, priority }],
        pausable: vec![priority],
        ..NicClassesSpec::default()
    });
}

/// Copies, of which pauses and messages about congestion are made, have a port.
pub fn copies(fabric: &mut Fabric, switch: usize) {
    let session = MirroringSession { egress_port: Some(509), ..MirroringSession::default() };
    fabric.switch_mut(switch).set_session(1, session).unwrap();
}

/// Makes a priority of a port of `bps` lossless, in both directions; `bytes`: XOFF, XON and limit of packets that arrived by the port.
pub fn lossless(
    fabric: &mut Fabric,
    switch: usize,
    port: u16,
    bps: u64,
    priority: u8,
    [xoff, xon, limit]: [u64; 3],
) {
    let queue = port << 3 | u16::from(priority);
    let quantum = [(512_000_000_000_u64 << 16) / bps, 1 << priority];
    let refresh_ticks = 65_535 * 512_000_000_000 / bps / 2;
    let group = [xoff, xon, limit, 65_535, refresh_ticks];
    let frame = [0x0201_0000_0000 + switch as u64, LOOP_PS / 1_000];
    let mut add = |table: &str, action: &str, key: u16, data: &[u64]| {
        add_entry(fabric, switch, table, action, key, data);
    };
    add("receive_pause.port_pfc", "obey_pauses", port, &quantum);
    add("choose_pausable.pausable_queue", "take_pauses", queue, &[]);
    add("lossless_limit.lossless_group", "lossless", queue, &group);
    add("send_made.made_pause", "send_pause", port, &frame);
}

/// The queue of a port's priority samples what comes into it, on average each 150 KB with 15 % of jitter, and tells its source.
pub fn congestion_point(fabric: &mut Fabric, switch: usize, port: u16, priority: u8, set_point_bytes: u64) {
    let range = 5 * set_point_bytes;
    let scale = (64_u128 << 56).div_ceil(range.into()) as u64;
    let queue = port << 3 | u16::from(priority);
    let data = [set_point_bytes, 1, range, scale, 150_000, 9_830];
    add_entry(fabric, switch, "congestion_point.port_qcn", "qcn", queue, &data);
}

/// Returns an IPv4 frame without options with another DSCP and the matching header checksum.
pub fn with_dscp(mut frame: Vec<u8>, dscp: u8) -> Vec<u8> {
    assert!(wire::set_dscp(&mut frame, dscp));
    frame
}

/// Sets the header checksum of an IPv4 frame without options.
pub fn set_checksum(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let sum = wire::checksum::internet(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
}

fn set_port(fabric: &mut Fabric, switch: usize, port: u16, settings: &PortSettings) {
    let mut add = |table: &str, action: &str, data: &[u64]| {
        add_entry(fabric, switch, table, action, port, data);
    };
    if let Some(bytes) = settings.buffer_bytes {
        add("buffer_limit.port_buffer", "set_buffer_limit", &[bytes.into()]);
    }
    if let Some((action, data)) = &settings.aqm {
        add("aqm.port_aqm", action, data);
    }
    if let Some(data) = &settings.eee {
        add("eee_admit.port_eee", "eee", data);
    }
}

/// Returns a register's cell.
pub fn register(fabric: &Fabric, switch: usize, name: &str, index: u64) -> u64 {
    eeon::register(fabric.switch(switch).state(), name, index.try_into().unwrap())
}

/// Returns the values of the action `eee` for a link of `rate_bps` with ticks of 1 ns.
pub fn eee_values(rate_bps: u64, hold_us: u64, trigger_packets: u64) -> [u64; 8] {
    let (sleep, wake) = if rate_bps == GIGABIT { (182_000, 16_500) } else { (2_880, 4_480) };
    [sleep, wake, 0, hold_us * 1_000, trigger_packets, 0, eeon::ticks_per_byte_q24(rate_bps), 24]
}

/// Returns RED of a NIC, and the values of the program's action for the same. By default it marks by bytes, without an average.
pub fn red(settings: &Value) -> (NicAqm, Vec<u64>) {
    let mut all = json!({"mode": "red", "min_threshold": 0, "max_threshold": 0, "probability_slope": 0, "in_packets": false,
                         "average_shift": 0, "ecn": true, "protect": "ect", "half_life_ps": 0, "by_size": false});
    all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let number = |name: &str| all[name].as_u64().unwrap_or(u64::from(all[name] == true));
    let of = ["min_threshold", "max_threshold", "probability_slope", "in_packets", "average_shift", "ecn"];
    let protect = ["ect", "ece", "ack_syn"].iter().position(|name| all["protect"] == **name).unwrap();
    // An average halves in 2^(16 + 5) / n ticks of 1 ns; probabilities by size are for 2 KB.
    let ageing = (1_000_u64 << 21).checked_div(number("half_life_ps")).map_or([0, 0], |n| [n, 5]);
    let values = [&of.map(number)[..], &[protect as u64], &ageing, &[2_048 * number("by_size")]].concat();
    if all["half_life_ps"] == 0 {
        all["half_life_ps"] = Value::Null;
    }
    (serde_json::from_value(all).unwrap(), values)
}

pub fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

pub const FOREVER: Time = Time::from_ps(1 << 60);

pub fn send(fabric: &mut Fabric, host: usize, at: Time, frame: &[u8]) {
    fabric.send(host, at, frame, frame.len()).unwrap();
}

/// Starts flows of `config`: source, destination, bytes, start in microseconds.
pub fn start_flows(
    fabric: &mut Fabric,
    config: &tcp::Config,
    flows: impl IntoIterator<Item = (usize, usize, u64, u64)>,
) {
    let settings = config.clone().check().unwrap();
    for (source, destination, bytes, start) in flows {
        fabric.start_flow(&settings, FlowSpec { source, destination, bytes, start: us(start) }).unwrap();
    }
}

pub fn start_workload(fabric: &mut Fabric, tcp: &Value, applications: &Value) {
    let json = json!({"seed": 1, "tcp": tcp, "applications": applications}).to_string();
    fabric.start_workload(json.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
}

pub fn transfer(source: usize, destination: usize, bytes: u64) -> Value {
    json!({"source": format!("h{}", source + 1), "destination": format!("h{}", destination + 1), "bytes": bytes})
}

/// Returns an application of coflows: their times, and their transfers.
pub fn coflows(list: &[(u64, Vec<Value>)]) -> Value {
    let coflow = |(number, (at, transfers)): (usize, &(u64, Vec<Value>))| json!({"name": format!("c{number}"), "at_ps": at, "transfers": transfers});
    let list: Vec<_> = list.iter().enumerate().map(coflow).collect();
    json!({"kind": "coflows", "name": "coflows", "coflows": list})
}

pub fn finish(fabric: &mut Fabric) -> Report {
    assert!(fabric.run_to_idle(FOREVER), "the fabric comes to rest");
    fabric.report().unwrap()
}

/// Returns segments between random hosts at random times, most of a full 1514 bytes, in order of time.
pub fn random_traffic(
    size: &LeafSpine,
    count: usize,
    mean_gap_ps: u64,
    seed: u64,
) -> Vec<(usize, Time, Vec<u8>)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = |limit: u64| random.next_u64() % limit;
    let mut at = Time::ZERO;
    let hosts = size.host_count() as u64;
    (0..count)
        .map(|_| {
            at += Duration::from_ps(below(2 * mean_gap_ps));
            let from = below(hosts) as usize;
            let to = (from + 1 + below(hosts - 1) as usize) % hosts as usize;
            let (flags, payload, ecn) = match below(10) {
                0 => (SYN, 0, Ecn::NotEct),
                1 | 2 => (ACK, 0, Ecn::NotEct),
                _ => (ACK, 1460, Ecn::Ect0),
            };
            (from, at, size.segment(from, to, flags, payload, ecn))
        })
        .collect()
}

/// Returns the peak resident memory of this process (`VmHWM` of proc(5)).
pub fn peak_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
