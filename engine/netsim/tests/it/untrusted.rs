//! External input: frames that are refused, and frames of any content that are accepted.

use crate::common::{eee_values, register, send, us, LeafSpine, PortSettings, FOREVER, PLAIN};
use netsim::SendError;
use proptest::prelude::*;
use units::Time;
use wire::tcp::ACK;
use wire::{Ecn, PacketClass};

#[test]
fn frames_that_cannot_be_are_refused_with_their_numbers() {
    let size = LeafSpine { leaves: 1, spines: 0, ..LeafSpine::default() };
    let mut fabric = size.fabric(size.spec(), |_| PLAIN);
    let frame = size.segment(0, 1, ACK, 0, Ecn::NotEct);
    send(&mut fabric, 0, us(5), &frame);
    let late = fabric.send(0, us(4), &frame, frame.len()).unwrap_err().to_string();
    assert!(late.contains("4us") && late.contains("5us"), "{late}");
    assert!(matches!(
        fabric.send(9, us(5), &frame, 60),
        Err(SendError::NoSuchNode { index: 9, count: 2, .. })
    ));
    assert!(matches!(fabric.send(0, us(5), &frame, 59), Err(SendError::Length { .. })));
    assert!(matches!(fabric.send(0, us(5), &frame[..10], 13), Err(SendError::Length { .. })));
    assert!(matches!(fabric.send(0, us(5), &frame, 65_536), Err(SendError::Length { .. })));
    assert!(matches!(fabric.send(0, Time::MAX, &frame, 60), Err(SendError::BeyondEnd { .. })));
    fabric.run_until(us(10));
    assert!(matches!(fabric.send(0, us(9), &frame, 60), Err(SendError::Late { .. })));
}

/// `packet_class_t` of MAC control, which no class of `wire` is.
const CONTROL: u64 = 7;

/// What a host might send: mostly TCP over IPv4 or IPv6 with some bytes damaged, so that checksums, lengths or
/// versions no longer fit, behind up to three VLAN tags; sometimes any bytes, or MAC control.
#[derive(Clone, Debug)]
enum Content {
    Segment { to: usize, v6: bool, flags: u8, payload: usize, damage: Vec<(usize, u8)>, tags: usize },
    Bytes(Vec<u8>),
}

fn content() -> impl Strategy<Value = Content> {
    let damage = prop_oneof![Just(Vec::new()), prop::collection::vec((0..54_usize, any::<u8>()), 1..3)];
    prop_oneof![
        4 => (0..4_usize, any::<bool>(), any::<u8>(), 0..200_usize, damage, prop_oneof![3 => Just(0), 1 => 1..4_usize])
            .prop_map(|(to, v6, flags, payload, damage, tags)| {
                Content::Segment { to, v6, flags, payload, damage, tags }
            }),
        1 => prop::collection::vec(any::<u8>(), 14..120).prop_map(Content::Bytes),
        1 => prop::collection::vec(any::<u8>(), 14..120).prop_map(|mut bytes| {
            bytes[12..14].copy_from_slice(&[0x88, 0x08]);
            Content::Bytes(bytes)
        }),
    ]
}

impl Content {
    fn frame(&self, size: &LeafSpine, from: usize) -> Vec<u8> {
        match self {
            Content::Bytes(bytes) => bytes.clone(),
            Content::Segment { to, v6, flags, payload, damage, tags } => {
                let mut frame = if *v6 {
                    size.segment_v6(from, *to, *flags, *payload, Ecn::Ect0)
                } else {
                    size.segment(from, *to, *flags, *payload, Ecn::Ect0)
                };
                for (at, value) in damage {
                    frame[*at] = *value;
                }
                for tag in 0..*tags {
                    frame.splice(12..12, [[0x81, 0x00, 0, 1], [0x88, 0xa8, 0, 2]][tag % 2]);
                }
                frame
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_hosts_send_the_fabric_comes_to_rest_and_its_counts_add_up(
        frames in prop::collection::vec((0..4_usize, content(), 0..1_400_usize), 1..60),
    ) {
        let size = LeafSpine { eee: true, ..LeafSpine::default() };
        let mut fabric = size.fabric(size.spec(), |rate_bps| PortSettings {
            buffer_bytes: Some(5_000),
            eee: Some(eee_values(rate_bps, 12, 3)),
            ..PLAIN
        });
        for (index, (from, content, cut_off)) in frames.iter().enumerate() {
            let captured = content.frame(&size, *from);
            fabric.send(*from, us(index as u64), &captured, captured.len() + cut_off).unwrap();
        }
        prop_assert!(fabric.run_to_idle(FOREVER));
        let report = fabric.report();
        prop_assert!(report.is_ok(), "{:?}", report.err());
        let report = report.unwrap();
        prop_assert_eq!(report.energy.total.violations, 0);
        // The P4 program's classes at the hosts' ports are those of `wire`, which was written without it.
        let received = |class: u64| {
            let cells = [(0, 1), (0, 2), (1, 1), (1, 2)].map(|(leaf, port)| {
                fabric.switch(leaf).state().read_counters("received", port << 3 | class).unwrap().packets
            });
            cells.iter().sum::<u64>()
        };
        for class in PacketClass::ALL {
            // What the program takes for itself, MAC control, `wire` does not tell from others.
            let control = if class == PacketClass::Other { received(CONTROL) } else { 0 };
            let (told, judged) = (received(class as u64) + control, report.classes[class.name()].sent.packets);
            prop_assert_eq!(told, judged, "{}", class.name());
        }
        for switch in 0..4 {
            for port in 1..=4 {
                prop_assert_eq!(register(&fabric, switch, "occupancy_packets", port), 0);
            }
        }
    }
}
