//! Remote procedure calls that probe the network: a client calls its server at exponential gaps. The response time
//! starts when the call is made, and includes waiting behind earlier calls.

use std::collections::BTreeMap;

use serde::Deserialize;
use units::{Duration, Histogram, Time};

use crate::application::{Application, Out};
use crate::error::WorkloadError;
use crate::fields::{Context, FieldPath, ReadByHead, MAX_TIME_PS, MAX_TRANSFER_BYTES};
use crate::random::{Purpose, Stream};
use crate::report::{Distribution, Measures};
use crate::transfer::{ConnectionKind, Outcome};

/// Maximum number of pairs of an application.
pub const MAX_PAIRS: usize = 1 << 16;

/// Maximum number of unanswered calls of an application; further calls are not made and count as failed.
const MAX_OPEN_CALLS: usize = 1 << 16;

/// More frequent calls of a pair would dominate a run.
const MIN_INTERVAL_PS: u64 = 1_000_000;

/// Calls at exponential gaps, regardless of earlier responses.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::application("rpc")))]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // `Head` reads the fields that all kinds share.
pub(crate) struct RpcSpec {
    kind: ReadByHead,
    name: ReadByHead,
    background: Option<ReadByHead>,
    tcp: Option<ReadByHead>,
    dscp: Option<ReadByHead>,
    /// Pairs of client and server; either this or `random_pairs`.
    pairs: Option<Vec<[String; 2]>>,
    /// Number of pairs drawn from the hosts.
    random_pairs: Option<u32>,
    /// Payload of one call.
    request_bytes: u64,
    /// Payload of its response.
    response_bytes: u64,
    /// Mean time between two calls of a pair.
    mean_interval_ps: u64,
    /// Use of connections. Over a persistent one, calls wait for each other, which counts in the response time.
    connection: ConnectionKind,
    /// No call is made before this time. Default 0.
    #[serde(default)]
    start_ps: u64,
    /// Time for which calls are made; optional for background applications only.
    duration_ps: Option<u64>,
}

struct Pair {
    client: u32,
    server: u32,
    gaps: Stream,
}

/// All pairs of one application.
pub(crate) struct Rpc {
    pairs: Vec<Pair>,
    spec: RpcSpec,
    /// No call is made after this time.
    end: Time,
    /// Number of pairs that will call again.
    calling: usize,
    /// Start times of unanswered calls, by number.
    calls: BTreeMap<u64, Time>,
    made: u64,
    failed: u64,
    response: Histogram,
}

impl RpcSpec {
    pub(crate) fn check(self, at: &FieldPath<'_>, context: &Context<'_>) -> Result<Rpc, WorkloadError> {
        at.count("request_bytes", self.request_bytes, 1, MAX_TRANSFER_BYTES)?;
        at.count("response_bytes", self.response_bytes, 0, MAX_TRANSFER_BYTES)?;
        at.count("mean_interval_ps", self.mean_interval_ps, MIN_INTERVAL_PS, MAX_TIME_PS)?;
        at.count("start_ps", self.start_ps, 0, MAX_TIME_PS)?;
        let end = match self.duration_ps {
            Some(ps) => {
                at.count("duration_ps", ps, 0, MAX_TIME_PS)?;
                Time::from_ps(self.start_ps + ps)
            }
            None if context.background => Time::MAX,
            None => {
                let reason = "a run would never end; give a duration, or `background: true`";
                return Err(at.wrong("duration_ps", "null", reason));
            }
        };
        let hosts = match (&self.pairs, self.random_pairs) {
            (Some(pairs), None) => named_pairs(pairs, at, context)?,
            (None, Some(count)) => random_pairs(count, at, context)?,
            _ => return Err(at.wrong("pairs", "and random_pairs", "give one of the two")),
        };
        let pair = |(number, (client, server))| Pair {
            client,
            server,
            gaps: context.stream(Purpose::Gaps, &[number as u64]),
        };
        let pairs: Vec<_> = hosts.into_iter().enumerate().map(pair).collect();
        Ok(Rpc {
            calling: pairs.len(),
            pairs,
            spec: self,
            end,
            calls: BTreeMap::new(),
            made: 0,
            failed: 0,
            response: Histogram::default(),
        })
    }
}

fn named_pairs(
    pairs: &[[String; 2]],
    at: &FieldPath<'_>,
    context: &Context<'_>,
) -> Result<Vec<(u32, u32)>, WorkloadError> {
    at.count("pairs", pairs.len() as u64, 1, MAX_PAIRS as u64)?;
    let mut found = Vec::with_capacity(pairs.len());
    for (index, [client, server]) in pairs.iter().enumerate() {
        let place = format!("pairs[{index}]");
        let [client, server] = context.hosts.pair(client, server, |_| at.of(&place))?;
        found.push((client, server));
    }
    Ok(found)
}

fn random_pairs(
    count: u32,
    at: &FieldPath<'_>,
    context: &Context<'_>,
) -> Result<Vec<(u32, u32)>, WorkloadError> {
    at.count("random_pairs", count.into(), 1, MAX_PAIRS as u64)?;
    let hosts = context.hosts.list.len();
    if hosts < 2 {
        return Err(at.wrong("random_pairs", count, "needs at least two hosts"));
    }
    let mut draw = context.stream(Purpose::Pairs, &[]);
    let pair = |_| {
        let chosen = draw.choose(2, hosts);
        (chosen[0], chosen[1])
    };
    Ok((0..count).map(pair).collect())
}

impl Rpc {
    /// Schedules the pair's next call, one gap after `since`, if the end allows it.
    fn schedule(&mut self, number: usize, since: Time, out: &mut Out<'_>) {
        let gap = self.pairs[number].gaps.exponential(Duration::from_ps(self.spec.mean_interval_ps));
        let next = since.saturating_add(gap);
        if next <= self.end && next < Time::MAX {
            out.timer(next, number as u64);
        } else {
            self.calling -= 1;
        }
    }

    fn check_finished(&self, out: &mut Out<'_>) {
        if self.calling == 0 && self.calls.is_empty() {
            out.finish();
        }
    }
}

impl Application for Rpc {
    fn start(&mut self, out: &mut Out<'_>) {
        for number in 0..self.pairs.len() {
            if self.spec.connection == ConnectionKind::Persistent {
                out.open(number as u32, self.pairs[number].client, self.pairs[number].server);
            }
            self.schedule(number, Time::from_ps(self.spec.start_ps), out);
        }
        self.check_finished(out);
    }

    fn handle_timer(&mut self, token: u64, out: &mut Out<'_>) {
        let Pair { client, server, .. } = self.pairs[token as usize];
        if self.calls.len() < MAX_OPEN_CALLS {
            self.calls.insert(self.made, out.now);
            let connection = self.spec.connection.number(token as u32);
            let bytes = [self.spec.request_bytes, self.spec.response_bytes];
            out.exchange(self.made, None, [client, server], bytes, connection);
            self.made += 1;
        } else {
            self.failed += 1;
        }
        self.schedule(token as usize, out.now, out);
        self.check_finished(out);
    }

    fn handle_transfer(&mut self, token: u64, outcome: Outcome, out: &mut Out<'_>) {
        let made = self.calls.remove(&token).expect("transfers are of calls that are open");
        match outcome {
            Outcome::Finished => self.response.record(out.now.saturating_since(made)),
            Outcome::Failed => self.failed += 1,
        }
        self.check_finished(out);
    }

    fn report(&self) -> Measures {
        Measures::Rpc { response_ps: Distribution::of(&self.response), failed: self.failed }
    }
}
