//! Phases: repeatedly, all ranks compute, send messages to each other, and wait until all have arrived, like the NAS
//! kernels. The description defines the messages.

use std::collections::BTreeMap;

use serde::Deserialize;
use units::{Duration, Histogram, Time};

use crate::application::{Application, Out};
use crate::error::WorkloadError;
use crate::fields::{Context, FieldPath, ReadByHead, MAX_TIME_PS, MAX_TRANSFER_BYTES};
use crate::random::{Purpose, Stream};
use crate::report::{Distribution, Measures};
use crate::transfer::{Connection, ConnectionKind, Outcome};

/// Maximum number of ranks; a host may have several.
pub const MAX_RANKS: usize = 1 << 16;

/// Maximum number of messages of all steps together.
pub const MAX_MESSAGES: usize = 1 << 20;

/// Delay before a message on a failed connection is sent again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Ranks that compute, communicate and wait for each other.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::application("phases")))]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // `Head` reads the fields that all kinds share.
pub(crate) struct PhasesSpec {
    kind: ReadByHead,
    name: ReadByHead,
    background: Option<ReadByHead>,
    tcp: Option<ReadByHead>,
    dscp: Option<ReadByHead>,
    start_jitter_ps: Option<ReadByHead>,
    /// The host of each rank.
    ranks: Vec<String>,
    /// Number of iterations of all steps.
    iterations: u64,
    /// The steps, in order.
    steps: Vec<StepSpec>,
    /// Sigma of the log-normal factor on a rank's computing time. Default 0.
    #[serde(default)]
    noise_sigma: f64,
    /// Use of connections. Default `persistent`, one per pair of ranks.
    #[serde(default = "default_connection")]
    connection: ConnectionKind,
}

/// One step: every rank computes, then sends its messages; the step ends when all have arrived.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct StepSpec {
    /// Computing time of each rank. Default 0.
    #[serde(default)]
    compute_ps: u64,
    /// Messages as sending rank, receiving rank, bytes.
    messages: Vec<[u64; 3]>,
}

fn default_connection() -> ConnectionKind {
    ConnectionKind::Persistent
}

struct Message {
    from: u32,
    to: u32,
    bytes: u64,
    /// Number of the pair of ranks.
    connection: u32,
}

struct Step {
    compute: Duration,
    /// In order of the sending rank.
    messages: Vec<Message>,
}

/// All ranks of one application.
pub(crate) struct Phases {
    /// Hosts by rank.
    ranks: Vec<u32>,
    noise: Vec<Stream>,
    steps: Vec<Step>,
    /// Pairs of ranks, by the number of their connection.
    pairs: Vec<(u32, u32)>,
    spec: PhasesSpec,
    /// Number of steps begun, over all iterations.
    begun: u64,
    began: Time,
    computed: Time,
    computing: usize,
    under_way: usize,
    resent: u64,
    times: Histogram,
    waited: Duration,
}

/// The purpose of a timer.
enum Token {
    Computed(u32),
    Again(usize),
}

impl Token {
    fn pack(&self) -> u64 {
        match *self {
            Token::Computed(rank) => u64::from(rank) << 1,
            Token::Again(message) => (message as u64) << 1 | 1,
        }
    }

    fn unpack(token: u64) -> Self {
        match token & 1 {
            0 => Token::Computed((token >> 1) as u32),
            _ => Token::Again((token >> 1) as usize),
        }
    }
}

impl PhasesSpec {
    pub(crate) fn check(
        mut self,
        at: &FieldPath<'_>,
        context: &Context<'_>,
    ) -> Result<Phases, WorkloadError> {
        at.count("ranks", self.ranks.len() as u64, 2, MAX_RANKS as u64)?;
        at.count("iterations", self.iterations, 1, u32::MAX.into())?;
        at.count("steps", self.steps.len() as u64, 1, MAX_MESSAGES as u64)?;
        at.number("noise_sigma", self.noise_sigma, 0.0, 2.0)?;
        let mut ranks = Vec::with_capacity(self.ranks.len());
        for (index, name) in self.ranks.iter().enumerate() {
            ranks.push(context.hosts.find(name, || at.of(&format!("ranks[{index}]")))?);
        }
        let mut connections = BTreeMap::new();
        let mut pairs = Vec::new();
        let mut steps = Vec::with_capacity(self.steps.len());
        let mut count = 0;
        for (number, step) in std::mem::take(&mut self.steps).iter().enumerate() {
            at.count(&format!("steps[{number}].compute_ps"), step.compute_ps, 0, MAX_TIME_PS)?;
            count += step.messages.len();
            at.count(&format!("steps[{number}].messages"), count as u64, 0, MAX_MESSAGES as u64)?;
            let mut messages = Vec::with_capacity(step.messages.len());
            for (index, &[from, to, bytes]) in step.messages.iter().enumerate() {
                let place = |field: usize| format!("steps[{number}].messages[{index}][{field}]");
                at.count(&place(0), from, 0, ranks.len() as u64 - 1)?;
                at.count(&place(1), to, 0, ranks.len() as u64 - 1)?;
                at.count(&place(2), bytes, 1, MAX_TRANSFER_BYTES)?;
                let (from, to) = (from as u32, to as u32);
                if ranks[from as usize] == ranks[to as usize] {
                    return Err(at.wrong(&place(1), to, "is on the sending rank's host"));
                }
                let connection = *connections.entry((from, to)).or_insert_with(|| {
                    pairs.push((from, to));
                    pairs.len() as u32 - 1
                });
                messages.push(Message { from, to, bytes, connection });
            }
            messages.sort_by_key(|message| message.from);
            steps.push(Step { compute: Duration::from_ps(step.compute_ps), messages });
        }
        Ok(Phases {
            noise: (0..ranks.len() as u64)
                .map(|rank| context.stream(Purpose::ComputeNoise, &[rank]))
                .collect(),
            ranks,
            steps,
            pairs,
            spec: self,
            begun: 0,
            began: Time::ZERO,
            computed: Time::ZERO,
            computing: 0,
            under_way: 0,
            resent: 0,
            times: Histogram::default(),
            waited: Duration::ZERO,
        })
    }
}

impl Phases {
    /// Returns the current step.
    fn step(&self) -> &Step {
        &self.steps[((self.begun - 1) % self.steps.len() as u64) as usize]
    }

    /// Starts the computation of every rank.
    fn begin(&mut self, out: &mut Out<'_>) {
        self.begun += 1;
        (self.began, self.computing, self.under_way) = (out.now, self.ranks.len(), 0);
        let (compute, sigma) = (self.step().compute, self.spec.noise_sigma);
        for (rank, noise) in self.noise.iter_mut().enumerate() {
            let factor = if sigma > 0.0 { noise.log_normal(sigma) } else { 1.0 };
            let span = Duration::from_ps((compute.as_ps() as f64 * factor) as u64);
            out.after(span, Token::Computed(rank as u32).pack());
        }
    }

    fn send(&self, index: usize, out: &mut Out<'_>) {
        let message = &self.step().messages[index];
        let hosts = [message.from, message.to].map(|rank| self.ranks[rank as usize]);
        let connection: Connection = self.spec.connection.number(message.connection);
        out.exchange(index as u64, Some(self.begun), hosts, [message.bytes, 0], connection);
    }

    /// Ends the step if all ranks have computed and all messages have arrived.
    fn end_if_done(&mut self, out: &mut Out<'_>) {
        if self.computing > 0 || self.under_way > 0 {
            return;
        }
        out.group_ends(self.begun);
        self.times.record(out.now.saturating_since(self.began));
        self.waited += out.now.saturating_since(self.computed);
        if self.begun == self.spec.iterations * self.steps.len() as u64 {
            out.finish();
        } else {
            self.begin(out);
        }
    }
}

impl Application for Phases {
    fn start(&mut self, out: &mut Out<'_>) {
        if self.spec.connection == ConnectionKind::Persistent {
            for (number, (from, to)) in self.pairs.iter().enumerate() {
                out.open(number as u32, self.ranks[*from as usize], self.ranks[*to as usize]);
            }
        }
        self.begin(out);
    }

    fn handle_timer(&mut self, token: u64, out: &mut Out<'_>) {
        match Token::unpack(token) {
            Token::Again(message) => self.send(message, out),
            Token::Computed(rank) => {
                (self.computing, self.computed) = (self.computing - 1, out.now);
                let messages = &self.step().messages;
                let first = messages.partition_point(|message| message.from < rank);
                let end = messages.partition_point(|message| message.from <= rank);
                self.under_way += end - first;
                (first..end).for_each(|index| self.send(index, out));
                self.end_if_done(out);
            }
        }
    }

    fn handle_transfer(&mut self, token: u64, outcome: Outcome, out: &mut Out<'_>) {
        if outcome == Outcome::Failed {
            self.resent += 1;
            return out.after(RETRY_AFTER, Token::Again(token as usize).pack());
        }
        self.under_way -= 1;
        self.end_if_done(out);
    }

    fn report(&self) -> Measures {
        Measures::Phases {
            step_ps: Distribution::of(&self.times),
            waited_ps: self.waited.as_ps(),
            resent: self.resent,
        }
    }
}
