//! Traces of one packet on `actions.p4`, `headers.p4` and `tables.p4`; observation changes nothing.

use std::sync::Arc;

use bm::trace::{Event, NamedMatch, Trace};
use bm::{Executable, MatchKeyParam, Phv, Program, State};
use serde_json::{json, Value};

use crate::harness::{ethernet, values, Recorder};
use crate::headers::frame;

const ACTIONS: &[u8] = include_bytes!("../programs/actions.json");
const HEADERS: &[u8] = include_bytes!("../programs/headers.json");
const TABLES: &[u8] = include_bytes!("../programs/tables.json");

struct Traced {
    program: Arc<Executable>,
    state: State,
    phv: Phv,
    trace: Trace,
}

impl Traced {
    fn new(program: Program) -> Traced {
        let program = Executable::new(program);
        Traced { state: State::new(&program), phv: Phv::new(&program), trace: Trace::new(&program), program }
    }

    fn of(json: &[u8]) -> Traced {
        Traced::new(Program::from_json_for_tracing(json).unwrap())
    }

    /// Parses and runs ingress, and returns the events of both.
    fn run(&mut self, frame: &[u8]) -> Vec<Event> {
        let mut externs = Recorder::default();
        let (parser, ingress) =
            (self.program.parser("parser").unwrap(), self.program.pipeline("ingress").unwrap());
        self.phv.reset(&self.program, frame.len() as u64);
        self.state.parse(parser, &mut self.phv, frame, Some(&mut self.trace));
        self.state.run(ingress, &mut self.phv, &mut externs, Some(&mut self.trace)).unwrap();
        self.trace.take()
    }
}

/// Returns whether an event has these members, among others.
fn has(event: &Value, members: &Value) -> bool {
    match (event, members) {
        (Value::Object(event), Value::Object(members)) => {
            members.iter().all(|(name, member)| event.get(name).is_some_and(|found| has(found, member)))
        }
        (Value::Array(event), Value::Array(members)) => {
            event.len() == members.len()
                && event.iter().zip(members).all(|(found, member)| has(found, member))
        }
        _ => event == members,
    }
}

/// Returns the items of a line of `traces.txt` as a frame: each as its kind and its value.
fn frame_of(words: &str) -> Vec<u8> {
    let item = |word: &str| {
        let (kind, value) = word.split_once(':').expect("an item is KIND:VALUE");
        (kind.parse::<u32>().unwrap() << 24 | value.parse::<u32>().unwrap()).to_be_bytes()
    };
    ethernet(2, 1, 0x800).into_iter().chain(words.split_whitespace().flat_map(item)).collect()
}

#[test]
fn packets_are_told_as_the_lines_below_them_say() {
    let mut traced = Traced::of(ACTIONS);
    let mut told: Vec<Value> = Vec::new();
    for line in include_str!("traces.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "actions" => traced = Traced::of(ACTIONS),
            "tables" => traced = Traced::of(TABLES),
            "untraced" => traced = Traced::new(Program::from_json(ACTIONS).unwrap()),
            "packet" | "short" => {
                assert!(told.is_empty(), "before {line}: {told:?}");
                let mut frame = frame_of(rest);
                frame.truncate(frame.len() - if word == "short" { 2 } else { 0 });
                told = traced.run(&frame).iter().map(|event| json!(event)).collect();
                told.reverse();
            }
            "kinds" => told.retain(|event| rest.split_whitespace().any(|kind| event["event"] == kind)),
            "fields" => told.retain(|event| rest.split_whitespace().any(|field| event["field"] == field)),
            _ => {
                let members: Value =
                    serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
                let event = told.pop().unwrap_or_else(|| panic!("nothing is told of {line}"));
                assert!(has(&event, &members), "{event}\nin place of {line}");
            }
        }
    }
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn a_hit_is_told_with_the_entrys_handle_match_and_priority() {
    let mut traced = Traced::of(TABLES);
    let mac = |value: u64| value.to_be_bytes()[2..].to_vec();
    let key = vec![MatchKeyParam::Exact(vec![8, 0]), MatchKeyParam::Lpm(mac(0x0a01_0000_0000), 16)];
    traced.state.mt_add_entry("ingress.route", &key, "ingress.send", &values(&[7]), 0).unwrap();
    let all = MatchKeyParam::Ternary(mac(0), mac(0));
    let range = MatchKeyParam::Range(vec![8, 0], vec![8, 6]);
    let handle = traced
        .state
        .mt_add_entry("ingress.acl", &[all.clone(), all, range], "ingress.permit", &values(&[5]), 10)
        .unwrap();
    let events = traced.run(&ethernet(0x0a01_0203_0405, 1, 0x800));
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
    let mut traced = Traced::of(TABLES);
    let profile = "action_profile_1";
    let group = traced.state.mt_act_prof_create_group(profile).unwrap();
    for port in 0..5 {
        let member =
            traced.state.mt_act_prof_add_member(profile, "ingress.set_port", &values(&[100 + port])).unwrap();
        traced.state.mt_act_prof_add_member_to_group(profile, member, group, None).unwrap();
    }
    let key = [MatchKeyParam::Exact(vec![8, 0])];
    traced.state.mt_indirect_ws_add_entry("ingress.groups", &key, group, 0).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for src in 0..40 {
        let events = traced.run(&ethernet(2, src, 0x800));
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
fn a_checksum_that_is_updated_is_told_as_a_change_of_its_field() {
    let mut traced = Traced::of(HEADERS);
    let mut frame = frame(&[], 6, b"");
    let right = u16::from_be_bytes([frame[24], frame[25]]);
    frame[24..26].fill(0);
    traced.phv.reset(&traced.program, frame.len() as u64);
    traced.state.parse(traced.program.parser("parser").unwrap(), &mut traced.phv, &frame, None);
    traced.state.update_checksums(&mut traced.phv, &[], Some(&mut traced.trace));
    let told: Vec<Value> = traced.trace.take().iter().map(|event| json!(event)).collect();
    let set = json!({"event": "set", "field": "ipv4.header_checksum", "width": 16, "old": 0, "new": right});
    assert_eq!(told.iter().filter(|event| event["event"] == "set").collect::<Vec<_>>(), [&set]);
}

#[test]
fn a_packet_is_not_compared_with_the_one_that_left_before_it() {
    let (tcp, other) = (frame(&[], 6, b""), ethernet(1, 2, 3));
    let alone = Traced::of(HEADERS).run(&other);
    let mut traced = Traced::of(HEADERS);
    traced.run(&tcp);
    traced.state.update_checksums(&mut traced.phv, &[], Some(&mut traced.trace));
    traced.trace.take();
    assert_eq!(traced.run(&other), alone);
}
