//! Flows of a list: each has its own connection and its own report.

use tcp::Settings;
use units::Time;

use crate::errors::FlowError;
use crate::events::EventQueue;
use crate::limits::{LATEST, MAX_FLOWS};
use crate::network::Network;
use crate::report::FlowReport;
use crate::transport::endpoints::{Opening, CLIENT, SERVER};
use crate::transport::Transport;

/// Bytes that one host sends to another over their own connection, which both close afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// Index of the host that opens the connection and sends.
    pub source: usize,
    /// Index of the host that receives.
    pub destination: usize,
    /// Bytes of payload; with 0 the connection is only opened and closed.
    pub bytes: u64,
    /// When the connection is opened.
    pub start: Time,
}

/// A flow, and the slot of its connection, which is not reused.
pub(super) struct Flow {
    spec: FlowSpec,
    slot: usize,
}

impl Transport {
    /// Adds a flow to the list and returns its index there.
    pub(crate) fn start_flow(
        &mut self,
        events: &mut EventQueue,
        network: &Network,
        settings: &Settings,
        spec: FlowSpec,
    ) -> Result<usize, FlowError> {
        let (hosts, now) = (&network.hosts, events.now());
        let refuse = |reason: String| Err(FlowError(reason));
        let unsendable = |error: tcp::SendError| FlowError(error.to_string());
        let count = hosts.len();
        for index in [spec.source, spec.destination] {
            if index >= count {
                return refuse(format!("no host number {index}: the fabric has {count}"));
            }
        }
        let (from, to) = (&hosts[spec.source], &hosts[spec.destination]);
        let names = [&from.spec.name, &to.spec.name];
        if spec.source == spec.destination {
            return refuse(format!("a flow from {} to itself: it would not cross the fabric", names[0]));
        }
        if spec.start < now || spec.start > LATEST {
            return refuse(format!(
                "a flow that starts at {}: the fabric is at {now}, and no run lasts longer than {LATEST}",
                spec.start
            ));
        }
        let Some(addresses) = from.addresses_with(to) else {
            return refuse(format!("{} and {} have no IP version in common", names[0], names[1]));
        };
        // Bytes that a connection cannot carry are refused before the flow takes a slot.
        tcp::Connection::connect(settings, 0).send(spec.bytes).map_err(unsendable)?;
        let opening = Opening {
            settings,
            hosts: [spec.source, spec.destination],
            addresses,
            dscp: 0,
            is_listed: true,
            persistent: None,
            at: Some(spec.start),
        };
        let Some(slot) = self.endpoints.open(&opening) else {
            return refuse(format!("a run has at most {MAX_FLOWS} flows"));
        };
        self.endpoints.request(spec.start, slot, None, [spec.bytes, 0]).map_err(unsendable)?;
        self.flows.push(Flow { spec, slot });
        self.schedule_timer(events);
        Ok(self.flows.len() - 1)
    }

    /// Returns the report of each flow, in the order in which they were added.
    pub(crate) fn flow_reports(&self, network: &Network) -> Vec<FlowReport> {
        (0..self.flows.len()).filter_map(|number| self.flow_report(network, number)).collect()
    }

    /// Returns the report of the flow with this index, if there is one.
    pub(crate) fn flow_report(&self, network: &Network, number: usize) -> Option<FlowReport> {
        let (hosts, endpoints) = (&network.hosts, &self.endpoints);
        self.flows.get(number).map(|Flow { spec, slot }| {
            let [client, server] = [CLIENT, SERVER].map(|side| endpoints.connection(*slot, side));
            let stats = client.stats();
            let time = endpoints.delivered_at(*slot).map(|at| at.saturating_since(spec.start));
            // Bytes times 8 times 10^12 ps.
            let bits = u128::from(spec.bytes) * 8_000_000_000_000;
            FlowReport {
                source: hosts[spec.source].spec.name.clone(),
                destination: hosts[spec.destination].spec.name.clone(),
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
                given_up: [client, server].iter().any(|end| end.end() == Some(tcp::End::TimedOut)),
            }
        })
    }
}
