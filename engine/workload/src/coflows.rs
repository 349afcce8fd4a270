//! Coflows: groups of transfers that begin together and complete together. Each transfer is one connection, opened by
//! its source at the coflow's start. A permutation, a single incast and the Facebook trace are coflows.

use serde::Deserialize;
use units::Time;

use crate::application::{Application, Out};
use crate::error::WorkloadError;
use crate::fields::{Context, FieldPath, Hosts, ReadByHead, MAX_TIME_PS, MAX_TRANSFER_BYTES};
use crate::report::{CoflowReport, Measures};
use crate::transfer::Outcome;

/// Maximum number of transfers of a workload's coflows.
pub const MAX_TRANSFERS: usize = 1 << 20;

/// Coflows: transfers that begin together. All times count from the start of the run.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::application("coflows")))]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // `Head` reads the fields that all kinds share.
pub(crate) struct CoflowsSpec<'a> {
    kind: ReadByHead,
    name: ReadByHead,
    background: Option<ReadByHead>,
    tcp: Option<ReadByHead>,
    dscp: Option<ReadByHead>,
    start_jitter_ps: Option<ReadByHead>,
    /// The coflows.
    #[serde(borrow)]
    coflows: Vec<CoflowSpec<'a>>,
}

/// One coflow. It is complete when its last transfer is.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct CoflowSpec<'a> {
    /// Name.
    name: String,
    /// When all its transfers begin. Default 0.
    #[serde(default)]
    at_ps: u64,
    /// Its transfers.
    #[serde(borrow)]
    transfers: Vec<TransferSpec<'a>>,
}

/// One transfer: a connection that its source opens.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct TransferSpec<'a> {
    /// The sending host.
    #[serde(borrow)]
    source: std::borrow::Cow<'a, str>,
    /// The receiving host.
    #[serde(borrow)]
    destination: std::borrow::Cow<'a, str>,
    /// Payload bytes.
    bytes: u64,
}

struct Coflow {
    name: String,
    at: Time,
    /// Source, destination, bytes; released once they have begun.
    transfers: Vec<(u32, u32, u64)>,
    bytes: u64,
    unfinished: usize,
    failed: u64,
    finished_at: Option<Time>,
}

/// All coflows of one application.
pub(crate) struct Coflows {
    coflows: Vec<Coflow>,
    unfinished: usize,
}

impl CoflowsSpec<'_> {
    pub(crate) fn check(self, at: &FieldPath<'_>, context: &Context<'_>) -> Result<Coflows, WorkloadError> {
        let count = self.coflows.iter().map(|coflow| coflow.transfers.len()).sum::<usize>();
        if count > MAX_TRANSFERS {
            let reason = format!("transfers, more than {MAX_TRANSFERS}; split the workload");
            return Err(at.wrong("coflows", count, reason));
        }
        let mut coflows = Vec::with_capacity(self.coflows.len());
        for (index, spec) in self.coflows.into_iter().enumerate() {
            coflows.push(coflow(spec, &FieldPath(&at.of(&format!("coflows[{index}]"))), context.hosts)?);
        }
        if coflows.is_empty() {
            return Err(at.wrong("coflows", "[]", "there must be at least one"));
        }
        Ok(Coflows { unfinished: coflows.len(), coflows })
    }
}

fn coflow(spec: CoflowSpec<'_>, at: &FieldPath<'_>, hosts: &Hosts<'_>) -> Result<Coflow, WorkloadError> {
    at.count("at_ps", spec.at_ps, 0, MAX_TIME_PS)?;
    at.count("transfers", spec.transfers.len() as u64, 1, MAX_TRANSFERS as u64)?;
    let mut transfers = Vec::with_capacity(spec.transfers.len());
    for (index, transfer) in spec.transfers.iter().enumerate() {
        let field = |field: &str| format!("transfers[{index}].{field}");
        let [source, destination] =
            hosts.pair(&transfer.source, &transfer.destination, |end| at.of(&field(end)))?;
        at.count(&field("bytes"), transfer.bytes, 1, MAX_TRANSFER_BYTES)?;
        transfers.push((source, destination, transfer.bytes));
    }
    Ok(Coflow {
        name: spec.name,
        at: Time::from_ps(spec.at_ps),
        bytes: transfers.iter().map(|(_, _, bytes)| *bytes).fold(0, u64::saturating_add),
        unfinished: transfers.len(),
        transfers,
        failed: 0,
        finished_at: None,
    })
}

impl Application for Coflows {
    fn start(&mut self, out: &mut Out<'_>) {
        for (index, coflow) in self.coflows.iter().enumerate() {
            out.timer(coflow.at, index as u64);
        }
    }

    fn handle_timer(&mut self, token: u64, out: &mut Out<'_>) {
        let coflow = &mut self.coflows[token as usize];
        for (source, destination, bytes) in std::mem::take(&mut coflow.transfers) {
            out.transfer(token, Some(token), [source, destination], [bytes, 0]);
        }
    }

    fn handle_transfer(&mut self, token: u64, outcome: Outcome, out: &mut Out<'_>) {
        let coflow = &mut self.coflows[token as usize];
        coflow.unfinished -= 1;
        coflow.failed += u64::from(outcome == Outcome::Failed);
        if coflow.unfinished > 0 {
            return;
        }
        out.group_ends(token);
        // A coflow with a failed transfer is over, but not completed.
        coflow.finished_at = (coflow.failed == 0).then_some(out.now);
        self.unfinished -= 1;
        if self.unfinished == 0 {
            out.finish();
        }
    }

    fn report(&self) -> Measures {
        let report = |coflow: &Coflow| CoflowReport {
            name: coflow.name.clone(),
            at_ps: coflow.at.as_ps(),
            completion_ps: coflow.finished_at.map(|at| at.saturating_since(coflow.at).as_ps()),
            bytes: coflow.bytes,
            failed: coflow.failed,
        };
        Measures::Coflows { coflows: self.coflows.iter().map(report).collect() }
    }
}
