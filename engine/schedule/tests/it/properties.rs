//! Properties of every schedule, for any arrivals.

use proptest::prelude::*;
use schedule::fca::{Fca, Options, Volume};
use schedule::fluid::{self, Arrival};
use schedule::{star, Floor, FlowId, Name, NewFlow, Schedule, ScheduleError, Scheduler, MAX_VOLUME_BITS};
use units::{DataRate, Duration, Time};

/// Capacities, and flows as (transfer, bits, first link, number of links, picoseconds since the previous one).
type Case = (Vec<u64>, Vec<(u64, u64, usize, usize, u64)>);

fn cases() -> impl Strategy<Value = Case> {
    let capacity = prop_oneof![500..2_000_u64, 1_000_000..1_000_000_000_u64];
    let flow = (
        0..4_u64,
        prop_oneof![1..200_u64, 1_000..1_000_000_000_u64],
        0..6_usize,
        1..4_usize,
        0..3_000_000_000_000_u64,
    );
    (prop::collection::vec(capacity, 2..6), prop::collection::vec(flow, 1..14))
}

pub fn schedulers() -> impl Strategy<Value = (Name, Options)> {
    let order = prop_oneof![Just(Volume::Total), Just(Volume::Remaining)];
    (prop::sample::select(&Name::ALL), order, any::<bool>(), any::<bool>()).prop_map(
        |(name, order, work_conserving, preempt)| (name, Options { order, work_conserving, preempt }),
    )
}

fn chasing() -> impl Strategy<Value = Options> {
    schedulers().prop_map(|(_, options)| Options { preempt: false, ..options })
}

fn links(capacities: &[u64]) -> Vec<DataRate> {
    capacities.iter().copied().map(DataRate::from_bps).collect()
}

fn arrivals((capacities, flows): &Case) -> Vec<Arrival> {
    let mut at = Time::ZERO;
    let arrival = |(number, flow): (usize, &(u64, u64, usize, usize, u64))| {
        let &(transfer, volume_bits, first, crossed, gap) = flow;
        at += Duration::from_ps(gap);
        let count = capacities.len();
        let path = (0..crossed.min(count)).map(|link| ((first + link) % count) as u32).collect();
        Arrival { at, id: FlowId { transfer, flow: number as u64 }, volume_bits, path }
    };
    flows.iter().enumerate().map(arrival).collect()
}

fn arrive(schedule: &mut Schedule, arrival: &Arrival) -> Result<(), ScheduleError> {
    let Arrival { at, id, volume_bits, ref path } = *arrival;
    schedule.arrive(at, &NewFlow { id, volume_bits, path })
}

/// Ends the flows that end before `until`, at their times, and decides rates after each.
fn run_until(schedule: &mut Schedule, until: Time) {
    loop {
        let end = schedule.flows().next_end();
        let change = schedule.next_change();
        let Some(next) = end.into_iter().chain(change).min().filter(|next| *next <= until) else { return };
        schedule.allocate(next).unwrap();
        let done: Vec<_> =
            schedule.flows().iter().filter(|flow| flow.remaining_bits() == 0).map(|flow| flow.id()).collect();
        for id in done {
            schedule.end(next, id).unwrap();
        }
        schedule.allocate(next).unwrap();
    }
}

fn loads(schedule: &Schedule, count: usize) -> Vec<u64> {
    let mut loads = vec![0; count];
    for flow in schedule.flows().iter() {
        for link in flow.path() {
            loads[*link as usize] += flow.rate_bps();
        }
    }
    loads
}

/// Returns the least rate of a flow with this path: the floor's, or its share of what the tightest link reserves.
fn least_rate(schedule: &Schedule, capacities: &[u64], path: &[u32], floor: Floor) -> u64 {
    let users = |link| schedule.flows().iter().filter(|flow| flow.path().contains(&link)).count() as u64;
    let reserved =
        |link: u32| capacities[link as usize] * u64::from(floor.reserve_ppm.min(1_000_000)) / 1_000_000;
    let shares = path.iter().map(|link| reserved(*link) / users(*link));
    shares.min().unwrap_or(0).min(floor.rate.as_bps())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_flow_ends_once_with_every_scheduler_and_the_same_events_give_the_same_ends(
        case in cases(), (name, options) in schedulers(),
    ) {
        let flows = arrivals(&case);
        let run = || fluid::run(&links(&case.0), name, options, &flows, fluid::Options::default()).unwrap();
        let outcome = run();
        prop_assert_eq!(outcome.flows.len(), flows.len());
        for flow in &flows {
            // No flow is faster than its tightest link.
            let tightest = flow.path.iter().map(|link| case.0[*link as usize]).min().unwrap();
            let least = u128::from(flow.volume_bits) * 1_000_000_000_000 / u128::from(tightest);
            prop_assert!(u128::from(outcome.flows[&flow.id].since(flow.at).as_ps()) >= least);
        }
        prop_assert_eq!(run(), outcome);
    }

    #[test]
    fn a_work_conserving_scheduler_leaves_no_flow_something_on_all_its_links(
        case in cases(), name in prop::sample::select(&[Name::Fca, Name::Sebf, Name::Scf][..]),
    ) {
        let mut schedule = Schedule::new(&links(&case.0), name.scheduler(Options::default()), None);
        for arrival in arrivals(&case) {
            run_until(&mut schedule, arrival.at);
            arrive(&mut schedule, &arrival).unwrap();
            schedule.allocate(arrival.at).unwrap();
            let loads = loads(&schedule, case.0.len());
            for flow in schedule.flows().iter().filter(|flow| flow.remaining_bits() > 0) {
                prop_assert!(flow.path().iter().any(|link| loads[*link as usize] == case.0[*link as usize]));
            }
        }
    }

    /// Checks each decision also after a flow has reported that it is behind, and that the next step is not in the past.
    #[test]
    fn no_link_is_given_out_above_its_capacity_and_no_flow_is_below_its_floor(
        case in cases(), (name, options) in schedulers(), floor in prop::option::of((1..50_000_u64, 0..2_000_000_u32)),
    ) {
        let floor = floor.map(|(bps, reserve_ppm)| Floor { rate: DataRate::from_bps(bps), reserve_ppm });
        let mut schedule = Schedule::new(&links(&case.0), name.scheduler(options), floor);
        for arrival in arrivals(&case) {
            run_until(&mut schedule, arrival.at);
            let behind = schedule.flows().iter().next().map(|flow| (flow.id(), flow.volume_bits()));
            behind.into_iter().for_each(|(id, bits)| schedule.progress(arrival.at, id, bits).unwrap());
            arrive(&mut schedule, &arrival).unwrap();
            let changes = schedule.allocate(arrival.at).unwrap().to_vec();
            prop_assert!(changes.windows(2).all(|pair| pair[0].id < pair[1].id), "changes are in order of names");
            for change in &changes {
                let rate = schedule.flows().flow(change.id).map(|flow| flow.rate_bps());
                prop_assert_eq!(rate, Some(change.rate_bps));
            }
            let loads = loads(&schedule, case.0.len());
            prop_assert!(loads.iter().zip(&case.0).all(|(load, capacity)| load <= capacity), "{:?}", loads);
            for flow in schedule.flows().iter() {
                let least = floor.map_or(0, |floor| least_rate(&schedule, &case.0, flow.path(), floor));
                prop_assert!(flow.rate_bps() >= least, "{} bit/s, below the floor of {}", flow.rate_bps(), least);
            }
            let steps = [schedule.flows().next_end(), schedule.next_change()];
            prop_assert!(steps.into_iter().flatten().all(|step| step >= arrival.at), "a step in the past");
        }
    }

    /// The paper: "other transfers hold their performance" (4.2).
    #[test]
    fn chasing_makes_no_transfer_later_when_a_flow_of_another_arrives(case in cases(), options in chasing()) {
        let mut schedule = Schedule::new(&links(&case.0), Box::new(Fca::new(options)), None);
        for arrival in arrivals(&case) {
            run_until(&mut schedule, arrival.at);
            schedule.allocate(arrival.at).unwrap();
            let before = ends(&schedule);
            arrive(&mut schedule, &arrival).unwrap();
            schedule.allocate(arrival.at).unwrap();
            for ((transfer, before), (_, after)) in before.iter().zip(ends(&schedule)) {
                if *transfer != arrival.id.transfer {
                    if let Some(before) = before {
                        prop_assert!(after.is_some_and(|after| after <= *before), "transfer {}", transfer);
                    }
                }
            }
        }
    }

    /// Step one's closed form: all flows of a transfer that is alone end when the busiest link for its capacity is done, t =
    /// max over links of (sum of volumes / capacity), up to the rounding of rates to whole bits per second.
    #[test]
    fn a_transfer_alone_ends_when_its_tightest_link_is_done(
        capacities in prop::collection::vec(1_000_000..1_000_000_000_u64, 2..6),
        flows in prop::collection::vec((1_000_000..1_000_000_000_u64, 0..6_usize, 1..4_usize), 1..8),
        options in chasing(),
    ) {
        let flows = flows.into_iter().map(|(bits, first, crossed)| (0, bits, first, crossed, 0)).collect();
        let case: Case = (capacities, flows);
        let arrivals = arrivals(&case);
        let mut needs = vec![0_u64; case.0.len()];
        for arrival in &arrivals {
            for link in &arrival.path {
                needs[*link as usize] += arrival.volume_bits;
            }
        }
        let exact = needs.iter().zip(&case.0).map(|(bits, rate)| *bits as f64 / *rate as f64).fold(0.0, f64::max);
        let outcome = fluid::run(&links(&case.0), Name::Fca, options, &arrivals, fluid::Options::default()).unwrap();
        let measured = outcome.transfers[0].ended.as_secs_f64();
        prop_assert!((measured / exact - 1.0).abs() < 1e-4, "{} s, not {} s", measured, exact);
    }
}

/// Returns when each transfer with flows ends at present rates, in picoseconds from now; `None` if one of its flows has no rate.
fn ends(schedule: &Schedule) -> Vec<(u64, Option<u128>)> {
    let mut ends = std::collections::BTreeMap::new();
    for transfer in 0..4 {
        ends.insert(transfer, Some(0));
    }
    for flow in schedule.flows().iter() {
        let span = flow.time_left().map(|left| u128::from(left.as_ps()));
        let end = ends.get_mut(&flow.id().transfer).unwrap();
        *end = end.zip(span).map(|(a, b): (u128, u128)| a.max(b));
    }
    ends.into_iter().collect()
}

#[test]
fn what_a_schedule_refuses_names_the_flow_and_changes_nothing() {
    let scheduler: Box<dyn Scheduler> = Name::Fca.scheduler(Options::default());
    let mut schedule = Schedule::new(&links(&[100, 100]), scheduler, None);
    let id = FlowId { transfer: 7, flow: 3 };
    let at = Time::from_ps(5);
    let mut new = |at, id, volume_bits, path: &[u32]| {
        let refused = schedule.arrive(at, &NewFlow { id, volume_bits, path }).err();
        (refused.map(|error| error.to_string()), schedule.flows().len())
    };
    for (bits, path, reason) in [
        (0, &[0][..], "a volume of 0 bits; it must be 1 to 8000000000000000"),
        (MAX_VOLUME_BITS + 1, &[0], "a volume of 8000000000000001 bits; it must be 1 to 8000000000000000"),
        (1, &[], "a path of 0 links; it must have 1 to 16"),
        (1, &[0, 0], "crosses link 0 twice; a path has no loop"),
        (1, &[2], "no link number 2: there are 2"),
    ] {
        assert_eq!(new(at, id, bits, path), (Some(format!("flow 3 of transfer 7: {reason}")), 0));
    }
    assert_eq!(new(at, id, 1, &[1]), (None, 1));
    let twice = "flow 3 of transfer 7: is under way already; new data is a flow with a number of its own";
    assert_eq!(new(at, id, 1, &[1]), (Some(twice.to_owned()), 1));
    let late = "an event at 4ps comes too late: the schedule is at 5ps already";
    assert_eq!(new(Time::from_ps(4), FlowId { transfer: 7, flow: 4 }, 1, &[1]), (Some(late.to_owned()), 1));
    let other = FlowId { transfer: 7, flow: 9 };
    let refused = |done: Result<(), ScheduleError>| done.unwrap_err().to_string();
    let unknown = "flow 9 of transfer 7: is not under way; announce it before its end";
    assert_eq!(refused(schedule.end(at, other)), unknown);
    assert_eq!(refused(schedule.progress(at, other, 0)), unknown);
    let open = "transfer 7: has 1 flows under way; it can be closed when they have ended";
    assert_eq!(refused(schedule.close(7)), open);
    assert_eq!(schedule.end(at, id), Ok(()));
    assert_eq!(schedule.close(7), Ok(()));
    assert_eq!(refused(schedule.close(7)), "transfer 7: is not known; it begins with its first flow");
    for hosts in [0, u32::MAX] {
        assert!(star(hosts, DataRate::from_bps(1)).is_err(), "{hosts}");
    }
}

#[test]
fn a_flow_that_has_sent_less_than_its_rate_says_so_and_is_given_more() {
    let mut schedule = Schedule::new(
        &links(&[100, 100]),
        Name::Fca.scheduler(Options { work_conserving: false, ..Options::default() }),
        None,
    );
    let [slow, fast] = [0, 1].map(|flow| FlowId { transfer: 0, flow });
    for (id, link) in [(slow, 0), (fast, 1)] {
        schedule.arrive(Time::ZERO, &NewFlow { id, volume_bits: 1000, path: &[link] }).unwrap();
    }
    schedule.allocate(Time::ZERO).unwrap();
    let later = Time::ZERO + Duration::from_secs(5);
    schedule.progress(later, fast, 250).unwrap();
    assert_eq!(schedule.flows().flow(fast).unwrap().remaining_bits(), 250);
    assert_eq!(schedule.flows().flow(slow).unwrap().remaining_bits(), 500);
    // The remaining volume cannot exceed the volume.
    schedule.progress(later, fast, u64::MAX).unwrap();
    assert_eq!(schedule.flows().flow(fast).unwrap().remaining_bits(), 1000);
}

#[test]
fn a_flow_with_nothing_left_ends_now_even_without_a_rate() {
    let mut schedule = Schedule::new(&links(&[100]), Name::Sebf.scheduler(Options::default()), None);
    let [_, second] = [0, 1].map(|transfer| {
        let id = FlowId { transfer, flow: 0 };
        schedule.arrive(Time::ZERO, &NewFlow { id, volume_bits: 1000, path: &[0] }).unwrap();
        id
    });
    schedule.allocate(Time::ZERO).unwrap();
    assert_eq!(schedule.flows().flow(second).unwrap().time_left(), None);
    schedule.progress(Time::ZERO, second, 0).unwrap();
    assert_eq!(schedule.flows().flow(second).unwrap().time_left(), Some(Duration::ZERO));
}

#[test]
fn least_attained_service_serves_a_young_transfer_before_one_that_has_sent_its_first_limit() {
    // 8 * 10 MiB at 8 * 1 MiB per second: old exceeds its first limit after 10 s; young arrives at 20 s.
    let links = links(&[8 << 20]);
    let flow = |transfer, at, mebibytes: u64| Arrival {
        at: Time::ZERO + Duration::from_secs(at),
        id: FlowId { transfer, flow: 0 },
        volume_bits: mebibytes << 23,
        path: vec![0],
    };
    let flows = [flow(1, 0, 40), flow(2, 20, 5), flow(3, 21, 15)];
    let outcome =
        fluid::run(&links, Name::Dclas, Options::default(), &flows, fluid::Options::default()).unwrap();
    let ends: Vec<_> = outcome.transfers.iter().map(|transfer| transfer.ended.as_secs_f64()).collect();
    // 2 ends at 25; 3 sends 10 MiB until 35, and then joins the second queue behind 1, which ends at 55.
    assert_eq!(ends, [55.0, 25.0, 60.0]);
}
