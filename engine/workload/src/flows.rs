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
    finished_at: Option<Time>,
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
            finished_at: None,
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
        let at = &FieldPath(&at.of("drawn"));
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
            self.finished_at = Some(out.now);
        }
    }

    fn finished_at(&self) -> Option<Time> {
        self.finished_at
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

#[cfg(test)]
mod tests {
    use serde_json::{json, Value};

    use super::*;
    use crate::spec::{hosts, parse_one};

    const SECOND: u64 = 1_000_000_000_000;

    fn parse(description: &Value) -> Result<Flows, WorkloadError> {
        let mut whole = json!({"kind": "flows", "name": "f"});
        whole.as_object_mut().unwrap().extend(description.as_object().unwrap().clone());
        parse_one(&whole.to_string(), &hosts(6), FlowsSpec::check)
    }

    fn drawn(fields: &Value) -> Value {
        let mut drawn = json!({
            "racks": [["h0", "h1"], ["h2", "h3", "h4", "h5"]], "pattern": "all_to_all", "load": 0.5,
            "sizes": {"exponential": {"mean_bytes": 10_000.0}}, "duration_ps": SECOND,
        });
        drawn.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({"drawn": drawn})
    }

    #[test]
    fn the_load_offered_is_the_load_asked_for_of_every_host() {
        for gaps in ["poisson", "fixed"] {
            let it = parse(&drawn(&json!({"gaps": gaps, "duration_ps": 10 * SECOND}))).unwrap();
            assert!((it.load / 0.5 - 1.0).abs() < 0.01, "{}", it.load);
            for host in 0..6 {
                let sent: u64 = it.flows.iter().filter(|one| one.source == host).map(|one| one.bytes).sum();
                assert!((sent as f64 * 8.0 / 10e9 / 0.5 - 1.0).abs() < 0.02, "h{host}: {sent}");
            }
            // Of each host's five other hosts, four or two are in the other rack.
            for (rack, share) in [(0..2, 2.0 * 0.8), (2..6, 4.0 * 0.4)] {
                let leaves = |one: &&Flow| rack.contains(&one.source) && !rack.contains(&one.destination);
                let sent: u64 = it.flows.iter().filter(leaves).map(|one| one.bytes).sum();
                assert!((sent as f64 * 8.0 / 10e9 / 0.5 / share - 1.0).abs() < 0.02, "{rack:?}: {sent}");
            }
        }
    }

    #[test]
    fn a_host_that_drew_no_flow_counts_in_the_load_offered() {
        let it = parse(&drawn(&json!({"load": 0.01, "duration_ps": SECOND / 500}))).unwrap();
        let senders: BTreeSet<u32> = it.flows.iter().map(|one| one.source).collect();
        assert!(senders.len() < 6, "{senders:?}");
        let bits: u64 = it.flows.iter().map(|one| 8 * one.bytes).sum();
        assert!((it.load * 6.0 * 1e9 / 500.0 / bits as f64 - 1.0).abs() < 1e-9, "{}", it.load);
    }

    #[test]
    fn counts_of_poisson_flows_in_equal_spans_vary_as_their_mean_and_fixed_ones_do_not() {
        let index = |gaps: &str| {
            let it = parse(&drawn(&json!({"gaps": gaps, "duration_ps": 10 * SECOND}))).unwrap();
            let mut counts = [0.0; 2000];
            for flow in it.flows.iter().filter(|flow| flow.source == 3) {
                counts[(flow.at.as_ps() / (SECOND / 200)) as usize] += 1.0;
            }
            let mean = counts.iter().sum::<f64>() / 2000.0;
            counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 1999.0 / mean
        };
        // The standard error of the index of dispersion is sqrt(2 / 1999).
        assert!((index("poisson") - 1.0).abs() < 3.0 * 0.0316);
        assert!(index("fixed") < 0.05);
    }

    #[test]
    fn lognormal_gaps_have_their_mean_and_spread_and_flows_come_in_bursts() {
        let gaps = json!({"lognormal": {"sigma": 1.0}});
        let it = parse(&drawn(&json!({"gaps": gaps, "duration_ps": 20 * SECOND}))).unwrap();
        let times: Vec<_> =
            it.flows.iter().filter(|flow| flow.source == 3).map(|flow| flow.at.as_ps()).collect();
        let gaps: Vec<_> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean_of = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let variance = |of: &[f64]| {
            let mean = mean_of(of);
            of.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / of.len() as f64
        };
        // 10 kB at half of a gigabit. The coefficient of variation is sqrt(e - 1).
        let (mean, error) = (0.16e9, 1.311 / (gaps.len() as f64).sqrt());
        assert!((mean_of(&gaps) / mean - 1.0).abs() < 3.0 * error, "{}", mean_of(&gaps));
        let logs: Vec<_> = gaps.iter().map(|gap| gap.ln()).collect();
        assert!((variance(&logs).sqrt() - 1.0).abs() < 0.02, "{}", variance(&logs));
        // In spans of many gaps, the variance of counts is e - 1 times their mean. The standard error of the index is sqrt(2 / 399) of it.
        let mut counts = vec![0.0; 400];
        times.iter().for_each(|at| counts[(at / (SECOND / 20)) as usize] += 1.0);
        let index = variance(&counts) / mean_of(&counts);
        assert!((index / 1.718 - 1.0).abs() < 3.0 * 0.0708, "{index}");
    }

    #[test]
    fn the_first_lognormal_gap_is_what_is_left_of_one_so_that_the_load_holds_from_the_start() {
        let mut stream = Stream::new(1, Purpose::Gaps, &[]);
        let mut draw =
            || Gaps::Lognormal { sigma: 1.0 }.first(&mut stream, Duration::from_us(1)).as_ps() as f64;
        let mean = (0..200_000).map(|_| draw()).sum::<f64>() / 200_000.0;
        // The mean residual life is half of the second moment over the mean, e / 2 of the mean; its standard deviation is 2.2.
        assert!((mean / 1e6 - 1.359).abs() < 3.0 * 0.0049, "{mean}");
    }

    #[test]
    fn a_pattern_says_who_sends_to_whom() {
        let pairs = |fields: Value| {
            let it = parse(&drawn(&fields)).unwrap();
            it.flows.iter().map(|flow| (flow.source, flow.destination)).collect::<BTreeSet<_>>()
        };
        assert_eq!(pairs(json!({})).len(), 6 * 5);
        let between = pairs(json!({"pattern": "between_racks", "load": 0.4}));
        assert_eq!(between.len(), 2 * 2 * 4);
        assert!(between.iter().all(|(from, to)| (*from < 2) != (*to < 2)));
        let one = pairs(json!({"pattern": "to_one_rack", "to_rack": 1}));
        assert_eq!(one.len(), 2 * 4);
        assert!(one.iter().all(|(from, to)| *from < 2 && *to >= 2));
        let permutation = pairs(json!({"pattern": "permutation"}));
        let ends = |which: fn(&(u32, u32)) -> u32| permutation.iter().map(which).collect::<BTreeSet<_>>();
        assert_eq!((permutation.len(), ends(|pair| pair.0).len(), ends(|pair| pair.1).len()), (6, 6, 6));
        assert!(permutation.iter().all(|(from, to)| from != to));
    }

    #[test]
    fn flows_of_warm_up_and_cool_down_run_and_are_not_measured() {
        let one = |at_ps: u64| json!({"source": "h0", "destination": "h1", "bytes": 5, "at_ps": at_ps});
        let list = json!([one(400), one(0), one(100), one(200), one(401)]);
        let it = parse(&json!({"list": list, "warm_up_ps": 100, "cool_down_ps": 1})).unwrap();
        let measured: Vec<_> = it.flows.iter().map(|flow| (flow.at.as_ps(), flow.is_measured)).collect();
        assert_eq!(measured, [(0, false), (100, true), (200, true), (400, true), (401, false)]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_place() {
        let sizes = |points: Value| drawn(&json!({"sizes": {"points": points}}));
        let flow = |source: &str, bytes: u64| json!({"source": source, "destination": "h1", "bytes": bytes, "at_ps": 0});
        for (description, place) in [
            (json!({}), "it.list: and drawn: give one"),
            (json!({"list": [flow("h1", 1)]}), "it.list[0].destination: h1: is at both ends"),
            (json!({"list": [flow("h9", 1)]}), "it.list[0].source: h9"),
            (json!({"list": [flow("h0", 0)]}), "it.list[0].bytes: 0"),
            (json!({"list": [flow("h0", 1)], "warm_up_ps": 1}), "it.warm_up_ps: 1: leaves no flow"),
            (sizes(json!([[5, 1]])), "sizes.points: 1: must be 2"),
            (sizes(json!([[5, 0], [4, 1]])), "sizes.points[1][0]: 4: is below"),
            (sizes(json!([[5, 0.5], [6, 0.4], [7, 1]])), "sizes.points[1][1]: 0.4: is below"),
            (sizes(json!([[5, 0], [6, 0.9]])), "sizes.points[1][1]: 0.9: is the last share"),
            (sizes(json!([[5, 0], [6, 100]])), "sizes.points[1][1]: 100: must be 0 to 1"),
            (drawn(&json!({"load": 1.1})), "it.drawn.load: 1.1: must be"),
            (drawn(&json!({"racks": [["h0", "h1"], ["h2", "h3", "h4"]], "pattern": "to_one_rack", "load": 0.6667})), "it.drawn.load: 0.6667: is more than the link of h0 can bring; with this pattern it is at most 0.6666"),
            (drawn(&json!({"pattern": "to_one_rack", "load": 0.6})), "it.drawn.load: 0.6: is more than the link of h0 can bring; with this pattern it is at most 0.5000"),
            (drawn(&json!({"pattern": "between_racks", "racks": [["h0", "h1"]]})), "it.drawn.racks: 1: leaves a host nobody"),
            (drawn(&json!({"pattern": "permutation", "racks": [["h0"]]})), "it.drawn.racks: 1: leaves"),
            (drawn(&json!({"gaps": {"lognormal": {"sigma": 5.0}}})), "it.drawn.gaps.lognormal.sigma: 5: must be"),
            (drawn(&json!({"to_rack": 2})), "it.drawn.to_rack: 2"),
            (drawn(&json!({"duration_ps": 10_000 * SECOND})), "is 375000000 flows, more than 1048576"),
        ] {
            let error = parse(&description).err().unwrap_or_else(|| panic!("{place}")).to_string();
            assert!(error.contains(place), "{error}");
        }
    }
}
