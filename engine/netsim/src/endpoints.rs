//! Hosts that answer: TCP connections of crate `tcp` between hosts' NICs and what arrives.
//!
//! Over a connection go *exchanges*: the side that opens asks with some bytes, the other answers with some when all of them have
//! arrived. A flow is one exchange with an answer of none. A connection of one exchange is closed by who sends its last byte; a
//! lasting one stays open. The state of a connection that both sides have closed is given to the next one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::IpAddr;

use tcp::{Connection, Segment, Settings, State};
use units::Time;
use wire::build::{tcp_headers, Addresses};
use wire::{Ecn, Network};

use workload::TransferId;

use crate::host::Host;
use crate::ports::{Number, PLACES};

/// The two sides of a connection.
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// One end of a connection.
pub(crate) struct End {
    pub(crate) connection: Connection,
    /// Time of its entry in the alarms that counts; others are left over.
    alarm: Time,
    host: u32,
    /// Of frames that leave; the codepoint is each segment's.
    addresses: Addresses,
}

/// Who waits for what goes over a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// A flow of the list, by number.
    Flow(usize),
    /// An application.
    Workload,
}

/// One request and its answer.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    id: Option<TransferId>,
    began: Time,
    request_bytes: u64,
    response_bytes: u64,
    /// Where its request ends in the stream that it is part of.
    request_end: u64,
    /// Where its answer ends.
    response_end: u64,
}

/// What goes over a connection.
pub(crate) struct Talk {
    number: Number,
    pub(crate) user: User,
    /// When it is to be opened; `None` once it is.
    opens_at: Option<Time>,
    /// It stays open, and applications know it by this name.
    lasting: Option<(u32, u32)>,
    /// Not finished yet, in order.
    exchanges: VecDeque<Exchange>,
    /// How many of them, from the first on, have been answered.
    answered: usize,
    /// After the last request and the last answer.
    end: [u64; 2],
    /// When everything that a flow sends has arrived, its FIN included.
    pub(crate) delivered: Option<Time>,
    is_free: bool,
}

/// What has become of an exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub(crate) id: TransferId,
    pub(crate) began: Time,
    /// Bytes of its larger direction.
    pub(crate) bytes: u64,
    pub(crate) finished: bool,
}

/// All connections of a fabric. The ends of the one at place `p` are `2 p`, which opens, and `2 p + 1`.
#[derive(Default)]
pub(crate) struct Endpoints {
    pub(crate) talks: Vec<Talk>,
    pub(crate) ends: Vec<End>,
    /// Places of connections that are over, the longest over first.
    free: VecDeque<u32>,
    /// Times at which ends are to be looked at. The first is always right; behind it may be entries that are too early or left over.
    alarms: BinaryHeap<Reverse<(Time, u32)>>,
    done: VecDeque<Done>,
    /// What connections that are over have counted.
    pub(crate) past: Counts,
}

/// What connections of applications have counted, both ends together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) bytes_received: u64,
    pub(crate) stats: tcp::Stats,
}

impl Counts {
    pub(crate) fn add(&mut self, connection: &Connection) {
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
    /// Hosts' numbers: of the side that opens, and of the other.
    pub(crate) hosts: [usize; 2],
    pub(crate) addresses: Addresses,
    pub(crate) user: User,
    /// It stays open for more exchanges, under this name.
    pub(crate) lasting: Option<(u32, u32)>,
    /// When; `None` is now.
    pub(crate) at: Option<Time>,
}

impl Endpoints {
    pub(crate) fn is_empty(&self) -> bool {
        self.talks.is_empty()
    }

    /// Takes a place for a connection; `None` when as many are alive as there can be.
    pub(crate) fn open(&mut self, opening: &Opening<'_>) -> Option<usize> {
        let place = match self.free.pop_front() {
            Some(place) => place as usize,
            None if self.talks.len() < PLACES as usize => self.talks.len(),
            None => return None,
        };
        let is_new = place == self.talks.len();
        let number = if is_new { Number::first(place as u32) } else { self.talks[place].number.next() };
        let isn = number.isn();
        let there = opening.addresses;
        let back = Addresses {
            source_mac: there.destination_mac,
            destination_mac: there.source_mac,
            source: there.destination,
            destination: there.source,
            ..there
        };
        let end = |connection, side: usize, addresses| End {
            connection,
            alarm: Time::MAX,
            host: opening.hosts[side] as u32,
            addresses,
        };
        let client = end(Connection::connect(opening.settings, isn), CLIENT, there);
        let server = end(Connection::listen(opening.settings, !isn), SERVER, back);
        let mut talk = Talk {
            number,
            user: opening.user,
            opens_at: opening.at,
            lasting: opening.lasting,
            exchanges: VecDeque::new(),
            answered: 0,
            end: [0; 2],
            delivered: None,
            is_free: false,
        };
        if is_new {
            self.ends.extend([client, server]);
            self.talks.push(talk);
        } else {
            self.ends[2 * place + CLIENT] = client;
            self.ends[2 * place + SERVER] = server;
            talk.exchanges = std::mem::take(&mut self.talks[place].exchanges); // Its memory; it is empty.
            self.talks[place] = talk;
        }
        self.set_alarm(2 * place + CLIENT);
        Some(place)
    }

    /// The side that opens asks for something. What it writes is to be taken with [`Endpoints::poll_transmit`].
    pub(crate) fn ask(
        &mut self,
        now: Time,
        place: usize,
        id: Option<TransferId>,
        request_bytes: u64,
        response_bytes: u64,
    ) -> Result<(), tcp::SendError> {
        let connection = &mut self.ends[2 * place + CLIENT].connection;
        connection.send(request_bytes)?;
        let talk = &mut self.talks[place];
        if talk.lasting.is_none() && response_bytes == 0 {
            connection.close();
        }
        talk.end[CLIENT] += request_bytes;
        talk.end[SERVER] += response_bytes;
        talk.exchanges.push_back(Exchange {
            id,
            began: now,
            request_bytes,
            response_bytes,
            request_end: talk.end[CLIENT],
            response_end: talk.end[SERVER],
        });
        Ok(())
    }

    /// What has become of an exchange, the first first.
    pub(crate) fn pop_done(&mut self) -> Option<Done> {
        self.done.pop_front()
    }

    pub(crate) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// An exchange has failed before it began.
    pub(crate) fn refuse(&mut self, now: Time, id: TransferId, bytes: u64) {
        self.done.push_back(Done { id, began: now, bytes, finished: false });
    }

    /// Whether the connection at a place is alive and the one of this name.
    pub(crate) fn is_talk(&self, place: usize, name: (u32, u32)) -> bool {
        !self.talks[place].is_free && self.talks[place].lasting == Some(name)
    }

    /// What the applications' connections have counted, those that are over and those that are alive.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = self.past;
        let alive = self.talks.iter().zip(self.ends.chunks_exact(2));
        for (_, ends) in alive.filter(|(talk, _)| !talk.is_free && talk.user == User::Workload) {
            ends.iter().for_each(|end| counts.add(&end.connection));
        }
        counts
    }

    /// When an end is to be looked at next.
    fn due(&self, end: usize) -> Option<Time> {
        let talk = &self.talks[end / 2];
        if talk.is_free {
            return None;
        }
        match talk.opens_at {
            Some(at) => (end % 2 == CLIENT).then_some(at),
            None => self.ends[end].connection.next_timeout(),
        }
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
        if self.talks[end / 2].opens_at.take().is_none() {
            self.ends[end].connection.handle_timeout(now);
        }
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
        let (number, opens) = Number::of(header.destination_port(), header.source_port())?;
        let talk = self.talks.get(number.place())?;
        if talk.number != number || talk.is_free {
            return None; // Late, of a connection that is over; there is nobody to answer.
        }
        let end = 2 * number.place() + if opens { CLIENT } else { SERVER };
        let this = &mut self.ends[end];
        if this.host as usize != host || this.addresses.destination != source {
            return None;
        }
        let payload_len = u32::try_from(len.checked_sub(header.header_len())?).ok()?;
        let segment = Segment::of_wire(&header, network.ecn().unwrap_or(Ecn::NotEct), payload_len);
        this.connection.handle_segment(now, &segment);
        self.progress(now, end);
        Some(end)
    }

    /// Something has arrived at an end: requests are answered, exchanges finish, and who has heard a FIN closes.
    fn progress(&mut self, now: Time, end: usize) {
        let place = end / 2;
        let talk = &mut self.talks[place];
        let [client, server] = &mut self.ends[2 * place..][..2] else {
            unreachable!("a connection has two ends")
        };
        if end % 2 == SERVER {
            let received = server.connection.bytes_received();
            while let Some(exchange) = talk.exchanges.get(talk.answered) {
                if received < exchange.request_end {
                    break;
                }
                talk.answered += 1;
                // Refused only when this end has closed, and then nothing is left to answer.
                let sent = server.connection.send(exchange.response_bytes);
                if talk.lasting.is_none() && exchange.response_bytes > 0 && sent.is_ok() {
                    server.connection.close();
                }
            }
        }
        let received = client.connection.bytes_received();
        while let Some(exchange) = talk.exchanges.front() {
            if talk.answered == 0 || received < exchange.response_end {
                break;
            }
            if let Some(id) = exchange.id {
                let bytes = exchange.request_bytes.max(exchange.response_bytes);
                self.done.push_back(Done { id, began: exchange.began, bytes, finished: true });
            }
            talk.exchanges.pop_front();
            talk.answered -= 1;
        }
        let this = if end % 2 == SERVER { server } else { client };
        if this.connection.peer_has_closed() {
            this.connection.close();
            if end % 2 == SERVER {
                talk.delivered.get_or_insert(now);
            }
        }
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
        let [client_port, server_port] = self.talks[end / 2].number.ports();
        let fields = if end % 2 == CLIENT {
            segment.fields(client_port, server_port)
        } else {
            segment.fields(server_port, client_port)
        };
        let len = tcp_headers(frame, &addresses, &fields, segment.payload_len as usize);
        Some((this.host as usize, len))
    }

    /// An end has nothing more to send now.
    fn settle(&mut self, end: usize) {
        let (place, other) = (end / 2, end ^ 1);
        let states = [end, other].map(|end| self.ends[end].connection.state());
        match states {
            // Ports come back much later than the last segment, so nobody has to linger once the other side is gone.
            [State::TimeWait, State::Closed] => self.ends[end].connection.abort(),
            [State::Closed, State::TimeWait] => self.ends[other].connection.abort(),
            [State::Closed, _] => {}
            _ => return self.set_alarm(end),
        }
        if self.talks[place].user != User::Workload {
            return;
        }
        let has_failed = |end: usize| {
            let end = self.ends[end].connection.end();
            end.is_some_and(|end| !matches!(end, tcp::End::Finished | tcp::End::Aborted))
        };
        if has_failed(end) || self.ends[other].connection.end().is_some() {
            self.release(place);
        }
    }

    /// A connection is over, or one side has given it up, and then the other forgets it, too.
    fn release(&mut self, place: usize) {
        for end in [2 * place + CLIENT, 2 * place + SERVER] {
            self.past.add(&self.ends[end].connection);
            self.ends[end].alarm = Time::MAX;
        }
        let talk = &mut self.talks[place];
        for exchange in talk.exchanges.drain(..) {
            if let Some(id) = exchange.id {
                let bytes = exchange.request_bytes.max(exchange.response_bytes);
                self.done.push_back(Done { id, began: exchange.began, bytes, finished: false });
            }
        }
        talk.is_free = true;
        self.free.push_back(place as u32);
        // Entries left over must not outnumber those that count, however many connections there have been.
        if self.alarms.len() > 4 * self.ends.len() + 1024 {
            let ends = &self.ends;
            self.alarms.retain(|Reverse((time, end))| ends[*end as usize].alarm == *time);
        }
    }
}

/// From one host to another, over IPv4 where both have it. Switches route by IP address, so the frame is addressed to the last hop.
pub(crate) fn addresses(from: &Host, to: &Host) -> Option<Addresses> {
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
