//! Arrivals at a host's NIC from the network: QCN messages, DCQCN notifications, pause frames, or any bytes instead,
//! between frames of the host and at any times.

use std::collections::BTreeMap;
use std::net::IpAddr;

use netsim::nic::{Nic, NicClasses, NicEee, NicLimit, NicSettings};
use netsim::reaction::ReactionSettings;
use netsim::{HostFrame, NicAqm, MAX_LIMITERS};
use units::{Bytes, DataRate, Duration, Time};

use crate::input::Input;

const MAX_EVENTS: usize = 500;
/// Maximum number of NIC events until it is idle or the time has passed: more than any number of limiters needs.
const MAX_STEPS: usize = 1_000_000;
const FLOWS: u8 = 6;
const OWN: [u8; 4] = [10, 0, 0, 1];
const OTHER: [u8; 4] = [10, 0, 0, 2];

/// Events: a byte and its arguments.
pub(crate) mod kind {
    /// A frame of the host: flow, 2 bytes of length.
    pub(crate) const FRAME: u8 = 0;
    /// A QCN message: flow, feedback, and a change.
    pub(crate) const MESSAGE: u8 = 1;
    /// A DCQCN notification: flow, and a change.
    pub(crate) const NOTIFICATION: u8 = 2;
    /// A pause: class-enable vector, 2 bytes of time for all classes, and a change.
    pub(crate) const PAUSE: u8 = 3;
    /// The host sends a notification.
    pub(crate) const SENDS_CNP: u8 = 4;
    /// Time passes: 2 bytes, in microseconds.
    pub(crate) const PASS: u8 = 5;
    /// Any bytes as each of the three: their number, and the bytes.
    pub(crate) const RAW: u8 = 6;
    pub(crate) const COUNT: u8 = 7;
}

/// Runs the target. The input: 1 byte of settings, then events.
pub fn nic(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut run = Run {
        nic: nic_of(input.u8()),
        now: Time::ZERO,
        wire_free: Time::ZERO,
        number: 0,
        left: BTreeMap::new(),
    };
    for _ in 0..MAX_EVENTS {
        if input.is_empty() {
            break;
        }
        run.event(&mut input);
        run.check();
    }
    run.pass(None);
    run.check();
    assert_eq!(run.nic.queue_packets(), 0, "no pause and no rate holds a frame for ever");
}

/// Returns the NIC for these bits: 1 DCQCN instead of QCN, 2 classes, 4 a limit, 8 an AQM, 16 EEE; 32 a limit in
/// frames, or 64 one that excludes the bytes held by EEE; 128 per-flow queues, but only without an AQM.
fn nic_of(flags: u8) -> Nic {
    let rate = DataRate::from_bps(1_000_000_000);
    let limit = (flags & 4 != 0).then(|| match flags >> 5 & 3 {
        1 => NicLimit::Frames(16),
        2 => NicLimit::BytesBesideHeld(Bytes::new(20_000)),
        _ => NicLimit::Bytes(Bytes::new(20_000)),
    });
    let eee = NicEee {
        sleep: Duration::from_us(182),
        wake: Duration::from_us(17),
        hold: Duration::from_us(50),
        trigger_packets: 5,
        ..NicEee::default()
    };
    let codel = NicAqm::Codel {
        target_ps: 50_000_000,
        interval_ps: 1_000_000_000,
        mtu_bytes: 1_514,
        ecn: false,
        protect: netsim::Protect::Ect,
    };
    let mut priority = [0; 64];
    priority[..usize::from(FLOWS)].copy_from_slice(&[0, 3, 3, 5, 6, 7]);
    let classes = NicClasses { priority, default_priority: 1, pausable: 0b0010_1001 };
    let reactions = if flags & 1 == 0 {
        ReactionSettings::Qcn(netsim::reaction::QcnSettings::default())
    } else {
        ReactionSettings::Dcqcn(netsim::reaction::DcqcnSettings::default())
    };
    let settings = NicSettings {
        limit,
        eee: (flags & 16 != 0).then_some(eee),
        aqm: (flags & 8 != 0).then_some(codel),
        seed: 1,
        classes: (flags & 2 != 0).then_some(classes),
        is_fair: flags & 0b1000_1000 == 0b1000_0000,
        reactions: Some(reactions),
        own: [Some(IpAddr::from(OWN)), None],
    };
    Nic::new(rate, Bytes::new(24), settings)
}

/// Returns the beginning of a flow's datagram, from its EtherType on. Its DSCP is the number of the flow.
fn datagram(flow: u8, [source, destination]: [[u8; 4]; 2]) -> Vec<u8> {
    let mut bytes = vec![8, 0, 0x45, flow << 2, 5, 0xDC, 0, 0, 0, 0, 64, 17, 0, 0];
    bytes.extend([source, destination].concat());
    bytes.extend([0, flow, 0, 9, 5, 0xC8, 0, 0]);
    bytes
}

/// Returns a QCN message about a flow.
fn message(flow: u8, feedback: u8) -> Vec<u8> {
    let carried = datagram(flow, [OWN, OTHER]);
    let mut frame = vec![0; 12];
    frame.extend([0x22, 0xE7, 0, feedback & 63]);
    // The congestion point, its offset and delta, and the sampled frame's priority, destination and length.
    frame.extend([2, 0, 0, 0, 0, 1, 0, 3, 0, 5, 0, 6, 0, 0, 2, 0, 0, 0, 0, 2, 0]);
    frame.push(carried.len() as u8);
    frame.extend(carried);
    frame
}

/// Returns a DCQCN notification about a flow.
fn notification(flow: u8) -> Vec<u8> {
    let mut frame = vec![0; 12];
    frame.extend(datagram(48, [OTHER, OWN]));
    let ports = frame.len() - 8;
    frame[ports..].copy_from_slice(&[0xC0, 0, 0x12, 0xB7, 0, 40, 0, 0]);
    frame.extend([0x81, 0, 0xFF, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0, 17, 0, 0, 0, 0, flow, 0, 9]);
    frame.extend([0; 12]);
    frame
}

fn pause(vector: u8, quanta: u16) -> Vec<u8> {
    let mut frame = vec![1, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 8, 1, 1, 0, vector];
    (0..8).for_each(|_| frame.extend(quanta.to_be_bytes()));
    frame.resize(60, 0);
    frame
}

/// Changes a frame by three bytes of input: the position, the new value, and the new end of the frame. A position or an
/// end of 255 changes nothing.
fn changed(input: &mut Input<'_>, mut frame: Vec<u8>) -> Vec<u8> {
    let (at, value, end) = (input.u8(), input.u8(), input.u8());
    if let (true, Some(byte)) = (at < u8::MAX, frame.get_mut(usize::from(at))) {
        *byte = value;
    }
    if end < u8::MAX {
        frame.truncate(usize::from(end));
    }
    frame
}

struct Run {
    nic: Nic,
    now: Time,
    /// The time at which the wire becomes free.
    wire_free: Time,
    number: u32,
    /// By flow, the number of its last frame that has left.
    left: BTreeMap<u8, u32>,
}

impl Run {
    fn event(&mut self, input: &mut Input<'_>) {
        match input.u8() % kind::COUNT {
            kind::FRAME => {
                let (flow, length) = (input.u8() % FLOWS, input.u16());
                let frame = self.frame(flow, u32::from(length).clamp(60, 1_514));
                // A frame that does not fit is returned.
                drop(self.nic.enqueue(self.now, frame));
            }
            kind::MESSAGE => {
                let whole = message(input.u8(), input.u8());
                self.nic.handle_message(self.now, &changed(input, whole));
            }
            kind::NOTIFICATION => {
                let whole = notification(input.u8());
                self.nic.handle_notification(self.now, &changed(input, whole));
            }
            kind::PAUSE => {
                let whole = pause(input.u8(), input.u16());
                self.nic.receive_control(self.now, &changed(input, whole));
            }
            kind::SENDS_CNP => {
                let frame = self.frame(u8::MAX, 74);
                self.nic.enqueue_cnp(self.now, frame);
            }
            kind::PASS => {
                let gap = Duration::from_us(input.u16().into());
                self.pass(Some(self.now + gap));
            }
            _ => {
                let count = usize::from(input.u8());
                let bytes = input.bytes(count);
                self.nic.handle_message(self.now, bytes);
                self.nic.handle_notification(self.now, bytes);
                self.nic.receive_control(self.now, bytes);
            }
        }
    }

    fn frame(&mut self, flow: u8, wire_len: u32) -> HostFrame {
        self.number += 1;
        let mut captured = vec![0; 12];
        captured.extend(datagram(flow, [OWN, OTHER]));
        HostFrame { captured, wire_len, number: self.number, ..HostFrame::default() }
    }

    /// Advances the time to `until`, or until the NIC is idle.
    fn pass(&mut self, until: Option<Time>) {
        for _ in 0..MAX_STEPS {
            let due = self.nic.next_event().filter(|due| until.is_none_or(|until| *due <= until));
            let Some(due) = due else {
                self.now = until.unwrap_or(self.now).max(self.now);
                return;
            };
            self.now = self.now.max(due);
            if self.nic.reacts(self.now) {
                continue;
            }
            if let Some((frame, wire_time)) = self.nic.depart(self.now) {
                assert!(self.now >= self.wire_free, "two frames are on the wire");
                self.wire_free = self.now + wire_time;
                assert_eq!(wire_time, Duration::from_ns(8 * u64::from(frame.wire_len + 24)));
                let flow = frame.captured[15] >> 2;
                let before = self.left.insert(flow, frame.number);
                assert!(before < Some(frame.number), "flow {flow}: {:?}, then {}", before, frame.number);
            }
            while self.nic.pop_dropped().is_some() {}
        }
        panic!("a NIC has always something to do");
    }

    fn check(&self) {
        let stats = self.nic.stats();
        assert_eq!(stats.offered, stats.sent + stats.dropped + self.nic.queue_packets() as u64);
        let counts = self.nic.qcn().or(self.nic.dcqcn()).expect("it has one of them");
        let nothing = counts.malformed + counts.unknown_flow + counts.without_effect + counts.without_limiter;
        assert!(nothing <= counts.messages && counts.max_limiters <= MAX_LIMITERS as u64);
        assert!(counts.max_limiters <= counts.messages - nothing, "a limiter comes of a message");
    }
}
