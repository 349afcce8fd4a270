//! Entries that age: when each was last hit, and which have waited longer than their time-out.
//!
//! Nothing is deleted here: as in BMv2, who sweeps is told, and told again after another time-out. The clock is the
//! caller's, in picoseconds, the same that packets are handled by.

use crate::error::RuntimeError;
use crate::state::{EntryHandle, State};

type Result<T> = std::result::Result<T, RuntimeError>;

/// The age of one entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Age {
    /// The last hit, or when the time-out was first set; 0 before either.
    since_ps: u64,
    /// 0: never expires.
    ttl_ps: u64,
    /// When the sweep last reported it, or the time-out was set: it counts from there as well.
    told_ps: u64,
}

impl Age {
    #[inline]
    pub(crate) fn hit(&mut self, now_ps: u64) {
        self.since_ps = now_ps;
    }

    fn set_ttl(&mut self, ttl_ps: u64, now_ps: u64) {
        if self.since_ps == 0 {
            self.since_ps = now_ps;
        }
        (self.ttl_ps, self.told_ps) = (ttl_ps, now_ps);
    }

    fn expire(&mut self, now_ps: u64) -> bool {
        let waited = now_ps.saturating_sub(self.since_ps.max(self.told_ps));
        let expired = self.ttl_ps != 0 && waited >= self.ttl_ps;
        if expired {
            self.told_ps = now_ps;
        }
        expired
    }
}

impl State {
    fn ageing_table(&self, name: &str) -> Result<usize> {
        let id = self.table(name)?;
        if self.program.match_tables[id].ages {
            return Ok(id);
        }
        let reason = "its entries do not age; the program does not say support_timeout".to_owned();
        Err(RuntimeError::WrongType { object: format!("table '{name}'"), reason })
    }

    /// Sets the time-out of an entry; 0 means never. Its age counts from `now_ps` until it is hit.
    pub fn mt_set_entry_ttl(
        &mut self,
        table: &str,
        handle: EntryHandle,
        ttl_ps: u64,
        now_ps: u64,
    ) -> Result<()> {
        let id = self.ageing_table(table)?;
        let at = self.entry(id, handle)?;
        self.cells.tables[id].ages[at as usize].set_ttl(ttl_ps, now_ps);
        Ok(())
    }

    /// The time-out of an entry in picoseconds; 0 means never.
    pub fn mt_get_entry_ttl(&self, table: &str, handle: EntryHandle) -> Result<u64> {
        let id = self.ageing_table(table)?;
        let at = self.entry(id, handle)?;
        Ok(self.cells.tables[id].ages[at as usize].ttl_ps)
    }

    /// Picoseconds since an entry was last hit, or since its time-out was first set.
    pub fn mt_get_entry_idle(&self, table: &str, handle: EntryHandle, now_ps: u64) -> Result<u64> {
        let id = self.ageing_table(table)?;
        let at = self.entry(id, handle)?;
        Ok(now_ps.saturating_sub(self.cells.tables[id].ages[at as usize].since_ps))
    }

    /// Entries that were not hit for their time-out, in the order of `mt_get_entries`. Each is reported again after another
    /// time-out without a hit.
    pub fn mt_sweep_entries(&mut self, table: &str, now_ps: u64) -> Result<Vec<EntryHandle>> {
        let id = self.ageing_table(table)?;
        let entries = &mut self.cells.tables[id];
        let ages = &mut entries.ages;
        let rows = entries.keys.iter().zip(ages).filter_map(|(key, age)| key.as_ref().map(|k| (k, age)));
        Ok(rows.filter_map(|(key, age)| age.expire(now_ps).then_some(key.handle)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_expires_when_its_time_out_has_passed_since_the_last_hit() {
        let mut age = Age::default();
        age.set_ttl(10, 100);
        age.hit(105);
        assert!(!age.expire(114));
        assert!(age.expire(115));
    }

    #[test]
    fn it_is_told_again_after_another_time_out_and_not_before() {
        let mut age = Age::default();
        age.set_ttl(10, 100);
        let told: Vec<u64> = (100..145).filter(|&now| age.expire(now)).collect();
        assert_eq!(told, [110, 120, 130, 140]);
    }

    #[test]
    fn an_entry_without_time_out_never_expires() {
        let mut age = Age::default();
        age.set_ttl(0, 0);
        assert!(!age.expire(u64::MAX));
    }

    #[test]
    fn a_new_time_out_counts_from_when_it_was_set_and_is_no_hit() {
        let mut age = Age::default();
        age.set_ttl(10, 100);
        age.hit(101);
        age.set_ttl(20, 110);
        assert!(!age.expire(129));
        assert!(age.expire(130));
        assert_eq!(age.since_ps, 101);
    }
}
