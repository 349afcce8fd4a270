//! Loading: what is refused, with its name and place.

use bm::{Limits, Program};
use serde_json::{json, Deserializer, Value};

use crate::harness::Bench;

const PROGRAMS: [(&str, &[u8]); 3] = [
    ("headers", include_bytes!("../programs/headers.json")),
    ("tables", include_bytes!("../programs/tables.json")),
    ("actions", include_bytes!("../programs/actions.json")),
];

fn program(name: &str) -> Value {
    let (_, json) = PROGRAMS.iter().find(|(known, _)| *known == name).expect("a program has this name");
    serde_json::from_slice(json).unwrap()
}

fn refusal(program: &Value) -> String {
    let loaded = Program::from_json(program.to_string().as_bytes());
    loaded.err().map_or_else(|| "loads".to_owned(), |error| error.to_string())
}

/// Returns the place that a pointer of `refusals.txt` names.
fn place<'a>(program: &'a mut Value, pointer: &str) -> &'a mut Value {
    pointer.split('/').skip(1).fold(program, |value, step| {
        let Value::Array(items) = value else { return &mut value[step] };
        if step == "-" {
            items.push(Value::Null);
        }
        let number = if step == "-" { Some(items.len() - 1) } else { step.parse().ok() };
        let named = |item: &Value| item["name"] == step || item["op"] == step;
        let at = number.or_else(|| items.iter().position(named));
        &mut items[at.unwrap_or_else(|| panic!("{pointer}: there is no {step}"))]
    })
}

#[test]
fn what_cannot_run_is_refused_with_its_place_and_the_reason() {
    let mut wrong = Vec::new();
    for line in include_str!("refusals.txt").lines().filter(|line| line.starts_with('"')) {
        let words: Vec<Value> = Deserializer::from_str(line).into_iter().collect::<Result<_, _>>().unwrap();
        let text = |at: usize| words[at].as_str().expect("a text");
        let mut program = program(text(1));
        for at in (2..words.len()).step_by(2) {
            *place(&mut program, text(at)) = words[at + 1].clone();
        }
        let refused = refusal(&program);
        if !refused.contains(text(0)) {
            wrong.push(format!("{line}\n  {refused}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_stack_of_headers_is_not_taken_for_one_of_header_unions() {
    let constructs = include_str!("../../../simple_switch/tests/constructs/header_union_stack.json");
    let actions = std::str::from_utf8(PROGRAMS[2].1).unwrap();
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
fn a_parser_that_goes_in_circles_ends_with_a_time_out() {
    let mut program = program("actions");
    for state in program["parsers"][0]["parse_states"].as_array_mut().unwrap() {
        let next = json!([{"type": "default", "value": null, "mask": null, "next_state": "start"}]);
        (state["parser_ops"], state["transition_key"], state["transitions"]) = (json!([]), json!([]), next);
    }
    let mut bench = Bench::new(program.to_string().as_bytes());
    assert_eq!(Some(bench.parse(&[0; 64])), bench.program.error_code("ParserTimeout"));
}

#[test]
fn a_list_may_have_as_many_elements_as_the_limit_and_no_more() {
    let load =
        |max_objects| Program::from_json_with(PROGRAMS[0].1, &Limits { max_objects, ..Limits::default() });
    let most = (0..).find(|limit| load(*limit).is_ok()).expect("some limit is enough");
    let refusal = load(most - 1).unwrap_err().to_string();
    assert!(refusal.ends_with(&format!("has {most} elements; the limit is {}", most - 1)), "{refusal}");
}

#[test]
fn more_instructions_than_a_limit_are_refused() {
    let limits = Limits { max_instructions: 10, ..Limits::default() };
    assert!(Program::from_json_with(PROGRAMS[2].1, &limits).is_err());
}

#[test]
fn expressions_nested_beyond_the_limit_are_refused() {
    let nested = |levels| {
        let not = |value, _| json!({"op": "~", "left": null, "right": value});
        let mut program = program("actions");
        *place(&mut program, "/actions/ingress.work/primitives/assign/parameters/1") =
            (0..levels).fold(json!({"type": "hexstr", "value": "0x1"}), not);
        refusal(&program)
    };
    assert_eq!(nested(100), "loads");
    assert!(nested(101).ends_with("an expression nested more than 100 levels deep, the limit"));
}

#[test]
fn every_truncation_of_a_program_is_refused() {
    for (_, json) in PROGRAMS {
        let end = json.iter().rposition(|&b| b == b'}').unwrap();
        for length in (0..end).step_by(97).chain([end - 1, end]) {
            assert!(Program::from_json(&json[..length]).is_err(), "{length} bytes");
        }
    }
}
