//! Direct counters and meters of default entries.
//!
//! BMv2 counts and meters hits only. P4Runtime treats the default entry as any other (P4Runtime 1.5 §9.1.3), so a miss that
//! runs a default action is counted here, and metered once rates have been set. BMv2's runtime interface has no
//! names for these calls.

use crate::counter::CounterValue;
use crate::error::RuntimeError;
use crate::meter::MeterRate;
use crate::runtime::check_rates;
use crate::state::State;

type Result<T> = std::result::Result<T, RuntimeError>;

impl State {
    /// The direct counter of a table's default entry.
    pub fn mt_read_default_counters(&self, table: &str) -> Result<CounterValue> {
        Ok(self.cells.tables[self.counted_table(table)?].default_counter)
    }

    /// Sets the direct counter of a table's default entry.
    pub fn mt_write_default_counters(&mut self, table: &str, value: CounterValue) -> Result<()> {
        let id = self.counted_table(table)?;
        self.cells.tables[id].default_counter = value;
        Ok(())
    }

    /// Rates of the default entry's direct meter, lowest first; empty if never set.
    pub fn mt_get_default_meter_rates(&self, table: &str) -> Result<Vec<MeterRate>> {
        let (id, _) = self.metered_table(table)?;
        Ok(self.cells.tables[id].default_meter.rates())
    }

    /// Sets the rates of the default entry's direct meter, lowest first; an empty slice switches it off.
    pub fn mt_set_default_meter_rates(&mut self, table: &str, rates: &[MeterRate]) -> Result<()> {
        let (id, count) = self.metered_table(table)?;
        check_rates(format!("direct meter of table '{table}'"), count, rates)?;
        self.cells.tables[id].default_meter.set_rates(rates);
        Ok(())
    }
}
