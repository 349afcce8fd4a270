//! A busy fabric with EEE, coalescing and random marks everywhere has no PHY violations, and gives the same report
//! again, byte for byte.

use std::ops::Range;

use crate::common::{self, eee_values, finish, random_traffic, send, LeafSpine, PortSettings, GIGABIT};
use netsim::spec::{NicEeeSpec, NicSpec};
use netsim::{NicAqm, Report};
use serde_json::json;
use units::{Duration, Time};

/// Marks with a probability that grows from 0 to 1/2, not averaged.
fn red(bytes: Range<u64>) -> (NicAqm, Vec<u64>) {
    let slope = (1_u64 << 47) / (bytes.end - bytes.start);
    common::red(&json!({"min_threshold": bytes.start, "max_threshold": bytes.end, "probability_slope": slope,
                        "protect": "ack_syn"}))
}

/// A busy fabric with everything on.
fn busy(batch: Duration, seed: u64) -> Report {
    let size = LeafSpine {
        leaves: 3,
        hosts_per_leaf: 4,
        eee: true,
        nic: NicSpec {
            eee: Some(NicEeeSpec { hold_ps: 12_000_000, trigger_packets: 10, ..NicEeeSpec::default() }),
            buffer_bytes: Some(100_000),
            aqm: Some(red(5_000..50_000).0),
            ..NicSpec::default()
        },
        ..LeafSpine::default()
    };
    let settings = |rate_bps| PortSettings {
        buffer_bytes: Some(40_000),
        aqm: Some(("red", red(5_000..20_000).1)),
        eee: Some(eee_values(rate_bps, if rate_bps == GIGABIT { 12 } else { 120 }, 10)),
    };
    let mut spec = size.spec();
    spec.seed = seed;
    let mut fabric = size.fabric(spec, settings);
    let mut end = Time::ZERO;
    for (from, at, frame) in random_traffic(&size, 4_000, 1_500_000, 5) {
        while at >= end {
            fabric.run_until(end);
            end += batch;
        }
        send(&mut fabric, from, at, &frame);
    }
    finish(&mut fabric)
}

fn bytes(report: &Report) -> String {
    serde_json::to_string(report).unwrap()
}

#[test]
fn every_phy_of_a_busy_fabric_sleeps_without_a_violation() {
    let report = busy(Duration::from_us(100), 1);
    assert_eq!(report.energy.total.violations, 0);
    assert!(report.energy.total.wakes > 100);
    let layers: Vec<_> = report.energy.layers.keys().copied().collect();
    assert_eq!(layers, ["host_nic", "leaf_to_host", "leaf_to_spine", "spine_to_leaf"]);
    for (name, layer) in &report.energy.layers {
        assert!(layer.ideal_joules < layer.used_joules && layer.used_joules < layer.legacy_joules, "{name}");
        let shares = layer.active_share + layer.sleep_share + layer.lpi_share + layer.wake_share;
        assert!((shares - 1.0).abs() < 1e-9, "{name}");
        let of_layer = report.energy.transmitters.iter().filter(|one| one.layer == *name);
        let transmitting = of_layer.map(|one| one.transmitting_ps).sum::<u64>() as f64;
        let all = (layer.transmitters * report.elapsed_ps) as f64;
        assert!((layer.transmitting_share - transmitting / all).abs() < 1e-9, "{name}");
    }
    let marks: u64 = report.classes.values().map(|class| class.delivered_ce).sum();
    assert!(marks > 0 && report.conservation.delivered > 3_000);
}

#[test]
fn the_same_frames_in_other_batches_give_the_same_report() {
    assert_eq!(bytes(&busy(Duration::from_us(10), 1)), bytes(&busy(Duration::from_ms(50), 1)));
}

#[test]
fn another_seed_draws_other_marks() {
    assert_ne!(bytes(&busy(Duration::from_us(100), 1)), bytes(&busy(Duration::from_us(100), 2)));
}

#[test]
fn another_process_gives_the_same_report() {
    const TO: &str = "NETSIM_TEST_REPORT_TO";
    let report = bytes(&busy(Duration::from_us(100), 1));
    if let Some(path) = std::env::var_os(TO) {
        std::fs::write(path, report).unwrap();
        return;
    }
    let path = std::env::temp_dir().join(format!("netsim-report-{}.json", std::process::id()));
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "repeat::another_process_gives_the_same_report"])
        .env(TO, &path)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let other = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(report, other);
}
