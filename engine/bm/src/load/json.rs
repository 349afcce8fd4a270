//! JSON values together with their place in the file, so that every error can name it.

use std::collections::HashSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::limits::Limits;
use crate::error::{clip, LoadError};

/// Maximum nesting of arrays and objects. p4c emits two levels for every operation of an expression.
const MAX_NESTING: usize = 300;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The next step after a file that is not a program.
pub(crate) const EXPECTED: &str = "give the BMv2 JSON that p4c-bm2-ss -o writes";

/// A value, its place, and the limits of its file.
#[derive(Debug, Clone)]
pub(crate) struct Json<'a> {
    pub(crate) value: &'a Value,
    pub(crate) limits: &'a Limits,
    place: Rc<str>,
}

type Result<T> = std::result::Result<T, LoadError>;

/// Parses JSON text of limited size and nesting. Ignores a byte order mark in front (RFC 8259, 8.1).
pub(crate) fn parse(text: &[u8], max_bytes: usize) -> Result<Value> {
    let fail = |reason: String| LoadError::new("program", reason);
    if text.len() > max_bytes {
        return Err(fail(format!("{} bytes of JSON; the limit is {max_bytes}", text.len())));
    }
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let text = checked(text).map_err(fail)?;
    let mut reader = serde_json::Deserializer::from_slice(&text);
    reader.disable_recursion_limit();
    <Value as serde::Deserialize>::deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|e| fail(format!("not JSON: {e}; {EXPECTED}")))
}

/// Checks the nesting, and escapes control characters inside strings. p4c emits `log_msg` texts and source fragments verbatim,
/// with line breaks and tabs; that is not JSON, but BMv2's reader accepts it.
fn checked(text: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    let mut written = Vec::with_capacity(text.len());
    for &byte in text {
        if in_string && byte < b' ' {
            written.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
            escaped = false;
            continue;
        }
        match byte {
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(format!("nested more than {MAX_NESTING} levels deep"));
        }
        (in_string, escaped) = match byte {
            _ if escaped => (true, false),
            b'\\' => (in_string, in_string),
            b'"' => (!in_string, false),
            _ => (in_string, false),
        };
        written.push(byte);
    }
    Ok(written)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl<'a> Json<'a> {
    /// Returns the root value of the file.
    pub(crate) fn root(value: &'a Value, limits: &'a Limits) -> Json<'a> {
        Json { value, limits, place: Rc::from("program") }
    }

    /// Returns an error about this value.
    pub(crate) fn error(&self, reason: impl Into<String>) -> LoadError {
        LoadError::new(&*self.place, reason)
    }

    /// Gives an error without a place the place of this value.
    pub(crate) fn placed<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.at(&self.place))
    }

    /// Returns another value with the same place, for parts of expressions.
    pub(crate) fn with(&self, value: &'a Value) -> Json<'a> {
        Json { place: Rc::clone(&self.place), value, ..*self }
    }

    pub(crate) fn object(&self) -> Result<&'a Map<String, Value>> {
        self.value.as_object().ok_or_else(|| self.error(format!("is {}, not an object", kind(self.value))))
    }

    /// Returns the member, which must exist (it may be null).
    pub(crate) fn get(&self, key: &str) -> Result<Json<'a>> {
        match self.object()?.get(key) {
            Some(value) => Ok(self.member(key, value)),
            None => Err(self.error(format!("has no '{key}'"))),
        }
    }

    /// Returns the member if it exists and is not null.
    pub(crate) fn opt(&self, key: &str) -> Result<Option<Json<'a>>> {
        Ok(self.object()?.get(key).filter(|v| !v.is_null()).map(|value| self.member(key, value)))
    }

    fn member(&self, key: &str, value: &'a Value) -> Json<'a> {
        let place = if &*self.place == "program" { key.to_owned() } else { format!("{} {key}", self.place) };
        Json { value, place: place.into(), ..*self }
    }

    /// Returns the elements; each place has the element's index and, if it has one, its name.
    pub(crate) fn array(&self) -> Result<Vec<Json<'a>>> {
        let items = self.value.as_array();
        let items = items.ok_or_else(|| self.error(format!("is {}, not an array", kind(self.value))))?;
        let element = |(at, value): (usize, &'a Value)| {
            let place = match value.get("name").and_then(Value::as_str) {
                Some(name) => format!("{}[{at}] '{}'", self.place, clip(name)),
                None => format!("{}[{at}]", self.place),
            };
            Json { value, place: place.into(), ..*self }
        };
        Ok(items.iter().enumerate().map(element).collect())
    }

    /// Returns the elements of the member; none if it is absent. BMv2 refuses a program in which two objects of a list have the
    /// same id.
    pub(crate) fn list(&self, key: &str) -> Result<Vec<Json<'a>>> {
        self.list_up_to(self.limits.max_objects, key)
    }

    /// Returns the elements as [`Json::list`] does; they become instructions.
    pub(crate) fn instructions(&self, key: &str) -> Result<Vec<Json<'a>>> {
        self.list_up_to(self.limits.max_instructions, key)
    }

    fn list_up_to(&self, limit: usize, key: &str) -> Result<Vec<Json<'a>>> {
        let Some(member) = self.opt(key)? else { return Ok(Vec::new()) };
        let count = member.value.as_array().map_or(0, Vec::len);
        if count > limit {
            return Err(member.error(format!("has {count} elements; the limit is {limit}")));
        }
        let (elements, mut ids) = (member.array()?, HashSet::new());
        // An object that nothing refers to by its id may have none.
        for object in
            elements.iter().filter(|element| element.value.get("id").is_some_and(|id| !id.is_null()))
        {
            let id = object.id()?;
            if !ids.insert(id) {
                let next = "give each object of the list its own id";
                return Err(object.get("id")?.error(format!("{id} is there twice; {next}")));
            }
        }
        Ok(elements)
    }

    /// Returns the elements of an array, which must have exactly `N`.
    pub(crate) fn tuple<const N: usize>(&self) -> Result<[Json<'a>; N]> {
        let items = self.array()?;
        let count = items.len();
        items.try_into().map_err(|_| self.error(format!("has {count} elements where {N} are needed")))
    }

    pub(crate) fn str(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.error(format!("is {}, not a string", kind(self.value))))
    }

    pub(crate) fn bool(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.error(format!("is {}, not a boolean", kind(self.value))))
    }

    /// Returns a boolean member, or `default` if it is absent.
    pub(crate) fn flag(&self, key: &str, default: bool) -> Result<bool> {
        self.opt(key)?.map_or(Ok(default), |value| value.bool())
    }

    /// Returns the object's id.
    pub(crate) fn id(&self) -> Result<u32> {
        Ok(self.get("id")?.number(u64::from(u32::MAX))? as u32)
    }

    pub(crate) fn u64(&self) -> Result<u64> {
        self.value.as_u64().ok_or_else(|| self.error("is not a whole number in range"))
    }

    /// Returns a number of at most `limit`.
    pub(crate) fn number(&self, limit: u64) -> Result<u64> {
        let value = self.u64()?;
        if value > limit {
            return Err(self.error(format!("is {value}; the limit is {limit}")));
        }
        Ok(value)
    }

    /// Returns a width in bits; `what` names the objects that have it.
    pub(crate) fn width(&self, what: &str) -> Result<u32> {
        let (bits, widest) = (self.u64()?, self.limits.widest());
        if bits == 0 || bits > widest {
            return Err(self.error(format!("is {bits}; {what} of 1 to {widest} bits are supported")));
        }
        Ok(bits as u32)
    }

    pub(crate) fn is_null(&self) -> bool {
        self.value.is_null()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_beyond_the_limit_is_refused_before_it_is_parsed() {
        let text = "[".repeat(MAX_NESTING + 1);
        assert!(parse(text.as_bytes(), 1 << 20).unwrap_err().reason.contains("nested"));
    }

    #[test]
    fn brackets_inside_strings_are_not_nesting() {
        let text = format!("\"{}\\\"[\"", "[".repeat(MAX_NESTING + 1));
        assert!(parse(text.as_bytes(), 1 << 20).is_ok());
    }

    #[test]
    fn line_breaks_and_tabs_inside_strings_are_their_text_and_outside_are_space() {
        let value = parse(b"{\n\t\"a\\\"b\": \"one\n\ttwo \\\\\"\n}", 1 << 20).unwrap();
        assert_eq!(value["a\"b"], "one\n\ttwo \\");
    }

    #[test]
    fn a_byte_order_mark_in_front_is_ignored_and_another_file_says_what_writes_a_program() {
        assert_eq!(parse(b"\xef\xbb\xbf[1]", 1 << 20).unwrap()[0], 1);
        let error = parse(b"#include <core.p4>", 1 << 20).unwrap_err();
        assert!(error.reason.ends_with("give the BMv2 JSON that p4c-bm2-ss -o writes"), "{}", error.reason);
    }
}
