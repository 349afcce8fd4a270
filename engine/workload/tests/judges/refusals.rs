//! What is wrong with a description is said with its place: the rows of `refusals.txt`.

use serde_json::{json, Value};
use workload::Workload;

use super::driver::{describe, hosts, workload};

/// Replaces members, and those of members that are objects in both.
fn replace(whole: &mut Value, by: &Value) {
    match (whole, by) {
        (Value::Object(whole), Value::Object(by)) => {
            by.iter().for_each(|(key, value)| replace(whole.entry(key).or_insert(Value::Null), value));
        }
        (whole, by) => *whole = by.clone(),
    }
}

#[test]
fn what_is_wrong_with_a_description_is_said_with_its_place() {
    let rows = include_str!("../refusals.txt");
    for block in rows.split("\n[").skip(1) {
        let (kind, lines) = block.split_once("]\n").expect("a kind");
        let mut lines = lines.lines().filter(|line| !line.is_empty());
        let sound: Value = serde_json::from_str(lines.next().expect("a sound description")).expect("JSON");
        assert_eq!(workload(&describe(7, kind, &sound), 6).err(), None, "{kind}");
        for line in lines {
            let (members, said) = line.split_once(" -> ").expect("an arrow");
            let mut fields = sound.clone();
            replace(&mut fields, &serde_json::from_str(members).expect("JSON"));
            let refused = workload(&describe(7, kind, &fields), 6).err().unwrap_or_else(|| panic!("{line}"));
            assert!(refused.to_string().contains(said), "{refused} for {line}");
        }
    }
}

#[test]
fn a_description_that_is_no_json_or_no_list_of_named_applications_is_refused() {
    let of = |json: &[u8]| Workload::from_json(json, &hosts(2)).err().expect("it is refused").to_string();
    assert!(of(b"\xFF").starts_with("workload: invalid utf-8"));
    assert!(of(b"{").contains("EOF"));
    assert!(of(br#"{"seed": 1, "applications": [], "hosts": 2}"#).contains("unknown field `hosts`"));
    assert!(of(br#"{"applications": []}"#).contains("missing field `seed`"));
    assert!(of(br#"{"seed": 1, "applications": []}"#).contains("applications: 0: there must be 1 to 256"));
    let one = json!({"kind": "incast", "name": "i", "client": "h0", "servers": ["h1"], "bytes_per_server": 1, "rounds": 1});
    let twice = json!({"seed": 1, "applications": [one, one]}).to_string();
    assert!(of(twice.as_bytes()).contains("applications[1].name: i: another"));
}
