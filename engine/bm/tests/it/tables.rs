//! Match tables and the runtime interface, on `tables.p4`.

use bm::{CounterValue, MatchKeyParam, MeterRate, MtAction, RuntimeError};

use crate::harness::{ethernet, values, Bench, DROP_PORT};

const JSON: &[u8] = include_bytes!("../programs/tables.json");
const SHARED_PROFILE: &[u8] = include_bytes!("../programs/shared_profile.json");

const ROUTE: &str = "ingress.route";
const ACL: &str = "ingress.acl";

struct Outcome {
    port: u64,
    mode: u64,
    colour: u64,
    profile_port: u64,
}

fn send(bench: &mut Bench, dst: u64, src: u64, ether_type: u16) -> Outcome {
    assert_eq!(bench.parse(&ethernet(dst, src, ether_type)), 0);
    bench.run("ingress").unwrap();
    let trace = bench.get("ethernet", "src");
    Outcome {
        port: bench.get("standard_metadata", "egress_spec"),
        mode: trace >> 24,
        colour: trace >> 16 & 0xff,
        profile_port: trace & 0xffff,
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
fn the_longest_prefix_wins_under_an_equal_exact_field() {
    let mut bench = Bench::new(JSON);
    for (dst, length, port) in [(0x0a00_0000_0000, 8, 1), (0x0a01_0000_0000, 16, 2), (0, 0, 3)] {
        bench
            .state
            .mt_add_entry(ROUTE, &route(0x800, dst, length), "ingress.send", &values(&[port]), 0)
            .unwrap();
    }
    assert_eq!(send(&mut bench, 0x0a01_0203_0405, 1, 0x800).port, 2);
    assert_eq!(send(&mut bench, 0x0a02_0203_0405, 1, 0x800).port, 1);
    assert_eq!(send(&mut bench, 0x0b02_0203_0405, 1, 0x800).port, 3);
    assert_eq!(send(&mut bench, 0x0a01_0203_0405, 1, 0x801).port, DROP_PORT);
}

#[test]
fn a_switch_on_the_action_follows_the_default_action_too() {
    let mut bench = Bench::new(JSON);
    assert_eq!(send(&mut bench, 5, 1, 0x800).mode, 99);
}

#[test]
fn entries_are_modified_deleted_and_counted_by_handle() {
    let mut bench = Bench::new(JSON);
    let state = &mut bench.state;
    let key = route(0x800, 0, 0);
    let handle = state.mt_add_entry(ROUTE, &key, "ingress.send", &values(&[1]), 0).unwrap();
    state.mt_modify_entry(ROUTE, handle, "ingress.send", &values(&[4])).unwrap();
    assert_eq!(state.mt_get_entry_from_key(ROUTE, &key, 0).unwrap().unwrap().handle, handle);
    assert_eq!(send(&mut bench, 5, 1, 0x800).port, 4);
    let expected = CounterValue { bytes: 14, packets: 1 };
    assert_eq!(bench.state.mt_read_counters(ROUTE, handle).unwrap(), expected);
    bench.state.mt_delete_entry(ROUTE, handle).unwrap();
    assert_eq!(bench.state.mt_get_num_entries(ROUTE).unwrap(), 0);
    assert_eq!(send(&mut bench, 5, 1, 0x800).port, DROP_PORT);
    let error = bench.state.mt_delete_entry(ROUTE, handle).unwrap_err();
    assert!(matches!(error, RuntimeError::BadHandle { .. }), "{error}");
}

#[test]
fn entries_read_back_as_they_were_added() {
    let mut bench = Bench::new(JSON);
    let key = acl((0x0200, 0xff00), Some(9), (3, 70));
    bench.state.mt_add_entry(ACL, &key, "ingress.permit", &values(&[7]), 30).unwrap();
    let entries = bench.state.mt_get_entries(ACL).unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!((&entries[0].key, entries[0].priority), (&key, 30));
    let MtAction::Action(action, data) = &entries[0].action else { panic!("{:?}", entries[0]) };
    assert_eq!(bench.program.actions()[action.index()].name, "ingress.permit");
    assert_eq!(data, &[vec![7]]);
}

#[test]
fn of_ternary_entries_the_low_priority_number_wins() {
    let mut bench = Bench::new(JSON);
    bench.state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.send", &values(&[1]), 0).unwrap();
    bench
        .state
        .mt_add_entry(ACL, &acl((0, 0), None, (0, 0xffff)), "ingress.permit", &values(&[1]), 20)
        .unwrap();
    bench
        .state
        .mt_add_entry(ACL, &acl((4, 4), None, (0x800, 0x800)), "ingress.permit", &values(&[2]), 10)
        .unwrap();
    bench
        .state
        .mt_add_entry(ACL, &acl((0, 0), Some(6), (0, 0x7ff)), "ingress.permit", &values(&[3]), 1)
        .unwrap();
    assert_eq!(send(&mut bench, 5, 6, 0x800).mode, 2);
    assert_eq!(send(&mut bench, 3, 6, 0x800).mode, 1);
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
    assert!(matches!(error, RuntimeError::BadHandle { .. }), "{error}");
    assert_eq!([add(state, 4), add(state, 5), add(state, 6)], [1 << 24, 1 << 24 | 1, 3]);
    let error = state.mt_get_entry(ROUTE, 0).unwrap_err();
    assert!(matches!(error, RuntimeError::ExpiredHandle { handle: 0, .. }), "{error}");
    let order: Vec<u64> = state.mt_get_entries(ROUTE).unwrap().iter().map(|e| e.handle & 0xff_ffff).collect();
    assert_eq!(order, [0, 1, 2, 3]);
    assert_eq!(state.mt_get_num_entries(ROUTE).unwrap(), 4);
    state.mt_clear_entries(ROUTE, false).unwrap();
    assert_eq!(add(state, 7), 0);
}

#[test]
fn const_entries_go_by_the_order_of_the_program_and_cannot_be_changed() {
    let mut bench = Bench::new(JSON);
    bench.state.mt_add_entry(ROUTE, &route(0x180, 0, 0), "ingress.send", &values(&[1]), 0).unwrap();
    assert_eq!(send(&mut bench, 1, 6, 0x180).mode, 77);
    assert_eq!(send(&mut bench, 2, 6, 0x180).mode, 88);
    let error = bench.state.mt_delete_entry("ingress.fixed", 0).unwrap_err();
    assert!(matches!(error, RuntimeError::Immutable { .. }), "{error}");
    let error =
        bench.state.mt_set_default_action("ingress.fixed", "ingress.set_mode", &values(&[1])).unwrap_err();
    assert!(matches!(error, RuntimeError::ConstDefault { .. }), "{error}");
}

#[test]
fn a_full_table_and_a_second_entry_with_the_same_key_are_refused() {
    let mut bench = Bench::new(JSON);
    let table = "ingress.exact_mode";
    let key = |src| [exact(src, 6), exact(0x800, 2)];
    bench.state.mt_add_entry(table, &key(1), "ingress.set_mode", &values(&[1]), 0).unwrap();
    let error = bench.state.mt_add_entry(table, &key(1), "NoAction", &[], 0).unwrap_err();
    assert_eq!(error, RuntimeError::DuplicateEntry { table: table.to_owned(), handle: 0 });
    bench.state.mt_add_entry(table, &key(2), "NoAction", &[], 0).unwrap();
    let error = bench.state.mt_add_entry(table, &key(3), "NoAction", &[], 0).unwrap_err();
    assert!(matches!(error, RuntimeError::Full { limit: 2, .. }), "{error}");
    assert_eq!(send(&mut bench, 5, 1, 0x800).port, DROP_PORT);
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
    assert!(matches!(add(0x5603).unwrap_err(), RuntimeError::DuplicateEntry { .. }));
    assert_eq!(bench.state.mt_get_entry("ingress.exact_mode", 0).unwrap().key, key(3));
    bench.state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.send", &values(&[1]), 0).unwrap();
    assert_eq!(send(&mut bench, 5, 0x7803, 0x800).mode, 3);
}

#[test]
fn a_default_action_is_set_and_reset() {
    let mut bench = Bench::new(JSON);
    bench.state.mt_set_default_action(ROUTE, "ingress.send", &values(&[8])).unwrap();
    assert_eq!(send(&mut bench, 5, 1, 0x800).port, 8);
    bench.state.mt_reset_default_entry(ROUTE).unwrap();
    assert_eq!(send(&mut bench, 5, 1, 0x800).port, DROP_PORT);
}

#[test]
fn an_entry_of_an_indirect_table_runs_its_member() {
    let mut bench = Bench::new(JSON);
    let profile = bench.program.tables().iter().find(|t| t.name == "ingress.members").unwrap();
    let profile = profile.action_profile.clone().unwrap();
    let state = &mut bench.state;
    let member = state.mt_act_prof_add_member(&profile, "ingress.set_port", &values(&[5])).unwrap();
    state.mt_indirect_add_entry("ingress.members", &[exact(0x800, 2)], member, 0).unwrap();
    state.mt_act_prof_modify_member(&profile, member, "ingress.set_port", &values(&[6])).unwrap();
    let error = state.mt_act_prof_delete_member(&profile, member).unwrap_err();
    assert!(matches!(error, RuntimeError::InUse { .. }), "{error}");
    assert_eq!(send(&mut bench, 5, 1, 0x800).profile_port, 6);
}

#[test]
fn a_selector_picks_the_member_whose_rank_is_the_hash_of_its_fields() {
    let mut bench = Bench::new(JSON);
    let profile = bench.program.tables().iter().find(|t| t.name == "ingress.groups").unwrap();
    let profile = profile.action_profile.clone().unwrap();
    let state = &mut bench.state;
    let group = state.mt_act_prof_create_group(&profile).unwrap();
    let error = state.mt_indirect_ws_add_entry("ingress.groups", &[exact(0x800, 2)], group, 0).unwrap_err();
    assert!(matches!(error, RuntimeError::EmptyGroup { .. }), "{error}");
    for port in 10..13 {
        let member = state.mt_act_prof_add_member(&profile, "ingress.set_port", &values(&[port])).unwrap();
        state.mt_act_prof_add_member_to_group(&profile, member, group, None).unwrap();
    }
    state.mt_indirect_ws_add_entry("ingress.groups", &[exact(0x800, 2)], group, 0).unwrap();
    for src in 1..40u64 {
        // CRC-16/ARC of the address, bit by bit.
        let crc = mac(src).iter().fold(0u16, |r, &byte| {
            (0..8).fold(r ^ u16::from(byte), |r, _| if r & 1 == 1 { r >> 1 ^ 0xa001 } else { r >> 1 })
        });
        assert_eq!(send(&mut bench, 5, src, 0x800).profile_port, 10 + u64::from(crc) % 3, "source {src}");
    }
}

#[test]
fn a_selector_counts_only_the_members_whose_watched_port_is_up() {
    let mut bench = Bench::new(JSON);
    let profile = bench.program.tables().iter().find(|t| t.name == "ingress.groups").unwrap();
    let profile = profile.action_profile.clone().unwrap();
    let state = &mut bench.state;
    let group = state.mt_act_prof_create_group(&profile).unwrap();
    let mut members = Vec::new();
    for port in 10..13u16 {
        let data = values(&[u64::from(port)]);
        let member = state.mt_act_prof_add_member(&profile, "ingress.set_port", &data).unwrap();
        state.mt_act_prof_add_member_to_group(&profile, member, group, Some(port)).unwrap();
        members.push(member);
    }
    state.mt_indirect_ws_add_entry("ingress.groups", &[exact(0x800, 2)], group, 0).unwrap();
    let chosen = |bench: &mut Bench| -> std::collections::BTreeSet<u64> {
        (1..40).map(|src| send(bench, 5, src, 0x800).profile_port).collect()
    };
    let unset = chosen(&mut bench);
    assert!(unset.is_disjoint(&[10, 11, 12].into()), "no port is up yet: {unset:?}");
    for port in 10..13 {
        bench.state.set_port_up(port, true);
    }
    assert_eq!(chosen(&mut bench), [10, 11, 12].into());
    bench.state.set_port_up(11, false);
    assert_eq!(chosen(&mut bench), [10, 12].into());
    bench.state.mt_act_prof_watch_port(&profile, members[1], group, None).unwrap();
    assert_eq!(chosen(&mut bench), [10, 11, 12].into());
    bench.state.mt_act_prof_watch_port(&profile, members[0], group, Some(11)).unwrap();
    assert_eq!(chosen(&mut bench), [11, 12].into());
    let groups = bench.state.mt_act_prof_get_groups(&profile).unwrap();
    assert_eq!(groups[0].members, members, "what is passed over is still a member");
    let other = bench.state.mt_act_prof_add_member(&profile, "ingress.set_port", &values(&[5])).unwrap();
    let error = bench.state.mt_act_prof_watch_port(&profile, other, group, Some(1)).unwrap_err();
    assert!(matches!(error, RuntimeError::NotInGroup { .. }), "{error}");
}

#[test]
fn a_member_of_a_shared_profile_serves_each_of_its_tables() {
    let mut bench = Bench::new(SHARED_PROFILE);
    let copies = bench.program.actions().iter().filter(|a| a.name == "ingress.send").count();
    assert_eq!(copies, 2, "p4c made a copy for each table, which is what this test is about");
    let profile = bench.program.tables()[0].action_profile.clone().unwrap();
    let member = bench.state.mt_act_prof_add_member(&profile, "ingress.send", &values(&[7])).unwrap();
    for (table, ether_type) in [("ingress.first", 1), ("ingress.second", 2)] {
        bench.state.mt_indirect_add_entry(table, &[exact(5, 6)], member, 0).unwrap();
        assert_eq!(bench.parse(&ethernet(5, 1, ether_type)), 0);
        bench.run("ingress").unwrap();
        assert_eq!(bench.get("standard_metadata", "egress_spec"), 7, "{table}");
    }
}

#[test]
fn a_direct_meter_colours_the_packets_of_its_entry() {
    let mut bench = Bench::new(JSON);
    bench.state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.send", &values(&[1]), 0).unwrap();
    let key = acl((0, 0), None, (0, 0xffff));
    let handle = bench.state.mt_add_entry(ACL, &key, "ingress.permit", &values(&[1]), 1).unwrap();
    let rate = |info_rate, burst_size| MeterRate { info_rate, burst_size };
    let reversed = bench.state.mt_set_meter_rates(ACL, handle, &[rate(2.0, 1), rate(1.0, 1)]).unwrap_err();
    assert!(matches!(reversed, RuntimeError::BadRates { .. }), "{reversed}");
    bench.state.mt_set_meter_rates(ACL, handle, &[rate(1.0, 1), rate(2.0, 2)]).unwrap();
    let colours: Vec<u64> = (0..3).map(|_| send(&mut bench, 5, 1, 0x800).colour).collect();
    assert_eq!(colours, [0, 1, 2]);
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
    assert_eq!(bench.state.mt_read_default_counters(ROUTE).unwrap(), expected);
    assert_eq!(bench.state.mt_read_counters(ROUTE, handle).unwrap().packets, 1);
    bench.state.mt_write_default_counters(ROUTE, CounterValue { bytes: 7, packets: 3 }).unwrap();
    assert_eq!(bench.state.mt_read_default_counters(ROUTE).unwrap().packets, 3);
    bench.state.mt_reset_counters(ROUTE).unwrap();
    assert_eq!(bench.state.mt_read_default_counters(ROUTE).unwrap(), CounterValue::default());
    let error = bench.state.mt_read_default_counters(ACL).unwrap_err();
    assert!(matches!(error, RuntimeError::CountersDisabled { .. }), "{error}");
}

#[test]
fn a_miss_is_metered_once_the_default_entry_has_rates() {
    let mut bench = Bench::new(JSON);
    bench.state.mt_add_entry(ROUTE, &route(0x800, 0, 0), "ingress.send", &values(&[1]), 0).unwrap();
    let mut colours = |rates: &[MeterRate]| -> Vec<u64> {
        bench.state.mt_set_default_meter_rates(ACL, rates).unwrap();
        assert_eq!(bench.state.mt_get_default_meter_rates(ACL).unwrap(), rates);
        (0..3).map(|_| send(&mut bench, 5, 1, 0x800).colour).collect()
    };
    let rate = |info_rate, burst_size| MeterRate { info_rate, burst_size };
    assert_eq!(colours(&[]), [0, 0, 0]);
    assert_eq!(colours(&[rate(1.0, 1), rate(2.0, 2)]), [0, 1, 2]);
    let reversed = bench.state.mt_set_default_meter_rates(ACL, &[rate(2.0, 1), rate(1.0, 1)]).unwrap_err();
    assert!(matches!(reversed, RuntimeError::BadRates { .. }), "{reversed}");
}

#[test]
fn refusals_name_the_object_the_value_and_the_limit() {
    let mut bench = Bench::new(JSON);
    let state = &mut bench.state;
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
