//! Classes of a NIC's frames, and the pauses of its switch (IEEE 802.1Q-2022 clause 36).
//!
//! A frame's queue is that of its DSCP. The highest queue that is not paused is served first. A pause stops the queues
//! that it names, after the frame on the wire; a later pause replaces the rest of it, and a time of 0 ends it. Only
//! queues that may be paused obey.

use units::{Bytes, DataRate, Duration};
use wire::Network;

use crate::network::frame::HostFrame;

/// Number of queues of a NIC.
pub(crate) const PRIORITIES: usize = 8;

/// IEEE 802.3 annex 31D: the address, the opcode, and the offsets of the class-enable vector and the times.
const MAC_CONTROL: [u8; 6] = [0x01, 0x80, 0xC2, 0, 0, 0x01];
const ETHERTYPE: [u8; 2] = [0x88, 0x08];
const OPCODE_PFC: [u8; 2] = [0x01, 0x01];
const ENABLED_AT: usize = 17;
const TIMES_AT: usize = 18;
const SHORTEST: usize = TIMES_AT + 2 * PRIORITIES;
/// Bytes of a quantum of 512 bit times.
const QUANTUM_BYTES: u64 = 64;

/// The queue of each frame, and the queues that may be paused: settings of the fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NicClasses {
    /// Priority by DSCP.
    pub priority: [u8; 64],
    /// The queue of frames other than IP.
    pub default_priority: u8,
    /// Bit n: priority n may be paused.
    pub pausable: u8,
}

/// Returns whether a frame is a MAC control frame, which ends at the NIC that receives it.
#[inline]
pub(super) fn is_mac_control(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&ETHERTYPE)
}

impl NicClasses {
    /// Returns the queue of a frame.
    pub(super) fn priority_of(&self, frame: &HostFrame) -> usize {
        let dscp = Network::of(&frame.captured).ok().and_then(|network| network.dscp());
        dscp.map_or(self.default_priority, |dscp| self.priority[usize::from(dscp)]).into()
    }

    /// Returns the queues that a MAC control frame pauses and that may be paused, each with the length of its pause.
    pub(super) fn pauses<'a>(
        &self,
        rate: DataRate,
        frame: &'a [u8],
    ) -> impl Iterator<Item = (usize, Duration)> + 'a {
        let obeyed = if is_pause(frame) { frame[ENABLED_AT] & self.pausable } else { 0 };
        let paused = (0..PRIORITIES).filter(move |priority| obeyed >> priority & 1 == 1);
        paused.map(move |priority| {
            (priority, rate.transmit_time(Bytes::new(quanta(frame, priority) * QUANTUM_BYTES)))
        })
    }
}

/// Returns whether a MAC control frame is a pause by priority.
fn is_pause(frame: &[u8]) -> bool {
    frame.len() >= SHORTEST && frame[..6] == MAC_CONTROL && frame[14..16] == OPCODE_PFC
}

/// Returns the time of a priority in a pause, in quanta.
fn quanta(pause: &[u8], priority: usize) -> u64 {
    let at = TIMES_AT + 2 * priority;
    u64::from(u16::from_be_bytes([pause[at], pause[at + 1]]))
}

/// Returns the priorities that a MAC control frame pauses, as a bit mask, without those whose pause it ends. `None` if
/// it is not a pause.
pub(super) fn asked(frame: &[u8]) -> Option<u8> {
    let is_asked = |priority: usize| frame[ENABLED_AT] >> priority & 1 == 1 && quanta(frame, priority) > 0;
    is_pause(frame).then(|| (0..PRIORITIES).map(|priority| u8::from(is_asked(priority)) << priority).sum())
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::network::nic::{Nic, NicLimit, NicSettings};

    const GIGABIT: DataRate = DataRate::from_bps(1_000_000_000);

    /// Returns classes in which DSCP 26 is priority 3, which may be paused, and DSCP 46 is priority 5, which may not.
    fn classes() -> NicClasses {
        let mut priority = [0; 64];
        (priority[26], priority[46]) = (3, 5);
        NicClasses { priority, default_priority: 4, pausable: 1 << 3 }
    }

    fn nic() -> Nic {
        limited(None, Some(classes()))
    }

    fn limited(limit: Option<NicLimit>, classes: Option<NicClasses>) -> Nic {
        Nic::new(GIGABIT, Bytes::new(24), NicSettings { limit, classes, ..NicSettings::default() })
    }

    /// Stands for the DSCP of a frame that has none.
    const NOT_IP: u8 = 64;

    /// Returns a frame of IPv4 or IPv6 that takes 12 us on the wire.
    fn frame(dscp: u8, is_ipv6: bool) -> HostFrame {
        let mut captured = vec![0; 54];
        if is_ipv6 {
            captured[12..14].copy_from_slice(&[0x86, 0xDD]);
            captured[14..16].copy_from_slice(&[0x60 | dscp >> 2, dscp << 6]);
        } else {
            captured[12..14].copy_from_slice(&[8, 0]);
            captured[14..18].copy_from_slice(&[0x45, dscp << 2, 0, 40]);
        }
        HostFrame { captured, wire_len: 1476, ..HostFrame::default() }
    }

    fn pause(enabled: u8, times: [u16; 8]) -> Vec<u8> {
        let mut frame = vec![1, 0x80, 0xC2, 0, 0, 1, 2, 1, 0, 0, 0, 1, 0x88, 8, 1, 1, 0, enabled];
        frame.extend(times.iter().flat_map(|time| time.to_be_bytes()));
        frame.resize(60, 0);
        frame
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn departures(nic: &mut Nic) -> Vec<(u64, u8)> {
        let mut all = Vec::new();
        while let Some(at) = nic.next_departure() {
            if let Some((frame, _)) = nic.depart(at) {
                let dscp = Network::of(&frame.captured).ok().and_then(|packet| packet.dscp());
                all.push((at.as_ps() / 1_000_000, dscp.unwrap_or(NOT_IP)));
            }
        }
        all
    }

    #[test]
    fn the_highest_queue_leaves_first_by_the_dscp_of_either_family() {
        let mut nic = nic();
        for (dscp, is_ipv6) in [(0, false), (26, false), (46, false), (26, true), (46, true)] {
            nic.enqueue(us(0), frame(dscp, is_ipv6)).unwrap();
        }
        let mut arp = frame(0, false);
        arp.captured[12..14].copy_from_slice(&[8, 6]);
        nic.enqueue(us(0), arp).unwrap();
        let left = [(0, 46), (12, 46), (24, NOT_IP), (36, 26), (48, 26), (60, 0)];
        assert_eq!(departures(&mut nic), left);
        assert_eq!(nic.queue_packets(), 0);
    }

    #[test]
    fn a_pause_holds_its_queue_for_its_quanta_and_no_other() {
        let mut nic = nic();
        for dscp in [26, 46, 0] {
            nic.enqueue(us(0), frame(dscp, false)).unwrap();
        }
        // 1000 quanta of 512 ns. The times of classes whose bit is not set, or that may not be paused, do not count.
        nic.receive_control(us(0), &pause(0b0010_1000, [9, 0, 0, 1000, 0, 60_000, 0, 9]));
        assert_eq!(departures(&mut nic), [(0, 46), (12, 0), (512, 26)]);
        assert_eq!((nic.stats().pauses, nic.stats().control_ignored), (1, 0));
    }

    #[test]
    fn a_later_pause_replaces_the_rest_and_a_time_of_0_ends_it() {
        let mut nic = nic();
        let of_3 = |quanta| pause(1 << 3, [0, 0, 0, quanta, 0, 0, 0, 0]);
        nic.enqueue(us(0), frame(26, false)).unwrap();
        nic.receive_control(us(0), &of_3(u16::MAX));
        nic.receive_control(us(10), &of_3(1000));
        assert_eq!(nic.next_departure(), Some(us(522)));
        nic.receive_control(us(100), &of_3(0));
        assert_eq!(nic.next_departure(), Some(us(100)));
        assert_eq!([1, 0].map(|quanta| asked(&of_3(quanta))), [Some(1 << 3), Some(0)]);
    }

    #[test]
    fn frames_that_are_no_pause_are_counted_and_move_nothing() {
        let mut nic = nic();
        let good = pause(1 << 3, [u16::MAX; 8]);
        nic.enqueue(us(0), frame(26, false)).unwrap();
        let other_opcode = [&good[..14], &[0, 1], &good[16..]].concat();
        let other_address = [&[2][..], &good[1..]].concat();
        for bad in [&good[..33], &good[..14], &other_opcode, &other_address, &pause(1 << 5, [9; 8])] {
            nic.receive_control(us(0), bad);
        }
        assert_eq!((nic.stats().pauses, nic.stats().control_ignored), (0, 5));
        assert_eq!(nic.next_departure(), Some(Time::ZERO));
        let mut plain = limited(None, None);
        plain.enqueue(us(0), frame(26, false)).unwrap();
        plain.receive_control(us(0), &good);
        assert_eq!((plain.next_departure(), plain.stats().control_ignored), (Some(Time::ZERO), 1));
    }

    #[test]
    fn what_leaves_a_limiter_waits_for_the_end_of_its_queues_pause() {
        let mut nic = nic();
        let limiter = nic.add_limiter(us(0), 1_000_000_000);
        (0..2).for_each(|_| nic.enqueue(us(0), HostFrame { limiter, ..frame(26, false) }).unwrap());
        nic.enqueue(us(0), frame(0, false)).unwrap();
        nic.receive_control(us(0), &pause(1 << 3, [0, 0, 0, 100, 0, 0, 0, 0]));
        assert_eq!(departures(&mut nic), [(0, 0), (51, 26), (63, 26)]);
        assert_eq!(nic.queue_packets(), 0);
    }

    #[test]
    fn a_flow_of_which_frames_wait_for_the_end_of_a_pause_stays_in_order() {
        let mut nic = nic();
        let limiter = nic.add_limiter(us(0), 1_000_000_000);
        for number in 0..6 {
            nic.enqueue(us(0), HostFrame { limiter, number, ..frame(26, false) }).unwrap();
        }
        nic.receive_control(us(0), &pause(1 << 3, [0, 0, 0, 60, 0, 0, 0, 0]));
        let mut left = Vec::new();
        while let Some(at) = nic.next_departure() {
            left.extend(nic.depart(at).map(|(frame, _)| frame.number));
        }
        assert_eq!(left, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_higher_class_goes_before_what_leaves_a_limiter() {
        let mut nic = nic();
        let limiter = nic.add_limiter(us(0), 1_000_000_000);
        for _ in 0..2 {
            nic.enqueue(us(0), HostFrame { limiter, ..frame(26, false) }).unwrap();
            nic.enqueue(us(0), frame(46, false)).unwrap();
        }
        assert_eq!(departures(&mut nic), [(0, 46), (12, 46), (24, 26), (36, 26)]);
    }

    proptest::proptest! {
        /// Checks that a limited flow is never ahead of its rate by more than the one frame that had to wait for the wire, and
        /// with nothing beside it by none, whatever pauses and whatever leaves beside it.
        #[test]
        fn frames_of_a_limited_flow_are_as_far_apart_as_its_rate_whatever_pauses(
            offered in proptest::collection::vec((0_u64..400, 60_u32..1_514), 2..60),
            pauses in proptest::collection::vec((0_u64..2_000, 0_u16..4_000), 0..20),
            others in proptest::collection::vec(0_u64..2_000, 0..40),
        ) {
            const RATE: DataRate = DataRate::from_bps(100_000_000);
            let mut nic = nic();
            let limiter = nic.add_limiter(us(0), RATE.as_bps());
            let is_alone = others.is_empty();
            let frames = offered.into_iter().map(|(gap, length)| (gap, 0, Vec::new(), length));
            let pauses = pauses.into_iter().map(|(gap, quanta)| (gap, 1, pause(1 << 3, [0, 0, 0, quanta, 0, 0, 0, 0]), 0));
            let others = others.into_iter().map(|gap| (gap, 2, Vec::new(), 1_476));
            let mut events: Vec<(u64, usize, Vec<u8>, u32)> = Vec::new();
            let mut now = [0; 3];
            for (gap, kind, control, wire_len) in frames.chain(pauses).chain(others) {
                now[kind] += gap;
                events.push((now[kind], kind, control, wire_len));
            }
            events.sort_by_key(|(at, kind, ..)| (*at, *kind));
            let mut left: Vec<(Time, Duration)> = Vec::new();
            let mut leave = |nic: &mut Nic, until: Time| {
                while let Some(due) = nic.next_departure().filter(|due| *due <= until) {
                    if let Some((gone, _)) = nic.depart(due).filter(|(gone, _)| gone.limiter.is_some()) {
                        left.push((due, RATE.transmit_time(Bytes::new(u64::from(gone.wire_len) + 24))));
                    }
                }
            };
            let mut count = 0;
            for (at, kind, control, wire_len) in events {
                leave(&mut nic, us(at) - Duration::from_ps(u64::from(at > 0)));
                match kind {
                    0 => {
                        count += 1;
                        nic.enqueue(us(at), HostFrame { limiter, wire_len, ..frame(26, false) }).unwrap();
                    }
                    1 => nic.receive_control(us(at), &control),
                    _ => nic.enqueue(us(at), frame(46, false)).unwrap(),
                }
            }
            leave(&mut nic, Time::MAX);
            proptest::prop_assert_eq!(left.len(), count);
            for first in 0..left.len() {
                let mut owed = Duration::ZERO;
                let spare = if is_alone { Duration::ZERO } else { left[first].1 };
                for last in first + 1..left.len() {
                    owed += left[last - 1].1;
                    let passed = left[last].0 - left[first].0;
                    proptest::prop_assert!(passed + spare >= owed, "{} to {}: {} of {}", first, last, passed, owed);
                }
            }
        }

        /// Checks that queues which nobody pauses, with one class in use, are the one FIFO.
        #[test]
        fn one_class_without_pauses_changes_no_departure(
            frames in proptest::collection::vec((0_u64..100, 60_u32..1_514, 0..3_u8), 1..60),
            limit in proptest::option::of(1_500_u64..20_000),
        ) {
            let limit = limit.map(|bytes| NicLimit::Bytes(Bytes::new(bytes)));
            let (mut plain, mut other) = (limited(limit, None), limited(limit, Some(classes())));
            let mut now = 0;
            for (gap, length, dscp) in frames {
                now += gap;
                while let Some(at) = plain.next_departure().filter(|at| *at <= us(now)) {
                    proptest::prop_assert_eq!(other.next_departure(), Some(at));
                    proptest::prop_assert_eq!(plain.depart(at.max(us(now))), other.depart(at.max(us(now))));
                }
                let frame = HostFrame { wire_len: length, ..frame(dscp, false) };
                proptest::prop_assert_eq!(plain.enqueue(us(now), frame.clone()), other.enqueue(us(now), frame));
                proptest::prop_assert_eq!(plain.stats(), other.stats());
            }
            proptest::prop_assert_eq!(departures(&mut plain), departures(&mut other));
        }
    }
}
