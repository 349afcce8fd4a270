//! The slowdown of flows: completion time over the minimum time that the path allows, in fabrics that run the compiled P4 program.

use crate::common::{marking, start_workload, LeafSpine, PortSettings, PLAIN};
use netsim::HostDelaySpec;
use proptest::prelude::*;
use serde_json::{json, Value};
use units::{Bytes, DataRate, Time};

const LIMIT: Time = Time::from_ps(10_000_000_000_000_000);

/// Returns the rows of all flows that have ended.
fn rows(
    size: &LeafSpine,
    delay: HostDelaySpec,
    tcp: &Value,
    port: &PortSettings,
    flows: Value,
) -> Vec<Value> {
    let mut spec = size.spec();
    spec.host_delay = delay;
    let mut fabric = size.fabric(spec, |_| port.clone());
    let mut application = json!({"kind": "flows", "name": "f", "rows": true});
    application.as_object_mut().unwrap().extend(flows.as_object().unwrap().clone());
    start_workload(&mut fabric, tcp, &json!([application]));
    assert!(fabric.run_workload(LIMIT), "flows do not end");
    let report = serde_json::to_value(fabric.report().unwrap()).unwrap();
    let rows = report["workload"]["applications"][0]["rows"].as_array().unwrap();
    rows.iter().filter(|row| !row["completion_ps"].is_null()).cloned().collect()
}

fn fabrics() -> impl Strategy<Value = LeafSpine> {
    let rate =
        || prop_oneof![Just(100_000_000), Just(1_000_000_000), Just(10_000_000_000), Just(25_000_000_000)];
    (1_usize..4, 1_usize..4, 1_usize..3, rate(), rate(), 0_u64..20_000_000).prop_map(
        |(leaves, hosts_per_leaf, spines, host_bps, uplink_bps, delay_ps)| LeafSpine {
            leaves,
            hosts_per_leaf: hosts_per_leaf + usize::from(leaves == 1),
            spines,
            host_bps,
            uplink_bps,
            delay_ps,
            ..LeafSpine::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_flow_alone_whose_window_covers_the_path_takes_the_ideal_to_one_frame(
        size in fabrics(),
        ends in any::<[prop::sample::Index; 2]>(),
        bytes in prop_oneof![1_u64..3_000, 1_u64..1_000_000],
        delays in [0_u64..100, 0_u64..100, 0_u64..100],
        mss in prop_oneof![Just(536), Just(1460), Just(8960)],
        timestamps in prop_oneof![Just(Value::Null), Just(json!(1_000_000_000))],
    ) {
        let from = ends[0].index(size.host_count());
        let to = (from + 1 + ends[1].index(size.host_count() - 1)) % size.host_count();
        // The first window is at most 65,535 bytes: those of SYNs are not scaled (RFC 7323, 2.2). With four links each way and a frame in
        // each, propagation and hosts may take what 15 kB take on the slowest link.
        let rack = |host: usize| host / size.hosts_per_leaf;
        let slowest = DataRate::from_bps(if rack(from) == rack(to) { size.host_bps } else { size.host_bps.min(size.uplink_bps) });
        let span = slowest.transmit_time(Bytes::new(15_000)).as_ps() / 1_600;
        let size = LeafSpine { delay_ps: span * delays[0], ..size };
        let delay = HostDelaySpec { tx_ps: 4 * span * delays[1], rx_ps: 4 * span * delays[2] };
        let tcp = json!({"mss": mss, "timestamps_ps": timestamps, "initial_window_segments": 4000});
        let flow = json!({"source": format!("h{}", from + 1), "destination": format!("h{}", to + 1), "bytes": bytes, "at_ps": 7});
        let row = &rows(&size, delay, &tcp, &PLAIN, json!({"list": [flow]}))[0];
        let [took, ideal] = ["completion_ps", "ideal_ps"].map(|key| row[key].as_u64().unwrap());
        let frame = slowest.transmit_time(Bytes::new(mss + 78)).as_ps();
        prop_assert!((ideal..=ideal + frame).contains(&took), "{took} for {ideal} and a frame of {frame}");
    }

    #[test]
    fn no_flow_is_faster_than_its_path_allows(
        size in fabrics(),
        load in 0.05_f64..0.9,
        mean in 500.0_f64..100_000.0,
        tcp in prop_oneof![Just("newreno"), Just("dctcp"), Just("cubic")],
        threshold in 1_500_u64..100_000,
        buffer in prop_oneof![Just(None), (10_000_u32..200_000).prop_map(Some)],
    ) {
        let hosts = |leaf: usize| (1..=size.hosts_per_leaf).map(|host| format!("h{}", leaf * size.hosts_per_leaf + host)).collect();
        let racks: Vec<Vec<String>> = (0..size.leaves).map(hosts).collect();
        let seconds = 200.0 * 8.0 * mean / (load * size.host_bps as f64 * size.host_count() as f64);
        let drawn = json!({"racks": racks, "pattern": "all_to_all", "sizes": {"exponential": {"mean_bytes": mean}},
                           "load": load, "duration_ps": (seconds * 1e12) as u64});
        let port = PortSettings { buffer_bytes: buffer, ..marking(threshold) };
        let tcp = json!({"algorithm": tcp, "ecn": true, "min_rto_ps": 10_000_000_000_u64});
        let rows = rows(&size, HostDelaySpec::default(), &tcp, &port, json!({"drawn": drawn}));
        prop_assert!(rows.len() > 50);
        for row in rows {
            prop_assert!(row["completion_ps"].as_u64() >= row["ideal_ps"].as_u64() && !row["ideal_ps"].is_null(), "{row}");
        }
    }
}

#[test]
fn slow_start_alone_takes_the_round_trips_that_its_closed_form_has() {
    // 10 segments, then 20 and 40: 70 in all, at 10 Gb/s with 100 us of propagation each way over two links. All of a window's ACKs
    // are under way at once, so the last segment's window begins two round trips after the first.
    let size =
        LeafSpine { leaves: 1, host_bps: 10_000_000_000, delay_ps: 50_000_000, ..LeafSpine::default() };
    let flow = json!({"source": "h1", "destination": "h2", "bytes": 70 * 1460, "at_ps": 0});
    let tcp = json!({"initial_window_segments": 10, "delayed_ack": null});
    let row = &rows(&size, HostDelaySpec::default(), &tcp, &PLAIN, json!({"list": [flow]}))[0];
    let [took, ideal] = ["completion_ps", "ideal_ps"].map(|key| row[key].as_u64().unwrap());
    let frame = 1_230_400;
    let (data, ack) = (2 * frame + 100_000_000, 2 * 67_200 + 100_000_000);
    let syn = 2 * 72_000 + 100_000_000;
    assert_eq!(ideal, 2 * syn + data + 69 * frame);
    // Each ACK lets two segments out: the window after the next ends 40 frames behind its first.
    assert_eq!(took, 2 * syn + 2 * (data + ack) + data + 39 * frame);
}
