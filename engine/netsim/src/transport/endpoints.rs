//! Both ends of the hosts' TCP connections (crate `tcp`), and the exchanges over each connection.
//!
//! A connection carries *exchanges*: the opening side sends a request, and the other side sends a response when the whole request
//! has arrived. A flow is one exchange with an empty response. A connection of one exchange is closed by the side that sends its
//! last byte; a persistent one stays open. When both sides have closed a connection, the next one reuses its state.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU32;

use tcp::{Connection, Segment, Settings, State};
use units::{Bytes, Duration, Time};
use wire::build::{tcp_headers, Addresses, TcpFields};
use wire::{Ecn, FiveTuple, Network};
use workload::TransferId;

use crate::limits::MAX_CONNECTIONS;
use crate::network::LeftNic;
use crate::transport::ports::Number;

/// The two sides of a connection.
pub(super) const CLIENT: usize = 0;
pub(super) const SERVER: usize = 1;

/// One end of a connection.
struct End {
    connection: Connection,
    /// Time of its valid entry in the timers; other entries are out of date.
    timer: Time,
    host: u32,
    /// Addresses of its frames; the ECN codepoint is each segment's.
    addresses: Addresses,
    dscp: u8,
    /// The limiter of its NIC in which its frames wait.
    limiter: Option<NonZeroU32>,
}

/// An exchange under the names of its requester.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) id: TransferId,
    /// Its number at the scheduler of flows, or 0.
    pub(crate) number: u64,
    /// The minimum time that its path allows, if that is known.
    pub(crate) ideal: Option<Duration>,
}

/// One request and its response.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    /// The application's names; `None` for a flow of the list.
    asked: Option<Asked>,
    began: Time,
    request_bytes: u64,
    response_bytes: u64,
    /// End of its request in the stream of requests.
    request_end: u64,
    /// End of its response in the stream of responses.
    response_end: u64,
}

impl Exchange {
    /// Returns the outcome for the application; `None` for a flow of the list.
    fn end(&self, finished: bool) -> Option<TransferEnd> {
        let bytes = self.request_bytes.max(self.response_bytes);
        self.asked.map(|asked| TransferEnd { asked, began: self.began, bytes, finished })
    }
}

/// The use of a connection.
struct Session {
    number: Number,
    /// Whether it is a flow of the list, whose state is kept for its report.
    is_listed: bool,
    /// When it opens; `None` once it is open.
    opens_at: Option<Time>,
    /// The name by which applications know it, if it stays open.
    persistent: Option<(u32, u32)>,
    /// Unfinished exchanges, in order.
    exchanges: VecDeque<Exchange>,
    /// How many of them, from the first on, have been answered.
    answered: usize,
    /// The ends of the last request and the last response in their streams.
    end: [u64; 2],
    /// When everything that a flow sends had arrived, its FIN included.
    delivered: Option<Time>,
    is_free: bool,
}

/// The outcome of an exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferEnd {
    pub(crate) asked: Asked,
    pub(crate) began: Time,
    /// Bytes of its larger direction.
    pub(crate) bytes: u64,
    pub(crate) finished: bool,
}

/// All connections of a fabric. The ends of the connection in slot `p` are `2 p`, which opens, and `2 p + 1`.
#[derive(Default)]
pub(crate) struct Endpoints {
    sessions: Vec<Session>,
    ends: Vec<End>,
    /// Slots of connections that have ended, in the order in which they ended.
    free: VecDeque<u32>,
    /// Times at which timers of the ends may expire. The first is exact; later entries may be too early or out of date.
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    ended: VecDeque<TransferEnd>,
    /// Counts of connections that have ended.
    past: Counts,
}

/// Counts of applications' connections, both ends together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) bytes_received: u64,
    pub(crate) stats: tcp::Stats,
}

impl Counts {
    fn add(&mut self, connection: &Connection) {
        let stats = connection.stats();
        self.bytes_received += connection.bytes_received();
        let sum = &mut self.stats;
        sum.data_segments += stats.data_segments;
        sum.retransmitted_segments += stats.retransmitted_segments;
        sum.fast_recoveries += stats.fast_recoveries;
        sum.timeouts += stats.timeouts;
        sum.syn_timeouts += stats.syn_timeouts;
        sum.mark_reductions += stats.mark_reductions;
    }
}

/// A connection to be opened.
pub(crate) struct Opening<'a> {
    pub(crate) settings: &'a Settings,
    /// Indices of the hosts: the opening side, and the other.
    pub(crate) hosts: [usize; 2],
    /// Addresses of the frames that each of them sends.
    pub(crate) addresses: [Addresses; 2],
    /// DSCP of the frames of both.
    pub(crate) dscp: u8,
    /// Whether it is a flow of the list.
    pub(crate) is_listed: bool,
    /// The name under which it stays open for more exchanges, if it does.
    pub(crate) persistent: Option<(u32, u32)>,
    /// When to open it; `None` is now.
    pub(crate) at: Option<Time>,
}

/// A frame that leaves.
pub(super) struct Outgoing {
    pub(super) host: usize,
    /// Length with payload.
    pub(super) len: usize,
    /// The owner to notify when it has left the NIC.
    pub(super) owner: Option<NonZeroU32>,
    /// The limiter in which it waits there.
    pub(super) limiter: Option<NonZeroU32>,
}

/// One side of a connection, whose slot may by now belong to another connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) slot: usize,
    pub(crate) host: usize,
    number: Number,
    side: usize,
}

impl Endpoints {
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Takes a slot for a connection; `None` if [`MAX_CONNECTIONS`] are open.
    pub(crate) fn open(&mut self, opening: &Opening<'_>) -> Option<usize> {
        let slot = match self.free.pop_front() {
            Some(slot) => slot as usize,
            None if self.sessions.len() < MAX_CONNECTIONS as usize => self.sessions.len(),
            None => return None,
        };
        let is_new = slot == self.sessions.len();
        let number = if is_new { Number::first(slot as u32) } else { self.sessions[slot].number.next() };
        let isn = number.isn();
        let end = |connection, side: usize| End {
            connection,
            timer: Time::MAX,
            host: opening.hosts[side] as u32,
            addresses: opening.addresses[side],
            dscp: opening.dscp,
            limiter: None,
        };
        let client = end(Connection::connect(opening.settings, isn), CLIENT);
        let server = end(Connection::listen(opening.settings, !isn), SERVER);
        let mut session = Session {
            number,
            is_listed: opening.is_listed,
            opens_at: opening.at,
            persistent: opening.persistent,
            exchanges: VecDeque::new(),
            answered: 0,
            end: [0; 2],
            delivered: None,
            is_free: false,
        };
        if is_new {
            self.ends.extend([client, server]);
            self.sessions.push(session);
        } else {
            self.ends[2 * slot + CLIENT] = client;
            self.ends[2 * slot + SERVER] = server;
            session.exchanges = std::mem::take(&mut self.sessions[slot].exchanges); // Reuses its memory; it is empty.
            self.sessions[slot] = session;
        }
        self.set_timer(2 * slot + CLIENT);
        Some(slot)
    }

    /// Sends a request from the opening side. Its segments must be taken with [`Endpoints::poll_transmit`].
    pub(super) fn request(
        &mut self,
        now: Time,
        slot: usize,
        asked: Option<Asked>,
        [request_bytes, response_bytes]: [u64; 2],
    ) -> Result<(), tcp::SendError> {
        let connection = &mut self.ends[2 * slot + CLIENT].connection;
        connection.send(request_bytes)?;
        let session = &mut self.sessions[slot];
        if session.persistent.is_none() && response_bytes == 0 {
            connection.close();
        }
        session.end[CLIENT] += request_bytes;
        session.end[SERVER] += response_bytes;
        session.exchanges.push_back(Exchange {
            asked,
            began: now,
            request_bytes,
            response_bytes,
            request_end: session.end[CLIENT],
            response_end: session.end[SERVER],
        });
        Ok(())
    }

    /// Returns the next outcome of an exchange, in the order in which exchanges ended.
    pub(crate) fn pop_ended(&mut self) -> Option<TransferEnd> {
        self.ended.pop_front()
    }

    /// Returns whether [`Endpoints::pop_ended`] has an outcome.
    pub(crate) fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Notes that an exchange failed before it began.
    pub(crate) fn refuse(&mut self, now: Time, asked: Asked, bytes: u64) {
        self.ended.push_back(TransferEnd { asked, began: now, bytes, finished: false });
    }

    /// Returns the opening side of a connection, or the other side, which answers.
    pub(crate) fn side(&self, slot: usize, answers: bool) -> Side {
        let side = if answers { SERVER } else { CLIENT };
        let host = self.ends[2 * slot + side].host as usize;
        Side { slot, host, number: self.sessions[slot].number, side }
    }

    /// Returns a frame without data that this side would send, to find its path through the switches, and the length of its headers.
    pub(crate) fn probe(&self, side: Side) -> (Vec<u8>, u64) {
        let [source_port, destination_port] = side.number.ports(side.side);
        let fields =
            TcpFields { source_port, destination_port, flags: wire::tcp::ACK, ..TcpFields::default() };
        let addresses = &self.ends[2 * side.slot + side.side].addresses;
        let mut frame = Vec::new();
        let len = tcp_headers(&mut frame, addresses, &fields, 0);
        let headers = frame.len() as u64;
        frame.resize(len, 0);
        (frame, headers)
    }

    /// Makes frames of this side wait in the limiter from now on, or in none; does nothing if the connection has ended.
    pub(crate) fn set_limiter(&mut self, side: Side, limiter: Option<NonZeroU32>) {
        if self.sessions[side.slot].number == side.number {
            self.ends[2 * side.slot + side.side].limiter = limiter;
        }
    }

    /// Returns whether the connection in a slot is live and has this name.
    pub(crate) fn is_open(&self, slot: usize, name: (u32, u32)) -> bool {
        !self.sessions[slot].is_free && self.sessions[slot].persistent == Some(name)
    }

    /// Returns the maximum number of connections open at a time.
    pub(crate) fn max_connections(&self) -> usize {
        self.sessions.len()
    }

    /// Returns one end of a connection.
    pub(super) fn connection(&self, slot: usize, side: usize) -> &Connection {
        &self.ends[2 * slot + side].connection
    }

    /// Returns when everything that a flow sends had arrived, its FIN included.
    pub(super) fn delivered_at(&self, slot: usize) -> Option<Time> {
        self.sessions[slot].delivered
    }

    /// Returns the counts of the applications' connections, those that have ended and those that are live.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = self.past;
        let alive = self.sessions.iter().zip(self.ends.chunks_exact(2));
        for (_, ends) in alive.filter(|(session, _)| !session.is_free && !session.is_listed) {
            ends.iter().for_each(|end| counts.add(&end.connection));
        }
        counts
    }

    /// Returns when the next timer of an end expires.
    fn due(&self, end: usize) -> Option<Time> {
        let session = &self.sessions[end / 2];
        if session.is_free {
            return None;
        }
        match session.opens_at {
            Some(at) => (end % 2 == CLIENT).then_some(at),
            None => self.ends[end].connection.next_timeout(),
        }
    }

    fn set_timer(&mut self, end: usize) {
        if let Some(due) = self.due(end) {
            if due < self.ends[end].timer {
                self.ends[end].timer = due;
                self.timers.push(Reverse((due, end as u32)));
            }
        }
    }

    /// Returns the exact time at which the first timer expires.
    pub(super) fn next_timeout(&mut self) -> Option<Time> {
        loop {
            let Reverse((time, end)) = *self.timers.peek()?;
            let index = end as usize;
            if self.ends[index].timer == time {
                if self.due(index) == Some(time) {
                    return Some(time);
                }
                self.ends[index].timer = Time::MAX;
            }
            self.timers.pop();
            self.set_timer(index);
        }
    }

    /// Handles the first expired timer. Returns its end, if there is one.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<usize> {
        self.next_timeout().filter(|due| *due <= now)?;
        let Reverse((_, end)) = self.timers.pop()?;
        let end = end as usize;
        self.ends[end].timer = Time::MAX;
        if self.sessions[end / 2].opens_at.take().is_none() {
            self.ends[end].connection.handle_timeout(now);
        }
        Some(end)
    }

    /// Passes a frame that has arrived at a host to its end of a connection. Returns that end, if there is one.
    pub(super) fn receive(&mut self, now: Time, host: usize, frame: &[u8]) -> Option<usize> {
        let network = Network::of(frame)?;
        let ip = network.ip()?;
        let header = wire::tcp::Segment::new_checked(ip.payload_of(wire::tcp::PROTOCOL)?)?;
        let (number, opens) = Number::of(header.destination_port(), header.source_port())?;
        let session = self.sessions.get(number.slot())?;
        if session.number != number || session.is_free {
            return None; // A late segment of a connection that has ended; no end responds.
        }
        let end = 2 * number.slot() + if opens { CLIENT } else { SERVER };
        let this = &mut self.ends[end];
        if this.host as usize != host || this.addresses.destination != ip.source {
            return None;
        }
        let payload_len = u32::try_from(ip.payload_len?.checked_sub(header.header_len())?).ok()?;
        let segment = Segment::of_wire(&header, network.ecn().unwrap_or(Ecn::NotEct), payload_len);
        this.connection.handle_segment(now, &segment);
        self.progress(now, end);
        Some(end)
    }

    /// Handles the progress of an end: answers requests, finishes exchanges, and closes the side that has received a FIN.
    fn progress(&mut self, now: Time, end: usize) {
        let slot = end / 2;
        let session = &mut self.sessions[slot];
        let [client, server] = &mut self.ends[2 * slot..][..2] else {
            unreachable!("a connection has two ends")
        };
        if end % 2 == SERVER {
            let received = server.connection.bytes_received();
            while let Some(exchange) = session.exchanges.get(session.answered) {
                if received < exchange.request_end {
                    break;
                }
                session.answered += 1;
                // Refused only if this end has closed; then nothing is left to answer.
                let sent = server.connection.send(exchange.response_bytes);
                if session.persistent.is_none() && exchange.response_bytes > 0 && sent.is_ok() {
                    server.connection.close();
                }
            }
        }
        let received = client.connection.bytes_received();
        while let Some(exchange) = session.exchanges.front() {
            if session.answered == 0 || received < exchange.response_end {
                break;
            }
            self.ended.extend(exchange.end(true));
            session.exchanges.pop_front();
            session.answered -= 1;
        }
        let this = if end % 2 == SERVER { server } else { client };
        if this.connection.peer_has_closed() {
            this.connection.close();
            if end % 2 == SERVER && session.delivered.is_none() {
                session.delivered = Some(now);
            }
        }
    }

    /// Returns an end's host, the flow of its data, and its congestion window.
    pub(super) fn window(&self, end: usize) -> (usize, FiveTuple, Bytes) {
        let End { connection, host, addresses, .. } = &self.ends[end];
        let [source_port, destination_port] = self.sessions[end / 2].number.ports(end % 2);
        let flow = FiveTuple {
            source: addresses.source,
            destination: addresses.destination,
            protocol: wire::tcp::PROTOCOL,
            source_port,
            destination_port,
        };
        (*host as usize, flow, connection.cwnd())
    }

    /// Notes that a frame of a connection has left its host's NIC. Returns the end if it may send more because of that.
    pub(super) fn left_nic(&mut self, left: LeftNic) -> Option<usize> {
        let (number, side) = Number::of_owner(left.owner);
        let session = self.sessions.get(number.slot())?;
        if session.number != number || session.is_free {
            return None;
        }
        let end = 2 * number.slot() + side;
        self.ends[end].connection.left_nic(left.payload_bytes).then_some(end)
    }

    /// Writes the next frame of an end into `frame`.
    pub(super) fn poll_transmit(&mut self, now: Time, end: usize, frame: &mut Vec<u8>) -> Option<Outgoing> {
        let this = &mut self.ends[end];
        let Some(segment) = this.connection.poll_transmit(now) else {
            self.all_is_sent(end);
            return None;
        };
        let addresses = Addresses { ecn: segment.ecn, ..this.addresses };
        let number = self.sessions[end / 2].number;
        let [source_port, destination_port] = number.ports(end % 2);
        let fields = segment.fields(source_port, destination_port);
        let len = tcp_headers(frame, &addresses, &fields, segment.payload_len as usize);
        if this.dscp != 0 {
            wire::set_dscp(frame, this.dscp);
        }
        let owner = this.connection.is_told_of_nic().then(|| number.owner(end % 2));
        Some(Outgoing { host: this.host as usize, len, owner, limiter: this.limiter })
    }

    /// Sets the timer of an end that has nothing more to send now, or releases its connection if that has ended.
    fn all_is_sent(&mut self, end: usize) {
        let (slot, other) = (end / 2, end ^ 1);
        let states = [end, other].map(|end| self.ends[end].connection.state());
        match states {
            // Ports are reused much later than the last segment, so no end must stay in TIME-WAIT once the other is closed.
            [State::TimeWait, State::Closed] => self.ends[end].connection.abort(),
            [State::Closed, State::TimeWait] => self.ends[other].connection.abort(),
            [State::Closed, _] => {}
            _ => return self.set_timer(end),
        }
        if self.sessions[slot].is_listed {
            return;
        }
        let has_failed = |end: usize| {
            let end = self.ends[end].connection.end();
            end.is_some_and(|end| !matches!(end, tcp::End::Finished | tcp::End::Aborted))
        };
        // A peer that is not told of the end has received everything, and nothing follows.
        let tells = self.ends[end].connection.tells_of_its_end();
        if has_failed(end) || !tells || self.ends[other].connection.end().is_some() {
            self.release(slot);
        }
    }

    /// Releases a connection that has ended, or that one side has given up; then the other side drops it too.
    fn release(&mut self, slot: usize) {
        for end in [2 * slot + CLIENT, 2 * slot + SERVER] {
            self.past.add(&self.ends[end].connection);
            self.ends[end].timer = Time::MAX;
        }
        let session = &mut self.sessions[slot];
        for exchange in session.exchanges.drain(..) {
            self.ended.extend(exchange.end(false));
        }
        session.is_free = true;
        self.free.push_back(slot as u32);
        // Outdated entries must not outnumber the valid ones, however many connections there have been.
        if self.timers.len() > 4 * self.ends.len() + 1024 {
            let ends = &self.ends;
            self.timers.retain(|Reverse((time, end))| ends[*end as usize].timer == *time);
        }
    }
}
