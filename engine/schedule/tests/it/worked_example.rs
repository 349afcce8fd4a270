//! The paper's worked example (section 4.1, figure 5), exactly, in every order of arrival.

use schedule::fca::{Options, Volume};
use schedule::fluid::{self, Arrival};
use schedule::{FlowId, Name};
use units::{DataRate, Duration, Time};

const MEGABIT: u64 = 1_000_000;

fn links(second: u64) -> [DataRate; 3] {
    [5, second, 15].map(|rate| DataRate::from_bps(rate * MEGABIT))
}

/// Returns flow `flow` of transfer `transfer` over one of the three links.
fn flow(transfer: u64, flow: u64, link: u32, at: Time) -> Arrival {
    let id = FlowId { transfer, flow };
    Arrival { at, id, volume_bits: 30 * MEGABIT, path: vec![link] }
}

/// Returns transfer A over links 1 and 3, and transfer B over links 2 and 3.
fn flows(second_at: Time) -> [Arrival; 4] {
    let zero = Time::ZERO;
    [flow(1, 1, 0, zero), flow(1, 2, 2, zero), flow(2, 1, 1, second_at), flow(2, 2, 2, second_at)]
}

fn ends(links: &[DataRate], name: Name, options: Options, flows: &[Arrival]) -> [Duration; 2] {
    let outcome = fluid::run(links, name, options, flows, fluid::Options::default()).unwrap();
    let [a, b] = outcome.transfers[..] else { panic!("two transfers") };
    [a.ended.since(a.began), b.ended.since(b.began)]
}

fn seconds(values: [u64; 2]) -> [Duration; 2] {
    values.map(Duration::from_secs)
}

fn orders() -> Vec<[usize; 4]> {
    let all = (0..256_usize).map(|code| [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6]);
    all.filter(|order| (0..4).all(|flow| order.contains(&flow))).collect()
}

#[test]
fn fair_sharing_takes_6_and_4_seconds() {
    assert_eq!(ends(&links(10), Name::Fair, Options::default(), &flows(Time::ZERO)), seconds([6, 4]));
}

#[test]
fn chasing_takes_6_and_3_seconds_in_all_24_orders_of_arrival() {
    assert_eq!(orders().len(), 24);
    for order_by in [Volume::Total, Volume::Remaining] {
        for order in orders() {
            // Simultaneous arrivals are handled in the order of the list.
            let flows = order.map(|index| flows(Time::ZERO)[index].clone());
            let options = Options { order: order_by, ..Options::default() };
            assert_eq!(ends(&links(10), Name::Fca, options, &flows), seconds([6, 3]), "{order:?}");
        }
    }
}

#[test]
fn a_picosecond_between_arrivals_makes_no_difference_to_a_millionth() {
    for order in orders() {
        let mut flows = order.map(|index| flows(Time::ZERO)[index].clone());
        for (place, flow) in flows.iter_mut().enumerate() {
            flow.at = Time::from_ps(place as u64);
        }
        let [a, b] = ends(&links(10), Name::Fca, Options::default(), &flows);
        for (measured, exact) in [(a, 6.0), (b, 3.0)] {
            assert!(
                (measured.as_secs_f64() / exact - 1.0).abs() < 1e-6,
                "{order:?}: {measured} for {exact} s"
            );
        }
    }
}

#[test]
fn a_transfer_two_seconds_later_takes_3_seconds_when_chasing_is_myopic_and_2_when_it_conserves_work() {
    let later = Time::ZERO + Duration::from_secs(2);
    for (work_conserving, second) in [(false, 3), (true, 2)] {
        let options = Options { work_conserving, ..Options::default() };
        assert_eq!(ends(&links(15), Name::Fca, options, &flows(later)), seconds([6, second]));
    }
    // This case does not distinguish chasing from fair sharing.
    assert_eq!(ends(&links(15), Name::Fair, Options::default(), &flows(later)), seconds([6, 2]));
}
