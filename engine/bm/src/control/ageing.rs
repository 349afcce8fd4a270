//! Ageing of entries: their last hits, and the entries that have exceeded their time-out.
//!
//! Nothing is deleted here: as in BMv2, a sweep only reports expired entries, and reports them again after another time-out.
//! The clock is the caller's, in picoseconds; the same clock must be used for packets.

use super::{wrong_type, EntryHandle, Result};
use crate::state::State;

impl State {
    fn ageing_table(&self, name: &str) -> Result<usize> {
        let id = self.table(name)?;
        if self.program.match_table(id as u32).ages {
            return Ok(id);
        }
        let reason = "its entries do not age; the program does not say support_timeout";
        Err(wrong_type(format_args!("table '{name}'"), reason))
    }

    /// Sets the time-out of an entry in nanoseconds; 0 means never. Its age counts from `now_ps` until its first hit.
    pub fn mt_set_entry_ttl(
        &mut self,
        table: &str,
        handle: EntryHandle,
        ttl_ns: u64,
        now_ps: u64,
    ) -> Result<()> {
        let id = self.ageing_table(table)?;
        let at = self.entry(id, handle)?;
        self.remember_row(id, at);
        let entries = &mut self.cells.tables[id];
        let age = &mut entries.ages[at as usize];
        age.set_ttl(ttl_ns, now_ps);
        entries.first_due_ps = entries.first_due_ps.min(age.due_ps());
        Ok(())
    }

    /// Returns the time-out of an entry in nanoseconds; 0 means never.
    pub fn mt_get_entry_ttl(&self, table: &str, handle: EntryHandle) -> Result<u64> {
        let id = self.ageing_table(table)?;
        let at = self.entry(id, handle)?;
        Ok(self.cells.tables[id].ages[at as usize].ttl_ns())
    }

    /// Returns the picoseconds since an entry was last hit, or since its time-out was first set.
    pub fn mt_get_entry_idle(&self, table: &str, handle: EntryHandle, now_ps: u64) -> Result<u64> {
        let id = self.ageing_table(table)?;
        let at = self.entry(id, handle)?;
        Ok(now_ps.saturating_sub(self.cells.tables[id].ages[at as usize].since_ps()))
    }

    /// Returns the entries without a hit during their time-out, in the order of `mt_get_entries`. Each is reported again after
    /// another time-out without a hit. The sweep skips the entries while no time-out can have passed.
    pub fn mt_sweep_entries(&mut self, table: &str, now_ps: u64) -> Result<Vec<EntryHandle>> {
        let id = self.ageing_table(table)?;
        let entries = &mut self.cells.tables[id];
        if now_ps < entries.first_due_ps {
            return Ok(Vec::new());
        }
        let mut expired = Vec::new();
        let mut first_due_ps = u64::MAX;
        let rows = entries.keys.iter().zip(&mut entries.ages);
        for (key, age) in rows.filter_map(|(key, age)| key.as_ref().map(|key| (key, age))) {
            if age.expire(now_ps) {
                expired.push(key.handle);
            }
            first_due_ps = first_due_ps.min(age.due_ps());
        }
        entries.first_due_ps = first_due_ps;
        Ok(expired)
    }
}
