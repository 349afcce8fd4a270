//! Loading: refused constructs with their name and place.

use bm::{Limits, Program};
use serde_json::{json, Value};

use crate::harness::Bench;

const PROGRAMS: [&[u8]; 3] = [
    include_bytes!("../programs/headers.json"),
    include_bytes!("../programs/tables.json"),
    include_bytes!("../programs/actions.json"),
];

fn actions() -> Value {
    serde_json::from_slice(PROGRAMS[2]).unwrap()
}

fn refusal(program: &Value) -> String {
    Program::from_json(program.to_string().as_bytes()).unwrap_err().to_string()
}

/// Returns the index of an action of `actions.json`, and of its first primitive with this operation.
fn find(program: &Value, action: &str, op: &str) -> (usize, usize) {
    let actions = program["actions"].as_array().unwrap();
    let at = actions.iter().position(|a| a["name"] == action).unwrap();
    let primitives = actions[at]["primitives"].as_array().unwrap();
    (at, primitives.iter().position(|p| p["op"] == op).unwrap())
}

#[test]
fn an_unknown_primitive_is_refused_with_its_place() {
    let mut program = actions();
    let (action, primitive) = find(&program, "ingress.work", "register_read");
    program["actions"][action]["primitives"][primitive]["op"] = json!("teleport");
    assert_eq!(
        refusal(&program),
        format!(
            "actions[{action}] 'ingress.work' primitives[{primitive}]: primitive 'teleport' is not supported"
        )
    );
}

#[test]
fn an_unknown_operation_is_refused_with_its_place() {
    let mut program = actions();
    let (action, primitive) = find(&program, "ingress.work", "assign");
    let value = json!({"type": "expression", "value": {"op": "**", "left": null, "right": null}});
    program["actions"][action]["primitives"][primitive]["parameters"][1] = value;
    let text = refusal(&program);
    assert!(text.starts_with(&format!("actions[{action}] 'ingress.work' primitives[{primitive}]")), "{text}");
    assert!(text.ends_with("expression operation '**' is not supported"), "{text}");
}

/// Returns the refusal of the first program that has an element at `list`, with `copy` of that element behind the others.
fn refusal_of_a_second(list: &str, copy: impl Fn(&Value) -> Value) -> String {
    let programs = PROGRAMS.map(|json| serde_json::from_slice::<Value>(json).unwrap());
    let mut program = programs.into_iter().find(|p| p.pointer(&format!("{list}/0")).is_some()).unwrap();
    let elements = program.pointer_mut(list).unwrap().as_array_mut().unwrap();
    elements.push(copy(&elements[0]));
    refusal(&program)
}

#[test]
fn an_id_that_two_objects_of_a_list_have_is_refused() {
    let lists = [
        "/header_types",
        "/headers",
        "/header_stacks",
        "/field_lists",
        "/learn_lists",
        "/parsers",
        "/parsers/0/parse_states",
        "/parse_vsets",
        "/deparsers",
        "/meter_arrays",
        "/counter_arrays",
        "/register_arrays",
        "/calculations",
        "/checksums",
        "/actions",
        "/pipelines",
        "/pipelines/0/tables",
        "/pipelines/0/action_profiles",
        "/pipelines/0/conditionals",
    ];
    for list in lists {
        let text = refusal_of_a_second(list, |first| json!({"name": "second", "id": first["id"]}));
        let (place, reason) = text.split_once("' id: ").unwrap_or_else(|| panic!("{list}: {text}"));
        assert!(place.ends_with("] 'second"), "{list}: {text}");
        assert!(
            reason.ends_with(" is there twice; give each object of the list its own id"),
            "{list}: {text}"
        );
    }
    let mut program = actions();
    program["header_unions"] = json!([{"name": "a", "id": 3}, {"name": "b", "id": 3}]);
    assert!(refusal(&program).starts_with("header_unions[1] 'b' id: 3 is there twice"));
}

#[test]
fn a_name_that_two_objects_of_a_kind_have_is_refused() {
    for list in ["/header_types", "/parsers", "/deparsers", "/calculations", "/pipelines"] {
        let with_another_id = |first: &Value| {
            let mut second = first.clone();
            second["id"] = json!(99);
            second
        };
        let text = refusal_of_a_second(list, with_another_id);
        assert!(
            text.ends_with("' is there twice; give each object of its kind its own name"),
            "{list}: {text}"
        );
    }
}

#[test]
fn a_table_of_egress_with_the_name_of_a_conditional_of_ingress_is_refused() {
    let mut program = actions();
    let name = program["pipelines"][0]["conditionals"][0]["name"].clone();
    program["pipelines"][1]["init_table"] = name.clone();
    program["pipelines"][1]["tables"][0]["name"] = name.clone();
    let name = name.as_str().unwrap();
    assert_eq!(
        refusal(&program),
        format!(
            "pipelines[1] 'egress' tables[0] '{name}': the name '{name}' is there twice; \
             give each object of its kind its own name"
        )
    );
}

#[test]
fn a_name_or_a_value_that_an_enum_or_the_errors_have_twice_is_refused() {
    let two = |first: Value, second: Value| json!([first, second]);
    let named = "the name 'A' is there twice; give each object of its kind its own name";
    let valued = "[1]: 7 is there twice; give each name its own value";
    for (entries, reason) in
        [(two(json!(["A", 7]), json!(["A", 8])), named), (two(json!(["A", 7]), json!(["B", 7])), valued)]
    {
        let mut program = actions();
        program["errors"] = entries.clone();
        assert!(refusal(&program).ends_with(reason), "{}", refusal(&program));
        let mut program = actions();
        program["enums"] = json!([{"name": "E", "entries": entries}]);
        assert!(refusal(&program).ends_with(reason), "{}", refusal(&program));
    }
    let mut program = actions();
    program["enums"] = json!([{"name": "A", "entries": []}, {"name": "A", "entries": []}]);
    assert!(refusal(&program).ends_with(named), "{}", refusal(&program));
}

#[test]
fn an_alias_of_two_fields_is_refused_and_one_that_is_there_twice_is_not() {
    let mut program = actions();
    let aliases = program["field_aliases"].as_array_mut().unwrap();
    let (first, second) = (aliases[0].clone(), aliases[1].clone());
    aliases.push(first.clone());
    assert!(Program::from_json(program.to_string().as_bytes()).is_ok());
    program["field_aliases"] = json!([first, [first[0], second[1]]]);
    assert_eq!(
        refusal(&program),
        "field_aliases[1]: another alias of this name is of another field; keep one of them"
    );
}

#[test]
fn a_message_with_more_or_fewer_places_than_values_is_refused() {
    let (action, primitive) = find(&actions(), "actions98", "log_msg");
    let format = format!("/actions/{action}/primitives/{primitive}/parameters/0/value");
    for (text, reason) in [
        ("kind {}", "'kind {}' has 1 pairs of braces for 2 values, and needs one for each"),
        ("{} of {}, {}", "'{} of {}, {}' has 3 pairs of braces for 2 values, and needs one for each"),
        ("{} {} {", "'{} {} {' opens a brace that it does not close; write \\{ for a brace of the text"),
    ] {
        let mut program = actions();
        *program.pointer_mut(&format).unwrap() = json!(text);
        let refused = refusal(&program);
        let place = format!("actions[{action}] 'actions98' primitives[{primitive}] parameters[0] value: ");
        assert!(refused.starts_with(&format!("{place}{reason}")), "{refused}");
    }
}

#[test]
fn a_hash_that_is_not_known_is_refused_with_those_that_are() {
    let mut program = actions();
    program["calculations"][0]["algo"] = json!("sha3");
    assert!(refusal(&program)
        .starts_with("calculations[0] 'calc' algo: hash 'sha3' is not supported; these are: crc16"));
}

#[test]
fn a_field_wider_than_p4cs_widest_is_refused() {
    let mut program = actions();
    let types = program["header_types"].as_array().unwrap();
    let at = types.iter().position(|t| t["name"] == "results_t").unwrap();
    program["header_types"][at]["fields"][5][1] = json!(2049);
    let text = refusal(&program);
    assert!(
        text.contains("field 'wide' is 2049 bits wide; fields of up to 2048 bits are supported"),
        "{text}"
    );
}

#[test]
fn a_header_union_whose_members_are_not_those_of_its_type_is_refused_by_name() {
    let mut program = actions();
    program["header_unions"] = json!([{"name": "u", "id": 0, "union_type": "U", "header_ids": []}]);
    assert_eq!(refusal(&program), "header_unions[0] 'u' union_type: no header union type is named 'U'");
    program["header_union_types"] = json!([{"name": "U", "id": 0, "headers": [["h", "ethernet_t"]]}]);
    assert_eq!(refusal(&program), "header_unions[0] 'u': has 0 headers; its type 'U' has 1");
    let ids: Vec<&Value> = program["headers"].as_array().unwrap().iter().map(|h| &h["id"]).collect();
    let metadata = ids[0].clone();
    program["header_unions"][0]["header_ids"] = json!([metadata]);
    let text = refusal(&program);
    assert_eq!(text, "header_unions[0] 'u' header_ids[0]: metadata in a header union is not supported");
}

#[test]
fn an_element_that_a_stack_cannot_have_is_refused_by_its_place() {
    for (element, ids, reason) in [
        (1, json!([4, 4]), "the header is in two stacks, or twice in one"),
        (0, json!([2]), "the header is not of the stack's type"),
        (0, json!([99]), "no header has this id"),
    ] {
        let mut program = actions();
        program["header_stacks"][0]["header_ids"] = ids;
        let place = format!("header_stacks[0] 'items' header_ids[{element}]: ");
        assert_eq!(refusal(&program), place + reason);
    }
}

#[test]
fn a_stack_of_headers_is_not_taken_for_one_of_header_unions() {
    let constructs = include_str!("../../../simple_switch/tests/constructs/header_union_stack.json");
    let actions = std::str::from_utf8(PROGRAMS[2]).unwrap();
    for (program, kind, other, reason) in [
        (constructs, "header_union_stack", "header_stack", "is not a header stack"),
        (actions, "dereference_header_stack", "dereference_union_stack", "takes the other kind of stack"),
    ] {
        let program = program.replace(&format!("\"{kind}\""), &format!("\"{other}\""));
        let text = Program::from_json(program.as_bytes()).unwrap_err().to_string();
        assert!(text.ends_with(reason), "{text}");
    }
}

#[test]
fn an_intermediate_value_that_could_need_more_than_8320_bits_is_refused() {
    let mut program = actions();
    let (action, primitive) = find(&program, "ingress.work", "_jump_if_zero");
    let wide = json!({"type": "field", "value": ["results", "wide"]});
    // The field is shifted left by up to 16 383 bits, and the exact value is tested.
    let by = json!({"type": "expression", "value": {"op": "&", "left": wide, "right":
        {"type": "hexstr", "value": "0x3fff"}}});
    let shifted = json!({"type": "expression", "value": {"op": "<<", "left": wide, "right": by}});
    let compare = json!({"type": "expression", "value": {"op": "<", "left": shifted, "right": wide}});
    program["actions"][action]["primitives"][primitive]["parameters"][0] = compare;
    let text = refusal(&program);
    assert!(text.contains("8320 bits signed is the maximum"), "{text}");
}

#[test]
fn a_loop_of_conditionals_is_refused() {
    let mut program = actions();
    let pipeline = &mut program["pipelines"][0];
    let name = pipeline["conditionals"][0]["name"].clone();
    pipeline["conditionals"][0]["true_next"] = name;
    assert!(refusal(&program).contains("loop of tables and conditionals"), "{}", refusal(&program));
}

#[test]
fn a_parser_that_goes_in_circles_ends_with_a_time_out() {
    let mut program = actions();
    let states = program["parsers"][0]["parse_states"].as_array_mut().unwrap();
    for state in states {
        state["parser_ops"] = json!([]);
        state["transition_key"] = json!([]);
        state["transitions"] =
            json!([{"type": "default", "value": null, "mask": null, "next_state": "start"}]);
    }
    let mut bench = Bench::new(program.to_string().as_bytes());
    assert_eq!(Some(bench.parse(&[0; 64])), bench.program.error_code("ParserTimeout"));
}

#[test]
fn another_version_of_the_format_is_refused() {
    let mut program = actions();
    program["__meta__"]["version"] = json!([3, 0]);
    assert_eq!(refusal(&program), "__meta__ version: is 3.0; versions 2.0 to 2.24 are supported");
}

#[test]
fn sizes_beyond_the_limits_are_refused_before_memory_is_taken() {
    let mut program = actions();
    program["register_arrays"][0]["size"] = json!(u64::MAX);
    assert!(refusal(&program).contains("the limit is"), "{}", refusal(&program));
    program["register_arrays"][0]["size"] = json!((1 << 26) - 1);
    program["counter_arrays"][0]["size"] = json!((1 << 26) - 1);
    assert!(refusal(&program).contains("cells together"), "{}", refusal(&program));
    let limits = Limits { max_instructions: 10, ..Limits::default() };
    assert!(Program::from_json_with(PROGRAMS[2], &limits).is_err());
}

#[test]
fn expressions_nested_beyond_the_limit_are_refused() {
    let mut program = actions();
    let (action, primitive) = find(&program, "ingress.work", "assign");
    let mut value = json!({"type": "hexstr", "value": "0x1"});
    for _ in 0..101 {
        value = json!({"type": "expression", "value": {"op": "~", "left": null, "right": value}});
    }
    program["actions"][action]["primitives"][primitive]["parameters"][1] = value;
    assert!(refusal(&program).contains("levels deep"), "{}", refusal(&program));
}

#[test]
fn every_truncation_of_a_program_is_refused() {
    for json in PROGRAMS {
        let end = json.iter().rposition(|&b| b == b'}').unwrap();
        for length in (0..end).step_by(97).chain([end - 1, end]) {
            assert!(Program::from_json(&json[..length]).is_err(), "{length} bytes");
        }
    }
}
