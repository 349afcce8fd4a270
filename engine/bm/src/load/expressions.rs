//! Expressions: from "type value" objects to [`Expr`] and [`Bool`], with their types checked.

use super::{look_up, Loader, Result};
use crate::expression::{clip, Binary, Bool, Compare, Expr, HeaderRef, Int};
use crate::json::Json;
use crate::phv::Field;

/// What an expression turned out to be.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    Int(Expr),
    Bool(Bool),
    Header(HeaderRef),
    Stack(u32),
}

impl Operand {
    fn what(&self) -> &'static str {
        match self {
            Operand::Int(_) => "an integer",
            Operand::Bool(_) => "a condition",
            Operand::Header(_) => "a header",
            Operand::Stack(_) => "a header stack",
        }
    }
}

/// What an expression may refer to besides fields: the parameters of the action it is in.
pub(super) type Params<'p> = &'p [Field];

pub(super) fn place(field: Field) -> Expr {
    Expr::Slot { slot: field.slot, width: field.width(), signed: field.signed }
}

impl Loader<'_> {
    /// An integer expression.
    pub(super) fn int(&self, json: &Json<'_>, params: Params<'_>) -> Result<Expr> {
        match self.operand(json, params, 0)? {
            Operand::Int(expr) => Ok(expr),
            // BMv2 takes a condition for a value where p4c leaves out b2d.
            Operand::Bool(condition) => Ok(Expr::FromBool(Box::new(condition))),
            other => Err(json.error(format!("is {}, not an integer", other.what()))),
        }
    }

    /// A condition.
    pub(super) fn condition(&self, json: &Json<'_>, params: Params<'_>) -> Result<Bool> {
        match self.operand(json, params, 0)? {
            Operand::Bool(condition) => Ok(condition),
            Operand::Int(expr) => Ok(Bool::NonZero(expr)),
            other => Err(json.error(format!("is {}, not a condition", other.what()))),
        }
    }

    /// A header, fixed or found at run time.
    pub(super) fn header_ref(&self, json: &Json<'_>, params: Params<'_>) -> Result<HeaderRef> {
        match self.operand(json, params, 0)? {
            Operand::Header(header) => Ok(header),
            other => Err(json.error(format!("is {}, not a header", other.what()))),
        }
    }

    /// The header type that a reference is of.
    pub(super) fn type_of(&self, header: &HeaderRef) -> u32 {
        match header {
            HeaderRef::Fixed(id) => self.headers[*id as usize].type_id,
            HeaderRef::At(stack, _) | HeaderRef::Last(stack) => self.stacks[*stack as usize].type_id,
        }
    }

    fn field_of(&self, json: &Json<'_>, header: HeaderRef, index: usize) -> Result<Expr> {
        let ty = &self.header_types[self.type_of(&header) as usize];
        let Some(f) = ty.fields.get(index) else {
            // BMv2's hidden validity field comes after the declared ones.
            if index == ty.fields.len() {
                return Ok(Expr::FromBool(Box::new(Bool::Valid(header))));
            }
            return Err(json.error(format!("header type '{}' has no field {index}", clip(&ty.name))));
        };
        if f.variable {
            return Err(
                json.error(format!("field '{}' has a variable length and has no value here", clip(&f.name)))
            );
        }
        Ok(match header {
            HeaderRef::Fixed(id) => {
                let slot = self.headers[id as usize].base + f.off;
                Expr::Slot { slot, width: f.width, signed: f.signed }
            }
            header => Expr::Field { header, off: f.off, width: f.width, signed: f.signed },
        })
    }

    pub(super) fn operand(&self, json: &Json<'_>, params: Params<'_>, depth: usize) -> Result<Operand> {
        if depth > self.limits.max_expression_depth {
            return Err(json.error(format!(
                "an expression nested more than {} levels deep, the limit",
                self.limits.max_expression_depth
            )));
        }
        let object = json.object()?;
        if object.contains_key("op") {
            return self.operation(json, params, depth);
        }
        let value = json.with(json.get("value")?.value);
        let ty = json.with(json.get("type")?.value);
        match ty.str()? {
            "expression" => self.operand(&value, params, depth + 1),
            "field" => Ok(Operand::Int(place(self.field(&value)?.0))),
            "hexstr" => {
                Int::parse(value.str()?).map(|c| Operand::Int(Expr::Const(c))).map_err(|e| json.error(e))
            }
            "bool" => Ok(Operand::Bool(Bool::Const(value.bool()?))),
            "local" | "runtime_data" => {
                let index = value.u64()?;
                let param = usize::try_from(index).ok().and_then(|i| params.get(i));
                param.map(|&p| Operand::Int(place(p))).ok_or_else(|| {
                    json.error(format!("there is no action parameter {index}; there are {}", params.len()))
                })
            }
            "header" => {
                look_up(&self.names.headers, "header", &value).map(|id| Operand::Header(HeaderRef::Fixed(id)))
            }
            "header_stack" => look_up(&self.stack_ids, "header stack", &value).map(Operand::Stack),
            "stack_field" => {
                let [stack, member] = value.tuple()?;
                let stack = look_up(&self.stack_ids, "header stack", &stack)?;
                let ty = &self.header_types[self.stacks[stack as usize].type_id as usize];
                let name = member.str()?;
                let index = if name == "$valid$" {
                    ty.fields.len()
                } else {
                    *ty.index.get(name).ok_or_else(|| {
                        json.error(format!("header type '{}' has no field '{}'", clip(&ty.name), clip(name)))
                    })?
                };
                self.field_of(json, HeaderRef::Last(stack), index).map(Operand::Int)
            }
            other => {
                Err(json
                    .error(format!("a value of type '{}' is not supported in an expression", clip(other))))
            }
        }
    }

    fn operation(&self, json: &Json<'_>, params: Params<'_>, depth: usize) -> Result<Operand> {
        let op = json.with(json.get("op")?.value).str()?;
        let side = |key: &str| -> Result<Operand> {
            let side = json.with(json.get(key)?.value);
            self.operand(&side, params, depth + 1)
        };
        let int = |operand: Operand| match operand {
            Operand::Int(expr) => Ok(expr),
            other => Err(json.error(format!("operation '{op}' takes integers, not {}", other.what()))),
        };
        let boolean = |operand: Operand| match operand {
            Operand::Bool(condition) => Ok(condition),
            other => Err(json.error(format!("operation '{op}' takes conditions, not {}", other.what()))),
        };
        let binary = |op| {
            let left = match (op, json.get("left")?.is_null()) {
                (Binary::Add | Binary::Sub, true) => Expr::Const(Int::new(0)),
                _ => int(side("left")?)?,
            };
            Ok(Operand::Int(Expr::Binary(op, Box::new(left), Box::new(int(side("right")?)?))))
        };
        let compare = |op, swap: bool| {
            let (mut left, mut right) = (int(side("left")?)?, int(side("right")?)?);
            if swap {
                std::mem::swap(&mut left, &mut right);
            }
            Ok(Operand::Bool(Bool::Compare(op, left, right)))
        };
        let width = || {
            let right = json.with(json.get("right")?.value);
            match self.operand(&right, &[], depth + 1)? {
                Operand::Int(Expr::Const(Int { negative: false, magnitude }))
                    if (1..=128).contains(&magnitude) =>
                {
                    Ok(magnitude as u32)
                }
                _ => Err(json.error(format!("operation '{op}' needs a constant width of 1 to 128 bits"))),
            }
        };
        match op {
            "+" => binary(Binary::Add),
            "-" => binary(Binary::Sub),
            "*" => binary(Binary::Mul),
            "/" => binary(Binary::Div),
            "%" => binary(Binary::Mod),
            "&" => binary(Binary::And),
            "|" => binary(Binary::Or),
            "^" => binary(Binary::Xor),
            "<<" => binary(Binary::Shl),
            ">>" => binary(Binary::Shr),
            "~" => Ok(Operand::Int(Expr::Not(Box::new(int(side("right")?)?)))),
            "==" | "!=" => {
                let equal = match (side("left")?, side("right")?) {
                    (Operand::Int(a), Operand::Int(b)) => {
                        let op = if op == "==" { Compare::Eq } else { Compare::Ne };
                        return Ok(Operand::Bool(Bool::Compare(op, a, b)));
                    }
                    (Operand::Bool(a), Operand::Bool(b)) => Bool::Same(Box::new(a), Box::new(b)),
                    (Operand::Header(a), Operand::Header(b)) => {
                        if self.type_of(&a) != self.type_of(&b) {
                            return Err(json.error(format!("operation '{op}' on headers of different types")));
                        }
                        Bool::HeaderEq(a, b)
                    }
                    (a, b) => {
                        return Err(json.error(format!("operation '{op}' on {} and {}", a.what(), b.what())));
                    }
                };
                Ok(Operand::Bool(if op == "==" { equal } else { Bool::Not(Box::new(equal)) }))
            }
            "<" => compare(Compare::Lt, false),
            ">" => compare(Compare::Lt, true),
            ">=" => compare(Compare::Ge, false),
            "<=" => compare(Compare::Ge, true),
            "and" => Ok(Operand::Bool(Bool::And(
                Box::new(boolean(side("left")?)?),
                Box::new(boolean(side("right")?)?),
            ))),
            "or" => Ok(Operand::Bool(Bool::Or(
                Box::new(boolean(side("left")?)?),
                Box::new(boolean(side("right")?)?),
            ))),
            "not" => Ok(Operand::Bool(Bool::Not(Box::new(boolean(side("right")?)?)))),
            "d2b" => Ok(Operand::Bool(match int(side("right")?)? {
                Expr::FromBool(condition) => *condition,
                expr => Bool::NonZero(expr),
            })),
            "b2d" => Ok(Operand::Int(match boolean(side("right")?)? {
                Bool::NonZero(expr @ Expr::Slot { width: 1, signed: false, .. }) => expr,
                condition => Expr::FromBool(Box::new(condition)),
            })),
            "two_comp_mod" => Ok(Operand::Int(Expr::TwoComp(Box::new(int(side("left")?)?), width()?))),
            "sat_cast" => Ok(Operand::Int(Expr::Sat(Box::new(int(side("left")?)?), width()?))),
            "usat_cast" => Ok(Operand::Int(Expr::USat(Box::new(int(side("left")?)?), width()?))),
            "?" => {
                let condition = Box::new(boolean(side("cond")?)?);
                match (side("left")?, side("right")?) {
                    (Operand::Int(a), Operand::Int(b)) => {
                        Ok(Operand::Int(Expr::Cond(condition, Box::new(a), Box::new(b))))
                    }
                    (Operand::Bool(a), Operand::Bool(b)) => {
                        let value = |c| Box::new(Expr::FromBool(Box::new(c)));
                        Ok(Operand::Bool(Bool::NonZero(Expr::Cond(condition, value(a), value(b)))))
                    }
                    (a, b) => Err(json.error(format!("operation '?' between {} and {}", a.what(), b.what()))),
                }
            }
            "valid" => match side("right")? {
                Operand::Header(header) => Ok(Operand::Bool(Bool::Valid(header))),
                other => Err(json.error(format!("operation 'valid' takes a header, not {}", other.what()))),
            },
            "dereference_header_stack" => match side("left")? {
                Operand::Stack(stack) => {
                    Ok(Operand::Header(HeaderRef::At(stack, Box::new(int(side("right")?)?))))
                }
                other => {
                    Err(json.error(format!("operation '{op}' takes a header stack, not {}", other.what())))
                }
            },
            "access_field" => {
                let Operand::Header(header) = side("left")? else {
                    return Err(json.error("operation 'access_field' takes a header"));
                };
                let right = json.with(json.get("right")?.value);
                let index = right.number(self.limits.max_objects as u64)? as usize;
                self.field_of(json, header, index).map(Operand::Int)
            }
            "last_stack_index" | "size_stack" => {
                let operand = if json.get("left")?.is_null() { side("right")? } else { side("left")? };
                let Operand::Stack(stack) = operand else {
                    return Err(json.error(format!("operation '{op}' takes a header stack")));
                };
                let next = Expr::Slot { slot: self.stacks[stack as usize].next, width: 32, signed: false };
                if op == "size_stack" {
                    return Ok(Operand::Int(next));
                }
                // The last index of an empty stack is 2^32 - 1 in P4's bit<32>.
                let ones = Expr::Const(Int::new(u128::from(u32::MAX)));
                let last = Expr::Binary(Binary::Sub, Box::new(next), Box::new(Expr::Const(Int::new(1))));
                Ok(Operand::Int(Expr::Binary(Binary::And, Box::new(last), Box::new(ones))))
            }
            other => Err(json.error(format!("expression operation '{}' is not supported", clip(other)))),
        }
    }
}
