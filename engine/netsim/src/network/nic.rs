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
use crate::network::eee::{Eee, EeeParams};
use crate::network::frame::HostFrame;
use crate::network::nic_aqm::{Aqm, Decision};
pub use crate::network::nic_classes::NicClasses;
use crate::network::nic_limit::Buffer;
pub use crate::network::nic_limit::NicLimit;
use crate::network::nic_queues::Queues;
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
    /// When its PHY sleeps, in picoseconds; `ticks_per_byte_q24` and `overhead_bytes` follow from the link.
    pub eee: Option<EeeParams>,
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
    pub(super) queues: Queues,
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

    /// Handles a MAC control frame, which may pause queues or end pauses.
    pub fn receive_control(&mut self, now: Time, frame: &[u8]) {
        if self.queues.obey(now, self.transmitter.rate, frame) {
            self.stats.pauses += 1;
        } else {
            self.stats.control_ignored += 1;
        }
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
        let number = self.queues.add_limiter(now, self.transmitter.rate.as_bps());
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
            Change::Rate(limiter, rate_bps) => self.queues.set_limiter(now, limiter, rate_bps),
            Change::Release(limiter) => {
                if let Some(reactions) = &mut self.reactions {
                    reactions.remove(limiter);
                }
                self.queues.remove_limiter(limiter);
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
            let mut frame = self.queues.pop(now, self.transmitter.overhead)?;
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
            let bytes = u64::from(wire_len) + self.transmitter.overhead.get();
            if let Some(change) = reactions.sent(now, limiter, bytes) {
                self.apply(now, change);
            }
        }
    }

    /// Returns since when the last frame that left could have left without a pause or a limiter, had it waited: the wire
    /// was free, and the PHY was awake. A NIC with waiting frames does not sleep.
    pub fn ready(&self) -> Time {
        self.transmitter.ready
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
        self.transmitter.eee.as_ref()
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
