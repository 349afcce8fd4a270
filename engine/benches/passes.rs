//! Full passes of one core through the fabric's program: parse, verify checksums, ingress, egress, update checksums, deparse.
//! Not a switch: it has no queue, clock or port.

#![allow(missing_docs)] // criterion_group! generates a public function without any.

use std::hint::black_box;

use benches::common::eeon;
use bm::{Detached, Field, Phv, State};
use criterion::{criterion_group, criterion_main, Criterion, Throughput};

const PORT: u16 = 3;

fn passes(criterion: &mut Criterion) {
    let program = eeon::program();
    let mut state = State::new(&program);
    eeon::admit(&mut state, 1, &[2, 1, 0, 0, 0, 1]);
    for net in 1..=4 {
        eeon::route(&mut state, net, &[PORT; 4]);
    }
    eeon::mark_above(&mut state, PORT, 30_000);
    eeon::buffer_limit(&mut state, PORT, 300_000);
    eeon::eee(&mut state, PORT, eeon::TEN_GIGABIT, eeon::ticks_per_byte_q24(10_000_000_000));
    let mut phv = Phv::new(&program);
    let parser = program.parser("parser").unwrap();
    let deparser = program.deparser("deparser").unwrap();
    let (ingress, egress) = (program.pipeline("ingress").unwrap(), program.pipeline("egress").unwrap());
    let standard = |name: &str| -> Field { program.field("standard_metadata", name).unwrap() };
    let (ingress_port, egress_spec, egress_port) =
        (standard("ingress_port"), standard("egress_spec"), standard("egress_port"));
    let (arrival, departure) = (standard("ingress_global_timestamp"), standard("egress_global_timestamp"));
    let packet_length = standard("packet_length");
    let frame = eeon::tcp_frame(2, 2, 2, 40_000, 1_514);
    let mut out = Vec::new();
    let mut now = 1_000_000;

    let mut pass = |expected: u64| {
        now += 1_200;
        phv.reset(&program, frame.len() as u64);
        phv.set(ingress_port, 1);
        phv.set(packet_length, frame.len() as u64);
        phv.set(arrival, now);
        assert_eq!(state.parse(parser, &mut phv, &frame, None), 0);
        assert!(state.verify_checksums(&mut phv, &frame, None));
        state.run(ingress, &mut phv, &mut Detached, None).unwrap();
        assert_eq!(phv.get(egress_spec), expected);
        phv.set(egress_port, expected);
        // Late enough for any gate to be open, so the packet leaves and the queue is empty again.
        phv.set(departure, now + 1_000_000);
        state.run(egress, &mut phv, &mut Detached, None).unwrap();
        let payload = &frame[phv.payload_offset()..];
        state.update_checksums(&mut phv, payload, None);
        out.clear();
        state.deparse(deparser, &mut phv, &mut out);
        black_box(&out);
    };
    let mut group = criterion.benchmark_group("eeon.json");
    group.throughput(Throughput::Elements(1));
    group.bench_function("full pass, TCP data, marking threshold, EEE, ECMP", |bencher| {
        bencher.iter(|| pass(PORT.into()));
    });
    group.finish();
}

criterion_group!(benches, passes);
criterion_main!(benches);
