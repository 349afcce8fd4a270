//! The sending half: what may be sent now, what has been acknowledged, the retransmission and the persist timer.
//!
//! Offsets count the stream from 0 at our SYN: data starts at 1, the FIN comes after the last byte. Being 64 bits wide
//! they never wrap; sequence numbers are made of them when a segment leaves.

use units::{Duration, Time};
use wire::tcp::ECE;
use wire::tcp_options::SackBlock;

use crate::accecn::{self, Feedback};
use crate::config::Config;
use crate::congestion::{Ack, Congestion, Window};
use crate::hystart::{Growth, HyStart};
use crate::pacing;
use crate::rack::{Rack, TailProbe};
use crate::ranges::Ranges;
use crate::recovery::{FastRecovery, Frto, Prior, Recovery};
use crate::rtt::RttEstimator;
use crate::stats::Stats;
use crate::Segment;

/// Duplicate ACKs that signal a loss (RFC 5681, 3.2).
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;

/// A piece of the stream to be sent: a range of offsets, which ends with the FIN if `fin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) start: u64,
    pub(crate) payload_len: u32,
    pub(crate) fin: bool,
    /// It has been sent before, at least in part.
    pub(crate) again: bool,
    /// It asks for the window, whatever the window is.
    pub(crate) probe: bool,
    /// The last byte that the application has written so far.
    pub(crate) push: bool,
}

impl Chunk {
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.payload_len) + u64::from(self.fin)
    }
}

/// What an acceptable segment with ACK says to the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    /// Offset of SEG.ACK, at most what has been sent.
    pub(crate) offset: u64,
    /// Offset of SEG.SEQ, to tell older windows from newer.
    pub(crate) sequence: u64,
    /// SEG.WND, scaled.
    pub(crate) window: u64,
    /// No payload and no FIN.
    pub(crate) pure: bool,
    /// The field ACE: ECE is its lowest bit.
    pub(crate) ace: u8,
    pub(crate) sack: &'a [SackBlock],
    /// Round-trip time by the timestamp that came back.
    pub(crate) timestamp_rtt: Option<Duration>,
}

/// What the segment that acknowledges our SYN says to the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynAcknowledgement {
    /// Offset of SEG.SEQ.
    pub(crate) sequence: u64,
    /// SEG.WND, scaled if it is.
    pub(crate) window: u64,
    /// Round-trip time by the timestamp that came back.
    pub(crate) timestamp_rtt: Option<Duration>,
}

/// State of the sending half.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    isn: u32,
    /// SND.UNA: everything below is acknowledged.
    pub(crate) una: u64,
    /// SND.NXT: where sending goes on. Behind `max` after a timeout only, and while a small window is probed.
    pub(crate) next: u64,
    /// After the highest offset sent.
    pub(crate) max: u64,
    /// After the last byte written.
    end: u64,
    /// A FIN follows the last byte.
    closing: bool,
    /// SND.WND: bytes from `una` that the peer takes.
    window: u64,
    max_window: u64,
    /// SND.WL1 and SND.WL2.
    window_at: (u64, u64),
    /// Maximum number of bytes in a segment: `congestion_window.mss`.
    pub(crate) congestion_window: Window,
    pub(crate) congestion: Congestion,
    pub(crate) recovery: Recovery,
    pub(crate) sacked: Ranges,
    pub(crate) sack: bool,
    limited_transmit: bool,
    pub(crate) prr: bool,
    /// Whether any of RACK-TLP, PRR, F-RTO, D-SACK, HyStart++ and TSQ is on: where none is, they cost a segment this one test at
    /// each place.
    extended: bool,
    /// When each segment was sent, if losses are found by that.
    pub(crate) rack: Option<Rack>,
    /// Whether a time-out is in question, and what it has replaced.
    pub(crate) frto: Frto,
    pub(crate) prior: Option<Box<Prior>>,
    /// What the peer reports as duplicates counts.
    pub(crate) dsack: bool,
    /// Bytes of the initial window.
    pub(crate) initial_window: u64,
    pub(crate) duplicates: u32,
    /// Loss below this has been answered to: `max` at the last reduction by loss (RFC 6582, 3.2 "recover"; RFC 6675
    /// "RecoveryPoint").
    pub(crate) recover: u64,
    /// A mark below this has been answered to: `max` at the last reduction (RFC 3168, 6.1.2).
    mark_answered: u64,
    /// The next new data says CWR.
    reduced: bool,
    pub(crate) ecn: bool,
    /// With AccECN: what is known of the peer's counter.
    feedback: Option<Feedback>,
    /// With a window of one segment, a mark lets nothing out before this (RFC 3168, 6.1.2); zero without such a wait.
    quiet_until: Time,
    rtt: RttEstimator,
    /// An offset whose acknowledgement gives a round-trip time, and when it was sent.
    pub(crate) timed: Option<(u64, Time)>,
    retransmit_at: Time,
    /// Times that the timer has fired since the last progress.
    timeouts: u32,
    persist_at: Time,
    /// Probes since the last progress.
    probes: u32,
    /// Probes since the peer was heard last.
    unanswered: u32,
    /// A probe is due.
    probe: bool,
    last_sent: Time,
    /// Until the first slow start has ended, if it is to end by delay.
    hystart: Option<Box<HyStart>>,
    /// The bound of what is in the NIC, as time at the pacing rate (`Config::tsq`).
    tsq: Option<Duration>,
    /// Bytes of payload in the host's NIC, if that is bounded.
    in_nic: u64,
    /// More would have left but for that bound.
    waits_for_nic: bool,
    pub(crate) stats: Stats,
}

impl Sender {
    pub(crate) fn new(config: &Config, isn: u32) -> Self {
        Self {
            isn,
            una: 0,
            next: 0,
            max: 0,
            end: 1,
            closing: false,
            window: 0,
            max_window: 0,
            window_at: (0, 0),
            congestion_window: Window::new(config, config.mss.into()),
            congestion: Congestion::new(config),
            recovery: Recovery::None,
            sacked: Ranges::default(),
            sack: false,
            limited_transmit: config.limited_transmit,
            prr: config.prr,
            extended: config.rack
                || config.prr
                || config.frto
                || config.dsack
                || config.hystart.is_some()
                || config.tsq.is_some(),
            rack: None,
            frto: Frto::Off,
            prior: None,
            dsack: config.dsack,
            initial_window: 0,
            duplicates: 0,
            recover: 0,
            mark_answered: 0,
            reduced: false,
            ecn: false,
            feedback: None,
            quiet_until: Time::ZERO,
            rtt: RttEstimator::new(config),
            timed: None,
            retransmit_at: Time::MAX,
            timeouts: 0,
            persist_at: Time::MAX,
            probes: 0,
            unanswered: 0,
            probe: false,
            last_sent: Time::ZERO,
            hystart: config.hystart.map(|thresholds| Box::new(HyStart::new(thresholds))),
            tsq: config.tsq,
            in_nic: 0,
            waits_for_nic: false,
            stats: Stats::default(),
        }
    }

    /// Returns the sequence number at an offset.
    #[inline]
    pub(crate) fn sequence(&self, offset: u64) -> u32 {
        self.isn.wrapping_add(offset as u32)
    }

    /// Returns the offset of a sequence number near SND.UNA; negative when it is before the SYN.
    #[inline]
    pub(crate) fn offset(&self, sequence: u32) -> i64 {
        self.una as i64 + i64::from(sequence.wrapping_sub(self.sequence(self.una)) as i32)
    }

    /// Returns the oldest acknowledgement that is not stale (RFC 5961, 5.2): SND.UNA - MAX.SND.WND.
    pub(crate) fn oldest_acknowledgement(&self) -> i64 {
        self.una as i64 - self.max_window as i64
    }

    pub(crate) fn mss(&self) -> u64 {
        self.congestion_window.mss
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    pub(crate) fn rto(&self, config: &Config) -> Duration {
        self.rtt.rto(config)
    }

    /// Returns the bytes written and not acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.end.saturating_sub(self.una.max(1))
    }

    /// Returns the bytes acknowledged, without SYN and FIN.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.una.clamp(1, self.end) - 1
    }

    /// Returns FlightSize (RFC 5681, 2), after a timeout what has been sent since.
    #[inline]
    pub(crate) fn flight(&self) -> u64 {
        self.next - self.una
    }

    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.closing && self.una > self.end
    }

    /// Returns the bytes that fit until the stream's offsets are used up.
    pub(crate) fn room(&self) -> u64 {
        MAX_STREAM - self.end
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.end += bytes;
    }

    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    /// Turns ECN on: both ends have agreed on it.
    pub(crate) fn use_ecn(&mut self, accurate: bool) {
        self.ecn = true;
        self.feedback = accurate.then(|| Feedback::new(accecn::INITIAL_COUNT));
    }

    /// Sends nothing more ECN-capable and ignores what the peer feeds back: something on the path clears it, or the peer has asked without
    /// ECN, too.
    pub(crate) fn stop_ecn(&mut self) {
        (self.ecn, self.feedback) = (false, None);
    }

    /// Starts s.cep at 6, because our SYN-ACK came marked (RFC 9768, 3.2.2.1).
    pub(crate) fn note_marked_handshake(&mut self) {
        self.feedback = Some(Feedback::new(accecn::INITIAL_COUNT + 1));
    }

    /// Returns the marked bytes that an ACK reports. The ACK moves SND.UNA, or reports something new.
    #[inline]
    fn take_marks(&mut self, ack: &Acknowledgement<'_>, acked: u64) -> u64 {
        let mss = self.congestion_window.mss;
        match &mut self.feedback {
            None => u64::from(self.ecn && ack.ace & 1 != 0) * acked,
            Some(feedback) => {
                let packets = acked.div_ceil(mss).max(1);
                let is_first = !std::mem::replace(&mut feedback.looked_at, true);
                if is_first && ack.ace == 0 && packets < accecn::MARKS_TO_ZERO {
                    // RFC 9768, 3.2.2.4: the first feedback after the handshake is zero, so something on the path clears it.
                    self.stop_ecn();
                    return 0;
                }
                feedback.bytes += feedback.take(ack.ace, packets) * mss;
                let marked = feedback.bytes.min(acked);
                feedback.bytes -= marked;
                marked
            }
        }
    }

    /// Notes that a SYN or SYN-ACK has left.
    pub(crate) fn syn_sent(&mut self, now: Time, config: &Config) {
        // Karn: one that is sent again does not measure, whatever caused it: our timer, or the peer's SYN that came again.
        self.timed = (self.max == 0).then_some((1, now));
        (self.next, self.max, self.last_sent) = (1, 1, now);
        self.retransmit_at = now.saturating_add(self.rtt.rto(config));
    }

    /// Returns whether two SYNs or SYN-ACKs are lost, so that what is on the way may not like their flags (RFC 9768, 3.1.4).
    pub(crate) fn doubts_syn_flags(&self) -> bool {
        self.timeouts > 1
    }

    /// Returns whether a SYN or SYN-ACK has left in this very instant: another one would say the same.
    pub(crate) fn has_sent_syn_at(&self, now: Time) -> bool {
        self.max > 0 && self.last_sent == now
    }

    /// Starts sending: our SYN is acknowledged by `ack`, and the peer takes segments of `mss` bytes.
    pub(crate) fn established(&mut self, now: Time, mss: u64, ack: &SynAcknowledgement, config: &Config) {
        self.una = 1;
        let timed = self.timed.take().map(|(_, sent)| now.saturating_since(sent));
        // RFC 7323, 4.1: a timestamp that came back tells which of several SYNs it answers.
        let rtt = timed.or(ack.timestamp_rtt);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, config);
        }
        self.congestion_window = Window::new(config, mss);
        self.initial_window = self.congestion_window.cwnd;
        self.rack = (config.rack && self.sack).then(Rack::new);
        if self.timeouts > 0 {
            // RFC 5681, 3.1: when the SYN or SYN-ACK was lost the initial window is one segment.
            self.congestion_window.cwnd = mss;
            if rtt.is_none() {
                self.rtt.after_lost_syn(config);
            }
        }
        self.timeouts = 0;
        self.retransmit_at = Time::MAX;
        self.last_sent = now;
        (self.window, self.max_window, self.window_at) = (ack.window, ack.window, (ack.sequence, 1));
    }

    /// Returns whether an acceptable ACK can tell nothing but the window: the peer sends, and nothing of ours is under way.
    #[inline]
    pub(crate) fn only_sets_window(&self, offset: u64, segment: &Segment) -> bool {
        offset == self.max
            && self.una == self.max
            && segment.payload_len > 0
            && !segment.has(ECE)
            && segment.options.sack.is_empty()
    }

    /// Takes the peer's window, if the segment with it is not older than what set it last (RFC 9293, 3.10.7.4).
    #[inline]
    pub(crate) fn take_window(&mut self, sequence: u64, offset: u64, window: u64) {
        self.unanswered = 0;
        if (sequence, offset) >= self.window_at || offset > self.una {
            self.window_at = (sequence, offset);
            self.window = window;
            self.max_window = self.max_window.max(window);
        }
    }

    /// Takes in an acceptable ACK.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, ack: &Acknowledgement<'_>, config: &Config) {
        let (prior_una, prior_flight) = (self.una, self.flight());
        let prior_delivered = if self.prr { self.delivered() } else { 0 };
        let same_window = ack.window == self.window;
        self.take_window(ack.sequence, ack.offset, ack.window);
        let news = self.sack && !ack.sack.is_empty() && self.take_sack(now, ack);
        if ack.offset > self.una {
            self.progress(now, ack, prior_flight, config);
        } else if ack.offset == self.una {
            // RFC 6675, 2: with SACK, a duplicate ACK is one that tells something new; without, RFC 5681, 2.
            let counts = self.rack.is_none() && prior_flight > 0;
            if counts && (news || (!self.sack && ack.pure && same_window)) {
                self.duplicate();
            }
            let marked = match self.feedback {
                None => ack.ace & 1 != 0,
                Some(_) => news && self.take_marks_of_duplicate(ack),
            };
            if marked {
                self.answer_mark(now, config);
            }
        }
        if self.extended {
            let duplicate = ack.offset == prior_una && ack.pure && same_window;
            self.acknowledge_extended(now, ack, (prior_una, prior_delivered), news, duplicate, config);
        }
    }

    /// What the options that [`Sender::extended`] stands for make of an ACK.
    #[inline(never)]
    fn acknowledge_extended(
        &mut self,
        now: Time,
        ack: &Acknowledgement<'_>,
        (prior_una, prior_delivered): (u64, u64),
        news: bool,
        duplicate: bool,
        config: &Config,
    ) {
        if self.dsack && self.sack && self.reports_duplicate(ack) {
            self.take_duplicate(self.una - prior_una);
        }
        if self.frto != Frto::Off {
            self.judge_timeout(ack, prior_una, news, duplicate);
        }
        if self.rack.is_some() {
            self.find_losses_by_time(now, ack, prior_una, config);
        }
        if self.prr {
            self.reduce_in_proportion(self.delivered() - prior_delivered, ack.offset > prior_una);
        }
    }

    /// Whether a duplicate ACK with something new tells of marks; their bytes count with the next progress.
    fn take_marks_of_duplicate(&mut self, ack: &Acknowledgement<'_>) -> bool {
        let before = self.feedback.map(|feedback| feedback.bytes);
        self.take_marks(ack, 0);
        self.feedback.map(|feedback| feedback.bytes) != before
    }

    /// Offsets that the peer is known to have.
    fn delivered(&self) -> u64 {
        self.una + self.sacked.bytes()
    }

    /// SND.UNA moves.
    #[inline]
    fn progress(&mut self, now: Time, ack: &Acknowledgement<'_>, prior_flight: u64, config: &Config) {
        let acked = ack.offset - self.una;
        self.una = ack.offset;
        self.next = self.next.max(self.una);
        self.sacked.remove_below(self.una);
        (self.timeouts, self.probes) = (0, 0);
        let mut rtt = None;
        if let Some((_, sent)) = self.timed.filter(|(offset, _)| *offset <= self.una) {
            self.timed = None;
            rtt = Some(now.saturating_since(sent));
        } else if self.timed.is_none() {
            // RFC 7323, 4.1: timestamps measure where Karn's rule forbids it otherwise.
            rtt = ack.timestamp_rtt;
        }
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, config);
        }
        let slow_start_divisor =
            if self.extended { self.progress_extended(now, ack.timestamp_rtt) } else { 1 };
        let marked = self.take_marks(ack, acked);
        let event = Ack {
            now,
            acked,
            una: self.una,
            sent: self.max,
            next: self.next,
            marked,
            rtt,
            srtt: self.rtt.srtt(),
            // RFC 3465, 2.3.
            slow_start_limit: match (config.slow_start_limit, &self.recovery) {
                (None, _) => u64::from(u32::MAX),
                (Some(_), Recovery::Timeout) => 1,
                (Some(limit), _) => limit.into(),
            },
            slow_start_divisor,
        };
        self.congestion.observe(&event);
        let was_recovering = self.is_in_fast_recovery();
        let first_partial = self.recovery_progress(acked);
        if event.marked > 0 {
            self.answer_mark(now, config);
        }
        if !was_recovering && event.marked == 0 {
            if !config.cwr_growth && self.una <= self.mark_answered && matches!(self.recovery, Recovery::None)
            {
                // Linux' CWR state.
            } else if self.uses_window(prior_flight) {
                self.congestion.grow(&mut self.congestion_window, &event);
            } else {
                self.congestion.unused(now);
            }
        }
        // RFC 6298, 5.2 and 5.3; RFC 6582, 3.2 step 3: in recovery without SACK only the first partial ACK restarts it.
        if self.una == self.max {
            self.retransmit_at = Time::MAX;
        } else if !was_recovering || self.sack || first_partial || !self.is_in_fast_recovery() {
            self.retransmit_at = now.saturating_add(self.rtt.rto(config));
        }
    }

    /// An ACK has moved SND.UNA: what RACK notes of it, and how fast the first slow start goes on (RFC 9406, 4.2).
    #[inline(never)]
    fn progress_extended(&mut self, now: Time, timestamp_rtt: Option<Duration>) -> u64 {
        if let Some(rack) = &mut self.rack {
            rack.acknowledge(now, self.una);
        }
        let window = &mut self.congestion_window;
        if let Some(hystart) = self.hystart.as_mut().filter(|_| window.ssthresh == u64::MAX) {
            match hystart.acknowledge(now, self.una, self.next, timestamp_rtt) {
                Growth::Divided(divisor) => return divisor,
                Growth::Over => window.ssthresh = window.cwnd,
            }
        }
        // A loss or a mark has ended it, or it has ended itself.
        self.hystart = None;
        1
    }

    /// Whether the window limited what was sent (RFC 9438, 5.8; RFC 2861's aim): only then it may grow.
    fn uses_window(&self, prior_flight: u64) -> bool {
        let window = &self.congestion_window;
        if window.in_slow_start() {
            window.cwnd < 2 * prior_flight
        } else {
            window.cwnd < prior_flight + window.mss
        }
    }

    /// Notes what the peer holds; whether something of it is new.
    fn take_sack(&mut self, now: Time, ack: &Acknowledgement<'_>) -> bool {
        let floor = self.una.max(ack.offset);
        let mut news = false;
        for block in ack.sack {
            let (left, right) = (self.offset(block.left), self.offset(block.right));
            // RFC 2018, 5: only what has been sent and is not acknowledged; also rules out RFC 2883's duplicates.
            if left < floor as i64 || right <= left || right > self.max as i64 {
                continue;
            }
            if self.sacked.insert(left as u64, right as u64).is_some_and(|added| added > 0) {
                news = true;
                if let Some(rack) = &mut self.rack {
                    rack.hold(now, left as u64, right as u64);
                }
            }
        }
        news
    }

    /// RFC 3168, 6.1.2 and RFC 8257, 3.3: at most one reduction for each window of data.
    fn answer_mark(&mut self, now: Time, config: &Config) {
        if !self.ecn || self.una <= self.mark_answered || !matches!(self.recovery, Recovery::None) {
            return;
        }
        let window = &mut self.congestion_window;
        if window.cwnd <= window.mss {
            // RFC 3168, 6.1.2: the window cannot shrink any more, so the timer paces.
            self.quiet_until = now.saturating_add(self.rtt.rto(config));
        }
        self.congestion.on_mark(window);
        self.mark_answered = self.max;
        self.reduced = true;
        self.stats.mark_reductions += 1;
    }

    /// Notes that the window has shrunk for a loss: a mark of the same window adds nothing.
    pub(crate) fn reduced_for_loss(&mut self) {
        self.mark_answered = self.max;
        self.reduced = true;
    }

    /// Returns what is to be sent now, if anything.
    #[inline]
    pub(crate) fn poll(&mut self, now: Time, config: &Config) -> Option<Chunk> {
        if self.extended && self.is_held_back() {
            return None;
        }
        if !matches!(self.recovery, Recovery::None) || (self.extended && self.rack.is_some()) {
            if let Some(chunk) = self.poll_repair() {
                return Some(chunk);
            }
        }
        if self.next >= self.stream_end() || now < self.quiet_until {
            return None;
        }
        if self.flight() == 0 && self.next == self.max {
            self.restart_after_idle(now, config);
        }
        match self.allowance() {
            Some(len) => Some(self.chunk(self.next, self.next + len)),
            None if self.una == self.next => self.poll_probe(now, config),
            None => None,
        }
    }

    /// Whether data must wait for room in the NIC.
    #[inline(never)]
    fn is_held_back(&mut self) -> bool {
        let full = self.nic_is_full();
        self.waits_for_nic |= full;
        full
    }

    /// Notes what the options that [`Sender::extended`] stands for need to know of a chunk that leaves.
    #[inline(never)]
    fn note_departure(&mut self, now: Time, chunk: &Chunk) {
        let (end, again) = (chunk.end(), chunk.start < self.max);
        if let Frto::NewData(left) = &mut self.frto {
            *left = left.saturating_sub(1);
        }
        if self.tsq.is_some() {
            self.in_nic += u64::from(chunk.payload_len);
        }
        if let Some(rack) = &mut self.rack {
            rack.note_sent(now, chunk.start, end, self.max);
        }
        if let Some(hystart) = self.hystart.as_mut().filter(|_| !chunk.probe) {
            hystart.note_sent(now, end, again);
        }
    }

    /// Whether this connection has enough data in its host's NIC (Linux' `tcp_small_queue_check`).
    fn nic_is_full(&self) -> bool {
        let Some(time) = self.tsq else { return false };
        self.in_nic >= 2 * self.mss()
            && self.in_nic >= pacing::bytes_in(&self.congestion_window, self.rtt.srtt(), time)
    }

    /// Notes that data has left the NIC. Returns whether that lets out more.
    pub(crate) fn left_nic(&mut self, payload_bytes: u64) -> bool {
        self.in_nic = self.in_nic.saturating_sub(payload_bytes);
        self.waits_for_nic && !self.nic_is_full() && std::mem::take(&mut self.waits_for_nic)
    }

    /// What is to be sent before anything in order: a probe, or what is lost.
    #[inline(never)]
    fn poll_repair(&mut self) -> Option<Chunk> {
        if self.rack.as_ref().is_some_and(|rack| rack.probe_due) {
            if let Some(chunk) = self.tail_probe() {
                return Some(chunk);
            }
        }
        if matches!(self.frto, Frto::NewData(_)) {
            return None;
        }
        if let Some((start, end)) = self.retransmission() {
            return Some(self.chunk(start, end));
        }
        if matches!(self.recovery, Recovery::Timeout) && self.rack.is_none() {
            // What the peer holds need not be sent again.
            self.next = self.sacked.gap_from(self.next).0;
        }
        None
    }

    /// After the last offset that can be sent: the last byte written, or the FIN.
    #[inline]
    fn stream_end(&self) -> u64 {
        self.end + u64::from(self.closing)
    }

    /// Returns whether there is data that was never sent, and the peer takes a segment of it.
    pub(crate) fn can_send_new_data(&self) -> bool {
        self.max < self.stream_end()
            && self.una + self.window >= self.max + self.mss().min(self.end - self.max)
    }

    pub(crate) fn has_new_data(&self) -> bool {
        self.next < self.stream_end() && self.allowance().is_some()
    }

    /// RFC 8985, 7.3: the next new segment, whatever the congestion window says, or else the last one again.
    fn tail_probe(&mut self) -> Option<Chunk> {
        let rack = self.rack.as_mut()?;
        rack.probe_due = false;
        if !matches!(self.recovery, Recovery::None) {
            return None;
        }
        let last = rack.last()?;
        let unsent = (self.end + u64::from(self.closing)).saturating_sub(self.next);
        let len = unsent.min(self.congestion_window.mss);
        let again = len == 0 || self.next + len > self.una + self.window;
        let (start, end) = if again { last } else { (self.next, self.next + len) };
        rack.probe = Some(TailProbe { end, again });
        self.stats.tail_probes += 1;
        Some(self.chunk(start, end))
    }

    /// RFC 8985, 7.2: a probe is due two round-trip times after the last progress, and later where the peer may delay the ACK of a
    /// single segment, but never after the retransmission timer.
    #[inline(never)]
    fn schedule_tail_probe(&mut self, now: Time, config: &Config) {
        if self.rack.is_none() {
            return;
        }
        let (flight, srtt) = (self.flight(), self.rtt.srtt());
        let quiet = matches!(self.recovery, Recovery::None) && self.sacked.is_empty() && flight > 0;
        let Some(rack) = &mut self.rack else { return };
        if !quiet || rack.probe.is_some() || rack.probe_due {
            rack.probe_at = Time::MAX;
            return;
        }
        let wait = srtt.map_or(Duration::from_secs(1), |srtt| {
            let max_ack_delay = config.max_ack_delay.unwrap_or(config.min_rto);
            let delay = if rack.is_single() { max_ack_delay } else { Duration::ZERO };
            srtt.saturating_mul(2).saturating_add(delay)
        });
        rack.probe_at = now.saturating_add(wait).min(self.retransmit_at);
    }

    /// RFC 8985, 6.2 and 7.4: what an ACK says of losses by time, and of a probe.
    #[inline(never)]
    fn find_losses_by_time(&mut self, now: Time, ack: &Acknowledgement<'_>, prior_una: u64, config: &Config) {
        let is_open = matches!(self.recovery, Recovery::None);
        let reported = ack.sack.first().filter(|_| self.reports_duplicate(ack));
        let reported_end = reported.map(|block| self.offset(block.right));
        let Some(rack) = &mut self.rack else { return };
        let mut repaired = false;
        if let Some(probe) = rack.probe.filter(|probe| ack.offset >= probe.end) {
            // 7.4.2, in its order: both the segment and its probe have arrived, or the probe has repaired a loss.
            let both = reported_end == Some(probe.end as i64)
                || (ack.offset == prior_una && ack.pure && ack.sack.is_empty());
            repaired = probe.again && ack.offset > probe.end && !both;
            if !probe.again || repaired || both {
                rack.probe = None;
            }
        }
        if repaired && is_open {
            let flight = self.flight().min(self.congestion_window.cwnd);
            self.congestion.on_loss(&mut self.congestion_window, flight);
            self.congestion_window.cwnd = self.congestion_window.ssthresh.min(self.congestion_window.cwnd);
            self.reduced_for_loss();
        }
        if !is_open || !self.sacked.is_empty() {
            self.detect_losses(now);
        }
        self.schedule_tail_probe(now, config);
    }

    fn detect_losses(&mut self, now: Time) {
        let (srtt, is_open) = (self.rtt.srtt(), matches!(self.recovery, Recovery::None));
        let Some(rack) = &mut self.rack else { return };
        rack.detect(now, !is_open, srtt);
        if is_open && rack.lost_bytes() > 0 {
            rack.probe_at = Time::MAX;
            self.begin_fast_recovery();
            if self.prr {
                self.reduce_in_proportion(0, false);
            }
        }
    }

    /// RFC 9293, 3.8.6.1: nothing is under way and the peer's window keeps data from being sent, so a timer asks. The probe is one
    /// byte, or as much as there is room for, or the FIN.
    fn poll_probe(&mut self, now: Time, config: &Config) -> Option<Chunk> {
        // The timer of retransmissions must not count what cannot be sent.
        self.retransmit_at = Time::MAX;
        if self.persist_at == Time::MAX {
            self.schedule_probe(now, config);
        }
        if !std::mem::take(&mut self.probe) {
            return None;
        }
        let room = self.window.clamp(1, self.mss());
        let end = (self.una + room).min(self.stream_end());
        Some(Chunk { probe: true, ..self.chunk(self.una, end) })
    }

    /// Offsets from `next` that peer's window, congestion window and segment size allow.
    #[inline]
    fn allowance(&self) -> Option<u64> {
        let mss = self.mss();
        let unsent = self.end - self.next.min(self.end);
        let fin = u64::from(self.closing);
        // The FIN takes no room in a segment, but one offset of the windows.
        let mut len = if unsent <= mss { unsent + fin } else { mss };
        if self.next < self.max {
            // Sent again after a timeout: up to what the peer holds.
            if let Some(held) = self.sacked.gap_from(self.next).1 {
                len = len.min(held - self.next);
            }
        }
        let room = (self.una + self.window).saturating_sub(self.next);
        if len > room {
            // RFC 9293, 3.8.6.2.1: a piece only if it is large for this peer, or the FIN alone stays behind.
            let whole = room >= unsent && unsent > 0;
            if room == 0 || !(whole || 2 * room >= self.max_window) {
                return None;
            }
            len = room;
        }
        if let Frto::NewData(left) = self.frto {
            return (left > 0).then_some(len);
        }
        let pipe = self.pipe();
        (pipe == 0 || pipe + len <= self.congestion_window.cwnd + fin).then_some(len)
    }

    /// Returns the bytes thought to be in the network (RFC 6675, 4 "SetPipe"), without SACK what RFC 5681 and 6582 take for it.
    #[inline]
    pub(crate) fn pipe(&self) -> u64 {
        if let Some(rack) = &self.rack {
            return self.flight().saturating_sub(self.sacked.bytes() + rack.lost_bytes());
        }
        match &self.recovery {
            Recovery::Fast(fast) => self.pipe_in_recovery(fast),
            // RFC 3042: duplicate ACKs let new data out, without SACK the first two of them.
            Recovery::None if !self.limited_transmit => self.flight(),
            Recovery::None if self.sack => self.flight().saturating_sub(self.sacked.bytes()),
            Recovery::None => {
                let gone = u64::from(self.duplicates.min(2)) * self.mss();
                self.flight().saturating_sub(gone)
            }
            Recovery::Timeout => self.flight().saturating_sub(self.sacked.bytes_below(self.next)),
        }
    }

    /// RFC 5681, 4.1.
    fn restart_after_idle(&mut self, now: Time, config: &Config) {
        if config.restart_after_idle && now.saturating_since(self.last_sent) > self.rtt.rto(config) {
            let initial = u64::from(config.initial_window_segments) * self.mss();
            self.congestion_window.cwnd = self.congestion_window.cwnd.min(initial);
            self.congestion.after_idle();
        } else {
            self.congestion.unused(now);
        }
    }

    /// The chunk of the offsets `[start, end)`, which lie in the stream or are its FIN.
    fn chunk(&self, start: u64, end: u64) -> Chunk {
        let data_end = end.min(self.end);
        let payload_len = data_end.saturating_sub(start) as u32;
        let fin = end > self.end;
        let push = payload_len > 0 && data_end == self.end;
        Chunk { start, payload_len, fin, again: start < self.max, probe: false, push }
    }

    /// Notes that a chunk has left.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, chunk: &Chunk, config: &Config) {
        let end = chunk.end();
        self.last_sent = now;
        if chunk.start < self.max {
            self.stats.retransmitted_segments += 1;
            self.stats.retransmitted_bytes += u64::from(chunk.payload_len);
            self.note_doubtful();
            // Karn: what has been sent twice does not measure.
            if self.timed.is_some_and(|(offset, _)| offset > chunk.start && offset <= end) {
                self.timed = None;
            }
        } else if self.timed.is_none() && !chunk.probe {
            self.timed = Some((end, now));
        }
        if chunk.payload_len > 0 {
            self.stats.data_segments += 1;
        }
        self.note_in_recovery(chunk);
        if self.extended {
            self.note_departure(now, chunk);
        }
        self.max = self.max.max(end);
        if chunk.probe {
            // Until it is acknowledged it has been a question, not part of the flight.
            return;
        }
        if chunk.start <= self.next {
            self.next = self.next.max(end);
        }
        if self.retransmit_at == Time::MAX {
            // RFC 6298, 5.1.
            self.retransmit_at = now.saturating_add(self.rtt.rto(config));
        }
        (self.persist_at, self.probe) = (Time::MAX, false);
        if self.extended {
            self.schedule_tail_probe(now, config);
        }
    }

    /// Returns whether what leaves is the first new data after a reduction (RFC 3168, 6.1.2: CWR).
    #[inline]
    pub(crate) fn take_cwr(&mut self, chunk: &Chunk) -> bool {
        let says = self.ecn
            && self.feedback.is_none()
            && self.reduced
            && !chunk.again
            && !chunk.probe
            && chunk.payload_len > 0;
        self.reduced &= !says;
        says
    }

    fn schedule_probe(&mut self, now: Time, config: &Config) {
        let wait = self.rtt.rto(config).saturating_mul(1 << self.probes.min(16)).min(config.max_rto);
        self.persist_at = now.saturating_add(wait);
    }

    #[inline]
    pub(crate) fn next_timeout(&self) -> Time {
        let quiet = if self.quiet_until == Time::ZERO { Time::MAX } else { self.quiet_until };
        let due = self.retransmit_at.min(self.persist_at).min(quiet);
        if !self.extended {
            return due;
        }
        self.rack.as_ref().map_or(due, |rack| due.min(rack.reorder_at).min(rack.probe_at))
    }

    /// Handles the timer. Returns `false` when the peer has not answered for so long that the connection is given up.
    pub(crate) fn handle_timeout(&mut self, now: Time, config: &Config) -> bool {
        if now >= self.quiet_until {
            self.quiet_until = Time::ZERO;
        }
        if now >= self.persist_at {
            self.probe = true;
            (self.probes, self.unanswered) = (self.probes + 1, self.unanswered + 1);
            self.stats.window_probes += 1;
            self.schedule_probe(now, config);
            if self.unanswered > config.retries {
                return false;
            }
        }
        if let Some(rack) = &mut self.rack {
            if now >= rack.probe_at {
                // RFC 8985, 7.3: the retransmission timer starts again, even where it was due at the same time.
                (rack.probe_at, rack.probe_due) = (Time::MAX, true);
                self.retransmit_at = now.saturating_add(self.rtt.rto(config));
            }
            if now >= rack.reorder_at {
                self.detect_losses(now);
            }
        }
        now < self.retransmit_at || self.time_out(now, config)
    }

    /// The retransmission timer has fired (RFC 6298, 5.4 to 5.6).
    fn time_out(&mut self, now: Time, config: &Config) -> bool {
        self.timeouts += 1;
        self.stats.timeouts += 1;
        let max_timeouts = if self.una == 0 { config.syn_retries } else { config.retries };
        if self.timeouts > max_timeouts {
            self.retransmit_at = Time::MAX;
            return false;
        }
        self.rtt.back_off();
        self.timed = None;
        self.quiet_until = Time::ZERO;
        self.retransmit_at = now.saturating_add(self.rtt.rto(config));
        if self.una > 0 {
            if config.frto && self.timeouts == 1 {
                self.doubt_timeout();
            } else {
                // RFC 5682 asks once: the second time-out in a row is taken for what it says.
                self.frto = Frto::Off;
            }
            if config.dsack && self.timeouts == 1 && self.una >= self.recover {
                self.note_prior();
            }
            let flight = self.flight().min(self.congestion_window.cwnd);
            self.congestion.on_timeout(&mut self.congestion_window, flight, self.timeouts == 1);
            self.recovery = Recovery::Timeout;
            (self.recover, self.duplicates) = (self.max, 0);
            self.reduced_for_loss();
            match &mut self.rack {
                None => self.next = self.una,
                Some(rack) => {
                    rack.time_out(now, self.rtt.srtt(), self.timeouts > 1);
                }
            }
            if self.timeouts > 1 {
                // RFC 2018, 8: the peer may have thrown away what it reported.
                self.sacked.clear();
            }
            if self.rack.is_some() {
                // What is younger than a round-trip time may still be under way; one segment more may leave.
                self.congestion_window.cwnd += self.pipe();
            }
        }
        true
    }

    /// Stops sending.
    pub(crate) fn stop(&mut self) {
        (self.retransmit_at, self.persist_at, self.quiet_until) = (Time::MAX, Time::MAX, Time::ZERO);
        self.probe = false;
        self.rack = None;
        self.end = self.next.min(self.end).max(1);
        self.sacked.clear();
    }

    fn is_in_fast_recovery(&self) -> bool {
        matches!(self.recovery, Recovery::Fast(FastRecovery { .. }))
    }
}

/// Maximum number of bytes of a stream. Offsets beyond would not fit 63 bits.
pub(crate) const MAX_STREAM: u64 = 1 << 62;
