//! Coflows in closed form: all transfers of a coflow begin at its start time, and it completes with the last one.

use proptest::prelude::*;
use serde_json::json;
use workload::{Connection, Outcome, Transfer};

use super::driver::{describe, hash, run, run_evenly};

/// Start time, and transfers: source, distance of the destination from it, bytes.
type Coflow = (u64, Vec<(usize, usize, u64)>);

#[test]
fn the_transfers_of_a_coflow_begin_together_at_its_time_in_the_order_of_the_description() {
    let one = |source: &str, destination: &str, bytes: u64| json!({"source": source, "destination": destination, "bytes": bytes});
    let coflows = json!([
        {"name": "late", "at_ps": 900, "transfers": [one("h2", "h0", 7)]},
        {"name": "early", "transfers": [one("h1", "h0", 5), one("h0", "h2", 1_000_000_000), one("h1", "h0", 5)]},
    ]);
    let done = run_evenly(&describe(1, "coflows", &json!({ "coflows": coflows })), 3, 400);
    assert_eq!(done.begun(), [(0, 1, 0), (0, 0, 2), (0, 1, 0), (900, 2, 0)]);
    let sent: Vec<_> =
        done.transfers.iter().map(|one| (one.transfer.request_bytes, one.transfer.response_bytes)).collect();
    assert_eq!(
        sent,
        [(5, 0), (1_000_000_000, 0), (5, 0), (7, 0)],
        "the source sends, and nothing comes back"
    );
    assert!(done.transfers.iter().all(|one| one.transfer.connection == Connection::Own));
    assert_eq!(done.groups_ended, [(400, 1), (1300, 0)]);
    let report = done.report(0);
    assert_eq!(report["finished_ps"], 1300);
    assert_eq!(
        report["coflows"][0],
        json!({"name": "late", "at_ps": 900, "completion_ps": 400, "bytes": 7, "failed": 0})
    );
    let early =
        json!({"name": "early", "at_ps": 0, "completion_ps": 400, "bytes": 1_000_000_010, "failed": 0});
    assert_eq!(report["coflows"][1], early);
}

#[test]
fn with_jitter_transfers_of_one_coflow_between_the_same_hosts_begin_apart() {
    let one = json!({"source": "h1", "destination": "h0", "bytes": 1});
    let fields = json!({"start_jitter_ps": 12_304_000, "coflows": [{"name": "c", "transfers": [one, one]}]});
    let begun = run_evenly(&describe(1, "coflows", &fields), 2, 1).begun();
    assert_ne!(begun[0].0, begun[1].0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_coflow_completes_with_its_slowest_transfer_unless_one_fails(
        coflows in prop::collection::vec((0..3_000_u64, prop::collection::vec((0..5_usize, 1..5_usize, 1..9_000_u64), 1..8)), 1..8),
        salt in any::<u64>(), one_in in 2..20_u64,
    ) {
        let takes = |at: u64, from: u32, to: u32, bytes: u64| 1 + hash(&[salt, at, from.into(), to.into(), bytes]) % 5_000;
        let fails = |at: u64, from: u32, to: u32, bytes: u64| hash(&[salt, 1, at, from.into(), to.into(), bytes]) % one_in == 0;
        let network = |at: u64, one: &Transfer| {
            let fails = fails(at, one.from, one.to, one.request_bytes);
            (takes(at, one.from, one.to, one.request_bytes), if fails { Outcome::Failed } else { Outcome::Finished })
        };
        let ends = |from: usize, further: usize| (from as u32, ((from + further) % 5) as u32);
        let describe_one = |(number, (at, transfers)): (usize, &Coflow)| {
            let transfers: Vec<_> = transfers.iter().map(|(from, further, bytes)| {
                let (from, to) = ends(*from, *further);
                json!({"source": format!("h{from}"), "destination": format!("h{to}"), "bytes": bytes})
            }).collect();
            json!({"name": format!("c{number}"), "at_ps": at, "transfers": transfers})
        };
        let described: Vec<_> = coflows.iter().enumerate().map(describe_one).collect();
        let done = run(&describe(1, "coflows", &json!({ "coflows": described })), 5, network);

        let (mut begun, mut finished) = (Vec::new(), 0);
        let report = done.report(0);
        for (number, (at, transfers)) in coflows.iter().enumerate() {
            let all: Vec<_> = transfers.iter().map(|(from, further, bytes)| (ends(*from, *further), *bytes)).collect();
            let time = all.iter().map(|((from, to), bytes)| takes(*at, *from, *to, *bytes)).max().unwrap();
            let failed = all.iter().filter(|((from, to), bytes)| fails(*at, *from, *to, *bytes)).count();
            begun.extend(all.iter().map(|((from, to), _)| (*at, *from, *to)));
            finished = finished.max(at + time);
            let row = &report["coflows"][number];
            prop_assert_eq!(&row["failed"], failed);
            prop_assert_eq!(row["completion_ps"].as_u64(), (failed == 0).then_some(time));
            prop_assert_eq!(&row["bytes"], all.iter().map(|(_, bytes)| bytes).sum::<u64>());
        }
        begun.sort_by_key(|one| one.0);
        prop_assert_eq!(done.begun(), begun);
        prop_assert_eq!(done.finished_at(), finished);
        prop_assert_eq!((done.under_way(), done.open_groups()), (0, 0));
    }
}
