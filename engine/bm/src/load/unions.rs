//! Header unions and stacks of them: their types, and their member headers.

use std::collections::HashMap;

use super::json::Json;
use super::limits::Limits;
use super::{add_name, look_up, Result};
use crate::error::{clip, LoadError};
use crate::program::{Header, Union, UnionStack, UnionType};

/// The unions of a program. The elements of a stack have consecutive ids; the slots of stacks are set later.
pub(super) struct Unions {
    pub(super) types: Vec<UnionType>,
    pub(super) unions: Vec<Union>,
    pub(super) stacks: Vec<UnionStack>,
    pub(super) ids: HashMap<String, u32>,
    pub(super) stack_ids: HashMap<String, u32>,
}

/// Loads the header unions. `header_of` returns a header by its id in the JSON.
pub(super) fn load(
    root: &Json<'_>,
    limits: &Limits,
    header_types: &HashMap<String, u32>,
    headers: &[Header],
    header_of: impl Fn(u64) -> Option<u32>,
) -> Result<Unions> {
    let mut type_ids = HashMap::new();
    let mut types = Vec::new();
    for json in root.list("header_union_types", limits.max_objects)? {
        let ty = load_type(&json, limits, header_types)?;
        add_name(&mut type_ids, &json, &ty.name, types.len())?;
        types.push(ty);
    }

    let instances = root.list("header_unions", limits.max_objects)?;
    let mut by_json_id = HashMap::new();
    for (at, json) in instances.iter().enumerate() {
        by_json_id.insert(json.get("id")?.u64()?, at);
    }
    let type_of = |json: &Json<'_>| look_up(&type_ids, "header union type", &json.get("union_type")?);

    let mut sequence = Vec::new();
    let mut placed = vec![false; instances.len()];
    let mut stacks = Vec::new();
    let mut stack_ids = HashMap::new();
    for json in root.list("header_union_stacks", limits.max_objects)? {
        let type_id = type_of(&json)?;
        let elements = json.list("header_union_ids", limits.max_objects)?;
        if elements.is_empty() {
            return Err(json.error("a stack of no header unions"));
        }
        let first = sequence.len() as u32;
        for element in &elements {
            let at = *by_json_id
                .get(&element.u64()?)
                .ok_or_else(|| element.error("no header union has this id"))?;
            if std::mem::replace(&mut placed[at], true) {
                return Err(element.error("the header union is in two stacks, or twice in one"));
            }
            if type_of(&instances[at])? != type_id {
                return Err(element.error("the header union is not of the stack's type"));
            }
            sequence.push(at);
        }
        add_name(&mut stack_ids, &json, json.get("name")?.str()?, stacks.len())?;
        stacks.push(UnionStack { type_id, first, size: elements.len() as u32, next: 0 });
    }
    sequence.extend((0..instances.len()).filter(|&at| !placed[at]));

    let mut taken = vec![false; headers.len()];
    let mut ids = HashMap::new();
    let mut unions = Vec::new();
    for &at in &sequence {
        let json = &instances[at];
        let type_id = type_of(json)?;
        let members = load_members(json, limits, &types[type_id as usize], headers, &header_of, &mut taken)?;
        add_name(&mut ids, json, json.get("name")?.str()?, unions.len())?;
        unions.push(Union { type_id, members });
    }
    Ok(Unions { types, unions, stacks, ids, stack_ids })
}

fn load_type(json: &Json<'_>, limits: &Limits, header_types: &HashMap<String, u32>) -> Result<UnionType> {
    let mut members: Vec<(String, u32)> = Vec::new();
    for member in json.list("headers", limits.max_objects)? {
        let [name, ty] = member.tuple()?;
        let name = name.str()?;
        if members.iter().any(|(other, _)| other == name) {
            return Err(member.error(format!("the member '{}' is there twice", clip(name))));
        }
        members.push((name.to_owned(), look_up(header_types, "header type", &ty)?));
    }
    Ok(UnionType { name: json.get("name")?.str()?.to_owned(), members })
}

fn load_members(
    json: &Json<'_>,
    limits: &Limits,
    ty: &UnionType,
    headers: &[Header],
    header_of: &impl Fn(u64) -> Option<u32>,
    taken: &mut [bool],
) -> Result<Vec<u32>> {
    let given = json.list("header_ids", limits.max_objects)?;
    if given.len() != ty.members.len() {
        return Err(json.error(format!(
            "has {} headers; its type '{}' has {}",
            given.len(),
            clip(&ty.name),
            ty.members.len()
        )));
    }
    let mut members = Vec::new();
    for (id, (_, header_type)) in given.iter().zip(&ty.members) {
        let header = header_of(id.u64()?).ok_or_else(|| id.error("no header has this id"))?;
        let refuse = |reason: &str| Err::<Vec<u32>, LoadError>(id.error(reason));
        if std::mem::replace(&mut taken[header as usize], true) {
            return refuse("the header is in two unions, or twice in one");
        }
        if headers[header as usize].metadata {
            return refuse("metadata in a header union is not supported");
        }
        if headers[header as usize].type_id != *header_type {
            return refuse("the header is not of the type that the union's type says");
        }
        members.push(header);
    }
    Ok(members)
}
