//! Meters: BMv2's token buckets, with two rates and three colours (the trTCM of RFC 2698, colour-blind). The caller gives the
//! time. A meter without rates returns green.

/// One rate of a meter, in BMv2's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeterRate {
    /// Packets or bytes per microsecond.
    pub info_rate: f64,
    /// Packets or bytes.
    pub burst_size: u32,
}

/// The bucket of one rate.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    rate: MeterRate,
    tokens: u64,
    /// Tokens granted by the rate from the beginning until the last packet.
    granted: u64,
    colour: u64,
}

/// One meter.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    /// Highest rate first: a packet that exceeds it is red, one that exceeds the next is yellow.
    buckets: Vec<Bucket>,
}

impl Meter {
    /// Sets the rates, lowest first; the caller has checked their order. Buckets start full.
    pub(crate) fn set_rates(&mut self, rates: &[MeterRate]) {
        self.buckets.clear();
        for (colour, &rate) in (1..).zip(rates) {
            self.buckets.push(Bucket { rate, tokens: u64::from(rate.burst_size), granted: 0, colour });
        }
        self.buckets.reverse();
    }

    /// Returns the rates, lowest first.
    pub(crate) fn rates(&self) -> Vec<MeterRate> {
        self.buckets.iter().rev().map(|b| b.rate).collect()
    }

    /// Returns whether rates have been set.
    pub(crate) fn is_configured(&self) -> bool {
        !self.buckets.is_empty()
    }

    /// Returns the colour of a packet: 0 green, 1 yellow, 2 red. `amount` is its bytes, or 1.
    pub(crate) fn execute(&mut self, amount: u64, now_ps: u64) -> u64 {
        // BMv2 uses whole microseconds.
        let microseconds = (now_ps / 1_000_000) as f64;
        for bucket in &mut self.buckets {
            let granted = (microseconds * bucket.rate.info_rate) as u64;
            let fresh = granted.saturating_sub(bucket.granted);
            bucket.granted = granted.max(bucket.granted);
            bucket.tokens = bucket.tokens.saturating_add(fresh).min(u64::from(bucket.rate.burst_size));
            if bucket.tokens < amount {
                return bucket.colour;
            }
            bucket.tokens -= amount;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000_000;

    fn meter() -> Meter {
        let mut meter = Meter::default();
        // Committed rate: one packet per millisecond; peak rate: two.
        meter.set_rates(&[
            MeterRate { info_rate: 0.001, burst_size: 1 },
            MeterRate { info_rate: 0.002, burst_size: 2 },
        ]);
        meter
    }

    #[test]
    fn tokens_come_back_with_time_but_never_beyond_the_burst() {
        let mut meter = meter();
        while meter.execute(1, 0) != 2 {}
        assert_eq!(meter.execute(1, MILLISECOND), 0);
        let later: Vec<u64> = (0..4).map(|_| meter.execute(1, 100 * MILLISECOND)).collect();
        assert_eq!(later, [0, 1, 2, 2]);
    }
}
