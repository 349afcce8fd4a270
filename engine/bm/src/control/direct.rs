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
use crate::tables::{Change, CounterValue, MeterRate};

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

    /// Returns the direct counter of an entry.
    pub fn mt_read_counters(&self, table: &str, handle: EntryHandle) -> Result<CounterValue> {
        let id = self.counted_table(table)?;
        Ok(self.cells.tables[id].counters[self.entry(id, handle)? as usize])
    }

    /// Sets the direct counter of an entry.
    pub fn mt_write_counters(&mut self, table: &str, handle: EntryHandle, value: CounterValue) -> Result<()> {
        let id = self.counted_table(table)?;
        let at = self.entry(id, handle)?;
        self.remember_row(id, at);
        self.cells.tables[id].counters[at as usize] = value;
        Ok(())
    }

    /// Zeroes every direct counter of a table.
    pub fn mt_reset_counters(&mut self, table: &str) -> Result<()> {
        let id = self.counted_table(table)?;
        self.remember_default(id);
        self.remember(|state| Change::DirectCounters {
            table: id,
            before: state.cells.tables[id].counters.clone(),
        });
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

    /// Sets the rates of an entry's direct meter, lowest first; an empty slice disables it.
    pub fn mt_set_meter_rates(
        &mut self,
        table: &str,
        handle: EntryHandle,
        rates: &[MeterRate],
    ) -> Result<()> {
        let (id, count) = self.metered_table(table)?;
        let at = self.entry(id, handle)?;
        check_rates(("direct meter of table", table), count, rates)?;
        self.remember_row(id, at);
        self.cells.tables[id].meters[at as usize].set_rates(rates);
        Ok(())
    }

    /// Returns the rates of an entry's direct meter; empty if they were never set.
    pub fn mt_get_meter_rates(&self, table: &str, handle: EntryHandle) -> Result<Vec<MeterRate>> {
        let (id, _) = self.metered_table(table)?;
        Ok(self.cells.tables[id].meters[self.entry(id, handle)? as usize].rates())
    }

    /// Returns the direct counter of a table's default entry.
    pub fn mt_read_default_counters(&self, table: &str) -> Result<CounterValue> {
        Ok(self.cells.tables[self.counted_table(table)?].default.counter)
    }

    /// Sets the direct counter of a table's default entry.
    pub fn mt_write_default_counters(&mut self, table: &str, value: CounterValue) -> Result<()> {
        let id = self.counted_table(table)?;
        self.remember_default(id);
        self.cells.tables[id].default.counter = value;
        Ok(())
    }

    /// Returns the rates of the default entry's direct meter, lowest first; empty if they were never set.
    pub fn mt_get_default_meter_rates(&self, table: &str) -> Result<Vec<MeterRate>> {
        let (id, _) = self.metered_table(table)?;
        Ok(self.cells.tables[id].default.meter.rates())
    }

    /// Sets the rates of the default entry's direct meter, lowest first; an empty slice disables it.
    pub fn mt_set_default_meter_rates(&mut self, table: &str, rates: &[MeterRate]) -> Result<()> {
        let (id, count) = self.metered_table(table)?;
        check_rates(("direct meter of table", table), count, rates)?;
        self.remember_default(id);
        self.cells.tables[id].default.meter.set_rates(rates);
        Ok(())
    }
}
