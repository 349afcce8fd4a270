//! Rates are whole bits per second, so a link that a transfer fills up keeps some. They do not limit other transfers.

use schedule::fca::{Fca, Options};
use schedule::{FlowId, Name, NewFlow, Schedule, Scheduler};
use units::{DataRate, Time};

const GIGABIT: u64 = 1_000_000_000;
/// Volumes of flows that fill link 0 together: their rates, rounded down, leave 1 or 2 bit/s.
const FILLING: [u64; 3] = [100_000_007, 200_000_003, 300_000_001];

struct Filled(Schedule);

impl Filled {
    /// Creates two links, and transfer 0, which fills the first.
    fn new(scheduler: Box<dyn Scheduler>) -> Self {
        let mut it = Filled(Schedule::new(&[DataRate::from_bps(GIGABIT); 2], scheduler, None));
        for (flow, volume) in FILLING.into_iter().enumerate() {
            it.arrive(0, flow as u64, volume, 0);
        }
        it.0.allocate(Time::ZERO).unwrap();
        it
    }

    fn arrive(&mut self, transfer: u64, flow: u64, volume_bits: u64, link: u32) {
        let id = FlowId { transfer, flow };
        self.0.arrive(Time::ZERO, &NewFlow { id, volume_bits, path: &[link] }).unwrap();
    }

    fn rate(&self, transfer: u64, flow: u64) -> u64 {
        self.0.flows().flow(FlowId { transfer, flow }).unwrap().rate_bps()
    }
}

#[test]
fn a_transfer_that_waits_for_a_full_link_shares_its_other_links_fairly() {
    for name in [Name::Sebf, Name::Scf] {
        let mut it = Filled::new(name.scheduler(Options::default()));
        for (flow, link) in [(0, 0), (1, 1), (2, 1)] {
            it.arrive(1, flow, GIGABIT, link);
        }
        it.0.allocate(Time::ZERO).unwrap();
        assert_eq!((it.rate(1, 1), it.rate(1, 2)), (GIGABIT / 2, GIGABIT / 2), "{name}");
    }
}

#[test]
fn a_flow_on_a_full_link_does_not_slow_down_the_others_of_its_transfer() {
    let mut it = Filled::new(Box::new(Fca::new(Options { work_conserving: false, ..Options::default() })));
    it.arrive(1, 0, GIGABIT, 1);
    it.0.allocate(Time::ZERO).unwrap();
    assert_eq!(it.rate(1, 0), GIGABIT);
    it.arrive(1, 1, GIGABIT, 0);
    it.0.allocate(Time::ZERO).unwrap();
    assert_eq!((it.rate(1, 0), it.rate(1, 1)), (GIGABIT, 0));
}
