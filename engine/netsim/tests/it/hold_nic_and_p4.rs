//! A host's NIC and a switch port that runs the P4 program, side by side: the same settings and the same packets at the
//! same times, on links of the same speed. Both clocks tick in picoseconds, so every departure and every register must
//! be equal, packet by packet.
//!
//! Random histories with real PHY times, frame sizes and speeds. The two files `hold_exhaustive.rs`, here and in
//! simple_switch, compare each of the two with one plain reference in every case of a small world.

use crate::common::eeon;
use netsim::eee::EeeState;
use netsim::nic::{Nic, NicEee, NicSettings};
use netsim::HostFrame;
use proptest::prelude::*;
use simple_switch::{PortConfig, Switch, SwitchConfig};
use units::{Bytes, DataRate, Duration, Time};

const PORT: u16 = 2;
/// eeon.rs writes it into the table.
const OVERHEAD: Bytes = Bytes::new(24);

/// A NIC, and a switch whose port 2 has its settings and its link's speed.
struct Pair {
    nic: Nic,
    switch: Switch,
    /// Packets that have left the NIC but not yet the switch: number, time.
    departed: std::collections::VecDeque<(u64, Time)>,
    left: usize,
}

impl Pair {
    fn new(rate: DataRate, settings: NicEee) -> Self {
        let config = SwitchConfig {
            tick: Duration::from_ps(1),
            gate_register: Some(eeon::GATE.to_owned()),
            ports: [1, PORT].map(|port| PortConfig::ethernet(port, rate)).to_vec(),
            ..SwitchConfig::default()
        };
        let mut switch = Switch::new(eeon::program(), config).expect("the configuration is sound");
        eeon::route(&mut switch.state_mut(), 2, &[PORT]);
        let eee = eeon::Eee {
            sleep: settings.sleep.as_ps(),
            wake: settings.wake.as_ps(),
            stall: settings.stall.as_ps(),
            hold: settings.hold.as_ps(),
            trigger_packets: settings.trigger_packets.into(),
            trigger_bytes: settings.trigger_bytes.into(),
            ticks_per_byte_q24: ((8_000_000_000_000_u128 << 24) / u128::from(rate.as_bps())) as u64,
        };
        eeon::eee(&mut switch.state_mut(), PORT, eee);
        let nic = Nic::new(rate, OVERHEAD, NicSettings { eee: Some(settings), ..NicSettings::default() });
        Self { nic, switch, departed: std::collections::VecDeque::new(), left: 0 }
    }

    fn arrive(&mut self, now: Time, number: u64, bytes: u32) -> Result<(), TestCaseError> {
        let frame = HostFrame { wire_len: bytes, tag: number, ..HostFrame::default() };
        prop_assert!(self.nic.enqueue(now, frame).is_ok());
        self.switch.handle_packet(now, 1, &eeon::tcp_frame(2, 9, 0, 1000, bytes as usize), number);
        self.settle(now)
    }

    /// Returns when both have something to send next; it is an error if only one has.
    fn next(&self, now: Time) -> Result<Option<Time>, TestCaseError> {
        let nic = self.nic.next_departure().map(|at| at.max(now));
        let switch = self.switch.next_wakeup();
        prop_assert_eq!(nic, switch, "when the next packet leaves");
        Ok(nic)
    }

    /// Everything that may leave at `now` leaves both.
    fn settle(&mut self, now: Time) -> Result<(), TestCaseError> {
        self.switch.handle_wakeup(now);
        while self.nic.next_departure().is_some_and(|at| at <= now) {
            let (frame, _) = self.nic.depart(now).expect("something waits");
            self.departed.push_back((frame.tag, now));
        }
        while let Some(sent) = self.switch.poll_transmit() {
            prop_assert_eq!(Some((sent.tag, sent.at)), self.departed.pop_front(), "number and time");
            self.left += 1;
            self.switch.recycle(sent.frame);
        }
        prop_assert!(self.departed.is_empty(), "left the NIC only: {:?}", self.departed);
        self.compare()
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        let eee = self.nic.eee().expect("EEE is on");
        let state = match eee.state() {
            EeeState::Active => 0,
            EeeState::Hold => 1,
            EeeState::Wake => 2,
        };
        for (name, nic) in [
            ("eee_state", state),
            ("gate_open_at", eee.gate_open_at()),
            ("busy_until", eee.busy_until()),
            ("held_packets", eee.held_packets().into()),
            ("lpi_ticks", eee.lpi_ticks()),
            ("wakes", eee.wakes()),
            ("occupancy_packets", self.nic.queue_packets() as u64),
        ] {
            prop_assert_eq!(nic, eeon::register(self.switch.state(), name, PORT), "{}", name);
        }
        Ok(())
    }
}

fn span(limit_ns: u64) -> impl Strategy<Value = Duration> {
    // Often nothing, often short, sometimes as long as can be.
    prop_oneof![Just(0), 0..=limit_ns / 20, 0..=limit_ns].prop_map(Duration::from_ns)
}

fn settings() -> impl Strategy<Value = NicEee> {
    let phy = prop_oneof![
        Just((Duration::from_us(182), Duration::from_ns(16_500))),
        Just((Duration::from_ns(2_880), Duration::from_ns(4_480))),
        (span(200_000), span(20_000)),
    ];
    let trigger_bytes = prop_oneof![Just(0_u32), 1..6_000_u32];
    (phy, span(50_000), span(1_000_000), 0..12_u32, trigger_bytes).prop_map(
        |((sleep, wake), stall, hold, trigger_packets, trigger_bytes)| NicEee {
            sleep,
            wake,
            stall,
            hold,
            trigger_packets,
            trigger_bytes,
        },
    )
}

proptest! {
    #[test]
    fn a_nic_and_the_p4_program_hold_and_send_every_packet_alike(
        eee in settings(),
        bps in prop_oneof![Just(1_000_000_000_u64), Just(10_000_000_000), 100_000_000..40_000_000_000_u64],
        packets in prop::collection::vec((span(400_000), 54..1515_u32), 1..80),
    ) {
        let mut pair = Pair::new(DataRate::from_bps(bps), eee);
        // Not from tick 0 on: a gate there opens a tick late in the P4 program, where 0 means no gate.
        let mut now = Time::from_ps(1);
        for (number, (gap, bytes)) in (0..).zip(&packets) {
            let arrival = now + *gap;
            while let Some(due) = pair.next(now)?.filter(|due| *due < arrival) {
                now = due;
                pair.settle(now)?;
            }
            now = arrival;
            pair.arrive(now, number, *bytes)?;
        }
        while let Some(due) = pair.next(now)? {
            now = due;
            pair.settle(now)?;
        }
        prop_assert_eq!(pair.left, packets.len());
    }
}
