//! The hop log: one packet's whole path with its numbers, the effect of filters, and that recording changes nothing.

use crate::common::{
    eee_values, finish, random_traffic, send, start_flows, us, LeafSpine, PortSettings, PLAIN,
};
use netsim::{Fabric, Report};
use simple_switch::hops::{FlowFilter, Hop, HopEvent, HopFilter, HopKind, HopLog, NONE};
use units::{Duration, Time};
use wire::tcp::ACK;
use wire::Ecn;

const FOUND: &str = "metadata_t.found_bytes";
const VERDICT: &str = "metadata_t.verdict";
const PORT: &str = "metadata_t.egress_port";
const MARKED: u64 = 1;

fn with_fields() -> HopFilter {
    let fields = [VERDICT, FOUND, PORT].map(|name| ("scalars".to_owned(), name.to_owned()));
    HopFilter { fields: fields.to_vec(), port_field: Some(2), ..HopFilter::default() }
}

/// Returns a fabric whose links sleep and hold, and that marks packets that find more than two full frames.
fn fabric(size: &LeafSpine) -> Fabric {
    size.fabric(size.spec(), |rate| PortSettings {
        aqm: Some(("mark_threshold", vec![3_028, 3_028, 0])),
        eee: Some(eee_values(rate, 120, 100)),
        ..PLAIN
    })
}

fn run(filter: Option<&HopFilter>) -> (Report, Option<HopLog>) {
    let size = LeafSpine { eee: true, ..LeafSpine::default() };
    let mut fabric = fabric(&size);
    if let Some(filter) = filter {
        fabric.record_hops(filter).unwrap();
    }
    for (host, at, frame) in random_traffic(&size, 400, 4_000_000, 5) {
        send(&mut fabric, host, at, &frame);
    }
    let report = finish(&mut fabric);
    let hops = fabric.take_hops();
    (report, hops)
}

#[test]
fn a_packet_has_one_number_on_its_whole_way_and_each_hop_tells_what_it_did() {
    let size = LeafSpine { eee: true, spines: 1, ..LeafSpine::default() };
    let mut fabric = fabric(&size);
    fabric.record_hops(&HopFilter { snap_bytes: 64, ..with_fields() }).unwrap();
    // Long enough after the start for all links to sleep; the second is to the same leaf and takes another way.
    send(&mut fabric, 0, us(1_000), &size.segment(0, 2, ACK, 1_460, Ecn::Ect0));
    send(&mut fabric, 1, us(1_000), &size.segment(1, 0, ACK, 0, Ecn::NotEct));
    finish(&mut fabric);
    let log = fabric.take_hops().unwrap();
    let way: Vec<_> = log.events.iter().filter(|event| event.packet == 1).collect();
    let told: Vec<_> = way.iter().map(|event| (event.hop.kind().name(), event.node, event.port)).collect();
    // Switches are 0 and 1 (leaves) and 2 (the spine), hosts 3 to 6.
    let hop = |node, from, to| {
        ["arrived", "judged", "queued", "held", "sent"]
            .map(|kind| (kind, node, if kind == "arrived" { from } else { to }))
    };
    let mut wanted = vec![("offered", 3, 0), ("sent", 3, 0)];
    wanted.extend(hop(0, 1, 3));
    wanted.extend(hop(2, 1, 2));
    wanted.extend(hop(1, 3, 1));
    wanted.push(("delivered", 5, 0));
    assert_eq!(told, wanted);
    // At 10 Gbit/s: held for 120 us, then 4.48 us to wake.
    let held = way.iter().find_map(|event| match event.hop {
        Hop::Held { until, .. } => Some((event.at, until)),
        _ => None,
    });
    let (held, opens) = held.unwrap();
    assert_eq!((opens - held).as_ps(), 124_480_000 - held.as_ps() % 1_000);
    let sent = way.iter().find_map(|event| match event.hop {
        Hop::Sent { until, frame_at, frame_len, .. } if event.node == 0 => {
            Some((event.at, until, &log.frames[frame_at as usize..][..usize::from(frame_len)]))
        }
        _ => None,
    });
    let (sent, gone, frame) = sent.unwrap();
    assert_eq!((sent, (gone - sent).as_ps()), (opens, 1_230_400));
    assert_eq!((frame.len(), wire::Network::of(frame).unwrap().ecn()), (64, Some(Ecn::Ect0)));
    // The PHY of that port: asleep from the start, and awake when the first bit leaves.
    let phy: Vec<_> = log.events.iter().filter(|e| e.packet == 0 && (e.node, e.port) == (0, 3)).collect();
    assert_eq!((phy[0].at, phy[0].hop), (Time::ZERO, Hop::Slept { until: Time::from_ps(2_880_000) }));
    assert_eq!((phy[1].at, phy[1].hop), (sent - Duration::from_ps(4_480_000), Hop::Woke { until: sent }));
    assert_eq!(phy[2].hop.kind(), HopKind::Slept, "it sleeps again when the run ends");
}

/// Returns a value that an event was recorded with, if any.
fn value(log: &HopLog, event: &HopEvent, field: usize) -> Option<u64> {
    match event.hop {
        Hop::Judged { values, .. } | Hop::Sent { values, .. } if values != NONE => {
            Some(log.values[values as usize + field])
        }
        _ => None,
    }
}

#[test]
fn the_numbers_of_a_verdict_are_those_of_the_queue_and_marks_are_as_many_as_are_counted() {
    let (report, log) = run(Some(&with_fields()));
    let log = log.unwrap();
    assert_eq!(log.lost, 0);
    let mut marked = 0;
    for (judged, queued) in log.events.iter().zip(&log.events[1..]) {
        if let (Hop::Judged { .. }, Hop::Queued(waiting)) = (judged.hop, queued.hop) {
            let [verdict, found, port] = [0, 1, 2].map(|field| value(&log, judged, field).unwrap());
            assert_eq!((judged.packet, judged.port), (queued.packet, queued.port));
            assert_eq!((found, port), (waiting.depth.bytes, u64::from(queued.port)));
            assert_eq!(verdict == MARKED, found > 3_028 && verdict != 0);
            marked += u64::from(verdict == MARKED);
        }
    }
    let ce: u64 = report.classes.values().map(|class| class.delivered_ce).sum();
    assert!(marked > 20, "{marked}");
    // A packet that arrived with CE is not marked again.
    assert_eq!(marked, ce);
    let sent = log.events.iter().filter(|event| event.hop.kind() == HopKind::Sent);
    assert_eq!(sent.filter(|event| value(&log, event, 0) == Some(MARKED)).count() as u64, ce);
}

#[test]
fn nobody_notices_the_recording() {
    let (recorded, log) = run(Some(&HopFilter { snap_bytes: 128, ..with_fields() }));
    let (unrecorded, none) = run(None);
    assert_eq!(serde_json::to_string(&recorded).unwrap(), serde_json::to_string(&unrecorded).unwrap());
    assert!(none.is_none() && log.unwrap().events.len() > 4_000);
}

#[test]
fn filters_leave_out_what_they_say_and_the_limit_says_how_much() {
    let whole = run(Some(&HopFilter::default())).1.unwrap();
    let kept = |filter: HopFilter| {
        let log = run(Some(&filter)).1.unwrap();
        (log.events.to_vec(), log.lost)
    };
    let same = |filter: HopFilter, admits: &dyn Fn(&HopEvent) -> bool| {
        // Flows are numbered by those that are kept.
        let plain = |events: Vec<HopEvent>| -> Vec<_> {
            events.into_iter().map(|event| HopEvent { flow: 0, ..event }).collect()
        };
        let wanted: Vec<_> = whole.events.iter().filter(|event| admits(event)).copied().collect();
        assert!(!wanted.is_empty() && wanted.len() < whole.events.len());
        assert_eq!((plain(kept(filter).0), 0), (plain(wanted), 0));
    };
    let base = HopFilter::default;
    same(HopFilter { kinds: vec![HopKind::Held, HopKind::Woke], ..base() }, &|event| {
        matches!(event.hop, Hop::Held { .. } | Hop::Woke { .. })
    });
    same(HopFilter { ports: vec![(0, 1), (1, 2)], ..base() }, &|event| {
        matches!((event.node, event.port), (0, 1) | (1, 2))
    });
    let (from, until) = (us(500), us(900));
    same(HopFilter { from, until, ..base() }, &|event| (from..until).contains(&event.at));
    let flow = whole.flows[3];
    let filter = FlowFilter {
        source: Some(flow.source),
        destination: Some(flow.destination),
        destination_port: Some(flow.destination_port),
        ..FlowFilter::default()
    };
    same(HopFilter { flow: filter, ..base() }, &|event| event.packet == 0 || event.flow == 3);
    let (events, lost) = kept(HopFilter { limit: 100, ..base() });
    assert_eq!((events.len(), lost), (100, whole.events.len() as u64 - 100));
}

/// Switches of the fabric below; hosts are numbered after them.
const SWITCHES: usize = 4;

/// Three flows of one sender each meet at a port that marks from 30 kB on.
#[test]
fn a_sender_that_slows_down_says_from_which_window_to_which_once_a_mark_has_come_back() {
    let size = LeafSpine { leaves: 2, hosts_per_leaf: 2, ..LeafSpine::default() };
    let marking = PortSettings { aqm: Some(("mark_threshold", vec![30_000, 30_000, 0])), ..PLAIN };
    let run = |filter: Option<HopFilter>| {
        let mut fabric = size.fabric(size.spec(), |_| marking.clone());
        if let Some(filter) = filter {
            fabric.record_hops(&filter).unwrap();
        }
        let config = tcp::Config { ecn: true, ..tcp::Config::default() };
        start_flows(&mut fabric, &config, (1..4).map(|source| (source, 0, 2_000_000, 10 * source as u64)));
        let report = finish(&mut fabric);
        (report.flows, fabric.take_hops())
    };
    let (flows, log) = run(Some(with_fields()));
    let log = log.unwrap();
    let mut slowed = 0;
    for (at, event) in log.events.iter().enumerate() {
        let Hop::Slowed { before, after } = event.hop else { continue };
        assert!(after < before, "{event:?}");
        let host = usize::from(event.node) - SWITCHES;
        assert_eq!(log.flows[event.flow as usize].source, size.ip(host), "{event:?}");
        let is_mark = |earlier: &&HopEvent| {
            matches!(earlier.hop, Hop::Judged { .. })
                && earlier.flow == event.flow
                && value(&log, earlier, 0) == Some(MARKED)
        };
        assert!(log.events[..at].iter().any(|earlier| is_mark(&earlier)), "{event:?} without a mark");
        slowed += 1;
    }
    assert!(slowed > 3, "{slowed}");
    assert_eq!(flows.iter().map(|flow| flow.mark_reductions).sum::<u64>(), slowed);
    assert_eq!(flows, run(None).0);
}
