//! Descriptions of workloads, as any bytes and edited. Accepted ones run over a network that only delays.

#[allow(dead_code)] // The judges of the applications use more of it.
#[path = "../../../workload/tests/judges/driver.rs"]
mod driver;

use std::sync::OnceLock;

use serde_json::Value;
use workload::{Outcome, Transfer, Workload};

use crate::input::Input;
use driver::{hosts, Run};

/// Maximum number of events of a run: timers and ends of transfers.
const MAX_STEPS: usize = 3000;
/// Maximum size of a transfer (`docs/models/mapreduce.md`).
const MAX_BYTES: u64 = 1_000_000_000_000_000;
/// The duration of a transfer: of an empty one, and of each byte.
const LATENCY_PS: u64 = 1_000_000_000;
const PS_PER_BYTE: u64 = 8_000;

/// Descriptions to edit: every kind of application, alone and together.
const TEMPLATES: [&str; 9] = [
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
    r#"{"seed": 7, "applications": [{"kind": "flows", "name": "drawn", "rows": true, "warm_up_ps": 100000000, "drawn": {
        "racks": [["h0"], ["h1"]], "pattern": "between_racks", "sizes": {"exponential": {"mean_bytes": 10000}}, "load": 0.3,
        "gaps": {"lognormal": {"sigma": 1.0}}, "duration_ps": 20000000000}},
        {"kind": "flows", "name": "listed", "list": [{"source": "h0", "destination": "h1", "bytes": 1000, "at_ps": 5}]}]}"#,
    r#"{"seed": 8, "applications": [{"kind": "scatter_gather", "name": "queries", "clients": ["h0", "h0"], "racks": [["h1", "h2"]],
        "response_bytes": 20000, "answer_bytes": 300, "mean_interval_ps": 1000000000, "queries": 20, "start_jitter_ps": 1000000}]}"#,
    r#"{"seed": 9, "applications": [{"kind": "phases", "name": "kernel", "ranks": ["h0", "h1", "h0"], "iterations": 5, "noise_sigma": 0.1,
        "connection": "persistent", "steps": [{"compute_ps": 1000000000, "messages": [[0, 1, 1000], [1, 2, 1], [1, 0, 5]]},
        {"messages": []}]}]}"#,
];

/// Runs the target. The input: 1 byte for the number of hosts, 1 for the rate of failing transfers, 1 for the template;
/// then its edits (see `edits`), or, beyond the last template, the description itself.
pub fn workload(bytes: &[u8]) {
    static PARSED: OnceLock<Vec<Value>> = OnceLock::new();
    let parse = |text: &&str| serde_json::from_str(text).expect("the templates are JSON");
    let templates = PARSED.get_or_init(|| TEMPLATES.iter().map(parse).collect());
    let mut input = Input::new(bytes);
    let count = 2 + usize::from(input.u8() % 8);
    let fail_every = usize::from(input.u8());
    let json = match templates.get(usize::from(input.u8()) % (templates.len() + 1)) {
        Some(template) => {
            let mut description = template.clone();
            crate::edits::edit(&mut description, &mut input);
            description.to_string().into_bytes()
        }
        None => input.rest().to_vec(),
    };
    match Workload::from_json(&json, &hosts(count)) {
        Ok(workload) => run(workload, count, fail_every),
        Err(error) => {
            let said = error.to_string();
            assert!(!said.is_empty() && said.len() < json.len() + 4096, "an error of {} bytes", said.len());
        }
    }
}

/// Runs until no events are left, or for the maximum number of steps. Of the transfers, every `fail_every`th fails.
fn run(workload: Workload, hosts: usize, fail_every: usize) {
    let mut begun = 0;
    let mut network = |_: u64, transfer: &Transfer| {
        assert!((1..=MAX_BYTES).contains(&transfer.request_bytes));
        assert!(transfer.response_bytes <= MAX_BYTES);
        begun += 1;
        let fails = fail_every > 0 && begun % fail_every == 0;
        let takes = LATENCY_PS + PS_PER_BYTE * (transfer.request_bytes + transfer.response_bytes);
        (takes, if fails { Outcome::Failed } else { Outcome::Finished })
    };
    let mut run = Run::of(workload, hosts);
    for _ in 0..MAX_STEPS {
        if !run.step(&mut network) {
            assert!(run.workload.is_finished(), "nothing is left to happen, and it has not finished");
            break;
        }
    }
    for frame in &run.frames {
        assert!((14..=65_535).contains(&frame.bytes), "a frame of {} bytes", frame.bytes);
    }
    let finished = run.workload.finished_at();
    assert_eq!(finished.is_some(), run.workload.is_finished());
    assert!(finished.is_none_or(|at| at.as_ps() <= run.now), "it finished in the future");
    serde_json::to_string(&run.workload.report()).expect("a report is JSON");
}
