//! TCP between the hosts: connections whose segments leave through the hosts' NICs, and the flows of a list.
//!
//! Flows ([`flows`]) and applications (`crate::workload`) open connections; [`endpoints`] has both ends of each.

mod endpoints;
mod flows;
mod ports;

use std::collections::VecDeque;

use serde::Deserialize;
use tcp::{Config, Settings};
use units::{Bytes, Duration, Time};
use wire::FiveTuple;
use workload::WorkloadError;

use crate::events::{Event, EventQueue};
use crate::network::frame::HostFrame;
use crate::network::{Arrival, Network};
use crate::spec::HostDelaySpec;

pub(crate) use endpoints::{Asked, Counts, Endpoints, Opening, Side, TransferEnd};
use endpoints::{Outgoing, CLIENT};
use flows::Flow;
pub use flows::FlowSpec;

/// The possible values of `algorithm` in the JSON of a [`Config`].
pub use tcp::NAMES as TCP_NAMES;

/// Parses settings of TCP: the JSON of a [`Config`], as in a workload; `None` gives those of NewReno.
pub fn tcp_settings(json: Option<&str>) -> Result<Settings, WorkloadError> {
    settings_at(" tcp", json)
}

/// Parses and checks settings of TCP; `place` is their place, with a leading space.
pub(crate) fn settings_at(place: &str, json: Option<&str>) -> Result<Settings, WorkloadError> {
    /// The algorithm's name, and what it determines unless it is given.
    #[derive(Deserialize)]
    struct Named {
        algorithm: Option<String>,
        ecn: Option<bool>,
    }
    let refuse = |reason: String| WorkloadError::Json { place: place.to_owned(), reason };
    let wrong = |error: tcp::ConfigError| refuse(error.to_string());
    let unreadable = |error: serde_json::Error| refuse(error.to_string());
    let json = json.unwrap_or("{}");
    let Named { algorithm, ecn } = serde_json::from_str(json).map_err(unreadable)?;
    let named: Config = algorithm.as_deref().unwrap_or("newreno").parse().map_err(wrong)?;
    let given: Config = serde_json::from_str(json).map_err(unreadable)?;
    Config { ecn: ecn.unwrap_or(named.ecn), ..given }.check().map_err(wrong)
}

/// The TCP connections of all hosts, and the flows of the list.
#[derive(Default)]
pub(crate) struct Transport {
    /// The connections. What they have to send leaves with [`Transport::send`] or [`Transport::request`].
    pub(crate) endpoints: Endpoints,
    flows: Vec<Flow>,
    /// The congestion window of each end when last checked, while hops are recorded.
    windows: Vec<Option<(FiveTuple, Bytes)>>,
    /// Delays of a segment in hosts ([`HostDelaySpec`]): out and in.
    delays: [Duration; 2],
    /// Delayed segments, with the end of their delay, in their order, because all have the same delay.
    going_out: VecDeque<(Time, Vec<u8>, Outgoing)>,
    coming_in: VecDeque<(Time, Arrival)>,
}

impl Transport {
    pub(crate) fn new(delay: HostDelaySpec) -> Self {
        Self { delays: [delay.tx_ps, delay.rx_ps].map(Duration::from_ps), ..Self::default() }
    }

    /// Handles [`Event::TransportTimer`]. The caller schedules the next one with [`Transport::schedule_timer`].
    pub(crate) fn handle_timer(&mut self, events: &mut EventQueue, network: &mut Network) {
        while self.coming_in.front().is_some_and(|(due, _)| *due <= events.now()) {
            let Some((_, arrival)) = self.coming_in.pop_front() else { break };
            self.take_in(events, network, arrival);
        }
        while let Some(end) = self.endpoints.pop_due(events.now()) {
            if network.records_hops() {
                self.look_at_window(events.now(), network, end);
            }
            self.transmit(events, network, end);
        }
        while self.going_out.front().is_some_and(|(due, ..)| *due <= events.now()) {
            let Some((_, captured, outgoing)) = self.going_out.pop_front() else { break };
            Self::offer(events, network, captured, &outgoing);
        }
    }

    /// Schedules the next timer.
    pub(crate) fn schedule_timer(&mut self, events: &mut EventQueue) {
        let coming_in = self.coming_in.front().map(|(due, _)| *due);
        let going_out = self.going_out.front().map(|(due, ..)| *due);
        let due = [self.endpoints.next_timeout(), coming_in, going_out].into_iter().flatten().min();
        events.set(Event::TransportTimer, due);
    }

    /// Handles a frame that has arrived at its destination host. Returns whether it belonged to a connection, or may;
    /// then the next timer must be scheduled.
    pub(crate) fn receive(
        &mut self,
        events: &mut EventQueue,
        network: &mut Network,
        arrival: Arrival,
    ) -> bool {
        let [_, delay] = self.delays;
        if self.endpoints.is_empty() {
            network.recycle(arrival);
            return false;
        }
        if !delay.is_zero() {
            self.coming_in.push_back((events.now() + delay, arrival));
            return true;
        }
        self.take_in(events, network, arrival)
    }

    /// Passes an arrival to its connection. Returns whether there is one.
    #[inline]
    fn take_in(&mut self, events: &mut EventQueue, network: &mut Network, arrival: Arrival) -> bool {
        let end = self.endpoints.receive(events.now(), arrival.host, &arrival.frame);
        if let Some(end) = end {
            if network.records_hops() {
                self.look_at_window(events.now(), network, end);
            }
            self.transmit(events, network, end);
        }
        network.recycle(arrival);
        end.is_some()
    }

    /// Offers a segment to its host's NIC.
    #[inline]
    fn offer(events: &mut EventQueue, network: &mut Network, captured: Vec<u8>, outgoing: &Outgoing) {
        let Outgoing { host, len, owner, limiter, .. } = *outgoing;
        let frame = HostFrame::new(events.now(), captured, len);
        network.offer(events, host, HostFrame { owner, limiter, ..frame });
    }

    /// Records a decrease of an end's congestion window since the last check.
    #[cold]
    fn look_at_window(&mut self, now: Time, network: &mut Network, end: usize) {
        let (host, flow, window) = self.endpoints.window(end);
        if self.windows.len() <= end {
            self.windows.resize(end + 1, None);
        }
        // This place may have belonged to another flow before.
        if let Some((_, before)) =
            self.windows[end].filter(|(known, before)| *known == flow && window < *before)
        {
            network.slowed(now, host, &flow, [before, window]);
        }
        self.windows[end] = Some((flow, window));
    }

    /// Offers all segments that one end of a connection sends now to its host's NIC, after the host's delay.
    fn transmit(&mut self, events: &mut EventQueue, network: &mut Network, end: usize) {
        let mut captured = network.buffers.take();
        while let Some(outgoing) = self.endpoints.poll_transmit(events.now(), end, &mut captured) {
            let [delay, _] = self.delays;
            if delay.is_zero() {
                Self::offer(events, network, captured, &outgoing);
            } else {
                self.going_out.push_back((events.now() + delay, captured, outgoing));
            }
            captured = network.buffers.take();
        }
        network.buffers.give_back(captured);
    }

    /// Continues connections whose limit of data in NICs held segments back until frames left. The caller sets the next timer.
    pub(crate) fn frames_left(&mut self, events: &mut EventQueue, network: &mut Network) {
        while let Some(left) = network.left.pop() {
            if let Some(end) = self.endpoints.left_nic(left) {
                self.transmit(events, network, end);
            }
        }
    }

    /// Sends what the opening side of a connection has to send.
    pub(crate) fn send(&mut self, events: &mut EventQueue, network: &mut Network, slot: usize) {
        self.transmit(events, network, 2 * slot + CLIENT);
    }

    /// Sends a request, which asks for a response, from the opening side of a connection.
    pub(crate) fn request(
        &mut self,
        events: &mut EventQueue,
        network: &mut Network,
        slot: usize,
        asked: Asked,
        bytes: [u64; 2],
    ) -> Result<(), tcp::SendError> {
        self.endpoints.request(events.now(), slot, Some(asked), bytes)?;
        self.send(events, network, slot);
        Ok(())
    }

    /// Returns the delays of a segment in hosts, out and in together.
    pub(crate) fn host_delay(&self) -> Duration {
        self.delays[0] + self.delays[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_tcp_are_those_that_are_given_over_those_of_the_algorithm() {
        let named = |name: &str| name.parse::<Config>().unwrap();
        for (json, expected) in [
            ("{}", named("newreno")),
            (r#"{"algorithm": null}"#, named("newreno")),
            (r#"{"algorithm": "ecn", "ecn": null}"#, named("ecn")),
            (r#"{"algorithm": "dctcp", "l4s": true}"#, Config { l4s: true, ..named("dctcp") }),
            (r#"{"algorithm": "cubic", "ecn": true}"#, Config { ecn: true, ..named("cubic") }),
            (r#"{"algorithm": "ecn", "ecn": false}"#, named("newreno")),
            (r#"{"slow_start_limit": null}"#, Config { slow_start_limit: None, ..Config::default() }),
            (r#"{"tsq_ps": 6}"#, Config { tsq: Some(Duration::from_ps(6)), ..Config::default() }),
        ] {
            assert_eq!(*tcp_settings(Some(json)).unwrap(), expected, "{json}");
        }
        for (json, reason) in [
            (r#"{"algorithm": "dctcp", "ecn": false}"#, "ecn is false"),
            (r#"{"retries": 3}"#, "unknown field `retries`"),
        ] {
            let error = tcp_settings(Some(json)).unwrap_err().to_string();
            assert!(error.contains(reason), "{json}: {error}");
        }
    }
}
