//! For every program a frame that arrives without the zeros at its end is the same as the frame with them.

use crate::support::{eeon, run_to_idle, transmits, us, Request};
use proptest::prelude::*;
use simple_switch::{DropCause, MirroringSession, PortConfig, Switch, SwitchConfig, MAX_FRAME_BYTES};
use units::Time;

/// A frame that left: port, time, bytes, tag.
type Sent = (u16, Time, Vec<u8>, u64);

/// Returns the frames that leave, and the switch's counts.
fn outcome(switch: &mut Switch) -> (Vec<Sent>, String) {
    run_to_idle(switch, Time::MAX);
    let sent = transmits(switch).into_iter().map(|t| (t.port, t.at, t.frame.to_vec(), t.tag)).collect();
    (sent, format!("{:?} {:?} {:?}", switch.stats(), switch.port_stats(1), switch.port_stats(2)))
}

/// Returns a switch that runs the probe program, with a destination for clones.
fn probing() -> Switch {
    let mut switch = crate::support::switch_with(|config| config.recirculation_limit = 8);
    for session in 0..4 {
        let clones = MirroringSession { egress_port: Some(2), ..MirroringSession::default() };
        switch.set_session(session, clones).expect("a session's number");
    }
    switch
}

fn routing() -> Switch {
    let ports = (1..=4).map(PortConfig::unlimited).collect();
    let config = SwitchConfig { ports, ..SwitchConfig::default() };
    let mut switch = Switch::new(eeon::program(), config).expect("the configuration is sound");
    eeon::route(&mut switch.state_mut(), 2, &[2]);
    switch
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_snapped_frame_is_handled_as_the_whole_one(
        op in 0..20_u8,
        argument in 0..40_u16,
        source_port in any::<u16>(),
        length in 54..300_usize,
        damage in prop::option::of((0..54_usize, any::<u8>())),
        there in 0..70_usize,
        zeros in 0..1500_usize,
    ) {
        let request = Request { op, count: 2, port: 1, argument, payload: 40, ..Request::default() };
        let mut segment = eeon::tcp_frame(2, 9, 2, source_port, length);
        if let Some((at, value)) = damage {
            segment[at] = value;
        }
        for (mut frame, make) in [(request.bytes(), probing as fn() -> Switch), (segment, routing)] {
            frame.truncate(there);
            let wire_len = frame.len() + zeros;
            let (mut snapped, mut whole) = (make(), make());
            snapped.handle_snapped(us(1), 1, &frame, wire_len, 7);
            // A second packet displaces the first one, where that waits.
            snapped.handle_snapped(us(1), 1, &frame, wire_len, 8);
            frame.resize(wire_len, 0);
            whole.handle_packet(us(1), 1, &frame, 7);
            whole.handle_packet(us(1), 1, &frame, 8);
            prop_assert_eq!(outcome(&mut snapped), outcome(&mut whole));
        }
    }
}

#[test]
fn a_frame_that_is_too_long_is_dropped_without_its_zeros_too() {
    let mut switch = routing();
    switch.handle_snapped(us(1), 1, &[0; 60], MAX_FRAME_BYTES + 1, 7);
    assert_eq!(switch.port_stats(1).drops.get(DropCause::FrameTooLong), 1);
    assert_eq!(switch.stats().p4_passes, 0);
}
