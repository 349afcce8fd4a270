//! Converts keys and action data between the bytes of the interface and the words of tables.

use super::{ActionData, MatchKeyParam, Result};
use crate::error::{Refusal, RuntimeError};
use crate::number::{
    bits, compare, cut, decimal, from_bytes, ones, prefix_mask, to_bytes, words as words_of,
};
use crate::program::{ActionInfo, Bound, MatchTable, MatchType, PackedKey, TableInfo};

/// Returns a big-endian number of at most `width` bits, low word first.
pub(super) fn number(bytes: &[u8], width: u32) -> std::result::Result<Vec<u64>, String> {
    if bytes.is_empty() {
        return Err(format!("the value is empty; it needs {} bytes for {width} bits", width.div_ceil(8)));
    }
    let significant = &bytes[bytes.iter().position(|&b| b != 0).unwrap_or(bytes.len())..];
    let value = from_bytes(significant);
    if bits(&value) > width {
        return Err(format!("value 0x{} does not fit {width} bits", hex(significant)));
    }
    Ok(cut(value, width))
}

fn hex(bytes: &[u8]) -> String {
    let shown: String = bytes.iter().take(20).map(|b| format!("{b:02x}")).collect();
    if bytes.len() > 20 {
        shown + "..."
    } else {
        shown
    }
}

/// Packs action data into words.
pub(super) fn pack_data(action: &ActionInfo, data: &[Vec<u8>]) -> Result<Vec<u64>> {
    let fail = |reason: String| {
        let text = format!("action '{}': {reason}", action.name);
        RuntimeError::new(Refusal::InvalidValue, "BAD_ACTION_DATA", text)
    };
    if data.len() != action.params.len() {
        let names: Vec<&str> = action.params.iter().map(|p| p.name.as_str()).collect();
        return Err(fail(format!(
            "{} values given, it takes {} ({})",
            data.len(),
            names.len(),
            names.join(", ")
        )));
    }
    let mut words = Vec::new();
    for (value, param) in data.iter().zip(&action.params) {
        let value =
            number(value, param.bitwidth).map_err(|e| fail(format!("parameter '{}': {e}", param.name)))?;
        words.extend(value);
    }
    Ok(words)
}

pub(super) fn unpack_data(action: &ActionInfo, words: &[u64]) -> ActionData {
    let mut at = 0;
    action
        .params
        .iter()
        .map(|param| {
            let value = &words[at..at + words_of(param.bitwidth) as usize];
            at += value.len();
            to_bytes(value, param.bitwidth)
        })
        .collect()
}

/// Returns a match key in the packed form of its table.
pub(super) fn pack_key(
    info: &TableInfo,
    table: &MatchTable,
    key: &[MatchKeyParam],
    priority: u32,
) -> Result<PackedKey> {
    let fail = |field: &str, reason: String| {
        let text = format!("table '{}' key '{field}': {reason}", info.name);
        RuntimeError::new(Refusal::InvalidValue, "BAD_MATCH_KEY", text)
    };
    if key.len() != info.key.len() {
        let names: Vec<&str> = info.key.iter().map(|k| k.name.as_str()).collect();
        return Err(fail(
            "*",
            format!("{} fields given, it has {} ({})", key.len(), names.len(), names.join(", ")),
        ));
    }
    let (mut values, mut masks, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
    let mut prefix_length = 0;
    for (at, (param, field)) in key.iter().zip(&info.key).enumerate() {
        let width = field.bitwidth;
        let all = ones(width);
        let value = |given: &[u8]| number(given, width).map_err(|e| fail(&field.name, e));
        let (value, mask) = match (field.match_type, param) {
            (MatchType::Exact, MatchKeyParam::Exact(given)) => (value(given)?, all),
            (MatchType::Valid, MatchKeyParam::Valid(valid)) => (vec![u64::from(*valid)], all),
            (MatchType::Lpm, MatchKeyParam::Lpm(given, length)) => {
                if *length > width {
                    let reason = format!("prefix length {length} is beyond the field's {width} bits");
                    return Err(fail(&field.name, reason));
                }
                prefix_length = *length;
                (value(given)?, prefix_mask(width, *length))
            }
            (MatchType::Ternary, MatchKeyParam::Ternary(given, mask)) => (value(given)?, value(mask)?),
            (MatchType::Range, MatchKeyParam::Range(first, last)) => {
                let (first, last) = (value(first)?, value(last)?);
                if compare(&first, &last).is_gt() {
                    let (first, last) = (decimal(&first, false), decimal(&last, false));
                    return Err(fail(
                        &field.name,
                        format!("the range begins at {first} after its end {last}"),
                    ));
                }
                bounds.push(Bound { field: at, first, last });
                (vec![0], vec![0])
            }
            (wanted, _) => {
                return Err(fail(
                    &field.name,
                    format!("the field matches {wanted:?}; another kind of value was given"),
                ));
            }
        };
        values.push(value.iter().zip(&mask).map(|(v, m)| v & m).collect::<Vec<u64>>());
        masks.push(mask);
    }
    let ordered = matches!(info.match_type, MatchType::Ternary | MatchType::Range);
    Ok(PackedKey {
        value: table.key.pack_masked(values),
        mask: table.key.pack(masks),
        bounds,
        prefix_length,
        priority: if ordered { priority } else { 0 },
    })
}

pub(super) fn unpack_key(info: &TableInfo, table: &MatchTable, key: &PackedKey) -> Vec<MatchKeyParam> {
    info.key
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let width = field.bitwidth;
            let value = to_bytes(&table.key.unpack_words(&key.value, at), width);
            match field.match_type {
                MatchType::Exact => MatchKeyParam::Exact(value),
                MatchType::Valid => MatchKeyParam::Valid(value != [0]),
                MatchType::Lpm => MatchKeyParam::Lpm(value, key.prefix_length),
                MatchType::Ternary => {
                    let mask = table.key.unpack_words(&key.mask, at);
                    MatchKeyParam::Ternary(value, to_bytes(&mask, width))
                }
                MatchType::Range => {
                    let bound = key.bounds.iter().find(|b| b.field == at);
                    let (first, last) = bound.map_or((&[][..], &[][..]), |b| (&b.first, &b.last));
                    MatchKeyParam::Range(to_bytes(first, width), to_bytes(last, width))
                }
            }
        })
        .collect()
}
