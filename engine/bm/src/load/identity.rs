//! Checks that each id is there once among its kind: BMv2 refuses a program in which two objects share one.

use std::collections::HashSet;

use super::json::Json;
use super::limits::Limits;
use super::Result;

/// Lists of the program whose objects have ids. BMv2 compares no others; of these, it does not compare header unions, but
/// their stacks name them by id.
const LISTS: [&str; 16] = [
    "header_types",
    "headers",
    "header_stacks",
    "header_unions",
    "field_lists",
    "learn_lists",
    "parsers",
    "parse_vsets",
    "deparsers",
    "meter_arrays",
    "counter_arrays",
    "register_arrays",
    "calculations",
    "checksums",
    "actions",
    "pipelines",
];

/// Lists within another list, each with ids of its own.
const INNER_LISTS: [(&str, &str); 4] = [
    ("parsers", "parse_states"),
    ("pipelines", "tables"),
    ("pipelines", "action_profiles"),
    ("pipelines", "conditionals"),
];

/// Refuses a program in which two objects of a kind have the same id.
pub(super) fn check_ids(root: &Json<'_>, limits: &Limits) -> Result<()> {
    for key in LISTS {
        check_list(&root.list(key, limits.max_objects)?)?;
    }
    for (outer, inner) in INNER_LISTS {
        for json in root.list(outer, limits.max_objects)? {
            check_list(&json.list(inner, limits.max_objects)?)?;
        }
    }
    Ok(())
}

fn check_list(objects: &[Json<'_>]) -> Result<()> {
    let mut ids = HashSet::new();
    for object in objects {
        // An object that nothing refers to by its id may have none.
        let Some(id) = object.opt("id")? else { continue };
        let value = id.number(u64::from(u32::MAX))?;
        if !ids.insert(value) {
            return Err(id.error(format!("{value} is there twice; give each object of the list its own id")));
        }
    }
    Ok(())
}
