//! Undo of changes: if a call of a batch is refused, the batch leaves everything unchanged.
//!
//! While a batch is open, every call records the contents that it is about to overwrite: a row of a table, a member's or a
//! group's slot, a cell. A rollback, newest first, restores everything, including handles, the order of rows and ages. The
//! users of a member or group are counted, not recorded: they follow from the rows.
//!
//! `reset_state`, CRC parameters and sweeps are not recorded; batches do not contain them.

use super::Result;
use crate::state::State;
use crate::tables::{Change, Outcome};

impl State {
    /// Starts to record changes, until [`State::end_batch`].
    pub fn begin_batch(&mut self) {
        self.undo = Some(Vec::new());
    }

    /// Ends the batch and keeps its changes.
    pub fn end_batch(&mut self) {
        self.undo = None;
    }

    /// Returns a point to which [`State::roll_back`] can return. Outside a batch there is only one.
    pub fn savepoint(&self) -> usize {
        self.undo.as_ref().map_or(0, Vec::len)
    }

    /// Undoes the changes of the batch since `savepoint`.
    pub fn roll_back(&mut self, savepoint: usize) {
        let Some(mut changes) = self.undo.take() else { return };
        while changes.len() > savepoint {
            let Some(change) = changes.pop() else { break };
            self.take_back(change);
        }
        self.undo = Some(changes);
    }

    /// Makes a call of several steps atomic: undoes its changes if one of the steps is refused.
    pub(super) fn whole<R>(&mut self, call: impl FnOnce(&mut State) -> Result<R>) -> Result<R> {
        let alone = self.undo.is_none();
        if alone {
            self.begin_batch();
        }
        let savepoint = self.savepoint();
        let result = call(self);
        if result.is_err() {
            self.roll_back(savepoint);
        }
        if alone {
            self.end_batch();
        }
        result
    }

    /// Records a change if a batch is open.
    pub(super) fn remember(&mut self, change: impl FnOnce(&State) -> Change) {
        if self.undo.is_none() {
            return;
        }
        let change = change(self);
        if let Some(changes) = &mut self.undo {
            changes.push(change);
        }
    }

    /// Records a row that is about to change.
    pub(super) fn remember_row(&mut self, table: usize, at: u32) {
        self.remember(|state| {
            let row = state.cells.tables[table].row_image(state.program.match_table(table as u32), at);
            Change::Row { table, at, before: Box::new(row) }
        });
    }

    /// Records a whole table that is about to change.
    pub(super) fn remember_table(&mut self, table: usize) {
        self.remember(|state| Change::Table { table, before: Box::new(state.cells.tables[table].clone()) });
    }

    /// Records a default entry that is about to change.
    pub(super) fn remember_default(&mut self, table: usize) {
        self.remember(|state| {
            let before = Box::new(state.cells.tables[table].default.clone());
            Change::Default { table, before }
        });
    }

    /// Increments or decrements the number of a table's entries that point at `outcome`.
    pub(super) fn count_outcome(&mut self, table: usize, outcome: Outcome, more: bool) {
        let Some(profile) = self.program.match_table(table as u32).profile else { return };
        let profile = &mut self.cells.profiles[profile as usize];
        match outcome {
            Outcome::Action(_) => {}
            Outcome::Member(member) => profile.members.count_entry(member, more),
            Outcome::Group(group) => profile.groups.count_entry(group, more),
        }
    }

    fn count_table(&mut self, table: usize, more: bool) {
        let entries = &self.cells.tables[table];
        let rows: Vec<Outcome> = entries.rows().map(|at| entries.outcomes[at as usize]).collect();
        let default = entries.default.outcome();
        for outcome in rows.into_iter().chain(default) {
            self.count_outcome(table, outcome, more);
        }
    }

    fn take_back(&mut self, change: Change) {
        match change {
            Change::Row { table, at, before } => {
                let now = self.cells.tables[table].outcome(at);
                now.into_iter().for_each(|outcome| self.count_outcome(table, outcome, false));
                self.cells.tables[table].put_row(self.program.match_table(table as u32), at, *before);
                let then = self.cells.tables[table].outcome(at);
                then.into_iter().for_each(|outcome| self.count_outcome(table, outcome, true));
            }
            Change::Table { table, before } => {
                self.count_table(table, false);
                self.cells.tables[table] = *before;
                self.count_table(table, true);
            }
            Change::Default { table, before } => {
                let outcome = |state: &State| state.cells.tables[table].default.outcome();
                outcome(self).into_iter().for_each(|now| self.count_outcome(table, now, false));
                self.cells.tables[table].default = *before;
                outcome(self).into_iter().for_each(|then| self.count_outcome(table, then, true));
            }
            Change::Member { profile, handle, before } => {
                self.cells.profiles[profile].put_member(handle, *before);
            }
            Change::Group { profile, handle, before } => {
                // Links may have changed since then.
                self.cells.profiles[profile].put_group(handle, *before);
                if let Some(group) = self.cells.profiles[profile].groups.get_mut(handle) {
                    group.refresh(&self.ports_up);
                }
            }
            Change::Counter { array, cell, before } => self.cells.counters[array][cell] = before,
            Change::Counters { array, before } => self.cells.counters[array].copy_from_slice(&before),
            Change::Meter { array, cell, before } => self.cells.meters[array][cell] = before,
            Change::Meters { array, before } => self.cells.meters[array] = before,
            Change::Register { array, first, before } => {
                let words = self.cells.registers.array(array).words;
                for (cell, value) in (first..).zip(before.chunks_exact(words)) {
                    self.cells.registers.set_cell(array, cell, value);
                }
            }
            Change::ValueSet { set, before } => self.cells.vsets[set] = before,
        }
    }
}
