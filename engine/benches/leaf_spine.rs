//! P4 passes per second, end to end: an open-loop shuffle through the papers' 160 hosts, 4 leaves and 2 spines, with
//! byte thresholds on every port; once with EEE off and once with coalescing everywhere.
//!
//! Throughput is in P4 passes: divide by the time for passes/s. Every host sends full frames to hosts of all racks at
//! about a third of its line rate, so leaves' uplinks are loaded and queues form. A third of the packets are ACKs.

#![allow(missing_docs)] // `criterion_group!` makes a function without.

use benches::common::LeafSpine;
use criterion::{criterion_group, criterion_main, BatchSize, Criterion, Throughput};
use netsim::spec::{NicEeeSpec, NicSpec};
use netsim::Fabric;
use units::{Duration, Time};
use wire::tcp::ACK;
use wire::Ecn;

/// Frames of one run.
const FRAMES: usize = 60_000;
/// Bytes of a frame that a trace would have captured.
const SNAPPED: usize = 96;

pub(crate) struct Replay {
    size: LeafSpine,
    /// (host, time, first bytes, length), in order of time.
    frames: Vec<(usize, Time, Vec<u8>, usize)>,
}

impl Replay {
    /// Returns a replay of this many frames.
    pub(crate) fn new(eee: bool, frames: usize) -> Self {
        let nic_eee = NicEeeSpec { hold_ps: 12_000_000, trigger_packets: 10, ..NicEeeSpec::default() };
        let nic = NicSpec { eee: eee.then_some(nic_eee), ..NicSpec::default() };
        let size = LeafSpine { leaves: 4, hosts_per_leaf: 40, spines: 2, eee, nic, ..LeafSpine::default() };
        let hosts = size.host_count();
        let gap = Duration::from_us(30).as_ps() / hosts as u64;
        let frames = (0..frames).map(|index| {
            // Host `from` sends to a partner that advances by a stride that visits every host.
            let (from, round) = (index % hosts, index / hosts);
            let to = (from + 1 + (round * 37) % (hosts - 1)) % hosts;
            let (payload, ecn) = if round % 3 == 2 { (0, Ecn::NotEct) } else { (1460, Ecn::Ect0) };
            let mut frame = size.segment(from, to, ACK, payload, ecn);
            let wire_len = frame.len();
            frame.truncate(SNAPPED);
            (from, Time::from_ps(index as u64 * gap), frame, wire_len)
        });
        Self { size, frames: frames.collect() }
    }

    pub(crate) fn fabric(&self) -> Fabric {
        self.size.marking(30_000)
    }

    /// Feeds a millisecond, then runs a millisecond, as a caller with bounded memory does. Returns the P4 passes.
    pub(crate) fn run(&self, fabric: &mut Fabric) -> u64 {
        let mut end = Time::ZERO;
        for (host, at, frame, wire_len) in &self.frames {
            while *at >= end {
                fabric.run_until(end);
                end += Duration::from_ms(1);
            }
            fabric.send(*host, *at, frame, *wire_len).expect("frames are in order of time");
        }
        assert!(fabric.run_to_idle(Time::from_ps(1 << 60)), "the replay ends");
        fabric.p4_passes()
    }
}

fn leaf_spine(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("leaf_spine_160");
    group.sample_size(10);
    for (name, eee) in [("replay", false), ("replay_coalescing", true)] {
        let replay = Replay::new(eee, FRAMES);
        let passes = replay.run(&mut replay.fabric());
        group.throughput(Throughput::Elements(passes));
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(|| replay.fabric(), |fabric| replay.run(fabric), BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group!(benches, leaf_spine);
criterion_main!(benches);
