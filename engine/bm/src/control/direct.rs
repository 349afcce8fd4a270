//! Direct counters and meters of a table's entries and of its default entry.
//!
//! BMv2 counts and meters hits only. P4Runtime treats the default entry like any other (P4Runtime 1.5 §9.1.3), so a miss that
//! runs a default action is counted here, and metered once rates have been set. BMv2's runtime interface has no calls for the
//! counters and meters of default entries.

use super::cells::check_rates;
use super::table::table_name;
use super::{EntryHandle, Result};
use crate::error::{Refusal, RuntimeError};
use crate::state::State;
use crate::tables::{CounterValue, MeterRate};

impl State {
    fn counted_table(&self, name: &str) -> Result<usize> {
        let id = self.table(name)?;
        let info = &self.program.table(id as u32);
        if info.with_counters {
            return Ok(id);
        }
        let text = format!("{}: it has no direct counter", table_name(info));
        Err(RuntimeError::new(Refusal::InvalidValue, "COUNTERS_DISABLED", text))
    }

    /// Remembers what a call changes: an entry, whose row it returns, or the default entry.
    fn remember_entry(&mut self, id: usize, handle: Option<EntryHandle>) -> Result<Option<usize>> {
        let at = handle.map(|handle| self.entry(id, handle)).transpose()?;
        match at {
            Some(at) => self.remember_row(id, at),
            None => self.remember_default(id),
        }
        Ok(at.map(|at| at as usize))
    }

    /// Returns the direct counter of an entry; without a handle, of the default entry.
    pub fn mt_read_counters(&self, table: &str, handle: Option<EntryHandle>) -> Result<CounterValue> {
        let id = self.counted_table(table)?;
        let entries = &self.cells.tables[id];
        let at = handle.map(|handle| self.entry(id, handle)).transpose()?;
        Ok(at.map_or(entries.default.counter, |at| entries.counters[at as usize]))
    }

    /// Sets the direct counter of an entry; without a handle, of the default entry.
    pub fn mt_write_counters(
        &mut self,
        table: &str,
        handle: Option<EntryHandle>,
        value: CounterValue,
    ) -> Result<()> {
        let id = self.counted_table(table)?;
        let at = self.remember_entry(id, handle)?;
        let entries = &mut self.cells.tables[id];
        *at.map_or(&mut entries.default.counter, |at| &mut entries.counters[at]) = value;
        Ok(())
    }

    /// Zeroes every direct counter of a table.
    pub fn mt_reset_counters(&mut self, table: &str) -> Result<()> {
        let id = self.counted_table(table)?;
        self.remember_table(id);
        self.cells.tables[id].counters.fill(CounterValue::default());
        self.cells.tables[id].default.counter = CounterValue::default();
        Ok(())
    }

    fn metered_table(&self, name: &str) -> Result<(usize, usize)> {
        let id = self.table(name)?;
        match self.program.match_table(id as u32).direct_meter {
            Some((meter, _)) => Ok((id, self.program.meter_array(meter).rate_count)),
            None => {
                let text = format!("{}: it has no direct meter", table_name(self.program.table(id as u32)));
                Err(RuntimeError::new(Refusal::InvalidValue, "METERS_DISABLED", text))
            }
        }
    }

    /// Sets the rates of an entry's direct meter, lowest first; without a handle, of the default entry's. No rates disable it.
    pub fn mt_set_meter_rates(
        &mut self,
        table: &str,
        handle: Option<EntryHandle>,
        rates: &[MeterRate],
    ) -> Result<()> {
        let (id, count) = self.metered_table(table)?;
        let at = self.remember_entry(id, handle)?;
        check_rates(("direct meter of table", table), count, rates)?;
        let entries = &mut self.cells.tables[id];
        at.map_or(&mut entries.default.meter, |at| &mut entries.meters[at]).set_rates(rates);
        Ok(())
    }

    /// Returns the rates of an entry's direct meter, or without a handle of the default entry's; empty if they were never set.
    pub fn mt_get_meter_rates(&self, table: &str, handle: Option<EntryHandle>) -> Result<Vec<MeterRate>> {
        let (id, _) = self.metered_table(table)?;
        let entries = &self.cells.tables[id];
        let at = handle.map(|handle| self.entry(id, handle)).transpose()?;
        Ok(at.map_or(&entries.default.meter, |at| &entries.meters[at as usize]).rates())
    }
}
