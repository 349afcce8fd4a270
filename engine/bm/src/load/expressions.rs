//! Converts expressions from "type value" objects to [`Expr`] and [`Bool`], and checks their types.

use super::compile::expression::{Binary, Bool, Compare, Expr, HeaderRef, Int, UnionRef};
use super::json::Json;
use super::{look_up, Loader, Result};
use crate::error::clip;
use crate::program::Field;

/// The kinds of expression.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    Int(Expr),
    Bool(Bool),
    Header(HeaderRef),
    Stack(u32),
    Union(UnionRef),
    /// The variable-length field of a header.
    Varbit(HeaderRef),
}

impl Operand {
    fn what(&self) -> &'static str {
        match self {
            Operand::Int(_) => "an integer",
            Operand::Bool(_) => "a condition",
            Operand::Header(_) => "a header",
            Operand::Stack(_) => "a stack",
            Operand::Union(_) => "a header union",
            Operand::Varbit(_) => "a field of variable length",
        }
    }
}

/// The parameters of the enclosing action, to which an expression may refer besides fields.
pub(super) type Params<'p> = &'p [Field];

/// Returns the value of a field as an operand.
pub(super) fn field_value(field: Field) -> Expr {
    Expr::Slot { slot: field.slot, width: field.width(), signed: field.signed }
}

impl Loader<'_> {
    /// Returns an integer expression.
    pub(super) fn int(&self, json: &Json<'_>, params: Params<'_>) -> Result<Expr> {
        match self.operand(json, params, 0)? {
            Operand::Int(expr) => Ok(expr),
            // BMv2 accepts a condition as a value where p4c omits b2d.
            Operand::Bool(condition) => Ok(Expr::FromBool(Box::new(condition))),
            other => Err(json.error(format!("is {}, not an integer", other.what()))),
        }
    }

    /// Returns a condition.
    pub(super) fn condition(&self, json: &Json<'_>, params: Params<'_>) -> Result<Bool> {
        match self.operand(json, params, 0)? {
            Operand::Bool(condition) => Ok(condition),
            Operand::Int(expr) => Ok(Bool::NonZero(expr)),
            other => Err(json.error(format!("is {}, not a condition", other.what()))),
        }
    }

    /// Returns a header that is fixed or determined at run time.
    pub(super) fn header_ref(&self, json: &Json<'_>, params: Params<'_>) -> Result<HeaderRef> {
        match self.operand(json, params, 0)? {
            Operand::Header(header) => Ok(header),
            other => Err(json.error(format!("is {}, not a header", other.what()))),
        }
    }

    /// Returns the header type of a reference.
    pub(super) fn type_of(&self, header: &HeaderRef) -> u32 {
        match header {
            HeaderRef::Fixed(id) => self.packet.headers[*id as usize].type_id,
            HeaderRef::At(stack, _) | HeaderRef::Last(stack) => self.packet.stacks[*stack as usize].type_id,
            HeaderRef::Member(union, member) => {
                self.union_types[self.union_type_of(union) as usize].members[*member as usize].1
            }
        }
    }

    /// Returns the header union type of a reference.
    pub(super) fn union_type_of(&self, union: &UnionRef) -> u32 {
        match union {
            UnionRef::Fixed(id) => self.packet.unions[*id as usize].type_id,
            UnionRef::At(stack, _) | UnionRef::Last(stack) => self.packet.stacks[*stack as usize].type_id,
        }
    }

    /// Returns a header union that is fixed or determined at run time.
    pub(super) fn union_ref(&self, json: &Json<'_>, params: Params<'_>) -> Result<UnionRef> {
        match self.operand(json, params, 0)? {
            Operand::Union(union) => Ok(union),
            other => Err(json.error(format!("is {}, not a header union", other.what()))),
        }
    }

    /// Returns the stack of this name, of header unions or of headers.
    pub(super) fn stack(&self, name: &Json<'_>, of_unions: bool) -> Result<u32> {
        let kind = if of_unions { "header union stack" } else { "header stack" };
        let stack = look_up(&self.stack_ids, kind, name)?;
        if self.packet.stacks[stack as usize].of_unions != of_unions {
            return Err(name.error(format!("is not a {kind}")));
        }
        Ok(stack)
    }

    /// Returns the place of a member in the type of a stack of unions, and its header type.
    pub(super) fn union_stack_member(&self, stack: u32, member: &Json<'_>) -> Result<(u32, u32)> {
        let ty = &self.union_types[self.packet.stacks[stack as usize].type_id as usize];
        let name = member.str()?;
        (0..)
            .zip(&ty.members)
            .find(|(_, (other, _))| other == name)
            .map(|(at, (_, ty))| (at, *ty))
            .ok_or_else(|| {
                member.error(format!("header union type '{}' has no member '{}'", clip(&ty.name), clip(name)))
            })
    }

    /// Returns a field of a header by name.
    fn named_field_of(&self, json: &Json<'_>, header: HeaderRef, name: &str) -> Result<Operand> {
        let ty = &self.packet.header_types[self.type_of(&header) as usize];
        let index = if name == "$valid$" {
            ty.fields.len()
        } else {
            *ty.index.get(name).ok_or_else(|| {
                json.error(format!("header type '{}' has no field '{}'", clip(&ty.name), clip(name)))
            })?
        };
        self.field_of(json, header, index)
    }

    fn field_of(&self, json: &Json<'_>, header: HeaderRef, index: usize) -> Result<Operand> {
        let ty = &self.packet.header_types[self.type_of(&header) as usize];
        let Some(f) = ty.fields.get(index) else {
            // BMv2's hidden validity field follows the declared fields.
            if index == ty.fields.len() {
                if let Some((_, slot)) = self.shown(&header) {
                    return Ok(Operand::Int(Expr::Slot { slot, width: 1, signed: false }));
                }
                return Ok(Operand::Int(Expr::FromBool(Box::new(Bool::Valid(header)))));
            }
            return Err(json.error(format!("header type '{}' has no field {index}", clip(&ty.name))));
        };
        if f.variable {
            return Ok(Operand::Varbit(header));
        }
        if f.width == 0 {
            return Ok(Operand::Int(Expr::Const(Int::new(0))));
        }
        Ok(Operand::Int(match header {
            HeaderRef::Fixed(id) => {
                let slot = self.packet.headers[id as usize].base + f.off;
                Expr::Slot { slot, width: f.width, signed: f.signed }
            }
            header => Expr::Field { header, off: f.off, width: f.width, signed: f.signed },
        }))
    }

    pub(super) fn operand(&self, json: &Json<'_>, params: Params<'_>, depth: usize) -> Result<Operand> {
        if depth > json.limits.max_expression_depth {
            return Err(json.error(format!(
                "an expression nested more than {} levels deep, the limit",
                json.limits.max_expression_depth
            )));
        }
        let object = json.object()?;
        if object.contains_key("op") {
            return self.operation(json, params, depth);
        }
        let value = json.with(json.get("value")?.value);
        match json.get("type")?.str()? {
            "expression" => self.operand(&value, params, depth + 1),
            ty => self.leaf(json, ty, &value, params),
        }
    }

    /// Returns an operand that needs no computation. Separate from [`Loader::operand`], whose recursion needs small frames.
    #[inline(never)]
    fn leaf(&self, json: &Json<'_>, ty: &str, value: &Json<'_>, params: Params<'_>) -> Result<Operand> {
        match ty {
            "field" => {
                let [header, member] = value.tuple()?;
                if header.value.is_object() {
                    // p4c's form of the validity of a stack element with a run-time index.
                    let header = self.header_ref(&header, params)?;
                    return self.named_field_of(json, header, member.str()?);
                }
                let (id, field) = self.member(&header, &member)?;
                if field.is_some_and(|f| f.variable) {
                    return Ok(Operand::Varbit(HeaderRef::Fixed(id)));
                }
                if self.empty_field(&header, &member)?.is_some() {
                    return Ok(Operand::Int(Expr::Const(Int::new(0))));
                }
                Ok(Operand::Int(field_value(self.field(value)?.0)))
            }
            "hexstr" => Expr::constant(value.str()?).map(Operand::Int).map_err(|e| json.error(e)),
            "bool" => Ok(Operand::Bool(Bool::Const(value.bool()?))),
            "local" | "runtime_data" => {
                let index = value.u64()?;
                let param = usize::try_from(index).ok().and_then(|i| params.get(i));
                param.map(|&p| Operand::Int(field_value(p))).ok_or_else(|| {
                    json.error(format!("unknown action parameter {index}; there are {}", params.len()))
                })
            }
            "header" => look_up(&self.declared.names.headers, "header", value)
                .map(|id| Operand::Header(HeaderRef::Fixed(id))),
            "header_stack" => self.stack(value, false).map(Operand::Stack),
            "header_union_stack" => self.stack(value, true).map(Operand::Stack),
            "stack_field" => {
                let [stack, member] = value.tuple()?;
                let stack = self.stack(&stack, false)?;
                self.named_field_of(json, HeaderRef::Last(stack), member.str()?)
            }
            "header_union" => {
                look_up(&self.union_ids, "header union", value).map(|id| Operand::Union(UnionRef::Fixed(id)))
            }
            "union_stack_field" => {
                let [stack, member, field] = value.tuple()?;
                let stack = self.stack(&stack, true)?;
                let (member, _) = self.union_stack_member(stack, &member)?;
                self.named_field_of(json, HeaderRef::Member(UnionRef::Last(stack), member), field.str()?)
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
        let both = |of: fn(Box<Bool>, Box<Bool>) -> Bool| {
            let (left, right) = (boolean(side("left")?)?, boolean(side("right")?)?);
            Ok(Operand::Bool(of(Box::new(left), Box::new(right))))
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
        let widest = json.limits.widest();
        let width = || {
            let right = json.with(json.get("right")?.value);
            match self.operand(&right, &[], depth + 1)? {
                Operand::Int(Expr::Const(Int { negative: false, magnitude }))
                    if (1..=u128::from(widest)).contains(&magnitude) =>
                {
                    Ok(magnitude as u32)
                }
                _ => {
                    Err(json.error(format!("operation '{op}' needs a constant width of 1 to {widest} bits")))
                }
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
                    (Operand::Varbit(a), Operand::Varbit(b)) => Bool::VarbitEq(a, b),
                    (Operand::Union(a), Operand::Union(b)) => {
                        if self.union_type_of(&a) != self.union_type_of(&b) {
                            return Err(json.error(format!("operation '{op}' on unions of different types")));
                        }
                        Bool::UnionEq(a, b)
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
            "and" => both(Bool::And),
            "or" => both(Bool::Or),
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
            other => self.structure_operation(json, other, params, depth),
        }
    }

    /// Returns an operation on headers, unions, stacks. Separate from [`Loader::operation`], whose recursion needs small frames.
    #[inline(never)]
    fn structure_operation(
        &self,
        json: &Json<'_>,
        op: &str,
        params: Params<'_>,
        depth: usize,
    ) -> Result<Operand> {
        let side = |key: &str| -> Result<Operand> {
            let side = json.with(json.get(key)?.value);
            self.operand(&side, params, depth + 1)
        };
        let wrong = |wanted: &str, given: &Operand| {
            json.error(format!("operation '{op}' takes {wanted}, not {}", given.what()))
        };
        let index = || match side("right")? {
            Operand::Int(expr) => Ok(Box::new(expr)),
            other => Err(wrong("an integer", &other)),
        };
        let stack = |operand: Operand| match operand {
            Operand::Stack(stack) => Ok(stack),
            other => Err(wrong("a stack", &other)),
        };
        match op {
            "valid" => match side("right")? {
                Operand::Header(header) => Ok(Operand::Bool(Bool::Valid(header))),
                other => Err(wrong("a header", &other)),
            },
            "valid_union" => match side("right")? {
                Operand::Union(union) => Ok(Operand::Bool(Bool::UnionValid(union))),
                other => Err(wrong("a header union", &other)),
            },
            "access_union_header" => {
                let union = match side("left")? {
                    Operand::Union(union) => union,
                    other => return Err(wrong("a header union", &other)),
                };
                let members = self.union_types[self.union_type_of(&union) as usize].members.len();
                let right = json.with(json.get("right")?.value);
                let member = right.number(json.limits.max_objects as u64)?;
                if member >= members as u64 {
                    return Err(right.error(format!("is {member}; the union has {members} members")));
                }
                Ok(Operand::Header(HeaderRef::Member(union, member as u32)))
            }
            "dereference_header_stack" | "dereference_union_stack" => {
                let stack = stack(side("left")?)?;
                match (op == "dereference_union_stack", self.packet.stacks[stack as usize].of_unions) {
                    (true, true) => Ok(Operand::Union(UnionRef::At(stack, index()?))),
                    (false, false) => Ok(Operand::Header(HeaderRef::At(stack, index()?))),
                    _ => Err(json.error(format!("operation '{op}' takes the other kind of stack"))),
                }
            }
            "access_field" => {
                let header = match side("left")? {
                    Operand::Header(header) => header,
                    other => return Err(wrong("a header", &other)),
                };
                let right = json.with(json.get("right")?.value);
                let index = right.number(json.limits.max_objects as u64)? as usize;
                self.field_of(json, header, index)
            }
            "last_stack_index" | "size_stack" => {
                let operand = if json.get("left")?.is_null() { side("right")? } else { side("left")? };
                let slot = self.packet.stacks[stack(operand)? as usize].next;
                let next = Expr::Slot { slot, width: 32, signed: false };
                if op == "size_stack" {
                    return Ok(Operand::Int(next));
                }
                // BMv2's last index of an empty stack is 2^64 - 1; a field keeps only its own bits of that.
                let ones = Expr::Const(Int::new(u128::from(u64::MAX)));
                let last = Expr::Binary(Binary::Sub, Box::new(next), Box::new(Expr::Const(Int::new(1))));
                Ok(Operand::Int(Expr::Binary(Binary::And, Box::new(last), Box::new(ones))))
            }
            other => Err(json.error(format!("expression operation '{}' is not supported", clip(other)))),
        }
    }
}
