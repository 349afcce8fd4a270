//! Random settings of a port, and their translation into the program's table entries.

use bm::State;
use proptest::prelude::*;

use crate::support::eeon::{self, Eee};

use super::packets::{Built, Class, ECT_1, NOT_ECT};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aqm {
    DropTail,
    Threshold { bytes: u32, l4s_bytes: u32, at_dequeue: bool },
    Red(Red),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Red {
    pub min: u32,
    pub max: u32,
    /// In 256ths.
    pub max_probability: u16,
    pub in_packets: bool,
    pub average_shift: u8,
    pub ecn: bool,
    pub protect: u8,
}

/// The limit of a port's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    Bytes(u32),
    Packets(u32),
    /// Bytes, without those that arrived while the link was not awake.
    BesideHeld(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub buffer: Buffer,
    pub aqm: Aqm,
    pub eee: Option<Eee>,
}

/// What RED does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    Never,
    ByChance,
    Always,
}

impl Red {
    /// Returns the average * 2^32 after a packet has found this depth.
    pub fn average(&self, average: u64, found_bytes: u64, found_packets: u64) -> u64 {
        let found = (if self.in_packets { found_packets } else { found_bytes }) << 32;
        match self.average_shift {
            0 => found,
            shift => average - (average >> shift) + (found >> shift),
        }
    }

    /// Returns whether an average * 2^32 gives a signal: always, never, or by chance.
    pub fn congestion(&self, average: u64) -> Congestion {
        match () {
            () if average >= u64::from(self.max) << 32 => Congestion::Always,
            () if average < u64::from(self.min) << 32 => Congestion::Never,
            () => Congestion::ByChance,
        }
    }

    /// Returns whether a packet is marked where another one is protected or dropped.
    pub fn marks(&self, packet: &Built) -> bool {
        self.ecn && packet.ecn != NOT_ECT
    }

    pub fn spares(&self, packet: &Built) -> bool {
        let is_feedback = matches!(packet.class, Class::Ack | Class::AckEce | Class::Syn | Class::SynAck);
        match self.protect {
            0 => false,
            1 => packet.has_ece,
            _ => packet.has_ece || is_feedback,
        }
    }

    fn probability_slope(&self) -> u64 {
        let span = u64::from(self.max - self.min);
        ((u64::from(self.max_probability) << 40) + span / 2).checked_div(span).unwrap_or(0)
    }
}

impl Aqm {
    /// Returns the threshold that applies to a packet, if one does.
    pub fn threshold(&self, packet: &Built) -> Option<(u64, bool)> {
        let Aqm::Threshold { bytes, l4s_bytes, at_dequeue } = *self else { return None };
        match packet.ecn {
            ECT_1 => Some((l4s_bytes.into(), at_dequeue)),
            2 => Some((bytes.into(), at_dequeue)),
            _ => None,
        }
    }
}

impl Settings {
    /// Writes the three entries of a port, over existing ones.
    pub fn write(&self, state: &mut State, port: u16, ticks_per_byte_q24: u64) {
        let (action, limit) = match self.buffer {
            Buffer::Bytes(limit) => ("set_buffer_limit", limit),
            Buffer::Packets(limit) => ("set_buffer_limit_in_packets", limit),
            Buffer::BesideHeld(limit) => ("set_buffer_limit_beside_held", limit),
        };
        eeon::put(state, "buffer_limit.port_buffer", action, port, &[limit.into()]);
        let (action, data) = match self.aqm {
            Aqm::DropTail => ("drop_tail", Vec::new()),
            Aqm::Threshold { bytes, l4s_bytes, at_dequeue } => {
                ("mark_threshold", vec![bytes.into(), l4s_bytes.into(), at_dequeue.into()])
            }
            Aqm::Red(red) => {
                let Red { min, max, in_packets, average_shift, ecn, protect, .. } = red;
                // No ageing, which needs departure times: the PTF tests cover it (ptf_tests/tests/red.py).
                let bits = [in_packets.into(), average_shift.into(), ecn.into(), protect.into(), 0, 0, 0];
                ("red", [&[min.into(), max.into(), red.probability_slope()][..], &bits].concat())
            }
        };
        eeon::put(state, "aqm.port_aqm", action, port, &data);
        match self.eee {
            None => eeon::put(state, "eee_admit.port_eee", "eee_off", port, &[]),
            Some(eee) => eeon::eee(state, port, eee, ticks_per_byte_q24),
        }
    }
}

/// Returns every mode, with limits that a burst of some packets reaches and limits that it does not.
pub fn settings(frame_ticks: u64) -> BoxedStrategy<Settings> {
    (buffers(), aqms(), eees(frame_ticks))
        .prop_map(|(buffer, aqm, eee)| Settings { buffer, aqm, eee })
        .boxed()
}

fn buffers() -> impl Strategy<Value = Buffer> {
    let bytes = || prop_oneof![3 => Just(u32::MAX), 2 => frames(), 1 => 1000..12_000u32, 1 => 0..1000u32];
    prop_oneof![
        4 => bytes().prop_map(Buffer::Bytes),
        1 => (0..8u32).prop_map(Buffer::Packets),
        2 => bytes().prop_map(Buffer::BesideHeld),
    ]
}

fn depths() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), frames(), 0..3000u32, 0..12_000u32]
}

/// Returns the bytes of some of the commonest frames, for limits that are met exactly.
fn frames() -> impl Strategy<Value = u32> {
    (1..8u32).prop_map(|count| count * 1000)
}

pub fn aqms() -> BoxedStrategy<Aqm> {
    let threshold = (depths(), depths(), any::<bool>())
        .prop_map(|(bytes, l4s_bytes, at_dequeue)| Aqm::Threshold { bytes, l4s_bytes, at_dequeue });
    let limits = prop_oneof![
        (depths(), depths()).prop_map(|(a, b)| (a.min(b), a.max(b), false)),
        (0..12u32, 0..12u32).prop_map(|(a, b)| (a.min(b), a.max(b), true)),
    ];
    let shift = prop_oneof![2 => Just(0), 1 => 1..=10u8];
    let red = (limits, 0..=256u16, shift, any::<bool>(), 0..=2u8).prop_map(
        |((min, max, in_packets), max_probability, average_shift, ecn, protect)| {
            Aqm::Red(Red { min, max, max_probability, in_packets, average_shift, ecn, protect })
        },
    );
    prop_oneof![1 => Just(Aqm::DropTail), 3 => threshold, 4 => red].boxed()
}

/// Returns EEE off, standard and coalescing; timers from zero to ten frames, triggers that one packet, some or none reach.
pub fn eees(frame_ticks: u64) -> BoxedStrategy<Option<Eee>> {
    prop_oneof![1 => Just(None), 5 => eees_on(frame_ticks).prop_map(Some)].boxed()
}

pub fn eees_on(frame_ticks: u64) -> BoxedStrategy<Eee> {
    let timer = || {
        prop_oneof![
            2 => Just(0),
            1 => Just(1),
            2 => 0..=frame_ticks,
            4 => 0..=10 * frame_ticks,
        ]
        .boxed()
    };
    let trigger_packets = prop_oneof![3 => Just(0), 1 => Just(1), 3 => 2..6u32].prop_map(u64::from);
    let trigger_bytes = prop_oneof![4 => Just(0), 2 => 1..5000u32].prop_map(u64::from);
    (timer(), timer(), timer(), timer(), trigger_packets, trigger_bytes)
        .prop_map(|(sleep, wake, stall, hold, trigger_packets, trigger_bytes)| Eee {
            sleep,
            wake,
            stall,
            hold,
            trigger_packets,
            trigger_bytes,
        })
        .boxed()
}
