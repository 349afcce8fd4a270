//! Every algorithm, from every initial window, with one fault at each phase of a transfer: the transfer ends within a
//! stated bound. 200 kB at 1 Gb/s over 200 us take 1.7 ms on the wire.

use crate::channel::{Channel, Fate, Net, Way};
use tcp::{Config, DelayedAck, End, HyStart, Segment};
use units::{Duration, Time};
use wire::tcp::SYN;

const BYTES: u64 = 200_000;
const RTT: Duration = Duration::from_us(200);
/// The time with an open window, and some twenty round trips to open it from one segment, doubling every other round (Vegas).
const UNDISTURBED: Duration = Duration::from_ms(10);
const MIN_RTO: Duration = Duration::from_ms(5);
const INITIAL_RTO: Duration = Duration::from_ms(20);
const SYN_RTO: Duration = Duration::from_ms(20);

/// With thresholds that such round-trip times can reach.
const HYSTART: HyStart =
    HyStart { min_rtt_thresh: Duration::from_us(50), max_rtt_thresh: Duration::from_us(200) };

const ALGORITHMS: [&str; 5] = ["newreno", "ecn", "dctcp", "cubic", "vegas"];

/// One fault of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// The first SYN, or SYN-ACK.
    Syn(Way),
    /// The first transmission of the last segment with data.
    Last,
    /// Everything in both directions, from a given time on, for a given time.
    Outage {
        from: Duration,
        lasts: Duration,
    },
}

fn rule(fault: Fault, clock: std::rc::Rc<std::cell::Cell<Time>>) -> crate::channel::Rule {
    let (mut syn_lost, mut last_lost) = (false, false);
    Box::new(move |segment: &Segment, way, _| {
        let lost = match fault {
            Fault::None => false,
            Fault::Syn(of) => way == of && segment.has(SYN) && !std::mem::replace(&mut syn_lost, true),
            Fault::Last => {
                let end = segment.sequence.wrapping_add(segment.payload_len).wrapping_sub(8);
                let is_last = way == Way::There && segment.payload_len > 0 && u64::from(end) == BYTES;
                is_last && !std::mem::replace(&mut last_lost, true)
            }
            Fault::Outage { from, lasts } => {
                let (start, now) = (Time::ZERO + from, clock.get());
                now >= start && now < start + lasts
            }
        };
        if lost {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    })
}

/// Runs a transfer. Returns the time until everything is acknowledged; its FIN and the end of both sides come later.
fn run(config: Config, fault: Fault, bound: Duration) -> Duration {
    let what = format!("{:?}, window {}, {fault:?}", config.algorithm, config.initial_window_segments);
    let clock = std::rc::Rc::new(std::cell::Cell::new(Time::ZERO));
    let channel = Channel {
        buffer: 60 * 1_538,
        threshold: Some(20),
        rule: rule(fault, clock.clone()),
        ..Channel::new(1, RTT)
    };
    let mut net = Net::new(channel, &config.check().unwrap(), &[(Time::ZERO, BYTES)], 7);
    net.close_in_turn = true;
    net.ends[0].close();
    let end = Time::ZERO + bound;
    let mut took = None;
    // In steps, so that the rule knows the time.
    while net.now < end {
        clock.set(net.now);
        let step = net.now + Duration::from_us(10);
        net.run_until(step);
        if net.ends[0].bytes_acknowledged() == BYTES && net.ends[1].peer_has_closed() {
            took.get_or_insert(net.now.saturating_since(Time::ZERO));
        }
    }
    let carried = net.ends[0].bytes_acknowledged();
    let took = took.unwrap_or_else(|| panic!("{what}: {carried} B of {BYTES} acknowledged after {bound}"));
    // Both ends must finish: their FINs, and TIME-WAIT.
    net.run_until(end + Duration::from_secs(3_600));
    let ends: Vec<_> = net.ends.iter().map(tcp::Connection::end).collect();
    assert_eq!(ends, [Some(End::Finished); 2], "{what}");
    took
}

fn configs() -> impl Iterator<Item = Config> {
    let windows = 1..=10;
    ALGORITHMS.into_iter().flat_map(move |name| {
        windows.clone().flat_map(move |initial_window_segments| {
            let kinds = [
                (true, false, false, None),
                (true, false, false, Some(2)),
                (false, false, false, Some(2)),
                (true, true, false, Some(2)),
                (true, true, true, Some(2)),
                (false, false, true, None),
            ];
            kinds.map(|(sack, rack, hystart, delayed)| Config {
                initial_window_segments,
                hystart: (hystart && name != "vegas").then_some(HYSTART),
                sack,
                rack,
                prr: rack,
                delayed_ack: delayed.map(|segments| DelayedAck { segments, timer: Duration::from_us(500) }),
                max_ack_delay: Some(Duration::from_us(500)),
                initial_rto: INITIAL_RTO,
                min_rto: MIN_RTO,
                syn_lost_rto: SYN_RTO,
                ..name.parse().unwrap()
            })
        })
    })
}

#[test]
fn an_undisturbed_transfer_ends_within_ten_milliseconds() {
    for config in configs() {
        run(config, Fault::None, UNDISTURBED);
    }
}

/// One more initial RTO, and the window of one segment with which RFC 5681, 3.1 then starts.
#[test]
fn a_lost_syn_or_syn_ack_costs_an_initial_rto() {
    for config in configs() {
        for way in [Way::There, Way::Back] {
            let took = run(config.clone(), Fault::Syn(way), INITIAL_RTO.saturating_add(UNDISTURBED));
            assert!(took > INITIAL_RTO, "{took}");
        }
    }
}

/// One more RTO: after the last segment comes only the FIN, which leaves with it.
#[test]
fn a_lost_last_segment_costs_an_rto() {
    for config in configs() {
        run(config, Fault::Last, MIN_RTO.saturating_mul(2).saturating_add(UNDISTURBED));
    }
}

/// RFC 8985, 7: two round trips, which a queue may extend to about 0.9 ms, and the delay of an ACK; the RTO would be 5 ms.
#[test]
fn with_rack_a_lost_last_segment_costs_some_round_trips() {
    for config in configs().filter(|config| config.rack) {
        let undisturbed = run(config.clone(), Fault::None, UNDISTURBED);
        let took = run(config.clone(), Fault::Last, UNDISTURBED);
        let more = took.as_ps() - undisturbed.as_ps();
        assert!(more < Duration::from_ms(3).as_ps(), "{:?}: {more} ps", config.algorithm);
    }
}

/// The timer doubles from its minimum during the outage, so it fires at the latest when the outage's length has passed
/// once more. Then come a window of one segment, two round trips per doubling, and a second RTO for remaining losses.
#[test]
fn an_outage_at_any_phase_ends_after_its_own_length_again() {
    let lasts = Duration::from_ms(12);
    let bound = |from: Duration| {
        let backed_off = lasts.saturating_mul(3).max(INITIAL_RTO.saturating_mul(3));
        from.saturating_add(backed_off).saturating_add(MIN_RTO).saturating_add(UNDISTURBED)
    };
    for config in configs() {
        // From the departure of the SYN to the last ACK, in steps of less than a round trip.
        for step in 0..16 {
            let from = Duration::from_us(150 * step);
            run(config.clone(), Fault::Outage { from, lasts }, bound(from));
        }
    }
}
