//! The E-EON program in a switch: entries as a controller would write them, and IPv4/TCP frames. Not a test.

use std::ops::RangeInclusive;
use std::sync::Arc;

use bm::{Executable, MatchKeyParam, Program, State};
use simple_switch::{PortConfig, SwitchConfig};
use units::{DataRate, Duration};

const ADMIT_TABLE: &str = "eeon_ingress.admit.l3_admit";
const ADMIT: &str = "eeon_ingress.admit.admit_to_l3";
const ROUTE_TABLE: &str = "eeon_ingress.route.ipv4_route";
const ECMP_SELECTOR: &str = "eeon_ingress.route.ecmp_selector";
const FORWARD: &str = "eeon_ingress.route.forward";

pub const GATE: &str = "gate_open_at";
pub const CLASS_GATE: &str = "class_gate_open_at";
pub const CPU_PORT: u16 = 510;

/// Returns the committed program, or the one that `EEON_PROGRAM` names (`p4src/tests/mutants.py`), loaded once.
pub fn program() -> Arc<Executable> {
    static PROGRAM: std::sync::OnceLock<Arc<Executable>> = std::sync::OnceLock::new();
    Arc::clone(PROGRAM.get_or_init(load))
}

/// Loads the program of [`program`] anew.
pub fn load() -> Arc<Executable> {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4src/compiled/eeon.json").into();
    let path = std::env::var_os("EEON_PROGRAM").unwrap_or(committed);
    let json = std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    Executable::new(Program::from_json(&json).unwrap_or_else(|error| panic!("{path:?}: {error}")))
}

/// Returns a configuration with these ports at a rate, ticks of 1 ns, and the gate.
pub fn config(ports: RangeInclusive<u16>, bps: u64) -> SwitchConfig {
    SwitchConfig {
        tick: Duration::from_ns(1),
        cpu_port: Some(CPU_PORT),
        gate_register: Some(GATE.to_owned()),
        ports: ports.map(|port| PortConfig::ethernet(port, DataRate::from_bps(bps))).collect(),
        ..SwitchConfig::default()
    }
}

fn be(value: u64) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

/// Routes packets that arrive on `port` for the station `mac`.
pub fn admit(state: &mut State, port: u16, mac: &[u8; 6]) {
    let key = [MatchKeyParam::Exact(port.to_be_bytes().to_vec()), MatchKeyParam::Exact(mac.to_vec())];
    state.mt_add_entry(ADMIT_TABLE, &key, ADMIT, &[], 0).unwrap();
}

/// Routes 10.0.`net`.0/24 over `ports`, for frames to any station.
pub fn route(state: &mut State, net: u8, ports: &[u16]) {
    state.mt_set_default_action(ADMIT_TABLE, ADMIT, &[]).unwrap();
    let group = state.mt_act_prof_create_group(ECMP_SELECTOR).unwrap();
    for port in ports {
        let data = [be(u64::from(*port)), be(0x0201_0000_0001), be(0x0200_0000_0100 + u64::from(*port))];
        let member = state.mt_act_prof_add_member(ECMP_SELECTOR, FORWARD, &data).unwrap();
        state.mt_act_prof_add_member_to_group(ECMP_SELECTOR, member, group, None).unwrap();
    }
    let key = [MatchKeyParam::Lpm(vec![10, 0, net, 0], 24)];
    state.mt_indirect_ws_add_entry(ROUTE_TABLE, &key, group, 0).unwrap();
}

/// Marks ECT packets that find more than `bytes` in the queue of `port`.
pub fn mark_above(state: &mut State, port: u16, bytes: u32) {
    put(state, "aqm.port_aqm", "mark_threshold", port, &[bytes.into(), bytes.into(), 0]);
}

/// Sets RED on packets with ECN: none below `min`, a probability that rises to 1 at `max`, no average, no protection.
pub fn red_in_packets(state: &mut State, port: u16, min: u64, max: u64) {
    let slope = (1 << 48) / (max - min);
    put(state, "aqm.port_aqm", "red", port, &[min, max, slope, 1, 0, 1, 0, 0, 0, 0]);
}

pub fn buffer_limit(state: &mut State, port: u16, bytes: u32) {
    put(state, "buffer_limit.port_buffer", "set_buffer_limit", port, &[bytes.into()]);
}

/// Sets the queue of each DSCP; the others have the lowest queue.
pub fn priorities(state: &mut State, of: &[(u8, u8)]) {
    let route = |name: &str| format!("eeon_ingress.route.{name}");
    let seed = [be(1)];
    state
        .mt_set_default_action(&route("switch_config"), &route("set_ecmp_seed_and_priorities"), &seed)
        .unwrap();
    for (dscp, priority) in of {
        put(state, "choose_priority.dscp_priority", "set_priority", (*dscp).into(), &[(*priority).into()]);
    }
}

/// Permits the neighbour at `port` to pause the queues whose bits are set; a quantum is `quantum_ticks`.
pub fn pausable(state: &mut State, port: u16, priorities: u8, quantum_ticks: u64) {
    put(state, "receive_pause.port_pfc", "obey_pauses", port, &[quantum_ticks << 16, priorities.into()]);
    for priority in (0..8).filter(|priority| priorities >> priority & 1 == 1) {
        put(state, "choose_pausable.pausable_queue", "take_pauses", port << 3 | priority, &[]);
    }
}

/// Returns a pause frame: each priority of `times` with its quanta.
pub fn pause_frame(times: &[(u8, u16)]) -> Vec<u8> {
    let mut frame = vec![1, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 8, 1, 1];
    frame.resize(60, 0);
    for (priority, quanta) in times {
        frame[17] |= 1 << priority;
        let at = 18 + 2 * usize::from(*priority);
        frame[at..at + 2].copy_from_slice(&quanta.to_be_bytes());
    }
    frame
}

/// EEE of one port: times in ticks, triggers in packets and in bytes of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Eee {
    pub sleep: u64,
    pub wake: u64,
    pub stall: u64,
    pub hold: u64,
    pub trigger_packets: u64,
    pub trigger_bytes: u64,
}

/// 1000BASE-T: Ts 182 us, Tw 16.5 us; 120 us or 10 packets. Ticks of 1 ns.
pub const GIGABIT: Eee =
    Eee { sleep: 182_000, wake: 16_500, stall: 0, hold: 120_000, trigger_packets: 10, trigger_bytes: 0 };

/// 10GBASE-T: Ts 2.88 us, Tw 4.48 us; 12 us or 10 packets. Ticks of 1 ns.
pub const TEN_GIGABIT: Eee = Eee { sleep: 2_880, wake: 4_480, hold: 12_000, ..GIGABIT };

/// Returns the ticks of 1 ns that a byte takes at a rate, in 2^-24.
pub fn ticks_per_byte_q24(bps: u64) -> u64 {
    (8_000_000_000 << 24) / bps
}

/// Sets EEE of a port at which a byte takes `ticks_per_byte_q24`.
pub fn eee(state: &mut State, port: u16, eee: Eee, ticks_per_byte_q24: u64) {
    let Eee { sleep, wake, stall, hold, trigger_packets, trigger_bytes } = eee;
    let values = [sleep, wake, stall, hold, trigger_packets, trigger_bytes, ticks_per_byte_q24, 24];
    put(state, "eee_admit.port_eee", "eee", port, &values);
}

/// Writes an entry, over the one of the same key: `table` is control.table, `action` is of the same control, and the key is
/// a port, a queue or a DSCP.
pub fn put(state: &mut State, table: &str, action: &str, key: u16, data: &[u64]) {
    let (control, _) = table.split_once('.').expect("a table is named control.table");
    let (table, action) = (format!("eeon_ingress.{table}"), format!("eeon_ingress.{control}.{action}"));
    let key = [MatchKeyParam::Exact(be(key.into()))];
    let data: Vec<_> = data.iter().map(|value| be(*value)).collect();
    match state.mt_get_entry_from_key(&table, &key, 0).unwrap() {
        Some(entry) => state.mt_modify_entry(&table, entry.handle, &action, &data).unwrap(),
        None => drop(state.mt_add_entry(&table, &key, &action, &data, 0).unwrap()),
    }
}

/// Returns one cell of a register.
pub fn register(state: &State, name: &str, cell: u16) -> u64 {
    let bytes = state.register_read(name, cell.into()).unwrap();
    bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Returns an Ethernet frame of `length` bytes with IPv4 and TCP from 10.0.1.1 to 10.0.`net`.`host`: data if it is
/// longer than 54 bytes, else a pure ACK.
pub fn tcp_frame(net: u8, host: u8, ecn: u8, source_port: u16, length: usize) -> Vec<u8> {
    assert!(length >= 54, "Ethernet, IPv4 and TCP headers take 54 bytes");
    let mut frame = vec![2, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 8, 0];
    let mut ip = vec![0x45, ecn];
    ip.extend(((length - 14) as u16).to_be_bytes());
    ip.extend([0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 1, 1, 10, 0, net, host]);
    let checksum = wire::checksum::internet(&ip);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    frame.extend(ip);
    frame.extend(source_port.to_be_bytes());
    frame.extend([0x1f, 0x90, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    frame.resize(length, 0xa5);
    frame
}

/// Returns the ECN bits of an IPv4 frame.
pub fn ecn_of(frame: &[u8]) -> u8 {
    frame[15] & 3
}
