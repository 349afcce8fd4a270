//! Scatter and gather: a client queries a host of another rack; that host queries all others of its rack and answers
//! when all have answered. A query's time runs from the client's request to the arrival of the answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use units::{Duration, Histogram, Time};

use crate::application::{Application, Out};
use crate::error::WorkloadError;
use crate::fields::{Context, FieldPath, ReadByHead, MAX_TIME_PS, MAX_TRANSFER_BYTES};
use crate::random::{Purpose, Stream};
use crate::report::{Distribution, Measures};
use crate::transfer::Outcome;

/// Maximum number of clients of an application; a host may be listed several times.
pub const MAX_CLIENTS: usize = 1 << 16;

/// Maximum number of hosts in one rack.
pub const MAX_RACK_HOSTS: usize = 1 << 16;

/// Maximum number of unanswered queries of an application; further queries are not made and count as failed.
const MAX_OPEN_QUERIES: usize = 1 << 16;

/// More frequent queries of a client would dominate a run.
const MIN_INTERVAL_PS: u64 = 1_000_000;

/// Scatter and gather over racks, at exponential gaps, regardless of earlier queries.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::application("scatter_gather")))]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // `Head` reads the fields that all kinds share.
pub(crate) struct ScatterGatherSpec {
    kind: ReadByHead,
    name: ReadByHead,
    background: Option<ReadByHead>,
    tcp: Option<ReadByHead>,
    dscp: Option<ReadByHead>,
    start_jitter_ps: Option<ReadByHead>,
    /// The querying hosts.
    clients: Vec<String>,
    /// Hosts by rack. For each query, a rack without the client and a host in it are drawn; that host gathers from all others of the rack.
    racks: Vec<Vec<String>>,
    /// Payload of each request. Default 280.
    #[serde(default = "crate::fields::default_request_bytes")]
    request_bytes: u64,
    /// Payload of each server's response.
    response_bytes: u64,
    /// Payload of the answer to the client.
    answer_bytes: u64,
    /// Mean time between two queries of a client.
    mean_interval_ps: u64,
    /// Number of queries of each client; optional for background applications only.
    queries: Option<u64>,
}

struct Client {
    host: u32,
    /// Racks that it may query.
    racks: Vec<u32>,
    gaps: Stream,
    places: Stream,
    /// Number of remaining queries; `None` means no limit.
    left: Option<u64>,
}

/// An unanswered query.
struct Query {
    client: u32,
    asked: Time,
    /// The place of gathering: a rack, and the index of a host in it.
    rack: u32,
    gatherer: u32,
    /// Number of servers that have not answered.
    unanswered: usize,
    is_spoilt: bool,
}

/// The part of a query that a transfer carries.
#[derive(Clone, Copy)]
enum Part {
    Question,
    Answer,
    /// The exchange with a host, by its index in the rack.
    Server(u32),
}

/// All clients of one application.
pub(crate) struct ScatterGather {
    clients: Vec<Client>,
    racks: Vec<Vec<u32>>,
    spec: ScatterGatherSpec,
    /// Number of clients that will query again.
    asking: usize,
    /// By number, which is also that of the group of the servers' responses: they complete together.
    queries: BTreeMap<u32, Query>,
    made: u32,
    failed: u64,
    times: Histogram,
}

impl ScatterGatherSpec {
    pub(crate) fn check(
        self,
        at: &FieldPath<'_>,
        context: &Context<'_>,
    ) -> Result<ScatterGather, WorkloadError> {
        at.count("request_bytes", self.request_bytes, 1, MAX_TRANSFER_BYTES)?;
        at.count("response_bytes", self.response_bytes, 1, MAX_TRANSFER_BYTES)?;
        at.count("answer_bytes", self.answer_bytes, 1, MAX_TRANSFER_BYTES)?;
        at.count("mean_interval_ps", self.mean_interval_ps, MIN_INTERVAL_PS, MAX_TIME_PS)?;
        match self.queries {
            Some(queries) => at.count("queries", queries, 1, u64::MAX)?,
            None if context.background => {}
            None => {
                let reason = "a run would never end; give a number, or `background: true`";
                return Err(at.wrong("queries", "null", reason));
            }
        }
        let racks = racks(&self.racks, 2, at, context)?;
        at.count("clients", self.clients.len() as u64, 1, MAX_CLIENTS as u64)?;
        let mut clients = Vec::with_capacity(self.clients.len());
        for (index, name) in self.clients.iter().enumerate() {
            let place = format!("clients[{index}]");
            let host = context.hosts.find(name, || at.of(&place))?;
            let others = (0..racks.len() as u32).filter(|rack| !racks[*rack as usize].contains(&host));
            let others: Vec<u32> = others.collect();
            if others.is_empty() {
                return Err(at.wrong(
                    &place,
                    name,
                    "is in the only rack; a client asks hosts of another one",
                ));
            }
            clients.push(Client {
                host,
                racks: others,
                gaps: context.stream(Purpose::Gaps, &[index as u64]),
                places: context.stream(Purpose::Places, &[index as u64]),
                left: self.queries,
            });
        }
        Ok(ScatterGather {
            asking: clients.len(),
            clients,
            racks,
            spec: self,
            queries: BTreeMap::new(),
            made: 0,
            failed: 0,
            times: Histogram::default(),
        })
    }
}

/// Returns the racks, which must have at least `least` hosts each and no host in common.
pub(crate) fn racks(
    named: &[Vec<String>],
    least: u64,
    at: &FieldPath<'_>,
    context: &Context<'_>,
) -> Result<Vec<Vec<u32>>, WorkloadError> {
    at.count("racks", named.len() as u64, 1, context.hosts.list.len() as u64)?;
    let mut seen = BTreeSet::new();
    let mut racks = Vec::with_capacity(named.len());
    for (number, names) in named.iter().enumerate() {
        at.count(&format!("racks[{number}]"), names.len() as u64, least, MAX_RACK_HOSTS as u64)?;
        let mut rack = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let place = format!("racks[{number}][{index}]");
            let host = context.hosts.find(name, || at.of(&place))?;
            if !seen.insert(host) {
                return Err(at.wrong(&place, name, "is there twice; a host is in one rack"));
            }
            rack.push(host);
        }
        racks.push(rack);
    }
    Ok(racks)
}

fn token(query: u32, part: Part) -> u64 {
    let part = match part {
        Part::Question => 0,
        Part::Answer => 1,
        Part::Server(place) => u64::from(place) + 2,
    };
    u64::from(query) << 32 | part
}

fn part(token: u64) -> (u32, Part) {
    let part = match token as u32 {
        0 => Part::Question,
        1 => Part::Answer,
        place => Part::Server(place - 2),
    };
    ((token >> 32) as u32, part)
}

impl ScatterGather {
    /// Schedules the client's next query, one gap from now, if there is one.
    fn schedule(&mut self, number: usize, out: &mut Out<'_>) {
        let client = &mut self.clients[number];
        if client.left == Some(0) {
            self.asking -= 1;
            return;
        }
        client.left = client.left.map(|left| left - 1);
        let gap = client.gaps.exponential(Duration::from_ps(self.spec.mean_interval_ps));
        out.after(gap, number as u64);
    }

    fn ask(&mut self, number: u32, out: &mut Out<'_>) {
        let client = &mut self.clients[number as usize];
        let rack = client.racks[client.places.below(client.racks.len() as u64) as usize];
        let hosts = &self.racks[rack as usize];
        let gatherer = client.places.below(hosts.len() as u64) as u32;
        if self.queries.len() >= MAX_OPEN_QUERIES {
            self.failed += 1;
            return;
        }
        let query = Query {
            client: number,
            asked: out.now,
            rack,
            gatherer,
            unanswered: hosts.len() - 1,
            is_spoilt: false,
        };
        let ends = [client.host, hosts[gatherer as usize]];
        self.queries.insert(self.made, query);
        out.transfer(token(self.made, Part::Question), None, ends, [self.spec.request_bytes, 0]);
        self.made = self.made.wrapping_add(1);
    }

    fn scatter(&self, number: u32, query: &Query, out: &mut Out<'_>) {
        let hosts = &self.racks[query.rack as usize];
        let gatherer = hosts[query.gatherer as usize];
        for (place, server) in hosts.iter().enumerate() {
            if *server != gatherer {
                let token = token(number, Part::Server(place as u32));
                let bytes = [self.spec.request_bytes, self.spec.response_bytes];
                out.transfer(token, Some(number.into()), [gatherer, *server], bytes);
            }
        }
    }

    /// Ends a query. `asked` is the time of its request, or `None` if it has failed.
    fn end(&mut self, asked: Option<Time>, out: &mut Out<'_>) {
        match asked {
            Some(asked) => self.times.record(out.now.saturating_since(asked)),
            None => self.failed += 1,
        }
        self.check_finished(out);
    }

    fn check_finished(&self, out: &mut Out<'_>) {
        if self.asking == 0 && self.queries.is_empty() {
            out.finish();
        }
    }
}

impl Application for ScatterGather {
    fn start(&mut self, out: &mut Out<'_>) {
        for number in 0..self.clients.len() {
            self.schedule(number, out);
        }
    }

    fn handle_timer(&mut self, token: u64, out: &mut Out<'_>) {
        self.ask(token as u32, out);
        self.schedule(token as usize, out);
        self.check_finished(out);
    }

    fn handle_transfer(&mut self, token_: u64, outcome: Outcome, out: &mut Out<'_>) {
        let (number, part) = part(token_);
        let mut query = self.queries.remove(&number).expect("transfers are of queries under way");
        let is_done = outcome == Outcome::Finished;
        match part {
            Part::Question if is_done => self.scatter(number, &query, out),
            Part::Answer if is_done => return self.end(Some(query.asked), out),
            Part::Question | Part::Answer => return self.end(None, out),
            Part::Server(_) => {
                query.is_spoilt |= !is_done;
                query.unanswered -= 1;
                if query.unanswered == 0 {
                    out.group_ends(number.into());
                    if query.is_spoilt {
                        return self.end(None, out);
                    }
                    let gatherer = self.racks[query.rack as usize][query.gatherer as usize];
                    let ends = [gatherer, self.clients[query.client as usize].host];
                    out.transfer(token(number, Part::Answer), None, ends, [self.spec.answer_bytes, 0]);
                }
            }
        }
        self.queries.insert(number, query);
    }

    fn report(&self) -> Measures {
        Measures::ScatterGather { query_ps: Distribution::of(&self.times), failed: self.failed }
    }
}
