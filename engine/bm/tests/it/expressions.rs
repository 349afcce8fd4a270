//! Expressions compared with an oracle of checked 128-bit integers: BMv2 computes exact values and cuts them when it stores them.

use bm::{Fault, Program};
use proptest::prelude::*;
use serde_json::{json, Value};

use crate::harness::Bench;

/// Metadata fields that expressions read: name, width, signed.
const FIELDS: [(&str, u32, bool); 9] = [
    ("u1", 1, false),
    ("u8", 8, false),
    ("u32", 32, false),
    ("u48", 48, false),
    ("u64", 64, false),
    ("i8", 8, true),
    ("i32", 32, true),
    ("i64", 64, true),
    ("u100", 100, false),
];

#[derive(Debug, Clone)]
enum Tree {
    Field(usize),
    Const(i128),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    Cut(&'static str, Box<Tree>, u32),
    Cond(&'static str, Box<Tree>, Box<Tree>, Box<Tree>, Box<Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        3 => (0..FIELDS.len()).prop_map(Tree::Field),
        1 => (-300i128..300).prop_map(Tree::Const),
        1 => any::<u64>().prop_map(|c| Tree::Const(i128::from(c))),
        1 => (0u32..80).prop_map(|bits| Tree::Const((1 << bits) - 1)),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let binary = prop::sample::select(vec!["+", "-", "*", "&", "|", "^", "/", "%"]);
        let compare = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
        let cut = prop::sample::select(vec!["two_comp_mod", "sat_cast", "usat_cast", "&"]);
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            6 => (binary, pair.clone()).prop_map(|(op, (a, b))| Tree::Binary(op, a.into(), b.into())),
            2 => (prop::sample::select(vec!["<<", ">>"]), inner.clone(), 0i128..70)
                .prop_map(|(op, a, by)| Tree::Binary(op, a.into(), Tree::Const(by).into())),
            1 => (prop::sample::select(vec!["<<", ">>"]), inner.clone())
                .prop_map(|(op, a)| Tree::Binary(op, a.into(), Tree::Field(1).into())),
            1 => inner.clone().prop_map(|a| Tree::Not(a.into())),
            3 => (cut, inner.clone(), 1u32..=100).prop_map(|(op, a, w)| Tree::Cut(op, a.into(), w)),
            1 => (compare, pair.clone(), pair)
                .prop_map(|(op, (a, b), (c, d))| Tree::Cond(op, a.into(), b.into(), c.into(), d.into())),
        ]
    })
}

fn constant(value: i128) -> Value {
    let sign = if value < 0 { "-" } else { "" };
    json!({"type": "hexstr", "value": format!("{sign}0x{:x}", value.unsigned_abs())})
}

fn operation(op: &str, left: Value, right: Value) -> Value {
    json!({"type": "expression", "value": {"op": op, "left": left, "right": right}})
}

fn write(tree: &Tree) -> Value {
    match tree {
        Tree::Field(at) => json!({"type": "field", "value": ["m", FIELDS[*at].0]}),
        Tree::Const(value) => constant(*value),
        Tree::Binary(op, a, b) => operation(op, write(a), write(b)),
        Tree::Not(a) => operation("~", Value::Null, write(a)),
        Tree::Cut("&", a, w) => operation("&", write(a), constant((1 << w) - 1)),
        Tree::Cut(op, a, w) => operation(op, write(a), constant(i128::from(*w))),
        Tree::Cond(op, a, b, c, d) => json!({"type": "expression", "value": {
            "op": "?", "cond": operation(op, write(a), write(b)), "left": write(c), "right": write(d),
        }}),
    }
}

/// The value is too wide for the oracle, or the packet stops.
enum Unknown {
    TooWide,
    Division,
}

fn evaluate(tree: &Tree, fields: &[i128]) -> Result<i128, Unknown> {
    let wide = |value: Option<i128>| value.ok_or(Unknown::TooWide);
    Ok(match tree {
        Tree::Field(at) => fields[*at],
        Tree::Const(value) => *value,
        Tree::Not(a) => !evaluate(a, fields)?,
        Tree::Binary(op, a, b) => {
            let (a, b) = (evaluate(a, fields)?, evaluate(b, fields)?);
            match *op {
                "+" => wide(a.checked_add(b))?,
                "-" => wide(a.checked_sub(b))?,
                "*" => wide(a.checked_mul(b))?,
                "&" => a & b,
                "|" => a | b,
                "^" => a ^ b,
                "/" | "%" if a < 0 || b <= 0 => return Err(Unknown::Division),
                "/" => a / b,
                "%" => a % b,
                "<<" if a == 0 => 0,
                "<<" if b > 126 => return Err(Unknown::TooWide),
                "<<" => wide(a.checked_mul(wide(1i128.checked_shl(b as u32))?))?,
                _ => a >> b.min(127),
            }
        }
        Tree::Cut(op, a, w) => {
            let a = evaluate(a, fields)?;
            let half = 1i128 << (w - 1);
            match *op {
                "&" => a & ((1 << w) - 1),
                "two_comp_mod" => {
                    let low = a & ((1 << w) - 1);
                    if low >= half {
                        low - (1 << w)
                    } else {
                        low
                    }
                }
                "sat_cast" => a.clamp(-half, half - 1),
                _ => a.clamp(0, (1 << w) - 1),
            }
        }
        Tree::Cond(op, a, b, c, d) => {
            let (a, b) = (evaluate(a, fields)?, evaluate(b, fields)?);
            let holds = match *op {
                "==" => a == b,
                "!=" => a != b,
                "<" => a < b,
                "<=" => a <= b,
                ">" => a > b,
                _ => a >= b,
            };
            evaluate(if holds { c } else { d }, fields)?
        }
    })
}

/// Returns a program whose only action assigns the expression to fields of several widths, and writes it to a register.
fn program(tree: &Tree) -> Value {
    let mut fields: Vec<Value> =
        FIELDS.iter().map(|(name, width, signed)| json!([name, width, signed])).collect();
    for (name, width, signed) in
        [("out8", 8, false), ("out64", 64, false), ("outi32", 32, true), ("out100", 100, false)]
    {
        fields.push(json!([name, width, signed]));
    }
    let assign = |name: &str| json!({"op": "assign", "parameters": [{"type": "field", "value": ["m", name]}, write(tree)]});
    json!({
        "__meta__": {"version": [2, 23]},
        "header_types": [{"name": "m_t", "id": 0, "fields": fields}],
        "headers": [{"name": "m", "id": 0, "header_type": "m_t", "metadata": true}],
        "actions": [{"name": "a", "id": 0, "runtime_data": [], "primitives": [
            assign("out8"), assign("out64"), assign("outi32"), assign("out100"),
            {"op": "register_write", "parameters":
                [{"type": "register_array", "value": "r"}, constant(1), write(tree)]},
        ]}],
        "register_arrays": [{"name": "r", "id": 0, "size": 2, "bitwidth": 33}],
        "parsers": [{"name": "parser", "id": 0, "init_state": null, "parse_states": []}],
        "pipelines": [{"name": "ingress", "id": 0, "init_table": "t", "action_profiles": [], "conditionals": [],
            "tables": [{"name": "t", "id": 0, "key": [], "match_type": "exact", "type": "simple", "max_size": 1,
                "with_counters": false, "support_timeout": false, "direct_meters": null, "action_ids": [0],
                "actions": ["a"], "next_tables": {"a": null},
                "default_entry": {"action_id": 0, "action_const": true, "action_data": [], "action_entry_const": true}}]}],
    })
}

/// Returns the value of a field from random bits.
fn field_value(bits: u128, width: u32, signed: bool) -> i128 {
    let low = (bits & ((1 << width) - 1)) as i128;
    if signed && low >> (width - 1) == 1 {
        low - (1 << width)
    } else {
        low
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn an_expression_is_computed_in_full_and_cut_on_store(
        tree in tree(),
        bits in prop::collection::vec(prop_oneof![any::<u128>(), 0..4u128, Just(u128::MAX)], FIELDS.len()),
    ) {
        let json = program(&tree).to_string();
        // The loader may refuse a program for its possible values; then there is nothing to compare.
        if let Err(error) = Program::from_json(json.as_bytes()) {
            let reason = &error.reason;
            prop_assert!(
                reason.contains("128 bits") || reason.contains("intermediate values") || reason.contains("64 bits") || reason.contains("negative"),
                "{error}"
            );
            return Ok(());
        }
        let mut bench = Bench::new(json.as_bytes());
        let mut values = Vec::new();
        bench.phv.reset(&bench.program, 0);
        for (&(name, width, signed), &bits) in FIELDS.iter().zip(&bits) {
            let mut value = field_value(bits, width, signed);
            let field = bench.field("m", name);
            bench.phv.set(field, value as u64);
            if width > 64 {
                // Phv::set takes words only.
                value &= u64::MAX as i128;
            }
            values.push(value);
        }
        let ran = bench.run("ingress");
        match evaluate(&tree, &values) {
            Ok(expected) => {
                prop_assert_eq!(ran, Ok(()));
                prop_assert_eq!(bench.get("m", "out8"), expected as u64 & 0xff);
                prop_assert_eq!(bench.get("m", "out64"), expected as u64);
                prop_assert_eq!(bench.get("m", "outi32") as i64, i64::from(expected as i32));
                let wide = bench.phv.get_wide(bench.field("m", "out100"));
                prop_assert_eq!(wide, expected as u128 & ((1 << 100) - 1));
                prop_assert_eq!(bench.state.register_cell(0, 1), Some(expected as u64 & ((1 << 33) - 1)));
            }
            Err(Unknown::Division) => prop_assert_eq!(ran, Err(Fault::Division)),
            Err(Unknown::TooWide) => {}
        }
    }
}
