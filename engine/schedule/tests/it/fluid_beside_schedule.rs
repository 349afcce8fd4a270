//! Compares the fluid model with a schedule that decides all rates at every event.

use std::collections::BTreeMap;

use proptest::prelude::*;
use schedule::fca::Options;
use schedule::fluid::{self, Arrival, Completion};
use schedule::{star, FlowId, Name, NewFlow, Schedule};
use units::{DataRate, Duration, Time};

use crate::properties::schedulers;

/// Decides every rate at every event, from all flows.
fn by_schedule(
    links: &[DataRate],
    name: Name,
    options: Options,
    arrivals: &[Arrival],
    time: fluid::Options,
) -> Vec<Completion> {
    let step = time.step.map_or(1, Duration::as_ps);
    let mut order: Vec<&Arrival> = arrivals.iter().collect();
    order.sort_by_key(|arrival| arrival.at);
    let mut to_come = order.into_iter().peekable();
    let mut open: BTreeMap<u64, (usize, Completion)> = BTreeMap::new();
    for &Arrival { at, id: FlowId { transfer, .. }, .. } in arrivals {
        open.entry(transfer).or_insert((0, Completion { transfer, began: at, ended: Time::ZERO })).0 += 1;
    }
    let mut schedule = Schedule::new(links, name.scheduler(options), None);
    let mut now = Time::ZERO;
    loop {
        let next =
            [to_come.peek().map(|arrival| arrival.at), schedule.flows().next_end(), schedule.next_change()];
        let Some(next) = next.into_iter().flatten().min() else {
            if schedule.flows().is_empty() {
                break;
            }
            schedule.allocate(now).unwrap();
            assert!(schedule.flows().next_end().is_some(), "flows without rates");
            continue;
        };
        let next = Time::from_ps(next.max(now).as_ps().div_ceil(step) * step);
        let must_decide = schedule.next_change().is_some_and(|change| change <= next);
        let span = next.since(now);
        now = next;
        let ends: Vec<FlowId> = schedule
            .flows()
            .iter()
            .filter(|flow| flow.time_left().is_some_and(|left| left <= span))
            .map(schedule::Flow::id)
            .collect();
        let mut decides = must_decide || !time.only_whole_transfers;
        for id in ends {
            schedule.end(now, id).unwrap();
            let (left, completion) = open.get_mut(&id.transfer).unwrap();
            *left -= 1;
            completion.ended = now;
            if *left == 0 {
                schedule.close(id.transfer).unwrap();
                decides = true;
            }
        }
        while let Some(arrival) = to_come.next_if(|arrival| arrival.at <= now) {
            let Arrival { id, volume_bits, ref path, .. } = *arrival;
            schedule.arrive(now, &NewFlow { id, volume_bits, path }).unwrap();
            decides = true;
        }
        if decides {
            schedule.allocate(now).unwrap();
        }
    }
    open.into_values().map(|(_, completion)| completion).collect()
}

/// Coflows on a star of six hosts at 1 Gbit/s: milliseconds since the previous one, mappers, reducers, bits of each reducer. No
/// two transfers have the same amount left: rounding would decide which comes first.
type Coflow = (u64, Vec<u32>, Vec<(u32, u64)>);

fn coflows() -> impl Strategy<Value = Vec<Coflow>> {
    let hosts = || prop::collection::btree_set(0..HOSTS, 1..5).prop_map(|hosts| hosts.into_iter().collect());
    let reducers = prop::collection::btree_map(0..HOSTS, 8_000_000..1_600_000_000_u64, 1..5)
        .prop_map(|reducers| reducers.into_iter().collect());
    prop::collection::vec((0..1500_u64, hosts(), reducers), 1..9)
}

const HOSTS: u32 = 6;
const MILLISECOND: Duration = Duration::from_ps(1_000_000_000);

fn arrivals(coflows: &[Coflow]) -> Vec<Arrival> {
    let mut flows = Vec::new();
    let mut at = Time::ZERO;
    for (transfer, (gap, mappers, reducers)) in coflows.iter().enumerate() {
        at += Duration::from_ps(gap * MILLISECOND.as_ps());
        for (to, bits) in reducers {
            for from in mappers {
                let id = FlowId { transfer: transfer as u64, flow: flows.len() as u64 };
                let volume_bits = bits / mappers.len() as u64;
                flows.push(Arrival { at, id, volume_bits, path: vec![2 * from, 2 * to + 1] });
            }
        }
    }
    flows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn transfers_end_when_those_of_a_schedule_do_but_for_steps_and_a_ten_thousandth(
        coflows in coflows(), (name, options) in schedulers(), in_steps in any::<bool>(), only_whole_transfers in any::<bool>(),
    ) {
        let links = star(HOSTS, DataRate::from_bps(1_000_000_000)).unwrap();
        let arrivals = arrivals(&coflows);
        let step = in_steps.then_some(MILLISECOND);
        let time = fluid::Options { step, only_whole_transfers };
        let fast = fluid::run(&links, name, options, &arrivals, time).unwrap();
        let all = by_schedule(&links, name, options, &arrivals, time);
        prop_assert_eq!(fast.transfers.len(), all.len());
        for (fast, all) in fast.transfers.iter().zip(&all) {
            prop_assert_eq!((fast.transfer, fast.began), (all.transfer, all.began));
            // An end on the other side of a step delays those that wait for it, each by one step.
            let steps = 2 + coflows.len() as u64;
            let most = all.ended.since(all.began).as_ps() / 10_000 + step.map_or(0, |step| steps * step.as_ps());
            let apart = fast.ended.as_ps().abs_diff(all.ended.as_ps());
            prop_assert!(apart <= most, "transfer {}: {} instead of {}", fast.transfer, fast.ended, all.ended);
        }
    }
}
