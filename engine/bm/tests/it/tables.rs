//! Match tables and the runtime interface, on `tables.p4`: what neither the conditions of the fuzz target `runtime_api` nor the
//! scripts of `simple_switch/tests/constructs` check.

use bm::{CounterValue, MatchKeyParam, MeterRate, RuntimeError};

use crate::harness::{ethernet, values, Bench, DROP_PORT};

const JSON: &[u8] = include_bytes!("../programs/tables.json");

const ROUTE: &str = "ingress.route";
const ACL: &str = "ingress.acl";

struct Outcome {
    port: u64,
    mode: u64,
    colour: u64,
}

fn send(bench: &mut Bench, dst: u64, src: u64, ether_type: u16) -> Outcome {
    assert_eq!(bench.parse(&ethernet(dst, src, ether_type)), 0);
    bench.run("ingress").unwrap();
    let trace = bench.get("ethernet", "src");
    Outcome {
        port: bench.get("standard_metadata", "egress_spec"),
        mode: trace >> 24,
        colour: trace >> 16 & 0xff,
    }
}

fn exact(value: u64, bytes: usize) -> MatchKeyParam {
    MatchKeyParam::Exact(value.to_be_bytes()[8 - bytes..].to_vec())
}

fn mac(value: u64) -> Vec<u8> {
    value.to_be_bytes()[2..].to_vec()
}

fn route(ether_type: u64, dst: u64, length: u32) -> Vec<MatchKeyParam> {
    vec![exact(ether_type, 2), MatchKeyParam::Lpm(mac(dst), length)]
}

fn acl(dst: (u64, u64), src: Option<u64>, types: (u16, u16)) -> Vec<MatchKeyParam> {
    let source =
        src.map_or(MatchKeyParam::Ternary(mac(0), mac(0)), |s| MatchKeyParam::Ternary(mac(s), mac(u64::MAX)));
    let ends = (types.0.to_be_bytes().to_vec(), types.1.to_be_bytes().to_vec());
    vec![MatchKeyParam::Ternary(mac(dst.0), mac(dst.1)), source, MatchKeyParam::Range(ends.0, ends.1)]
}

#[test]
fn a_switch_on_the_action_follows_the_default_action_too() {
    let mut bench = Bench::new(JSON);
    assert_eq!(send(&mut bench, 5, 1, 0x800).mode, 99);
}

#[test]
fn exit_ends_the_pipeline_after_its_action() {
    let mut bench = Bench::new(JSON);
    bench.state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.send", &values(&[1]), 0).unwrap();
    bench.state.mt_add_entry(ACL, &acl((0, 0), None, (0, 0xffff)), "ingress.deny", &[], 1).unwrap();
    assert_eq!(send(&mut bench, 5, 6, 0x800).port, DROP_PORT);
    // The statement after the tables did not run: the source address is the packet's own.
    assert_eq!(bench.get("ethernet", "src"), 6);
}

#[test]
fn a_deleted_entrys_row_is_used_again_under_another_handle_and_the_old_one_has_expired() {
    let mut bench = Bench::new(JSON);
    let state = &mut bench.state;
    let add = |state: &mut bm::State, dst| {
        state.mt_add_entry(ROUTE, &route(0x800, dst, 48), "ingress.send", &values(&[1]), 0).unwrap()
    };
    assert_eq!([add(state, 1), add(state, 2), add(state, 3)], [0, 1, 2]);
    state.mt_delete_entry(ROUTE, 1).unwrap();
    state.mt_delete_entry(ROUTE, 0).unwrap();
    let error = state.mt_delete_entry(ROUTE, 0).unwrap_err();
    assert_eq!(error.code, "INVALID_HANDLE", "{error}");
    assert_eq!([add(state, 4), add(state, 5), add(state, 6)], [1 << 24, 1 << 24 | 1, 3]);
    let error = state.mt_get_entry(ROUTE, 0).unwrap_err();
    assert_eq!(error.code, "EXPIRED_HANDLE", "{error}");
    let order: Vec<u64> = state.mt_get_entries(ROUTE).unwrap().iter().map(|e| e.handle & 0xff_ffff).collect();
    assert_eq!(order, [0, 1, 2, 3]);
    assert_eq!(state.mt_get_num_entries(ROUTE).unwrap(), 4);
    state.mt_clear_entries(ROUTE, false).unwrap();
    assert_eq!(add(state, 7), 0);
}

#[test]
fn an_entry_has_only_the_bits_that_the_programs_mask_of_its_key_keeps() {
    let mut json: serde_json::Value = serde_json::from_slice(JSON).unwrap();
    let tables = json["pipelines"][0]["tables"].as_array_mut().unwrap();
    let masked = tables.iter_mut().find(|t| t["name"] == "ingress.exact_mode").unwrap();
    masked["key"][0]["mask"] = "0x0000000000ff".into();
    let mut bench = Bench::new(json.to_string().as_bytes());
    let key = |src| [exact(src, 6), exact(0x800, 2)];
    let mut add = |src| {
        bench.state.mt_add_entry(
            "ingress.exact_mode",
            &key(src),
            "ingress.set_mode",
            &values(&[src & 0xff]),
            0,
        )
    };
    add(0x1203).unwrap();
    assert_eq!(add(0x5603).unwrap_err().code, "DUPLICATE_ENTRY");
    assert_eq!(bench.state.mt_get_entry("ingress.exact_mode", 0).unwrap().key, key(3));
    bench.state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.send", &values(&[1]), 0).unwrap();
    assert_eq!(send(&mut bench, 5, 0x7803, 0x800).mode, 3);
}

#[test]
fn a_miss_that_runs_a_default_action_is_counted_as_the_default_entrys() {
    let mut bench = Bench::new(JSON);
    let handle =
        bench.state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.send", &values(&[1]), 0).unwrap();
    send(&mut bench, 5, 1, 0x800);
    send(&mut bench, 5, 1, 0x801);
    send(&mut bench, 5, 1, 0x801);
    let expected = CounterValue { bytes: 28, packets: 2 };
    assert_eq!(bench.state.mt_read_counters(ROUTE, None).unwrap(), expected);
    assert_eq!(bench.state.mt_read_counters(ROUTE, Some(handle)).unwrap().packets, 1);
    bench.state.mt_write_counters(ROUTE, None, CounterValue { bytes: 7, packets: 3 }).unwrap();
    assert_eq!(bench.state.mt_read_counters(ROUTE, None).unwrap().packets, 3);
    bench.state.mt_reset_counters(ROUTE).unwrap();
    assert_eq!(bench.state.mt_read_counters(ROUTE, None).unwrap(), CounterValue::default());
    let error = bench.state.mt_read_counters(ACL, None).unwrap_err();
    assert_eq!(error.code, "COUNTERS_DISABLED", "{error}");
}

#[test]
fn a_miss_is_metered_once_the_default_entry_has_rates() {
    let mut bench = Bench::new(JSON);
    bench.state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.send", &values(&[1]), 0).unwrap();
    let mut colours = |rates: &[MeterRate]| -> Vec<u64> {
        bench.state.mt_set_meter_rates(ACL, None, rates).unwrap();
        assert_eq!(bench.state.mt_get_meter_rates(ACL, None).unwrap(), rates);
        (0..3).map(|_| send(&mut bench, 5, 1, 0x800).colour).collect()
    };
    let rate = |info_rate, burst_size| MeterRate { info_rate, burst_size };
    assert_eq!(colours(&[]), [0, 0, 0]);
    assert_eq!(colours(&[rate(1.0, 1), rate(2.0, 2)]), [0, 1, 2]);
    let reversed = bench.state.mt_set_meter_rates(ACL, None, &[rate(2.0, 1), rate(1.0, 1)]).unwrap_err();
    assert_eq!(reversed.code, "INVALID_INFO_RATE_VALUE", "{reversed}");
}

#[test]
fn refusals_name_the_object_the_value_and_the_limit() {
    let mut bench = Bench::new(JSON);
    let groups = bench.program.tables().iter().find(|table| table.name == "ingress.groups").unwrap();
    let profile = groups.action_profile.clone().unwrap();
    let state = &mut bench.state;
    let member = state.mt_act_prof_add_member(&profile, "ingress.set_port", &values(&[5])).unwrap();
    let group = state.mt_act_prof_create_group(&profile).unwrap();
    let error = state.mt_act_prof_remove_member_from_group(&profile, member, group).unwrap_err();
    assert_eq!(error.code, "MBR_NOT_IN_GRP", "{error}");
    let message = |result: Result<u64, RuntimeError>| result.unwrap_err().to_string();
    assert_eq!(
        message(state.mt_add_entry("ingress.rout", &[], "ingress.send", &[], 0)).split(';').next(),
        Some("no table named 'ingress.rout'")
    );
    assert_eq!(
        message(state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.permit", &[], 0)),
        "table 'ingress.route' has no action 'ingress.permit'; it has ingress.send, ingress.drop, NoAction"
    );
    assert_eq!(
        message(state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.send", &values(&[512]), 0)),
        "action 'ingress.send': parameter 'port': value 0x0200 does not fit 9 bits"
    );
    assert_eq!(
        message(state.mt_add_entry(ROUTE, &route(0x800, 0, 49), "ingress.send", &values(&[1]), 0)),
        "table 'ingress.route' key 'hdr.ethernet.dst': prefix length 49 is beyond the field's 48 bits"
    );
    assert_eq!(
        message(state.mt_add_entry(ROUTE, &[exact(1, 2)], "ingress.send", &values(&[1]), 0)),
        "table 'ingress.route' key '*': 1 fields given, it has 2 (hdr.ethernet.type, hdr.ethernet.dst)"
    );
}
