//! Properties of the compiled program in one switch, whatever its settings, its packets, their times and its clock: one
//! test for each of the six properties of the design, and one for each rule that they do not cover.
//!
//! Each test runs random cases (`case.rs`): bursts at one instant, overload and long silence; every class, damaged
//! packets and packet-outs; every AQM and EEE mode, changed while packets are held; clocks that wrap meanwhile. By
//! gate, and by recirculation where the two could differ.
//!
//! Not covered: ECMP, lost packets, more than one switch (`netsim/tests/it/properties.rs`), and each tick of the hold
//! (`hold_exhaustive.rs`).

mod case;
mod checks;
#[path = "../../support/properties/mod.rs"]
mod random;
mod run;

use proptest::prelude::*;

use case::{cases, Changes, Form};

const REGRESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/properties/regressions.txt");
const STEPS: usize = 60;
/// Held packets recirculate thousands of times.
const STEPS_OF_RECIRCULATION: usize = 30;

/// Makes a test of each line: random cases with these changes pass these checks.
macro_rules! properties {
    ($cases:literal, $steps:expr, $form:expr; $($(#[$doc:meta])* fn $name:ident($changes:ident) $($check:ident)+;)*) => {
        proptest! {
            #![proptest_config(random::config($cases, REGRESSIONS))]
            $(
                $(#[$doc])*
                #[test]
                fn $name(case in cases(Changes::$changes, $steps)) {
                    let trace = run::run(&case, $form);
                    $(checks::$check(&trace)?;)+
                }
            )*
        }
    };
}

properties! {
    192, STEPS, Form::Gate;

    /// Packets received = sent + counted as dropped + still inside, at any time. In the end each port's and each
    /// class's counters give the packets offered and their outcomes, one verdict per packet: rule 2.1 as well.
    fn property_1_every_packet_is_sent_or_counted_or_still_inside(Everything) conservation;

    /// After every event the occupancy registers equal the packets and bytes admitted that have not left, so they are 0
    /// when there are none; and they equal the traffic manager's.
    fn property_2_occupancy_is_what_waits_and_zero_when_nothing_does(Everything) occupancy;

    /// The packets of a port leave in the order of arrival, and every ticket given has been served.
    fn property_3_packets_of_a_port_leave_in_the_order_admitted(Everything) order;

    /// Nothing is dropped early unless RED finds its port congested, may not mark the packet, and does not protect it.
    fn property_4_no_early_drop_under_a_threshold_or_protected(Everything) early_drops;

    /// No packet waits longer than the longer of the hold and the rest of the sleep transition, the wake, and the
    /// frames ahead of it on the wire; while its link is awake, only for the frames ahead of it. Each leaves at last.
    fn property_5_nothing_waits_longer_than_hold_sleep_wake_and_the_bytes_ahead(Everything) waits;

    /// Observed on the wire, each silence of a link is shorter than its stall or long enough for both transitions. The
    /// program's counts of wakes and of ticks in low power equal the wire's: low power + transition + active = elapsed.
    fn property_6_low_power_transition_and_active_time_are_all_the_time(AllButThePhy) energy;

    /// A packet is tail-dropped exactly if it and the bytes before it exceed the limit.
    fn rule_2_2_a_packet_is_tail_dropped_exactly_when_it_does_not_fit(Everything) tail_drops;

    /// A threshold marks ECT exactly above it, RED never below its minimum and always from its maximum on; and no other
    /// packet gets CE.
    fn rule_2_3_a_packet_is_marked_exactly_when_its_mode_says_so(Everything) marks;

    /// A frame leaves as it arrived, except MAC addresses, TTL, mark, and the IPv4 checksum over them.
    fn rule_2_3_a_frame_leaves_as_it_came_but_for_macs_ttl_and_mark(Everything) frames;
}

properties! {
    48, STEPS_OF_RECIRCULATION, Form::Recirculation;

    fn property_1_holds_by_recirculation(Everything) conservation;

    fn property_2_holds_by_recirculation(Everything) occupancy;

    fn property_3_holds_by_recirculation(Everything) order;

    /// As by gate, and a round later, or a round for each packet ahead where a round takes longer than a frame.
    fn property_5_holds_by_recirculation(Everything) waits;

    /// As by gate; each sleep may last a round longer than the program counts.
    fn property_6_holds_by_recirculation(AllButThePhy) energy;

    /// The results of ingress recirculate with the packet.
    fn rule_2_3_holds_by_recirculation(Everything) marks frames;
}
