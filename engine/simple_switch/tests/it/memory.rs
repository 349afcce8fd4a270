//! Memory: a packet allocates nothing once the switch has seen a similar one, a waiting packet takes little more than its
//! bytes and gives most of them back, and a full switch stays below 100 MB.

use simple_switch::{PortConfig, Switch, SwitchConfig};
use units::{DataRate, Duration, Time};

use crate::counting::{allocations, live_bytes};
use crate::full;
use crate::support::eeon::{self, Eee};

/// Number of waiting packets.
const PACKETS: usize = 40_000;
/// Bytes of each, including the headroom of a frame.
const FRAME_BYTES: usize = 64 + 128;
/// Limit for a switch with the maximum number of ports and table entries.
const FULL_BYTES: usize = 100_000_000;

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

#[test]
fn steady_traffic_allocates_nothing() {
    let frames: Vec<_> = [64, 1500, 300].map(|length| eeon::tcp_frame(2, 9, 2, 1000, length)).into();
    for gate in [true, false] {
        let gate_register = gate.then(|| eeon::GATE.to_owned());
        let (bps, ticks) = (1_000_000_000, eeon::ticks_per_byte_q24(1_000_000_000));
        let config = SwitchConfig { gate_register, ..eeon::config(1..=4, bps) };
        let mut switch = Switch::new(eeon::program(), config).unwrap();
        let mut state = switch.state_mut();
        eeon::route(&mut state, 2, &[2, 3, 4]);
        for port in 2..=4 {
            eeon::mark_above(&mut state, port, 3000);
            eeon::buffer_limit(&mut state, port, 20_000);
            eeon::eee(&mut state, port, Eee { hold: 20_000, ..eeon::GIGABIT }, ticks);
        }
        drop(state);
        let now = traffic(&mut switch, &frames, Time::ZERO + Duration::from_ms(1), 5_000);
        let before = allocations();
        traffic(&mut switch, &frames, now, 5_000);
        assert_eq!(allocations() - before, 0, "gate: {gate}");
        assert_eq!(switch.stats().recirculated == 0, gate, "{:?}", switch.stats());
        assert!(switch.stats().sent > 5_000, "{:?}", switch.stats());
    }
}

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

#[test]
fn a_switch_with_every_port_and_full_tables_takes_less_than_100_mb_with_its_program() {
    let before = live_bytes();
    let switch = full::switch(&eeon::load());
    let bytes = live_bytes() - before;
    for table in
        switch.program().tables().iter().filter(|table| !table.const_entries && !table.key.is_empty())
    {
        let entries = switch.state().mt_get_num_entries(&table.name).expect("it is a table");
        assert_eq!(entries, table.max_size, "entries of {}", table.name);
    }
    assert!(bytes < FULL_BYTES, "{bytes} bytes");
}
