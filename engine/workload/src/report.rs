//! What applications have measured, as data. Times are picoseconds since the start of the run, spans picoseconds, sizes bytes.

use serde::Serialize;
use units::{Duration, Histogram};

use crate::slowdown::SlowdownReport;

/// One application.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApplicationReport {
    /// Name.
    pub name: String,
    /// Kind: `mapreduce`, `coflows`, ...
    pub kind: &'static str,
    /// Whether the run waits for it.
    pub background: bool,
    /// DSCP of its packets, where it is not 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub dscp: u8,
    /// When it finished, if it has.
    pub finished_ps: Option<u64>,
    /// What its kind measures.
    #[serde(flatten)]
    pub measures: Measures,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_zero(dscp: &u8) -> bool {
    *dscp == 0
}

/// What each kind measures.
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
        /// Flows of the whole run.
        flows: u64,
        /// Payload of all of them, as a share of the rates of the links that send.
        load: f64,
        /// Flows that are measured.
        measured: u64,
        /// Of them, those that have neither arrived nor been given up.
        unfinished: u64,
        /// Of them, those that were given up.
        failed: u64,
        /// From a flow's time until its last byte had arrived.
        completion_ps: Option<Distribution>,
        /// The same over the least time that the flow's path allows.
        slowdown: SlowdownReport,
        /// The same by size.
        slowdown_by_size: Vec<SlowdownReport>,
        /// Every flow, in the order in which they begin, where that is asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        rows: Option<Vec<FlowRow>>,
    },
    /// `incast`.
    #[cfg_attr(feature = "schema", schemars(title = "IncastReport", transform = crate::schema::kind("incast")))]
    Incast {
        /// From the queries to the last answer, of rounds without failure.
        rounds_ps: Option<Distribution>,
        /// Answers that did not come.
        failed: u64,
    },
    /// `rpc`.
    #[cfg_attr(feature = "schema", schemars(title = "RpcReport", transform = crate::schema::kind("rpc")))]
    Rpc {
        /// From calls to the last byte of their answers.
        response_ps: Option<Distribution>,
        /// Calls that were not answered, or not made because too many waited.
        failed: u64,
    },
    /// `scatter_gather`.
    #[cfg_attr(feature = "schema", schemars(title = "ScatterGatherReport", transform = crate::schema::kind("scatter_gather")))]
    ScatterGather {
        /// From questions to the last byte of their answers.
        query_ps: Option<Distribution>,
        /// Queries of which a part failed, or that were not made because too many waited.
        failed: u64,
    },
    /// `phases`.
    #[cfg_attr(feature = "schema", schemars(title = "PhasesReport", transform = crate::schema::kind("phases")))]
    Phases {
        /// Of each step: from the previous one's end until all ranks have computed and all messages have arrived.
        step_ps: Option<Distribution>,
        /// Sum over all steps of the time from when the last rank had computed.
        waited_ps: u64,
        /// Messages whose connection was given up, and that were sent again.
        resent: u64,
    },
    /// `poisson`.
    #[cfg_attr(feature = "schema", schemars(title = "PoissonReport", transform = crate::schema::kind("poisson")))]
    Poisson {
        /// Frames sent.
        frames: u64,
    },
}

/// One MapReduce job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobReport {
    /// Name.
    pub name: String,
    /// When it was submitted.
    pub arrival_ps: u64,
    /// From then until its last task ended.
    pub runtime_ps: Option<u64>,
    /// Map tasks.
    pub maps: u32,
    /// Reduce tasks.
    pub reducers: u32,
    /// Map tasks that ran where their split is.
    pub local_maps: u32,
    /// When its first map task was given to a worker.
    pub first_map_start_ps: Option<u64>,
    /// When its last map task ended.
    pub last_map_end_ps: Option<u64>,
    /// When the first fetch over the network began; absent if none did.
    pub first_fetch_start_ps: Option<u64>,
    /// When the last reducer had everything.
    pub last_fetch_end_ps: Option<u64>,
    /// Share of the runtime until the last map task ended. The three add up to 1.
    pub map_share: Option<f64>,
    /// Share after that until the last reducer had everything.
    pub shuffle_share: Option<f64>,
    /// The rest.
    pub reduce_share: Option<f64>,
    /// Sum of the times of all map tasks.
    pub map_task_ps: u64,
    /// Sum over all reduce tasks of the time from their start until they had everything.
    pub fetch_task_ps: u64,
    /// Sum over all reduce tasks of the time from then to their end.
    pub reduce_task_ps: u64,
    /// Over the reducers that fetched over the network: from a reducer's first fetch until its last byte had arrived, the transfer completion time of
    /// Ren and Wang 2016.
    pub reducer_shuffle_ps: Option<Distribution>,
    /// Bytes of map output that reducers got over the network.
    pub shuffle_network_bytes: u64,
    /// Transfers that failed and were begun again.
    pub refetches: u64,
}

/// One flow of `flows`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowRow {
    /// The host that sends.
    pub source: String,
    /// The host that receives.
    pub destination: String,
    /// Payload.
    pub bytes: u64,
    /// When it begins.
    pub at_ps: u64,
    /// Whether it begins between warm-up and cool-down.
    pub measured: bool,
    /// From then until the last byte had arrived; absent before, and when the connection was given up.
    pub completion_ps: Option<u64>,
    /// The least time that its path allows; absent before it begins.
    pub ideal_ps: Option<u64>,
}

/// One coflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoflowReport {
    /// Name.
    pub name: String,
    /// When its transfers began.
    pub at_ps: u64,
    /// From then until the last byte of the last transfer had arrived.
    pub completion_ps: Option<u64>,
    /// Bytes of all its transfers.
    pub bytes: u64,
    /// Its transfers that failed, which are not begun again.
    pub failed: u64,
}

/// How often durations occurred. The quantiles are within 0.2 %, the rest is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// Mean, rounded down.
    pub mean_ps: u64,
    /// Smallest.
    pub min_ps: u64,
    /// Median.
    pub p50_ps: u64,
    /// 99th percentile.
    pub p99_ps: u64,
    /// 99.9th percentile.
    pub p999_ps: u64,
    /// Largest.
    pub max_ps: u64,
}

impl Distribution {
    /// Returns the distribution of what was recorded; `None` of nothing.
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
