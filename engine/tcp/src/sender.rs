//! The sending half: the data that may be sent now, the data acknowledged, and the timers.
//!
//! Each part of the state has its own file: the position in the stream (`space.rs`), the peer's window (`peer_window.rs`), the
//! retransmission timer (`rtt.rs`), losses (`recovery.rs`), ECN (`ecn.rs`). This file combines them.

use units::{Duration, Time};
use wire::tcp::ECE;
use wire::tcp_options::SackBlock;

use crate::config::{Config, Settings};
use crate::congestion::{Ack, Congestion, Window};
use crate::ecn::SenderEcn;
use crate::hystart::{Growth, HyStart};
use crate::pacing::NicShare;
use crate::peer_window::PeerWindow;
use crate::rack::{Rack, TailProbe};
use crate::recovery::{LossRecovery, Recovery};
use crate::rtt::RetransmissionTimer;
use crate::space::{Chunk, SendSpace};
use crate::spurious::{Doubt, Frto};
use crate::stats::Stats;
use crate::Segment;

/// The sender's view of an acceptable segment with ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    /// Offset of SEG.ACK, at most the highest offset sent.
    pub(crate) offset: u64,
    /// Offset of SEG.SEQ, which distinguishes older windows from newer ones.
    pub(crate) sequence: u64,
    /// SEG.WND, scaled.
    pub(crate) window: u64,
    /// Whether it has no payload and no SYN, FIN or RST.
    pub(crate) pure: bool,
    /// The field ACE; its lowest bit is ECE.
    pub(crate) ace: u8,
    pub(crate) sack: &'a [SackBlock],
    /// Round-trip time from the echoed timestamp.
    pub(crate) timestamp_rtt: Option<Duration>,
}

/// The sender's view of the segment that acknowledges our SYN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynAcknowledgement {
    /// Offset of SEG.SEQ.
    pub(crate) sequence: u64,
    /// SEG.WND, scaled if it is subject to scaling.
    pub(crate) window: u64,
    /// Round-trip time from the echoed timestamp.
    pub(crate) timestamp_rtt: Option<Duration>,
}

/// The state before an ACK; the delivered and lost bytes are set only with PRR.
#[derive(Clone, Copy, Debug)]
struct Before {
    una: u64,
    /// See [`LossRecovery::delivered`].
    delivered: u64,
    /// See [`LossRecovery::known_lost`].
    lost: u64,
}

/// State of the sending half.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) space: SendSpace,
    pub(crate) peer_window: PeerWindow,
    /// Maximum number of bytes in a segment: `congestion_window.mss`.
    pub(crate) congestion_window: Window,
    pub(crate) congestion: Congestion,
    pub(crate) loss: LossRecovery,
    pub(crate) doubt: Doubt,
    pub(crate) ecn: SenderEcn,
    pub(crate) timer: RetransmissionTimer,
    /// Whether any of RACK-TLP, PRR, F-RTO, D-SACK, HyStart++ and TSQ is enabled. If none is, they cost a segment only
    /// this test in each place.
    extended: bool,
    last_sent: Time,
    /// Set until the end of the first slow start, if HyStart++ is enabled.
    hystart: Option<Box<HyStart>>,
    nic: NicShare,
    pub(crate) stats: Stats,
}

impl Sender {
    pub(crate) fn new(settings: &Settings, isn: u32) -> Self {
        let config: &Config = settings;
        Self {
            space: SendSpace::new(isn),
            peer_window: PeerWindow::new(),
            congestion_window: Window::new(config, config.mss.into()),
            congestion: Congestion::new(settings),
            loss: LossRecovery::new(config),
            doubt: Doubt::new(config.dsack),
            ecn: SenderEcn::default(),
            timer: RetransmissionTimer::new(config),
            extended: config.rack
                || config.prr
                || config.frto
                || config.dsack
                || config.hystart.is_some()
                || config.tsq.is_some(),
            last_sent: Time::ZERO,
            hystart: config.hystart.map(|thresholds| Box::new(HyStart::new(thresholds))),
            nic: NicShare::new(config.tsq),
            stats: Stats::default(),
        }
    }

    /// Returns the oldest acknowledgement that is not stale (RFC 5961, 5.2): SND.UNA - MAX.SND.WND.
    pub(crate) fn oldest_acknowledgement(&self) -> i64 {
        self.space.una as i64 - self.peer_window.max as i64
    }

    pub(crate) fn mss(&self) -> u64 {
        self.congestion_window.mss
    }

    /// Records the departure of a SYN or SYN-ACK.
    pub(crate) fn syn_sent(&mut self, now: Time, config: &Config) {
        self.timer.syn_sent(now, self.space.max > 0, config);
        (self.space.next, self.space.max, self.last_sent) = (1, 1, now);
    }

    /// Returns whether two SYNs or SYN-ACKs have been lost, so that a device on the path may drop their flags (RFC 9768, 3.1.4).
    pub(crate) fn doubts_syn_flags(&self) -> bool {
        self.timer.timeouts > 1
    }

    /// Returns whether a SYN or SYN-ACK has been sent at this very time; another one would be redundant.
    pub(crate) fn has_sent_syn_at(&self, now: Time) -> bool {
        self.space.max > 0 && self.last_sent == now
    }

    /// Starts sending: `ack` acknowledges our SYN, and the peer accepts segments of `mss` bytes.
    pub(crate) fn established(&mut self, now: Time, mss: u64, ack: &SynAcknowledgement, config: &Config) {
        self.space.una = 1;
        self.congestion_window = Window::new(config, mss);
        self.loss.rack = (config.rack && self.loss.sack).then(Rack::new);
        if self.timer.syn_acknowledged(now, ack.timestamp_rtt, config) {
            // RFC 5681, 3.1: after a lost SYN or SYN-ACK the initial window is one segment.
            self.congestion_window.cwnd = mss;
        }
        self.last_sent = now;
        self.peer_window.open(ack.sequence, ack.window);
    }

    /// Returns whether an acceptable ACK can only update the window: the peer sends data, and none of ours is in flight.
    #[inline]
    pub(crate) fn only_sets_window(&self, offset: u64, segment: &Segment) -> bool {
        offset == self.space.max
            && self.space.una == self.space.max
            && segment.payload_len > 0
            && !segment.has(ECE)
            && segment.options.sack.is_empty()
    }

    /// Updates the peer's window from an acceptable ACK.
    #[inline]
    pub(crate) fn take_window(&mut self, sequence: u64, offset: u64, window: u64) {
        self.peer_window.take(sequence, offset, window, self.space.una);
    }

    /// Handles an acceptable ACK.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, ack: &Acknowledgement<'_>, config: &Config) {
        let prior_flight = self.space.flight();
        let mut before = Before { una: self.space.una, delivered: 0, lost: 0 };
        if self.loss.prr {
            (before.delivered, before.lost) = (self.loss.delivered(before.una), self.loss.known_lost());
        }
        let same_window = ack.window == self.peer_window.bytes;
        self.take_window(ack.sequence, ack.offset, ack.window);
        let news = self.loss.sack
            && !ack.sack.is_empty()
            && self.loss.take_sack(now, ack.offset, ack.sack, &self.space);
        if ack.offset > self.space.una {
            self.progress(now, ack, prior_flight, config);
        } else if ack.offset == self.space.una {
            // RFC 6675, 2: with SACK, a duplicate ACK is one with new information; without SACK, RFC 5681, 2 defines it.
            let counts = self.loss.rack.is_none() && prior_flight > 0;
            let counts = counts && (news || (!self.loss.sack && ack.pure && same_window));
            if counts && self.loss.count_duplicate(self.space.una, self.mss()) {
                self.begin_fast_recovery();
            }
            if self.ecn.duplicate_is_marked(ack.ace, news, self.mss()) {
                self.answer_mark(now, config);
            }
        }
        if self.extended {
            let duplicate = ack.offset == before.una && ack.pure && same_window;
            self.acknowledge_extended(now, ack, before, news, duplicate, config);
        }
    }

    /// Handles an ACK for the options that [`Sender::extended`] covers.
    #[inline(never)]
    fn acknowledge_extended(
        &mut self,
        now: Time,
        ack: &Acknowledgement<'_>,
        before: Before,
        news: bool,
        duplicate: bool,
        config: &Config,
    ) {
        if self.doubt.dsack && self.loss.sack && self.reports_duplicate(ack) {
            self.take_duplicate(self.space.una - before.una);
        }
        if self.doubt.frto != Frto::Off {
            self.judge_timeout(ack, before.una, news, duplicate);
        }
        if self.loss.rack.is_some() {
            self.find_losses_by_time(now, ack, before.una, config);
        }
        if self.loss.prr {
            let safe = ack.offset > before.una && !self.loss.has_lost_more(before.lost, self.space.una);
            self.reduce_in_proportion(self.loss.delivered(self.space.una) - before.delivered, safe);
        }
    }

    /// Handles an ACK that moves SND.UNA.
    #[inline]
    fn progress(&mut self, now: Time, ack: &Acknowledgement<'_>, prior_flight: u64, config: &Config) {
        let acked = self.space.acknowledge(ack.offset);
        self.loss.sacked.remove_below(self.space.una);
        self.peer_window.note_progress();
        let rtt = self.timer.acknowledge(now, self.space.una, ack.timestamp_rtt, config);
        let slow_start_divisor =
            if self.extended { self.progress_extended(now, ack.timestamp_rtt) } else { 1 };
        let marked = self.ecn.take_marks(ack.ace, acked, self.mss());
        let event = Ack {
            now,
            acked,
            una: self.space.una,
            sent: self.space.max,
            next: self.space.next,
            marked,
            rtt,
            srtt: self.timer.srtt,
            // RFC 3465, 2.3.
            slow_start_limit: match (config.slow_start_limit, &self.loss.state) {
                (None, _) => u64::from(u32::MAX),
                (Some(_), Recovery::Timeout) => 1,
                (Some(limit), _) => limit.into(),
            },
            slow_start_divisor,
        };
        self.congestion.observe(&event);
        let was_recovering = self.loss.is_fast();
        let first_partial = self.recovery_progress(acked);
        if event.marked > 0 {
            self.answer_mark(now, config);
        }
        if !was_recovering && event.marked == 0 {
            if !config.cwr_growth && self.ecn.has_answered(self.space.una) && self.loss.is_open() {
                // Linux's CWR state.
            } else if self.uses_window(prior_flight) {
                self.congestion.grow(&mut self.congestion_window, &event);
            } else {
                self.congestion.unused(now);
            }
        }
        // RFC 6298, 5.2 and 5.3; RFC 6582, 3.2 step 3: in recovery without SACK only the first partial ACK restarts the timer.
        if self.space.una == self.space.max {
            self.timer.stop();
        } else if !was_recovering || self.loss.sack || first_partial || !self.loss.is_fast() {
            self.timer.start(now, config);
        }
    }

    /// Informs RACK of an ACK that has moved SND.UNA. Returns the divisor of the first slow start's growth (RFC 9406, 4.2).
    #[inline(never)]
    fn progress_extended(&mut self, now: Time, timestamp_rtt: Option<Duration>) -> u64 {
        if let Some(rack) = &mut self.loss.rack {
            rack.acknowledge(now, self.space.una);
        }
        let window = &mut self.congestion_window;
        if let Some(hystart) = self.hystart.as_mut().filter(|_| window.ssthresh == u64::MAX) {
            match hystart.acknowledge(now, self.space.una, self.space.next, timestamp_rtt) {
                Growth::Divided(divisor) => return divisor,
                Growth::Over => window.ssthresh = window.cwnd,
            }
        }
        // A loss or a mark has ended the first slow start, or HyStart++ has.
        self.hystart = None;
        1
    }

    /// Returns whether the window limited the data sent (RFC 9438, 5.8; RFC 2861's aim). Only then may the window grow.
    fn uses_window(&self, prior_flight: u64) -> bool {
        let window = &self.congestion_window;
        if window.in_slow_start() {
            window.cwnd < 2 * prior_flight
        } else {
            window.cwnd < prior_flight + window.mss
        }
    }

    /// Reacts to a mark, with at most one reduction per window of data (RFC 3168, 6.1.2 and RFC 8257, 3.3).
    fn answer_mark(&mut self, now: Time, config: &Config) {
        if !self.ecn.on || self.ecn.has_answered(self.space.una) || !self.loss.is_open() {
            return;
        }
        let window = &mut self.congestion_window;
        if window.cwnd <= window.mss {
            self.ecn.be_quiet_until(now.saturating_add(self.timer.rto(config)));
        }
        self.congestion.on_mark(window);
        self.ecn.note_reduction(self.space.max);
        self.stats.mark_reductions += 1;
    }

    /// Returns what must be sent now, if anything.
    #[inline]
    pub(crate) fn poll(&mut self, now: Time, config: &Config) -> Option<Chunk> {
        if self.extended && self.nic.holds_back(&self.congestion_window, self.timer.srtt) {
            return None;
        }
        if !self.loss.is_open() || (self.extended && self.loss.rack.is_some()) {
            if let Some(chunk) = self.poll_repair() {
                return Some(chunk);
            }
        }
        if self.space.next >= self.space.stream_end() || self.ecn.is_quiet(now) {
            return None;
        }
        if self.space.flight() == 0 && self.space.next == self.space.max {
            self.restart_after_idle(now, config);
        }
        match self.allowance() {
            Some(len) => Some(self.space.chunk(self.space.next, self.space.next + len)),
            None if self.space.una == self.space.next => self.poll_probe(now, config),
            None => None,
        }
    }

    /// Records a departing chunk for the options that [`Sender::extended`] covers.
    #[inline(never)]
    fn note_departure(&mut self, now: Time, chunk: &Chunk) {
        let (end, again) = (chunk.end(), chunk.start < self.space.max);
        if let Frto::NewData(left) = &mut self.doubt.frto {
            *left = left.saturating_sub(1);
        }
        self.nic.enter(chunk.payload_len.into());
        if let Some(rack) = &mut self.loss.rack {
            rack.note_sent(now, chunk.start, end, self.space.max);
        }
        if let Some(hystart) = self.hystart.as_mut().filter(|_| !chunk.probe) {
            hystart.note_sent(now, end, again);
        }
    }

    /// Records that data has left the NIC. Returns whether more may now be sent.
    pub(crate) fn left_nic(&mut self, payload_bytes: u64) -> bool {
        self.nic.leave(payload_bytes, &self.congestion_window, self.timer.srtt)
    }

    /// Returns the chunk that must be sent before new data: a probe, or lost data.
    #[inline(never)]
    fn poll_repair(&mut self) -> Option<Chunk> {
        if self.loss.rack.as_ref().is_some_and(|rack| rack.probe_due) {
            if let Some(chunk) = self.tail_probe() {
                return Some(chunk);
            }
        }
        if matches!(self.doubt.frto, Frto::NewData(_)) {
            return None;
        }
        if let Some((start, end)) = self.retransmission() {
            return Some(self.space.chunk(start, end));
        }
        if matches!(self.loss.state, Recovery::Timeout) && self.loss.rack.is_none() {
            // Data that the peer holds is not retransmitted.
            self.space.next = self.loss.sacked.gap_from(self.space.next).0;
        }
        None
    }

    pub(crate) fn has_new_data(&self) -> bool {
        self.space.next < self.space.stream_end() && self.allowance().is_some()
    }

    /// Returns a tail loss probe (RFC 8985, 7.3): the next new segment, regardless of the congestion window, or else
    /// the last segment again.
    fn tail_probe(&mut self) -> Option<Chunk> {
        let is_open = self.loss.is_open();
        let rack = self.loss.rack.as_mut()?;
        rack.probe_due = false;
        if !is_open {
            return None;
        }
        let last = rack.last()?;
        let SendSpace { una, next, .. } = self.space;
        let unsent = self.space.stream_end().saturating_sub(next);
        let len = unsent.min(self.congestion_window.mss);
        let again = len == 0 || next + len > una + self.peer_window.bytes;
        let (start, end) = if again { last } else { (next, next + len) };
        rack.probe = Some(TailProbe { end, again });
        self.stats.tail_probes += 1;
        Some(self.space.chunk(start, end))
    }

    /// Schedules a tail loss probe (RFC 8985, 7.2). It is due two round-trip times from now, plus the peer's maximum
    /// ACK delay if a single segment is in flight, but never after the retransmission timer.
    #[inline(never)]
    fn schedule_tail_probe(&mut self, now: Time, config: &Config) {
        if self.loss.rack.is_none() {
            return;
        }
        let (flight, srtt) = (self.space.flight(), self.timer.srtt);
        let quiet = self.loss.is_open() && self.loss.sacked.is_empty() && flight > 0;
        let Some(rack) = &mut self.loss.rack else { return };
        if !quiet || rack.probe.is_some() || rack.probe_due {
            rack.probe_at = Time::MAX;
            return;
        }
        let wait = srtt.map_or(Duration::from_secs(1), |srtt| {
            let max_ack_delay = config.max_ack_delay.unwrap_or(config.min_rto);
            let delay = if rack.is_single() { max_ack_delay } else { Duration::ZERO };
            srtt.saturating_mul(2).saturating_add(delay)
        });
        rack.probe_at = now.saturating_add(wait).min(self.timer.due);
    }

    /// Detects losses by time after an ACK, and whether a probe has repaired a loss (RFC 8985, 6.2 and 7.4).
    #[inline(never)]
    fn find_losses_by_time(&mut self, now: Time, ack: &Acknowledgement<'_>, prior_una: u64, config: &Config) {
        let is_open = self.loss.is_open();
        let reported = ack.sack.first().filter(|_| self.reports_duplicate(ack));
        let reported_end = reported.map(|block| self.space.offset(block.right));
        let Some(rack) = &mut self.loss.rack else { return };
        let mut repaired = false;
        if let Some(probe) = rack.probe.filter(|probe| ack.offset >= probe.end) {
            // 7.4.2, in its order: the segment and its probe have both arrived, or the probe has repaired a loss.
            let both = reported_end == Some(probe.end as i64)
                || (ack.offset == prior_una && ack.pure && ack.sack.is_empty());
            repaired = probe.again && ack.offset > probe.end && !both;
            if !probe.again || repaired || both {
                rack.probe = None;
            }
        }
        if repaired && is_open {
            let flight = self.space.flight().min(self.congestion_window.cwnd);
            self.congestion.on_loss(&mut self.congestion_window, flight);
            self.congestion_window.cwnd = self.congestion_window.ssthresh.min(self.congestion_window.cwnd);
            self.ecn.note_reduction(self.space.max);
        }
        if !is_open || !self.loss.sacked.is_empty() {
            self.detect_losses(now);
        }
        self.schedule_tail_probe(now, config);
    }

    fn detect_losses(&mut self, now: Time) {
        let (srtt, is_open) = (self.timer.srtt, self.loss.is_open());
        let Some(rack) = &mut self.loss.rack else { return };
        rack.detect(now, !is_open, srtt);
        if is_open && rack.lost_bytes() > 0 {
            rack.probe_at = Time::MAX;
            self.begin_fast_recovery();
            if self.loss.prr {
                self.reduce_in_proportion(0, false);
            }
        }
    }

    /// Returns a window probe when it is due (RFC 9293, 3.8.6.1): nothing is in flight, and the peer's window keeps
    /// data from being sent. The probe fills the window, but has at least one byte; it may be the FIN.
    #[inline(never)]
    fn poll_probe(&mut self, now: Time, config: &Config) -> Option<Chunk> {
        // The retransmission timer must not count data that cannot be sent.
        self.timer.stop();
        let room = self.peer_window.poll_probe(now, self.timer.rto(config), config)?.min(self.mss());
        let end = (self.space.una + room).min(self.space.stream_end());
        Some(Chunk { probe: true, ..self.space.chunk(self.space.una, end) })
    }

    /// Returns the number of offsets from `next` that the peer's window, the congestion window and the segment size allow.
    #[inline]
    fn allowance(&self) -> Option<u64> {
        let mss = self.mss();
        let (unsent, fin) = (self.space.unsent(), self.space.fin());
        // The FIN takes no room in a segment, but occupies one offset of the windows.
        let mut len = if unsent <= mss { unsent + fin } else { mss };
        if self.space.next < self.space.max {
            // A retransmission after a timeout ends where data begins that the peer holds.
            if let Some(held) = self.loss.sacked.gap_from(self.space.next).1 {
                len = len.min(held - self.space.next);
            }
        }
        let len = self.peer_window.fit(len, &self.space)?;
        if let Frto::NewData(left) = self.doubt.frto {
            return (left > 0).then_some(len);
        }
        let pipe = self.pipe();
        (pipe == 0 || pipe + len <= self.congestion_window.cwnd + fin).then_some(len)
    }

    /// Returns the bytes estimated to be in the network.
    #[inline]
    pub(crate) fn pipe(&self) -> u64 {
        self.loss.pipe(&self.space, self.mss())
    }

    /// Reduces the window to the initial one after an idle time (RFC 5681, 4.1), or informs congestion control that the window was unused.
    fn restart_after_idle(&mut self, now: Time, config: &Config) {
        if config.restart_after_idle && now.saturating_since(self.last_sent) > self.timer.rto(config) {
            let window = &mut self.congestion_window;
            window.cwnd = window.cwnd.min(window.initial);
            self.congestion.after_idle();
        } else {
            self.congestion.unused(now);
        }
    }

    /// Records that a chunk has been sent.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, chunk: &Chunk, config: &Config) {
        let end = chunk.end();
        self.last_sent = now;
        if chunk.start < self.space.max {
            self.stats.retransmitted_segments += 1;
            self.stats.retransmitted_bytes += u64::from(chunk.payload_len);
            self.doubt.note_sent_again();
            self.timer.note_sent_again(chunk.start, end);
        } else if !chunk.probe {
            self.timer.measure(now, end);
        }
        if chunk.payload_len > 0 {
            self.stats.data_segments += 1;
        }
        self.loss.note_sent(chunk, self.space.max);
        if self.extended {
            self.note_departure(now, chunk);
        }
        if chunk.probe {
            return self.space.note_probe(end);
        }
        self.space.note_sent(chunk.start, end);
        self.timer.start_if_stopped(now, config);
        self.peer_window.stop_probing();
        if self.extended {
            self.schedule_tail_probe(now, config);
        }
    }

    #[inline]
    pub(crate) fn next_timeout(&self) -> Time {
        let due = self.timer.due.min(self.peer_window.probe_at).min(self.ecn.quiet_end());
        if !self.extended {
            return due;
        }
        self.loss.rack.as_ref().map_or(due, |rack| due.min(rack.reorder_at).min(rack.probe_at))
    }

    /// Handles the timers. Returns `false` if the connection is given up because the peer has not answered for too long.
    pub(crate) fn handle_timeout(&mut self, now: Time, config: &Config) -> bool {
        if !self.ecn.is_quiet(now) {
            self.ecn.end_quiet();
        }
        if now >= self.peer_window.probe_at {
            self.stats.window_probes += 1;
            if !self.peer_window.time_out(now, self.timer.rto(config), config) {
                return false;
            }
        }
        if let Some(rack) = &mut self.loss.rack {
            if now >= rack.probe_at {
                // RFC 8985, 7.3: the retransmission timer restarts, even if it was due at the same time.
                (rack.probe_at, rack.probe_due) = (Time::MAX, true);
                self.timer.start(now, config);
            }
            if now >= rack.reorder_at {
                self.detect_losses(now);
            }
        }
        now < self.timer.due || self.time_out(now, config)
    }

    /// Handles an expiry of the retransmission timer (RFC 6298, 5.4 to 5.6). Returns whether the connection continues.
    fn time_out(&mut self, now: Time, config: &Config) -> bool {
        self.stats.timeouts += 1;
        let limit = if self.space.una == 0 { config.syn_retries } else { config.retries };
        if !self.timer.time_out(now, limit, config) {
            return false;
        }
        self.ecn.end_quiet();
        let is_first = self.timer.timeouts == 1;
        if self.space.una > 0 {
            if config.frto && is_first {
                self.doubt_timeout();
            } else {
                // RFC 5682 applies once: the second timeout in a row is taken as genuine.
                self.doubt.frto = Frto::Off;
            }
            if config.dsack && is_first && self.space.una >= self.loss.recover {
                self.note_prior();
            }
            let flight = self.space.flight().min(self.congestion_window.cwnd);
            self.congestion.on_timeout(&mut self.congestion_window, flight, is_first);
            self.loss.time_out(self.space.max);
            self.ecn.note_reduction(self.space.max);
            match &mut self.loss.rack {
                None => self.space.next = self.space.una,
                Some(rack) => {
                    rack.time_out(now, self.timer.srtt, !is_first);
                }
            }
            if !is_first {
                // RFC 2018, 8: the peer may have discarded the data that it reported.
                self.loss.sacked.clear();
            }
            if self.loss.rack.is_some() {
                // Data younger than a round-trip time may still be in flight; one more segment may be sent.
                self.congestion_window.cwnd += self.pipe();
            }
        }
        true
    }

    /// Stops sending.
    pub(crate) fn stop(&mut self) {
        self.timer.stop();
        self.peer_window.stop_probing();
        self.ecn.end_quiet();
        self.space.stop();
        self.loss.rack = None;
        self.loss.sacked.clear();
    }
}
