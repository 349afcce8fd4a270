//! Descriptions of workloads, as any bytes and edited. Accepted ones run over a network that only delays.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::OnceLock;

use serde_json::Value;
use units::{Bytes, DataRate, Duration, Time};
use workload::{Action, Connection, HostInfo, Outcome, TransferId, Workload};

use crate::input::Input;

/// Maximum number of events of a run: timers and ends of transfers.
const MAX_STEPS: usize = 3000;
/// Maximum size of a transfer (`docs/models/mapreduce.md`).
const MAX_BYTES: u64 = 1_000_000_000_000_000;

/// Descriptions to edit: every kind of application, alone and together.
pub(crate) const TEMPLATES: [&str; 6] = [
    r#"{"seed": 1, "applications": [{"kind": "mapreduce", "name": "cluster", "parallel_fetches": 3, "heartbeat_ps": 100000000000,
        "noise_sigma": 0.1, "slowstart": 0.05, "locality": {"replicas": 2}, "jobs": [
        {"name": "a", "maps": 6, "reducers": 4, "input_bytes": 64000000, "shuffle_bytes": 64000000, "output_bytes": 64000000},
        {"name": "b", "arrival_ps": 5000000000, "maps": 2, "reducers": 1, "input_bytes": 1000, "shuffle_bytes": 3,
         "output_bytes": 0, "cost": {"map_cycles_per_byte": 40.0}}]}]}"#,
    r#"{"seed": 2, "applications": [{"kind": "coflows", "name": "trace", "coflows": [
        {"name": "1", "at_ps": 1000, "transfers": [{"source": "h0", "destination": "h1", "bytes": 1000000},
                                                   {"source": "h1", "destination": "h0", "bytes": 1}]},
        {"name": "2", "transfers": []}]}]}"#,
    r#"{"seed": 3, "tcp": {"algorithm": "dctcp"}, "applications": [{"kind": "incast", "name": "queries", "client": "h0", "servers": ["h1"],
        "bytes_per_server": 20000, "rounds": 20, "think_ps": 1000000000, "connection": "persistent"}]}"#,
    r#"{"seed": 4, "applications": [{"kind": "rpc", "name": "probes", "random_pairs": 3, "request_bytes": 100, "response_bytes": 2000,
        "mean_interval_ps": 1000000000, "connection": "new", "duration_ps": 50000000000}]}"#,
    r#"{"seed": 5, "applications": [{"kind": "poisson", "name": "frames", "duration_ps": 1000000000,
        "flows": [{"source": "h0", "destination": "h1", "load": 0.1, "frame_bytes": 1476}]}]}"#,
    r#"{"seed": 6, "applications": [
        {"kind": "rpc", "name": "probes", "background": true, "pairs": [["h0", "h1"], ["h1", "h0"]], "request_bytes": 1,
         "response_bytes": 1, "mean_interval_ps": 1000000000, "connection": "persistent"},
        {"kind": "incast", "name": "once", "client": "h1", "servers": ["h0"], "bytes_per_server": 1, "rounds": 1},
        {"kind": "mapreduce", "name": "cluster", "reserved": 0, "output_replication": 2, "jobs": [
         {"name": "a", "maps": 3, "reducers": 2, "input_bytes": 3000, "shuffle_bytes": 3000, "output_bytes": 3000}]}]}"#,
];

/// Runs the target. The input: 1 byte for the number of hosts, 1 for the rate of failing transfers, 1 for the template;
/// then its edits (see `edits`), or, beyond the last template, the description itself.
pub fn workload(bytes: &[u8]) {
    static PARSED: OnceLock<Vec<Value>> = OnceLock::new();
    let parse = |text: &&str| serde_json::from_str(text).expect("the templates are JSON");
    let templates = PARSED.get_or_init(|| TEMPLATES.iter().map(parse).collect());
    let mut input = Input::new(bytes);
    let hosts = hosts(2 + usize::from(input.u8() % 8));
    let fail_every = usize::from(input.u8());
    let json = match templates.get(usize::from(input.u8()) % (templates.len() + 1)) {
        Some(template) => {
            let mut description = template.clone();
            crate::edits::edit(&mut description, &mut input);
            description.to_string().into_bytes()
        }
        None => input.rest().to_vec(),
    };
    match Workload::from_json(&json, &hosts) {
        Ok(workload) => Run::new(workload, hosts.len() as u32, fail_every).run(),
        Err(error) => {
            let said = error.to_string();
            assert!(!said.is_empty() && said.len() < json.len() + 4096, "an error of {} bytes", said.len());
        }
    }
}

fn hosts(count: usize) -> Vec<HostInfo> {
    let (rate, overhead) = (DataRate::from_bps(1_000_000_000), Bytes::new(24));
    (0..count).map(|number| HostInfo { name: format!("h{number}"), rate, overhead }).collect()
}

/// A workload and the transfers in flight.
struct Run {
    workload: Workload,
    hosts: u32,
    fail_every: usize,
    now: Time,
    started: usize,
    ends: BinaryHeap<Reverse<(Time, usize, TransferId)>>,
    /// The hosts of each shared connection.
    shared: BTreeMap<(u32, u32), (u32, u32)>,
}

impl Run {
    fn new(workload: Workload, hosts: u32, fail_every: usize) -> Self {
        let (ends, shared) = (BinaryHeap::new(), BTreeMap::new());
        Self { workload, hosts, fail_every, now: Time::ZERO, started: 0, ends, shared }
    }

    /// Runs until no events are left, or for the maximum number of steps.
    fn run(mut self) {
        self.workload.start(self.now);
        self.carry_out();
        for _ in 0..MAX_STEPS {
            let timer = self.workload.next_timeout();
            let end = self.ends.peek().map(|Reverse((at, ..))| *at);
            match (timer, end) {
                (None, None) => {
                    assert!(
                        self.workload.is_finished(),
                        "nothing is left to happen, and it has not finished"
                    );
                    break;
                }
                (Some(timer), end) if end.is_none_or(|end| timer <= end) => {
                    assert!(timer >= self.now, "a timer in the past");
                    self.now = timer;
                    self.workload.handle_timeout(timer);
                    assert!(
                        self.workload.next_timeout().is_none_or(|next| next > timer),
                        "a timer that was due"
                    );
                }
                _ => self.end_transfer(),
            }
            self.carry_out();
        }
        let finished = self.workload.finished_at();
        assert_eq!(finished.is_some(), self.workload.is_finished());
        assert!(finished.is_none_or(|at| at <= self.now), "it finished in the future");
        serde_json::to_string(&self.workload.report()).expect("a report is JSON");
    }

    fn end_transfer(&mut self) {
        let Reverse((at, number, id)) = self.ends.pop().expect("a transfer is under way");
        self.now = at;
        let fails = self.fail_every > 0 && number % self.fail_every == 0;
        let outcome = if fails { Outcome::Failed } else { Outcome::Finished };
        self.workload.handle_transfer(at, id, outcome);
    }

    fn carry_out(&mut self) {
        while let Some(action) = self.workload.poll_action() {
            match action {
                Action::Transfer(transfer) => {
                    self.check_ends(transfer.from, transfer.to);
                    assert!((1..=MAX_BYTES).contains(&transfer.request_bytes));
                    assert!(transfer.response_bytes <= MAX_BYTES);
                    if let Connection::Shared(number) = transfer.connection {
                        self.check_shared(transfer.id.application, number, transfer.from, transfer.to);
                    }
                    self.started += 1;
                    let nanoseconds = 8 * (transfer.request_bytes + transfer.response_bytes);
                    let takes =
                        Duration::from_us(1000).as_ps().saturating_add(nanoseconds.saturating_mul(1000));
                    let at = self.now.saturating_add(Duration::from_ps(takes));
                    self.ends.push(Reverse((at, self.started, transfer.id)));
                }
                Action::Open { application, connection, from, to } => {
                    self.check_ends(from, to);
                    self.check_shared(application, connection, from, to);
                }
                // Only drivers that schedule groups need their ends.
                Action::GroupEnds { .. } => {}
                Action::Frame { from, to, frame_bytes, .. } => {
                    self.check_ends(from, to);
                    assert!((14..=65_535).contains(&frame_bytes), "a frame of {frame_bytes} bytes");
                }
            }
        }
    }

    fn check_ends(&self, from: u32, to: u32) {
        assert!(from < self.hosts && to < self.hosts && from != to, "from {from} to {to}");
    }

    fn check_shared(&mut self, application: u32, connection: u32, from: u32, to: u32) {
        let ends = *self.shared.entry((application, connection)).or_insert((from, to));
        assert_eq!(ends, (from, to), "connection {connection} has other ends");
    }
}
