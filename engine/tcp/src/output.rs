//! Segments to be sent: which segment is next, its flags, options and window, and whether it is ECN-capable.

use units::Time;
use wire::tcp::{ACK, CWR, ECE, FIN, PSH, RST, SYN};
use wire::tcp_options::{Options, Timestamps};
use wire::Ecn;

use crate::config::{Algorithm, DctcpEct};
use crate::connection::{Connection, State};
use crate::space::Chunk;
use crate::Segment;

/// Kinds of packets that may differ in ECN capability.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Syn,
    NewData,
    /// Pure ACKs, retransmitted data, window probes, FINs without data, resets.
    Other,
}

impl Connection {
    /// Returns the next segment to send now, if there is one. The caller repeats the call until it returns `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let segment = self.poll_segment(now)?;
        self.sender.stats.segments += 1;
        Some(segment)
    }

    #[inline]
    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        if self.reset.is_some() {
            return self.poll_reset(now);
        }
        match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent | State::SynReceived if self.syn_due => return Some(self.syn(now)),
            State::SynSent => return None,
            _ => {}
        }
        if let Some(earlier) = self.receiver.earlier.take() {
            let mut ack = self.segment(now, self.sender.space.max, ACK, Kind::Other);
            ack.acknowledgement = self.receiver.acknowledgement_of(earlier.next);
            ack.flags = if earlier.ece { ack.flags | ECE } else { ack.flags & !ECE };
            return Some(ack);
        }
        if self.receiver.duplicate_ack_is_due() {
            return Some(self.pure_ack(now));
        }
        if !matches!(self.state, State::SynReceived | State::TimeWait) {
            if let Some(chunk) = self.sender.poll(now, &self.settings) {
                return Some(self.data(now, &chunk));
            }
        }
        self.receiver.ack_now.then(|| self.pure_ack(now))
    }

    fn poll_reset(&mut self, now: Time) -> Option<Segment> {
        let reset = self.reset.take()?;
        Some(Segment {
            sequence: reset.sequence,
            acknowledgement: reset.acknowledgement.unwrap_or(0),
            flags: if reset.acknowledgement.is_some() { RST | ACK } else { RST },
            ae: false,
            window: 0,
            ecn: self.codepoint(Kind::Other),
            payload_len: 0,
            // RFC 7323, 3.2: a reset also has timestamps, if they have been negotiated.
            options: Options { timestamps: self.timestamps_now(now), ..Options::default() },
        })
    }

    /// Returns the timestamps option, which every segment carries once it has been negotiated.
    #[inline]
    fn timestamps_now(&self, now: Time) -> Option<Timestamps> {
        self.timestamps.then(|| Timestamps { value: self.timestamp(now), echo_reply: self.ts_recent })
    }

    /// Returns a SYN, or a SYN-ACK if the peer's SYN has arrived, with the ECN-setup flags of RFC 3168, 6.1.1.
    fn syn(&mut self, now: Time) -> Segment {
        self.syn_due = false;
        self.sender.syn_sent(now, &self.settings);
        let answers = self.state == State::SynReceived;
        // RFC 9768, 3.1.1: all three flags; the answer contains the codepoint of the SYN.
        let ace = match answers {
            true if self.receiver.marks_counted().is_some() => Some(self.handshake_ace),
            false if self.settings.accecn => Some(0b111),
            _ => None,
        };
        // RFC 9768, 3.1.4: after two losses, send without the flags; the next answer shows whether they were the cause.
        let plain = ace.is_some() && self.sender.doubts_syn_flags();
        let ace = ace.filter(|_| !plain);
        let flags = match (answers, self.settings.ecn && !plain, self.sender.ecn.on && !plain) {
            (false, true, _) => SYN | ECE | CWR,
            (false, false, _) => SYN,
            (true, _, true) => SYN | ACK | ECE,
            (true, _, false) => SYN | ACK,
        };
        let mut segment = self.segment(now, 0, flags, Kind::Syn);
        if let Some(ace) = ace {
            segment.set_ace(ace);
        }
        segment.window = self.receiver.announce(self.sender.mss(), false);
        // An answer contains only options that the peer has offered; our SYN contains our own offers.
        let timestamps = if answers { self.timestamps } else { self.settings.timestamps.is_some() };
        let scale = self.receiver.wanted_scale();
        segment.options = Options {
            mss: Some(self.settings.mss),
            window_scale: if answers { self.peer_offered_scale.then_some(scale) } else { Some(scale) },
            sack_permitted: if answers { self.sender.loss.sack } else { self.settings.sack },
            timestamps: timestamps
                .then(|| Timestamps { value: self.timestamp(now), echo_reply: self.ts_recent }),
            ..Options::default()
        };
        segment
    }

    fn pure_ack(&mut self, now: Time) -> Segment {
        let mut ack = self.segment(now, self.sender.space.max, ACK, Kind::Other);
        if self.sender.loss.sack && self.receiver.has_sack_blocks() {
            ack.options.sack = self.receiver.take_sack_blocks();
        }
        if std::mem::take(&mut self.handshake_ace_due) {
            ack.set_ace(self.handshake_ace);
        }
        self.receiver.acknowledged();
        ack
    }

    #[inline]
    fn data(&mut self, now: Time, chunk: &Chunk) -> Segment {
        let new =
            chunk.payload_len > 0 && (self.settings.ect_retransmissions || !chunk.again && !chunk.probe);
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let cwr = flag(self.sender.ecn.take_cwr(chunk), CWR);
        let flags = ACK | flag(chunk.push, PSH) | flag(chunk.fin, FIN) | cwr;
        let kind = if new { Kind::NewData } else { Kind::Other };
        self.handshake_ace_due = false;
        let segment =
            Segment { payload_len: chunk.payload_len, ..self.segment(now, chunk.start, flags, kind) };
        self.sender.sent(now, chunk, &self.settings);
        self.receiver.acknowledged();
        segment
    }

    /// Returns a segment at an offset of our stream, with the fields common to all segments.
    #[inline]
    fn segment(&mut self, now: Time, offset: u64, flags: u8, kind: Kind) -> Segment {
        let echo = kind != Kind::Syn && self.receiver.echoes();
        self.acknowledged = self.receiver.next();
        let mut segment = Segment {
            sequence: self.sender.space.sequence(offset),
            acknowledgement: if flags & ACK != 0 { self.receiver.acknowledgement() } else { 0 },
            flags: if echo { flags | ECE } else { flags },
            ae: false,
            window: if kind == Kind::Syn { 0 } else { self.receiver.announce(self.sender.mss(), true) },
            ecn: self.codepoint(kind),
            payload_len: 0,
            options: Options { timestamps: self.timestamps_now(now), ..Options::default() },
        };
        if let (Some(count), true) = (self.receiver.marks_counted(), kind != Kind::Syn) {
            segment.set_ace(count);
        }
        segment
    }

    /// Returns a segment's ECN codepoint. ECN-capable is only new data (RFC 3168, 6.1.1 and 6.1.4 to 6.1.6), all data,
    /// or what DCTCP's setting selects.
    #[inline]
    fn codepoint(&self, kind: Kind) -> Ecn {
        let data_only = self.sender.ecn.on && kind == Kind::NewData;
        let capable = if self.settings.algorithm == Algorithm::Dctcp {
            match self.settings.dctcp_ect {
                DctcpEct::DataOnly => data_only,
                DctcpEct::Ns2 => self.sender.ecn.on && kind != Kind::Syn,
                DctcpEct::Linux => self.sender.ecn.on || self.state == State::SynSent,
            }
        } else {
            data_only
        };
        match capable {
            false => Ecn::NotEct,
            true if self.settings.l4s => Ecn::Ect1,
            true => Ecn::Ect0,
        }
    }
}
