//! The control flow graph of a program's instructions, for analyses before any of them runs.
//!
//! An action's instructions get their own nodes for each node that may follow its table, so that every path is known and the
//! action's end leads to one node. The same applies to the instructions after an `exit`.

use std::collections::HashMap;

use super::{Op, Pc, Program};

/// Maximum number of nodes of one parser, pipeline or condition, so that loading takes bounded time. An instruction counts once
/// per node.
const MAX_NODES: usize = 20_000;

/// An instruction with the state that determines its successors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ProgramPoint {
    pc: Pc,
    /// In an action: the instruction that follows its table.
    after: Option<Pc>,
    /// Whether the action has called `exit`.
    exited: bool,
}

/// An instruction in one context.
#[derive(Debug)]
pub(crate) struct FlowNode {
    pub(crate) pc: Pc,
    /// Indices of the successors; none at the end. A conditional jump has the next instruction and then its target; a select
    /// has its cases and then its default. A table has its successor without an action; then, for each action, the action after
    /// a miss and after a hit.
    pub(crate) next: Vec<usize>,
}

/// Returns all nodes reachable from `start`, which comes first; `None` if there are too many.
pub(crate) fn flow(program: &Program, start: Pc) -> Option<Vec<FlowNode>> {
    let mut points = vec![ProgramPoint { pc: start, after: None, exited: false }];
    let mut numbers = HashMap::from([(points[0], 0)]);
    let mut nodes = Vec::new();
    while nodes.len() < points.len() {
        if nodes.len() >= MAX_NODES {
            return None;
        }
        let point = points[nodes.len()];
        let number = |point: ProgramPoint| {
            *numbers.entry(point).or_insert_with(|| {
                points.push(point);
                points.len() - 1
            })
        };
        let next = following(program, point)?.into_iter().map(number).collect();
        nodes.push(FlowNode { pc: point.pc, next });
    }
    Some(nodes)
}

/// Returns the successors of a point, in the order of [`FlowNode::next`].
fn following(program: &Program, point: ProgramPoint) -> Option<Vec<ProgramPoint>> {
    let mut op = *program.code.ops.get(point.pc as usize)?;
    let next = ProgramPoint { pc: point.pc + 1, ..point };
    let to = |pc| ProgramPoint { pc, ..point };
    Some(match op {
        Op::Halt => Vec::new(),
        Op::Ret | Op::EndInline if point.exited => Vec::new(),
        Op::Ret => vec![ProgramPoint { pc: point.after?, after: None, exited: false }],
        Op::Exit => vec![ProgramPoint { exited: true, ..next }],
        Op::Jmp { to: target } => vec![to(target)],
        Op::Apply { table } => {
            let table = program.match_table(table);
            let mut points = vec![ProgramPoint { after: None, ..to(table.next_none) }];
            for action in &table.actions {
                let then = [action.next_miss, action.next_hit].map(Some);
                points.extend(then.map(|after| ProgramPoint { after, ..to(action.pc) }));
            }
            points
        }
        Op::Select { select } => {
            let select = program.select(select);
            (0..=select.cases.len()).map(|case| to(select.target(case))).collect()
        }
        _ => std::iter::once(next).chain(op.target_mut().map(|target| to(*target))).collect(),
    })
}
