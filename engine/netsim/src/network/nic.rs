//! A host's network interface: queues (`nic_queues`) with a limit (`nic_limit`) and an AQM (`nic_aqm`), the transmitter that empties them
//! (`nic_transmitter`), and reaction points.
//!
//! Under QCN or DCQCN (`reactions`), messages of switches or notifications of receivers give flows limiters.
//! Notifications that this NIC sends leave before all other frames, even if queues are paused. The limit covers all
//! waiting frames; the AQM sees only the frames outside limiters.
//!
//! A frame on the wire is not in the queue. Frames that exceed the limit or that the AQM drops are counted. The NIC
//! only sends: the other direction belongs to the transmitter at the other end.

use std::net::IpAddr;
use std::num::NonZeroU32;

use units::{Bytes, DataRate, Duration, Time};

use wire::PacketClass;

use crate::network::cnp;
use crate::network::eee::Eee;
use crate::network::frame::HostFrame;
use crate::network::nic_aqm::{Aqm, Decision};
pub use crate::network::nic_classes::NicClasses;
use crate::network::nic_limit::Buffer;
pub use crate::network::nic_limit::NicLimit;
use crate::network::nic_queues::Queues;
pub use crate::network::nic_transmitter::NicEee;
use crate::network::nic_transmitter::Transmitter;
use crate::network::reactions::{Change, Message, Reactions};
use crate::network::tag;
use crate::reaction::ReactionSettings;
use crate::report::measures::ClassCounts;
use crate::report::QcnReport;
use crate::spec::NicAqm;

/// Settings of a NIC. By default it has one FIFO without a limit, and never sleeps.
#[derive(Clone, Debug, Default)]
pub struct NicSettings {
    /// Bounds the waiting frames.
    pub limit: Option<NicLimit>,
    /// When its PHY sleeps.
    pub eee: Option<NicEee>,
    /// Marks or drops frames early.
    pub aqm: Option<NicAqm>,
    /// Determines the random decisions of the AQM.
    pub seed: u64,
    /// Queues by priority.
    pub classes: Option<NicClasses>,
    /// Whether flows take turns, in place of each FIFO.
    pub is_fair: bool,
    /// Reaction points for the flows of the host, which must have been checked.
    pub reactions: Option<ReactionSettings>,
    /// The addresses of the host.
    pub own: [Option<IpAddr>; 2],
}

/// Counts of a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicStats {
    /// Frames offered by the host.
    pub offered: u64,
    /// Frames that did not fit the queue or were dropped early.
    pub dropped: u64,
    /// Frames sent.
    pub sent: u64,
    /// Bytes of the frames sent.
    pub sent_bytes: u64,
    /// Maximum number of bytes that waited at a time.
    pub max_queue_bytes: u64,
    /// Pause frames obeyed, including those that end a pause.
    pub pauses: u64,
    /// MAC control frames without effect.
    pub control_ignored: u64,
    /// Marks and drops of the queue, by class.
    pub classes: [ClassCounts; PacketClass::ALL.len()],
}

/// One NIC.
pub struct Nic {
    transmitter: Transmitter,
    queues: Queues,
    buffer: Buffer,
    aqm: Option<Aqm>,
    /// Frames dropped at departure; the caller takes back their buffers.
    dropped: Vec<HostFrame>,
    /// The reaction points of QCN or DCQCN, if the NIC has them.
    reactions: Option<Box<Reactions>>,
    stats: NicStats,
}

impl Nic {
    /// Creates an idle NIC.
    pub fn new(rate: DataRate, overhead: Bytes, settings: NicSettings) -> Self {
        let NicSettings { limit, eee, aqm, seed, classes, is_fair, reactions, own } = settings;
        Self {
            transmitter: Transmitter::new(rate, overhead, eee),
            queues: Queues::new(classes, is_fair),
            buffer: Buffer::new(limit),
            aqm: aqm.map(|aqm| Aqm::new(aqm, seed)),
            dropped: Vec::new(),
            reactions: reactions.map(|settings| Box::new(Reactions::new(settings, rate, own))),
            stats: NicStats::default(),
        }
    }

    /// Returns whether it has queues by priority.
    pub fn has_classes(&self) -> bool {
        self.queues.has_classes()
    }

    /// Handles a MAC control frame, which may pause queues or end pauses.
    pub fn receive_control(&mut self, now: Time, frame: &[u8]) {
        if self.queues.obey(now, self.transmitter.rate(), frame) {
            self.stats.pauses += 1;
        } else {
            self.stats.control_ignored += 1;
        }
    }

    /// Returns when the pause of a queue ends: now or earlier if it is not paused.
    pub(super) fn opens_at(&self, priority: usize) -> Time {
        self.queues.opens_at(priority)
    }

    /// Handles a congestion notification message for this NIC. A message without effect is counted.
    pub fn handle_message(&mut self, now: Time, frame: &[u8]) {
        if self.reactions.as_ref().is_some_and(|reactions| reactions.is_qcn()) {
            self.react(now, Message::of(frame));
        }
    }

    /// Handles a frame for this host if it is a congestion notification packet, and returns whether it is one. A
    /// notification without effect is counted.
    pub fn handle_notification(&mut self, now: Time, frame: &[u8]) -> bool {
        let Some(flow) = cnp::flow_of_cnp(frame) else { return false };
        if self.reactions.as_ref().is_some_and(|reactions| !reactions.is_qcn()) {
            self.react(now, flow.map(|flow| Message { flow, feedback: 1 }));
        }
        true
    }

    fn react(&mut self, now: Time, message: Option<Message>) {
        let Some(reactions) = &mut self.reactions else { return };
        reactions.counts.messages += 1;
        let Some(message) = message else {
            reactions.counts.malformed += 1;
            return;
        };
        if !reactions.is_own(&message) {
            reactions.counts.unknown_flow += 1;
            return;
        }
        if reactions.is_new(&message) && !self.limit_flow(now, &message) {
            return;
        }
        let Some(reactions) = &mut self.reactions else { return };
        match reactions.handle(now, &message) {
            Some(change) if message.feedback > 0 => self.apply(now, change),
            _ => reactions.counts.without_effect += 1,
        }
    }

    /// Gives a flow a limiter, with the flow's frames from the FIFO. Returns whether a limiter was available.
    fn limit_flow(&mut self, now: Time, message: &Message) -> bool {
        let number = self.queues.add_limiter(now, self.transmitter.rate().as_bps());
        let Some(reactions) = &mut self.reactions else { return false };
        let scope = reactions.scope;
        let Some(number) = number else {
            reactions.counts.without_limiter += 1;
            return false;
        };
        reactions.add(message.flow, number);
        self.queues.limit(now, number, |frame| {
            let flow = wire::FiveTuple::of_beginning(&frame.captured);
            frame.limiter.is_none() && flow.map(|flow| scope.of(flow)) == Some(scope.of(message.flow))
        });
        true
    }

    fn apply(&mut self, now: Time, change: Change) {
        match change {
            Change::Rate(limiter, rate_bps) => self.set_limiter(now, limiter, rate_bps),
            Change::Release(limiter) => {
                if let Some(reactions) = &mut self.reactions {
                    reactions.remove(limiter);
                }
                self.remove_limiter(limiter);
            }
        }
    }

    /// Runs the reaction-point timers due by `now`. Returns whether any was.
    #[inline]
    pub fn reacts(&mut self, now: Time) -> bool {
        let Some(reactions) = &mut self.reactions else { return false };
        if reactions.next_timeout().is_none_or(|due| due > now) {
            return false;
        }
        reactions.advance(now);
        while let Some(change) = self.reactions.as_mut().and_then(|reactions| reactions.next_change()) {
            self.apply(now, change);
        }
        true
    }

    /// Returns the time of the NIC's next event: a frame may leave, or a reaction point's timer expires.
    #[inline]
    pub fn next_event(&self) -> Option<Time> {
        let departure = self.next_departure();
        match &self.reactions {
            None => departure,
            Some(reactions) => [departure, reactions.next_timeout()].into_iter().flatten().min(),
        }
    }

    /// Returns the counts of QCN, if the NIC has it.
    pub fn qcn(&self) -> Option<QcnReport> {
        self.reactions.as_ref().filter(|reactions| reactions.is_qcn()).map(|reactions| reactions.counts)
    }

    /// Returns the counts of DCQCN's reaction points, if the NIC has them.
    pub fn dcqcn(&self) -> Option<QcnReport> {
        self.reactions.as_ref().filter(|reactions| !reactions.is_qcn()).map(|reactions| reactions.counts)
    }

    /// Enqueues a notification of the host. There is always room for it, and the AQM does not see it.
    pub fn enqueue_cnp(&mut self, now: Time, frame: HostFrame) {
        self.stats.offered += 1;
        let is_first = self.queues.frames() == 0;
        let bytes = self.queues.bytes() + u64::from(frame.wire_len);
        self.admit(now, frame.wire_len, is_first, bytes);
        self.queues.push_cnp(frame);
    }

    /// Enqueues a frame of the host. Returns the frame as `Err` if it does not fit or is dropped early.
    pub fn enqueue(&mut self, now: Time, mut frame: HostFrame) -> Result<(), HostFrame> {
        self.stats.offered += 1;
        let bytes = self.queues.bytes() + u64::from(frame.wire_len);
        if !self.buffer.has_room(now, bytes, &self.queues, &self.transmitter) {
            self.stats.dropped += 1;
            self.stats.classes[frame.class() as usize].tail_dropped += 1;
            return Err(frame);
        }
        let is_first = self.queues.frames() == 0;
        if let (Some(reactions), None) = (&self.reactions, frame.limiter) {
            frame.limiter = reactions.limiter_of(&frame.captured);
        }
        if let Some(aqm) = self.aqm.as_mut().filter(|_| frame.limiter.is_none()) {
            let idle = if is_first { self.transmitter.idle(now) } else { Duration::ZERO };
            let (found_bytes, found_frames) = (self.queues.bytes_queued(), self.queues.frames_queued());
            let decision = aqm.admit(found_bytes, found_frames as u64, idle, &frame);
            if self.stats.apply(decision, &mut frame) {
                return Err(frame);
            }
        }
        self.admit(now, frame.wire_len, is_first, bytes);
        self.queues.push(now, frame);
        Ok(())
    }

    /// Admits a frame; `bytes` wait, this frame included.
    #[inline]
    fn admit(&mut self, now: Time, wire_len: u32, is_first: bool, bytes: u64) {
        self.transmitter.admit(now, wire_len, is_first);
        self.buffer.enter(now, wire_len, &self.transmitter);
        self.stats.max_queue_bytes = self.stats.max_queue_bytes.max(bytes);
    }

    /// Returns when the first waiting frame may leave: not before the wire is free, the PHY awake, its queue not paused and its limiter due.
    pub fn next_departure(&self) -> Option<Time> {
        self.queues.next(self.transmitter.opens_at())
    }

    /// Creates a limiter with this rate in bits per second on the wire, and returns its number. Frames with that number
    /// wait in it. `None` if there are [`crate::MAX_LIMITERS`] already.
    pub fn add_limiter(&mut self, now: Time, rate_bps: u64) -> Option<NonZeroU32> {
        self.queues.add_limiter(now, rate_bps)
    }

    /// Sets the rate of a limiter from now on; at 0 nothing leaves it.
    ///
    /// # Panics
    /// If the limiter does not exist; [`Nic::remove_limiter`] panics likewise.
    pub fn set_limiter(&mut self, now: Time, limiter: NonZeroU32, rate_bps: u64) {
        self.queues.set_limiter(now, limiter, rate_bps);
    }

    /// Removes a limiter and moves its frames to the end of the FIFO. No frame may have its number afterwards.
    pub fn remove_limiter(&mut self, limiter: NonZeroU32) {
        self.queues.remove_limiter(limiter);
    }

    /// Sends the first waiting frame, and returns it with its time on the wire. `None` if no frame waits, or if the AQM
    /// dropped all that waited.
    ///
    /// # Panics
    /// If `now` is before [`Nic::next_departure`].
    pub fn depart(&mut self, now: Time) -> Option<(HostFrame, Duration)> {
        if let Some(frame) = self.queues.pop_cnp() {
            return Some(self.put_on_wire(now, frame));
        }
        loop {
            let mut frame = self.queues.pop(now, self.transmitter.overhead())?;
            if let Some(limiter) = frame.limiter {
                self.leaves_limiter(now, limiter, frame.wire_len);
            } else if let Some(aqm) = &mut self.aqm {
                let (admitted, _) = tag::decode(frame.tag);
                let decision = aqm.leave(now, admitted, self.queues.bytes_queued(), &frame);
                if self.stats.apply(decision, &mut frame) {
                    self.buffer.leave(now, &frame, &self.transmitter);
                    self.transmitter.discard(now);
                    self.dropped.push(frame);
                    continue;
                }
            }
            return Some(self.put_on_wire(now, frame));
        }
    }

    #[inline]
    fn put_on_wire(&mut self, now: Time, frame: HostFrame) -> (HostFrame, Duration) {
        self.buffer.leave(now, &frame, &self.transmitter);
        let wire_time = self.transmitter.send(now, frame.wire_len);
        self.stats.sent += 1;
        self.stats.sent_bytes += u64::from(frame.wire_len);
        (frame, wire_time)
    }

    /// Reports the bytes of a frame that has left its limiter to the reaction point.
    #[inline]
    fn leaves_limiter(&mut self, now: Time, limiter: NonZeroU32, wire_len: u32) {
        if let Some(reactions) = &mut self.reactions {
            let bytes = u64::from(wire_len) + self.transmitter.overhead().get();
            if let Some(change) = reactions.sent(now, limiter, bytes) {
                self.apply(now, change);
            }
        }
    }

    /// Returns since when the last frame that left could have left without a pause or a limiter, had it waited: the wire
    /// was free, and the PHY was awake. A NIC with waiting frames does not sleep.
    pub fn ready(&self) -> Time {
        self.transmitter.ready()
    }

    /// Returns a frame that [`Nic::depart`] has dropped.
    pub fn pop_dropped(&mut self) -> Option<HostFrame> {
        self.dropped.pop()
    }

    /// Returns the number of frames waiting.
    pub fn queue_packets(&self) -> usize {
        self.queues.frames()
    }

    /// Returns the counts so far.
    pub fn stats(&self) -> &NicStats {
        &self.stats
    }

    /// Returns the EEE state machine, if EEE is on.
    pub fn eee(&self) -> Option<&Eee> {
        self.transmitter.eee()
    }
}

impl NicStats {
    /// Applies a decision of the AQM. Returns whether the frame is dropped.
    fn apply(&mut self, decision: Decision, frame: &mut HostFrame) -> bool {
        match decision {
            Decision::Pass => {}
            Decision::Mark => {
                wire::mark_ce(&mut frame.captured);
                self.classes[frame.class() as usize].marked += 1;
            }
            Decision::Drop => {
                self.dropped += 1;
                self.classes[frame.class() as usize].early_dropped += 1;
            }
        }
        decision == Decision::Drop
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reaction::{DcqcnSettings, QcnScope, QcnSettings};
    use crate::Protect;

    fn frame(wire_len: u32) -> HostFrame {
        HostFrame { wire_len, ..HostFrame::default() }
    }

    const GIGABIT: DataRate = DataRate::from_bps(1_000_000_000);

    fn gigabit(limit: Option<u64>, eee: Option<NicEee>) -> Nic {
        let limit = limit.map(|bytes| NicLimit::Bytes(Bytes::new(bytes)));
        nic(NicSettings { limit, eee, ..NicSettings::default() })
    }

    fn nic(settings: NicSettings) -> Nic {
        Nic::new(GIGABIT, Bytes::new(24), settings)
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn fill<const N: usize>(nic: &mut Nic, frames: [HostFrame; N]) {
        frames.into_iter().for_each(|frame| nic.enqueue(us(0), frame).unwrap());
    }

    #[test]
    fn frames_leave_one_wire_time_after_another() {
        let mut nic = gigabit(None, None);
        nic.enqueue(us(1), frame(1476)).unwrap();
        nic.enqueue(us(1), frame(976)).unwrap();
        assert_eq!(nic.next_departure(), Some(Time::ZERO));
        assert_eq!(nic.depart(us(1)).unwrap(), (frame(1476), Duration::from_us(12)));
        assert_eq!(nic.next_departure(), Some(us(13)));
        assert_eq!(nic.depart(us(13)).unwrap().1, Duration::from_us(8));
        assert_eq!((nic.next_departure(), nic.stats().sent_bytes), (None, 2452));
    }

    #[test]
    fn what_does_not_fit_comes_back_and_is_counted() {
        let mut nic = gigabit(Some(1_000), None);
        nic.enqueue(us(0), frame(600)).unwrap();
        assert_eq!(nic.enqueue(us(0), frame(401)), Err(frame(401)));
        nic.enqueue(us(0), frame(400)).unwrap();
        let stats = *nic.stats();
        assert_eq!((stats.offered, stats.dropped, stats.max_queue_bytes), (3, 1, 1_000));
    }

    #[test]
    fn a_buffer_in_packets_has_room_for_as_many_small_frames_as_large_ones() {
        for length in [60, 1_514] {
            let mut nic = nic(NicSettings { limit: Some(NicLimit::Frames(2)), ..NicSettings::default() });
            fill(&mut nic, [frame(length), frame(length)]);
            assert_eq!(nic.enqueue(us(0), frame(length)), Err(frame(length)));
            nic.depart(us(0)).unwrap();
            nic.enqueue(us(0), frame(length)).unwrap();
        }
    }

    /// Returns a NIC that sleeps at once, wakes in no time, and holds for 500 us or for `trigger_packets`.
    fn holding(limit: u64, trigger_packets: u32) -> Nic {
        let hold = Duration::from_us(500);
        let eee = Some(NicEee { hold, trigger_packets, ..NicEee::default() });
        let limit = Some(NicLimit::BytesBesideHeld(Bytes::new(limit)));
        Nic::new(GIGABIT, Bytes::ZERO, NicSettings { limit, eee, ..NicSettings::default() })
    }

    #[test]
    fn what_is_held_outside_leaves_the_whole_buffer_to_what_comes_after() {
        let at = |time| HostFrame::new(time, Vec::new(), 1_250);
        let mut nic = holding(2_500, 0);
        (0..4).for_each(|_| nic.enqueue(us(1_000), at(us(1_000))).unwrap());
        assert_eq!(nic.next_departure(), Some(us(1_500)));
        nic.depart(us(1_500)).unwrap();
        // At the very time at which the first leaves, a frame is still held.
        nic.enqueue(us(1_500), at(us(1_500))).unwrap();
        // 10 us each on the wire: four that were held wait, and two more fit.
        nic.enqueue(us(1_501), at(us(1_501))).unwrap();
        nic.enqueue(us(1_501), at(us(1_501))).unwrap();
        assert_eq!(nic.enqueue(us(1_501), at(us(1_501))), Err(at(us(1_501))));
        // As those leave that were held, nothing becomes free.
        nic.depart(us(1_510)).unwrap();
        nic.enqueue(us(1_511), at(us(1_511))).unwrap_err();
        (2..5).for_each(|turn| assert!(nic.depart(us(1_500 + 10 * turn)).is_some()));
        assert_eq!(nic.buffer.outside_bytes(), 0);
        nic.enqueue(us(1_541), at(us(1_541))).unwrap_err();
        nic.depart(us(1_550)).unwrap();
        nic.enqueue(us(1_551), at(us(1_551))).unwrap();
    }

    proptest::proptest! {
        /// Checks that what counts in the buffer never exceeds it, however frames come, and that nothing is left outside at the
        /// end.
        #[test]
        fn the_account_of_what_is_held_outside_comes_to_nothing(
            frames in proptest::collection::vec((0_u64..900, 60_u32..1_514), 1..80),
            trigger in 0_u32..6,
        ) {
            const LIMIT: u64 = 4_000;
            let mut nic = holding(LIMIT, trigger);
            let mut now = us(1_000);
            for (gap, length) in frames {
                now += Duration::from_us(gap);
                while let Some(due) = nic.next_departure().filter(|due| *due <= now) {
                    nic.depart(due).unwrap();
                }
                let _ = nic.enqueue(now, HostFrame::new(now, Vec::new(), length as usize));
                proptest::prop_assert!(nic.queues.bytes_queued() - nic.buffer.outside_bytes() <= LIMIT);
            }
            while let Some(due) = nic.next_departure() {
                nic.depart(due.max(now)).unwrap();
                now = now.max(due);
            }
            proptest::prop_assert_eq!((nic.queues.bytes_queued(), nic.buffer.outside_bytes()), (0, 0));
        }
    }

    fn limited(wire_len: u32, limiter: NonZeroU32) -> HostFrame {
        HostFrame { limiter: Some(limiter), ..frame(wire_len) }
    }

    /// Returns the departures until nothing is left, in microseconds with the frames' lengths.
    fn departures(nic: &mut Nic) -> Vec<(u64, u32)> {
        let mut all = Vec::new();
        while let Some(at) = nic.next_departure() {
            let (frame, _) = nic.depart(at).expect("a departure that is due has a frame");
            all.push((at.as_ps() / 1_000_000, frame.wire_len));
        }
        all
    }

    #[test]
    fn a_limiter_lets_a_frame_leave_when_the_one_before_has_had_its_time_at_the_rate() {
        let mut nic = gigabit(None, None);
        // 1500 bytes on the wire: 120 us at 100 Mb/s, 12 us on it.
        let limiter = nic.add_limiter(us(0), 100_000_000).unwrap();
        fill(&mut nic, [(); 3].map(|()| limited(1476, limiter)));
        assert_eq!(departures(&mut nic), [(0, 1476), (120, 1476), (240, 1476)]);
        // A pause saves nothing: two frames later on are as far apart.
        nic.enqueue(us(1_000), limited(1476, limiter)).unwrap();
        nic.enqueue(us(1_000), limited(1476, limiter)).unwrap();
        assert_eq!(nic.depart(us(1_000)).unwrap().0.wire_len, 1476);
        assert_eq!(nic.next_departure(), Some(us(1_120)));
    }

    #[test]
    fn what_a_limiter_owes_at_a_change_of_rate_is_paid_at_the_new_one() {
        let mut nic = gigabit(None, None);
        let limiter = nic.add_limiter(us(0), 100_000_000).unwrap();
        fill(&mut nic, [(); 2].map(|()| limited(1476, limiter)));
        nic.depart(us(0)).unwrap();
        // A third has passed; the other 8000 bits take 40 us at 200 Mb/s.
        nic.set_limiter(us(40), limiter, 0);
        assert_eq!(nic.next_departure(), None);
        nic.set_limiter(us(1_000), limiter, 200_000_000);
        assert_eq!(nic.next_departure(), Some(us(1_040)));
    }

    #[test]
    fn limiters_and_the_fifo_take_turns() {
        let mut nic = gigabit(None, None);
        let [a, b] = [1, 2].map(|_| nic.add_limiter(us(0), 1_000_000_000).unwrap());
        for length in [476, 477] {
            fill(&mut nic, [limited(length, a), frame(length + 100), limited(length + 200, b)]);
        }
        let lengths: Vec<u32> = departures(&mut nic).into_iter().map(|(_, length)| length).collect();
        assert_eq!(lengths, [576, 476, 676, 577, 477, 677]);
    }

    #[test]
    fn what_waits_in_a_limiter_that_is_given_up_leaves_by_the_fifo_and_counts_for_the_limit() {
        let mut nic = gigabit(Some(3_000), None);
        let limiter = nic.add_limiter(us(0), 0).unwrap();
        fill(&mut nic, [limited(1476, limiter), frame(576)]);
        assert!(nic.enqueue(us(0), limited(1476, limiter)).is_err());
        assert!(nic.enqueue(us(0), frame(1476)).is_err());
        assert_eq!((nic.queue_packets(), nic.stats().dropped), (2, 2));
        nic.remove_limiter(limiter);
        nic.enqueue(us(0), frame(948)).unwrap();
        assert_eq!(departures(&mut nic), [(0, 576), (4, 1476), (16, 948)]);
        assert_eq!((nic.queue_packets(), nic.add_limiter(us(0), 1)), (0, Some(limiter)));
    }

    /// Returns a UDP datagram of which the addresses and ports are there.
    fn of_flow(source_port: u16, wire_len: u32) -> HostFrame {
        let mut captured = vec![0; 12];
        captured.extend([8, 0, 0x45, 0, 5, 0xDC, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        captured.extend(source_port.to_be_bytes());
        captured.extend([0, 9, 5, 0xC8, 0, 0]);
        HostFrame { captured, ..frame(wire_len) }
    }

    #[test]
    fn a_nic_in_which_limited_frames_wait_stays_awake() {
        let eee = NicEee { sleep: Duration::from_us(182), wake: Duration::from_us(16), ..NicEee::default() };
        let mut nic = gigabit(None, Some(eee));
        let limiter = nic.add_limiter(us(0), 100_000_000).unwrap();
        nic.enqueue(us(1_000), limited(1476, limiter)).unwrap();
        nic.enqueue(us(1_000), limited(1476, limiter)).unwrap();
        nic.depart(us(1_016)).unwrap();
        assert_eq!(nic.ready(), us(1_016));
        // Later than the link would fall asleep if nothing waited.
        nic.enqueue(us(1_100), limited(1476, limiter)).unwrap();
        // 120 us at its rate, of which waking has used 16. 12 us on the wire.
        assert_eq!(nic.next_departure(), Some(us(1_120)));
        nic.depart(us(1_120)).unwrap();
        assert_eq!(nic.ready(), us(1_028));
    }

    #[test]
    fn a_hold_ends_after_its_time_or_with_its_packets_or_bytes_and_a_stall_keeps_awake() {
        let us_of = Duration::from_us;
        let (sleep, wake, stall, hold) = (us_of(20), us_of(5), us_of(100), us_of(500));
        let eee = NicEee { sleep, wake, stall, hold, trigger_packets: 3, trigger_bytes: 2_000 };
        for (frames, leaves_us) in [
            (&[(99, 60)][..], 99),
            (&[(1_000, 60)], 1_000 + 500 + 5),
            (&[(1_000, 60), (1_010, 60), (1_020, 60)], 1_020 + 5),
            (&[(1_000, 600), (1_010, 1_400)], 1_010 + 5),
        ] {
            let mut nic = gigabit(None, Some(eee));
            frames.iter().for_each(|(at, length)| nic.enqueue(us(*at), frame(*length)).unwrap());
            let opens = nic.next_departure().unwrap();
            assert_eq!(opens.max(us(frames[0].0)), us(leaves_us), "{frames:?}");
        }
    }

    #[test]
    fn a_frame_that_the_aqm_drops_at_departure_takes_no_time_on_the_wire() {
        let (target_ps, interval_ps) = (1_000_000, 10_000_000);
        let codel = NicAqm::Codel { target_ps, interval_ps, mtu_bytes: 0, ecn: false, protect: Protect::Ect };
        let eee = NicEee { sleep: Duration::from_us(182), wake: Duration::from_us(16), ..NicEee::default() };
        let mut nic =
            nic(NicSettings { eee: Some(eee), aqm: Some(codel), seed: 1, ..NicSettings::default() });
        for length in [1476, 1475, 1476] {
            nic.enqueue(us(1_000), HostFrame::new(us(1_000), Vec::new(), length)).unwrap();
        }
        // 12 us each on the wire. The second is the first that finds the queue late for an interval.
        nic.depart(us(1_016)).unwrap();
        assert_eq!(nic.depart(us(1_028)).unwrap().0.wire_len, 1476);
        assert_eq!(nic.pop_dropped().unwrap().wire_len, 1475);
        // Idle since 1,040 us, and asleep 182 us later.
        nic.enqueue(us(1_100), frame(1476)).unwrap();
        assert_eq!(nic.next_departure(), Some(us(1_040 + 182 + 16)));
    }

    fn message(about: &HostFrame, feedback: u8) -> Vec<u8> {
        let mut message = vec![0; 12];
        message.extend([
            0x22, 0xE7, 0, feedback, 2, 0, 0, 0, 0, 1, 0, 3, 0, 5, 0, 6, 0, 0, 2, 0, 0, 0, 0, 2, 0, 30,
        ]);
        message.extend(&about.captured[12..]);
        message
    }

    /// Returns the notification that the receiver of a frame sends when the frame comes marked.
    fn notification(about: &HostFrame) -> Vec<u8> {
        let settings = cnp::Notifications { interval: Duration::from_us(50), dscp: 48 };
        cnp::NotificationPoint::new(settings).marked(us(0), &about.captured).unwrap()
    }

    fn reacting(reactions: ReactionSettings) -> Nic {
        let own = [Some(IpAddr::from([10, 0, 0, 1])), None];
        nic(NicSettings { reactions: Some(reactions), own, ..NicSettings::default() })
    }

    fn with_qcn(settings: QcnSettings) -> Nic {
        reacting(ReactionSettings::Qcn(settings))
    }

    fn with_dcqcn() -> Nic {
        reacting(ReactionSettings::Dcqcn(DcqcnSettings::default()))
    }

    #[test]
    fn a_notification_halves_the_rate_of_its_flow_and_a_cycle_wins_half_of_that_back() {
        let mut nic = with_dcqcn();
        fill(&mut nic, [1476; 8].map(|wire_len| of_flow(7, wire_len)));
        assert!(nic.handle_notification(us(0), &notification(&of_flow(7, 0))));
        assert!(!nic.handle_notification(us(0), &of_flow(7, 0).captured));
        // A message of QCN is not for this NIC.
        nic.handle_message(us(0), &message(&of_flow(7, 0), 63));
        let mut left = Vec::new();
        while nic.queue_packets() > 0 {
            let at = nic.next_event().unwrap();
            if !nic.reacts(at) {
                nic.depart(at).unwrap();
                left.push(at.as_ps() / 1_000_000);
            }
        }
        // 12 us on the wire: 24 at half of the rate. After 55 us it is three quarters: of the frame that left at 48, 8500 bits are
        // owed, which take 11.3 us, and then one takes 16 us; after 110 us 7/8, of 13.7 us.
        assert_eq!(left, [0, 24, 48, 66, 82, 98, 113, 127]);
        let counts = QcnReport { messages: 1, max_limiters: 1, ..QcnReport::default() };
        assert_eq!((nic.dcqcn(), nic.qcn()), (Some(counts), None));
    }

    #[test]
    fn notifications_that_name_no_flow_of_this_host_are_counted() {
        let mut nic = with_dcqcn();
        let whole = notification(&of_flow(7, 0));
        nic.handle_notification(us(0), &whole[..60]);
        let mut of_another = whole.clone();
        of_another[33] = 9;
        nic.handle_notification(us(0), &of_another);
        let counts = QcnReport { messages: 2, malformed: 1, unknown_flow: 1, ..QcnReport::default() };
        assert_eq!((nic.dcqcn().unwrap(), nic.next_event()), (counts, None));
        let mut other = with_qcn(QcnSettings::default());
        assert!(other.handle_notification(us(0), &whole));
        assert_eq!(other.qcn().unwrap(), QcnReport::default());
    }

    #[test]
    fn a_notification_leaves_before_all_that_waits_and_needs_no_room() {
        let classes = Some(NicClasses { priority: [7; 64], default_priority: 7, pausable: 1 << 7 });
        let limit = Some(NicLimit::Bytes(Bytes::new(1_476)));
        let mut nic = nic(NicSettings { limit, classes, ..NicSettings::default() });
        nic.enqueue(us(0), of_flow(7, 1476)).unwrap();
        nic.enqueue_cnp(us(0), of_flow(8, 74));
        nic.enqueue_cnp(us(0), of_flow(9, 75));
        assert_eq!((nic.queue_packets(), nic.stats().max_queue_bytes), (3, 1476 + 74 + 75));
        let lengths: Vec<_> = departures(&mut nic).into_iter().map(|(_, length)| length).collect();
        assert_eq!(lengths, [74, 75, 1476]);
        assert_eq!((nic.stats().offered, nic.stats().sent), (3, 3));
        // It wakes a PHY, and its coming ends no hold but by its count.
        let eee = NicEee {
            sleep: Duration::from_us(182),
            wake: Duration::from_us(16),
            hold: Duration::from_us(500),
            ..NicEee::default()
        };
        let mut nic = gigabit(None, Some(eee));
        nic.enqueue_cnp(us(1_000), frame(74));
        assert_eq!(nic.next_departure(), Some(us(1_516)));
    }

    #[test]
    fn a_message_takes_the_flow_out_of_the_fifo_and_slows_it_down() {
        let mut nic = with_qcn(QcnSettings::default());
        fill(&mut nic, [1476, 1475, 1474].map(|wire_len| of_flow(7, wire_len)));
        nic.enqueue(us(0), of_flow(8, 1473)).unwrap();
        nic.handle_message(us(0), &message(&of_flow(7, 0), 63));
        // Behind those that were taken out of the FIFO.
        nic.enqueue(us(0), of_flow(7, 1472)).unwrap();
        // 12 us each on the wire; 65/128 of its rate is 23.6 us. The first of them waited for the wire.
        assert_eq!(departures(&mut nic), [(0, 1473), (11, 1476), (23, 1475), (47, 1474), (70, 1472)]);
        assert_eq!(nic.qcn().unwrap(), QcnReport { messages: 1, max_limiters: 1, ..QcnReport::default() });
    }

    #[test]
    fn with_a_reaction_point_per_host_a_message_slows_down_all_of_its_flows_together() {
        let mut nic = with_qcn(QcnSettings { scope: QcnScope::Host, ..QcnSettings::default() });
        fill(&mut nic, [of_flow(7, 1476), of_flow(8, 1475)]);
        nic.handle_message(us(0), &message(&of_flow(7, 0), 63));
        nic.handle_message(us(0), &message(&of_flow(9, 0), 63));
        nic.enqueue(us(0), of_flow(9, 1474)).unwrap();
        // In the order in which they came. Each message cuts the rate to 65/128 of it, also that about a third flow.
        assert_eq!(departures(&mut nic), [(0, 1476), (46, 1475), (93, 1474)]);
        let counts = QcnReport { messages: 2, max_limiters: 1, ..QcnReport::default() };
        assert_eq!(nic.qcn().unwrap(), counts);
    }

    #[test]
    fn with_a_reaction_point_per_pair_a_message_slows_down_what_goes_to_that_address_alone() {
        let mut nic = with_qcn(QcnSettings { scope: QcnScope::Pair, ..QcnSettings::default() });
        let to_another = |wire_len| {
            let mut frame = of_flow(7, wire_len);
            frame.captured[33] = 3;
            frame
        };
        nic.handle_message(us(0), &message(&of_flow(7, 0), 63));
        nic.handle_message(us(0), &message(&of_flow(8, 0), 63));
        fill(&mut nic, [of_flow(7, 1476), of_flow(8, 1475), to_another(1474), to_another(1473)]);
        // Two messages, about two flows of one pair, cut one rate to 65/128 twice: 46 us a frame. The first of them waited for
        // the wire, which frames to the other address have as if there were no limiter.
        assert_eq!(departures(&mut nic), [(0, 1474), (11, 1476), (23, 1473), (46, 1475)]);
        let counts = QcnReport { messages: 2, max_limiters: 1, ..QcnReport::default() };
        assert_eq!(nic.qcn().unwrap(), counts);
    }

    #[test]
    fn a_flow_whose_rate_is_the_links_again_has_no_limiter() {
        let mut nic = with_qcn(QcnSettings::default());
        nic.handle_message(us(0), &message(&of_flow(7, 0), 63));
        let mut now = us(0);
        // The timer alone: cycles of 15 ms, then of half, and ever larger steps.
        while let Some(at) = nic.next_event() {
            assert!(nic.reacts(at) && at > now);
            now = at;
        }
        assert!(now > us(75_000) && now < us(400_000), "{now}");
        for wire_len in [1476, 1475] {
            nic.enqueue(now, of_flow(7, wire_len)).unwrap();
        }
        assert_eq!(nic.depart(now).unwrap().0.wire_len, 1476);
        assert_eq!(nic.next_departure(), Some(now + Duration::from_us(12)));
    }

    #[test]
    fn messages_that_say_nothing_to_this_host_are_counted() {
        let mut nic = with_qcn(QcnSettings::default());
        let mut of_another = message(&of_flow(7, 0), 63);
        of_another[14 + 24 + 2 + 15] = 9;
        let mut malformed = message(&of_flow(7, 0), 63);
        malformed.truncate(50);
        for frame in [of_another, malformed, message(&of_flow(7, 0), 0)] {
            nic.handle_message(us(0), &frame);
        }
        let counts = QcnReport {
            messages: 3,
            malformed: 1,
            unknown_flow: 1,
            without_effect: 1,
            ..QcnReport::default()
        };
        assert_eq!((nic.qcn().unwrap(), nic.next_event()), (counts, None));
    }

    #[test]
    fn a_message_for_one_flow_too_many_is_counted_and_changes_nothing() {
        let mut nic = with_qcn(QcnSettings::default());
        for port in 0..=crate::MAX_LIMITERS as u16 {
            nic.handle_message(us(0), &message(&of_flow(port, 0), 63));
        }
        let counts = nic.qcn().unwrap();
        assert_eq!((counts.without_limiter, counts.max_limiters), (1, crate::MAX_LIMITERS as u64));
        nic.enqueue(us(0), of_flow(crate::MAX_LIMITERS as u16, 1476)).unwrap();
        assert_eq!(departures(&mut nic), [(0, 1476)]);
    }
}
