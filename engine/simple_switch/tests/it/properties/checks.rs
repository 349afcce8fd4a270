//! The properties and rules, checked on the records of `run.rs`. All times are in picoseconds.

use proptest::prelude::*;

use super::case::{Form, CLOCK, IN_PORTS, OUT_PORTS};
use super::random::packets::{Class, Target, CE, NOT_ECT};
use super::random::settings::{Aqm, Buffer, Congestion, Settings};
use super::run::{verdict, Arrived, Left, Trace, NEXT_HOP, SWITCH_MAC};
use crate::support::eeon::{self, Eee};

type Judgement = Result<(), TestCaseError>;

/// What ingress makes of a packet that it does not queue.
fn unqueued(a: &Arrived) -> Option<u64> {
    match () {
        () if a.is_packet_out => a.out.is_none().then_some(verdict::NO_ROUTE),
        () if a.built.is_malformed => Some(verdict::MALFORMED),
        () if a.built.class == Class::Control => Some(verdict::CONSUMED),
        () if a.target == Target::Elsewhere => Some(verdict::NOT_ADMITTED),
        () if a.built.is_ip && matches!(a.target, Target::Martian(_)) => Some(verdict::MARTIAN),
        () if !a.built.is_ip || a.target == Target::Nowhere => Some(verdict::NO_ROUTE),
        () if a.target == Target::Controller => Some(verdict::TO_CPU),
        () if a.ttl <= 1 => Some(verdict::TTL_EXPIRED),
        () => None,
    }
}

fn is_marked(a: &Arrived, left: &Left) -> bool {
    a.built.ecn != CE && a.built.ecn != NOT_ECT && left.frame == expected_frame(a, true)
}

fn expected_frame(a: &Arrived, is_marked: bool) -> Vec<u8> {
    match a.target {
        _ if a.is_packet_out => a.built.unwrapped(is_marked),
        Target::Controller => [&(a.in_port << 7).to_be_bytes()[..], &a.built.bytes].concat(),
        _ => a.built.forwarded([SWITCH_MAC, NEXT_HOP], is_marked),
    }
}

pub fn conservation(trace: &Trace) -> Judgement {
    for [offered, left, dropped, inside] in &trace.counts {
        prop_assert_eq!(
            *offered,
            left + dropped + inside,
            "{} left, {} dropped, {} inside",
            left,
            dropped,
            inside
        );
    }
    let mut left_inside = trace.switch.stats().in_flight;
    // The required value of each counter, from the packets offered and the packets that left.
    let all_ports = || IN_PORTS.into_iter().chain(OUT_PORTS).chain([eeon::CPU_PORT]);
    for port in all_ports() {
        for class in 0..8 {
            let of_class = || trace.arrived.iter().filter(|a| a.built.class as u64 == class);
            let received = of_class().filter(|a| a.in_port == port);
            let counted =
                trace.switch.state().read_counters("received", u64::from(port) << 3 | class).unwrap();
            let expected = received
                .fold((0, 0), |(packets, bytes), a| (packets + 1, bytes + a.built.bytes.len() as u64));
            prop_assert_eq!((counted.packets, counted.bytes), expected, "port {} class {}", port, class);

            for verdict in verdict::NO_ROUTE..=verdict::LAST {
                let expected =
                    of_class().filter(|a| a.in_port == port && unqueued(a) == Some(verdict)).count();
                let found = trace.count(port, class, verdict);
                prop_assert_eq!(found, expected as u64, "port {} class {} verdict {}", port, class, verdict);
            }
            let offered = of_class().filter(|a| a.out == Some(port) && unqueued(a).is_none()).count() as u64;
            let sent = of_class().filter(|a| a.left.as_ref().is_some_and(|left| left.port == port));
            let sent: Vec<bool> =
                sent.filter(|a| a.out.is_some()).map(|a| is_marked(a, a.left.as_ref().unwrap())).collect();
            let marked = sent.iter().filter(|is_marked| **is_marked).count() as u64;
            let count = |verdict| trace.count(port, class, verdict);
            prop_assert_eq!(count(verdict::MARKED), marked, "marked, port {} class {}", port, class);
            prop_assert_eq!(
                count(verdict::FORWARDED),
                sent.len() as u64 - marked,
                "port {} class {}",
                port,
                class
            );
            let dropped = count(verdict::EARLY_DROPPED) + count(verdict::TAIL_DROPPED);
            let inside = offered.checked_sub(sent.len() as u64 + dropped);
            let inside = inside.ok_or_else(|| {
                TestCaseError::fail(format!("port {port} class {class}: {offered} came, {dropped} dropped"))
            })?;
            left_inside = left_inside.checked_sub(inside).ok_or_else(|| {
                TestCaseError::fail(format!("port {port} class {class}: {inside} neither sent nor counted"))
            })?;
        }
    }
    prop_assert_eq!(left_inside, 0, "packets inside that no port counts");
    prop_assert!(trace.switch.stats().is_balanced());
    let drops = trace.switch.stats().drops;
    prop_assert_eq!(drops.total(), drops.get(simple_switch::DropCause::Ingress), "the program alone drops");
    Ok(())
}

pub fn occupancy(trace: &Trace) -> Judgement {
    for look in &trace.looks {
        prop_assert_eq!(
            look.occupancy,
            look.queued,
            "packets and bytes of port {} at {}",
            look.port,
            look.at
        );
        prop_assert_eq!(look.outside.0, look.outside.1, "outside port {} at {}", look.port, look.at);
        if trace.form == Form::Gate {
            prop_assert_eq!(look.occupancy, look.waiting, "port {} at {}", look.port, look.at);
        }
    }
    for port in OUT_PORTS {
        let last = (trace.register("occupancy_packets", port), trace.register("occupancy_bytes", port));
        prop_assert_eq!(last, (0, 0), "port {} in the end", port);
    }
    Ok(())
}

pub fn order(trace: &Trace) -> Judgement {
    for (place, port) in OUT_PORTS.into_iter().enumerate() {
        let came: Vec<usize> = trace.admitted(place).map(|(number, _)| number).collect();
        prop_assert_eq!(&trace.order[place], &came, "port {}", port);
        let tickets = (trace.register("ticket_next", port << 3), trace.register("ticket_serving", port << 3));
        prop_assert_eq!(tickets.0, tickets.1, "tickets of port {}", port);
        prop_assert_eq!(trace.switch.port_stats(port).reordered, 0);
    }
    Ok(())
}

pub fn early_drops(trace: &Trace) -> Judgement {
    let mut counted = 0;
    for a in trace.arrived.iter().filter(|a| a.counted == Some(verdict::EARLY_DROPPED)) {
        counted += 1;
        let Aqm::Red(red) = a.settings.aqm else {
            return Err(TestCaseError::fail(format!("dropped early under {:?}: {a:?}", a.settings.aqm)));
        };
        prop_assert!(!red.marks(&a.built), "dropped early instead of marked: {:?}", a);
        prop_assert!(!red.spares(&a.built), "dropped early although protected: {:?}", a);
        let average = a.average.expect("RED was asked");
        prop_assert!(red.congestion(average) != Congestion::Never, "dropped early below min: {:?}", a);
    }
    let cells = OUT_PORTS.into_iter().flat_map(|port| (0..8).map(move |class| (port, class)));
    let total: u64 = cells.map(|(port, class)| trace.count(port, class, verdict::EARLY_DROPPED)).sum();
    prop_assert_eq!(total, counted, "early drops that no packet explains");
    Ok(())
}

/// Returns the settings that a packet at a port may have met from `from` until `until`.
fn met(history: &[(u64, Settings)], from: u64, until: u64) -> Vec<Option<Eee>> {
    let first = history.iter().rposition(|(at, _)| *at < from).unwrap_or(0);
    history[first..].iter().filter(|(at, _)| *at <= until).map(|(_, settings)| settings.eee).collect()
}

pub fn waits(trace: &Trace) -> Judgement {
    let tick = trace.pace.tick_ps;
    for (place, history) in trace.history.iter().enumerate() {
        let packets: Vec<_> = trace.admitted(place).collect();
        // Transmissions of the packets before: when they left, when the wire was free, how long it took.
        let mut before: Vec<(u64, u64, u64)> = Vec::new();
        for (number, a) in packets {
            let Some(left) = &a.left else {
                return Err(TestCaseError::fail(format!("packet {number} never left: {a:?}")));
            };
            let is_ahead = |(_, end, _): &&(u64, u64, u64)| *end > a.at;
            let ahead = before.iter().filter(is_ahead).count() as u64;
            let ahead_ps: u64 = before.iter().map(|(_, end, wire)| end.saturating_sub(a.at).min(*wire)).sum();
            let idle_since = before.iter().rev().find(|(at, ..)| *at <= a.at).map_or(0, |(_, end, _)| *end);

            // Packets in the queue before it may have met other settings.
            let first = before.iter().find(|(at, ..)| *at > a.at);
            let from = first.map_or(a.at, |_| {
                trace
                    .admitted(place)
                    .map(|(_, b)| b)
                    .find(|b| b.left.as_ref().is_some_and(|left| left.at > a.at))
                    .map_or(a.at, |b| b.at)
            });
            let met = met(history, from, left.at);
            let on = || met.iter().flatten();
            let largest = |of: fn(&Eee) -> u64| on().map(of).max().unwrap_or(0) * tick;
            let (sleep, wake, stall, hold) =
                (largest(|e| e.sleep), largest(|e| e.wake), largest(|e| e.stall), largest(|e| e.hold));
            // Ticks lost to rounding: exact paces have none, but a gate is never at tick 0.
            let rounding = if trace.pace.is_exact { tick } else { (3 + ahead) * tick };
            let loops = if trace.form == Form::Recirculation { (2 + ahead) * trace.loop_ps } else { 0 };
            let sleeps_at = idle_since + stall;
            let is_awake = history.len() == 1 && !trace.pace.is_exact && a.at + 3 * tick < sleeps_at
                || history.len() == 1 && trace.pace.is_exact && a.at < sleeps_at;
            let longest = if on().next().is_none() || is_awake {
                ahead_ps
            } else {
                hold.max((sleeps_at + sleep).saturating_sub(a.at)) + wake + ahead_ps
            };
            let waited = left.at - a.at;
            prop_assert!(
                waited <= longest + rounding + loops,
                "packet {} waited {} ps, at most {} + {} are right\n{:?}\n{:?}",
                number,
                waited,
                longest,
                rounding + loops,
                met,
                a
            );
            before.push((left.at, left.at + left.wire, left.wire));
        }
    }
    Ok(())
}

pub fn energy(trace: &Trace) -> Judgement {
    let tick = trace.pace.tick_ps;
    let round = if trace.form == Form::Recirculation { trace.loop_ps } else { 0 };
    for (place, port) in OUT_PORTS.into_iter().enumerate() {
        let Some(Eee { sleep, wake, stall, .. }) = trace.history[place][0].1.eee else {
            prop_assert_eq!((trace.register("wakes", port), trace.register("lpi_ticks", port)), (0, 0));
            continue;
        };
        let (sleep, wake, stall) = (sleep * tick, wake * tick, stall * tick);
        // The program rounds a start and a length down; two transitions this short are within the rounding.
        let rounding = if trace.pace.is_exact { 0 } else { 2 * tick };
        if sleep + wake <= 2 * rounding && rounding > 0 {
            continue;
        }
        let both = stall + sleep + wake;
        let (mut sleeps, mut low, mut active, mut idle_since) = (0u64, 0u64, 0u64, 0u64);
        for number in &trace.order[place] {
            let a = &trace.arrived[*number];
            let left = a.left.as_ref().expect("it is in the order of what left");
            let silence = left.at - idle_since;
            // A packet that arrives at the end of the stall finds the link in transition to sleep, unless it finds a queue.
            let has_slept =
                if rounding == 0 { a.at >= idle_since + stall } else { silence + rounding >= both };
            prop_assert!(
                if has_slept { silence + rounding >= both } else { silence <= stall + rounding + round },
                "port {} sent at {} after {} ps of silence, with stall {} and transitions {}",
                port,
                left.at,
                silence,
                stall,
                sleep + wake
            );
            if has_slept {
                sleeps += 1;
                low += silence.saturating_sub(both);
                active += stall;
            } else {
                active += silence;
            }
            active += left.wire;
            idle_since = left.at + left.wire;
        }
        let wakes = trace.register("wakes", port);
        prop_assert_eq!(wakes, sleeps, "wakes of port {}", port);
        let counted = trace.register("lpi_ticks", port);
        // A gate at tick 0 opens a tick late; by recirculation every gate may open a round late.
        let (less, more) = (1 + (wakes * (rounding + round)).div_ceil(tick), wakes * rounding / tick);
        let least = (low / tick).saturating_sub(less);
        prop_assert!(
            counted.wrapping_sub(least) % CLOCK <= low / tick - least + more,
            "port {}: {} ticks in low power, seen from the wire {} ps, {} wakes",
            port,
            counted,
            low,
            wakes
        );
        let transitions = wakes * (sleep + wake);
        let sum = low + transitions + active;
        prop_assert!(sum.abs_diff(idle_since) <= wakes * rounding, "{} of {} ps", sum, idle_since);
    }
    Ok(())
}

pub fn tail_drops(trace: &Trace) -> Judgement {
    for a in trace.arrived.iter().filter(|a| a.out.is_some()) {
        let fits = match a.settings.buffer {
            Buffer::Bytes(limit) => a.found_bytes + a.bytes <= limit.into() || limit == u32::MAX,
            Buffer::Packets(limit) => a.found_packets < limit.into(),
            Buffer::BesideHeld(limit) => {
                !a.awake.0 || a.found_bytes - a.found_outside + a.bytes <= limit.into()
            }
        };
        prop_assert_eq!(a.counted == Some(verdict::TAIL_DROPPED), !fits, "{:?}", a);
    }
    Ok(())
}

pub fn marks(trace: &Trace) -> Judgement {
    for a in &trace.arrived {
        let (Some(left), Some(_)) = (&a.left, a.out) else { continue };
        let marked = is_marked(a, left);
        match a.settings.aqm {
            Aqm::DropTail => prop_assert!(!marked, "{:?}", a),
            Aqm::Threshold { .. } => {
                let is_above = a.settings.aqm.threshold(&a.built).is_some_and(|(threshold, at_dequeue)| {
                    threshold < if at_dequeue { left.behind_bytes } else { a.found_bytes }
                });
                prop_assert_eq!(marked, is_above, "{:?}", a);
            }
            Aqm::Red(red) => {
                let congestion = red.congestion(a.average.expect("RED was asked"));
                let may_mark = red.marks(&a.built) && a.built.ecn != CE;
                prop_assert!(!marked || (may_mark && congestion != Congestion::Never), "{:?}", a);
                prop_assert!(marked || !may_mark || congestion != Congestion::Always, "{:?}", a);
                let stays = red.marks(&a.built) || red.spares(&a.built) || congestion != Congestion::Always;
                prop_assert!(stays, "not dropped early at max: {:?}", a);
            }
        }
    }
    for look in &trace.looks {
        prop_assert_eq!(look.average.0, look.average.1, "RED's average of port {}", look.port);
    }
    Ok(())
}

pub fn frames(trace: &Trace) -> Judgement {
    for a in &trace.arrived {
        let Some(left) = &a.left else { continue };
        if left.frame != expected_frame(a, false) {
            prop_assert!(is_marked(a, left), "{:?}\nleft as {:?}", a, left.frame);
        }
        let out = a.out.unwrap_or(eeon::CPU_PORT);
        prop_assert_eq!(left.port, out, "{:?}", a);
    }
    Ok(())
}
