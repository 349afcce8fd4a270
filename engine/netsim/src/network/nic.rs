//! A host's network interface: a FIFO with a byte limit and an AQM, the speed of its link, and the EEE hold of its PHY.
//!
//! A frame on the wire is not in the queue. What does not fit the limit, or is dropped by the AQM, is counted. The NIC's
//! clock for EEE ticks in picoseconds. It sends and does not receive: the other direction belongs to the
//! transmitter at the other end.

use std::collections::VecDeque;

use units::{Bytes, DataRate, Duration, Time};

use wire::PacketClass;

use crate::network::eee::{Eee, EeeParams};
use crate::network::frame::HostFrame;
use crate::network::nic_aqm::{Aqm, Decision};
use crate::network::tag;
use crate::report::measures::ClassCounts;
use crate::spec::NicAqm;

/// How a NIC decides when its PHY sleeps and what it collects meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicEee {
    /// Ts of the PHY.
    pub sleep: Duration,
    /// Tw of the PHY.
    pub wake: Duration,
    /// Idle time before the PHY goes to sleep.
    pub stall: Duration,
    /// Longest time that the first frame is held; zero is standard EEE.
    pub hold: Duration,
    /// Held frames that end the hold; 0 is no such trigger.
    pub trigger_packets: u32,
    /// Held bytes that end the hold; 0 is no such trigger.
    pub trigger_bytes: u32,
}

/// What passed a NIC.
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
    /// Maximum number of bytes that waited.
    pub max_queue_bytes: u64,
    /// What the queue did, by class.
    pub classes: [ClassCounts; PacketClass::ALL.len()],
}

/// One NIC.
pub struct Nic {
    rate: DataRate,
    overhead: Bytes,
    limit: Option<Bytes>,
    eee: Option<Eee>,
    aqm: Option<Aqm>,
    queue: VecDeque<HostFrame>,
    /// Dropped when they were to leave; the caller takes back their buffers.
    dropped: Vec<HostFrame>,
    queued_bytes: u64,
    /// When the wire is free for the next frame.
    free_at: Time,
    stats: NicStats,
}

impl Nic {
    /// An idle NIC. `limit` bounds the waiting bytes; `eee` is off when `None`.
    pub fn new(rate: DataRate, overhead: Bytes, limit: Option<Bytes>, eee: Option<NicEee>) -> Self {
        let eee = eee.map(|eee| Eee::new(in_ticks(eee, rate, overhead)));
        Self {
            rate,
            overhead,
            limit,
            eee,
            aqm: None,
            queue: VecDeque::new(),
            dropped: Vec::new(),
            queued_bytes: 0,
            free_at: Time::ZERO,
            stats: NicStats::default(),
        }
    }

    /// The same with an AQM; `seed` is for what it draws.
    #[must_use]
    pub fn with_aqm(mut self, aqm: Option<NicAqm>, seed: u64) -> Self {
        self.aqm = aqm.map(|settings| Aqm::new(settings, seed));
        self
    }

    /// The host offers a frame; one that does not fit or is dropped early comes back.
    pub fn enqueue(&mut self, now: Time, mut frame: HostFrame) -> Result<(), HostFrame> {
        self.stats.offered += 1;
        let queued_bytes = self.queued_bytes + u64::from(frame.wire_len);
        if self.limit.is_some_and(|limit| queued_bytes > limit.get()) {
            self.stats.dropped += 1;
            self.stats.classes[frame.class() as usize].tail_dropped += 1;
            return Err(frame);
        }
        if let Some(aqm) = &mut self.aqm {
            let decision = aqm.admit(self.queued_bytes, self.queue.len() as u64, &frame);
            if self.stats.apply(decision, &mut frame) {
                return Err(frame);
            }
        }
        if let Some(eee) = &mut self.eee {
            eee.admit(now.as_ps(), frame.wire_len, self.queue.is_empty());
        }
        self.queue.push_back(frame);
        self.queued_bytes = queued_bytes;
        self.stats.max_queue_bytes = self.stats.max_queue_bytes.max(queued_bytes);
        Ok(())
    }

    /// When the first waiting frame may leave: not before the wire is free and the PHY awake.
    pub fn next_departure(&self) -> Option<Time> {
        let gate = Time::from_ps(self.eee.as_ref().map_or(0, Eee::gate_open_at));
        (!self.queue.is_empty()).then(|| self.free_at.max(gate))
    }

    /// The first waiting frame leaves; with it comes its time on the wire. `None` when there is none, or when the AQM dropped
    /// all that waited.
    ///
    /// # Panics
    /// When `now` is before [`Nic::next_departure`].
    pub fn depart(&mut self, now: Time) -> Option<(HostFrame, Duration)> {
        loop {
            let mut frame = self.queue.pop_front()?;
            assert!(now >= self.free_at, "a NIC sends while its wire is busy");
            self.queued_bytes -= u64::from(frame.wire_len);
            if let Some(aqm) = &mut self.aqm {
                let (admitted, _) = tag::decode(frame.tag);
                let decision = aqm.leave(now, admitted, self.queued_bytes, &frame);
                if self.stats.apply(decision, &mut frame) {
                    if let Some(eee) = &mut self.eee {
                        eee.discard(now.as_ps());
                    }
                    self.dropped.push(frame);
                    continue;
                }
            }
            if let Some(eee) = &mut self.eee {
                eee.depart(now.as_ps(), frame.wire_len);
            }
            let wire_time = self.rate.transmit_time(Bytes::new(frame.wire_len.into()) + self.overhead);
            self.free_at = now + wire_time;
            self.stats.sent += 1;
            self.stats.sent_bytes += u64::from(frame.wire_len);
            return Some((frame, wire_time));
        }
    }

    /// A frame that [`Nic::depart`] dropped.
    pub fn pop_dropped(&mut self) -> Option<HostFrame> {
        self.dropped.pop()
    }

    /// Frames waiting.
    pub fn queue_packets(&self) -> usize {
        self.queue.len()
    }

    /// What has passed so far.
    pub fn stats(&self) -> &NicStats {
        &self.stats
    }

    /// The EEE state machine, when EEE is on.
    pub fn eee(&self) -> Option<&Eee> {
        self.eee.as_ref()
    }
}

impl NicStats {
    /// Does what the AQM says; whether the frame is dropped.
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

fn in_ticks(eee: NicEee, rate: DataRate, overhead: Bytes) -> EeeParams {
    const PS_PER_BYTE_AT_1_BPS: u128 = 8_000_000_000_000;
    let ticks_per_byte_q24 = (PS_PER_BYTE_AT_1_BPS << 24) / u128::from(rate.as_bps());
    EeeParams {
        sleep_ticks: eee.sleep.as_ps(),
        wake_ticks: eee.wake.as_ps(),
        stall_ticks: eee.stall.as_ps(),
        hold_ticks: eee.hold.as_ps(),
        trigger_packets: eee.trigger_packets,
        trigger_bytes: eee.trigger_bytes,
        ticks_per_byte_q24: u64::try_from(ticks_per_byte_q24).unwrap_or(u64::MAX),
        overhead_bytes: u16::try_from(overhead.get()).unwrap_or(u16::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(wire_len: u32) -> HostFrame {
        HostFrame { wire_len, ..HostFrame::default() }
    }

    fn gigabit(limit: Option<u64>, eee: Option<NicEee>) -> Nic {
        Nic::new(DataRate::from_bps(1_000_000_000), Bytes::new(24), limit.map(Bytes::new), eee)
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
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
    fn a_sleeping_phy_delays_the_first_frame_and_a_trigger_shortens_the_hold() {
        let eee = NicEee {
            sleep: Duration::from_us(182),
            wake: Duration::from_ns(16_500),
            hold: Duration::from_us(500),
            trigger_packets: 2,
            ..NicEee::default()
        };
        let mut nic = gigabit(None, Some(eee));
        nic.enqueue(us(1_000), frame(1476)).unwrap();
        assert_eq!(nic.next_departure(), Some(us(1_500) + Duration::from_ns(16_500)));
        nic.enqueue(us(1_100), frame(1476)).unwrap();
        assert_eq!(nic.next_departure(), Some(us(1_100) + Duration::from_ns(16_500)));
    }
}
