//! The last hit and the time-out of entries. Times are in picoseconds of the caller's clock.

const PS_PER_NS: u64 = 1_000;

/// The age of one entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Age {
    /// The last hit, or the time when the time-out was first set; 0 before either.
    since_ps: u64,
    /// 0: never expires. In nanoseconds, as in every control plane: the largest values do not fit into 64 bits of picoseconds.
    ttl_ns: u64,
    /// The time of the last report by a sweep, or when the time-out was set: the time-out counts from this time as well.
    told_ps: u64,
}

impl Age {
    #[inline]
    pub(crate) fn hit(&mut self, now_ps: u64) {
        self.since_ps = now_ps;
    }

    pub(crate) fn ttl_ns(&self) -> u64 {
        self.ttl_ns
    }

    pub(crate) fn since_ps(&self) -> u64 {
        self.since_ps
    }

    pub(crate) fn set_ttl(&mut self, ttl_ns: u64, now_ps: u64) {
        if self.since_ps == 0 {
            self.since_ps = now_ps;
        }
        (self.ttl_ns, self.told_ps) = (ttl_ns, now_ps);
    }

    /// Returns the time when the entry expires without a further hit; `u64::MAX` if never.
    pub(crate) fn due_ps(&self) -> u64 {
        if self.ttl_ns == 0 {
            return u64::MAX;
        }
        self.since_ps.max(self.told_ps).saturating_add(self.ttl_ns.saturating_mul(PS_PER_NS))
    }

    /// Returns whether the time-out has passed since the last hit and since the last report.
    pub(crate) fn expire(&mut self, now_ps: u64) -> bool {
        let waited = now_ps.saturating_sub(self.since_ps.max(self.told_ps));
        let expired = self.ttl_ns != 0 && waited / PS_PER_NS >= self.ttl_ns;
        if expired {
            self.told_ps = now_ps;
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_time_out_counts_from_when_it_was_set_and_is_no_hit() {
        let mut age = Age::default();
        age.set_ttl(10, 100_000);
        age.hit(101_000);
        age.set_ttl(20, 110_000);
        assert!(!age.expire(129_999));
        assert!(age.expire(130_000));
        assert_eq!(age.since_ps, 101_000);
    }
}
