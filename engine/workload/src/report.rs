//! The measurements of applications, as data. Times are picoseconds since the start of the run, durations picoseconds, sizes bytes.

use serde::Serialize;
use units::{Duration, Histogram};

use crate::slowdown::SlowdownReport;

/// The report of one application.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApplicationReport {
    /// Name.
    pub name: String,
    /// Kind: `mapreduce`, `coflows`, ...
    pub kind: &'static str,
    /// Whether the run ends without waiting for it.
    pub background: bool,
    /// DSCP of its packets; absent if 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub dscp: u8,
    /// Time at which it finished, if it has.
    pub finished_ps: Option<u64>,
    /// Measurements of its kind.
    #[serde(flatten)]
    pub measures: Measures,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires this signature.
fn is_zero(dscp: &u8) -> bool {
    *dscp == 0
}

/// The measurements of each kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Measures {
    /// `mapreduce`.
    #[cfg_attr(feature = "schema", schemars(title = "MapReduceReport", transform = crate::schema::kind("mapreduce")))]
    MapReduce {
        /// Its jobs, in the order of the description.
        jobs: Vec<JobReport>,
    },
    /// `coflows`.
    #[cfg_attr(feature = "schema", schemars(title = "CoflowsReport", transform = crate::schema::kind("coflows")))]
    Coflows {
        /// In the order of the description.
        coflows: Vec<CoflowReport>,
    },
    /// `flows`. Flows that begin during warm-up or cool-down are not measured.
    #[cfg_attr(feature = "schema", schemars(title = "FlowsReport", transform = crate::schema::kind("flows")))]
    Flows {
        /// Number of flows in the whole run.
        flows: u64,
        /// Payload of all flows, as a fraction of the senders' link rates.
        load: f64,
        /// Number of measured flows.
        measured: u64,
        /// Of the measured flows, those that have neither completed nor failed.
        unfinished: u64,
        /// Of the measured flows, those that failed.
        failed: u64,
        /// Time from a flow's start to the arrival of its last byte.
        completion_ps: Option<Distribution>,
        /// Completion time divided by the minimum time on the flow's path.
        slowdown: SlowdownReport,
        /// Slowdown by size.
        slowdown_by_size: Vec<SlowdownReport>,
        /// Every flow, in order of start, if `rows` is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        rows: Option<Vec<FlowRow>>,
    },
    /// `incast`.
    #[cfg_attr(feature = "schema", schemars(title = "IncastReport", transform = crate::schema::kind("incast")))]
    Incast {
        /// Time from the requests of a round to the last response, for rounds without failure.
        rounds_ps: Option<Distribution>,
        /// Number of failed responses.
        failed: u64,
    },
    /// `rpc`.
    #[cfg_attr(feature = "schema", schemars(title = "RpcReport", transform = crate::schema::kind("rpc")))]
    Rpc {
        /// Time from a call to the last byte of its response.
        response_ps: Option<Distribution>,
        /// Calls that failed, or were not made because too many were open.
        failed: u64,
    },
    /// `scatter_gather`.
    #[cfg_attr(feature = "schema", schemars(title = "ScatterGatherReport", transform = crate::schema::kind("scatter_gather")))]
    ScatterGather {
        /// Time from a query to the last byte of its answer.
        query_ps: Option<Distribution>,
        /// Queries with a failed part, or not made because too many were open.
        failed: u64,
    },
    /// `phases`.
    #[cfg_attr(feature = "schema", schemars(title = "PhasesReport", transform = crate::schema::kind("phases")))]
    Phases {
        /// Duration of each step: from the previous step's end until all ranks have computed and all messages have arrived.
        step_ps: Option<Distribution>,
        /// Sum over all steps of the time from the end of the last rank's computation to the end of the step.
        waited_ps: u64,
        /// Messages sent again after their connection failed.
        resent: u64,
    },
    /// `poisson`.
    #[cfg_attr(feature = "schema", schemars(title = "PoissonReport", transform = crate::schema::kind("poisson")))]
    Poisson {
        /// Number of frames sent.
        frames: u64,
    },
}

/// One MapReduce job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobReport {
    /// Name.
    pub name: String,
    /// Time of submission.
    pub arrival_ps: u64,
    /// Time from submission to the end of its last task.
    pub runtime_ps: Option<u64>,
    /// Number of map tasks.
    pub maps: u32,
    /// Number of reduce tasks.
    pub reducers: u32,
    /// Number of map tasks that ran on a worker with their split.
    pub local_maps: u32,
    /// Time at which its first map task was assigned to a worker.
    pub first_map_start_ps: Option<u64>,
    /// Time at which its last map task ended.
    pub last_map_end_ps: Option<u64>,
    /// Start of the first fetch over the network; absent if there was none.
    pub first_fetch_start_ps: Option<u64>,
    /// Time at which the last reducer had received everything.
    pub last_fetch_end_ps: Option<u64>,
    /// Fraction of the runtime until the last map task ended. The three shares add up to 1.
    pub map_share: Option<f64>,
    /// Fraction of the runtime from then until the last reducer had received everything.
    pub shuffle_share: Option<f64>,
    /// The rest of the runtime.
    pub reduce_share: Option<f64>,
    /// Sum of the durations of all map tasks.
    pub map_task_ps: u64,
    /// Sum over all reduce tasks of the time from their start until they had received everything.
    pub fetch_task_ps: u64,
    /// Sum over all reduce tasks of the time from then to their end.
    pub reduce_task_ps: u64,
    /// For the reducers that fetched over the network: time from a reducer's first fetch to the arrival of its last
    /// byte, the transfer completion time of Ren and Wang 2016.
    pub reducer_shuffle_ps: Option<Distribution>,
    /// Bytes of map output that reducers fetched over the network.
    pub shuffle_network_bytes: u64,
    /// Number of failed transfers that were repeated.
    pub refetches: u64,
}

/// One flow of `flows`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowRow {
    /// The sending host.
    pub source: String,
    /// The receiving host.
    pub destination: String,
    /// Payload bytes.
    pub bytes: u64,
    /// Start time.
    pub at_ps: u64,
    /// Whether it begins between warm-up and cool-down.
    pub measured: bool,
    /// Time from the start to the arrival of the last byte; absent before it, and for a failed flow.
    pub completion_ps: Option<u64>,
    /// Minimum time on its path; absent before it begins.
    pub ideal_ps: Option<u64>,
}

/// One coflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoflowReport {
    /// Name.
    pub name: String,
    /// Start time of its transfers.
    pub at_ps: u64,
    /// Time from the start to the arrival of the last byte of the last transfer.
    pub completion_ps: Option<u64>,
    /// Bytes of all its transfers.
    pub bytes: u64,
    /// Number of failed transfers, which are not repeated.
    pub failed: u64,
}

/// Distribution of durations. The quantiles are accurate to 0.2 %, the other values are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// Number of durations.
    pub count: u64,
    /// Mean, rounded down.
    pub mean_ps: u64,
    /// Minimum.
    pub min_ps: u64,
    /// Median.
    pub p50_ps: u64,
    /// 99th percentile.
    pub p99_ps: u64,
    /// 99.9th percentile.
    pub p999_ps: u64,
    /// Maximum.
    pub max_ps: u64,
}

impl Distribution {
    /// Returns the distribution of the recorded durations; `None` if there are none.
    pub fn of(histogram: &Histogram) -> Option<Distribution> {
        let ps = Duration::as_ps;
        Some(Distribution {
            count: histogram.count(),
            mean_ps: histogram.mean().map(ps)?,
            min_ps: histogram.min().map(ps)?,
            p50_ps: histogram.quantile(500).map(ps)?,
            p99_ps: histogram.quantile(990).map(ps)?,
            p999_ps: histogram.quantile(999).map(ps)?,
            max_ps: histogram.max().map(ps)?,
        })
    }
}
