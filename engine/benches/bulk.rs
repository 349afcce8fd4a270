//! Segments per second of two endpoints in a bulk transfer: a window of segments is carried to one end, then the ACKs
//! to the other. No frames are built or parsed, so only the endpoints are measured.
//!
//! An element is a segment, data or ACK, sent by one end and handled by the other.

#![allow(missing_docs)] // `criterion_group!` generates a function without documentation.

use criterion::{criterion_group, criterion_main, BatchSize, Criterion, Throughput};
use tcp::{Config, Connection, Segment};
use units::{Bytes, Duration, Time};
use wire::Ecn;

/// Bytes of one transfer.
const BYTES: u64 = 20_000_000;

struct Pair {
    client: Connection,
    server: Connection,
    now: Time,
    under_way: Vec<Segment>,
    segments: u64,
}

impl Pair {
    fn new(config: &Config) -> Self {
        let settings = config.clone().check().expect("settings of a bench");
        let mut client = Connection::connect(&settings, 1);
        client.send(BYTES).expect("a transfer fits a connection");
        let server = Connection::listen(&settings, 2);
        Self { client, server, now: Time::ZERO, under_way: Vec::with_capacity(4_096), segments: 0 }
    }

    /// Runs half round trips until all data is acknowledged. One segment in `lost` is lost, one in `marked` is marked.
    fn run(&mut self, lost: u64, marked: u64) -> u64 {
        while self.client.bytes_unacknowledged() > 0 {
            while let Some(mut segment) = self.client.poll_transmit(self.now) {
                self.segments += 1;
                if lost > 0 && self.segments % lost == 0 {
                    continue;
                }
                if marked > 0 && self.segments % marked == 0 && segment.ecn == Ecn::Ect0 {
                    segment.ecn = Ecn::Ce;
                }
                self.under_way.push(segment);
            }
            self.now += Duration::from_us(50);
            for segment in &self.under_way {
                self.server.handle_segment(self.now, segment);
                while let Some(ack) = self.server.poll_transmit(self.now) {
                    self.segments += 1;
                    self.client.handle_segment(self.now, &ack);
                }
            }
            self.under_way.clear();
            self.now += Duration::from_us(50);
            // Nothing was in flight: advance to the next timer.
            let due = [&self.client, &self.server].map(Connection::next_timeout);
            let idle =
                self.client.in_flight() == Bytes::ZERO || due.iter().flatten().any(|due| *due <= self.now);
            if let (true, Some(due)) = (idle, due.into_iter().flatten().min()) {
                self.now = self.now.max(due);
            }
            self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
            while let Some(ack) = self.server.poll_transmit(self.now) {
                self.client.handle_segment(self.now, &ack);
            }
        }
        self.segments
    }
}

fn bulk(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bulk");
    group.sample_size(10);
    // 1 MB: the tuned window of the papers.
    let of = |name: &str| Config {
        receive_buffer: Some(Bytes::new(1_000_000)),
        ..name.parse().expect("a name of the crate")
    };
    let timestamps = Config { timestamps: Some(Duration::from_us(1)), ..of("newreno") };
    for (name, config, lost, marked) in [
        ("newreno", of("newreno"), 0, 0),
        ("timestamps", timestamps, 0, 0),
        ("dctcp_1_in_20_marked", of("dctcp"), 0, 20),
        ("cubic", of("cubic"), 0, 0),
        ("sack_1_in_1000_lost", of("newreno"), 1_000, 0),
        ("rack_1_in_1000_lost", Config { rack: true, prr: true, ..of("newreno") }, 1_000, 0),
    ] {
        let segments = Pair::new(&config).run(lost, marked);
        group.throughput(Throughput::Elements(segments));
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || Pair::new(&config),
                |pair| pair.run(lost, marked),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, bulk);
criterion_main!(benches);
