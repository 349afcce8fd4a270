//! Initial inputs, made from the real programs and from valid frames; and the format of corpus files.

use port_io::sp::{Mapping, PAIR_GREETING};
use port_io::{message, pcap};

use crate::frame::kind;
use crate::mutation::Draws;
use crate::nic::kind as nic;
use crate::programs::sources;
use crate::schedule;
use crate::workload::TEMPLATES;

/// Returns the inputs for a target, by name.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "frame" => frame_seeds(),
        "load" => sources().iter().map(|s| s.json.clone()).filter(|json| json.len() < 100_000).collect(),
        "edited_program" => edited_program_seeds(),
        "wire" => (0..32u8).map(|which| [&[0, 0][..], &template(which)].concat()).collect(),
        "runtime_api" => runtime_api_seeds(),
        "pcap" => pcap_seeds(),
        "peer" => peer_seeds(),
        "workload" => workload_seeds(),
        "schedule" => schedule_seeds(),
        "nic" => nic_seeds(),
        _ => Vec::new(),
    }
}

/// Returns frames of all flows, each kind of message about each flow, intact and changed, and times of all lengths.
fn nic_seeds() -> Vec<Vec<u8>> {
    const WHOLE: [u8; 3] = [u8::MAX; 3];
    let mut seeds = Vec::new();
    for flags in (0..32).chain(128..136) {
        let mut seed = vec![flags];
        for round in 0..4_u8 {
            for flow in (0..6).chain(0..6) {
                seed.extend([nic::FRAME, flow, 0xEA, 5]);
            }
            for flow in 0..6 {
                seed.extend([nic::MESSAGE, flow, 63 - 7 * flow]);
                seed.extend(WHOLE);
                seed.extend([nic::NOTIFICATION, flow]);
                seed.extend(WHOLE);
            }
            seed.extend([nic::PAUSE, 0xFF >> round, 100, 0]);
            seed.extend(WHOLE);
            seed.extend([nic::SENDS_CNP, nic::PASS, 20 << round, round]);
        }
        seeds.push(seed);
    }
    // Flows that wait so long that their limiters are removed meanwhile, with pauses of their class and of others.
    for flags in (0..8).chain(128..136) {
        let mut seed = vec![flags];
        for number in 0..200 {
            seed.extend([nic::FRAME, 1 + number % 2, 0xEA, 5]);
        }
        for flow in [1, 2, 1, 1] {
            seed.extend([nic::MESSAGE, flow, 63]);
            seed.extend(WHOLE);
            seed.extend([nic::NOTIFICATION, flow]);
            seed.extend(WHOLE);
        }
        for pass in 0..40 {
            seed.extend([nic::PAUSE, 0xFF, 100, pass % 2]);
            seed.extend(WHOLE);
            seed.extend([nic::FRAME, pass % 6, 100, 0, nic::PASS, 37 + 5 * pass, 0]);
        }
        seeds.push(seed);
    }
    // Messages with changed fields, and truncated ones.
    for at in 12..80 {
        let mut seed = vec![at & 31, nic::FRAME, 1, 0xEA, 5];
        for change in [[at, 0, 255], [at, 0xFF, 255], [255, 255, at]] {
            seed.extend([nic::MESSAGE, 1, 40]);
            seed.extend(change);
            seed.extend([nic::NOTIFICATION, 1]);
            seed.extend(change);
            seed.extend([nic::PAUSE, 0xFF, 9, 0]);
            seed.extend(change);
        }
        seed.extend([nic::RAW, at]);
        seed.extend((0..at).map(|byte| byte.wrapping_mul(at)));
        seeds.push(seed);
    }
    seeds
}

fn template(which: u8) -> Vec<u8> {
    crate::frame::template(which, 90)
}

/// Returns a frame on a port after a gap in units of 16 ns, in the format of `frame`.
fn raw(port: u8, gap: u16, frame: &[u8]) -> Vec<u8> {
    let mut event = vec![kind::RAW, port];
    event.extend(gap.to_le_bytes());
    event.extend((frame.len() as u16).to_le_bytes());
    event.extend(frame);
    event
}

/// Returns an event like that of `raw`, with a template selected by `which`, and copies of it.
fn templated(port: u8, gap: u16, which: u8, length: u16, copies: u8) -> Vec<u8> {
    let mut event = vec![kind::TEMPLATE, port];
    event.extend(gap.to_le_bytes());
    event.push(which);
    event.extend(length.to_le_bytes());
    event.push(copies);
    event
}

fn frame_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    // E-EON: every template to every network, with gate and with recirculation, alone and in bursts.
    for flags in [0, 1, 4, 8, 16, 32] {
        for version in 0..8u8 {
            let mut seed = vec![0, flags, 0];
            for network in 0..8u8 {
                let which = version | network << 3 | (network & 3) << 6;
                seed.extend(templated(1, 100, which, 200, 1));
                seed.extend(templated(2, 0, which, 1400, 9));
            }
            seed.push(kind::DRAIN);
            seed.extend(raw(255, 9, &[&[0, 2 << 7][..], &template(version)].concat()));
            seeds.push(seed);
        }
    }
    // The probe program: each of its requests, with a payload.
    for op in 0..20u8 {
        let mut seed = vec![1, 0, 0];
        for argument in 0..4u8 {
            let request = [&[op, argument, 0, argument, 0, 1, 0, 0, 0, 0][..], &[op; 30]].concat();
            seed.extend(raw(0, 50, &request));
        }
        seeds.push(seed);
    }
    // The other programs: Ethernet frames of several types, followed by possible items, options or addresses.
    for program in 2..sources().len() as u8 {
        for ether_type in [0x0800u16, 0x86dd, 0x8100, 0x8808, 1, 2, 0x1234] {
            let mut ethernet = vec![0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1];
            ethernet.extend(ether_type.to_be_bytes());
            let mut seed = vec![program, 0, 0];
            for item in [&[3, 0, 0, 1, 0, 0, 0, 0][..], &[0x45; 60], &[0; 40], &[1; 9]] {
                seed.extend(raw(1, 10, &[&ethernet, item].concat()));
            }
            seeds.push(seed);
        }
    }
    seeds
}

/// Returns random calls, most of which name existing objects.
fn runtime_api_seeds() -> Vec<Vec<u8>> {
    let mut draws = Draws::new(0xca11);
    let mut seed = |program: u8| {
        let mut seed = vec![program];
        seed.extend((0..3000).map(|_| draws.below(256) as u8));
        seed
    };
    (0..16 * sources().len()).map(|at| seed((at % sources().len()) as u8)).collect()
}

/// Returns programs without edits, and programs with one edit of each kind at places all over the program, each with a
/// few calls and packets.
fn edited_program_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for program in 1..sources().len() as u8 {
        seeds.push([&[program, 0, 3][..], &[7; 200]].concat());
        for what in 0..8u8 {
            for place in 0..8u16 {
                let at = (place * 331 + u16::from(what) * 17).to_le_bytes();
                let mut seed = vec![program, 1, what, at[0], at[1], place as u8, what, 3 * what, 2];
                seed.extend([what; 120]);
                seeds.push(seed);
            }
        }
    }
    seeds
}

/// Returns files of three frames with each resolution, fed in pieces of several sizes.
fn pcap_seeds() -> Vec<Vec<u8>> {
    let seed = |piece: u8| {
        let mut seed = vec![piece];
        seed.extend(pcap::file_header(piece & 1 == 1));
        for which in 0..3 {
            pcap::append_record(&mut seed, u64::from(which) * 1_000_003, &template(which));
        }
        seed
    };
    [1, 2, 16, 23, 24, 255].into_iter().map(seed).collect()
}

/// Returns streams of messages for both mappings, with and without their greeting; messages; and frames with unfinished offloads.
fn peer_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (bit, mapping) in [(0, Mapping::Ipc), (1, Mapping::Tcp)] {
        let mut stream = Vec::new();
        for which in 0..3 {
            let frame = template(which);
            mapping.append_header(&mut stream, frame.len() + 12);
            stream.extend(message::packet_out(which.into(), frame.len()));
            stream.extend(frame);
        }
        seeds.push([&[bit][..], &PAIR_GREETING, &stream].concat());
        seeds.push([&[bit | 2][..], &stream].concat());
    }
    for kind in 0..8i32 {
        let words = [kind, 1, 90].map(i32::to_ne_bytes).concat();
        seeds.push([&[4][..], &words, &template(0)].concat());
    }
    for (which, gso_type) in [(0u8, 1u8), (1, 4), (2, 5), (3, 5), (4, 1), (6, 5)] {
        for gso_size in [0u16, 1, 9, 1000] {
            let (start, offset) =
                (if which & 1 == 1 { 54u16 } else { 34 }, if which & 2 == 2 { 6u16 } else { 16 });
            let mut seed = vec![6, 1, gso_type];
            for field in [54, gso_size, start, offset] {
                seed.extend(field.to_ne_bytes());
            }
            seed.extend(template(which));
            seeds.push(seed);
        }
    }
    seeds
}

/// Returns every template unchanged, on small and large fabrics, with one edit of each kind, and as text.
fn workload_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (which, text) in (0..).zip(TEMPLATES) {
        for hosts in [0, 3, 7] {
            seeds.push(vec![hosts, 0, which, 0]);
            seeds.push(vec![hosts, 3, which, 0]);
        }
        for what in 0..8u8 {
            for place in 0..6u8 {
                seeds.push(vec![4, 0, which, 1, what, 5 * place + what, 0, place, what, 3 * what + place]);
            }
        }
        seeds.push([&[2, 0, TEMPLATES.len() as u8][..], text.as_bytes()].concat());
    }
    seeds
}

/// Returns events for every scheduler with and without a floor: flows of two transfers arrive, report, end in both
/// orders and close.
fn schedule_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for head in [[3, 0], [3, 7], [0, 1]] {
        for scheduler in 0..8u8 {
            let mut seed = vec![scheduler];
            seed.extend(head);
            for flow in 0..6u8 {
                seed.extend([schedule::ARRIVE, 200, flow % 2, flow, 9, flow, 1 + flow % 3]);
                seed.extend([schedule::ALLOCATE, 40]);
            }
            for flow in [0, 5, 3, 1, 2, 4, 4u8] {
                seed.extend([schedule::PROGRESS, 90, flow % 2, flow, 4]);
                seed.extend([schedule::END, 10, flow % 2, flow, schedule::NEXT, schedule::ALLOCATE, 0]);
            }
            seed.extend([schedule::CLOSE, 0, schedule::CLOSE, 1, schedule::CLOSE, 1]);
            seeds.push(seed);
        }
    }
    seeds
}

/// Packs a corpus into one file: its inputs in order of length, each as its length (4 bytes, big-endian) and its bytes.
pub fn pack(mut inputs: Vec<Vec<u8>>) -> Vec<u8> {
    inputs.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    inputs.dedup();
    inputs.iter().flat_map(|input| [&(input.len() as u32).to_be_bytes()[..], input].concat()).collect()
}

/// Returns the inputs of a packed corpus, or `None` if the file is incomplete.
pub fn unpack(mut file: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    while !file.is_empty() {
        let (length, rest) = file.split_at_checked(4)?;
        let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let (input, rest) = rest.split_at_checked(length)?;
        inputs.push(input.to_vec());
        file = rest;
    }
    Some(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_unpacked_as_it_was_packed_and_refused_when_it_breaks_off() {
        let file = pack(vec![vec![3; 300], vec![], vec![1], vec![1]]);
        assert_eq!(unpack(&file), Some(vec![vec![], vec![1], vec![3; 300]]));
        assert_eq!(unpack(&file[..file.len() - 1]), None);
    }
}
