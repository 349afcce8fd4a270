//! Any bytes on any port at any time, with each of the programs, and calls of the runtime interface in between.
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | program |
//! | 1 | bits: 1 no gate, 2 no entries, 4 and 8 rate, 16 short queues, 32 and 64 queues per port, 128 quanta |
//! | 1 | initial value of the clock |
//! | … | events: see `Run::event` |

use std::num::NonZeroU32;

use simple_switch::{PortConfig, Quanta, SwitchConfig};
use units::{Bytes, DataRate, Duration};

use crate::calls::Op;
use crate::eeon::{self, ExpectedCounts};
use crate::input::Input;
use crate::programs;
use crate::traffic::Traffic;

/// Kinds of events, determined by the first byte: each kind's range begins at its constant.
mod kind {
    pub(super) const RAW: u8 = 0;
    pub(super) const TEMPLATE: u8 = 100;
    pub(super) const CALL: u8 = 200;
    pub(super) const WAIT: u8 = 230;
    pub(super) const DRAIN: u8 = 240;
    pub(super) const PORT: u8 = 246;
    pub(super) const RELOAD: u8 = 254;
}

const MAX_EVENTS: usize = 60;
/// Maximum length of a template's frame; the absolute maximum can be requested as well.
const MAX_TEMPLATE_BYTES: usize = 2000;

/// Runs the target: the input in native code and in the interpreter, which must agree.
pub fn frame(bytes: &[u8]) {
    assert_eq!(run(bytes, false), run(bytes, true), "the same input gave another output when interpreted");
}

fn run(bytes: &[u8], interpreted: bool) -> u64 {
    let mut input = Input::new(bytes);
    let program = usize::from(input.u8()) % programs::sources().len();
    let flags = input.u8();
    let config = config(program, flags, input.u8());
    let traffic = Traffic::new(&programs::program(program), config).expect("the configuration is sound");
    let expected = (program == eeon::PROGRAM).then(|| ExpectedCounts::new(flags & 1 == 0));
    let mut run = Run { traffic, expected, interpreted };
    run.choose_interpreter();
    if program == eeon::PROGRAM && flags & 2 == 0 {
        eeon::configure(&mut run.traffic.switch.state_mut());
    }
    for _ in 0..MAX_EVENTS {
        if input.is_empty() || run.traffic.is_worn_out() {
            break;
        }
        run.event(&mut input);
    }
    run.drain();
    run.traffic.transcript()
}

fn config(program: usize, flags: u8, clock: u8) -> SwitchConfig {
    let port = |number: u16| {
        let rate = match flags >> 2 & 3 {
            0 => Some(DataRate::from_bps(1_000_000_000)),
            1 => Some(DataRate::from_bps(100_000_000_000)),
            2 => Some(DataRate::from_bps(1)),
            _ => None,
        };
        let short = flags & 16 != 0;
        // Bit 7: the two lowest queues share the link, with a quantum shorter than most frames and a longer one.
        let mut quanta = Quanta::default();
        if flags & 0x80 != 0 {
            let longer = if flags >> 5 & 3 == 0 { None } else { NonZeroU32::new(3000) };
            (quanta[0], quanta[1]) = (NonZeroU32::new(7), longer);
        }
        PortConfig {
            rate,
            overhead: Bytes::new(24),
            queue_limit_packets: short.then_some(3),
            queue_limit_bytes: short.then_some(Bytes::new(2000)),
            quanta,
            ..PortConfig::unlimited(number)
        }
    };
    let by_gate = program == eeon::PROGRAM && flags & 1 == 0;
    SwitchConfig {
        tick: if clock & 1 == 0 { Duration::from_ns(1) } else { Duration::from_us(1) },
        clock_start: match clock >> 1 {
            0..=63 => u64::from(clock >> 1),
            64..=95 => (1 << 48) - u64::from(clock),
            _ => u64::MAX - u64::from(clock),
        },
        cpu_port: Some(eeon::CPU_PORT),
        gate_register: by_gate.then(|| eeon::GATE.to_owned()),
        priorities: 1 + usize::from(flags >> 5 & 3),
        recirculation_delay: Duration::from_ns(500),
        recirculation_limit: 200,
        seed: 1,
        ports: (0..8).map(port).collect(),
        ..SwitchConfig::default()
    }
}

/// Returns the port for a byte: usually an existing one.
fn port(byte: u8) -> u16 {
    match byte {
        255 => eeon::CPU_PORT,
        254 => 511,
        253 => 600,
        252 => u16::MAX,
        byte => u16::from(byte % 9),
    }
}

struct Run {
    traffic: Traffic,
    expected: Option<ExpectedCounts>,
    interpreted: bool,
}

impl Run {
    /// Switches a fresh state, which runs native code if available, to the interpreter if the run requires it.
    fn choose_interpreter(&mut self) {
        if self.interpreted {
            self.traffic.switch.state_mut().interpret();
        }
    }

    fn event(&mut self, input: &mut Input<'_>) {
        match input.u8() {
            // Port, gap in units of 16 ns, length, bytes.
            kind::RAW..kind::TEMPLATE => {
                let port = port(input.u8());
                self.wait(u64::from(input.u16()) * 16);
                let length = usize::from(input.u16());
                let frame = input.bytes(length);
                self.packet(port, frame);
            }
            // Port, gap, template, length, copies, three modified bytes.
            kind::TEMPLATE..kind::CALL => {
                let port = port(input.u8());
                self.wait(u64::from(input.u16()) * 16);
                let (which, length) = (input.u8(), usize::from(input.u16()));
                let length = if length == 0xffff { length } else { length % MAX_TEMPLATE_BYTES };
                let copies = input.u8();
                let mut frame = template(which, length);
                for _ in 0..copies >> 5 & 3 {
                    let (at, value) = (usize::from(input.u8()), input.u8());
                    if let Some(byte) = frame.get_mut(at) {
                        *byte = value;
                    }
                }
                for _ in 0..=copies & 15 {
                    self.packet(port, &frame);
                }
            }
            kind::CALL..kind::WAIT => {
                let Some(op) = Op::next(input, &self.traffic.switch) else { return };
                let answer = crate::runtime_interface::make(&mut self.traffic.switch, &op);
                if let (Some(expected), Ok(_)) = (&mut self.expected, answer) {
                    expected.call(&op);
                }
            }
            // A time span: any, but usually short.
            kind::WAIT..kind::DRAIN => {
                let (span, shift) = (input.u64(), input.u8());
                self.wait(span >> (shift % 64));
            }
            kind::DRAIN..kind::PORT => self.drain(),
            // A port gets another link, or is removed.
            kind::PORT..kind::RELOAD => {
                let number = port(input.u8());
                match input.u8() {
                    0 => self.traffic.switch.remove_port(number),
                    choice => {
                        let port = PortConfig { port: number, ..config(0, choice, 0).ports[0].clone() };
                        // Fails for invalid port numbers.
                        let _ = self.traffic.switch.set_port(port);
                    }
                }
            }
            kind::RELOAD.. => {
                let program = programs::program(usize::from(input.u8()));
                if self.traffic.switch.load_program(program).is_ok() {
                    self.choose_interpreter();
                    if let Some(expected) = &mut self.expected {
                        expected.reloaded();
                    }
                }
            }
        }
        self.traffic.check_balance();
        if let Some(expected) = &self.expected {
            expected.check_queues(&self.traffic.switch);
        }
    }

    fn packet(&mut self, port: u16, frame: &[u8]) {
        if let Some(expected) = &mut self.expected {
            expected.packet(&self.traffic.switch, port, frame);
        }
        self.traffic.packet(port, frame);
    }

    fn wait(&mut self, ns: u64) {
        self.traffic.advance(Duration::from_ps(ns.saturating_mul(1000)));
    }

    fn drain(&mut self) {
        self.traffic.drain();
        if let Some(expected) = &self.expected {
            expected.check_counters(&self.traffic.switch);
        }
    }
}

/// Returns a valid frame: TCP or UDP over IPv4 or IPv6, with or without tags, with the network and the ECN bits that
/// `which` selects.
fn template(which: u8, length: usize) -> Vec<u8> {
    let (network, ecn) = (1 + (which >> 3) % 8, which >> 6);
    let version6 = which & 1 == 1;
    let tags = usize::from(which & 7 >= 4) + usize::from(which & 7 >= 6);
    let is_udp = which & 2 == 2;
    let l4 = if is_udp { 8 } else { 20 };
    let l3 = if version6 { 40 } else { 20 };
    let packet = length.saturating_sub(14 + 4 * tags).max(l3 + l4);
    let mut frame = vec![2, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1];
    for _ in 0..tags {
        frame.extend([0x81, 0, 0, 5]);
    }
    frame.extend(if version6 { [0x86, 0xdd] } else { [8, 0] });
    let start = frame.len();
    let protocol = if is_udp { 17 } else { 6 };
    if version6 {
        frame.extend([0x60, ecn << 4, 0, 0]);
        frame.extend(((packet - 40) as u16).to_be_bytes());
        frame.extend([protocol, 64]);
        frame.extend([[0xfd, 0, 0, 1], [0; 4], [0; 4], [0, 0, 0, 1]].concat());
        frame.extend([[0xfd, 0, 0, network], [0; 4], [0; 4], [0, 0, 0, 9]].concat());
    } else {
        frame.extend([0x45, ecn]);
        frame.extend((packet as u16).to_be_bytes());
        frame.extend([0, 1, 0x40, 0, 64, protocol, 0, 0, 10, 0, 1, 1, 10, 0, network, 9]);
        let checksum = wire::checksum::internet(&frame[start..]);
        frame[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
    }
    frame.extend([0x30, 0x39, 0x1f, 0x90]);
    if is_udp {
        frame.extend(((packet - l3) as u16).to_be_bytes());
        frame.extend([0, 0]);
    } else {
        let flags = if which & 7 == 4 { 0x50 } else { 0x10 };
        frame.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    }
    frame.resize(start + packet, 0xa5);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_what_they_say() {
        let class = |which, length| wire::classify(&template(which, length)).name();
        assert_eq!((class(0, 60), class(0, 0), class(1, 400)), ("data", "ack", "data"));
        assert_eq!((class(2, 60), class(4, 0), class(6, 60)), ("other", "ack_ece", "other"));
    }
}
