//! Traces of one packet on `actions.p4`, `headers.p4` and `tables.p4`; observation changes nothing.

use std::sync::Arc;

use bm::trace::{Event, NamedMatch, NamedValue, Trace};
use bm::{Executable, MatchKeyParam, Phv, Program, State};

use crate::harness::{ethernet, values, Recorder};
use crate::headers::frame;

const ACTIONS: &[u8] = include_bytes!("../programs/actions.json");
const HEADERS: &[u8] = include_bytes!("../programs/headers.json");
const TABLES: &[u8] = include_bytes!("../programs/tables.json");

/// Kind 3 with value 1, then kind 0, which ends the parser's loop.
const ITEMS: [u32; 2] = [3 << 24 | 1, 0];

struct Traced {
    program: Arc<Executable>,
    state: State,
    phv: Phv,
    trace: Trace,
    calls: Vec<String>,
}

impl Traced {
    fn new(json: &[u8]) -> Traced {
        let program = Executable::new(Program::from_json_for_tracing(json).unwrap());
        Traced {
            state: State::new(&program),
            phv: Phv::new(&program),
            trace: Trace::new(&program),
            calls: Vec::new(),
            program,
        }
    }

    /// Parses and runs ingress, and returns the events of both.
    fn run(&mut self, frame: &[u8]) -> (Vec<Event>, Vec<Event>) {
        let mut externs = Recorder::default();
        let (parser, ingress) =
            (self.program.parser("parser").unwrap(), self.program.pipeline("ingress").unwrap());
        self.phv.reset(&self.program, frame.len() as u64);
        self.state.parse(parser, &mut self.phv, frame, Some(&mut self.trace));
        let parsed = self.trace.take();
        self.state.run(ingress, &mut self.phv, &mut externs, Some(&mut self.trace)).unwrap();
        self.calls = externs.calls;
        (parsed, self.trace.take())
    }
}

/// Returns the events of one kind as JSON, without the word for the kind.
fn named(events: &[Event], kind: &str) -> Vec<String> {
    let mut found = Vec::new();
    for event in events {
        let mut json = serde_json::to_value(event).unwrap();
        let object = json.as_object_mut().unwrap();
        if object.remove("event").unwrap() == kind {
            found.push(json.to_string());
        }
    }
    found
}

fn numbers(values: &[NamedValue]) -> Vec<u128> {
    values.iter().map(|value| value.value).collect()
}

fn items(list: &[u32]) -> Vec<u8> {
    let mut frame = ethernet(2, 1, 0x800);
    list.iter().for_each(|item| frame.extend_from_slice(&item.to_be_bytes()));
    frame
}

#[test]
fn states_extractions_and_select_values_are_told_in_the_order_of_the_packet() {
    let mut traced = Traced::new(ACTIONS);
    let (parsed, _) = traced.run(&items(&ITEMS));
    let told: Vec<String> = parsed
        .iter()
        .map(|event| match event {
            Event::State { state, .. } => format!("state {state}"),
            Event::Extract { offset, bytes, fields, .. } => {
                format!("extract {bytes} at {offset}: {:?}", numbers(fields))
            }
            Event::Select { key } => format!("select {}", key[0].value),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            "state 0",
            "extract 14 at 0: [2, 1, 2048]",
            "state 1",
            "extract 4 at 14: [3, 1]",
            "select 3",
            "state 1",
            "extract 4 at 18: [0, 0]",
            "select 0",
        ]
    );
    assert_eq!(named(&parsed, "extract").len(), 3);
    assert!(named(&parsed, "extract")[1].contains("\"header\":\"items[0]\""));
}

#[test]
fn a_header_that_the_packet_is_too_short_for_is_not_told_as_extracted() {
    let mut traced = Traced::new(ACTIONS);
    let (parsed, _) = traced.run(&items(&[3 << 24])[..16]);
    assert_eq!(named(&parsed, "extract").len(), 1);
    assert!(matches!(parsed.last(), Some(Event::State { state: 1, .. })));
}

#[test]
fn registers_are_told_with_what_was_read_and_with_old_and_new_values() {
    let mut traced = Traced::new(ACTIONS);
    traced.run(&items(&ITEMS));
    let (_, events) = traced.run(&items(&ITEMS));
    assert_eq!(named(&events, "register_read")[0], r#"{"index":3,"register":"ingress.counts","value":1}"#);
    let step = 1u128 << 84;
    assert_eq!(
        named(&events, "register_write"),
        [
            r#"{"index":3,"new":2,"old":1,"register":"ingress.counts"}"#.to_owned(),
            format!(r#"{{"index":1,"new":{},"old":{step},"register":"ingress.wide"}}"#, 2 * step),
        ]
    );
}

#[test]
fn a_cell_beyond_the_array_is_told_as_neither_read_nor_written() {
    let mut traced = Traced::new(ACTIONS);
    let (_, events) = traced.run(&items(&[200 << 24 | 1, 0]));
    let reads = events.iter().filter(|e| matches!(e, Event::RegisterRead { index: 200, value: None, .. }));
    let writes = events.iter().filter(|e| matches!(e, Event::RegisterWrite { index: 200, new: None, .. }));
    let counts = events.iter().filter(|e| matches!(e, Event::Count { index: 200, packets: None, .. }));
    assert_eq!((reads.count(), writes.count(), counts.count()), (1, 1, 1));
}

#[test]
fn a_miss_is_told_with_the_key_the_default_action_and_its_parameters() {
    let mut traced = Traced::new(ACTIONS);
    let (_, events) = traced.run(&items(&ITEMS));
    let Event::Table { key, hit, .. } = events.iter().find(|e| matches!(e, Event::Table { .. })).unwrap()
    else {
        unreachable!()
    };
    assert_eq!((numbers(key), hit), (vec![0x800], &None));
    let actions = named(&events, "action");
    assert!(actions[0].contains(r#""action":"ingress.work""#), "{}", actions[0]);
    assert!(actions[0].contains(r#"{"name":"limit","value":2,"width":32}"#), "{}", actions[0]);
}

#[test]
fn branches_inside_an_action_are_told_with_their_way() {
    let mut traced = Traced::new(ACTIONS);
    let branches = |events: &[Event]| -> Vec<bool> {
        let of = |e: &Event| if let Event::Branch { holds } = e { Some(*holds) } else { None };
        events.iter().filter_map(of).collect()
    };
    // count >= limit; i < 5 holds five times and then fails; negative < 0.
    let loop_ = [true, true, true, true, true, false];
    let expected = |first: bool| [&[first][..], &loop_, &[true]].concat();
    assert_eq!(branches(&traced.run(&items(&ITEMS)).1), expected(false));
    assert_eq!(branches(&traced.run(&items(&ITEMS)).1), expected(false));
    assert_eq!(branches(&traced.run(&items(&ITEMS)).1), expected(true));
}

#[test]
fn conditions_of_a_pipeline_are_told_with_their_way() {
    let mut traced = Traced::new(TABLES);
    let (_, events) = traced.run(&ethernet(2, 1, 0x800));
    assert!(named(&events, "condition").is_empty(), "tables.p4 branches on tables only");
    let mut traced = Traced::new(ACTIONS);
    let told = |traced: &mut Traced, list: &[u32]| {
        let (_, events) = traced.run(&items(list));
        named(&events, "condition").len()
    };
    assert_eq!(told(&mut traced, &ITEMS), 1);
}

#[test]
fn hash_draw_meter_counter_and_calls_are_told() {
    let mut traced = Traced::new(ACTIONS);
    let (_, events) = traced.run(&items(&ITEMS));
    assert_eq!(named(&events, "random"), [r#"{"drawn":9,"high":9,"low":5}"#]);
    assert_eq!(named(&events, "count"), [r#"{"bytes":22,"counter":"ingress.seen","index":3,"packets":1}"#]);
    assert_eq!(named(&events, "meter"), [r#"{"colour":0,"index":0,"meter":"ingress.rate"}"#]);
    let Event::Hash { result, base: 100, size: 1000 } =
        events.iter().find(|e| matches!(e, Event::Hash { .. })).unwrap()
    else {
        panic!("the hash's base or size is wrong")
    };
    let field = traced.program.field("results", "hash").unwrap();
    assert_eq!(*result, traced.phv.get(field));
    let requests: Vec<&str> = events
        .iter()
        .filter_map(|e| if let Event::Request { primitive, .. } = e { Some(*primitive) } else { None })
        .collect();
    assert_eq!(requests, ["generate_digest", "clone_ingress_pkt_to_egress", "resubmit", "truncate"]);
}

#[test]
fn a_hit_is_told_with_the_entrys_handle_match_and_priority() {
    let mut traced = Traced::new(TABLES);
    let mac = |value: u64| value.to_be_bytes()[2..].to_vec();
    let key = vec![MatchKeyParam::Exact(vec![8, 0]), MatchKeyParam::Lpm(mac(0x0a01_0000_0000), 16)];
    traced.state.mt_add_entry("ingress.route", &key, "ingress.send", &values(&[7]), 0).unwrap();
    let all = MatchKeyParam::Ternary(mac(0), mac(0));
    let range = MatchKeyParam::Range(vec![8, 0], vec![8, 6]);
    let handle = traced
        .state
        .mt_add_entry("ingress.acl", &[all.clone(), all, range], "ingress.permit", &values(&[5]), 10)
        .unwrap();
    let (_, events) = traced.run(&ethernet(0x0a01_0203_0405, 1, 0x800));
    let hits: Vec<_> = events
        .iter()
        .filter_map(|e| if let Event::Table { hit: Some(hit), .. } = e { Some(hit) } else { None })
        .collect();
    assert_eq!(hits.len(), 2);
    assert_eq!((hits[0].handle, hits[0].prefix_length, hits[0].priority), (0, Some(16), None));
    assert_eq!(hits[0].key[1], NamedMatch::Masked { value: 0x0a01_0000_0000, mask: 0xffff_0000_0000 });
    assert_eq!((hits[1].handle, hits[1].prefix_length, hits[1].priority), (handle, None, Some(10)));
    assert_eq!(hits[1].key[2], NamedMatch::Range { first: 0x800, last: 0x806 });
}

#[test]
fn the_member_of_a_group_that_is_told_is_the_one_that_runs() {
    let mut traced = Traced::new(TABLES);
    let profile = "ingress.action_selector";
    let profile = traced
        .program
        .action_profiles()
        .iter()
        .find(|p| p.with_selector)
        .map_or(profile.to_owned(), |p| p.name.clone());
    let group = traced.state.mt_act_prof_create_group(&profile).unwrap();
    for port in 0..5 {
        let member = traced
            .state
            .mt_act_prof_add_member(&profile, "ingress.set_port", &values(&[100 + port]))
            .unwrap();
        traced.state.mt_act_prof_add_member_to_group(&profile, member, group, None).unwrap();
    }
    let key = [MatchKeyParam::Exact(vec![8, 0])];
    traced.state.mt_indirect_ws_add_entry("ingress.groups", &key, group, 0).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for src in 0..40 {
        let (_, events) = traced.run(&ethernet(2, src, 0x800));
        let chosen = events
            .iter()
            .find_map(|e| if let Event::Table { members: Some(5), member, .. } = e { *member } else { None })
            .unwrap();
        let ran = traced.phv.get(traced.program.field("ethernet", "src").unwrap()) & 0xffff;
        assert_eq!(ran, 100 + u64::from(chosen));
        seen.insert(chosen);
    }
    assert!(seen.len() > 1, "one member only: {seen:?}");
}

#[test]
fn a_change_is_told_with_the_field_and_its_values() {
    let mut traced = Traced::new(ACTIONS);
    let (_, events) = traced.run(&items(&ITEMS));
    let sets = named(&events, "set");
    assert!(
        sets.contains(&r#"{"field":"results.$valid$","new":1,"old":0,"width":1}"#.to_owned()),
        "{sets:#?}"
    );
    assert!(sets.contains(&r#"{"field":"results.saturated","new":253,"old":0,"width":8}"#.to_owned()));
}

#[test]
fn a_change_of_several_words_is_told_once() {
    let (_, events) = Traced::new(ACTIONS).run(&items(&ITEMS));
    let of_wide = |event: &Event| match event {
        Event::Set { field, old, new, .. } if field == "results.wide" => Some((*old, *new)),
        _ => None,
    };
    assert_eq!(events.iter().filter_map(of_wide).collect::<Vec<_>>(), [(0, u128::MAX)]);
}

#[test]
fn a_checksum_that_is_updated_is_told_as_a_change_of_its_field() {
    let mut traced = Traced::new(HEADERS);
    let mut frame = frame(&[], 6, b"");
    let right = u16::from_be_bytes([frame[24], frame[25]]);
    frame[24..26].fill(0);
    traced.phv.reset(&traced.program, frame.len() as u64);
    traced.state.parse(traced.program.parser("parser").unwrap(), &mut traced.phv, &frame, None);
    traced.state.update_checksums(&mut traced.phv, &[], Some(&mut traced.trace));
    let sets = named(&traced.trace.take(), "set");
    assert_eq!(sets, [format!(r#"{{"field":"ipv4.header_checksum","new":{right},"old":0,"width":16}}"#)]);
}

#[test]
fn a_packet_is_not_compared_with_the_one_that_left_before_it() {
    let (tcp, other) = (frame(&[], 6, b""), ethernet(1, 2, 3));
    let alone = Traced::new(HEADERS).run(&other);
    let mut traced = Traced::new(HEADERS);
    traced.run(&tcp);
    traced.state.update_checksums(&mut traced.phv, &[], Some(&mut traced.trace));
    traced.trace.take();
    assert_eq!(traced.run(&other), alone);
}

#[test]
fn a_watched_packet_leaves_what_an_unwatched_one_leaves() {
    let frames =
        [items(&ITEMS), items(&[200 << 24, 0]), items(&[9 << 24 | 2, 1 << 24, 0]), ethernet(1, 2, 3)];
    let mut traced = Traced::new(ACTIONS);
    let program = Executable::new(Program::from_json(ACTIONS).unwrap());
    let (mut state, mut phv) = (State::new(&program), Phv::new(&program));
    for frame in frames.iter().cycle().take(12) {
        let mut externs = Recorder::default();
        phv.reset(&program, frame.len() as u64);
        state.parse(program.parser("parser").unwrap(), &mut phv, frame, None);
        let ran = state.run(program.pipeline("ingress").unwrap(), &mut phv, &mut externs, None);
        if ran.is_err() {
            continue;
        }
        traced.run(frame);
        assert_eq!(traced.calls, externs.calls);
        assert_eq!(Trace::new(&program).values(&phv), traced.trace.values(&traced.phv));
        for register in program.register_arrays() {
            assert_eq!(
                state.register_read_all(&register.name).unwrap(),
                traced.state.register_read_all(&register.name).unwrap()
            );
        }
    }
}

#[test]
fn a_program_not_loaded_for_tracing_gives_the_events_that_need_no_source() {
    let mut traced = Traced::new(ACTIONS);
    traced.program = Executable::new(Program::from_json(ACTIONS).unwrap());
    traced.state = State::new(&traced.program);
    let (parsed, events) = traced.run(&items(&ITEMS));
    assert!(!parsed.iter().any(|e| matches!(e, Event::State { .. })));
    assert_eq!(named(&events, "register_write").len(), 2);
}
