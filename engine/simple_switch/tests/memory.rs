//! A waiting packet takes little more memory than its bytes, and most of that is freed when it has left.

#![allow(unsafe_code)] // Counting allocations requires a global allocator, whose trait is unsafe; it only forwards.

#[path = "support/counting.rs"]
mod counting;
mod support;

use counting::live_bytes;
use simple_switch::{PortConfig, Switch, SwitchConfig};
use support::eeon;
use units::{DataRate, Duration, Time};

/// Number of waiting packets.
const PACKETS: usize = 40_000;
/// Bytes of each, including the headroom of a frame.
const FRAME_BYTES: usize = 64 + 128;

#[test]
fn a_waiting_packet_takes_little_more_memory_than_its_frame_and_gives_it_back() {
    let config = SwitchConfig {
        tick: Duration::from_ns(1),
        ports: vec![PortConfig::unlimited(1), PortConfig::ethernet(2, DataRate::from_bps(1_000_000_000))],
        ..SwitchConfig::default()
    };
    let mut switch = Switch::new(eeon::program(), config).unwrap();
    let mut state = switch.state_mut();
    eeon::route(&mut state, 2, &[2]);
    eeon::buffer_limit(&mut state, 2, 1 << 30);
    drop(state);
    let frame = eeon::tcp_frame(2, 9, 2, 1000, 64);
    let empty = live_bytes();
    for _ in 0..=PACKETS {
        switch.handle_packet(Time::ZERO, 1, &frame, 0);
    }
    assert_eq!(switch.queue_packets(2), PACKETS);
    let each = (live_bytes() - empty) / PACKETS;
    assert!(each < FRAME_BYTES + 1650, "{each} bytes for each waiting packet");

    switch.handle_wakeup(Time::ZERO + Duration::from_ms(1000));
    while let Some(transmit) = switch.poll_transmit() {
        switch.recycle(transmit.frame);
    }
    assert_eq!(switch.stats().in_flight, 0);
    let kept = (live_bytes() - empty) / PACKETS;
    assert!(kept < 700, "{kept} bytes kept for each packet that has waited");
}
