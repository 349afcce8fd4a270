//! The cost of a P4 pass in a shuffle of hosts with DCTCP, and the memory that it takes.
//!
//! `S1` to `S3` are the papers' Terasorts: 6.4 GB on leaf-spine-160, 20.2 GB and 4.9 GB on 80 hosts in two racks; the last two
//! with a share of their bytes. `shuffle-160` and `shuffle-1600` compare sizes of a fabric: a hundred hosts send 402 KB to each
//! of the others, as the mappers of S1 do, one transfer after the other with seeded starts, so that about five overlap at a
//! receiver. A run has a share of the transfers: the cost of a pass does not depend on their number. Each case runs in its own
//! process and prints lines: `cost`, the name, nanoseconds of processor time and number of P4 passes; `memory`, as in
//! `memory.rs`, with the name and `, peak`. Only Linux reports the time of a process; elsewhere nothing is measured.
//!
//!     cargo bench -p benches --bench shuffle                # all cases
//!     cargo bench -p benches --bench shuffle -- CASE SHARE [REPORT]
//!
//! The second form runs a case in this process, for a profiler, and writes the report of it to a file, to be compared
//! with that of another version.

#![allow(missing_docs, clippy::print_stdout)] // A program of its own, whose output is its result.

use std::process::Command;

use benches::common::{
    classes, congestion_point, copies, eee_values, lossless, marking, pausable, peak_resident_bytes,
    start_workload, LeafSpine, PortSettings, GIGABIT,
};
use netsim::reaction::QcnSettings;
use netsim::spec::{NicDcqcnSpec, NicEeeSpec, NicSpec};
use netsim::{Fabric, FlowSpec};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;
use units::Time;

/// Hosts that send.
const MAPPERS: usize = 100;
/// Bytes of one transfer: 6.4 GB over 100 mappers and 159 reducers.
const BYTES: u64 = 402_516;
/// Time between two starts of a mapper: the time of 402 KB with headers and ACKs at 1 Gb/s, plus a tenth.
const GAP_PS: u64 = 3_800_000_000;
/// Maximum delay of a start, so that transfers overlap.
const JITTER_PS: u64 = 15_000_000_000;
/// Maximum number of resident bytes.
const MEMORY_LIMIT: u64 = 2_000_000_000;

#[derive(Clone, Copy)]
enum Load {
    Transfers,
    Terasort { maps: u32, reducers: u32, bytes: f64 },
}

pub(crate) struct Case {
    name: &'static str,
    leaves: usize,
    spines: usize,
    eee: bool,
    /// Limiters of NICs also react to marks.
    dcqcn: bool,
    /// All traffic is in one lossless class, whose queues are congestion points; NICs obey pauses and messages.
    lossless: bool,
    load: Load,
    /// Share of the transfers, or of the bytes, in the bench.
    share: f64,
}

const fn case(name: &'static str, leaves: usize, eee: bool) -> Case {
    Case { name, leaves, spines: 2, eee, dcqcn: false, lossless: false, load: Load::Transfers, share: 0.1 }
}

const S1: Load = Load::Terasort { maps: 100, reducers: 159, bytes: 6.4e9 };
const S2: Load = Load::Terasort { maps: 158, reducers: 158, bytes: 20.224e9 };
const S3: Load = Load::Terasort { maps: 79, reducers: 79, bytes: 4.9e9 };

/// The lossless class's: hosts send with DSCP 0.
const PRIORITY: u8 = 3;

static CASES: [Case; 9] = [
    Case { load: S1, share: 1.0, ..case("S1", 4, false) },
    Case { load: S2, spines: 1, ..case("S2, a tenth", 2, true) },
    Case { load: S3, spines: 1, share: 0.2, ..case("S3, a fifth", 2, true) },
    case("shuffle-160", 4, false),
    case("shuffle-160-coalescing", 4, true),
    Case { dcqcn: true, ..case("shuffle-160-dcqcn", 4, false) },
    Case { lossless: true, ..case("shuffle-160-everything", 4, true) },
    case("shuffle-1600", 40, false),
    case("shuffle-1600-coalescing", 40, true),
];

impl Case {
    /// Returns the case with a name.
    pub(crate) fn of(name: &str) -> &'static Case {
        CASES.iter().find(|case| case.name == name).expect("a case's name")
    }

    pub(crate) fn fabric(&self) -> Fabric {
        let nic_eee = NicEeeSpec { hold_ps: 12_000_000, trigger_packets: 10, ..NicEeeSpec::default() };
        let nic = NicSpec {
            eee: self.eee.then_some(nic_eee),
            dcqcn: self.dcqcn.then(NicDcqcnSpec::default),
            qcn: self.lossless.then(QcnSettings::default),
            ..NicSpec::default()
        };
        let size = LeafSpine {
            leaves: self.leaves,
            hosts_per_leaf: 40,
            spines: self.spines,
            eee: self.eee,
            nic,
            ..LeafSpine::default()
        };
        let mut spec = size.spec();
        if self.lossless {
            pausable(&mut spec, 0, PRIORITY);
        }
        let mut fabric = size.fabric(spec, |rate_bps| PortSettings {
            // A lossless class is limited where packets enter.
            buffer_bytes: (!self.lossless).then_some(300_000),
            eee: self.eee.then(|| eee_values(rate_bps, if rate_bps == GIGABIT { 12 } else { 120 }, 10)),
            ..marking(97_500)
        });
        if self.lossless {
            Self::make_lossless(&mut fabric, &size);
        }
        fabric
    }

    /// XOFF at 40 KB of a port, above it 64 KB: more than comes before a pause is obeyed, at both rates.
    fn make_lossless(fabric: &mut Fabric, size: &LeafSpine) {
        for switch in 0..size.switch_count() {
            classes(fabric, switch, &[(0, PRIORITY)]);
            copies(fabric, switch);
        }
        for (switch, port, bps) in size.ports() {
            lossless(fabric, switch, port, bps, PRIORITY, [40_000, 37_000, 104_000]);
            congestion_point(fabric, switch, port, PRIORITY, 26_000);
        }
    }

    /// Starts a Terasort with the share of its bytes.
    fn start_job(&self, fabric: &mut Fabric, share: f64) {
        let Load::Terasort { maps, reducers, bytes } = self.load else { return };
        let bytes = (bytes * share) as u64;
        let job = json!({"name": "terasort", "arrival_ps": 0, "maps": maps, "reducers": reducers,
                         "input_bytes": bytes, "shuffle_bytes": bytes, "output_bytes": bytes});
        let cluster = json!({"kind": "mapreduce", "name": "cluster", "jobs": [job]});
        start_workload(fabric, &json!({"algorithm": "dctcp"}), &json!([cluster]));
    }

    /// Starts the share of the transfers: of each mapper the first ones. With ten times as many hosts there are ten times
    /// as many mappers, each of which sends to a tenth of the reducers.
    fn start(&self, fabric: &mut Fabric, share: f64) {
        let settings =
            "dctcp".parse::<tcp::Config>().and_then(tcp::Config::check).expect("defaults are possible");
        let hosts = fabric.spec().hosts.len();
        let mappers = MAPPERS * self.leaves / 4;
        let transfers = ((MAPPERS * 159) as f64 * share) as usize;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for transfer in 0..transfers {
            let (mapper, round) = (transfer % mappers, transfer / mappers);
            // Mappers are spread over all racks, and a round's receivers over all hosts.
            let source = mapper * hosts / mappers;
            let destination = (source + 1 + (7 * mapper + 61 * round) % (hosts - 1)) % hosts;
            let start = round as u64 * GAP_PS + random.next_u64() % JITTER_PS;
            let flow = FlowSpec { source, destination, bytes: BYTES, start: Time::from_ps(start) };
            fabric.start_flow(&settings, flow).expect("the flow is possible");
        }
    }

    /// Runs the share of its load to the end. Returns P4 passes.
    pub(crate) fn play(&self, fabric: &mut Fabric, share: f64) -> u64 {
        let limit = Time::from_ps(1 << 60);
        let ends = if let Load::Transfers = self.load {
            self.start(fabric, share);
            fabric.run_to_idle(limit)
        } else {
            self.start_job(fabric, share);
            fabric.run_workload(limit)
        };
        assert!(ends, "the shuffle ends");
        fabric.p4_passes()
    }

    /// Runs it and returns the processor time of the run, in nanoseconds.
    fn run(&self, share: f64) -> (Fabric, Option<u64>) {
        let mut fabric = self.fabric();
        let before = processor_nanoseconds();
        self.play(&mut fabric, share);
        let taken = processor_nanoseconds().zip(before).map(|(after, before)| after - before);
        (fabric, taken)
    }
}

/// Returns the processor time of this thread (`schedstat` of proc(5)).
fn processor_nanoseconds() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Runs one case in this process, and prints its costs.
fn run_here(case: &Case, share: f64, report: Option<&str>) {
    let (fabric, taken) = case.run(share);
    let name = case.name;
    if let Some(nanoseconds) = taken {
        println!("cost\t{name}\t{nanoseconds}\t{}", fabric.p4_passes());
    }
    if let Some(bytes) = peak_resident_bytes() {
        println!("memory\t{name}, peak\t{bytes}\t{MEMORY_LIMIT}");
    }
    if let Some(path) = report {
        let report = fabric.report().expect("the counts add up");
        let json = serde_json::to_string_pretty(&report).expect("a report is JSON");
        std::fs::write(path, json).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if let [name, share, report @ ..] = &arguments[..] {
        let share = share.parse().expect("a share of the transfers, such as 0.1");
        return run_here(Case::of(name), share, report.first().map(String::as_str));
    }
    let this = std::env::current_exe().expect("a process knows its program");
    for &Case { name, share, .. } in &CASES {
        let child = Command::new(&this).args([name, &share.to_string()]).output().expect("it runs again");
        assert!(child.status.success(), "{name}: {}", String::from_utf8_lossy(&child.stderr));
        print!("{}", String::from_utf8_lossy(&child.stdout));
    }
}
