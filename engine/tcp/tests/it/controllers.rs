//! Custom congestion control: the connection calls it at each event, and it cannot break the connection.

use std::sync::Arc;

use crate::channel::{Channel, Net};
use crate::transfers::Faults;
use proptest::prelude::*;
use tcp::congestion::{Ack, Controller, NewReno, Window};
use tcp::{Config, Settings, State};
use units::{Duration, Time};

/// Runs a transfer of `bytes` over 10 Gbit/s and 100 us. One segment in `lost` is lost, and one in `marked` is marked.
fn transfer(settings: &Settings, bytes: u64, (lost, marked, seed): (u32, u32, u64)) -> Net {
    let faults = Faults { lost, twice: 0, late: 0, marked, seed };
    let channel = Channel { rule: faults.rule(), ..Channel::new(10, Duration::from_us(100)) };
    let mut net = Net::new(channel, settings, &[(Time::ZERO, bytes)], 7);
    net.close_in_turn = true;
    net.judge_all(bytes as usize);
    net.ends[0].close();
    assert!(!net.run_until(Time::ZERO + Duration::from_secs(3_600)), "still going after an hour");
    assert_eq!((net.ends[1].bytes_received(), net.ends[0].state()), (bytes, State::Closed));
    net
}

fn config(frto: bool) -> Config {
    Config { min_rto: Duration::from_ms(1), retries: 30, frto, dsack: frto, .."ecn".parse().unwrap() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The built-in and the custom implementation of an algorithm give the same counts and the same end.
    #[test]
    fn newreno_as_a_controller_of_the_users_own_does_what_the_built_in_one_does(
        bytes in 1..400_000_u64,
        faults in (prop_oneof![Just(0), 5..200_u32], prop_oneof![Just(0), 5..200_u32], any::<u64>()),
        undo in any::<bool>(),
    ) {
        let built_in = config(undo).check().unwrap();
        let own = built_in.clone().with_controller(|_| Box::new(NewReno));
        let (ours, users) = (transfer(&built_in, bytes, faults), transfer(&own, bytes, faults));
        prop_assert_eq!(ours.now, users.now);
        prop_assert_eq!(ours.ends[0].stats(), users.ends[0].stats());
        prop_assert_eq!(ours.ends[0].cwnd(), users.ends[0].cwnd());
    }

    /// The transfer ends and every byte arrives, whatever numbers a controller writes into the window.
    #[test]
    fn no_number_that_a_controller_writes_stops_a_connection(
        windows in prop::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 0..100_000_u64], 1..20),
        lost in prop_oneof![Just(0), 20..200_u32],
        rack in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let wild = Wild { windows: windows.into(), next: 0 };
        let config = Config { rack, prr: rack, ..config(true) };
        let settings = config.check().unwrap().with_controller(move |_| Box::new(wild.clone()));
        transfer(&settings, 200_000, (lost, 20, seed));
    }
}

/// Writes the numbers in turn into the window, at every event.
#[derive(Clone, Debug)]
struct Wild {
    windows: Arc<[u64]>,
    next: usize,
}

impl Wild {
    fn write(&mut self, window: &mut Window) {
        let mut next = || {
            self.next += 1;
            self.windows[self.next % self.windows.len()]
        };
        (window.cwnd, window.ssthresh) = (next(), next());
    }
}

impl Controller for Wild {
    fn grow(&mut self, window: &mut Window, _: &Ack) {
        self.write(window);
    }

    fn on_mark(&mut self, window: &mut Window) {
        self.write(window);
    }

    fn on_loss(&mut self, window: &mut Window, _: u64) {
        self.write(window);
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
