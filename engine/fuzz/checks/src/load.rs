//! The loader: any bytes, and edited programs. A program that loads receives entries and packets.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use bm::{Detached, Executable, Phv, Program, State};
use serde_json::Value;
use simple_switch::{PortConfig, SwitchConfig};
use units::{DataRate, Duration};

use crate::calls::Op;
use crate::input::Input;
use crate::programs::{limits, sources};
use crate::traffic::Traffic;

/// Maximum number of runtime interface calls, and of packets, for a loaded program.
const MAX_CALLS: u8 = 16;
const MAX_PACKETS: usize = 6;

/// Runs the target for any bytes, as JSON.
pub fn load(bytes: &[u8]) {
    if let Some(program) = loads(bytes) {
        exercise(&program, &bytes[bytes.len() / 2..]);
    }
}

/// Runs the target for edited programs. The input: 1 byte for the program, the edits (see `edits`), 1 byte for the
/// number of calls, the calls, and packets, each with port, length and bytes.
pub fn edited_program(bytes: &[u8]) {
    static PARSED: OnceLock<Vec<Value>> = OnceLock::new();
    let parse = |json: &[u8]| serde_json::from_slice(json).expect("the committed programs are JSON");
    let parsed = PARSED.get_or_init(|| sources().iter().map(|source| parse(&source.json)).collect());
    let mut input = Input::new(bytes);
    let mut program = parsed[usize::from(input.u8()) % parsed.len()].clone();
    crate::edits::edit(&mut program, &mut input);
    if let Some(program) = loads(program.to_string().as_bytes()) {
        exercise(&program, input.rest());
    }
}

/// Returns the program if it loads; otherwise checks that the error has a position and a reason.
fn loads(json: &[u8]) -> Option<Arc<Executable>> {
    match Program::from_json_with(json, &limits()) {
        Ok(program) => Some(Executable::new(program)),
        Err(error) => {
            assert!(!error.place.is_empty() && !error.reason.is_empty(), "{error:?}");
            assert!(error.to_string().len() < 4096, "an error of {} bytes", error.to_string().len());
            None
        }
    }
}

/// Runs calls and packets on a loaded program, in native code and in the interpreter, which must agree.
fn exercise(program: &Arc<Executable>, input: &[u8]) {
    let [native, interpreted] =
        [false, true].map(|interpreted| run(program, &mut Input::new(input), interpreted));
    assert_eq!(native, interpreted, "native code and the interpreter differ");
}

/// Runs the program in a switch if it is suitable, otherwise alone. Returns a digest of the output.
fn run(program: &Arc<Executable>, input: &mut Input<'_>, interpreted: bool) -> u64 {
    let config = SwitchConfig {
        recirculation_limit: 8,
        ports: (0..4).map(|port| PortConfig::ethernet(port, DataRate::from_bps(1_000_000_000))).collect(),
        ..SwitchConfig::default()
    };
    let Ok(mut traffic) = Traffic::new(program, config) else {
        return run_alone(program, input, interpreted);
    };
    if interpreted {
        traffic.switch.state_mut().interpret();
    }
    for _ in 0..input.u8() % (MAX_CALLS + 1) {
        let Some(op) = Op::next(input, &traffic.switch) else { break };
        // Whether the call is valid depends on the edits; only the fact that it returns is checked.
        let _ = crate::runtime_interface::make(&mut traffic.switch, &op);
    }
    for _ in 0..MAX_PACKETS {
        let (port, length) = (u16::from(input.u8() % 5), usize::from(input.u8()));
        traffic.packet(port, input.bytes(length));
        traffic.advance(Duration::from_us(20));
        traffic.check_balance();
        if input.is_empty() || traffic.is_worn_out() {
            break;
        }
    }
    traffic.drain();
    traffic.transcript()
}

/// Runs the existing parser, pipelines and deparser on one packet. Returns a digest of the output.
fn run_alone(program: &Arc<Executable>, input: &mut Input<'_>, interpreted: bool) -> u64 {
    let mut state = State::new(program);
    if interpreted {
        state.interpret();
    }
    let mut phv = Phv::new(program);
    let length = usize::from(input.u8());
    let packet = input.bytes(length);
    let mut digest = DefaultHasher::new();
    phv.reset(program, packet.len() as u64);
    if let Some(parser) = program.parser("parser") {
        state.parse(parser, &mut phv, packet, None).hash(&mut digest);
    }
    assert!(phv.payload_offset() <= packet.len(), "the parser has read beyond the packet");
    state.verify_checksums(&mut phv, packet, None).hash(&mut digest);
    for name in ["ingress", "egress"] {
        if let Some(pipeline) = program.pipeline(name) {
            // A fault is a valid result.
            state.run(pipeline, &mut phv, &mut Detached, None).is_ok().hash(&mut digest);
        }
    }
    let payload = &packet[phv.payload_offset()..];
    state.update_checksums(&mut phv, payload, None);
    if let Some(deparser) = program.deparser("deparser") {
        let mut headers = Vec::new();
        state.deparse(deparser, &mut phv, &mut headers);
        headers.hash(&mut digest);
    }
    digest.finish()
}
