//! The opening of a connection (RFC 9293, 3.5 and 3.10.7.1 to 3.10.7.3), and the negotiation of ECN, segment size,
//! window scale, SACK and timestamps.

use units::Time;
use wire::tcp::{ACK, CWR, ECE, RST, SYN};

use crate::accecn::{self, Mode};
use crate::connection::{Connection, End, Reset, State};
use crate::sender::SynAcknowledgement;
use crate::Segment;

/// Segment size for a peer without an MSS option (RFC 9293, 3.7.1, for IPv4).
const DEFAULT_MSS: u16 = 536;
/// Minimum segment size that a peer can enforce, so that no peer makes this end send one byte per frame. Linux's `TCP_MIN_SND_MSS`.
const LEAST_MSS: u64 = 48;
/// Bytes of the timestamps option in each segment.
const TIMESTAMPS_LEN: u64 = 12;

impl Connection {
    /// Answers a segment that belongs to no connection with a reset (RFC 9293, 3.10.7.1).
    pub(crate) fn refuse(&mut self, segment: &Segment) {
        if segment.has(RST) {
            return;
        }
        self.reset = Some(if segment.has(ACK) {
            Reset { sequence: segment.acknowledgement, acknowledgement: None }
        } else {
            let after = segment.sequence.wrapping_add(segment.sequence_len() as u32);
            Reset { sequence: 0, acknowledgement: Some(after) }
        });
    }

    /// Handles a segment in LISTEN (RFC 9293, 3.10.7.2).
    pub(crate) fn handle_in_listen(&mut self, now: Time, segment: &Segment) {
        if segment.has(RST) {
            return;
        }
        if segment.has(ACK) {
            return self.refuse(segment);
        }
        if segment.has(SYN) {
            self.take_syn(now, segment);
            let mode = self.asked(segment);
            self.agree_on_ecn(mode);
            self.state = State::SynReceived;
            self.syn_due = true;
        }
    }

    /// Handles a segment in SYN-SENT (RFC 9293, 3.10.7.3).
    pub(crate) fn handle_in_syn_sent(&mut self, now: Time, segment: &Segment) {
        let acknowledges = segment.has(ACK);
        if acknowledges
            && (self.sender.space.max == 0 || self.sender.space.offset(segment.acknowledgement) != 1)
        {
            return self.refuse(segment);
        }
        if segment.has(RST) {
            if acknowledges {
                self.finish(End::Refused);
            }
            return;
        }
        if !segment.has(SYN) {
            return;
        }
        self.take_syn(now, segment);
        if acknowledges {
            // RFC 3168, 6.1.1: ECE alone. ECE with CWR means that the peer reflects unknown flags.
            let mode = match (self.settings.accecn, segment.has(ECE) && !segment.has(CWR)) {
                (true, _) => accecn::of_syn_ack(segment.ace()),
                (false, true) => Mode::Classic,
                (false, false) => Mode::Off,
            };
            self.agree_on_ecn(mode);
            self.note_handshake_ace(segment.ecn);
            // RFC 9768, 3.2.1: a marked SYN-ACK counts, because the answer reports the mark to the server.
            self.receiver.count_mark(segment.ecn);
            self.syn_due = false;
            // RFC 7323, 2.2: the window of a SYN is not scaled.
            self.establish(now, 0, segment.window.into(), segment);
            self.receiver.must_ack();
        } else {
            // Simultaneous open.
            let mode = self.asked(segment);
            self.agree_on_ecn(mode);
            self.state = State::SynReceived;
            self.syn_due = true;
        }
    }

    /// Takes the sequence number and the options from the peer's SYN. An option is used if both ends offer it.
    fn take_syn(&mut self, now: Time, segment: &Segment) {
        self.receiver.synchronize(segment.sequence);
        let options = &segment.options;
        self.peer_mss = options.mss.unwrap_or(DEFAULT_MSS);
        self.peer_scale = options.window_scale.unwrap_or(0);
        self.peer_offered_scale = options.window_scale.is_some();
        self.receiver.scale = options.window_scale.map_or(0, |_| self.receiver.wanted_scale());
        self.sender.loss.sack = self.settings.sack && options.sack_permitted;
        if let (Some(timestamps), Some(_)) = (options.timestamps, self.settings.timestamps) {
            self.timestamps = true;
            (self.ts_recent, self.ts_recent_at) = (timestamps.value, now);
        }
    }

    /// Returns the ECN mode that a SYN requests, as far as this end supports it. Records the SYN's codepoint for the answer.
    fn asked(&mut self, segment: &Segment) -> Mode {
        self.handshake_ace = accecn::of_handshake(segment.ecn);
        match (self.settings.accecn, segment.has(ECE) && segment.has(CWR)) {
            (true, _) => accecn::of_syn(segment.ace()),
            (false, true) => Mode::Classic,
            (false, false) => Mode::Off,
        }
    }

    fn agree_on_ecn(&mut self, mode: Mode) {
        if self.settings.ecn && mode != Mode::Off {
            let accurate = mode == Mode::Accurate;
            self.receiver.use_ecn(self.settings.algorithm, accurate);
            self.sender.ecn.turn_on(accurate);
        }
    }

    /// Makes the next ACK without data report the codepoint of the peer's SYN-ACK (RFC 9768, 3.2.2.1).
    pub(crate) fn note_handshake_ace(&mut self, ecn: wire::Ecn) {
        self.handshake_ace = accecn::of_handshake(ecn);
        self.handshake_ace_due = self.receiver.marks_counted().is_some();
    }

    /// Answers a repeated SYN with the codepoint of the latest one. A SYN without flags means that the peer doubts
    /// whether its flags pass the path, so nothing is sent ECN-capable (RFC 9768, 3.1.5).
    pub(crate) fn answer_repeated_ace(&mut self, segment: &Segment) {
        if self.receiver.marks_counted().is_some() {
            self.handshake_ace = accecn::of_handshake(segment.ecn);
            if segment.ace() == 0 {
                self.sender.ecn.turn_off();
            }
        }
    }

    /// Reads the codepoint with which the SYN-ACK arrived from its ACK, if that has no data (RFC 9768, 3.2.2.1). Zero
    /// means that the path clears the field, so nothing is sent ECN-capable.
    fn take_handshake_ace(&mut self, segment: &Segment) {
        if self.receiver.marks_counted().is_some() && self.sender.ecn.on && segment.is_pure_ack() {
            if segment.ace() == 0 {
                self.sender.ecn.turn_off();
            } else if segment.ace() == accecn::of_handshake(wire::Ecn::Ce) {
                self.sender.ecn.note_marked_handshake();
            }
        }
    }

    /// Establishes the connection: both SYNs are acknowledged, ours by this segment, whose sequence number has this offset.
    pub(crate) fn establish(&mut self, now: Time, sequence: u64, window: u64, segment: &Segment) {
        let options = if self.timestamps { TIMESTAMPS_LEN } else { 0 };
        let mss = u64::from(self.settings.mss.min(self.peer_mss)).max(LEAST_MSS) - options;
        let ack = SynAcknowledgement { sequence, window, timestamp_rtt: self.timestamp_rtt(now, segment) };
        self.sender.established(now, mss, &ack, &self.settings);
        if self.passive {
            self.take_handshake_ace(segment);
        }
        self.state = if self.closing { State::FinWait1 } else { State::Established };
    }
}
