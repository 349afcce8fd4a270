//! Poisson arrivals through NIC, EEE state machine and PHY, against closed forms.
//!
//! Arrivals at rate lambda, constant service time S, load rho = lambda S, sleep Ts, wake Tw, power in low-power idle
//! phi. A cycle is: queue empties, Ts, low-power idle (mean `off`), Tw, busy period. With `ev` the mean time per cycle
//! without service, and `i` the mean integral of the number waiting over that time:
//!
//! * energy relative to always on: E = 1 - (1 - phi)(1 - rho) off / ev;
//! * mean wait in the queue: W = lambda S^2 / (2 (1 - rho)) + i / (lambda ev) (Fuhrmann and Cooper 1985).
//!
//! These tests do not show whether the P4 program runs the same machine.

use netsim::eee::EeeParams;
use netsim::nic::{Nic, NicSettings};
use netsim::phy::Phy;
use netsim::spec::PhySpec;
use netsim::HostFrame;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::{Bytes, DataRate, Duration, Time};

/// Bytes of every frame; no overhead, so that S is 1.2 us at 10 Gb/s.
const FRAME_BYTES: u32 = 1500;
const PHI: f64 = 0.1;
const PACKETS: u32 = 600_000;

struct Link {
    rate_bps: u64,
    sleep: Duration,
    wake: Duration,
}

const TEN_GBASE_T: Link =
    Link { rate_bps: 10_000_000_000, sleep: Duration::from_ns(2_880), wake: Duration::from_ns(4_480) };
const GIGABIT: Link =
    Link { rate_bps: 1_000_000_000, sleep: Duration::from_us(182), wake: Duration::from_ns(16_500) };

/// Results of theory or simulation.
#[derive(Debug)]
struct Outcome {
    energy: f64,
    wait_us: f64,
}

/// Returns the probability of at least `k` events if `mean` are expected.
fn poisson_at_least(k: u32, mean: f64) -> f64 {
    let mut term = (-mean).exp();
    let mut below = 0.0;
    for j in 0..k {
        below += term;
        term *= mean / f64::from(j + 1);
    }
    1.0 - below
}

/// Returns the closed forms. `hold_us` and `trigger` of zero: no coalescing.
fn theory(link: &Link, rho: f64, hold_us: f64, trigger: u32) -> Outcome {
    let (ts, tw) = (link.sleep.as_secs_f64() * 1e6, link.wake.as_secs_f64() * 1e6);
    let service = f64::from(FRAME_BYTES) * 8e6 / link.rate_bps as f64;
    let lambda = rho / service;
    let (off, ev, i);
    if hold_us == 0.0 {
        let asleep_empty = (-lambda * ts).exp();
        off = asleep_empty / lambda;
        ev = ts + off + tw;
        i = lambda * (ts + tw).powi(2) / 2.0 + tw * asleep_empty;
    } else if hold_us < ts {
        // The timer, started by an arrival even in the sleep transition. The trigger is out of reach.
        let q = (-lambda * (ts - hold_us)).exp();
        off = q / lambda;
        ev = ts + off + tw;
        let e = (-lambda * hold_us).exp();
        let a = (1.0 - e) / lambda;
        let a2 = 2.0 / lambda.powi(2) - e * (2.0 * hold_us / lambda + 2.0 / lambda.powi(2));
        i = lambda * ts.powi(2) / 2.0
            + q * (a + lambda * hold_us * a - lambda * a2 / 2.0)
            + lambda * (ts + off) * tw
            + lambda * tw.powi(2) / 2.0;
    } else {
        // Timer and trigger, whichever comes first; exact except when the trigger is reached within Ts.
        let reached = |k| poisson_at_least(k, lambda * hold_us);
        let held_for: f64 = (1..trigger).map(reached).sum::<f64>() / lambda;
        off = 1.0 / lambda + held_for - ts;
        ev = 1.0 / lambda + held_for + tw;
        let held: f64 = (1..trigger).map(|k| f64::from(k) * reached(k)).sum::<f64>() / lambda;
        i = held + (1.0 + lambda * held_for) * tw + lambda * tw.powi(2) / 2.0;
    }
    Outcome {
        energy: 1.0 - (1.0 - PHI) * (1.0 - rho) * off / ev,
        wait_us: lambda * service.powi(2) / (2.0 * (1.0 - rho)) + i / (lambda * ev),
    }
}

/// Returns the same by simulation.
fn simulate(link: &Link, rho: f64, hold_us: u64, trigger: u32) -> Outcome {
    let rate = DataRate::from_bps(link.rate_bps);
    let eee = Some(EeeParams {
        sleep_ticks: link.sleep.as_ps(),
        wake_ticks: link.wake.as_ps(),
        hold_ticks: Duration::from_us(hold_us).as_ps(),
        trigger_packets: trigger,
        ..EeeParams::default()
    });
    let mut nic = Nic::new(rate, Bytes::ZERO, NicSettings { eee, ..NicSettings::default() });
    let kind = PhySpec {
        rate_bps: link.rate_bps,
        watts: 1.0,
        lpi_fraction: PHI,
        sleep: link.sleep,
        wake: link.wake,
    };
    let mut phy = Phy::new(kind, Some(Duration::ZERO), Duration::from_ps(2));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mean_gap = rate.transmit_time(Bytes::new(FRAME_BYTES.into())).as_ps() as f64 / rho;
    let (mut arrival, mut waited, mut arrived, mut end) = (Time::ZERO, 0_u128, 0, Time::ZERO);
    while arrived < PACKETS || nic.queue_packets() > 0 {
        match nic.next_departure() {
            Some(now) if arrived == PACKETS || now < arrival => {
                let (frame, wire_time) = nic.depart(now).unwrap();
                phy.transmit(now, wire_time);
                waited += u128::from(now.as_ps() - frame.tag);
                end = now + wire_time;
            }
            _ => {
                let frame = HostFrame { wire_len: FRAME_BYTES, tag: arrival.as_ps(), ..HostFrame::default() };
                nic.enqueue(arrival, frame).unwrap();
                arrived += 1;
                // 53 random bits, never 0.
                let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
                arrival += Duration::from_ps((-uniform.ln() * mean_gap) as u64);
            }
        }
    }
    let times = phy.times(end);
    assert_eq!(times.total(), end.since(Time::ZERO), "the states add up to the time");
    assert_eq!(phy.violations(), 0);
    let eee = nic.eee().unwrap();
    assert_eq!(eee.wakes(), phy.wakes());
    // The machine's account in whole ticks is within two ticks per sleep of the PHY's.
    assert!(eee.lpi_ticks().abs_diff(times.lpi.as_ps()) <= 2 * phy.wakes(), "{} {times:?}", eee.lpi_ticks());
    let energy = phy.energy(end);
    Outcome { energy: energy.used / energy.legacy, wait_us: waited as f64 / f64::from(PACKETS) / 1e6 }
}

/// Energy within 1 %, wait within 2 % of theory: the random error of 600 000 packets is well below.
fn check(link: &Link, rho: f64, hold_us: u64, trigger: u32) {
    let theory = theory(link, rho, hold_us as f64, trigger);
    let simulated = simulate(link, rho, hold_us, trigger);
    let off = |told: f64, right: f64| (told / right - 1.0).abs();
    let case =
        format!("{} b/s, rho {rho}, {hold_us}us{trigger}: {simulated:?} for {theory:?}", link.rate_bps);
    assert!(off(simulated.energy, theory.energy) < 0.01, "{case}");
    assert!(off(simulated.wait_us, theory.wait_us) < 0.02, "{case}");
}

#[test]
fn the_closed_forms_give_the_published_values() {
    for (link, rho, hold_us, trigger, energy) in [
        (&TEN_GBASE_T, 0.1, 0.0, 0, 0.545),
        (&TEN_GBASE_T, 0.1, 12.0, 10, 0.399),
        (&TEN_GBASE_T, 0.1, 120.0, 100, 0.234),
        (&TEN_GBASE_T, 0.5, 120.0, 100, 0.576),
        (&GIGABIT, 0.01, 12.0, 10, 0.252),
        (&GIGABIT, 0.1, 120.0, 100, 0.785),
    ] {
        let told = theory(link, rho, hold_us, trigger).energy;
        assert!((told - energy).abs() < 0.000_6, "rho {rho}, {hold_us}us{trigger}: {told} for {energy}");
    }
}

#[test]
fn energy_and_waits_are_as_theory_says() {
    for (link, rhos, hold_us, trigger) in [
        (&TEN_GBASE_T, &[0.01, 0.1, 0.5][..], 0, 0),
        (&GIGABIT, &[0.1], 0, 0),
        (&TEN_GBASE_T, &[0.01, 0.1, 0.2], 12, 10),
        (&TEN_GBASE_T, &[0.01, 0.1, 0.5], 120, 100),
        (&TEN_GBASE_T, &[0.1], 1_000, 1_000),
        // A hold shorter than the sleep transition starts within it.
        (&GIGABIT, &[0.01], 12, 10),
        (&GIGABIT, &[0.1], 120, 100),
    ] {
        rhos.iter().for_each(|rho| check(link, *rho, hold_us, trigger));
    }
}
