//! Header unions, their types and members; the order of headers and of unions, which their stacks determine.

use std::collections::HashMap;

use super::json::Json;
use super::{look_up, new_name, Ids, Result};
use crate::error::{clip, LoadError};
use crate::program::{Header, Stack, Union, UnionType};

/// The headers or the header unions of a program, in the order of their ids: first the elements of stacks, in order, so that
/// a base id plus an index is an element's id.
pub(super) struct Instances<'a> {
    /// Each with its type.
    pub(super) list: Vec<(Json<'a>, u32)>,
    /// Ids here by the ids in the JSON.
    ids: HashMap<u64, u32>,
}

/// Loads the instances, and adds their stacks; the slots of stacks are set later.
pub(super) fn instances<'a>(
    root: &Json<'a>,
    of_unions: bool,
    type_ids: &Ids,
    stacks: &mut Vec<Stack>,
    stack_ids: &mut Ids,
) -> Result<Instances<'a>> {
    let (kind, key, type_key) = if of_unions {
        ("header union", "header_union", "union_type")
    } else {
        ("header", "header", "header_type")
    };
    let list = |json: &Json<'a>, what: &str| json.list(&format!("{key}{what}"));
    let type_of = |json: &Json<'_>| look_up(type_ids, &format!("{kind} type"), &json.get(type_key)?);

    let given = list(root, "s")?;
    let mut ids = HashMap::new();
    for (at, json) in (0..).zip(&given) {
        ids.insert(json.get("id")?.u64()?, at);
    }
    let mut order: Vec<usize> = Vec::new();
    let mut places: Vec<Option<u32>> = vec![None; given.len()];
    for json in list(root, "_stacks")? {
        let type_id = type_of(&json)?;
        let elements = list(&json, "_ids")?;
        if elements.is_empty() {
            return Err(json.error(format!("a stack of no {kind}s")));
        }
        let first = order.len() as u32;
        for element in &elements {
            let at =
                *ids.get(&element.u64()?).ok_or_else(|| element.error(format!("no {kind} has this id")))?
                    as usize;
            if places[at].replace(order.len() as u32).is_some() {
                return Err(element.error(format!("the {kind} is in two stacks, or twice in one")));
            }
            if type_of(&given[at])? != type_id {
                return Err(element.error(format!("the {kind} is not of the stack's type")));
            }
            if !of_unions && given[at].get("metadata")?.bool()? {
                return Err(element.error("metadata in a stack is not supported"));
            }
            order.push(at);
        }
        new_name(stack_ids, &json)?;
        stacks.push(Stack { of_unions, type_id, first, size: elements.len() as u32, next: 0 });
    }
    for (at, place) in places.iter_mut().enumerate() {
        place.get_or_insert_with(|| {
            order.push(at);
            order.len() as u32 - 1
        });
    }
    #[allow(clippy::iter_over_hash_type)] // Each value changes on its own, so the order has no effect.
    for at in ids.values_mut() {
        *at = places[*at as usize].unwrap_or(*at);
    }
    let typed = |at: usize| Ok((given[at].clone(), type_of(&given[at])?));
    Ok(Instances { list: order.into_iter().map(typed).collect::<Result<_>>()?, ids })
}

/// Loads the types of header unions, and their ids by name.
pub(super) fn load_types(root: &Json<'_>, header_types: &Ids) -> Result<(Vec<UnionType>, Ids)> {
    let (mut types, mut ids) = (Vec::new(), HashMap::new());
    for json in root.list("header_union_types")? {
        let name = new_name(&mut ids, &json)?;
        types.push(UnionType { name, members: load_type(&json, header_types)? });
    }
    Ok((types, ids))
}

/// Loads the header unions, and their ids by name.
pub(super) fn load(
    instances: &Instances<'_>,
    types: &[UnionType],
    headers: &[Header],
    by_id: &Instances<'_>,
) -> Result<(Vec<Union>, Ids)> {
    let (mut unions, mut ids) = (Vec::new(), HashMap::new());
    let mut taken = vec![false; headers.len()];
    for (json, type_id) in &instances.list {
        let members = load_members(json, &types[*type_id as usize], headers, &by_id.ids, &mut taken)?;
        new_name(&mut ids, json)?;
        unions.push(Union { type_id: *type_id, members });
    }
    Ok((unions, ids))
}

fn load_type(json: &Json<'_>, header_types: &Ids) -> Result<Vec<(String, u32)>> {
    let mut members: Vec<(String, u32)> = Vec::new();
    for member in json.list("headers")? {
        let [name, ty] = member.tuple()?;
        let name = name.str()?;
        if members.iter().any(|(other, _)| other == name) {
            return Err(member.error(format!("the member '{}' is there twice", clip(name))));
        }
        members.push((name.to_owned(), look_up(header_types, "header type", &ty)?));
    }
    Ok(members)
}

fn load_members(
    json: &Json<'_>,
    ty: &UnionType,
    headers: &[Header],
    header_ids: &HashMap<u64, u32>,
    taken: &mut [bool],
) -> Result<Vec<u32>> {
    let given = json.list("header_ids")?;
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
        let header = *header_ids.get(&id.u64()?).ok_or_else(|| id.error("no header has this id"))?;
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
