//! The same flows here and on ns-3: each algorithm with one flow, with eight flows into one port, and with all to all.
//!
//! `NS3_FLOWS=program cargo test --test it ns3 -- --ignored --nocapture` prints both side by side; the program is
//! `flows.cc`, which `make validate` builds. Without it, only the bounds of our own side are tested.

#![allow(clippy::print_stdout)] // The table is the result.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::{finish, start_flows, LeafSpine, PortSettings, PLAIN};
use serde_json::Value;
use tcp::{Config, DelayedAck};
use units::{Bytes, Duration};

const ALGORITHMS: [&str; 4] = ["ecn", "dctcp", "cubic", "vegas"];
/// Pattern, hosts, bytes of a flow.
const PATTERNS: [(&str, usize, u64); 3] =
    [("one", 2, 10_000_000), ("incast", 9, 2_000_000), ("all", 8, 500_000)];

/// Permitted difference of the mean and of the last completion, relative to the larger one.
const MEAN_BAND: f64 = 0.17;
const LAST_BAND: f64 = 0.12;

/// Frames of a full segment in bytes, as the switch's queue counts them.
const FRAME: u64 = 1_514;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    mean_us: f64,
    last_us: f64,
    marks: u64,
    drops: u64,
    retransmissions: u64,
    timeouts: u64,
}

fn config(name: &str) -> Config {
    Config {
        receive_buffer: Some(Bytes::new(1 << 20)),
        delayed_ack: Some(DelayedAck { segments: 2, timer: Duration::from_ms(1) }),
        initial_rto: Duration::from_ms(20),
        syn_lost_rto: Duration::from_ms(20),
        min_rto: Duration::from_ms(10),
        slow_start_limit: None,
        prr: true,
        ..name.parse().unwrap()
    }
}

fn pairs(pattern: &str, hosts: usize) -> Vec<(usize, usize)> {
    match pattern {
        "one" => vec![(1, 0)],
        "incast" => (1..hosts).map(|host| (host, 0)).collect(),
        _ => (0..hosts)
            .flat_map(|from| (0..hosts).map(move |to| (from, to)))
            .filter(|(from, to)| from != to)
            .collect(),
    }
}

fn ours(name: &str, pattern: &str, hosts: usize, bytes: u64) -> Outcome {
    let marks = matches!(name, "ecn" | "dctcp");
    let delay_ps = Duration::from_us(20).as_ps();
    let size = LeafSpine { leaves: 1, hosts_per_leaf: hosts, spines: 0, delay_ps, ..LeafSpine::default() };
    let aqm = marks.then(|| ("mark_threshold", vec![20 * FRAME, 0xffff_ffff, 0]));
    let port = PortSettings { buffer_bytes: Some(100 * FRAME as u32), aqm, ..PLAIN };
    let mut fabric = size.fabric(size.spec(), |_| port.clone());
    let flows = (1..).zip(pairs(pattern, hosts)).map(|(number, (from, to))| (from, to, bytes, 11 * number));
    start_flows(&mut fabric, &config(name), flows);
    let report = finish(&mut fabric);
    let times: Vec<f64> =
        report.flows.iter().map(|flow| flow.completion_ps.expect("a flow that ends") as f64 / 1e6).collect();
    Outcome {
        mean_us: times.iter().sum::<f64>() / times.len() as f64,
        last_us: times.iter().copied().fold(0.0, f64::max),
        marks: report.classes.values().map(|class| class.delivered_ce).sum(),
        drops: report.conservation.switch_drops,
        retransmissions: report.flows.iter().map(|flow| flow.retransmitted_segments).sum(),
        timeouts: report.flows.iter().map(|flow| flow.timeouts).sum(),
    }
}

fn theirs(program: &str, name: &str, pattern: &str, hosts: usize, bytes: u64) -> Outcome {
    let marks = matches!(name, "ecn" | "dctcp");
    let settings = [
        ("hosts", hosts as u64),
        ("delay_ps", Duration::from_us(20).as_ps()),
        ("buffer_bytes", 100 * FRAME),
        ("threshold_bytes", if marks { 20 * FRAME } else { 0 }),
        // With classic ECN the P4 program lets SYNs and ACKs pass, which ns-3's RED drops.
        ("drop_not_ect", u64::from(name == "dctcp")),
        ("window_bytes", 1 << 20),
        ("min_rto_ps", Duration::from_ms(10).as_ps()),
        ("initial_rto_ps", Duration::from_ms(20).as_ps()),
        ("delayed_ack_ps", Duration::from_ms(1).as_ps()),
        ("limit_ps", Duration::from_ms(20_000).as_ps()),
    ];
    let mut child = Command::new(program)
        .arg(format!("algorithm={name}"))
        .args(settings.map(|(key, value)| format!("{key}={value}")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("NS3_FLOWS names a program");
    let mut list = child.stdin.take().unwrap();
    for (index, (source, destination)) in pairs(pattern, hosts).into_iter().enumerate() {
        let start = Duration::from_us(11 * (index as u64 + 1)).as_ps();
        writeln!(list, "{source} {destination} {bytes} {start} 1").unwrap();
    }
    drop(list);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}, {pattern}: {}", output.status);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let times = said["completion_ps"].as_array().unwrap().iter();
    let times: Vec<f64> = times.map(|ps| ps.as_f64().expect("a flow that ends") / 1e6).collect();
    let count = |value: &Value| value.as_u64().unwrap();
    Outcome {
        mean_us: times.iter().sum::<f64>() / times.len() as f64,
        last_us: times.iter().copied().fold(0.0, f64::max),
        marks: count(&said["host_facing"]["marked"]),
        drops: count(&said["host_facing"]["dropped"]),
        retransmissions: count(&said["retransmissions"]),
        timeouts: count(&said["timeouts"]),
    }
}

/// What a port of 1 Gb/s lets through at most, and half of it.
#[test]
fn every_pattern_ends_between_the_rate_of_its_ports_and_half_of_it() {
    for name in ALGORITHMS {
        for (pattern, hosts, bytes) in PATTERNS {
            let flows_of_a_port = if pattern == "one" { 1 } else { hosts as u64 - 1 };
            let least_us = (flows_of_a_port * bytes) as f64 / 1_460.0 * 12.304;
            let last_us = ours(name, pattern, hosts, bytes).last_us;
            assert!(
                last_us > least_us && last_us < 2.0 * least_us,
                "{name}, {pattern}: {last_us} of {least_us}"
            );
        }
    }
}

#[test]
#[ignore = "needs NS3_FLOWS=program built of flows.cc"]
fn side_by_side() {
    let program = std::env::var("NS3_FLOWS").expect("NS3_FLOWS names the program built of flows.cc");
    let mut outside = Vec::new();
    for (pattern, hosts, bytes) in PATTERNS {
        for name in ALGORITHMS {
            let (ours, theirs) =
                (ours(name, pattern, hosts, bytes), theirs(&program, name, pattern, hosts, bytes));
            let apart = |ours: f64, theirs: f64| (ours - theirs).abs() / ours.max(theirs);
            let (mean, last) = (apart(ours.mean_us, theirs.mean_us), apart(ours.last_us, theirs.last_us));
            if mean > MEAN_BAND || last > LAST_BAND {
                outside.push(format!("{pattern}, {name}: {mean:.3} and {last:.3} apart"));
            }
            for (whose, one) in [("ours", &ours), ("ns-3", &theirs)] {
                let Outcome { mean_us, last_us, marks, drops, retransmissions, timeouts } = one;
                println!(
                    "| {pattern} | `{name}` | {whose} | {:.1} | {:.1} | {marks} | {drops} | {retransmissions} | {timeouts} |",
                    mean_us / 1e3,
                    last_us / 1e3
                );
            }
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
}
