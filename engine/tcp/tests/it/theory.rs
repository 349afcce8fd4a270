//! Steady states compared with theory. `--nocapture` prints the measurements.

#![allow(clippy::print_stdout)] // Prints the measurements.

use crate::channel::{jain, Channel, Net};
use tcp::{Config, Settings};
use units::{Bytes, Duration, Time};

const RTT: Duration = Duration::from_us(100);

fn settings(name: &str) -> Settings {
    // The theories do not include delayed ACKs.
    let config = Config { delayed_ack: None, ..name.parse().unwrap() };
    config.check().unwrap()
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns endless flows that start 37 us after each other.
fn flows(count: usize) -> Vec<(Time, u64)> {
    (0..count as u64).map(|flow| (Time::ZERO + Duration::from_us(37 * flow), 1 << 40)).collect()
}

struct Steady {
    /// As a fraction of the link's capacity for payload.
    throughput: f64,
    jain: f64,
    queue: (usize, usize),
    net: Net,
}

/// Runs for `warm_up`, then measures for `span`.
fn steady(channel: Channel, settings: &Settings, flows: &[(Time, u64)], warm_up: u64, span: u64) -> Steady {
    let packet_time = channel.packet_time();
    let mut net = Net::new(channel, settings, flows, 1);
    net.run_until(ms(warm_up));
    let before = net.received();
    net.watch();
    net.run_until(ms(warm_up + span));
    let shares: Vec<u64> = net.received().iter().zip(&before).map(|(after, before)| after - before).collect();
    let packets = shares.iter().sum::<u64>() as f64 / 1460.0;
    let throughput = packets * packet_time.as_secs_f64() / Duration::from_ms(span).as_secs_f64();
    Steady { throughput, jain: jain(&shares), queue: net.queue_range, net }
}

/// Alizadeh et al., SIGCOMM 2010, section 3.3: N synchronised flows make the queue swing by
/// A = 1/2 sqrt(2 N (C RTT + K)) below K + N.
#[test]
fn dctcps_queue_swings_as_its_analysis_says() {
    const K: usize = 65;
    for count in [1, 2, 4, 10] {
        let channel = Channel { threshold: Some(K), ..Channel::new(10, RTT) };
        let swing = 0.5 * (2.0 * count as f64 * (channel.bandwidth_delay_packets() + K as f64)).sqrt();
        let Steady { throughput, queue: (min, max), .. } =
            steady(channel, &settings("dctcp"), &flows(count), 20, 20);
        let measured = (max - min) as f64;
        println!("N {count}: swing {measured}, theory {swing:.1}; max {max}, theory {}", K + count);
        assert!((measured / swing - 1.0).abs() < 0.3, "{count} flows: {measured}, theory {swing:.1}");
        assert!(max.abs_diff(K + count) <= 1, "{count} flows: at max {max}");
        assert!(throughput > 0.999, "{count} flows: {throughput}");
    }
}

/// The same, section 3.4: with K > C RTT / 7 the queue never runs empty; far below, it does, and throughput is lost.
#[test]
fn dctcp_keeps_full_throughput_from_a_seventh_of_the_bandwidth_delay_product_on() {
    let run = |k| {
        let channel = Channel { threshold: Some(k), ..Channel::new(10, RTT) };
        let Steady { throughput, queue: (least, _), .. } =
            steady(channel, &settings("dctcp"), &flows(1), 20, 20);
        println!("K {k}: throughput {throughput:.4}, least {least}");
        (throughput, least)
    };
    let enough = (Channel::new(10, RTT).bandwidth_delay_packets() / 7.0).ceil() as usize;
    assert_eq!(enough, 12);
    let (throughput, least) = run(enough);
    assert!(throughput > 0.999 && least > 0, "K {enough}: {throughput}, {least}");
    let (throughput, least) = run(1);
    assert!(throughput < 0.95 && least == 0, "K 1: {throughput}, {least}");
}

/// A single flow that halves its window needs K >= C RTT. Below that, the window W grows from half of C RTT + K to C
/// RTT + K by one packet per round; rounds with W < C RTT last one RTT and carry W, others carry C.
#[test]
fn a_single_classic_ecn_flow_needs_the_whole_bandwidth_delay_product() {
    for k in [5, 12, 40, 84] {
        let channel = Channel { threshold: Some(k), ..Channel::new(10, RTT) };
        let (bdp, depth) = (channel.bandwidth_delay_packets(), k as f64);
        let least = (bdp + depth) / 2.0;
        let queueing = depth + depth * depth / (2.0 * bdp);
        let expected = if least >= bdp {
            1.0
        } else {
            ((bdp * bdp - least * least) / 2.0 + bdp * queueing) / (bdp * (bdp - least + queueing))
        };
        let Steady { throughput, .. } = steady(channel, &settings("ecn"), &flows(1), 20, 40);
        println!("K {k}: throughput {throughput:.4}, theory {expected:.4}");
        assert!((throughput - expected).abs() < 0.02, "K {k}: {throughput}, theory {expected}");
    }
}

/// A buffer of twice the bandwidth-delay product, a threshold of about one: every algorithm fills the link, and four flows share it.
#[test]
fn every_algorithm_fills_the_link_and_shares_it() {
    for name in ["newreno", "ecn", "dctcp", "cubic", "vegas"] {
        for count in [1, 4] {
            let channel = Channel { threshold: Some(85), buffer: 170 * 1538, ..Channel::new(10, RTT) };
            // Delayed ACKs by default. If slow start ends in a burst of losses, a retransmission may be lost as well,
            // and only the timer repairs that; 200 ms would exceed the run.
            let config = Config { min_rto: Duration::from_ms(2), ..name.parse().unwrap() };
            let settings = config.check().unwrap();
            let Steady { throughput, jain, net, .. } = steady(channel, &settings, &flows(count), 30, 40);
            println!("{name}, {count} flows: throughput {throughput:.4}, Jain {jain:.4}, {} lost", net.drops);
            assert!(throughput > 0.95, "{name}, {count} flows: {throughput}");
            assert!(jain > 0.9, "{name}, {count} flows: {jain}");
        }
    }
}

/// A flow that starts late gets its half.
#[test]
fn a_late_flow_converges_to_its_share() {
    for name in ["ecn", "dctcp"] {
        let channel = Channel { threshold: Some(65), ..Channel::new(10, RTT) };
        let flows = [(Time::ZERO, 1 << 40), (ms(15), 1 << 40)];
        let Steady { jain, .. } = steady(channel, &settings(name), &flows, 40, 20);
        println!("{name}: Jain {jain:.4}");
        assert!(jain > 0.95, "{name}: {jain}");
    }
}

/// Throughput is window / RTT if the receiver's window is the limit.
#[test]
fn a_window_of_64_kb_carries_a_window_a_round_trip() {
    let rtt = Duration::from_ms(1);
    let config = Config { receive_buffer: Some(Bytes::new(65_535)), ..Config::default() };
    let mut net = Net::new(Channel::new(10, rtt), &config.check().unwrap(), &flows(1), 1);
    net.run_until(ms(20));
    let before = net.received()[0];
    net.run_until(ms(120));
    let (carried, expected) = ((net.received()[0] - before) as f64, 100.0 * 65_535.0);
    // 44 whole segments of 1460 bytes; one of them stays on the wire slightly longer than the RTT.
    assert!(carried < expected && carried > 0.95 * expected, "{carried} of {expected}");
}
