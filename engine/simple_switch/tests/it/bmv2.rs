//! Compares this switch with a recording of BMv2's simple_switch on the probe program, packet by packet.
//!
//! `p4/record_bmv2.py` made the recording. Real times are compared as zero or not zero. Queues and rates are not
//! compared, nor the order between ports, which BMv2 leaves to its threads.

use crate::support::*;
use serde_json::Value;
use simple_switch::MirroringSession;
use units::Time;

/// Offset and length of the parts of a report that depend on real time, queue depths and waits.
const TIMES: [(usize, usize); 3] = [(20, 8), (28, 8), (36, 4)];
const DEPTHS: [(usize, usize); 3] = [(40, 4), (44, 4), (48, 4)];

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn without_times(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    for (at, length) in TIMES {
        let is_set = frame[at..at + length].iter().any(|byte| *byte != 0);
        frame[at..at + length].fill(0);
        frame[at + length - 1] = u8::from(is_set);
    }
    DEPTHS.iter().for_each(|(at, length)| frame[*at..at + length].fill(0));
    frame
}

/// Returns the frames that this switch sends, by port and in order, after the control writes of `record_bmv2.py`.
fn outputs(request: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut switch = switch_with(|_| ());
    let pre = switch.pre_mut();
    pre.mc_mgrp_create(3).unwrap();
    for (rid, ports) in [(1, &[4][..]), (2, &[5, 2][..])] {
        let node = pre.mc_node_create(rid, ports).unwrap();
        pre.mc_node_associate(3, node).unwrap();
    }
    for (id, egress_port, mgid) in [(1, Some(6), None), (2, None, Some(3)), (3, Some(6), None)] {
        switch.mirroring_mut().add(id, MirroringSession { egress_port, mgid, ..Default::default() }).unwrap();
    }
    switch.handle_packet(us(1_000_000), 0, request, 0);
    run_to_idle(&mut switch, Time::MAX);
    let mut sent: Vec<_> =
        transmits(&mut switch).iter().map(|t| (u64::from(t.port), without_times(&t.frame))).collect();
    sent.sort_by_key(|(port, _)| *port);
    sent
}

#[test]
fn every_recorded_packet_comes_out_as_from_bmv2() {
    let cases: Value = serde_json::from_str(include_str!("../p4/bmv2_outputs.json")).unwrap();
    let cases = cases.as_array().unwrap();
    assert!(cases.len() > 20, "the recording is whole");
    let mut wrong = Vec::new();
    for case in cases {
        let recorded: Vec<_> = case["outputs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|output| (output[0].as_u64().unwrap(), from_hex(output[1].as_str().unwrap())))
            .collect();
        let ours = outputs(&from_hex(case["request"].as_str().unwrap()));
        if ours != recorded {
            wrong.push(format!("{}:\n  BMv2 {recorded:02x?}\n  here {ours:02x?}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
