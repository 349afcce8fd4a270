//! The E-EON program with several queues per port: order and accounts of each queue, under random traffic and settings,
//! and with both ways to hold packets.

use std::collections::BTreeMap;

use crate::support::eeon::{self, Eee};
use proptest::prelude::*;
use simple_switch::{PortConfig, Switch, SwitchConfig};
use units::{DataRate, Duration, Time};

const PORT: u16 = 2;
const BPS: u64 = 1_000_000_000;
const DSCPS: [u8; 4] = [0, 10, 26, 46];
/// Bits of the priorities that the neighbour at [`PORT`] may pause.
const PAUSABLE: u8 = 0b0110_1011;
const QUANTUM_NS: u64 = 512;

#[derive(Clone, Debug)]
struct Case {
    /// Time since the last in ns, which of [`DSCPS`], frame bytes.
    arrivals: Vec<(u64, usize, usize)>,
    /// The queue of each DSCP.
    priorities: [u8; 4],
    eee: Option<Eee>,
    is_gated: bool,
    /// Pauses of the queues in [`PAUSABLE`]: time since the last in ns, priority, quanta.
    pauses: Vec<(u64, u8, u16)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let gap = prop_oneof![4 => 0..4_000u64, 1 => 0..400_000u64];
    let arrivals = prop::collection::vec((gap, 0..4usize, 54..1500usize), 1..60);
    let eee = (0..20_000u64, 0..20_000u64, prop_oneof![Just(0u64), 1..50_000u64], 0..6u64).prop_map(
        |(sleep, wake, hold, trigger_packets)| Eee { sleep, wake, hold, trigger_packets, ..Eee::default() },
    );
    let quanta = prop_oneof![1 => Just(0u16), 3 => 1..60u16];
    let pauses = prop::collection::vec((0..20_000u64, 0..8u8, quanta), 0..12);
    (arrivals, prop::array::uniform4(0..8u8), prop::option::of(eee), any::<bool>(), pauses).prop_map(
        |(arrivals, priorities, eee, is_gated, pauses)| Case { arrivals, priorities, eee, is_gated, pauses },
    )
}

fn switch(case: &Case) -> Switch {
    let rate = DataRate::from_bps(BPS);
    let config = SwitchConfig {
        tick: Duration::from_ns(1),
        gate_register: case.is_gated.then(|| eeon::GATE.to_owned()),
        class_gate_register: case.is_gated.then(|| eeon::CLASS_GATE.to_owned()),
        recirculation_delay: Duration::from_ns(300),
        recirculation_limit: 4096, // What would never leave is dropped, and missed.
        priorities: 8,
        ports: [1, PORT].map(|port| PortConfig::ethernet(port, rate)).to_vec(),
        ..SwitchConfig::default()
    };
    let mut switch = Switch::new(eeon::program(), config).unwrap();
    let mut state = switch.state_mut();
    eeon::route(&mut state, PORT as u8, &[PORT]);
    let of: Vec<_> = DSCPS.into_iter().zip(case.priorities).collect();
    eeon::priorities(&mut state, &of);
    eeon::pausable(&mut state, PORT, PAUSABLE, QUANTUM_NS);
    if let Some(settings) = case.eee {
        eeon::eee(&mut state, PORT, settings, eeon::ticks_per_byte_q24(BPS));
    }
    drop(state);
    switch
}

fn queue(switch: &Switch, name: &str, priority: u8) -> u64 {
    eeon::register(switch.state(), name, PORT << 3 | u16::from(priority))
}

/// What the accounts must say when these packets wait: (priority, bytes).
fn check_accounts(switch: &Switch, waiting: &BTreeMap<usize, (u8, u64)>) -> Result<(), TestCaseError> {
    let of = |belongs: &dyn Fn(u8) -> bool| {
        let lengths: Vec<u64> =
            waiting.values().filter(|(priority, _)| belongs(*priority)).map(|(_, bytes)| *bytes).collect();
        (lengths.iter().sum::<u64>(), lengths.len() as u64)
    };
    for priority in 1..8 {
        let account = (queue(switch, "queue_bytes", priority), queue(switch, "queue_packets", priority));
        prop_assert_eq!(account, of(&|other| other == priority), "priority {}", priority);
    }
    prop_assert_eq!(queue(switch, "queue_bytes", 0), 0, "what is left of the port's");
    let port = |name| eeon::register(switch.state(), name, PORT);
    prop_assert_eq!((port("raised_bytes"), port("raised_packets")), of(&|priority| priority > 0));
    prop_assert_eq!((port("occupancy_bytes"), port("occupancy_packets")), of(&|_| true));
    Ok(())
}

proptest! {
    /// Checks that each queue is first in, first out, and that a circulating packet delays no other queue. By gate, no
    /// packet leaves while one waits in a higher queue that is not paused. No packet leaves a paused queue, and a pause
    /// ends. The accounts equal the waiting packets at any time.
    #[test]
    fn each_queue_keeps_its_order_and_its_account(case in cases()) {
        let mut switch = switch(&case);
        let mut waiting = BTreeMap::new();
        let mut came: Vec<(u64, u8)> = Vec::new();
        let mut left: Vec<(u64, usize)> = Vec::new();
        let mut now = 1_000_000u64;
        let mut pauses = case.pauses.iter();
        // What a queue may not send in: from when and until when, in ps, of each priority.
        let mut paused: Vec<Vec<(u64, u64)>> = vec![Vec::new(); 8];
        for (tag, (gap, dscp, bytes)) in case.arrivals.iter().enumerate() {
            now += gap * 1000;
            if let Some((gap, priority, quanta)) = pauses.next() {
                now += gap * 1000;
                while let Some(due) = switch.next_wakeup().filter(|due| due.as_ps() <= now) {
                    switch.handle_wakeup(due);
                    collect(&mut switch, &mut waiting, &mut left);
                }
                let frame = eeon::pause_frame(&[(*priority, *quanta)]);
                switch.handle_packet(Time::from_ps(now), PORT, &frame, u64::MAX);
                if PAUSABLE >> priority & 1 == 1 {
                    let of_queue = &mut paused[usize::from(*priority)];
                    if let Some((_, until)) = of_queue.last_mut() {
                        *until = now.min(*until);
                    }
                    of_queue.push((now, now + u64::from(*quanta) * QUANTUM_NS * 1000));
                }
                now += 1000;
            }
            while let Some(due) = switch.next_wakeup().filter(|due| due.as_ps() < now) {
                switch.handle_wakeup(due);
                collect(&mut switch, &mut waiting, &mut left);
                check_accounts(&switch, &waiting)?;
            }
            let priority = case.priorities[*dscp];
            waiting.insert(tag, (priority, *bytes as u64));
            came.push((now, priority));
            let frame = eeon::tcp_frame(PORT as u8, 9, DSCPS[*dscp] << 2, 1000, *bytes);
            switch.handle_packet(Time::from_ps(now), 1, &frame, tag as u64);
            collect(&mut switch, &mut waiting, &mut left);
            check_accounts(&switch, &waiting)?;
        }
        while let Some(due) = switch.next_wakeup() {
            switch.handle_wakeup(due);
            collect(&mut switch, &mut waiting, &mut left);
        }
        check_accounts(&switch, &BTreeMap::new())?;
        for priority in 0..8 {
            let of = |tag: &usize| came[*tag].1 == priority;
            let order: Vec<usize> = left.iter().map(|(_, tag)| *tag).filter(of).collect();
            prop_assert_eq!(order, (0..came.len()).filter(of).collect::<Vec<_>>(), "priority {}", priority);
            prop_assert_eq!(queue(&switch, "ticket_next", priority), queue(&switch, "ticket_serving", priority));
        }
        for (at, tag) in &left {
            for (from, until) in &paused[usize::from(came[*tag].1)] {
                prop_assert!(at <= from || at >= until, "packet {} left at {} within {}..{}", tag, at, from, until);
            }
        }
        if case.is_gated {
            for (place, (at, tag)) in left.iter().enumerate() {
                let passed = left[place + 1..].iter().find(|(_, other)| {
                    let (other_came, other_priority) = came[*other];
                    let is_paused = |(from, until): &(u64, u64)| from <= at && at < until;
                    other_priority > came[*tag].1
                        && other_came < *at
                        && !paused[usize::from(other_priority)].iter().any(is_paused)
                });
                prop_assert_eq!(passed, None, "packet {} left before it", tag);
            }
        }
    }
}

/// Takes what has left.
fn collect(switch: &mut Switch, waiting: &mut BTreeMap<usize, (u8, u64)>, left: &mut Vec<(u64, usize)>) {
    while let Some(sent) = switch.poll_transmit() {
        waiting.remove(&(sent.tag as usize));
        left.push((sent.at.as_ps(), sent.tag as usize));
    }
}
