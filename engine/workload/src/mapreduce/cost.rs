//! The durations of tasks: CPU cycles at the clock rate, bytes at the disk's rates, multiplied by the task's noise.
//! Network time is not included.

use serde::Deserialize;
use units::Duration;

use super::MapReduceSpec;
use crate::random::seconds;

/// Map output that is sorted and written at once (MRPerf `buffer_size`: 50 MB); larger output is merged afterwards.
pub(crate) const SORT_BUFFER_BYTES: u64 = 50 << 20;

/// Map output that a reducer keeps in memory (MRPerf `in_mem_space`: 66 % of 100 MB).
pub(crate) const IN_MEMORY_BYTES: u64 = 66 << 20;

/// Costs of a job's tasks, in cycles of a worker's clock.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CostSpec"))]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Cost {
    /// Start of a task's JVM.
    pub(crate) startup_cycles: f64,
    /// Map, per byte of its input.
    pub(crate) map_cycles_per_byte: f64,
    /// Map, per byte of its output.
    pub(crate) sort_cycles_per_byte: f64,
    /// Last merge of a reducer.
    pub(crate) merge_cycles: f64,
    /// End of a map.
    pub(crate) wrapup_cycles: f64,
    /// Final sort of a reducer.
    pub(crate) reduce_start_cycles: f64,
    /// Reducer, per byte of its input.
    pub(crate) reduce_cycles_per_byte: f64,
}

/// MRPerf's Terasort.
impl Default for Cost {
    fn default() -> Self {
        Self {
            startup_cycles: 4.0e9,
            map_cycles_per_byte: 40.0,
            sort_cycles_per_byte: 44.0,
            merge_cycles: 1.0e9,
            // MRPerf specifies 4.8e9 cycles, but the call that would spend them is commented out.
            wrapup_cycles: 0.0,
            reduce_start_cycles: 6.0e9,
            reduce_cycles_per_byte: 90.0,
        }
    }
}

/// A worker's CPU core and disk do the work.
impl MapReduceSpec {
    fn work(&self, cycles: f64, read: u64, written: u64, noise: f64) -> Duration {
        let time = cycles / self.cpu_hz
            + read as f64 / self.disk_read_bytes_per_second
            + written as f64 / self.disk_write_bytes_per_second;
        seconds(time * noise)
    }

    /// Returns the start-up time of a task's JVM.
    pub(crate) fn start_up(&self, cost: &Cost, noise: f64) -> Duration {
        self.work(cost.startup_cycles, 0, 0, noise)
    }

    /// Returns the duration of a whole map task whose split of `input` bytes is on the local disk.
    pub(crate) fn map(&self, cost: &Cost, input: u64, output: u64, noise: f64) -> Duration {
        let (cycles, read, written) = map_after_input(cost, input, output);
        self.work(cost.startup_cycles + cycles, input.saturating_add(read), written, noise)
    }

    /// Returns the duration of a map task after it has received its split.
    pub(crate) fn map_after_input(&self, cost: &Cost, input: u64, output: u64, noise: f64) -> Duration {
        let (cycles, read, written) = map_after_input(cost, input, output);
        self.work(cycles, read, written, noise)
    }

    /// Returns the duration of a reduce task from the last fetch to the output: the last merge writes the data in
    /// memory, then everything is read and reduced.
    pub(crate) fn reduce(&self, cost: &Cost, input: u64, noise: f64) -> Duration {
        let cycles =
            cost.merge_cycles + cost.reduce_start_cycles + cost.reduce_cycles_per_byte * input as f64;
        self.work(cycles, input, input.min(IN_MEMORY_BYTES), noise)
    }

    /// Returns the time to write output to a disk.
    pub(crate) fn write(&self, bytes: u64, noise: f64) -> Duration {
        self.work(0.0, 0, bytes, noise)
    }
}

/// Returns the cycles, bytes read and bytes written by a map after its input. Output larger than the buffer is merged:
/// read and written once more.
fn map_after_input(cost: &Cost, input: u64, output: u64) -> (f64, u64, u64) {
    let merged = if output > SORT_BUFFER_BYTES { output } else { 0 };
    let cycles = cost.map_cycles_per_byte * input as f64
        + cost.sort_cycles_per_byte * output as f64
        + cost.wrapup_cycles;
    (cycles, merged, output.saturating_add(merged))
}
