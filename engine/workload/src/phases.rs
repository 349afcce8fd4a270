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
    noise_sigma: f64,
    steps: Vec<Step>,
    /// Pairs of ranks, by the number of their connection.
    pairs: Vec<(u32, u32)>,
    connection: ConnectionKind,
    iterations: u64,
    /// Number of steps begun, over all iterations.
    begun: u64,
    began: Time,
    computed: Time,
    computing: usize,
    under_way: usize,
    resent: u64,
    times: Histogram,
    waited: Duration,
    finished_at: Option<Time>,
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
    pub(crate) fn check(self, at: &FieldPath<'_>, context: &Context<'_>) -> Result<Phases, WorkloadError> {
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
        for (number, step) in self.steps.iter().enumerate() {
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
            noise_sigma: self.noise_sigma,
            steps,
            pairs,
            connection: self.connection,
            iterations: self.iterations,
            begun: 0,
            began: Time::ZERO,
            computed: Time::ZERO,
            computing: 0,
            under_way: 0,
            resent: 0,
            times: Histogram::default(),
            waited: Duration::ZERO,
            finished_at: None,
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
        let (compute, sigma) = (self.step().compute, self.noise_sigma);
        for (rank, noise) in self.noise.iter_mut().enumerate() {
            let factor = if sigma > 0.0 { noise.log_normal(sigma) } else { 1.0 };
            let span = Duration::from_ps((compute.as_ps() as f64 * factor) as u64);
            out.after(span, Token::Computed(rank as u32).pack());
        }
    }

    fn send(&self, index: usize, out: &mut Out<'_>) {
        let message = &self.step().messages[index];
        let hosts = [message.from, message.to].map(|rank| self.ranks[rank as usize]);
        let connection: Connection = self.connection.number(message.connection);
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
        if self.begun == self.iterations * self.steps.len() as u64 {
            self.finished_at = Some(out.now);
        } else {
            self.begin(out);
        }
    }
}

impl Application for Phases {
    fn start(&mut self, out: &mut Out<'_>) {
        if self.connection == ConnectionKind::Persistent {
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

    fn finished_at(&self) -> Option<Time> {
        self.finished_at
    }

    fn report(&self) -> Measures {
        Measures::Phases {
            step_ps: Distribution::of(&self.times),
            waited_ps: self.waited.as_ps(),
            resent: self.resent,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use serde_json::{json, Value};

    use super::*;
    use crate::application::Timers;
    use crate::spec::{hosts, parse_one};
    use crate::transfer::{Action, Transfer};

    fn parse(fields: Value) -> Result<Phases, WorkloadError> {
        let mut description = json!({
            "kind": "phases", "name": "p", "ranks": ["h0", "h1", "h2"], "iterations": 2,
            "steps": [
                {"compute_ps": 5_000_000, "messages": [[1, 2, 100], [0, 1, 100], [0, 2, 200]]},
                {"messages": [[2, 0, 300]]},
            ],
        });
        for (key, value) in fields.as_object().unwrap() {
            description[key] = value.clone();
        }
        parse_one(&description.to_string(), &hosts(4), PhasesSpec::check)
    }

    /// Runs to the end. A message takes 1 us per 100 bytes; if `fails` is set, the first one fails.
    fn run(it: &mut Phases, mut fails: bool) -> Vec<(Time, Transfer)> {
        let (mut timers, mut actions) = (Timers::default(), VecDeque::new());
        let mut arrivals: Vec<(Time, u64, bool)> = Vec::new();
        let mut begun = Vec::new();
        let mut now = Time::ZERO;
        it.start(&mut Out { now, application: 0, timers: &mut timers, actions: &mut actions });
        while it.finished_at().is_none() {
            while let Some(action) = actions.pop_front() {
                if let Action::Transfer(transfer) = action {
                    begun.push((now, transfer));
                    let took = Duration::from_us(transfer.request_bytes / 100);
                    arrivals.push((now + took, transfer.id.token, std::mem::take(&mut fails)));
                }
            }
            arrivals.sort_unstable();
            let first = arrivals.first().map(|arrival| arrival.0);
            if first.is_some_and(|first| timers.next().is_none_or(|timer| first <= timer)) {
                let (at, token, failed) = arrivals.remove(0);
                now = at;
                let outcome = if failed { Outcome::Failed } else { Outcome::Finished };
                let out = &mut Out { now, application: 0, timers: &mut timers, actions: &mut actions };
                it.handle_transfer(token, outcome, out);
            } else {
                let timer = timers.pop_due(Time::MAX).expect("something is left to happen");
                now = timer.at;
                it.handle_timer(
                    timer.token,
                    &mut Out { now, application: 0, timers: &mut timers, actions: &mut actions },
                );
            }
        }
        begun
    }

    fn measured(it: &Phases) -> (Distribution, u64, u64) {
        let Measures::Phases { step_ps, waited_ps, resent } = it.report() else { panic!() };
        (step_ps.unwrap(), waited_ps, resent)
    }

    #[test]
    fn a_step_ends_with_its_last_message_and_the_next_begins() {
        let mut it = parse(json!({})).unwrap();
        let begun = run(&mut it, false);
        let at: Vec<_> = begun.iter().map(|(at, one)| (at.as_ps() / 1_000_000, one.from, one.to)).collect();
        // 5 us of computing and 2 us for the longest message; the second step's message takes 3 us.
        let once = [(5, 0, 1), (5, 0, 2), (5, 1, 2), (7, 2, 0)];
        let mut twice = once.to_vec();
        twice.extend(once.map(|(at, from, to)| (at + 10, from, to)));
        assert_eq!(at, twice);
        assert_eq!(it.finished_at(), Some(Time::from_ps(20_000_000)));
        let (steps, waited_ps, resent) = measured(&it);
        assert_eq!((steps.count, steps.min_ps, steps.max_ps), (4, 3_000_000, 7_000_000));
        assert_eq!((waited_ps, resent), (10_000_000, 0));
        let pair = |one: &Transfer| one.connection;
        assert_eq!(pair(&begun[0].1), pair(&begun[4].1), "a pair keeps its connection");
        assert_ne!(pair(&begun[0].1), pair(&begun[1].1));
        assert_ne!(begun[0].1.group, begun[3].1.group);
    }

    #[test]
    fn a_message_that_fails_is_sent_again_and_the_others_wait() {
        let mut it = parse(json!({"iterations": 1})).unwrap();
        let begun = run(&mut it, true);
        assert_eq!(begun.len(), 5);
        let (steps, _, resent) = measured(&it);
        // The message fails after 1 us, is repeated a second later and takes 1 us.
        assert_eq!((steps.max_ps, resent), (1_000_007_000_000, 1));
    }

    #[test]
    fn noise_moves_ranks_and_the_slowest_decides() {
        let took = |sigma: f64| {
            let mut it = parse(json!({"noise_sigma": sigma, "iterations": 50})).unwrap();
            run(&mut it, false);
            it.finished_at().unwrap()
        };
        assert_eq!(took(0.0), Time::from_ps(500_000_000));
        assert!(took(0.5) > Time::from_ps(505_000_000));
        assert_eq!(took(0.5), took(0.5));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_place() {
        let messages = |messages: Value| json!({"steps": [{"messages": messages}]});
        for (fields, place) in [
            (json!({"ranks": ["h0"]}), "it.ranks: 1"),
            (json!({"ranks": ["h0", "h9"]}), "it.ranks[1]: h9"),
            (json!({"iterations": 0}), "it.iterations: 0"),
            (json!({"steps": []}), "it.steps: 0"),
            (json!({"noise_sigma": 3.0}), "it.noise_sigma: 3"),
            (messages(json!([[0, 3, 1]])), "it.steps[0].messages[0][1]: 3"),
            (messages(json!([[0, 1, 0]])), "it.steps[0].messages[0][2]: 0"),
            (messages(json!([[0, 0, 1]])), "it.steps[0].messages[0][1]: 0: is on the sending rank's host"),
        ] {
            let error = parse(fields).err().expect("it is refused").to_string();
            assert!(error.contains(place), "{error}");
        }
    }
}
