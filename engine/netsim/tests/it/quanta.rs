//! Queues of switch ports that share their links by weight, in whole fabrics.

use std::num::NonZeroU32;

use crate::common::{
    classes, eee_values, finish, marking, random_traffic, send, with_dscp, LeafSpine, PortSettings, GIGABIT,
};
use netsim::spec::QueueQuantum;
use netsim::Fabric;
use units::Time;
use wire::tcp::ACK;
use wire::Ecn;

/// Not served by weight.
const VOICE: (u8, u8) = (46, 7);
const STORAGE: (u8, u8) = (26, 3);
const BULK: (u8, u8) = (10, 1);

fn fabric(size: &LeafSpine, quanta: &[(usize, u32)]) -> Fabric {
    let mut spec = size.spec();
    spec.priorities = 8;
    let quantum = |(priority, bytes)| QueueQuantum { priority, bytes: NonZeroU32::new(bytes).unwrap() };
    spec.quanta = quanta.iter().copied().map(quantum).collect();
    let mut fabric = size.fabric(spec, |rate_bps| PortSettings {
        buffer_bytes: Some(300_000),
        eee: size.eee.then(|| eee_values(rate_bps, 12, 10)),
        ..marking(30_000)
    });
    for switch in 0..size.switch_count() {
        classes(&mut fabric, switch, &[VOICE, STORAGE, BULK]);
    }
    fabric
}

/// Frames of three hosts to a fourth, as they arrive: DSCP and bytes. Two send bulk and storage at the rates of their lines, one a
/// short frame of voice every 100 us.
fn arrivals(quanta: &[(usize, u32)]) -> Vec<(u8, usize)> {
    const EACH: usize = 120;
    const VOICE_FRAMES: usize = 20;
    let size = LeafSpine { leaves: 1, hosts_per_leaf: 4, spines: 0, ..LeafSpine::default() };
    let mut fabric = fabric(&size, quanta);
    fabric.listen(0, true).unwrap();
    let mut send_class = |host, dscp, payload, at| {
        let frame = with_dscp(size.segment(host, 0, ACK, payload, Ecn::NotEct), dscp);
        send(&mut fabric, host, Time::from_ps(at), &frame);
    };
    for _ in 0..EACH {
        send_class(1, BULK.0, 1460, 0);
        send_class(2, STORAGE.0, 700, 0);
    }
    (0..VOICE_FRAMES).for_each(|number| send_class(3, VOICE.0, 146, number as u64 * 100_000_000));
    finish(&mut fabric);
    let heard = std::iter::from_fn(|| fabric.poll_heard());
    let all: Vec<_> = heard.map(|heard| (heard.frame[15] >> 2, heard.frame.len())).collect();
    assert_eq!(all.len(), 2 * EACH + VOICE_FRAMES);
    all
}

/// Bytes of bulk and storage among the first frames, as long as both queues have frames.
fn shares(arrivals: &[(u8, usize)]) -> (usize, usize) {
    let of = |dscp| arrivals[10..100].iter().filter(|one| one.0 == dscp).map(|one| one.1).sum::<usize>();
    (of(BULK.0), of(STORAGE.0))
}

#[test]
fn two_classes_share_a_link_by_their_quanta_whatever_the_length_of_their_frames() {
    for (bulk_quantum, storage_quantum, ratio) in [(3_000, 3_000, 1.0), (4_500, 1_500, 3.0), (100, 200, 0.5)]
    {
        let (bulk, storage) = shares(&arrivals(&[(1, bulk_quantum), (3, storage_quantum)]));
        let found = bulk as f64 / storage as f64;
        assert!((found / ratio - 1.0).abs() < 0.1, "{bulk} and {storage} bytes: {found}, not {ratio}");
    }
    let (bulk, storage) = shares(&arrivals(&[]));
    assert!(bulk < storage / 10, "strict: {bulk} and {storage} bytes");
}

/// A frame of 200 bytes waits for one frame on the wire at most, and comes while others have theirs.
#[test]
fn a_strict_class_above_goes_first() {
    let order = arrivals(&[(1, 3_000), (3, 3_000)]);
    let places: Vec<_> = (0..order.len()).filter(|place| order[*place].0 == VOICE.0).collect();
    // 100 us are room for 8 to 17 frames of the others, as long as there are any.
    assert!(places.windows(2).take(10).all(|pair| (8..=18).contains(&(pair[1] - pair[0]))), "{places:?}");
}

#[test]
fn where_one_class_is_in_use_its_quantum_changes_nothing() {
    for eee in [false, true] {
        let size = LeafSpine { host_bps: GIGABIT, uplink_bps: GIGABIT, eee, ..LeafSpine::default() };
        let report = |quanta: &[(usize, u32)]| {
            let mut fabric = fabric(&size, quanta);
            for (host, at, frame) in random_traffic(&size, 2_000, 4_000_000, 7) {
                send(&mut fabric, host, at, &frame);
            }
            serde_json::to_string(&finish(&mut fabric)).unwrap()
        };
        let strict = report(&[]);
        assert_eq!(report(&[(0, 9_000)]), strict);
        assert_eq!(report(&[(0, 1), (1, 4_000), (6, 4_000)]), strict);
    }
}
