//! A packet allocates nothing once the switch has seen a similar one: buffers, scratch and queues are reused.

#![allow(unsafe_code)] // Counting allocations requires a global allocator, whose trait is unsafe; it only forwards.

#[path = "support/counting.rs"]
mod counting;
mod support;

use simple_switch::{Switch, SwitchConfig};
use support::eeon::{self, Eee};
use units::{Duration, Time};

/// Sends `count` packets through the E-EON program, by gate or by recirculation, and returns the time afterwards.
fn traffic(switch: &mut Switch, frames: &[Vec<u8>], start: Time, count: usize) -> Time {
    let mut now = start;
    for index in 0..count {
        // Bursts and pauses, so that ports sleep, hold, queue and drop.
        now += if index % 50 == 0 { Duration::from_us(400) } else { Duration::from_us(2) };
        switch.handle_packet(now, 1, &frames[index % frames.len()], 0);
        while let Some(transmit) = switch.poll_transmit() {
            switch.recycle(transmit.frame);
        }
    }
    now
}

/// The only test of this file: allocations of another thread would also be counted.
#[test]
fn steady_traffic_allocates_nothing() {
    let frames: Vec<_> = [64, 1500, 300].map(|length| eeon::tcp_frame(2, 9, 2, 1000, length)).into();
    for gate in [true, false] {
        let gate_register = gate.then(|| eeon::GATE.to_owned());
        let config = SwitchConfig { gate_register, ..eeon::config(1..=4, 1_000_000_000) };
        let mut switch = Switch::new(eeon::program(), config).unwrap();
        let mut state = switch.state_mut();
        eeon::route(&mut state, 2, &[2, 3, 4]);
        for port in 2..=4 {
            eeon::mark_above(&mut state, port, 3000);
            eeon::buffer_limit(&mut state, port, 20_000);
            eeon::eee(&mut state, port, Eee { hold: 20_000, ..eeon::GIGABIT });
        }
        drop(state);
        let now = traffic(&mut switch, &frames, Time::ZERO + Duration::from_ms(1), 5_000);
        let before = counting::allocations();
        traffic(&mut switch, &frames, now, 5_000);
        assert_eq!(counting::allocations() - before, 0, "gate: {gate}");
        assert_eq!(switch.stats().recirculated == 0, gate, "{:?}", switch.stats());
        assert!(switch.stats().sent > 5_000, "{:?}", switch.stats());
    }
}
