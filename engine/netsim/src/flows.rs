//! Flows of a list: each a connection of its own, told one by one in the report.

use tcp::Settings;
use units::Time;

use crate::endpoints::{addresses, Endpoints, Opening, User, CLIENT, SERVER};
use crate::errors::FlowError;
use crate::host::Host;
use crate::ports::PLACES;
use crate::report::FlowReport;
use crate::tag;

/// Most flows of a run.
pub const MAX_FLOWS: usize = PLACES as usize;

/// Bytes that one host sends to another over a connection of their own, which both close afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// Number of the host that opens and sends.
    pub source: usize,
    /// Number of the host that receives.
    pub destination: usize,
    /// Bytes of payload; none is a connection that is opened and closed.
    pub bytes: u64,
    /// When the connection is opened.
    pub start: Time,
}

/// A flow and the place of its connection, which no other gets.
struct Flow {
    spec: FlowSpec,
    place: usize,
}

/// All flows, in the order given.
#[derive(Default)]
pub(crate) struct Flows(Vec<Flow>);

impl Flows {
    /// Adds a flow between the hosts and returns its number. `now` is the fabric's time.
    pub(crate) fn add(
        &mut self,
        endpoints: &mut Endpoints,
        now: Time,
        hosts: &[Host],
        settings: &Settings,
        spec: FlowSpec,
    ) -> Result<usize, FlowError> {
        let count = hosts.len();
        for index in [spec.source, spec.destination] {
            if index >= count {
                return Err(FlowError::NoSuchHost { index, count });
            }
        }
        if spec.source == spec.destination {
            return Err(FlowError::ToItself { host: hosts[spec.source].name.clone() });
        }
        if spec.start < now || spec.start > tag::LATEST {
            return Err(FlowError::Start { start: spec.start, now });
        }
        let (from, to) = (&hosts[spec.source], &hosts[spec.destination]);
        let addresses = addresses(from, to).ok_or_else(|| FlowError::NoCommonIpVersion {
            source_host: from.name.clone(),
            destination_host: to.name.clone(),
        })?;
        // What a connection cannot carry is refused before it takes a place.
        tcp::Connection::connect(settings, 0).send(spec.bytes).map_err(|error| FlowError::Bytes { error })?;
        let number = self.0.len();
        let place = endpoints
            .open(&Opening {
                settings,
                hosts: [spec.source, spec.destination],
                addresses,
                user: User::Flow(number),
                lasting: None,
                at: Some(spec.start),
            })
            .ok_or(FlowError::TooMany)?;
        endpoints.ask(spec.start, place, None, spec.bytes, 0).map_err(|error| FlowError::Bytes { error })?;
        self.0.push(Flow { spec, place });
        Ok(number)
    }

    /// What has become of each flow, in the order added.
    pub(crate) fn reports(&self, endpoints: &Endpoints, hosts: &[Host]) -> Vec<FlowReport> {
        let report = |Flow { spec, place }: &Flow| {
            let [client, server] = [CLIENT, SERVER].map(|side| &endpoints.ends[2 * place + side].connection);
            let stats = client.stats();
            let time = endpoints.talks[*place].delivered.map(|at| at.saturating_since(spec.start));
            // Bytes times 8 times 10^12 ps.
            let bits = u128::from(spec.bytes) * 8_000_000_000_000;
            FlowReport {
                source: hosts[spec.source].name.clone(),
                destination: hosts[spec.destination].name.clone(),
                bytes: spec.bytes,
                start_ps: spec.start.as_ps(),
                received_bytes: server.bytes_received(),
                completion_ps: time.map(|time| time.as_ps()),
                goodput_bps: time.map(|time| (bits / u128::from(time.as_ps().max(1))) as u64),
                data_segments: stats.data_segments,
                retransmitted_segments: stats.retransmitted_segments,
                fast_recoveries: stats.fast_recoveries,
                timeouts: stats.timeouts,
                mark_reductions: stats.mark_reductions,
                given_up: [client, server]
                    .into_iter()
                    .any(|end| end.end().is_some_and(|end| end == tcp::End::TimedOut)),
            }
        };
        self.0.iter().map(report).collect()
    }
}
