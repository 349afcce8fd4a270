//! The number of packets per second that one switch takes through the whole E-EON program, with all features on.
//!
//! Routes over an ECMP group, byte marking, EEE coalescing with the gate. One iteration is one packet: received, run
//! through ingress, queued, run through egress, sent, its buffer returned. Time is virtual, so this is the speed of the
//! code and not of a link.

#![allow(missing_docs)] // criterion_group! makes a public function.

use std::hint::black_box;

use benches::common::eeon;
use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use simple_switch::Switch;
use units::{Duration, Time};

const PORTS: u16 = 4;

fn switch() -> Switch {
    let config = eeon::config(1..=PORTS, 10_000_000_000);
    let mut switch = Switch::new(eeon::program(), config).expect("the configuration is sound");
    let mut state = switch.state_mut();
    for net in 0..64 {
        eeon::route(&mut state, net, &[1, 2, 3, 4]);
    }
    for port in 1..=PORTS {
        eeon::mark_above(&mut state, port, 20_000);
        eeon::buffer_limit(&mut state, port, 200_000);
        eeon::eee(&mut state, port, eeon::TEN_GIGABIT, eeon::ticks_per_byte_q24(10_000_000_000));
    }
    drop(state);
    switch
}

/// A switch, and the packets of one length that arrive at it.
pub(crate) struct OneSwitch {
    switch: Switch,
    frames: Vec<Vec<u8>>,
    now: Time,
    gap: Duration,
    next: usize,
}

impl OneSwitch {
    /// Creates a bench: packets of `length` bytes arrive at half of the rate of four links, so that ports sleep, hold, wake and queue.
    pub(crate) fn new(length: usize) -> Self {
        let frames = (0..64u16).map(|flow| eeon::tcp_frame(flow as u8, 9, 2, 1000 + flow, length));
        Self {
            switch: switch(),
            frames: frames.collect(),
            now: Time::from_ps(1_000_000_000),
            gap: Duration::from_ps((length as u64 + 24) * 800 / 2),
            next: 0,
        }
    }

    /// Receives a packet, and takes the frames that leave until then.
    #[inline]
    pub(crate) fn pass(&mut self) {
        self.now += self.gap;
        let frame = black_box(&self.frames[self.next % self.frames.len()]);
        self.switch.handle_packet(self.now, 1, frame, self.next as u64);
        self.next += 1;
        while let Some(transmit) = self.switch.poll_transmit() {
            self.switch.recycle(black_box(transmit.frame));
        }
    }

    /// Checks that nothing was lost.
    pub(crate) fn check(&self) {
        let stats = self.switch.stats();
        assert!(stats.is_balanced(), "{stats:?}");
        assert_eq!(stats.drops.total(), 0, "the load fits the links, so nothing is dropped");
    }
}

fn p4_passes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("p4_passes");
    for length in [64, 256, 1500] {
        let mut one = OneSwitch::new(length);
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{length} bytes"), |bencher| bencher.iter(|| one.pass()));
        one.check();
    }
    group.finish();
}

criterion_group!(benches, p4_passes);
criterion_main!(benches);
