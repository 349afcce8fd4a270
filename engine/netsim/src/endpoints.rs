//! Hosts that answer: TCP connections of crate `tcp`, one for each flow, between hosts' NICs and what arrives.
//!
//! A flow's ports say which it is, so that a segment finds its connection without a search: the side that opens has ports from 1024 on, the
//! other below. Their numbers mean nothing else.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

use tcp::{Connection, Segment, Settings, State};
use units::Time;
use wire::build::{tcp_headers, Addresses};
use wire::{Ecn, Network};

use crate::errors::FlowError;
use crate::host::Host;
use crate::report::FlowReport;
use crate::tag;

/// Ports of the side that opens.
const FIRST_CLIENT_PORT: u16 = 1024;
const CLIENT_PORTS: usize = 64_000;
/// Most flows of a run: as many as there are pairs of ports.
pub const MAX_FLOWS: usize = CLIENT_PORTS * (FIRST_CLIENT_PORT as usize - 1);

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

/// One end of a flow.
struct End {
    connection: Connection,
    /// Time of its entry in the alarms that counts; others are left over.
    alarm: Time,
    host: u32,
    /// Of frames that leave; the codepoint is each segment's.
    addresses: Addresses,
    source_port: u16,
    destination_port: u16,
}

struct Flow {
    spec: FlowSpec,
    started: bool,
    /// When the last byte and the FIN have arrived.
    delivered: Option<Time>,
}

/// All connections of a fabric. The ends of flow `f` are `2 f`, which opens and sends, and `2 f + 1`.
#[derive(Default)]
pub(crate) struct Endpoints {
    flows: Vec<Flow>,
    ends: Vec<End>,
    /// Times at which ends are to be looked at. The first is always right; behind it may be entries that are too early or left over.
    alarms: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Endpoints {
    pub(crate) fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Adds a flow between the hosts and returns its number. `now` is the fabric's time.
    pub(crate) fn add(
        &mut self,
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
        let number = self.flows.len();
        if number >= MAX_FLOWS {
            return Err(FlowError::TooMany);
        }
        let (from, to) = (&hosts[spec.source], &hosts[spec.destination]);
        let addresses = addresses(from, to).ok_or_else(|| FlowError::NoCommonIpVersion {
            source_host: from.name.clone(),
            destination_host: to.name.clone(),
        })?;
        let answers = Addresses {
            source_mac: addresses.destination_mac,
            destination_mac: addresses.source_mac,
            source: addresses.destination,
            destination: addresses.source,
            ..addresses
        };
        // Initial sequence numbers need only differ from connection to connection (RFC 9293, 3.4.1); these do, and a run can be repeated.
        let isn = (number as u32).wrapping_mul(0x9E37_79B9);
        let mut client = Connection::connect(settings, isn);
        client.send(spec.bytes).map_err(|error| FlowError::Bytes { error })?;
        client.close();
        let server = Connection::listen(settings, !isn);
        let client_port = FIRST_CLIENT_PORT + (number % CLIENT_PORTS) as u16;
        let server_port = 1 + (number / CLIENT_PORTS) as u16;
        let end = |connection, host, addresses, source_port, destination_port| End {
            connection,
            alarm: Time::MAX,
            host: host as u32,
            addresses,
            source_port,
            destination_port,
        };
        self.ends.push(end(client, spec.source, addresses, client_port, server_port));
        self.ends.push(end(server, spec.destination, answers, server_port, client_port));
        self.flows.push(Flow { spec, started: false, delivered: None });
        self.set_alarm(2 * number);
        Ok(number)
    }

    /// When an end is to be looked at next.
    fn due(&self, end: usize) -> Option<Time> {
        let flow = &self.flows[end / 2];
        if !flow.started {
            return (end % 2 == 0).then_some(flow.spec.start);
        }
        self.ends[end].connection.next_timeout()
    }

    fn set_alarm(&mut self, end: usize) {
        if let Some(due) = self.due(end) {
            if due < self.ends[end].alarm {
                self.ends[end].alarm = due;
                self.alarms.push(Reverse((due, end as u32)));
            }
        }
    }

    /// When something is to be done, exactly.
    pub(crate) fn next_alarm(&mut self) -> Option<Time> {
        loop {
            let Reverse((time, end)) = *self.alarms.peek()?;
            let index = end as usize;
            if self.ends[index].alarm == time {
                if self.due(index) == Some(time) {
                    return Some(time);
                }
                self.ends[index].alarm = Time::MAX;
            }
            self.alarms.pop();
            self.set_alarm(index);
        }
    }

    /// The end whose alarm is due, if one is. Its timers have fired.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<usize> {
        self.next_alarm().filter(|due| *due <= now)?;
        let Reverse((_, end)) = self.alarms.pop()?;
        let end = end as usize;
        self.ends[end].alarm = Time::MAX;
        let flow = &mut self.flows[end / 2];
        if flow.started {
            self.ends[end].connection.handle_timeout(now);
        }
        flow.started = true;
        Some(end)
    }

    /// A frame has arrived at a host that it was for. The end that it belongs to, if there is one, has handled it.
    pub(crate) fn receive(&mut self, now: Time, host: usize, frame: &[u8]) -> Option<usize> {
        let network = Network::of(frame).ok()?;
        let (source, payload, len): (IpAddr, _, _) = match &network {
            Network::Ipv4(packet) if packet.protocol() == wire::tcp::PROTOCOL && !packet.is_fragment() => {
                (packet.source().into(), packet.payload(), packet.payload_len()?)
            }
            Network::Ipv6(packet) if packet.next_header() == wire::tcp::PROTOCOL => {
                (packet.source().into(), packet.payload(), packet.payload_len())
            }
            _ => return None,
        };
        let header = wire::tcp::Segment::new_checked(payload).ok()?;
        let end = self.end_of(header.destination_port(), header.source_port())?;
        let this = self.ends.get_mut(end)?;
        if this.host as usize != host || this.addresses.destination != source {
            return None;
        }
        let payload_len = u32::try_from(len.checked_sub(header.header_len())?).ok()?;
        let segment = Segment::of_wire(&header, network.ecn().unwrap_or(Ecn::NotEct), payload_len);
        this.connection.handle_segment(now, &segment);
        if end % 2 == 1 && this.connection.peer_has_closed() {
            this.connection.close();
            self.flows[end / 2].delivered.get_or_insert(now);
        }
        Some(end)
    }

    /// The end with this port of its own and that of its peer.
    fn end_of(&self, own: u16, peer: u16) -> Option<usize> {
        let is_server = own < FIRST_CLIENT_PORT;
        let (client, server) = if is_server { (peer, own) } else { (own, peer) };
        let client = usize::from(client.checked_sub(FIRST_CLIENT_PORT)?);
        let server = usize::from(server.checked_sub(1)?);
        (client < CLIENT_PORTS && server < usize::from(FIRST_CLIENT_PORT))
            .then(|| 2 * (server * CLIENT_PORTS + client) + usize::from(is_server))
    }

    /// The next frame of an end, written into `frame`: its host and its length with payload.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Time,
        end: usize,
        frame: &mut Vec<u8>,
    ) -> Option<(usize, usize)> {
        let this = &mut self.ends[end];
        let Some(segment) = this.connection.poll_transmit(now) else {
            self.settle(end);
            return None;
        };
        let addresses = Addresses { ecn: segment.ecn, ..this.addresses };
        let fields = segment.fields(this.source_port, this.destination_port);
        let len = tcp_headers(frame, &addresses, &fields, segment.payload_len as usize);
        Some((this.host as usize, len))
    }

    /// An end has nothing more to send now.
    fn settle(&mut self, end: usize) {
        // No port is used twice, so nobody has to linger once the other side is gone.
        let [client, server] = [end & !1, end | 1];
        if self.ends[client].connection.state() == State::TimeWait
            && self.ends[server].connection.state() == State::Closed
        {
            self.ends[client].connection.abort();
        }
        self.set_alarm(end);
    }

    /// What has become of each flow, in the order added.
    pub(crate) fn reports(&self, hosts: &[Host]) -> Vec<FlowReport> {
        let report = |(number, flow): (usize, &Flow)| {
            let [client, server] = [0, 1].map(|side| &self.ends[2 * number + side].connection);
            let stats = client.stats();
            let time = flow.delivered.map(|at| at.saturating_since(flow.spec.start));
            // Bytes times 8 times 10^12 ps.
            let bits = u128::from(flow.spec.bytes) * 8_000_000_000_000;
            FlowReport {
                source: hosts[flow.spec.source].name.clone(),
                destination: hosts[flow.spec.destination].name.clone(),
                bytes: flow.spec.bytes,
                start_ps: flow.spec.start.as_ps(),
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
        self.flows.iter().enumerate().map(report).collect()
    }
}

/// From one host to another, over IPv4 where both have it. Switches route by IP address, so the frame is addressed to the last hop.
fn addresses(from: &Host, to: &Host) -> Option<Addresses> {
    let v4 = from.ipv4().zip(to.ipv4()).map(|(from, to)| (IpAddr::V4(from), IpAddr::V4(to)));
    let v6 = from.ipv6().zip(to.ipv6()).map(|(from, to)| (IpAddr::V6(from), IpAddr::V6(to)));
    let (source, destination) = v4.or(v6)?;
    Some(Addresses {
        source_mac: from.mac(),
        destination_mac: to.mac(),
        source,
        destination,
        ecn: Ecn::NotEct,
    })
}
