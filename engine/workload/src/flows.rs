//! Flows that begin at given times, independently of each other: drawn from a size distribution at a given load of the
//! hosts' links, or listed. Each has its own connection, opened by its source.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Deserialize;
use units::{Duration, Histogram, Time};

use crate::application::{Application, Out};
use crate::error::WorkloadError;
use crate::fields::{Context, FieldPath, ReadByHead, MAX_TIME_PS, MAX_TRANSFER_BYTES};
use crate::random::{seconds, Purpose, Stream};
use crate::report::{Distribution, FlowRow, Measures};
use crate::scatter_gather::racks;
use crate::sizes::SizesSpec;
use crate::slowdown::Slowdowns;
use crate::transfer::Outcome;

/// Maximum number of flows of an application.
pub const MAX_FLOWS: usize = 1 << 20;

/// For lognormal gaps: above this, most flows would begin at the same time.
const MAX_SIGMA: f64 = 4.0;

/// Flows that are drawn or listed.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::application("flows")))]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // `Head` reads the fields that all kinds share.
pub(crate) struct FlowsSpec<'a> {
    kind: ReadByHead,
    name: ReadByHead,
    background: Option<ReadByHead>,
    tcp: Option<ReadByHead>,
    dscp: Option<ReadByHead>,
    /// The flows, listed individually; either this or `drawn`.
    #[serde(borrow)]
    list: Option<Vec<ListedFlow<'a>>>,
    /// Parameters of drawn flows.
    drawn: Option<DrawnSpec>,
    /// Flows that begin before this time are not measured. Default 0.
    #[serde(default)]
    warm_up_ps: u64,
    /// Flows that begin within this time before the end are not measured. Default 0.
    #[serde(default)]
    cool_down_ps: u64,
    /// Whether the report has a row per flow. Default no.
    #[serde(default)]
    rows: bool,
}

/// One listed flow.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ListedFlow<'a> {
    /// The sending host.
    #[serde(borrow)]
    source: std::borrow::Cow<'a, str>,
    /// The receiving host.
    #[serde(borrow)]
    destination: std::borrow::Cow<'a, str>,
    /// Payload bytes.
    bytes: u64,
    /// Start time.
    at_ps: u64,
}

/// Flows with random sizes at random times.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct DrawnSpec {
    /// Hosts by rack.
    racks: Vec<Vec<String>>,
    /// The choice of receivers.
    pattern: Pattern,
    /// Number of the receiving rack of `to_one_rack`. Default 0.
    #[serde(default)]
    to_rack: usize,
    /// Distribution of flow sizes.
    sizes: SizesSpec,
    /// Payload rate at which each sending host starts flows, as a fraction of its link's rate: above 0 and at most 1.
    load: f64,
    /// Distribution of the gaps between the flows of a host. Default `poisson`.
    #[serde(default)]
    gaps: Gaps,
    /// Length of the time in which flows begin.
    duration_ps: u64,
}

/// The choice of receivers.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Pattern {
    /// Each flow goes to a random other host.
    AllToAll,
    /// Each host sends to one fixed other host, and receives from one.
    Permutation,
    /// Each flow goes to a random host of another rack.
    BetweenRacks,
    /// Hosts of other racks send to random hosts of one rack.
    ToOneRack,
}

/// Distribution of the gaps between the flows of a host.
#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Gaps {
    /// Exponential gaps.
    #[default]
    Poisson,
    /// Constant gaps, after a random first one.
    Fixed,
    /// Lognormal gaps: flows arrive in bursts.
    #[cfg_attr(feature = "schema", schemars(title = "LognormalGaps"))]
    Lognormal {
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Gaps {
    /// Returns the time from an arbitrary moment to the first flow: the residual of the gap that contains this moment,
    /// so that the load is constant from the start.
    fn first(self, stream: &mut Stream, mean: Duration) -> Duration {
        match self {
            Gaps::Poisson => stream.exponential(mean),
            Gaps::Fixed => Duration::from_ps(stream.below(mean.as_ps().max(1))),
            // A moment falls into a gap with a probability proportional to the gap's length. The length-weighted gaps are lognormal as well.
            Gaps::Lognormal { sigma } => {
                let share = stream.unit();
                seconds(
                    share * mean.as_secs_f64() * libm::exp(sigma * sigma / 2.0) * stream.log_normal(sigma),
                )
            }
        }
    }

    /// Returns the gap between two successive flows.
    fn next(self, stream: &mut Stream, mean: Duration) -> Duration {
        match self {
            Gaps::Poisson => stream.exponential(mean),
            Gaps::Fixed => mean,
            Gaps::Lognormal { sigma } => {
                seconds(mean.as_secs_f64() * libm::exp(-sigma * sigma / 2.0) * stream.log_normal(sigma))
            }
        }
    }
}

#[derive(Default)]
struct Flow {
    at: Time,
    source: u32,
    destination: u32,
    bytes: u64,
    is_measured: bool,
    /// The minimum time on its path, where known.
    ideal: Option<Duration>,
    completion: Option<Duration>,
}

/// All flows of one application, in order of their start.
pub(crate) struct Flows {
    flows: Vec<Flow>,
    /// Names of hosts, if the report has a row per flow.
    names: Option<Vec<String>>,
    load: f64,
    /// Number of flows begun.
    begun: usize,
    measured: u64,
    /// Of those measured, the flows that have neither finished nor failed.
    unfinished: u64,
    failed: u64,
    completion: Histogram,
    slowdowns: Slowdowns,
}

impl FlowsSpec<'_> {
    pub(crate) fn check(self, at: &FieldPath<'_>, context: &Context<'_>) -> Result<Flows, WorkloadError> {
        at.count("warm_up_ps", self.warm_up_ps, 0, MAX_TIME_PS)?;
        at.count("cool_down_ps", self.cool_down_ps, 0, MAX_TIME_PS)?;
        let (mut flows, end, senders) = match (&self.list, &self.drawn) {
            (Some(list), None) => listed(list, at, context)?,
            (None, Some(drawn)) => drawn.draw(at, context)?,
            _ => return Err(at.wrong("list", "and drawn", "give one of the two")),
        };
        flows.sort_by_key(|flow| (flow.at, flow.source));
        let (mut measured, mut bits) = (0, 0.0);
        for flow in &mut flows {
            flow.is_measured = flow.at >= Time::ZERO.saturating_add(Duration::from_ps(self.warm_up_ps))
                && flow.at.saturating_add(Duration::from_ps(self.cool_down_ps)) <= end;
            measured += u64::from(flow.is_measured);
            bits += 8.0 * flow.bytes as f64;
        }
        if measured == 0 {
            let reason = "leaves no flow of all to measure; make it, or `cool_down_ps`, shorter";
            return Err(at.wrong("warm_up_ps", self.warm_up_ps, reason));
        }
        let rate = |host: &u32| context.hosts.list[*host as usize].rate.as_bps() as f64;
        let possible = senders.iter().map(rate).sum::<f64>() * end.as_secs_f64();
        Ok(Flows {
            flows,
            names: self.rows.then(|| context.hosts.list.iter().map(|host| host.name.clone()).collect()),
            load: if possible > 0.0 { bits / possible } else { 0.0 },
            begun: 0,
            measured,
            unfinished: measured,
            failed: 0,
            completion: Histogram::default(),
            slowdowns: Slowdowns::default(),
        })
    }
}

/// Returns the listed flows, the start time of the last one, and their senders.
fn listed(
    list: &[ListedFlow<'_>],
    at: &FieldPath<'_>,
    context: &Context<'_>,
) -> Result<(Vec<Flow>, Time, BTreeSet<u32>), WorkloadError> {
    at.count("list", list.len() as u64, 1, MAX_FLOWS as u64)?;
    let mut flows = Vec::with_capacity(list.len());
    for (index, one) in list.iter().enumerate() {
        let field = |field: &str| format!("list[{index}].{field}");
        let [source, destination] =
            context.hosts.pair(&one.source, &one.destination, |end| at.of(&field(end)))?;
        at.count(&field("bytes"), one.bytes, 1, MAX_TRANSFER_BYTES)?;
        at.count(&field("at_ps"), one.at_ps, 0, MAX_TIME_PS)?;
        let (at, bytes) = (Time::from_ps(one.at_ps), one.bytes);
        flows.push(Flow { at, source, destination, bytes, ..Flow::default() });
    }
    let end = flows.iter().map(|flow| flow.at).max().unwrap_or(Time::ZERO);
    let senders = flows.iter().map(|flow| flow.source).collect();
    Ok((flows, end, senders))
}

impl DrawnSpec {
    /// Draws flows. Returns them, the end of the time in which they begin, and the hosts that may send, with or without
    /// a flow.
    fn draw(
        &self,
        at: &FieldPath<'_>,
        context: &Context<'_>,
    ) -> Result<(Vec<Flow>, Time, BTreeSet<u32>), WorkloadError> {
        let place = at.of("drawn");
        let at = &FieldPath(&place);
        let mean = self.sizes.check(at)?;
        at.number("load", self.load, 1e-9, 1.0)?;
        if let Gaps::Lognormal { sigma } = self.gaps {
            at.number("gaps.lognormal.sigma", sigma, 0.0, MAX_SIGMA)?;
        }
        at.count("duration_ps", self.duration_ps, 1, MAX_TIME_PS)?;
        let end = Time::from_ps(self.duration_ps);
        let (hosts, senders) = self.senders(at, context)?;
        let bps = |place: usize| context.hosts.list[hosts[place] as usize].rate.as_bps() as f64;
        let mut expected = 0.0;
        // Mean receive rate at a load of 1.
        let mut receives = vec![0.0; hosts.len()];
        for (from, to) in &senders {
            expected += self.load * bps(*from) / (8.0 * mean) * end.as_secs_f64();
            (0..to.count()).for_each(|number| receives[to.place(number)] += bps(*from) / to.count() as f64);
        }
        if expected > MAX_FLOWS as f64 {
            let reason =
                format!("is {expected:.0} flows, more than {MAX_FLOWS}; make it, or the load, smaller");
            return Err(at.wrong("duration_ps", self.duration_ps, reason));
        }
        for (place, host) in hosts.iter().enumerate() {
            let most = bps(place) / receives[place];
            if self.load > most * (1.0 + 1e-9) {
                let name = &context.hosts.list[*host as usize].name;
                // A limit that is rounded up would be refused as well.
                let most = (most * 1e4).floor() / 1e4;
                let reason = format!(
                    "is more than the link of {name} can bring; with this pattern it is at most {most:.4}"
                );
                return Err(at.wrong("load", self.load, reason));
            }
        }
        let mut flows = Vec::with_capacity(expected as usize);
        for (from, to) in &senders {
            let source = hosts[*from];
            let stream = |purpose| context.stream(purpose, &[u64::from(source)]);
            let (mut gaps, mut sizes, mut places) =
                (stream(Purpose::Gaps), stream(Purpose::Sizes), stream(Purpose::Places));
            let gap = seconds(8.0 * mean / (self.load * bps(*from)));
            let mut next = Time::ZERO.saturating_add(self.gaps.first(&mut gaps, gap));
            while next < end {
                if flows.len() == MAX_FLOWS {
                    let reason =
                        format!("has drawn more than {MAX_FLOWS} flows; make it, or the load, smaller");
                    return Err(at.wrong("duration_ps", self.duration_ps, reason));
                }
                let destination = hosts[to.place(places.below(to.count() as u64) as usize)];
                let bytes = self.sizes.draw(&mut sizes);
                flows.push(Flow { at: next, source, destination, bytes, ..Flow::default() });
                next = next.saturating_add(self.gaps.next(&mut gaps, gap));
            }
        }
        Ok((flows, end, senders.iter().map(|(from, _)| hosts[*from]).collect()))
    }

    /// Returns all hosts, rack by rack, and the indices of the senders, each with its possible receivers.
    fn senders(
        &self,
        at: &FieldPath<'_>,
        context: &Context<'_>,
    ) -> Result<(Vec<u32>, Senders), WorkloadError> {
        let (mut hosts, mut racks) = (Vec::new(), Vec::new());
        for rack in self::racks(&self.racks, 1, at, context)? {
            racks.push(hosts.len()..hosts.len() + rack.len());
            hosts.extend(rack);
        }
        at.count("to_rack", self.to_rack as u64, 0, racks.len() as u64 - 1)?;
        // One cycle through all hosts, in random order.
        let order = context.stream(Purpose::Pairs, &[]).choose(hosts.len(), hosts.len());
        let mut next = vec![0; hosts.len()];
        for (from, to) in order.iter().zip(order.iter().cycle().skip(1)) {
            next[*from as usize] = *to as usize;
        }
        let mut senders = Vec::with_capacity(hosts.len());
        for (rack, from) in racks.iter().flat_map(|rack| rack.clone().map(move |from| (rack, from))) {
            let (all, but) = match self.pattern {
                Pattern::AllToAll => (0..hosts.len(), from..from + 1),
                Pattern::BetweenRacks => (0..hosts.len(), rack.clone()),
                Pattern::ToOneRack if *rack == racks[self.to_rack] => continue,
                Pattern::ToOneRack => (racks[self.to_rack].clone(), 0..0),
                Pattern::Permutation => (next[from]..next[from] + 1, 0..0),
            };
            senders.push((from, Places { all, but }));
        }
        if hosts.len() < 2 || senders.is_empty() || senders.iter().any(|(_, to)| to.count() == 0) {
            let reason = "leaves a host nobody to send to, or nobody who sends; give more hosts or racks";
            return Err(at.wrong("racks", racks.len(), reason));
        }
        Ok((hosts, senders))
    }
}

/// Indices of sending hosts, each with its possible receivers.
type Senders = Vec<(usize, Places)>;

/// Indices of hosts: a range, excluding a range within it.
struct Places {
    all: Range<usize>,
    but: Range<usize>,
}

impl Places {
    fn count(&self) -> usize {
        self.all.len() - self.but.len()
    }

    /// Returns the index at position `number`, which is below `count`.
    fn place(&self, number: usize) -> usize {
        let place = self.all.start + number;
        place + if place < self.but.start { 0 } else { self.but.len() }
    }
}

impl Application for Flows {
    fn start(&mut self, out: &mut Out<'_>) {
        out.timer(self.flows[0].at, 0);
    }

    fn handle_timer(&mut self, _token: u64, out: &mut Out<'_>) {
        while let Some(flow) = self.flows.get(self.begun) {
            if flow.at > out.now {
                return out.timer(flow.at, 0);
            }
            out.transfer(self.begun as u64, None, [flow.source, flow.destination], [flow.bytes, 0]);
            self.begun += 1;
        }
    }

    fn note_ideal(&mut self, token: u64, ideal: Duration) {
        self.flows[token as usize].ideal = Some(ideal);
    }

    fn handle_transfer(&mut self, token: u64, outcome: Outcome, out: &mut Out<'_>) {
        let flow = &mut self.flows[token as usize];
        let time = out.now.saturating_since(flow.at);
        flow.completion = (outcome == Outcome::Finished).then_some(time);
        if !flow.is_measured {
            return;
        }
        self.unfinished -= 1;
        if outcome == Outcome::Failed {
            self.failed += 1;
        } else {
            self.completion.record(time);
            flow.ideal.into_iter().for_each(|ideal| self.slowdowns.record(flow.bytes, time, ideal));
        }
        if self.unfinished == 0 {
            out.finish();
        }
    }

    fn report(&self) -> Measures {
        let (by_size, slowdown) = self.slowdowns.report();
        let row = |names: &Vec<String>, flow: &Flow| FlowRow {
            source: names[flow.source as usize].clone(),
            destination: names[flow.destination as usize].clone(),
            bytes: flow.bytes,
            at_ps: flow.at.as_ps(),
            measured: flow.is_measured,
            completion_ps: flow.completion.map(Duration::as_ps),
            ideal_ps: flow.ideal.map(Duration::as_ps),
        };
        Measures::Flows {
            flows: self.flows.len() as u64,
            load: self.load,
            measured: self.measured,
            unfinished: self.unfinished,
            failed: self.failed,
            completion_ps: Distribution::of(&self.completion),
            slowdown,
            slowdown_by_size: by_size,
            rows: self.names.as_ref().map(|names| self.flows.iter().map(|flow| row(names, flow)).collect()),
        }
    }
}
