//! Properties of the compiled program in one switch, whatever its settings, its packets, their times and its clock: one
//! test for each of the first five properties of the design, and one for each rule that they do not cover.
//!
//! Each test runs random cases (`case.rs`): bursts at one instant, overload and long silence; every class, damaged
//! packets and packet-outs; every AQM and EEE mode, changed while packets are held; clocks that wrap meanwhile. By
//! gate, and by recirculation where the two could differ.
//!
//! Not covered: ECMP, lost packets, more than one switch (`netsim/tests/it/properties.rs`), each tick of the hold, and the
//! account of energy (`hold_exhaustive.rs`).

mod case;
mod checks;
#[path = "../../support/properties/mod.rs"]
mod random;
mod run;

use proptest::prelude::*;

use case::{cases, Form};

const REGRESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/properties/regressions.txt");
const STEPS: usize = 60;
/// Held packets recirculate thousands of times.
const STEPS_OF_RECIRCULATION: usize = 30;

/// Makes a test of each line: random cases pass these checks.
macro_rules! properties {
    ($cases:literal, $steps:expr, $form:expr; $($(#[$doc:meta])* fn $name:ident() $($check:ident)+;)*) => {
        proptest! {
            #![proptest_config(random::config($cases, REGRESSIONS))]
            $(
                $(#[$doc])*
                #[test]
                fn $name(case in cases($steps)) {
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
    /// class's counters give the packets offered and their outcomes, one verdict per packet.
    fn property_1_every_packet_is_sent_or_counted_or_still_inside() conservation;

    /// After every event the occupancy registers equal the packets and bytes admitted that have not left, so they are 0
    /// when there are none; and they equal the traffic manager's.
    fn property_2_occupancy_is_what_waits_and_zero_when_nothing_does() occupancy;

    /// The packets of a port leave in the order of arrival, and every ticket given has been served.
    fn property_3_packets_of_a_port_leave_in_the_order_admitted() order;

    /// Nothing is dropped early unless RED finds its port congested, may not mark the packet, and does not protect it.
    fn property_4_no_early_drop_under_a_threshold_or_protected() early_drops;

    /// Whatever changes meanwhile, no packet waits longer than the longest hold or stall and sleep transition, the wake,
    /// and the frames ahead of it on the wire. Each leaves at last.
    fn property_5_nothing_waits_longer_than_hold_sleep_wake_and_the_bytes_ahead() waits;

    /// A packet is tail-dropped exactly if it and the bytes before it exceed the limit.
    fn rule_2_2_a_packet_is_tail_dropped_exactly_when_it_does_not_fit() tail_drops;

    /// A threshold marks ECT exactly above it, RED never below its minimum and always from its maximum on; and no other
    /// packet gets CE.
    fn rule_2_3_a_packet_is_marked_exactly_when_its_mode_says_so() marks;

    /// A frame leaves as it arrived, except MAC addresses, TTL, mark, and the IPv4 checksum over them.
    fn rule_2_3_a_frame_leaves_as_it_came_but_for_macs_ttl_and_mark() frames;
}

properties! {
    48, STEPS_OF_RECIRCULATION, Form::Recirculation;

    fn property_1_holds_by_recirculation() conservation;

    fn property_2_holds_by_recirculation() occupancy;

    fn property_3_holds_by_recirculation() order;

    /// As by gate, and a round later, or a round for each packet ahead where a round takes longer than a frame.
    fn property_5_holds_by_recirculation() waits;

    /// The results of ingress recirculate with the packet.
    fn rule_2_3_holds_by_recirculation() marks frames;
}
