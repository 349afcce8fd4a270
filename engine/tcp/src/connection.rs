//! One end of a connection: its state (RFC 9293, 3.3.2), the application's calls, and the handling of arriving segments.

use units::{Bytes, Duration, Time};
use wire::tcp::{ACK, CWR, FIN, RST, SYN};
use wire::tcp_options::Timestamps;
use wire::Ecn;

use crate::config::Settings;
use crate::receiver::{Arrival, Receiver};
use crate::sender::{Acknowledgement, Sender};
use crate::{Segment, Stats};

/// The states of RFC 9293, 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // The names are the RFC's.
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// The reason why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// Both sides have closed, and all data has been acknowledged.
    Finished,
    /// The peer answered the SYN with a reset.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// This side aborted it ([`Connection::abort`]), or closed it in LISTEN.
    Aborted,
    /// The peer did not answer for too long.
    TimedOut,
}

/// The reason why bytes cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection is closed in this direction.
    #[error("tcp: {bytes} bytes cannot be sent in state {state:?}: this end has closed")]
    Closed {
        /// Bytes to be sent.
        bytes: u64,
        /// State of the connection.
        state: State,
    },
    /// A connection cannot carry this number of bytes.
    #[error("tcp: {bytes} more bytes cannot be sent: a connection carries 2^62, and {room} are left")]
    TooMany {
        /// Bytes to be sent.
        bytes: u64,
        /// Bytes that can still be sent.
        room: u64,
    },
}

/// Minimum time between two answers to unacceptable segments without payload. It prevents an endless exchange of
/// answers between two ends that disagree (RFC 5961, 7; the value is Linux's).
const CHALLENGE_GAP: Duration = Duration::from_ms(500);

/// Maximum age of a timestamp that is still compared (RFC 7323, 5.5).
const TIMESTAMP_LIFE: Duration = Duration::from_secs(24 * 24 * 3600);

/// A reset to be sent: its sequence number, and its acknowledgement number if it has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reset {
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: Option<u32>,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(crate) settings: Settings,
    pub(crate) state: State,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// Whether the connection began in LISTEN.
    pub(crate) passive: bool,
    /// Whether the application has closed it.
    pub(crate) closing: bool,
    /// Whether a SYN or SYN-ACK must be sent.
    pub(crate) syn_due: bool,
    pub(crate) reset: Option<Reset>,
    /// The ACE value that reports the codepoint of the peer's SYN or SYN-ACK (RFC 9768, 3.1.1), and whether the next ACK without data must carry it.
    pub(crate) handshake_ace: u8,
    pub(crate) handshake_ace_due: bool,
    /// Whether timestamps have been negotiated.
    pub(crate) timestamps: bool,
    /// The options that the peer's SYN offered.
    pub(crate) peer_mss: u16,
    pub(crate) peer_scale: u8,
    pub(crate) peer_offered_scale: bool,
    /// TS.Recent and the time at which it was set (RFC 7323, 4.3).
    pub(crate) ts_recent: u32,
    pub(crate) ts_recent_at: Time,
    /// Offset of the last ACK sent (Last.ACK.sent).
    pub(crate) acknowledged: u64,
    /// End of TIME-WAIT.
    linger_until: Time,
    /// Segments without payload are not answered before this time.
    challenge_after: Time,
    end: Option<End>,
    segments_received: u64,
    ce_received: u64,
}

impl Connection {
    /// Opens a connection to a peer. The next segment is the SYN, with the sequence number `isn`.
    pub fn connect(settings: &Settings, isn: u32) -> Self {
        Self { syn_due: true, ..Self::new(settings, isn, State::SynSent) }
    }

    /// Waits for a peer's SYN, and answers it with the sequence number `isn`.
    pub fn listen(settings: &Settings, isn: u32) -> Self {
        Self::new(settings, isn, State::Listen)
    }

    fn new(settings: &Settings, isn: u32, state: State) -> Self {
        Self {
            settings: settings.clone(),
            state,
            sender: Sender::new(settings, isn),
            receiver: Receiver::new(settings),
            passive: state == State::Listen,
            closing: false,
            syn_due: false,
            reset: None,
            handshake_ace: 0,
            handshake_ace_due: false,
            timestamps: false,
            peer_mss: 0,
            peer_scale: 0,
            peer_offered_scale: false,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
            acknowledged: 0,
            linger_until: Time::MAX,
            challenge_after: Time::ZERO,
            end: None,
            segments_received: 0,
            ce_received: 0,
        }
    }

    /// Appends `bytes` bytes to the stream.
    pub fn send(&mut self, bytes: u64) -> Result<(), SendError> {
        if self.closing || self.state == State::Closed {
            return Err(SendError::Closed { bytes, state: self.state });
        }
        let room = self.sender.space.room();
        if bytes > room {
            return Err(SendError::TooMany { bytes, room });
        }
        self.sender.space.write(bytes);
        Ok(())
    }

    /// Takes up to `limit` bytes that have arrived in order. With `reads_at_once` there are never any.
    pub fn read(&mut self, limit: u64) -> u64 {
        self.receiver.take(limit, self.sender.mss())
    }

    /// Closes this end: no more data can be written. Written data is still sent, followed by a FIN (RFC 9293, 3.10.4)
    /// if the settings enable it. Unlike in the RFC, this also holds in SYN-SENT: use [`Connection::abort`] to give up
    /// an attempt. In LISTEN the peer is unknown, and the connection ends.
    pub fn close(&mut self) {
        if self.closing {
            return;
        }
        if !self.settings.fin && !matches!(self.state, State::Closed | State::Listen) {
            self.closing = true;
            return self.end_without_fin();
        }
        match self.state {
            State::Closed => return,
            // No SYN has arrived yet.
            State::Listen => return self.finish(End::Aborted),
            State::Established => self.state = State::FinWait1,
            State::CloseWait => self.state = State::LastAck,
            // The FIN follows once the connection is established.
            _ => {}
        }
        self.closing = true;
        self.sender.space.close();
    }

    /// Returns whether the peer learns of the close ([`Config::fin`](crate::Config::fin)).
    pub fn tells_of_its_end(&self) -> bool {
        self.settings.fin
    }

    /// Ends a connection that was closed without a FIN, once the peer has all written data.
    fn end_without_fin(&mut self) {
        let is_open = matches!(self.state, State::Established | State::CloseWait);
        if is_open && self.sender.space.unacknowledged() == 0 {
            self.finish(End::Finished);
        }
    }

    /// Ends the connection and sends the peer a reset (RFC 9293, 3.10.5).
    pub fn abort(&mut self) {
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            let sequence = self.sender.space.sequence(self.sender.space.max);
            let acknowledgement = Some(self.receiver.acknowledgement());
            self.reset = Some(Reset { sequence, acknowledgement });
        }
        if self.state != State::Closed {
            self.finish(End::Aborted);
        }
    }

    /// Reports that payload bytes from [`Connection::poll_transmit`] have left the host's NIC, or were dropped there.
    /// Returns whether the connection may now send more. Needed only with [`Config::tsq`](crate::Config::tsq).
    pub fn left_nic(&mut self, payload_bytes: u64) -> bool {
        self.sender.left_nic(payload_bytes)
    }

    /// Returns whether [`Connection::left_nic`] must be called.
    #[inline]
    pub fn is_told_of_nic(&self) -> bool {
        self.settings.tsq.is_some()
    }

    /// Handles a received segment of this connection.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        self.segments_received += 1;
        self.ce_received += u64::from(segment.ecn == Ecn::Ce);
        match self.state {
            State::Closed => self.refuse(segment),
            State::Listen => self.handle_in_listen(now, segment),
            State::SynSent => self.handle_in_syn_sent(now, segment),
            _ => self.handle_synchronized(now, segment),
        }
        if self.closing && !self.settings.fin {
            self.end_without_fin();
        }
    }

    /// Handles a segment in the states from SYN-RECEIVED on (RFC 9293, 3.10.7.4), with the checks of RFC 5961 and RFC 7323.
    fn handle_synchronized(&mut self, now: Time, segment: &Segment) {
        let start = self.receiver.offset(segment.sequence);
        if !self.timestamp_is_fresh(now, segment) {
            return self.challenge(now, segment);
        }
        let (next, edge) = (self.receiver.next() as i64, self.receiver.edge() as i64);
        let len = segment.sequence_len() as i64;
        // First: the sequence number. A closed window accepts no data, but the rest of the segment is processed.
        let acceptable = if len == 0 {
            (next..=edge).contains(&start)
        } else {
            start < edge.max(next + 1) && start + len > next
        };
        if !acceptable {
            return self.handle_unacceptable(now, start, segment);
        }
        // Second: an RST is valid only with the expected sequence number (RFC 5961, 3.2).
        if segment.has(RST) {
            return if start == next { self.handle_reset() } else { self.challenge(now, segment) };
        }
        // Fourth: a SYN is never valid (RFC 5961, 4.2).
        if segment.has(SYN) {
            return self.challenge(now, segment);
        }
        self.receiver.count_mark(segment.ecn);
        // Fifth: ACK.
        if !segment.has(ACK) || !self.handle_acknowledgement(now, start, segment) {
            return;
        }
        self.note_timestamp(now, start, segment);
        // Seventh and eighth: payload and FIN.
        if len > 0 && matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            self.handle_data(now, start, segment);
        }
    }

    /// Handles a segment outside the window: answers with an ACK that states this end's position, unless it is a reset.
    fn handle_unacceptable(&mut self, now: Time, start: i64, segment: &Segment) {
        if segment.has(RST) {
            return;
        }
        if self.state == State::SynReceived && segment.has(SYN) && !segment.has(ACK) && start == 0 {
            // The peer has sent its SYN again, so our answer was lost, unless the timer has just sent another.
            self.answer_repeated_ace(segment);
            self.syn_due |= !self.sender.has_sent_syn_at(now);
            return;
        }
        if segment.has(SYN) && segment.has(ACK) && start == 0 && !self.passive {
            // RFC 9768, 3.2.2.1: the answer to every SYN-ACK reports its codepoint, including a repeated one.
            self.note_handshake_ace(segment.ecn);
        }
        if segment.payload_len > 0 {
            self.receiver.expect_repair(&self.settings);
            if self.reports_duplicates() {
                self.receiver.note_duplicate(start, start + i64::from(segment.payload_len));
            }
        }
        if self.state == State::TimeWait && segment.has(FIN) {
            // RFC 9293, 3.10.7.4: the peer has sent its FIN again, so the wait restarts.
            self.linger_until = now.saturating_add(self.settings.time_wait);
        }
        self.challenge(now, segment);
    }

    /// Answers with an ACK. Answers to segments without payload are rate-limited.
    fn challenge(&mut self, now: Time, segment: &Segment) {
        if segment.is_pure_ack() || segment.has(RST) {
            if now < self.challenge_after {
                return;
            }
            self.challenge_after = now.saturating_add(CHALLENGE_GAP);
        }
        self.receiver.must_ack();
    }

    fn handle_reset(&mut self) {
        match self.state {
            State::SynReceived if self.passive => {
                // RFC 9293, 3.10.7.4: back to LISTEN. Written data is kept.
                let (isn, written) = (self.sender.space.sequence(0), self.sender.space.unacknowledged());
                let fresh = Self::listen(&self.settings.clone(), isn);
                let closing = std::mem::replace(self, fresh).closing;
                self.sender.space.write(written);
                if closing {
                    self.close();
                }
            }
            State::SynReceived => self.finish(End::Refused),
            State::TimeWait => self.finish(End::Finished),
            _ => self.finish(End::Reset),
        }
    }

    /// Handles the ACK field. Returns whether the rest of the segment is to be processed.
    #[inline]
    fn handle_acknowledgement(&mut self, now: Time, start: i64, segment: &Segment) -> bool {
        let offset = self.sender.space.offset(segment.acknowledgement);
        let window = u64::from(segment.window) << self.peer_scale;
        if self.state == State::SynReceived {
            if offset != 1 {
                self.reset = Some(Reset { sequence: segment.acknowledgement, acknowledgement: None });
                return false;
            }
            self.establish(now, start.max(0) as u64, window, segment);
            return true;
        }
        if offset > self.sender.space.max as i64 || offset < self.sender.oldest_acknowledgement() {
            // RFC 9293, 3.10.7.4; RFC 5961, 5.2.
            self.challenge(now, segment);
            return false;
        }
        if offset >= self.sender.space.una as i64 {
            if self.sender.only_sets_window(offset as u64, segment) {
                self.sender.take_window(start.max(0) as u64, offset as u64, window);
                return true;
            }
            let acknowledgement = Acknowledgement {
                offset: offset as u64,
                sequence: start.max(0) as u64,
                window,
                pure: segment.is_pure_ack(),
                ace: segment.ace(),
                sack: segment.options.sack.as_slice(),
                timestamp_rtt: self.timestamp_rtt(now, segment),
            };
            self.sender.acknowledge(now, &acknowledgement, &self.settings);
            if self.closing && self.sender.space.fin_acknowledged() {
                match self.state {
                    State::FinWait1 => self.state = State::FinWait2,
                    State::Closing => self.linger(now),
                    State::LastAck => {
                        self.finish(End::Finished);
                        return false;
                    }
                    _ => {}
                }
            }
        }
        true
    }

    fn reports_duplicates(&self) -> bool {
        self.settings.dsack && self.sender.loss.sack
    }

    #[inline]
    fn handle_data(&mut self, now: Time, start: i64, segment: &Segment) {
        let edge = self.receiver.edge();
        let end = (start + i64::from(segment.payload_len)) as u64;
        if start < self.receiver.next() as i64 && segment.payload_len > 0 && self.reports_duplicates() {
            self.receiver.note_duplicate(start, end as i64);
        }
        let start = start.max(self.receiver.next() as i64) as u64;
        // Data beyond the window is cut off, including the FIN.
        let fin = segment.has(FIN) && end < edge.max(start + 1);
        let end = end.min(edge);
        if end < start || (end == start && !fin) {
            return self.receiver.must_ack();
        }
        let arrival = Arrival { start, end, fin, ecn: segment.ecn, cwr: segment.has(CWR) };
        self.receiver.accept(now, &arrival, &self.settings);
        if self.receiver.fin_received() {
            match self.state {
                State::Established => self.state = State::CloseWait,
                State::FinWait1 => self.state = State::Closing,
                State::FinWait2 => self.linger(now),
                _ => {}
            }
        }
    }

    /// Returns whether a segment's timestamp is not older than TS.Recent (RFC 7323, 5.3 R1). Without timestamps every
    /// segment is fresh.
    #[inline]
    fn timestamp_is_fresh(&self, now: Time, segment: &Segment) -> bool {
        if !self.timestamps || segment.has(RST) {
            return true;
        }
        match segment.options.timestamps {
            Some(Timestamps { value, .. }) => {
                value.wrapping_sub(self.ts_recent) as i32 >= 0
                    || now.saturating_since(self.ts_recent_at) > TIMESTAMP_LIFE
            }
            // RFC 7323, 3.2: once negotiated, every segment has timestamps.
            None => false,
        }
    }

    /// Sets TS.Recent from a segment's timestamp (RFC 7323, 4.3).
    #[inline]
    fn note_timestamp(&mut self, now: Time, start: i64, segment: &Segment) {
        if let (true, Some(timestamps)) = (self.timestamps, segment.options.timestamps) {
            if start <= self.acknowledged as i64 {
                (self.ts_recent, self.ts_recent_at) = (timestamps.value, now);
            }
        }
    }

    /// Returns the round-trip time that a timestamp implies, in whole ticks, at least one (RFC 7323, 4.1).
    pub(crate) fn timestamp_rtt(&self, now: Time, segment: &Segment) -> Option<Duration> {
        let tick = self.settings.timestamps.filter(|_| self.timestamps)?;
        let ticks = self.timestamp(now).wrapping_sub(segment.options.timestamps?.echo_reply);
        (ticks <= i32::MAX as u32).then(|| tick.saturating_mul(u64::from(ticks.max(1))))
    }

    /// Returns TSval: the time in ticks.
    pub(crate) fn timestamp(&self, now: Time) -> u32 {
        self.settings.timestamps.map_or(0, |tick| (now.as_ps() / tick.as_ps()) as u32)
    }

    fn linger(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.sender.stop();
        self.linger_until = now.saturating_add(self.settings.time_wait);
    }

    pub(crate) fn finish(&mut self, end: End) {
        self.state = State::Closed;
        self.end = Some(end);
        self.syn_due = false;
        self.linger_until = Time::MAX;
        self.sender.stop();
        self.receiver.stop();
    }

    /// Returns the time at which [`Connection::handle_timeout`] must be called. Any other call may change it.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        let due = self.sender.next_timeout().min(self.receiver.next_timeout()).min(self.linger_until);
        (due != Time::MAX).then_some(due)
    }

    /// Runs the timers that are due, if any.
    pub fn handle_timeout(&mut self, now: Time) {
        self.receiver.handle_timeout(now);
        if now >= self.linger_until {
            return self.finish(End::Finished);
        }
        if now < self.sender.next_timeout() {
            return;
        }
        let is_opening = matches!(self.state, State::SynSent | State::SynReceived);
        let timeouts = self.sender.stats.timeouts;
        let goes_on = self.sender.handle_timeout(now, &self.settings);
        if is_opening && self.sender.stats.timeouts > timeouts {
            self.sender.stats.syn_timeouts += 1;
            self.syn_due = true;
        }
        if !goes_on {
            self.finish(End::TimedOut);
        }
    }

    /// Returns the state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns how the connection ended. After that nothing more happens.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Returns the bytes of this end's stream that the peer has acknowledged.
    pub fn bytes_acknowledged(&self) -> u64 {
        self.sender.space.acknowledged()
    }

    /// Returns the bytes that were written and that the peer has not acknowledged.
    pub fn bytes_unacknowledged(&self) -> u64 {
        self.sender.space.unacknowledged()
    }

    /// Returns the bytes of the peer's stream that have arrived in order.
    pub fn bytes_received(&self) -> u64 {
        self.receiver.received()
    }

    /// Returns the bytes that have arrived in order and that the application has not read.
    pub fn bytes_unread(&self) -> u64 {
        self.receiver.unread()
    }

    /// Returns whether the peer has closed and all of its data has arrived.
    pub fn peer_has_closed(&self) -> bool {
        self.receiver.fin_received()
    }

    /// Returns the congestion window.
    pub fn cwnd(&self) -> Bytes {
        Bytes::new(self.sender.congestion_window.cwnd)
    }

    /// Returns the slow start threshold; `None` before the first loss or mark.
    pub fn ssthresh(&self) -> Option<Bytes> {
        let ssthresh = self.sender.congestion_window.ssthresh;
        (ssthresh != u64::MAX).then_some(Bytes::new(ssthresh))
    }

    /// Returns the bytes sent and not yet acknowledged.
    pub fn in_flight(&self) -> Bytes {
        Bytes::new(self.sender.space.flight())
    }

    /// Returns the maximum number of payload bytes in one segment.
    pub fn mss(&self) -> Bytes {
        Bytes::new(self.sender.mss())
    }

    /// Returns DCTCP's alpha (RFC 8257, 3.3).
    pub fn dctcp_alpha(&self) -> Option<f64> {
        self.sender.congestion.alpha()
    }

    /// Returns the smoothed round-trip time (RFC 6298, 2).
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.timer.srtt
    }

    /// Returns the retransmission timeout with its back-off.
    pub fn rto(&self) -> Duration {
        self.sender.timer.rto(&self.settings)
    }

    /// Returns whether both ends use ECN (RFC 3168, 6.1.1).
    pub fn uses_ecn(&self) -> bool {
        self.sender.ecn.on
    }

    /// Returns the counts so far.
    pub fn stats(&self) -> Stats {
        let (segments_received, ce_received) = (self.segments_received, self.ce_received);
        Stats { segments_received, ce_received, ..self.sender.stats }
    }
}
