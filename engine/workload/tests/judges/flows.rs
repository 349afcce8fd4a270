//! Flows: compares their sizes and gaps with the requested distributions, and checks their load and their measurements.

use std::collections::BTreeSet;

use serde_json::{json, Value};
use units::{Bytes, DataRate, Duration};
use workload::report::Measures;
use workload::{slowdown, HostInfo, Outcome, Transfer, Workload};

use super::driver::{describe, hash, hosts, ps, run, run_evenly, workload, Run, LINK_BPS, SECOND};
use super::stats::{
    check_dispersion, check_distribution, check_even, check_mean, exponential, gaps, lognormal, variance,
};

/// Source, destination, bytes, time.
type Flow = (usize, usize, u64, u64);

fn drawn(seed: u64, fields: &Value) -> Value {
    let mut drawn = json!({
        "racks": [["h0", "h1"], ["h2", "h3", "h4", "h5"]], "pattern": "all_to_all", "load": 0.5,
        "sizes": {"exponential": {"mean_bytes": 100_000.0}}, "duration_ps": 10 * SECOND,
    });
    drawn.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    describe(seed, "flows", &json!({"drawn": drawn, "rows": true}))
}

fn report(workload: &Workload) -> Value {
    serde_json::to_value(&workload.report()[0]).unwrap()
}

/// Returns the flows of a description over hosts, as reported before the run.
fn flows_over(description: &Value, hosts: &[HostInfo]) -> Vec<Flow> {
    let workload = Workload::from_json(description.to_string().as_bytes(), hosts)
        .unwrap_or_else(|error| panic!("{error}"));
    let number = |name: &str| name[1..].parse().unwrap();
    let Measures::Flows { rows: Some(rows), .. } = workload.report().remove(0).measures else {
        panic!("it has rows")
    };
    rows.iter().map(|row| (number(&row.source), number(&row.destination), row.bytes, row.at_ps)).collect()
}

fn flows(description: &Value) -> Vec<Flow> {
    flows_over(description, &hosts(6))
}

/// Returns the start times of a host's flows.
fn times_of(flows: &[Flow], host: usize) -> Vec<u64> {
    flows.iter().filter(|flow| flow.0 == host).map(|flow| flow.3).collect()
}

/// Returns the time of each host's first flow, over this number of seeds.
fn first_times(seeds: u64, fields: &Value) -> Vec<f64> {
    let of_seed = |seed| {
        let all = flows(&drawn(seed, fields));
        [0, 1, 2, 3, 4, 5].map(|host| times_of(&all, host)[0] as f64)
    };
    (0..seeds).flat_map(of_seed).collect()
}

/// A distribution: its description, its cumulative distribution function, and its mean square divided by its squared mean.
type Sizes = (Value, Box<dyn Fn(f64) -> f64>, f64);

fn sizes() -> Vec<Sizes> {
    let mean: f64 = 100_000.0;
    let pareto = move |value: f64| {
        if value < mean * 2.0 / 3.0 {
            0.0
        } else {
            1.0 - (mean * 2.0 / 3.0 / value).powi(3)
        }
    };
    // Linear from 50 to 100 kB for the first half, then to 150 kB.
    let points = |value: f64| ((value - 50_000.0) / 100_000.0).clamp(0.0, 1.0);
    let points_of = json!([[50_000, 0], [100_000, 0.5], [150_000, 1]]);
    vec![
        (json!({"exponential": {"mean_bytes": mean}}), Box::new(exponential(mean)), 2.0),
        (
            json!({"lognormal": {"mean_bytes": mean, "sigma": 0.7}}),
            Box::new(lognormal(mean * (-0.245_f64).exp(), 0.7)),
            0.49_f64.exp(),
        ),
        (json!({"pareto": {"mean_bytes": mean, "shape": 3.0}}), Box::new(pareto), 4.0 / 3.0),
        (json!({"points": points_of}), Box::new(points), 1.0 + 1.0 / 12.0),
    ]
}

#[test]
fn sizes_have_the_distribution_that_is_asked_for() {
    for (description, below, squares) in sizes() {
        let all: Vec<_> =
            flows(&drawn(5, &json!({ "sizes": description }))).iter().map(|flow| flow.2 as f64).collect();
        assert!(all.len() > 30_000);
        check_distribution(&all, below, &description.to_string());
        check_mean(&all, 100_000.0, &description.to_string());
        // The fourth moment of this Pareto distribution is infinite: its sample variance does not converge.
        if description.get("pareto").is_none() {
            let ratio = variance(&all) / (1e10 * (squares - 1.0));
            assert!((ratio - 1.0).abs() < 0.1, "{description}: {ratio} of the variance");
        }
    }
}

#[test]
fn each_host_offers_the_load_of_its_own_link_within_its_standard_error() {
    // A compound Poisson sum: its relative variance is the relative mean square of the sizes divided by the count.
    for (description, _, squares) in sizes() {
        let load = 0.4;
        let all = flows(&drawn(11, &json!({"sizes": description, "load": load})));
        for host in 0..6 {
            let count = times_of(&all, host).len() as f64;
            let bits: f64 = all.iter().filter(|flow| flow.0 == host).map(|flow| 8.0 * flow.2 as f64).sum();
            let ratio = bits / 10.0 / (load * LINK_BPS as f64);
            assert!(
                (ratio - 1.0).abs() < 5.0 * (squares / count).sqrt(),
                "h{host}, {description}: {ratio} of the load"
            );
        }
    }
}

#[test]
fn a_host_with_a_faster_link_begins_flows_more_often_and_the_report_has_the_load_of_all() {
    let rates = [1, 1, 4, 4, 4, 4].map(|rate| rate * 1_000_000_000_u64);
    let host = |(number, rate): (usize, u64)| HostInfo {
        name: format!("h{number}"),
        rate: DataRate::from_bps(rate),
        overhead: Bytes::new(24),
    };
    let hosts: Vec<_> = rates.into_iter().enumerate().map(host).collect();
    let description = drawn(2, &json!({"load": 0.2, "duration_ps": 4 * SECOND}));
    let all = flows_over(&description, &hosts);
    for (host, rate) in rates.iter().enumerate() {
        let expected = 0.2 * *rate as f64 * 4.0 / 800_000.0;
        let count = times_of(&all, host).len() as f64;
        assert!((count - expected).abs() < 5.0 * expected.sqrt(), "h{host}: {count} for {expected}");
    }
    let workload = Workload::from_json(description.to_string().as_bytes(), &hosts).unwrap();
    let bits: f64 = all.iter().map(|flow| 8.0 * flow.2 as f64).sum();
    let load = report(&workload)["load"].as_f64().unwrap();
    assert!((load - bits / (18e9 * 4.0)).abs() < 1e-12, "{load}");
}

#[test]
fn a_host_that_drew_no_flow_counts_in_the_load_offered() {
    let description = drawn(2, &json!({"load": 0.01, "duration_ps": SECOND / 20}));
    let workload = workload(&description, 6).unwrap();
    let all = flows(&description);
    assert!((0..6).any(|host| times_of(&all, host).is_empty()), "{all:?}");
    let bits: f64 = all.iter().map(|flow| 8.0 * flow.2 as f64).sum();
    let load = report(&workload)["load"].as_f64().unwrap();
    assert!((load - bits / (6.0 * LINK_BPS as f64 / 20.0)).abs() < 1e-12, "{load} of {bits}");
}

#[test]
fn poisson_gaps_are_exponential_and_counts_vary_as_their_mean() {
    let all = flows(&drawn(
        8,
        &json!({"sizes": {"exponential": {"mean_bytes": 10_000.0}}, "duration_ps": 2 * SECOND}),
    ));
    for host in 0..6 {
        let times = times_of(&all, host);
        check_mean(&gaps(&times), 160_000_000.0, "gap");
        check_distribution(&gaps(&times), exponential(160_000_000.0), "gap");
        check_dispersion(&times, SECOND / 200, 400, 1.0, "flows");
    }
    // Hosts are not synchronised.
    assert_ne!(gaps(&times_of(&all, 0))[..5], gaps(&times_of(&all, 1))[..5]);
}

#[test]
fn lognormal_gaps_have_their_mean_and_distribution_and_the_first_is_what_is_left_of_one() {
    let sigma = 0.8;
    let fields = |duration: u64| json!({"sizes": {"points": [[10_000, 0], [10_000, 1]]}, "gaps": {"lognormal": {"sigma": sigma}}, "duration_ps": duration});
    let mean = 160_000_000.0;
    let all = flows(&drawn(8, &fields(3 * SECOND)));
    assert!(all.iter().all(|flow| flow.2 == 10_000));
    for host in 0..6 {
        let sample = gaps(&times_of(&all, host));
        check_mean(&sample, mean, "gap");
        check_distribution(&sample, lognormal(mean * (-sigma * sigma / 2.0_f64).exp(), sigma), "gap");
    }
    // The first flow's time is the time from a moment to the next flow: its mean is half of the second moment divided by the mean.
    let first = first_times(300, &fields(SECOND / 50));
    check_mean(&first, mean * (sigma * sigma).exp() / 2.0, "first gap");
}

#[test]
fn fixed_gaps_are_all_the_same_from_a_moment_that_is_uniform_in_one() {
    let fields = |duration: u64| json!({"sizes": {"points": [[10_000, 0], [10_000, 1]]}, "gaps": "fixed", "duration_ps": duration});
    let all = flows(&drawn(8, &fields(SECOND / 10)));
    for host in 0..6 {
        assert!(gaps(&times_of(&all, host)).iter().all(|gap| *gap == 160_000_000.0));
        assert_eq!(times_of(&all, host).len(), 625);
    }
    let first = first_times(200, &fields(200_000_000));
    check_distribution(&first, |at| at / 160_000_000.0, "first flow");
}

#[test]
fn a_flow_goes_to_any_host_of_its_pattern_as_often_as_to_any_other() {
    for (pattern, load, source, destinations) in [
        ("all_to_all", 0.5, 2, vec![0, 1, 3, 4, 5]),
        ("between_racks", 0.4, 3, vec![0, 1]),
        ("between_racks", 0.4, 1, vec![2, 3, 4, 5]),
        ("to_one_rack", 0.4, 4, vec![0, 1]),
    ] {
        let all = flows(&drawn(3, &json!({"pattern": pattern, "load": load})));
        let to = all.iter().filter(|flow| flow.0 == source).map(|flow| {
            destinations
                .iter()
                .position(|host| *host == flow.1)
                .unwrap_or_else(|| panic!("{pattern}: to h{}", flow.1))
        });
        check_even(to, destinations.len(), pattern);
    }
}

#[test]
fn in_a_permutation_each_host_sends_to_one_other_and_receives_from_one() {
    let all = flows(&drawn(3, &json!({"pattern": "permutation"})));
    let pairs: BTreeSet<_> = all.iter().map(|flow| (flow.0, flow.1)).collect();
    let receivers: BTreeSet<_> = pairs.iter().map(|pair| pair.1).collect();
    assert_eq!((pairs.len(), receivers.len()), (6, 6), "{pairs:?}");
    assert!(pairs.iter().all(|(from, to)| from != to), "{pairs:?}");
}

#[test]
fn flows_of_a_list_begin_at_their_times_and_in_their_order_whatever_becomes_of_the_others() {
    let one = |source: &str, at: u64, bytes: u64| json!({"source": source, "destination": "h0", "bytes": bytes, "at_ps": at});
    let list = json!([one("h3", 900, 5), one("h2", 10, 6), one("h1", 10, 7), one("h2", 10, 8)]);
    let done =
        run(&describe(1, "flows", &json!({ "list": list })), 4, |at, _| (1_000_000 - at, Outcome::Failed));
    assert_eq!(done.begun(), [(10, 1, 0), (10, 2, 0), (10, 2, 0), (900, 3, 0)]);
    let sent: Vec<_> =
        done.transfers.iter().map(|one| (one.transfer.request_bytes, one.transfer.response_bytes)).collect();
    assert_eq!(sent, [(7, 0), (6, 0), (8, 0), (5, 0)]);
    let report = done.report(0);
    assert_eq!(
        (ps(&report["failed"]), ps(&report["unfinished"]), &report["completion_ps"]),
        (4, 0, &Value::Null)
    );
}

#[test]
fn only_flows_between_warm_up_and_cool_down_are_waited_for_and_measured() {
    let one = |at: u64| json!({"source": "h1", "destination": "h0", "bytes": 5, "at_ps": at});
    let list = json!([one(0), one(100), one(200), one(300), one(400)]);
    let fields = json!({"list": list, "warm_up_ps": 100, "cool_down_ps": 200, "rows": true});
    // The first flow takes longer than all others together.
    let mut done = run(&describe(1, "flows", &fields), 2, |at, _| {
        (if at == 0 { SECOND } else { at + 1 }, Outcome::Finished)
    });
    assert_eq!(done.finished_at(), 401);
    let before = done.report(0);
    assert_eq!((ps(&before["flows"]), ps(&before["measured"]), ps(&before["unfinished"])), (5, 2, 0));
    assert_eq!((ps(&before["completion_ps"]["min_ps"]), ps(&before["completion_ps"]["max_ps"])), (101, 201));
    assert_eq!(before["rows"][0]["completion_ps"], Value::Null);
    while done.step(&mut |at, _| (at + 1, Outcome::Finished)) {}
    let after = done.report(0);
    assert_eq!(after["rows"][0]["completion_ps"], SECOND);
    assert_eq!(
        (&after["completion_ps"], &after["finished_ps"]),
        (&before["completion_ps"], &before["finished_ps"])
    );
}

#[test]
fn percentiles_of_slowdowns_are_those_of_all_values_sorted_in_each_class_of_size() {
    let ideal = 5_000_000;
    let sizes = json!({"points": [[1, 0], [10_000, 0.3], [100_000, 0.6], [1_000_000, 0.9], [20_000_000, 1]]});
    let description = drawn(1, &json!({"sizes": sizes, "duration_ps": 60 * SECOND}));
    let takes = |at: u64, one: &Transfer| {
        ideal + hash(&[at, one.id.token]) % ideal * (1 + hash(&[one.id.token]) % 40)
    };
    let mut it = Run::new(&description, 6);
    it.ideal_ps = Some(ideal);
    let mut network = |at: u64, one: &Transfer| (takes(at, one), Outcome::Finished);
    while !it.workload.is_finished() {
        assert!(it.step(&mut network));
    }
    let limits = [10_000, 100_000, 1_000_000, 10_000_000, u64::MAX];
    let report = it.report(0);
    let mut all = Vec::new();
    for (class, limit) in limits.iter().enumerate() {
        let above = if class == 0 { 0 } else { limits[class - 1] };
        let of_class = it
            .transfers
            .iter()
            .filter(|one| one.transfer.request_bytes > above && one.transfer.request_bytes <= *limit);
        let slowdowns: Vec<_> =
            of_class.map(|one| (one.ended.unwrap() - one.at) as f64 / ideal as f64).collect();
        let row = &report["slowdown_by_size"][class];
        assert_eq!(row["up_to_bytes"].as_u64(), (*limit < u64::MAX).then_some(*limit));
        check_slowdowns(row, &slowdowns);
        all.extend(slowdowns);
    }
    check_slowdowns(&report["slowdown"], &all);

    // Completion times as well: percentiles by nearest rank, and values within a 512th.
    let mut times: Vec<_> = it.transfers.iter().map(|one| one.ended.unwrap() - one.at).collect();
    times.sort_unstable();
    let completion = &report["completion_ps"];
    assert_eq!((ps(&completion["min_ps"]), ps(&completion["max_ps"])), (times[0], times[times.len() - 1]));
    assert_eq!(ps(&completion["mean_ps"]), times.iter().sum::<u64>() / times.len() as u64);
    for (field, per_mille) in [("p50_ps", 500), ("p99_ps", 990), ("p999_ps", 999)] {
        let nearest = times[(times.len() * per_mille).div_ceil(1000) - 1];
        assert!(ps(&completion[field]).abs_diff(nearest) <= nearest / 512 + 1, "{field} for {nearest}");
    }
}

/// Checks a row of the report against all values.
fn check_slowdowns(row: &Value, values: &[f64]) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    assert!(sorted.len() > 500, "{}", sorted.len());
    assert_eq!(row["count"], sorted.len());
    let number = |field: &str| row[field].as_f64().unwrap();
    assert!((number("min") - sorted[0]).abs() < 1e-5);
    assert!((number("mean") - super::stats::mean(&sorted)).abs() < 1e-5);
    for (field, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)] {
        let nearest = sorted[(share * sorted.len() as f64).ceil() as usize - 1];
        assert!(
            (number(field) / nearest - 1.0).abs() <= 1.0 / 512.0 + 1e-5,
            "{field}: {} for {nearest}",
            number(field)
        );
    }
}

#[test]
fn without_a_least_time_a_flow_has_no_slowdown_and_its_completion_counts() {
    let done = run_evenly(&drawn(1, &json!({"duration_ps": SECOND / 10})), 6, 77);
    let report = done.report(0);
    assert_eq!((ps(&report["slowdown"]["count"]), &report["slowdown"]["p99"]), (0, &Value::Null));
    assert_eq!(report["completion_ps"]["count"], report["measured"]);
    assert_eq!((ps(&report["completion_ps"]["min_ps"]), ps(&report["completion_ps"]["max_ps"])), (77, 77));
}

#[test]
fn a_load_that_a_receivers_link_cannot_carry_is_refused_and_one_that_it_just_can_is_not() {
    // Four hosts send to two: each of these receives twice the rate of a sender.
    let of = |load: f64| {
        workload(&drawn(1, &json!({"pattern": "to_one_rack", "load": load, "duration_ps": SECOND})), 6).err()
    };
    assert_eq!(of(0.5), None);
    let refused = of(0.51).expect("it is more than the link carries").to_string();
    assert!(refused.contains("drawn.load") && refused.contains("at most 0.5"), "{refused}");
}

#[test]
fn a_slowdown_is_in_the_class_of_its_size_the_upper_end_included_and_never_divides_by_nothing() {
    let sizes = [0, 10_000, 10_001, 100_000, 100_001, 1_000_000, 1_000_001, 10_000_000, 10_000_001, u64::MAX];
    assert_eq!(sizes.map(slowdown::class_of), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    let mut slowdowns = slowdown::Slowdowns::default();
    slowdowns.record(5, Duration::from_ps(30), Duration::from_ps(10));
    slowdowns.record(10_001, Duration::from_ps(7), Duration::ZERO);
    let (classes, all) = slowdowns.report();
    assert_eq!((classes[0].count, classes[0].mean, classes[0].p999), (1, Some(3.0), Some(3.0)));
    assert_eq!((classes[1].count, classes[1].min), (1, Some(7.0)));
    assert_eq!((classes[4].count, classes[4].up_to_bytes, classes[4].p50), (0, None, None));
    assert_eq!((all.count, all.mean, all.min), (2, Some(5.0), Some(3.0)));
}
