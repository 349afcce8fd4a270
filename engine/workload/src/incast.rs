//! Incast: a client sends a request to many servers at once, and starts the next round when all have answered.

use serde::Deserialize;
use units::{Duration, Histogram, Time};

use crate::application::{Application, Out};
use crate::error::WorkloadError;
use crate::fields::{Context, FieldPath, ReadByHead, MAX_TIME_PS, MAX_TRANSFER_BYTES};
use crate::report::{Distribution, Measures};
use crate::transfer::{ConnectionKind, Outcome};

/// Maximum number of servers of an application; a host may be listed several times.
pub const MAX_SERVERS: usize = 1 << 16;

/// Incast: a client sends a request to many servers at once, and starts the next round when all have answered.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::application("incast")))]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // `Head` reads the fields that all kinds share.
pub(crate) struct IncastSpec {
    kind: ReadByHead,
    name: ReadByHead,
    background: Option<ReadByHead>,
    tcp: Option<ReadByHead>,
    dscp: Option<ReadByHead>,
    start_jitter_ps: Option<ReadByHead>,
    /// The requesting host.
    client: String,
    /// The answering hosts; a host may be listed several times.
    servers: Vec<String>,
    /// Payload of one response.
    bytes_per_server: u64,
    /// Number of rounds.
    rounds: u64,
    /// Time from the last response of a round to the next round. Default 0.
    #[serde(default)]
    think_ps: u64,
    /// Start of the first round. Default 0.
    #[serde(default)]
    start_ps: u64,
    /// Payload of one request. Default 280.
    #[serde(default = "crate::fields::default_request_bytes")]
    request_bytes: u64,
    /// Use of connections. Default `new`.
    #[serde(default = "default_connection")]
    connection: ConnectionKind,
}

fn default_connection() -> ConnectionKind {
    ConnectionKind::New
}

/// One client and its servers.
pub(crate) struct Incast {
    client: u32,
    servers: Vec<u32>,
    spec: IncastSpec,
    rounds_left: u64,
    began: Time,
    unanswered: usize,
    /// Whether a response of this round has failed.
    is_spoilt: bool,
    failed: u64,
    rounds: Histogram,
}

impl IncastSpec {
    pub(crate) fn check(self, at: &FieldPath<'_>, context: &Context<'_>) -> Result<Incast, WorkloadError> {
        at.count("bytes_per_server", self.bytes_per_server, 1, MAX_TRANSFER_BYTES)?;
        at.count("request_bytes", self.request_bytes, 1, MAX_TRANSFER_BYTES)?;
        at.count("rounds", self.rounds, 1, u64::MAX)?;
        at.count("think_ps", self.think_ps, 0, MAX_TIME_PS)?;
        at.count("start_ps", self.start_ps, 0, MAX_TIME_PS)?;
        at.count("servers", self.servers.len() as u64, 1, MAX_SERVERS as u64)?;
        let client = context.hosts.find(&self.client, || at.of("client"))?;
        let mut servers = Vec::with_capacity(self.servers.len());
        for (index, name) in self.servers.iter().enumerate() {
            let [_, server] =
                context.hosts.pair(&self.client, name, |_| at.of(&format!("servers[{index}]")))?;
            servers.push(server);
        }
        Ok(Incast {
            client,
            servers,
            rounds_left: self.rounds,
            spec: self,
            began: Time::ZERO,
            unanswered: 0,
            is_spoilt: false,
            failed: 0,
            rounds: Histogram::default(),
        })
    }
}

impl Application for Incast {
    fn start(&mut self, out: &mut Out<'_>) {
        if self.spec.connection == ConnectionKind::Persistent {
            for (number, server) in self.servers.iter().enumerate() {
                out.open(number as u32, self.client, *server);
            }
        }
        out.timer(Time::from_ps(self.spec.start_ps), 0);
    }

    fn handle_timer(&mut self, _token: u64, out: &mut Out<'_>) {
        (self.began, self.unanswered, self.is_spoilt) = (out.now, self.servers.len(), false);
        self.rounds_left -= 1;
        for (number, server) in self.servers.iter().enumerate() {
            let connection = self.spec.connection.number(number as u32);
            let (hosts, bytes) =
                ([self.client, *server], [self.spec.request_bytes, self.spec.bytes_per_server]);
            out.exchange(number as u64, Some(self.rounds_left), hosts, bytes, connection);
        }
    }

    fn handle_transfer(&mut self, _token: u64, outcome: Outcome, out: &mut Out<'_>) {
        if outcome == Outcome::Failed {
            (self.is_spoilt, self.failed) = (true, self.failed + 1);
        }
        self.unanswered -= 1;
        if self.unanswered > 0 {
            return;
        }
        out.group_ends(self.rounds_left);
        if !self.is_spoilt {
            self.rounds.record(out.now.saturating_since(self.began));
        }
        if self.rounds_left == 0 {
            out.finish();
        } else {
            out.after(Duration::from_ps(self.spec.think_ps), 0);
        }
    }

    fn report(&self) -> Measures {
        Measures::Incast { rounds_ps: Distribution::of(&self.rounds), failed: self.failed }
    }
}
