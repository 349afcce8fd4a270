//! Actions, registers, counters, meters and the switch's side effects, on `actions.p4`.

use bm::{CounterValue, CrcParameters, Fault, MatchKeyParam, State};

use crate::harness::{ethernet, values, Bench};

const JSON: &[u8] = include_bytes!("../programs/actions.json");

/// Returns a frame with items; the last must be of kind 0, which ends the parser's loop.
fn frame(items: &[(u8, u32)]) -> Vec<u8> {
    let mut frame = ethernet(2, 1, 0x800);
    for (kind, value) in items {
        frame.extend_from_slice(&(u32::from(*kind) << 24 | value).to_be_bytes());
    }
    frame
}

fn run(bench: &mut Bench, items: &[(u8, u32)]) {
    assert_eq!(bench.parse(&frame(items)), 0);
    bench.run("ingress").unwrap();
}

#[test]
fn a_register_is_read_changed_and_written_in_one_action() {
    let mut bench = Bench::new(JSON);
    let counts: Vec<u64> = (0..4)
        .map(|_| {
            run(&mut bench, &[(3, 1), (0, 0)]);
            bench.get("results", "count")
        })
        .collect();
    // The limit of the default action is 2.
    assert_eq!(counts, [1, 2, 0, 1]);
    assert_eq!(bench.state.register_read("ingress.counts", 3).unwrap(), [0, 0, 0, 1]);
    assert_eq!(
        bench.state.read_counters("ingress.seen", 3).unwrap(),
        CounterValue { bytes: 4 * 22, packets: 4 }
    );
}

#[test]
fn a_register_index_beyond_the_array_reads_nothing_and_writes_nothing() {
    let mut bench = Bench::new(JSON);
    run(&mut bench, &[(200, 1), (0, 0)]);
    assert_eq!(bench.get("results", "count"), 1);
    assert!(bench.state.register_read_all("ingress.counts").unwrap().iter().all(|cell| cell == &[0; 4]));
}

#[test]
fn registers_are_written_and_reset_by_the_control_plane() {
    let mut bench = Bench::new(JSON);
    let state = &mut bench.state;
    state.register_write_range("ingress.counts", 1, 3, &[7]).unwrap();
    let index = bench.program.register_index("ingress.counts").unwrap();
    assert_eq!(state.register_cells(index), [0, 7, 7, 0]);
    let error = state.register_write("ingress.counts", 4, &[1]).unwrap_err();
    assert!(error.text.ends_with("index 4 is out of range, the array has 4 cells"), "{error}");
    let error = state.register_write("ingress.counts", 0, &[1, 0, 0, 0, 0]).unwrap_err();
    assert_eq!(error.to_string(), "register 'ingress.counts': value 0x0100000000 does not fit 32 bits");
    state.register_reset("ingress.counts").unwrap();
    assert_eq!(state.register_cells(index), [0; 4]);
}

#[test]
fn a_range_of_cells_is_what_its_cells_are_one_by_one_and_lies_within_the_array() {
    let mut bench = Bench::new(JSON);
    let state = &mut bench.state;
    (0..4).for_each(|at| state.register_write("ingress.counts", at, &[1, at as u8]).unwrap());
    assert_eq!(state.register_read_range("ingress.counts", 1, 3).unwrap(), [0, 0, 1, 1, 0, 0, 1, 2]);
    let cell = |packets| CounterValue { bytes: 0, packets };
    state.write_counter_array("ingress.seen", cell(7)).unwrap();
    state.write_counters("ingress.seen", 1, cell(8)).unwrap();
    assert_eq!(state.read_counters_range("ingress.seen", 0, 3).unwrap(), [cell(7), cell(8), cell(7)]);
    for (start, end) in [(0, 5), (2, 2), (3, 1), (4, 5), (u64::MAX, 0)] {
        let error = state.register_read_range("ingress.counts", start, end).unwrap_err();
        assert!(error.text.ends_with("is out of range, the array has 4 cells"), "{error}");
    }
}

/// CRC-16/XMODEM.
const XMODEM: CrcParameters<u16> = CrcParameters {
    polynomial: 0x1021,
    initial_remainder: 0,
    final_xor: 0,
    reflect_data: false,
    reflect_remainder: false,
};

#[test]
fn parameters_of_a_crc_are_those_of_one_switch_and_survive_a_reset() {
    let json = String::from_utf8(JSON.to_vec()).unwrap().replace("\"crc16\"", "\"crc16_custom\"");
    let hash = |bench: &mut Bench| {
        run(bench, &[(2, 1), (0, 0)]);
        bench.get("results", "hash")
    };
    let mut plain = Bench::new(JSON);
    let expected = hash(&mut plain);
    let mut bench = Bench::new(json.as_bytes());
    assert_eq!(hash(&mut bench), expected);
    bench.state.set_crc16_custom_parameters("calc", XMODEM).unwrap();
    let crc = frame(&[])[..12].iter().fold(0u16, |r, &byte| {
        (0..8).fold(r ^ u16::from(byte) << 8, |r, _| if r >> 15 == 1 { r << 1 ^ 0x1021 } else { r << 1 })
    });
    let set = 100 + u64::from(crc) % 1000;
    assert_eq!(hash(&mut bench), set);
    bench.state.reset_state();
    assert_eq!(hash(&mut bench), set);
    bench.state = State::new(&bench.program);
    assert_eq!(hash(&mut bench), expected);
}

#[test]
fn parameters_of_what_is_no_such_crc_are_refused_by_name() {
    let mut state = Bench::new(JSON).state;
    let error = state.set_crc16_custom_parameters("calc", XMODEM).unwrap_err();
    assert_eq!(
        error.to_string(),
        "calculation 'calc': is not of type crc16_custom, whose parameters alone can be set"
    );
    let error = state.set_crc16_custom_parameters("other", XMODEM).unwrap_err();
    assert_eq!(error.to_string(), "no calculation named 'other'; there is calc");
    let json = String::from_utf8(JSON.to_vec()).unwrap().replace("\"crc16\"", "\"crc32_custom\"");
    let error = Bench::new(json.as_bytes()).state.set_crc16_custom_parameters("calc", XMODEM).unwrap_err();
    assert_eq!(error.code, "WRONG_TYPE_CALCULATION", "{error}");
}

#[test]
fn a_stack_index_beyond_the_stack_stops_the_packet() {
    let mut bench = Bench::new(JSON);
    assert_eq!(bench.parse(&frame(&[(3, 4), (0, 0)])), 0);
    assert_eq!(bench.run("ingress"), Err(Fault::StackIndex));
}

#[test]
fn a_loop_without_end_is_stopped() {
    let mut bench = Bench::new(JSON);
    let key = [MatchKeyParam::Exact(vec![8, 0])];
    bench.state.mt_add_entry("ingress.choose", &key, "ingress.forever", &[], 0).unwrap();
    assert_eq!(bench.parse(&frame(&[(3, 0), (0, 0)])), 0);
    assert_eq!(bench.run("ingress"), Err(Fault::StepLimit));
}

#[test]
fn a_switch_hears_of_every_call_in_order() {
    let mut bench = Bench::new(JSON);
    run(&mut bench, &[(3, 1), (0, 0)]);
    let expected = [
        "random 5..=9",
        "generate_digest [1, 1]",
        "clone_ingress_pkt_to_egress [7, 1]",
        "resubmit [1]",
        "truncate [60]",
        "log kind 3 of 2048",
    ];
    assert_eq!(bench.externs.calls, expected);
    bench.externs.calls.clear();
    bench.run("egress").unwrap();
    assert_eq!(bench.externs.calls, ["recirculate [1]"]);
}

#[test]
fn action_data_of_the_wrong_number_are_refused() {
    let mut bench = Bench::new(JSON);
    let error =
        bench.state.mt_set_default_action("ingress.choose", "ingress.work", &values(&[1, 2])).unwrap_err();
    assert_eq!(error.to_string(), "action 'ingress.work': 2 values given, it takes 1 (limit)");
}
