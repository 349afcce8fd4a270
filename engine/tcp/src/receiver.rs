//! The receiving half: reassembly, the announced window, the timing of ACKs, and the echo of ECN marks.
//!
//! Offsets count the stream from 0 at the peer's SYN: data starts at 1, and the FIN follows the last byte.

use units::Time;
use wire::tcp_options::{SackBlock, SackBlocks};
use wire::Ecn;

use crate::accecn::{INITIAL_COUNT, MARKS_AN_ACK};
use crate::config::{Algorithm, Config, MAX_WINDOW};
use crate::ranges::Ranges;

/// How marks are echoed to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Echo {
    /// ECN is not used.
    #[default]
    Off,
    /// RFC 3168, 6.1.3: from a mark until the sender sets CWR.
    UntilCwr(bool),
    /// RFC 8257, 3.2: the mark of the last data packet.
    AsReceived(bool),
    /// RFC 9768.
    Counted(Counted),
}

/// AccECN's counter of marked packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted {
    /// r.cep, modulo 256.
    count: u8,
    /// Marked data packets since the last ACK.
    unreported: u8,
    /// Whether the last data packet was marked.
    last: bool,
}

/// An ACK that reports the mark of the data before a change (RFC 8257, 3.2): its offset and echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlierAck {
    pub(crate) next: u64,
    pub(crate) ece: bool,
}

/// Data that has been accepted, as a range of offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) start: u64,
    /// The offset after the last payload byte.
    pub(crate) end: u64,
    pub(crate) fin: bool,
    pub(crate) ecn: Ecn,
    pub(crate) cwr: bool,
}

/// State of the receiving half.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// Sequence number of the peer's SYN.
    isn: u32,
    /// RCV.NXT: everything below this offset has arrived.
    next: u64,
    /// The application has read everything below this offset.
    read: u64,
    /// Right edge of the largest announced window: RCV.NXT + RCV.WND. It never moves back (RFC 9293, 3.8.6).
    edge: u64,
    buffer: u64,
    /// Shift of the announced windows, once negotiated.
    pub(crate) scale: u8,
    /// Ranges received beyond `next`, including the FIN.
    held: Ranges,
    /// Offsets in `held`, each in another range, the most recently changed one first (RFC 2018, 4); the others are in no range.
    recent: [u64; SackBlocks::MAX],
    /// A duplicate range to be reported in the next ACK (RFC 2883, 4).
    duplicate: Option<(u64, u64)>,
    /// Offset of the peer's FIN, once it has arrived.
    fin: Option<u64>,
    echo: Echo,
    pub(crate) earlier: Option<EarlierAck>,
    /// Number of unacknowledged segments.
    waiting: u32,
    /// Number of segments still to be acknowledged at once.
    quick: u32,
    /// Whether an ACK must be sent at once.
    pub(crate) ack_now: bool,
    /// The latest time for the ACK of waiting data; `Time::MAX` if nothing waits.
    ack_at: Time,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            buffer: config.receive_buffer.map_or(MAX_WINDOW, |buffer| buffer.get()),
            quick: config.quick_acks,
            ack_at: Time::MAX,
            ..Self::default()
        }
    }

    /// Returns the shift with which the whole buffer can be announced (RFC 7323, 2.2).
    pub(crate) fn wanted_scale(&self) -> u8 {
        (0..).find(|shift| self.buffer >> shift <= u64::from(u16::MAX)).unwrap_or_default()
    }

    /// Sets the sequence number of the peer's SYN.
    pub(crate) fn synchronize(&mut self, isn: u32) {
        // The window announced in our SYN counts from the first data byte.
        (self.isn, self.next, self.read, self.edge) = (isn, 1, 1, self.edge + 1);
    }

    /// Turns ECN on, once both ends have agreed on it.
    pub(crate) fn use_ecn(&mut self, algorithm: Algorithm, accurate: bool) {
        self.echo = match algorithm {
            _ if accurate => Echo::Counted(Counted { count: INITIAL_COUNT, unreported: 0, last: false }),
            Algorithm::Dctcp => Echo::AsReceived(false),
            _ => Echo::UntilCwr(false),
        };
    }

    /// Returns the offset of a sequence number, at the shorter distance from RCV.NXT.
    #[inline]
    pub(crate) fn offset(&self, sequence: u32) -> i64 {
        let next = self.isn.wrapping_add(self.next as u32);
        self.next as i64 + i64::from(sequence.wrapping_sub(next) as i32)
    }

    /// Returns RCV.NXT as a sequence number.
    #[inline]
    pub(crate) fn acknowledgement(&self) -> u32 {
        self.acknowledgement_of(self.next)
    }

    pub(crate) fn acknowledgement_of(&self, offset: u64) -> u32 {
        self.isn.wrapping_add(offset as u32)
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// Returns the payload bytes that have arrived in order.
    pub(crate) fn received(&self) -> u64 {
        self.next.saturating_sub(1 + u64::from(self.fin_received()))
    }

    pub(crate) fn unread(&self) -> u64 {
        (1 + self.received()).saturating_sub(self.read.max(1))
    }

    /// Returns whether the peer's FIN and everything before it have arrived.
    pub(crate) fn fin_received(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// Takes up to `limit` bytes for the application.
    pub(crate) fn take(&mut self, limit: u64, mss: u64) -> u64 {
        let taken = limit.min(self.unread());
        self.read += taken;
        // RFC 9293, 3.8.6.2.2: a window that has opened far enough is announced without waiting for data.
        if taken > 0 && self.window_grows_by(mss) && self.edge - self.next < mss {
            self.ack_now = true;
        }
        taken
    }

    /// Returns whether the right edge can move by at least a segment or half the buffer (RFC 9293, 3.8.6.2.2, with Fr = 1/2).
    fn window_grows_by(&self, mss: u64) -> bool {
        let possible = (self.read + self.buffer).saturating_sub(self.edge);
        possible >= mss.min((self.buffer / 2).max(1))
    }

    /// Returns the value of the window field, and updates RCV.WND to match. `scaled` is false only for a SYN.
    #[inline]
    pub(crate) fn announce(&mut self, mss: u64, scaled: bool) -> u16 {
        if self.window_grows_by(mss) {
            self.edge = self.read + self.buffer;
        }
        let scale = if scaled { self.scale } else { 0 };
        let window = (self.edge - self.next) >> scale;
        let window = u16::try_from(window).unwrap_or(u16::MAX);
        // The part of a window that its field cannot hold is not announced.
        self.edge = self.edge.min(self.next + (u64::from(window) << scale) + (1 << scale) - 1);
        window
    }

    /// Accepts data or a FIN, at least partly within the window. Sent data ends below 2^63.
    pub(crate) fn accept(&mut self, now: Time, arrival: &Arrival, config: &Config) {
        let Arrival { start, end, fin, .. } = *arrival;
        if fin && self.fin.is_none() {
            self.fin = Some(end);
        }
        self.note_mark(arrival);
        // No data follows a FIN.
        let end = (end + u64::from(fin)).min(self.fin.map_or(u64::MAX, |fin| fin + 1));
        let start = start.max(self.next);
        if end <= self.next.max(start) && end > self.next {
            return;
        }
        if start > self.next {
            if config.dsack {
                self.note_duplicate_among_held(start, end);
            }
            // RFC 5681, 4.2: out of order, so a duplicate ACK is sent at once.
            if self.held.insert(start, end).is_some() {
                self.remember(start);
            }
            self.ack_now = true;
            return;
        }
        if end <= self.next {
            self.ack_now = true;
            self.expect_repair(config);
            return;
        }
        self.next = end;
        if !self.held.is_empty() {
            if config.dsack && self.duplicate.is_none() {
                self.note_duplicate_among_held(start, end);
            }
            // RFC 5681, 4.2: data that fills all or part of a gap is acknowledged at once as well.
            self.ack_now = true;
            self.expect_repair(config);
            if let Some((_, held_end)) = self.held.containing(end) {
                self.next = held_end;
            }
            self.held.remove_below(self.next);
        }
        if config.reads_at_once {
            self.read = 1 + self.received();
        }
        self.waiting += 1;
        match config.delayed_ack {
            Some(_) if self.quick > 0 => (self.ack_now, self.quick) = (true, self.quick - 1),
            Some(delay) if self.waiting < delay.segments && !self.fin_received() => {
                if self.ack_at == Time::MAX {
                    self.ack_at = now.saturating_add(delay.timer);
                }
            }
            _ => self.ack_now = true,
        }
    }

    /// Records that `[start, end)` has arrived and that its part below RCV.NXT is a duplicate, which is reported at once (RFC 2883, 4).
    pub(crate) fn note_duplicate(&mut self, start: i64, end: i64) {
        let (start, end) = (start.max(1), end.min(self.next as i64));
        if start < end {
            self.duplicate = Some((start as u64, end as u64));
            self.ack_now = true;
        }
    }

    /// Records the first part of `[start, end)` beyond RCV.NXT that is a duplicate.
    fn note_duplicate_among_held(&mut self, start: u64, end: u64) {
        let start = match self.held.containing(start) {
            Some(_) => Some(start),
            None => self.held.gap_from(start).1,
        };
        let Some((_, held_end)) = start.and_then(|start| self.held.containing(start)) else { return };
        self.duplicate = start.filter(|start| *start < end).map(|start| (start, held_end.min(end)));
    }

    /// Enables immediate ACKs for a while: data was lost or duplicated, so the sender's window is small and waits for ACKs.
    pub(crate) fn expect_repair(&mut self, config: &Config) {
        self.quick = config.quick_acks;
    }

    /// Updates the echo of CE for an arrival of data or a FIN.
    #[inline]
    fn note_mark(&mut self, arrival: &Arrival) {
        let ce = arrival.ecn == Ecn::Ce;
        match &mut self.echo {
            Echo::Off => {}
            // RFC 3168, 6.1.3: CWR ends the echo, unless the same packet is marked.
            Echo::UntilCwr(on) => *on = ce || (*on && !arrival.cwr),
            // RFC 8257, 3.2: at a change, the data before it is acknowledged with its own mark, and this packet at once.
            Echo::AsReceived(on) if *on != ce => {
                if self.waiting > 0 {
                    self.earlier = Some(EarlierAck { next: self.next, ece: *on });
                }
                *on = ce;
                self.ack_now = true;
            }
            Echo::AsReceived(_) => {}
            // RFC 9768, 3.2.2.5.1: at once for the first of a series of marks, and for every second mark.
            Echo::Counted(counted) => {
                counted.unreported += u8::from(ce);
                if ce && (!counted.last || counted.unreported >= MARKS_AN_ACK) {
                    self.ack_now = true;
                }
                counted.last = ce;
            }
        }
    }

    /// Counts the mark of an acceptable packet, with or without data (RFC 9768, 3.2.1).
    #[inline]
    pub(crate) fn count_mark(&mut self, ecn: Ecn) {
        if let (Echo::Counted(counted), Ecn::Ce) = (&mut self.echo, ecn) {
            counted.count = counted.count.wrapping_add(1);
        }
    }

    /// Returns the counter of marked packets, if this end feeds it back.
    #[inline]
    pub(crate) fn marks_counted(&self) -> Option<u8> {
        match &self.echo {
            Echo::Counted(counted) => Some(counted.count),
            _ => None,
        }
    }

    /// Records that the range that contains `place` has changed last.
    fn remember(&mut self, place: u64) {
        let held = &self.held;
        let range = held.containing(place);
        let mut recent = [0; SackBlocks::MAX];
        recent[0] = place;
        let others = self.recent.iter().filter(|other| held.containing(**other) != range);
        for (slot, other) in recent[1..].iter_mut().zip(others) {
            *slot = *other;
        }
        self.recent = recent;
    }

    /// Returns whether [`Receiver::take_sack_blocks`] returns any blocks.
    #[inline]
    pub(crate) fn has_sack_blocks(&self) -> bool {
        !self.held.is_empty() || self.duplicate.is_some()
    }

    /// Takes the SACK blocks to report (RFC 2018, 4): the most recently changed block, then those reported before. A
    /// duplicate is reported once, ahead of them (RFC 2883, 4).
    pub(crate) fn take_sack_blocks(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let duplicate = self.duplicate.take();
        let ranges = self.recent.iter().filter_map(|place| self.held.containing(*place));
        for (start, end) in duplicate.into_iter().chain(ranges) {
            let [left, right] = [start, end].map(|offset| self.acknowledgement_of(offset));
            blocks.push(SackBlock { left, right });
        }
        blocks
    }

    /// Makes an ACK due at once, for an unacceptable segment or a required answer.
    pub(crate) fn must_ack(&mut self) {
        self.ack_now = true;
    }

    /// Returns whether a due ACK must be sent without data: an ACK that reports out-of-order or duplicate data is a
    /// duplicate ACK and carries none (RFC 5681, 2).
    pub(crate) fn duplicate_ack_is_due(&self) -> bool {
        self.ack_now && self.has_sack_blocks()
    }

    /// Records that a segment with RCV.NXT is sent, whatever else it carries.
    #[inline]
    pub(crate) fn acknowledged(&mut self) {
        (self.ack_now, self.waiting, self.ack_at) = (false, 0, Time::MAX);
        if let Echo::Counted(counted) = &mut self.echo {
            counted.unreported = 0;
        }
    }

    /// Returns whether departing segments carry ECE.
    #[inline]
    pub(crate) fn echoes(&self) -> bool {
        matches!(self.echo, Echo::UntilCwr(true) | Echo::AsReceived(true))
    }

    #[inline]
    pub(crate) fn next_timeout(&self) -> Time {
        self.ack_at
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if now >= self.ack_at {
            (self.ack_now, self.ack_at) = (true, Time::MAX);
        }
    }

    /// Cancels pending ACKs.
    pub(crate) fn stop(&mut self) {
        self.acknowledged();
        self.earlier = None;
    }
}
