//! E-EON's own program: entries like those of a controller, and conditions on its counts. `wire`, an independent
//! implementation, verifies its classes.

use std::collections::BTreeMap;

use bm::{MatchKeyParam, State};
use simple_switch::{DropCause, Switch, MAX_FRAME_BYTES};

use crate::calls::{Op, EVERYTHING};

/// Its index in [`crate::programs::sources`].
pub(crate) const PROGRAM: usize = 0;
pub(crate) const GATE: &str = "gate_open_at";
pub(crate) const CPU_PORT: u16 = 510;
/// `packet_class_t.CONTROL`, the last class.
const CONTROL: u8 = 7;
/// Ports that the entries lead to, and whose byte account is checked.
const PORTS: std::ops::RangeInclusive<u16> = 1..=4;
/// The ports that inputs can name and that may be attached.
const LIKELY_PORTS: [u16; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, CPU_PORT];

fn be(value: u64) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

/// Configures routes to 10.0.n.0/24 and fd00:n::/32 through port n, to 10.0.5.0/24 through all ports, and to
/// 10.0.6.0/24 through the controller. Each port has a different AQM; ports 3 and 4 have EEE.
pub(crate) fn configure(state: &mut State) {
    let done = "the entries suit the program";
    // All ports accept frames for any station; port 1 excludes one station.
    let own = [MatchKeyParam::Exact(be(1)), MatchKeyParam::Exact(be(0x0201_0000_0002))];
    state
        .mt_add_entry("eeon_ingress.admit.l3_admit", &own, "eeon_ingress.admit.not_admitted", &[], 0)
        .expect(done);
    let to_l3 = "eeon_ingress.admit.admit_to_l3";
    state.mt_set_default_action("eeon_ingress.admit.l3_admit", to_l3, &[]).expect(done);
    let selector = "eeon_ingress.route.ecmp_selector";
    let route = |name: &str| format!("eeon_ingress.route.{name}");
    let all = state.mt_act_prof_create_group(selector).expect(done);
    let lpm = |state: &mut State, table: &str, prefix: Vec<u8>, bits: u32, member: u64| {
        let key = [MatchKeyParam::Lpm(prefix, bits)];
        state.mt_indirect_add_entry(&route(table), &key, member, 0).expect(done);
    };
    for port in PORTS {
        let number = port as u8;
        let data = [be(port.into()), be(0x0201_0000_0001), be(0x0200_0000_0100 + u64::from(port))];
        let member = state.mt_act_prof_add_member(selector, &route("forward"), &data).expect(done);
        state.mt_act_prof_add_member_to_group(selector, member, all, None).expect(done);
        lpm(state, "ipv4_route", vec![10, 0, number, 0], 24, member);
        let prefix = [&[0xfd, 0, 0, number][..], &[0; 12]].concat();
        lpm(state, "ipv6_route", prefix, 32, member);
    }
    let key = [MatchKeyParam::Lpm(vec![10, 0, 5, 0], 24)];
    state.mt_indirect_ws_add_entry(&route("ipv4_route"), &key, all, 0).expect(done);
    let to_cpu = state.mt_act_prof_add_member(selector, &route("to_cpu"), &[]).expect(done);
    lpm(state, "ipv4_route", vec![10, 0, 6, 0], 24, to_cpu);

    let mut add = |table: &str, port: u64, action: &str, data: &[u64]| {
        let key = [MatchKeyParam::Exact(be(port))];
        let data: Vec<_> = data.iter().map(|value| be(*value)).collect();
        state.mt_add_entry(table, &key, action, &data, 0).expect(done);
    };
    let aqm = "eeon_ingress.aqm.port_aqm";
    add(aqm, 2, "eeon_ingress.aqm.mark_threshold", &[3000, 1000, 0]);
    add(aqm, 3, "eeon_ingress.aqm.red", &[1000, 5000, 1 << 36, 0, 2, 1, 1, 40_000, 20, 0]);
    add(aqm, 4, "eeon_ingress.aqm.mark_threshold", &[3000, 3000, 1]);
    add("eeon_ingress.buffer_limit.port_buffer", 2, "eeon_ingress.buffer_limit.set_buffer_limit", &[20_000]);
    let eee = "eeon_ingress.eee_admit.port_eee";
    let action = "eeon_ingress.eee_admit.eee";
    add(eee, 3, action, &[182_000, 16_500, 0, 120_000, 10, 0, 8 << 24, 24]);
    add(eee, 4, action, &[2880, 4480, 1000, 0, 0, 0, 8 << 24, 24]);
}

/// The expected values of the program's registers and counters, as long as only packets have written them.
pub(crate) struct ExpectedCounts {
    by_gate: bool,
    untouched: bool,
    received: BTreeMap<(u16, u8), u64>,
}

impl ExpectedCounts {
    pub(crate) fn new(by_gate: bool) -> Self {
        Self { by_gate, untouched: true, received: BTreeMap::new() }
    }

    /// Counts a frame that is about to arrive.
    pub(crate) fn packet(&mut self, switch: &Switch, port: u16, frame: &[u8]) {
        let attached = switch.config().ports.iter().any(|p| p.port == port);
        // A packet-out starts with a header that `wire` does not know.
        if attached && port != CPU_PORT && frame.len() <= MAX_FRAME_BYTES {
            *self.received.entry((port, class_of(frame))).or_default() += 1;
        }
    }

    /// Records a call that has been made.
    pub(crate) fn call(&mut self, op: &Op) {
        self.untouched &= !matches!(op.kind, "register" | "counter" | EVERYTHING);
    }

    /// Records that a program has been loaded.
    pub(crate) fn reloaded(&mut self) {
        self.untouched = false;
    }

    /// Checks after every event that the program's byte and packet account matches the queues.
    pub(crate) fn check_queues(&self, switch: &Switch) {
        let stats = switch.stats();
        let lost_in_queues = stats.drops.total() - stats.drops.get(DropCause::Ingress);
        if !self.untouched || !self.by_gate || lost_in_queues > 0 || stats.recirculated > 0 {
            return;
        }
        for port in PORTS {
            let (packets, bytes) = (switch.queue_packets(port) as u64, switch.queue_bytes(port).get());
            assert_eq!(cell(switch, "occupancy_packets", port), packets, "port {port}");
            assert_eq!(cell(switch, "occupancy_bytes", port), bytes, "port {port}");
        }
    }

    /// Checks an idle switch: each packet was counted in its class, and has a verdict or is queued.
    pub(crate) fn check_counters(&self, switch: &Switch) {
        if !self.untouched {
            return;
        }
        let count = |counter: &str, index: u16| {
            let cell = switch.state().read_counters(counter, index.into());
            cell.expect("each port has its cells").packets
        };
        let mut received = 0;
        for port in LIKELY_PORTS {
            for class in 0..=CONTROL {
                let counted = count("received", port << 3 | u16::from(class));
                received += counted;
                if port != CPU_PORT {
                    let expected = self.received.get(&(port, class)).copied().unwrap_or(0);
                    assert_eq!(counted, expected, "class {class} received on port {port}");
                }
            }
        }
        let stats = switch.stats();
        if stats.drops.total() == stats.drops.get(DropCause::Ingress) {
            let decided = |port: u16| {
                let verdicts: u64 = (0..128).map(|at| count("verdicts", port << 7 | at)).sum();
                verdicts + cell(switch, "occupancy_packets", port)
            };
            let decided: u64 = LIKELY_PORTS.into_iter().chain([511]).map(decided).sum();
            assert_eq!(received, decided, "packets received, and those with a verdict or in a queue");
        }
    }
}

/// Returns the class in which the program must count a frame. `wire` does not know MAC control frames, which do not
/// come from hosts.
fn class_of(frame: &[u8]) -> u8 {
    if frame.get(12..14) == Some(&[0x88, 0x08]) {
        CONTROL
    } else {
        wire::classify(frame) as u8
    }
}

/// Returns a port's cell of a register.
fn cell(switch: &Switch, register: &str, port: u16) -> u64 {
    let bytes = switch.state().register_read(register, port.into()).expect("each port has a cell");
    bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
