//! DCQCN as a whole: a switch that marks, receivers that notify, and the reaction points of the senders' NICs.

use crate::common::greedy::{self, greedy, FRAME, FRAME_PS, HEADERS};
use crate::common::{eee_values, finish, send, start_flows, us, LeafSpine, PortSettings, PLAIN, TEN_GIGABIT};
use netsim::reaction::DcqcnSettings;
use netsim::spec::{NicDcqcnSpec, NicEeeSpec, NicSpec};
use netsim::{Fabric, Report};
use units::{Duration, Time};
use wire::tcp::ACK;
use wire::Ecn;

/// RED marks nothing below the first, up to a tenth of the packets between the two, and all above the second.
const RED_BYTES: (u64, u64) = (5_000, 200_000);
const RED_PROBABILITY: f64 = 0.1;

/// Returns a star at 10 Gb/s whose switch marks by queue length.
fn star(senders: usize, dcqcn: Option<NicDcqcnSpec>) -> (LeafSpine, Fabric) {
    star_of(senders, NicSpec { dcqcn, ..NicSpec::default() })
}

fn star_of(senders: usize, nic: NicSpec) -> (LeafSpine, Fabric) {
    let size = LeafSpine { eee: nic.eee.is_some(), nic, ..greedy::star(senders) };
    let (min, max) = RED_BYTES;
    let slope = (RED_PROBABILITY * (1_u64 << 48) as f64 / (max - min) as f64) as u64;
    let red = vec![min, max, slope, 0, 0, 1, 0, 0, 0, 0];
    let eee = size.eee.then(|| eee_values(TEN_GIGABIT, 0, 0));
    let fabric = size.fabric(size.spec(), |_| PortSettings { aqm: Some(("red", red.clone())), eee, ..PLAIN });
    (size, fabric)
}

/// Increase that fits 10 Gb/s: a quarter of what is deployed at 40.
fn settings() -> DcqcnSettings {
    DcqcnSettings { active_bps: 10_000_000, hyper_bps: 100_000_000, ..DcqcnSettings::default() }
}

fn dcqcn() -> Option<NicDcqcnSpec> {
    Some(NicDcqcnSpec { reaction: settings(), ..NicDcqcnSpec::default() })
}

/// The queue at which RED marks as often as flows with equal shares of the link require: Zhu, Ghobadi, Misra and
/// Padhye, CoNEXT 2016, theorem 1.
fn queue_in_theory(senders: usize, settings: &DcqcnSettings) -> f64 {
    let (count, frames_per_s) = (senders as f64, 1e12 / FRAME_PS as f64);
    let bits_of_frame = TEN_GIGABIT as f64 / frames_per_s;
    let increase = settings.active_bps as f64 / bits_of_frame;
    let cycle_frames = settings.cycle_bytes as f64 * 8.0 / bits_of_frame;
    let seconds = |ps: u64| ps as f64 / 1e12;
    let cycles_per_frame = 1.0 / cycle_frames + count / (seconds(settings.timer_ps) * frames_per_s);
    let factor = increase * count.powi(2) / (seconds(settings.alpha_timer_ps) * frames_per_s.powi(2));
    let probability = (factor * cycles_per_frame.powi(2)).cbrt();
    let (min, max) = RED_BYTES;
    min as f64 + probability / RED_PROBABILITY * (max - min) as f64
}

#[test]
fn nics_that_sleep_are_awake_when_their_limiters_let_a_frame_go() {
    let nic = NicSpec { dcqcn: dcqcn(), eee: Some(NicEeeSpec::default()), ..NicSpec::default() };
    let (size, mut fabric) = star_of(2, nic);
    for number in 0..3_000 {
        for host in 0..2 {
            let frame = size.segment(host, 2, ACK, 0, Ecn::Ect0);
            // 200 frames at line rate, then 1 ms of nothing.
            let at = number * FRAME_PS + number / 200 * 1_000_000_000;
            fabric.send(host, Time::from_ps(at), &frame[..HEADERS], FRAME).unwrap();
        }
    }
    let report = finish(&mut fabric);
    assert!(report.hosts[0].dcqcn.unwrap().cnps > 0);
    let nics = &report.energy.layers["host_nic"];
    assert!(nics.wakes > 20 && nics.lpi_share > 0.3, "{} wakes, {} asleep", nics.wakes, nics.lpi_share);
    assert_eq!(report.energy.total.violations, 0, "of {} wakes", nics.wakes);
}

#[test]
fn greedy_senders_share_the_link_and_the_queue_is_that_of_the_fluid_model() {
    for senders in [2, 4, 8] {
        let (size, fabric) = star(senders, dcqcn());
        let seen = greedy(&size, fabric, Ecn::Ect0, 60);
        let ratio = seen.mean_queue as f64 / queue_in_theory(senders, &settings());
        assert!((0.85..1.15).contains(&ratio), "{senders} senders: {} bytes, {ratio}", seen.mean_queue);
        assert!(seen.max_queue < RED_BYTES.1, "{senders} senders: {} bytes", seen.max_queue);
        assert!(seen.share > 0.99, "{senders} senders: {} of the link", seen.share);
        let (largest, smallest) = (seen.shares.0 * senders as f64, seen.shares.1 * senders as f64);
        assert!(
            largest < 1.2 && smallest > 0.8,
            "{senders} senders: {smallest} to {largest} of their shares"
        );
        let (mut sent, mut came) = (0, 0);
        for host in &seen.report.hosts {
            let dcqcn = host.dcqcn.unwrap();
            (sent, came) = (sent + dcqcn.cnps_sent, came + dcqcn.cnps);
            assert_eq!((dcqcn.malformed, dcqcn.without_limiter), (0, 0), "{}", host.name);
            assert_eq!(dcqcn.max_limiters, u64::from(host.name != format!("h{}", senders + 1)));
        }
        // One may be under way.
        assert!(came > 0 && sent - came <= 1, "{sent} sent, {came} came");
        let receiver = seen.report.hosts[senders].dcqcn.unwrap();
        assert!(receiver.marked > receiver.cnps_sent);
        assert!(receiver.cnps_sent <= senders as u64 * (60_000 / 50 + 1));
    }
}

/// Four TCP flows of 3 MB into one host. TCP has no ECN, so only the NICs have the marks and the rates.
fn tcp_incast(dcqcn: Option<NicDcqcnSpec>) -> Report {
    let (size, mut fabric) = star(4, dcqcn);
    let flows = (0..size.host_count() - 1).map(|source| (source, 4, 3_000_000, source as u64));
    start_flows(&mut fabric, &tcp::Config::default(), flows);
    finish(&mut fabric)
}

#[test]
fn flows_of_a_tcp_without_ecn_are_limited_by_their_nics() {
    let (with, without) = (tcp_incast(dcqcn()), tcp_incast(None));
    for report in [&with, &without] {
        assert!(report.flows.iter().all(|flow| flow.completion_ps.is_some() && flow.mark_reductions == 0));
    }
    let of_receiver = with.hosts[4].dcqcn.unwrap();
    assert!(of_receiver.marked > 100 && of_receiver.cnps_sent > 20, "{of_receiver:?}");
    assert!(with.hosts[..4].iter().all(|host| host.dcqcn.unwrap().max_limiters == 1));
    // They are frames of hosts like any others.
    assert_eq!(with.classes["other"].sent.packets, of_receiver.cnps_sent);
    let again = |report: &Report| report.flows.iter().map(|flow| flow.retransmitted_segments).sum::<u64>();
    // RED drops frames without a codepoint.
    assert_eq!(again(&with), 0);
    assert!(again(&without) > 50, "{}", again(&without));
}

#[test]
fn a_host_has_dcqcn_as_its_own_nic_says() {
    let size = greedy::star(1);
    let mut spec = size.spec();
    spec.hosts[1].nic = Some(NicSpec { dcqcn: dcqcn(), ..NicSpec::default() });
    let report = finish(&mut size.fabric(spec, |_| PLAIN));
    assert_eq!([0, 1].map(|host| report.hosts[host].dcqcn.is_some()), [false, true]);
}

/// A packet with CE that a host sends causes one notification to its sender.
#[test]
fn a_host_that_sends_notifications_slows_down_the_flow_that_they_name() {
    let (size, mut fabric) = star(2, dcqcn());
    send(&mut fabric, 0, us(1), &size.segment(0, 2, ACK, 100, Ecn::Ce));
    send(&mut fabric, 0, us(2), &size.segment(0, 2, ACK, 100, Ecn::Ce));
    send(&mut fabric, 1, us(3), &size.segment(1, 2, ACK, 100, Ecn::Ect0));
    for _ in 0..9 {
        for host in [0, 1] {
            let frame = size.segment(host, 2, ACK, 0, Ecn::NotEct);
            fabric.send(host, us(20), &frame[..HEADERS], FRAME).unwrap();
        }
    }
    // The limited flow: half of the link.
    fabric.run_until(us(20) + Duration::from_ps(FRAME_PS * 8 + 1_000));
    let report = fabric.report().unwrap();
    assert_eq!((report.hosts[0].sent.packets, report.hosts[1].sent.packets), (2 + 5, 1 + 9));
    let report = finish(&mut fabric);
    let counts = |host: usize| {
        let dcqcn = report.hosts[host].dcqcn.unwrap();
        (dcqcn.marked, dcqcn.cnps_sent, dcqcn.cnps)
    };
    assert_eq!([counts(0), counts(1), counts(2)], [(0, 0, 1), (0, 0, 0), (2, 1, 0)]);
}
