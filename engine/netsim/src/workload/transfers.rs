//! Measurements of the transfers of all applications.

use units::{Duration, Histogram, Time};
use workload::report::Distribution;
use workload::slowdown::{class_of, Slowdowns, SIZES};

use crate::report::{SizeReport, TransfersReport};
use crate::transport::{Counts, TransferEnd};

/// The papers call a flow below this size short (E-EON thesis, 6.5).
const SMALL_BYTES: u64 = 1_000_000;

/// Measurements of transfers.
#[derive(Default)]
pub(super) struct Transfers {
    started: u64,
    given_up: u64,
    completion: Histogram,
    by_size: [SizeClass; SIZES.len() + 1],
    slowdowns: Slowdowns,
    unfinished: u64,
    busy: Duration,
    busy_since: Time,
}

#[derive(Default)]
struct SizeClass {
    completion: Histogram,
    goodput_bps: u128,
}

impl Transfers {
    pub(super) fn begin(&mut self, now: Time) {
        self.started += 1;
        if self.unfinished == 0 {
            self.busy_since = now;
        }
        self.unfinished += 1;
    }

    pub(super) fn end(&mut self, now: Time, ended: &TransferEnd) {
        self.unfinished -= 1;
        if self.unfinished == 0 {
            self.busy += now.saturating_since(self.busy_since);
        }
        if !ended.finished {
            self.given_up += 1;
            return;
        }
        let time = now.saturating_since(ended.began);
        self.completion.record(time);
        if let Some(ideal) = ended.asked.ideal {
            self.slowdowns.record(ended.bytes, time, ideal);
        }
        let class = class_of(ended.bytes);
        self.by_size[class].completion.record(time);
        // Bytes times 8 times 10^12 ps.
        self.by_size[class].goodput_bps +=
            u128::from(ended.bytes) * 8_000_000_000_000 / u128::from(time.as_ps().max(1));
    }

    pub(super) fn busy(&self, now: Time) -> Duration {
        let since = if self.unfinished > 0 { now.saturating_since(self.busy_since) } else { Duration::ZERO };
        self.busy.saturating_add(since)
    }

    /// Returns the completion times of the size classes of at most [`SMALL_BYTES`].
    fn small(&self) -> Histogram {
        let mut small = Histogram::default();
        for (class, _) in self.by_size.iter().zip(SIZES).filter(|(_, size)| *size <= SMALL_BYTES) {
            small.add(&class.completion);
        }
        small
    }

    /// Returns the report, with the `counts` and `max_connections` of the connections.
    pub(super) fn report(&self, counts: &Counts, max_connections: usize) -> TransfersReport {
        let size = |(index, class): (usize, &SizeClass)| SizeReport {
            up_to_bytes: SIZES.get(index).copied(),
            count: class.completion.count(),
            completion_ps: Distribution::of(&class.completion),
            goodput_bps_mean: class
                .goodput_bps
                .checked_div(u128::from(class.completion.count()))
                .map(|mean| u64::try_from(mean).unwrap_or(u64::MAX)),
        };
        let Counts { bytes_received, stats } = counts;
        let (slowdown_by_size, slowdown) = self.slowdowns.report();
        TransfersReport {
            started: self.started,
            finished: self.completion.count(),
            given_up: self.given_up,
            most_connections: max_connections as u64,
            bytes_received: *bytes_received,
            completion_ps: Distribution::of(&self.completion),
            completion_small_ps: Distribution::of(&self.small()),
            by_size: self.by_size.iter().enumerate().map(size).collect(),
            slowdown,
            slowdown_by_size,
            data_segments: stats.data_segments,
            retransmitted_segments: stats.retransmitted_segments,
            fast_recoveries: stats.fast_recoveries,
            timeouts: stats.timeouts,
            syn_timeouts: stats.syn_timeouts,
            mark_reductions: stats.mark_reductions,
        }
    }
}
