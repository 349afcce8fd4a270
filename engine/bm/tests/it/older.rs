//! Programs as p4c emitted them before April 2020, as p4c-bm emitted them, and with fields of zero width: BMv2 reads all of them.

use bm::Program;
use serde_json::{json, Value};

use crate::harness::{Bench, DROP_PORT};

/// Returns a program with a header of four bytes, a header of one, and one action, which every packet runs. Each test supplies
/// states, primitives and other differences.
fn program(states: &Value, primitives: &Value) -> Value {
    json!({
        "__meta__": {"version": [2, 18]},
        "header_types": [
            {"name": "standard_metadata", "id": 0, "fields": [["egress_spec", 9, false], ["mcast_grp", 16, false], ["_p", 7, false]]},
            {"name": "pair_t", "id": 1, "fields": [["a", 8, false], ["none", 0, false], ["b", 16, false], ["c", 8, false]]},
            {"name": "mark_t", "id": 2, "fields": [["m", 8, false]]}
        ],
        "headers": [
            {"name": "standard_metadata", "id": 0, "header_type": "standard_metadata", "metadata": true},
            {"name": "pair", "id": 1, "header_type": "pair_t", "metadata": false},
            {"name": "mark", "id": 2, "header_type": "mark_t", "metadata": false}
        ],
        "field_aliases": [["intrinsic_metadata.mcast_grp", ["standard_metadata", "mcast_grp"]]],
        "parsers": [{"name": "parser", "id": 0, "init_state": "start", "parse_states": states}],
        "deparsers": [{"name": "deparser", "id": 0, "order": ["mark", "pair"]}],
        "calculations": [{"name": "sum", "id": 0, "algo": "xor16", "input": [
            {"type": "field", "value": ["pair", "none"]}, {"type": "field", "value": ["pair", "b"]}]}],
        "actions": [{"name": "work", "id": 0, "runtime_data": [], "primitives": primitives}],
        "pipelines": [{"name": "ingress", "id": 0, "init_table": "t", "action_profiles": [], "conditionals": [], "tables": [{
            "name": "t", "id": 0, "key": [], "match_type": "exact", "type": "simple", "max_size": 1, "with_counters": false,
            "support_timeout": false, "direct_meters": null, "action_ids": [0], "actions": ["work"], "base_default_next": null,
            "next_tables": {"work": null},
            "default_entry": {"action_id": 0, "action_const": true, "action_data": [], "action_entry_const": true}
        }]}]
    })
}

fn extract(next: &Value) -> Value {
    json!([{"name": "start", "id": 0, "parser_ops": [
        {"op": "extract", "parameters": [{"type": "regular", "value": "pair"}]}
    ], "transition_key": [], "transitions": [next]}])
}

fn accept() -> Value {
    extract(&json!({"value": "default", "mask": null, "next_state": null}))
}

fn field(header: &str, name: &str) -> Value {
    json!({"type": "field", "value": [header, name]})
}

fn hex(value: &str) -> Value {
    json!({"type": "hexstr", "value": value})
}

fn call(op: &str, parameters: &[Value]) -> Value {
    json!({"op": op, "parameters": parameters})
}

fn bench(program: &Value) -> Bench {
    Bench::new(program.to_string().as_bytes())
}

/// Returns the bytes that leave for `frame`.
fn sent(program: &Value, frame: &[u8]) -> Vec<u8> {
    let mut bench = bench(program);
    bench.parse(frame);
    bench.run("ingress").unwrap();
    bench.deparse()
}

#[test]
fn the_default_of_a_select_may_be_a_value_with_or_without_a_type() {
    for default in [
        json!({"value": "default", "mask": null, "next_state": "more"}),
        json!({"type": "hexstr", "value": "default", "mask": null, "next_state": "more"}),
    ] {
        let mut states = extract(&json!({"value": "0x07", "mask": null, "next_state": null}));
        states[0]["transition_key"] = json!([field("pair", "a")]);
        states[0]["transitions"].as_array_mut().unwrap().push(default);
        states.as_array_mut().unwrap().push(json!({"name": "more", "id": 1, "parser_ops": [
            {"op": "extract", "parameters": [{"type": "regular", "value": "mark"}]}
        ], "transition_key": [], "transitions": []}));
        let program = program(&states, &json!([]));
        assert_eq!(sent(&program, &[7, 1, 2, 3, 9]), [7, 1, 2, 3, 9]);
        assert_eq!(sent(&program, &[8, 1, 2, 3, 9]), [9, 8, 1, 2, 3]);
    }
}

#[test]
fn drop_sends_to_the_drop_port_and_to_no_group() {
    let group = call("assign", &[field("standard_metadata", "mcast_grp"), hex("0x05")]);
    let mut bench = bench(&program(&accept(), &json!([group, call("drop", &[])])));
    bench.parse(&[1, 2, 3, 4]);
    bench.run("ingress").unwrap();
    assert_eq!(bench.get("standard_metadata", "egress_spec"), DROP_PORT);
    assert_eq!(bench.get("standard_metadata", "mcast_grp"), 0);
}

#[test]
fn arithmetic_primitives_of_p4c_bm_wrap_at_the_width_of_their_field() {
    let a = || field("pair", "a");
    let b = || field("pair", "b");
    let cases = [
        (call("modify_field", &[a(), hex("0x42")]), [0x42, 0x12, 0x34, 0]),
        (call("add_to_field", &[a(), hex("0x02")]), [0x01, 0x12, 0x34, 0]),
        (call("add_to_field", &[a(), b()]), [0x33, 0x12, 0x34, 0]),
        (call("subtract_from_field", &[field("pair", "c"), hex("0x01")]), [0xff, 0x12, 0x34, 0xff]),
        (call("add", &[b(), a(), hex("0xffff")]), [0xff, 0x00, 0xfe, 0]),
        (call("subtract", &[b(), hex("0x00"), a()]), [0xff, 0xff, 0x01, 0]),
        (call("bit_and", &[a(), b(), hex("0xf0")]), [0x30, 0x12, 0x34, 0]),
        (call("bit_or", &[a(), b(), hex("0x02")]), [0x36, 0x12, 0x34, 0]),
        (call("bit_xor", &[a(), a(), hex("0x0f")]), [0xf0, 0x12, 0x34, 0]),
        (call("shift_left", &[b(), b(), hex("0x04")]), [0xff, 0x23, 0x40, 0]),
        (call("shift_right", &[b(), b(), hex("0x08")]), [0xff, 0x00, 0x12, 0]),
    ];
    for (primitive, expected) in cases {
        let program = program(&accept(), &json!([primitive]));
        assert_eq!(sent(&program, &[0xff, 0x12, 0x34, 0]), expected, "{primitive}");
    }
}

#[test]
fn a_field_of_no_bits_is_extracted_assigned_read_and_hashed_as_nothing() {
    let none = || field("pair", "none");
    let primitives = json!([
        call("assign", &[none(), hex("0x05")]),
        call("assign", &[field("pair", "a"), none()]),
        call(
            "modify_field_with_hash_based_offset",
            &[
                field("pair", "b"),
                hex("0x00"),
                json!({"type": "calculation", "value": "sum"}),
                hex("0x010000")
            ]
        ),
    ]);
    assert_eq!(sent(&program(&accept(), &primitives), &[0xff, 0x12, 0x34, 5, 6]), [0, 0x12, 0x34, 5, 6]);
}

/// Returns a parser that sets the validity of `mark` as a field, and an action that reads it before and after `then`.
fn valid_set(value: &str, then: &Value) -> Value {
    let mut states = accept();
    let set = call("set", &[field("mark", "$valid$"), hex(value)]);
    states[0]["parser_ops"].as_array_mut().unwrap().push(set);
    let valid = || {
        json!({"type": "expression", "value": {"op": "b2d", "left": null, "right":
        {"type": "expression", "value": {"op": "d2b", "left": null, "right": field("mark", "$valid$")}}}})
    };
    let mut primitives = vec![call("assign", &[field("pair", "a"), valid()])];
    primitives.extend(then.as_array().unwrap().iter().cloned());
    primitives.push(call("assign", &[field("pair", "c"), valid()]));
    program(&states, &json!(primitives))
}

#[test]
fn validity_that_a_parser_sets_as_a_field_is_seen_by_conditions_and_not_deparsed() {
    assert_eq!(sent(&valid_set("0x01", &json!([])), &[9, 9, 9, 9]), [1, 9, 9, 1]);
    assert_eq!(sent(&valid_set("0x00", &json!([])), &[9, 9, 9, 9]), [0, 9, 9, 0]);
    let mark = json!({"type": "header", "value": "mark"});
    let add = json!([call("add_header", std::slice::from_ref(&mark))]);
    assert_eq!(sent(&valid_set("0x00", &add), &[9, 9, 9, 9]), [0, 0, 9, 9, 1]);
    let remove = json!([call("remove_header", std::slice::from_ref(&mark))]);
    assert_eq!(
        sent(&valid_set("0x01", &remove), &[9, 9, 9, 9]),
        [1, 9, 9, 1],
        "it is not there to be removed"
    );
    let both = json!([add[0], remove[0]]);
    assert_eq!(sent(&valid_set("0x01", &both), &[9, 9, 9, 9]), [1, 9, 9, 0]);
}

#[test]
fn a_program_may_have_no_version_and_tables_that_name_their_actions() {
    let mut old = program(&accept(), &json!([call("modify_field", &[field("pair", "a"), hex("0x42")])]));
    let object = old.as_object_mut().unwrap();
    object.remove("__meta__");
    object["pipelines"][0]["tables"][0].as_object_mut().unwrap().remove("action_ids");
    assert_eq!(sent(&old, &[1, 2, 3, 4]), [0x42, 2, 3, 4]);
    old["pipelines"][0]["tables"][0]["actions"][0] = json!("play");
    let refusal = Program::from_json(old.to_string().as_bytes()).unwrap_err().to_string();
    assert!(refusal.ends_with("no action is named 'play'"), "{refusal}");
    assert!(Program::from_json(b"{}").is_err());
}
