//! Measures the fluid model's run time for a trace of FB2010's size (526 coflows of 700,000 flows between 150 racks in an
//! hour): `cargo bench -p schedule`, or with the name of a scheduler after `--`.
//!
//! FB2010 itself is not ours to distribute, so the trace is generated. It has FB2010's number of coflows, about its number
//! of flows, and its shape: half of the coflows have a few short flows; a sixth are wide and have nearly all of the bytes.

#![allow(clippy::print_stdout)] // A program of its own, whose output is its result.

use std::time::Instant;

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::SplitMix64;
use schedule::fca::Options;
use schedule::fluid::{self, Arrival};
use schedule::{FlowId, Name};
use units::{DataRate, Duration, Time};

const RACKS: u32 = 150;
const COFLOWS: u64 = 526;
const FLOWS: usize = 700_000;
const SECONDS: u64 = 3600;
/// From CoflowSim and FB2010's papers: racks have links of 1 Gbit/s.
const RATE_BPS: u64 = 1_000_000_000;
const MEGABYTE_BITS: u64 = 8_000_000;
const STEP: Duration = Duration::from_ps(1_000_000_000);

struct Draw(SplitMix64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    /// Returns a log-uniform number between `low` and `high`.
    fn wide(&mut self, low: f64, high: f64) -> f64 {
        let share = self.below(1 << 53) as f64 / (1_u64 << 53) as f64;
        low * (high / low).powf(share)
    }
}

/// Returns the trace: flows in order of time.
fn trace() -> Vec<Arrival> {
    let mut draw = Draw(SplitMix64::seed_from_u64(2010));
    let mut flows = Vec::new();
    for transfer in 0..COFLOWS {
        let at =
            Time::from_ps(transfer * SECONDS * 1_000_000_000_000 / COFLOWS / 1_000_000_000 * 1_000_000_000);
        // Wide and long, wide and short, narrow and long, narrow and short: 17, 15, 16 and 52 per cent.
        let (mappers, reducers, megabytes) = match draw.below(100) {
            0..=16 => (draw.wide(50.0, 300.0), draw.wide(20.0, 120.0), draw.wide(5.0, 500.0)),
            17..=31 => (draw.wide(20.0, 60.0), draw.wide(10.0, 50.0), draw.wide(1.0, 5.0)),
            32..=47 => (draw.wide(1.0, 10.0), draw.wide(1.0, 5.0), draw.wide(5.0, 1000.0)),
            _ => (draw.wide(1.0, 10.0), draw.wide(1.0, 5.0), draw.wide(1.0, 5.0)),
        };
        let froms: Vec<u32> = (0..mappers as u64).map(|_| draw.below(RACKS.into()) as u32).collect();
        for _ in 0..reducers as u64 {
            let to = draw.below(RACKS.into()) as u32;
            // The amount that a reducer fetches, in equal parts, as readers of the trace assume.
            let each = (megabytes * draw.wide(0.5, 2.0) * MEGABYTE_BITS as f64) as u64 / froms.len() as u64;
            for from in &froms {
                let id = FlowId { transfer, flow: flows.len() as u64 };
                flows.push(Arrival { at, id, volume_bits: each.max(1), path: vec![2 * from, 2 * to + 1] });
            }
        }
    }
    flows
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let arrivals = trace();
    println!("{COFLOWS} coflows, {} flows (FB2010: {FLOWS})", arrivals.len());
    let links = schedule::star(RACKS, DataRate::from_bps(RATE_BPS)).expect("a star");
    let variants = Name::ALL.into_iter().map(|name| (name.to_string(), name, Options::default()));
    let preempting = ("fca preempt".to_owned(), Name::Fca, Options { preempt: true, ..Options::default() });
    let mut total = 0.0;
    for (shown, name, options) in variants.chain([preempting]) {
        if !wanted.is_empty() && !wanted.contains(&shown) {
            continue;
        }
        let began = Instant::now();
        let time = fluid::Options { step: Some(STEP), only_whole_transfers: false };
        let outcome = fluid::run(&links, name, options, &arrivals, time).expect("it ends");
        let seconds = began.elapsed().as_secs_f64();
        total += seconds;
        let sum: u128 = outcome.flows.values().map(|at| u128::from(at.as_ps())).sum();
        println!("{shown:12} {seconds:8.1} s, {} decisions, ends add up to {sum} ps", outcome.decisions);
    }
    println!("{total:.1} s");
}
