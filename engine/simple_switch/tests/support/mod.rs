//! Shared by the integration tests: the probe program's packets and reports. Not a test.

use std::sync::Arc;

use bm::{Executable, Program};
use simple_switch::{PortConfig, Switch, SwitchConfig, Transmit};
use units::{Duration, Time};

#[allow(dead_code)] // The benches and the tests of fabrics use more of it.
pub mod eeon;

/// `op_t` of probe.p4.
pub mod op {
    pub const FORWARD: u8 = 0;
    pub const INGRESS_DROP: u8 = 1;
    pub const EGRESS_DROP: u8 = 2;
    pub const RECIRCULATE: u8 = 3;
    pub const RESUBMIT: u8 = 4;
    pub const MULTICAST: u8 = 5;
    pub const CLONE_INGRESS: u8 = 6;
    pub const CLONE_EGRESS: u8 = 7;
    pub const DIGEST: u8 = 9;
    pub const TRUNCATE: u8 = 10;
    pub const RANDOM: u8 = 12;
    pub const GATE: u8 = 14;
    pub const CLONE_FOR_EVER: u8 = 15;
    pub const ASSERT: u8 = 18;
}

/// Bytes of `request_t` and `report_t`.
pub const REQUEST_BYTES: usize = 10;
pub const REPORT_BYTES: usize = 56;

pub fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

pub fn ps(ps: u64) -> Time {
    Time::from_ps(ps)
}

/// Returns the probe program, loaded once.
pub fn probe() -> Arc<Executable> {
    static PROGRAM: std::sync::OnceLock<Arc<Executable>> = std::sync::OnceLock::new();
    let load =
        || Executable::new(Program::from_json(include_bytes!("../p4/probe.json")).expect("probe.json loads"));
    Arc::clone(PROGRAM.get_or_init(load))
}

/// Returns ports 0 to 7 without rate or limit.
pub fn unlimited() -> SwitchConfig {
    SwitchConfig { ports: (0..8).map(PortConfig::unlimited).collect(), ..SwitchConfig::default() }
}

pub fn switch_with(change: impl FnOnce(&mut SwitchConfig)) -> Switch {
    let mut config = unlimited();
    change(&mut config);
    Switch::new(probe(), config).expect("the configuration is sound")
}

/// A request packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    pub op: u8,
    pub count: u8,
    pub port: u16,
    pub argument: u16,
    pub priority: u8,
    pub payload: usize,
}

impl Request {
    pub fn to(port: u16) -> Self {
        Self { port, payload: 20, ..Self::default() }
    }

    pub fn op(op: u8) -> Self {
        Self { op, ..Self::to(1) }
    }

    pub fn bytes(self) -> Vec<u8> {
        let mut bytes = vec![self.op, self.count];
        bytes.extend(self.port.to_be_bytes());
        bytes.extend(self.argument.to_be_bytes());
        bytes.extend([self.priority, 0, 0, 0]);
        bytes.extend((0..self.payload).map(|n| n as u8));
        bytes
    }
}

/// Most of a report packet, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub port: u16,
    pub ingress_port: u64,
    pub egress_rid: u64,
    pub parser_error: u64,
    pub ingress_global_timestamp: u64,
    pub egress_global_timestamp: u64,
    pub enq_timestamp: u64,
    pub enq_qdepth: u64,
    pub deq_timedelta: u64,
    pub deq_qdepth: u64,
    /// The request and the payload that follow the report.
    pub rest: Vec<u8>,
}

impl Report {
    pub fn of(transmit: &Transmit) -> Self {
        let number = |at: usize, bytes: usize| {
            transmit.frame[at..at + bytes].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        Self {
            port: transmit.port,
            ingress_port: number(0, 2),
            egress_rid: number(12, 2),
            parser_error: number(14, 2),
            ingress_global_timestamp: number(20, 8),
            egress_global_timestamp: number(28, 8),
            enq_timestamp: number(36, 4),
            enq_qdepth: number(40, 4),
            deq_timedelta: number(44, 4),
            deq_qdepth: number(48, 4),
            rest: transmit.frame[REPORT_BYTES..].to_vec(),
        }
    }
}

/// Returns all frames that the switch has to send now.
pub fn transmits(switch: &mut Switch) -> Vec<Transmit> {
    std::iter::from_fn(|| switch.poll_transmit()).collect()
}

/// Returns the reports of all frames that the switch has to send now.
pub fn reports(switch: &mut Switch) -> Vec<Report> {
    transmits(switch).iter().map(Report::of).collect()
}

/// Runs until the switch has no more events up to `limit`.
pub fn run_to_idle(switch: &mut Switch, limit: Time) {
    while let Some(at) = switch.next_wakeup().filter(|at| *at <= limit) {
        switch.handle_wakeup(at);
    }
}

/// Sends one request into port 0 and returns the resulting reports up to `limit`.
pub fn ask(switch: &mut Switch, now: Time, request: Request) -> Vec<Report> {
    switch.handle_packet(now, 0, &request.bytes(), 42);
    run_to_idle(switch, Time::MAX);
    assert!(switch.stats().is_balanced(), "{:?}", switch.stats());
    reports(switch)
}
