//! Decisions on a packet's path: table lookups, and the matching case of a select.

use super::calculate::output;
use super::context::Context;
use super::externs::Externs;
use super::phv::Phv;
use crate::program::{Case, Select, Test};
use crate::tables::{Cells, Group, Outcome};

/// The result of a table lookup.
pub(crate) struct Found<'a> {
    /// Index into the table's actions.
    pub(crate) local: usize,
    pub(crate) is_hit: bool,
    /// The action's parameters.
    pub(crate) data: &'a [u64],
}

/// Looks up a table. Returns `None` without an action. It is always inlined: a packet calls it about five times, and the
/// calls alone would cost a percent of its instructions.
#[inline(always)]
pub(crate) fn look_up<'c, T: Externs>(
    context: &'c mut Context<'_, T>,
    phv: &mut Phv,
    table: u32,
) -> Option<Found<'c>> {
    let program = context.program;
    let static_part = program.match_table(table);
    let cells = &mut *context.cells;
    let entries = &mut cells.tables[table as usize];
    let hit = entries.unit.lookup(&static_part.key, &phv.slots, &mut cells.scratch);
    let (outcome, data) = match hit {
        Some(at) => {
            let at = at as usize;
            entries.counters[at].count(phv.ingress_length);
            if static_part.ages {
                entries.ages[at].hit(context.externs.now_ps());
            }
            if let Some((meter, target)) = static_part.direct_meter {
                let amount = if program.meter_array(meter).bytes { phv.ingress_length } else { 1 };
                let colour = entries.meters[at].execute(amount, context.externs.now_ps());
                phv.set(target, colour);
            }
            (entries.outcomes[at], &entries.data[at * static_part.stride..][..static_part.stride])
        }
        None => match &entries.default.target {
            Some((outcome, data)) => {
                entries.default.counter.count(phv.ingress_length);
                if let (Some((meter, target)), true) =
                    (static_part.direct_meter, entries.default.meter.is_configured())
                {
                    let bytes = program.meter_array(meter).bytes;
                    let amount = if bytes { phv.ingress_length } else { 1 };
                    phv.set(target, entries.default.meter.execute(amount, context.externs.now_ps()));
                }
                (*outcome, &data[..])
            }
            None => return None,
        },
    };
    let (local, data) = match outcome {
        Outcome::Action(local) => (Some(local as usize), data),
        Outcome::Member(_) | Outcome::Group(_) => {
            debug_assert!(static_part.profile.is_some());
            let profile_id = static_part.profile.unwrap_or_default() as usize;
            let profile = &cells.profiles[profile_id];
            let member = match outcome {
                Outcome::Member(member) => Some(member),
                Outcome::Group(group) => {
                    profile.groups.get(group).map(Group::active).filter(|m| !m.is_empty()).and_then(
                        |members| {
                            let hash = match program.selector(profile_id as u32) {
                                // Every hash selects the only member.
                                Some(selector) if members.len() > 1 => {
                                    let writer =
                                        context.native.and_then(|native| native.selector(profile_id));
                                    output(selector, program, phv, writer, &[], None)
                                }
                                _ => 0,
                            };
                            member_of_group(members, hash)
                        },
                    )
                }
                Outcome::Action(_) => None,
            };
            match member.and_then(|m| profile.members.get(m)) {
                Some(m) => (static_part.actions.iter().position(|a| a.named == m.action), &m.data[..]),
                None => (None, &[][..]),
            }
        }
    };
    let local = local?;
    let words = static_part.actions[local].words as usize;
    Some(Found { local, is_hit: hit.is_some(), data: &data[..words] })
}

/// Returns the active member that a hash selects, of which BMv2 uses the low 32 bits; `None` without members.
#[inline]
pub(crate) fn member_of_group(members: &[u32], hash: u64) -> Option<u32> {
    let at = (hash as u32 as usize).checked_rem(members.len())?;
    members.get(at).copied()
}

/// Returns the index of the first case of a select that matches, or one past the last for the default.
pub(crate) fn branch<T>(context: &mut Context<'_, T>, phv: &Phv, select: &Select) -> usize {
    if let Some(cases) = &select.narrow {
        let key = select.key.narrow(&phv.slots);
        return cases.iter().position(|(value, mask)| key & mask == *value).unwrap_or(cases.len());
    }
    let Cells { scratch, joined, vsets, .. } = &mut *context.cells;
    select.key.wide(&phv.slots, scratch);
    let fits = |case: &Case| match &case.test {
        Test::Value { value, mask } => scratch.iter().zip(mask).zip(value).all(|((k, m), v)| k & m == *v),
        Test::Vset { vset, mask } => {
            joined.clear();
            select.key.concatenated(scratch, joined);
            let set = &vsets[*vset as usize];
            match mask {
                None => set.contains(&joined[..]),
                Some(mask) => set
                    .iter()
                    .any(|value| value.iter().zip(&joined[..]).zip(mask).all(|((v, k), m)| v & m == k & m)),
            }
        }
    };
    select.cases.iter().position(fits).unwrap_or(select.cases.len())
}
