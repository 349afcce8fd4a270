//! Edits of a JSON document, such as a program: a member or element is removed, inserted twice, swapped with another,
//! or given another value. One edit takes six bytes of input, so a fuzzer that changes bytes changes the program's
//! structure, not its text.

use serde_json::{json, Map, Value};

use crate::input::Input;

/// Maximum number of edits of one program.
const MAX_EDITS: u8 = 12;
/// Maximum number of values of an edited program: copies of copies would otherwise exceed the sizes of interest.
const MAX_VALUES: usize = 40_000;

/// Applies the edits in the input: their number, then for each the operation (1 byte), the place (2 bytes), the other
/// place or the value (2 bytes), and a choice (1 byte).
pub(crate) fn edit(program: &mut Value, input: &mut Input<'_>) {
    for _ in 0..input.u8() % (MAX_EDITS + 1) {
        let (what, at, other, choice) = (input.u8(), input.u16(), input.u16(), input.u8());
        let at = at as usize % count(program);
        match what % 8 {
            0 => remove(program, at),
            1 => duplicate(program, at, usize::from(choice)),
            2 => exchange(program, at, other as usize % count(program)),
            3 => copy(program, at, other as usize % count(program)),
            4 | 5 => borrow(program, at, other),
            6 => set(program, at, special(choice)),
            _ => change_number(program, at, other, choice),
        }
    }
}

/// Returns the number of values in `value`, including itself.
pub(crate) fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns value number `at` in reading order, and its key if it is a member.
fn find<'a>(value: &'a mut Value, at: &mut usize, key: &str) -> Option<(&'a mut Value, String)> {
    if *at == 0 {
        return Some((value, key.to_owned()));
    }
    *at -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| find(item, at, key)),
        Value::Object(members) => members.iter_mut().find_map(|(key, member)| find(member, at, key)),
        _ => None,
    }
}

fn nth(value: &mut Value, mut at: usize) -> (&mut Value, String) {
    find(value, &mut at, "").expect("there are more values than this")
}

fn set(program: &mut Value, at: usize, value: Value) {
    *nth(program, at).0 = value;
}

/// Removes an element or member, chosen by `at`, from the container at `at`; replaces any other value by null.
fn remove(program: &mut Value, at: usize) {
    match nth(program, at).0 {
        Value::Array(items) if !items.is_empty() => drop(items.remove(at % items.len())),
        Value::Object(members) if !members.is_empty() => {
            let key = members.keys().nth(at % members.len()).cloned().unwrap_or_default();
            members.remove(&key);
        }
        value => *value = Value::Null,
    }
}

fn duplicate(program: &mut Value, at: usize, choice: usize) {
    let room = MAX_VALUES.saturating_sub(count(program));
    if let Value::Array(items) = nth(program, at).0 {
        if !items.is_empty() {
            let item = items[choice % items.len()].clone();
            // Occasionally enough copies to reach a limit.
            let copies = if choice > 250 { 300 } else { 1 };
            if copies * count(&item) < room {
                items.extend(std::iter::repeat_n(item, copies));
            }
        }
    }
}

fn exchange(program: &mut Value, at: usize, other: usize) {
    let first = nth(program, at).0.clone();
    copy(program, at, other);
    // The other place may no longer exist.
    if other < count(program) && count(&first) + count(program) < MAX_VALUES {
        set(program, other, first);
    }
}

fn copy(program: &mut Value, at: usize, from: usize) {
    let value = nth(program, from).0.clone();
    if count(&value) + count(program) < MAX_VALUES {
        set(program, at, value);
    }
}

/// Sets the value to that of another member with the same name, so that the result is often a valid program.
fn borrow(program: &mut Value, at: usize, choice: u16) {
    let key = nth(program, at).1;
    let mut values = Vec::new();
    gather(program, &key, "", &mut values);
    if !values.is_empty() {
        let value = values[usize::from(choice) % values.len()].clone();
        set(program, at, value);
    }
}

fn gather<'a>(value: &'a Value, wanted: &str, key: &str, found: &mut Vec<&'a Value>) {
    if key == wanted && !value.is_array() && !value.is_object() {
        found.push(value);
    }
    let mut members = |members: &'a Map<String, Value>| {
        members.iter().for_each(|(key, member)| gather(member, wanted, key, found));
    };
    match value {
        Value::Object(object) => members(object),
        Value::Array(items) => items.iter().for_each(|item| gather(item, wanted, key, found)),
        _ => {}
    }
}

fn change_number(program: &mut Value, at: usize, other: u16, choice: u8) {
    let number = match choice % 8 {
        0 => u64::from(other % 4),
        1 => u64::from(other),
        2 => u64::from(other) << 48,
        3 => 1 << (other % 64),
        4 => (1 << (other % 64)) - 1,
        5 => u64::MAX - u64::from(other % 4),
        6 => 128 + u64::from(other % 3),
        _ => 64 + u64::from(other % 3),
    };
    let (value, _) = nth(program, at);
    *value = match value {
        Value::String(text) if text.starts_with("0x") => json!(format!("0x{number:x}")),
        _ => json!(number),
    };
}

/// Returns a value that is meaningful somewhere.
fn special(choice: u8) -> Value {
    const VALUES: [&str; 24] = [
        "null", "true", "false", "[]", "{}", "\"\"", "-1", "1e99", "0.5", "18446744073709551616",
        "\"0x0\"", "\"-0x1\"", "\"0xffffffffffffffffffffffffffffffff\"", "\"0x\"", "\"*\"", "\"$valid$\"",
        "[\"scalars\", \"\"]", "[[]]", "{\"type\": \"expression\", \"value\": null}",
        "{\"type\": \"hexstr\", \"value\": \"0xffffffffffffffff\"}", "{\"type\": \"local\", \"value\": 0}",
        "{\"type\": \"runtime_data\", \"value\": 1}", "{\"type\": \"field\", \"value\": [\"standard_metadata\", \"egress_spec\"]}",
        "{\"type\": \"expression\", \"value\": {\"op\": \"/\", \"left\": {\"type\": \"hexstr\", \"value\": \"0x1\"}, \"right\": {\"type\": \"field\", \"value\": [\"standard_metadata\", \"egress_spec\"]}}}",
    ];
    let text = VALUES[usize::from(choice) % VALUES.len()];
    serde_json::from_str(text).expect("these are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_found_in_reading_order() {
        let mut value = json!({"a": [1, {"b": 2}], "c": 3});
        assert_eq!(count(&value), 6);
        let (found, key) = nth(&mut value, 4);
        assert_eq!((found.clone(), key.as_str()), (json!(2), "b"));
    }

    #[test]
    fn a_borrowed_value_is_one_that_a_member_of_the_same_name_has() {
        let mut value = json!([{"op": "+"}, {"op": "-"}]);
        borrow(&mut value, 2, 1);
        assert_eq!(value, json!([{"op": "-"}, {"op": "-"}]));
    }
}
