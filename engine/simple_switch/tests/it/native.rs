//! The E-EON program as native code and interpreted: both give the same frames at the same times, registers and counts.

use crate::support::eeon::{self, Eee};
use proptest::prelude::*;
use simple_switch::{Switch, Transmit};
use units::{Duration, Time};

const PORTS: u16 = 3;

fn switch() -> Switch {
    let mut switch = Switch::new(eeon::program(), eeon::config(1..=PORTS, 1_000_000_000)).unwrap();
    let mut state = switch.state_mut();
    (0..4).for_each(|net| eeon::route(&mut state, net, &[1, 2, 3]));
    for port in 1..=PORTS {
        eeon::mark_above(&mut state, port, 4_000);
        eeon::buffer_limit(&mut state, port, 12_000);
    }
    let eee = Eee { trigger_packets: 5, ticks_per_byte_q24: 8 << 24, ..eeon::TEN_GIGABIT };
    // One port without, so that both branches run.
    (2..=PORTS).for_each(|port| eeon::eee(&mut state, port, eee));
    drop(state);
    switch
}

/// A frame: its network, host, ECN bits, source port, length; what is cut off, and bytes that are changed.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((0..80usize, any::<u8>()), 0..3);
    let fields = (0..5u8, any::<u8>(), 0..4u8, any::<u16>(), 54..1500usize);
    (fields, prop::option::weighted(0.2, 0..80usize), changes).prop_map(|(fields, cut, changes)| {
        let (net, host, ecn, source_port, length) = fields;
        let mut frame = eeon::tcp_frame(net, host, ecn, source_port, length);
        for (at, value) in changes {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        frame.truncate(cut.unwrap_or(length));
        frame
    })
}

fn play(switch: &mut Switch, frames: &[(Vec<u8>, u64, u16)]) -> Vec<Transmit> {
    let mut now = Time::from_ps(1_000_000);
    for (tag, (frame, gap_ns, port)) in (0..).zip(frames) {
        now += Duration::from_ns(*gap_ns);
        switch.handle_packet(now, *port, frame, tag);
    }
    switch.handle_wakeup(now + Duration::from_ms(10));
    std::iter::from_fn(|| switch.poll_transmit()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn native_code_sends_what_the_interpreter_sends_and_leaves_the_same_registers(
        frames in prop::collection::vec((frame(), 0..20_000u64, 0..=PORTS), 1..120)
    ) {
        let (mut native, mut interpreted) = (switch(), switch());
        prop_assert!(native.state().is_native(), "this machine has a code generator");
        interpreted.state_mut().interpret();
        prop_assert_eq!(play(&mut native, &frames), play(&mut interpreted, &frames));
        prop_assert_eq!(native.stats(), interpreted.stats());
        for register in native.program().register_arrays() {
            let all = |switch: &Switch| switch.state().register_read_all(&register.name).unwrap();
            prop_assert_eq!(all(&native), all(&interpreted), "{}", &register.name);
        }
        for counter in native.program().counter_arrays().iter().filter(|c| c.direct_table.is_none()) {
            for index in 0..counter.size as u64 {
                let count = |switch: &Switch| switch.state().read_counters(&counter.name, index).unwrap();
                prop_assert_eq!(count(&native), count(&interpreted), "{} {}", &counter.name, index);
            }
        }
    }
}
