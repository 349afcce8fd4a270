//! How a program's instructions follow each other, for what looks at each of them before any runs.
//!
//! An action's instructions count once for each node that may follow its table, so that every way through them is known and its end
//! leads to one place. So do the instructions behind an `exit`.

use std::collections::HashMap;

use super::{Op, Pc, Program};

/// Maximum number of instructions of one parser, pipeline or condition, counted as often as they are reached in different ways.
/// So loading takes bounded time.
const MAX_NODES: usize = 20_000;

/// An instruction, and what decides where it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ProgramPoint {
    pc: Pc,
    /// In an action: the node that follows its table.
    after: Option<Pc>,
    /// The action has called `exit`.
    exited: bool,
}

/// An instruction as it is reached in one way.
#[derive(Debug)]
pub(crate) struct FlowNode {
    pub(crate) pc: Pc,
    /// Indices of the nodes that may follow, none at the end.
    /// A conditional jump has the next instruction and then its target, a select its cases and then its default.
    /// A table has what follows it without an action, and then for each of its actions the action for a miss and for a hit.
    pub(crate) next: Vec<usize>,
}

/// Returns every node that can be reached from `start`, which comes first; `None` where there are too many.
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

/// Returns where a point leads, in the order of [`FlowNode::next`].
fn following(program: &Program, point: ProgramPoint) -> Option<Vec<ProgramPoint>> {
    let mut op = *program.ops().get(point.pc as usize)?;
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
