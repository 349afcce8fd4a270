//! Coflows in closed form: all transfers of a coflow begin at its start time, and it completes with the last one.

use proptest::prelude::*;
use serde_json::json;
use workload::{Connection, Outcome, Transfer};

use super::driver::{describe, hash, run, run_evenly};

/// Start time, and transfers: source, distance of the destination from it, bytes.
type Coflow = (u64, Vec<(usize, usize, u64)>);

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
    fn the_transfers_of_a_coflow_begin_together_in_their_order_and_it_completes_with_the_slowest_unless_one_fails(
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

        let (mut begun, mut ended) = (Vec::new(), Vec::new());
        let report = done.report(0);
        for (number, (at, transfers)) in coflows.iter().enumerate() {
            let all: Vec<_> = transfers.iter().map(|(from, further, bytes)| (ends(*from, *further), *bytes)).collect();
            let time = all.iter().map(|((from, to), bytes)| takes(*at, *from, *to, *bytes)).max().unwrap();
            let failed = all.iter().filter(|((from, to), bytes)| fails(*at, *from, *to, *bytes)).count();
            begun.extend(all.iter().map(|((from, to), _)| (*at, *from, *to)));
            ended.push((at + time, number as u64));
            let (time, bytes) = ((failed == 0).then_some(time), all.iter().map(|(_, bytes)| bytes).sum::<u64>());
            let row = json!({"name": format!("c{number}"), "at_ps": at, "completion_ps": time, "bytes": bytes, "failed": failed});
            prop_assert_eq!(&report["coflows"][number], &row);
        }
        begun.sort_by_key(|one| one.0);
        prop_assert_eq!(done.begun(), begun);
        ended.sort_unstable();
        let mut groups = done.groups_ended.clone();
        groups.sort_unstable();
        prop_assert_eq!((done.finished_at(), &report["finished_ps"]), (ended[ended.len() - 1].0, &json!(done.finished_at())));
        prop_assert_eq!(groups, ended);
        // The source sends, and nothing comes back.
        let is_own = |one: &Transfer| one.response_bytes == 0 && one.connection == Connection::Own;
        prop_assert!(done.transfers.iter().all(|one| is_own(&one.transfer)));
        prop_assert_eq!((done.under_way(), done.open_groups()), (0, 0));
    }
}
