//! Full passes of one core through the fabric's program: parse, verify checksums, ingress, egress, update checksums, deparse.
//! Not a switch: it has no queue, clock or port.

#![allow(missing_docs)] // criterion_group! generates a public function without any.

use std::hint::black_box;
use std::sync::Arc;

use bm::{Executable, Externs, Field, LogMessage, MatchKeyParam, Phv, Program, State};
use criterion::{criterion_group, criterion_main, Criterion, Throughput};

const PORT: u64 = 3;
const FRAME_BYTES: usize = 1514;

/// A switch that ignores side effects.
struct Idle;

impl Externs for Idle {
    fn drop_port(&self) -> u64 {
        511
    }
    fn now_ps(&self) -> u64 {
        0
    }
    fn random(&mut self, lo: u64, _hi: u64) -> u64 {
        lo
    }
    fn clone_ingress(&mut self, _phv: &Phv, _session: u64, _field_list: u64) {}
    fn clone_egress(&mut self, _phv: &Phv, _session: u64, _field_list: u64) {}
    fn resubmit(&mut self, _phv: &Phv, _field_list: u64) {}
    fn recirculate(&mut self, _phv: &Phv, _field_list: u64) {}
    fn generate_digest(&mut self, _phv: &Phv, _receiver: u64, _learn_list: u64) {}
    fn truncate(&mut self, _phv: &Phv, _bytes: u64) {}
    fn log_msg(&mut self, _message: LogMessage<'_>) {}
}

/// Returns an Ethernet, IPv4, TCP data segment from 10.0.1.1 to 10.0.2.2 with ECT(0) and a correct header checksum.
fn tcp_data() -> Vec<u8> {
    let mut frame = vec![0; FRAME_BYTES];
    frame[..14].copy_from_slice(&[2, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 8, 0]);
    let total = (FRAME_BYTES - 14) as u16;
    frame[14] = 0x45;
    frame[15] = 2;
    frame[16..18].copy_from_slice(&total.to_be_bytes());
    frame[20] = 0x40;
    frame[22] = 64;
    frame[23] = 6;
    frame[26..30].copy_from_slice(&[10, 0, 1, 1]);
    frame[30..34].copy_from_slice(&[10, 0, 2, 2]);
    let sum: u32 = frame[14..34].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame[34..38].copy_from_slice(&[0x9c, 0x40, 0x13, 0x88]);
    frame[46] = 0x50;
    frame[47] = 0x10;
    frame
}

/// Returns the last action of a table with this short name, qualified as in the program.
fn qualified<'a>(names: impl Iterator<Item = &'a str>, short: &str) -> String {
    let suffix = format!(".{short}");
    let mut found = names.filter(|n| n.ends_with(&suffix));
    found.next().unwrap_or_else(|| panic!("eeon.json has no '{short}'")).to_owned()
}

fn configure(state: &mut State) {
    let program = Arc::clone(state.program());
    let table = |short: &str| qualified(program.tables().iter().map(|t| t.name.as_str()), short);
    let action = |short: &str| qualified(program.actions().iter().map(|a| a.name.as_str()), short);
    let words = |values: &[u64]| values.iter().map(|v| v.to_be_bytes().to_vec()).collect::<Vec<_>>();
    let profile = program.action_profiles()[0].name.clone();
    let group = state.mt_act_prof_create_group(&profile).unwrap();
    for next_hop in 0..4 {
        let data = words(&[PORT, 0x0201_0000_0001, 0x0201_0000_0010 + next_hop]);
        let member = state.mt_act_prof_add_member(&profile, &action("forward"), &data).unwrap();
        state.mt_act_prof_add_member_to_group(&profile, member, group, None).unwrap();
    }
    let own = [MatchKeyParam::Exact(vec![0, 1]), MatchKeyParam::Exact(vec![2, 1, 0, 0, 0, 1])];
    state.mt_add_entry(&table("l3_admit"), &own, &action("admit_to_l3"), &[], 0).unwrap();
    let route = table("ipv4_route");
    for leaf in 1..=4 {
        let prefix = MatchKeyParam::Lpm(vec![10, 0, leaf, 0], 24);
        state.mt_indirect_ws_add_entry(&route, &[prefix], group, 0).unwrap();
    }
    let port = [MatchKeyParam::Exact(vec![0, PORT as u8])];
    let mark = words(&[30_000, 30_000, 0]);
    state.mt_add_entry(&table("port_aqm"), &port, &action("mark_threshold"), &mark, 0).unwrap();
    state
        .mt_add_entry(&table("port_buffer"), &port, &action("set_buffer_limit"), &words(&[300_000]), 0)
        .unwrap();
    let eee = words(&[2_880, 4_480, 0, 12_000, 10, 0, 13_421_773, 24]);
    state.mt_add_entry(&table("port_eee"), &port, &action("eee"), &eee, 0).unwrap();
}

fn passes(criterion: &mut Criterion) {
    let json = include_bytes!("../../p4src/compiled/eeon.json");
    let program = Executable::new(Program::from_json(json).unwrap());
    let mut state = State::new(&program);
    configure(&mut state);
    let mut phv = Phv::new(&program);
    let parser = program.parser("parser").unwrap();
    let deparser = program.deparser("deparser").unwrap();
    let (ingress, egress) = (program.pipeline("ingress").unwrap(), program.pipeline("egress").unwrap());
    let standard = |name: &str| -> Field { program.field("standard_metadata", name).unwrap() };
    let (ingress_port, egress_spec, egress_port) =
        (standard("ingress_port"), standard("egress_spec"), standard("egress_port"));
    let (arrival, departure) = (standard("ingress_global_timestamp"), standard("egress_global_timestamp"));
    let packet_length = standard("packet_length");
    let frame = tcp_data();
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
        state.run(ingress, &mut phv, &mut Idle, None).unwrap();
        assert_eq!(phv.get(egress_spec), expected);
        phv.set(egress_port, expected);
        // Late enough for any gate to be open, so the packet leaves and the queue is empty again.
        phv.set(departure, now + 1_000_000);
        state.run(egress, &mut phv, &mut Idle, None).unwrap();
        let payload = &frame[phv.payload_offset()..];
        state.update_checksums(&mut phv, payload, None);
        out.clear();
        state.deparse(deparser, &mut phv, &mut out);
        black_box(&out);
    };
    let mut group = criterion.benchmark_group("eeon.json");
    group.throughput(Throughput::Elements(1));
    group.bench_function("full pass, TCP data, marking threshold, EEE, ECMP", |bencher| {
        bencher.iter(|| pass(PORT));
    });
    group.finish();
}

criterion_group!(benches, passes);
criterion_main!(benches);
