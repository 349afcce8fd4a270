//! Properties of a NIC at 1 Gb/s, and the scripts of `tests/nic.txt`, which says what their lines mean.

#![allow(clippy::print_stdout)] // The output of a test that fails ends with the line that is wrong.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use proptest::prelude::*;
use serde_json::{json, Value};
use units::{Bytes, DataRate, Duration, Time};

use crate::network::cnp::NotificationPoint;
use crate::network::eee::EeeParams;
use crate::network::frame::HostFrame;
use crate::network::nic::{Nic, NicClasses, NicLimit, NicSettings};
use crate::network::nic_fair::Queue;
use crate::network::wiring::Wiring;
use crate::reaction::{DcqcnSettings, QcnSettings, ReactionSettings};
use crate::spec::NicDcqcnSpec;
use crate::FabricSpec;

const GIGABIT: DataRate = DataRate::from_bps(1_000_000_000);
const MICROSECOND: u64 = 1_000_000;

/// Returns the settings of a NIC with these members of a spec, and the bytes that its link adds to a frame.
fn settings(members: &Value) -> (NicSettings, Bytes) {
    let link = |host: &str, port: u16, rate_bps: u64| {
        json!({"a": {"node": "s", "port": port}, "b": {"node": host, "port": 0}, "rate_bps": rate_bps, "delay_ps": 0,
               "overhead_bytes": members["overhead_bytes"].as_u64().unwrap_or(24)})
    };
    let [sleep, wake] = [0, 1].map(|at| members["phy_us"][at].as_u64().unwrap_or(0) * MICROSECOND);
    let spec = json!({
        "seed": 1,
        "switches": [{"name": "s", "device_id": 1}],
        "hosts": [{"name": "h", "mac": "02:00:00:00:00:01", "ipv4": "10.0.0.1"}],
        "links": [link("h", 1, 1_000_000_000)],
        "phy": [{"rate_bps": 1_000_000_000, "watts": 1, "sleep_ps": sleep, "wake_ps": wake}],
        "nic": if members["nic"].is_null() { json!({}) } else { members["nic"].clone() },
        "nic_classes": members["nic_classes"],
    });
    let spec = FabricSpec::from_json(spec.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let mut wiring = Wiring::new(&spec).unwrap_or_else(|error| panic!("{error}"));
    (wiring.nics.remove(0), wiring.directions[0].overhead)
}

/// Returns the number behind a word, such as 7 of `flow=7`.
fn number<T: std::str::FromStr>(words: &[&str], name: &str) -> Option<T> {
    let value = words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    value.map(|value| value.parse().unwrap_or_else(|_| panic!("{value} is no number")))
}

/// Returns the numbers behind a word, such as 7 to 9 of `flow=7-9`.
fn range(words: &[&str], name: &str) -> Option<RangeInclusive<u16>> {
    let range = words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    Some(first.parse().unwrap()..=last.parse().unwrap())
}

/// Returns the first bytes of a datagram from this port: all that a NIC looks at.
fn datagram(port: u16, words: &[&str]) -> Vec<u8> {
    let dscp: u8 = number(words, "dscp").unwrap_or(0);
    let [from, to] = [("from", 1), ("to", 2)].map(|(name, usual)| number(words, name).unwrap_or(usual));
    let mut frame = vec![0; 12];
    if words.contains(&"ipv6") {
        frame.extend([0x86, 0xDD, 0x60 | dscp >> 2, dscp << 6]);
        frame.resize(54, 0);
        return frame;
    }
    frame.extend([8, if words.contains(&"arp") { 6 } else { 0 }]);
    frame.extend([0x45, dscp << 2, 5, 0xDC, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
    frame.extend(port.to_be_bytes());
    frame.extend([0, 9, 5, 0xC8, 0, 0]);
    frame
}

/// Returns a congestion notification message about a datagram.
fn message(about: &[u8], feedback: u8) -> Vec<u8> {
    let mut message = vec![0; 12];
    message
        .extend([0x22, 0xE7, 0, feedback, 2, 0, 0, 0, 0, 1, 0, 3, 0, 5, 0, 6, 0, 0, 2, 0, 0, 0, 0, 2, 0, 30]);
    message.extend(&about[12..]);
    message
}

/// Returns the notification that the receiver of a datagram sends when it comes marked.
fn notification(about: &[u8]) -> Vec<u8> {
    NotificationPoint::new(&NicDcqcnSpec::default()).marked(Time::ZERO, about).unwrap()
}

fn pause(enabled: u8, times: &[u16]) -> Vec<u8> {
    let mut frame = vec![1, 0x80, 0xC2, 0, 0, 1, 2, 1, 0, 0, 0, 1, 0x88, 8, 1, 1, 0, enabled];
    frame.extend(times.iter().flat_map(|time| time.to_be_bytes()));
    frame.resize(60, 0);
    frame
}

struct Player {
    nic: Nic,
    now: Time,
    /// What was said of each frame that the host has offered.
    offered: Vec<String>,
    limiters: u32,
}

impl Player {
    /// Advances to a time before which nothing leaves. Returns when something leaves next.
    fn advance(&mut self, to: Time) -> Option<Time> {
        loop {
            let due = self.nic.next_event()?.max(self.now);
            if due > to || !self.nic.reacts(due) {
                return Some(due);
            }
        }
    }

    /// Makes what is said in a line happen at a time.
    fn play(&mut self, at: Time, verb: &str, words: &[&str], said: &str) {
        if verb == "sends" {
            let end = at + Duration::from_ps(MICROSECOND - 1);
            let due = self.advance(end).filter(|due| (at..=end).contains(due));
            let due = due.unwrap_or_else(|| panic!("nothing leaves, but at {:?}", self.nic.next_event()));
            self.now = due;
            let (frame, _) = self.nic.depart(due).expect("the frame that is due");
            assert_eq!(self.offered[frame.number as usize], said);
            return;
        }
        let due = self.advance(at);
        assert!(due.is_none_or(|due| due >= at), "before, something leaves at {due:?}");
        self.now = at;
        let flow = range(words, "flow").unwrap_or(0..=0);
        match verb {
            "offer" | "notify" => {
                let is_known = words
                    .iter()
                    .any(|word| ["flow=", "dscp=", "arp"].iter().any(|one| word.starts_with(one)));
                let captured = if is_known { datagram(*flow.start(), words) } else { Vec::new() };
                let limiter = number(words, "limiter").and_then(NonZeroU32::new);
                let (what, refused) = said.split_once(" -> ").map_or((said, false), |(what, _)| (what, true));
                let frame = HostFrame::new(at, captured, words[0].parse().unwrap());
                let frame = HostFrame { number: self.offered.len() as u32, limiter, ..frame };
                self.offered.push(what.to_owned());
                if verb == "notify" {
                    return self.nic.enqueue_cnp(at, frame);
                }
                assert_eq!(self.nic.enqueue(at, frame).is_err(), refused, "refused");
            }
            "limiter" => {
                let limiter: u32 = words[0].parse().unwrap();
                let rate_bps = words[1].parse().unwrap();
                if limiter <= self.limiters {
                    return self.nic.queues.set_limiter(at, NonZeroU32::new(limiter).unwrap(), rate_bps);
                }
                self.limiters = limiter;
                assert_eq!(self.nic.queues.add_limiter(at, rate_bps).map(NonZeroU32::get), Some(limiter));
            }
            "removes" => {
                self.limiters -= 1;
                self.nic.queues.remove_limiter(NonZeroU32::new(words[0].parse().unwrap()).unwrap());
            }
            "message" => {
                for port in flow {
                    let mut frame = message(&datagram(port, words), number(words, "feedback").unwrap_or(63));
                    if let Some((at, value)) = words.iter().find_map(|word| word.split_once(':')) {
                        frame[at.parse::<usize>().unwrap()] = value.parse().unwrap();
                    }
                    let whole = frame.len() as u16;
                    for len in range(words, "bytes").unwrap_or(whole..=whole) {
                        let mut frame = frame.clone();
                        frame.resize(len.into(), 0);
                        self.nic.handle_message(at, &frame);
                    }
                }
            }
            "notification" => {
                let mut frame = notification(&datagram(*flow.start(), words));
                frame.truncate(number(words, "bytes").unwrap_or(frame.len()));
                assert!(self.nic.handle_notification(at, &frame));
                assert!(!self.nic.handle_notification(at, &datagram(7, words)), "no notification");
            }
            "pause" => {
                let mut words = words.iter().map(|word| word.parse().expect("a number of quanta"));
                let enabled = words.next().unwrap_or(0) as u8;
                self.nic.receive_control(at, &pause(enabled, &words.collect::<Vec<_>>()));
            }
            "control" => {
                let digits = words.concat();
                let byte =
                    |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
                let frame: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
                self.nic.receive_control(at, &frame);
            }
            _ => panic!("no line begins with {verb}"),
        }
    }

    /// Returns the counts of a name, without those that are 0.
    fn counts(&self, name: &str) -> Value {
        let stats = self.nic.stats();
        match name {
            "offered" => json!(stats.offered),
            "dropped" => json!(stats.dropped),
            "sent" => json!(stats.sent),
            "sent_bytes" => json!(stats.sent_bytes),
            "max_queue_bytes" => json!(stats.max_queue_bytes),
            "pauses" => json!(stats.pauses),
            "control_ignored" => json!(stats.control_ignored),
            "waiting" => json!(self.nic.queue_packets()),
            "ready_us" => json!(self.nic.ready().as_ps() / MICROSECOND),
            "qcn" | "dcqcn" => {
                let counts = if name == "qcn" { self.nic.qcn() } else { self.nic.dcqcn() };
                let mut counts = serde_json::to_value(counts).unwrap();
                if let Value::Object(counts) = &mut counts {
                    counts.retain(|_, count| *count != 0);
                }
                counts
            }
            _ => panic!("no count is called {name}"),
        }
    }
}

fn play(script: &str) {
    let lines = script.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut members = json!({});
    let mut player: Option<Player> = None;
    for line in lines {
        println!("{line}");
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        if first.starts_with('{') {
            members = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            continue;
        }
        let player = player.get_or_insert_with(|| {
            let (mut settings, overhead) = settings(&members);
            settings.own = [Some(IpAddr::from([10, 0, 0, 1])), None];
            let nic = Nic::new(GIGABIT, overhead, settings);
            Player { nic, now: Time::ZERO, offered: Vec::new(), limiters: 0 }
        });
        if first == "counts" {
            let expected: Value =
                serde_json::from_str(rest).unwrap_or_else(|error| panic!("{line}: {error}"));
            for (name, value) in expected.as_object().expect("names and counts") {
                assert_eq!(player.counts(name), *value, "{name}");
            }
            continue;
        }
        let at = us(first.parse().expect("a time in us"));
        let (verb, said) = rest.split_once(' ').unwrap_or((rest, ""));
        let words: Vec<&str> = said.split_whitespace().collect();
        player.play(at, verb, &words, said);
    }
    let left = player.and_then(|mut player| player.advance(Time::MAX));
    assert_eq!(left, None, "in the end, something leaves");
}

#[test]
fn scripts_of_nics_pass() {
    for named in include_str!("../../tests/nic.txt").split("\n[").skip(1) {
        let (name, script) = named.split_once("]\n").expect("a name");
        println!("[{name}]");
        play(script);
    }
}

/// Returns classes in which DSCP 26 is priority 3, which may be paused, and DSCP 46 is priority 5, which may not.
fn classes() -> NicClasses {
    let mut priority = [0; 64];
    (priority[26], priority[46]) = (3, 5);
    NicClasses { priority, default_priority: 4, pausable: 1 << 3 }
}

fn frame(dscp: u8, wire_len: u32) -> HostFrame {
    let captured = datagram(7, &[&format!("dscp={dscp}")]);
    HostFrame { captured, wire_len, ..HostFrame::default() }
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// What happens at a NIC: a frame or a notification of the host, time that passes in microseconds, or bytes from the network.
#[derive(Clone, Debug)]
enum AtNic {
    Offers { flow: u16, wire_len: usize },
    Notifies,
    Passes(u64),
    Hears(Vec<u8>),
}

/// Returns messages of each kind, intact, changed, cut or of any bytes, between frames of six flows.
fn at_nic() -> impl Strategy<Value = AtNic> {
    let of_flow = (0..6_u16, 0..64_u8, any::<u16>()).prop_flat_map(|(flow, feedback, quanta)| {
        let about = datagram(flow, &[]);
        let control = pause(feedback, &[quanta; 8]);
        prop::sample::select(vec![message(&about, feedback), notification(&about), control])
    });
    let damage = prop::option::of((any::<prop::sample::Index>(), any::<u8>(), any::<prop::sample::Index>()));
    let damaged = (of_flow, damage).prop_map(|(mut frame, damage)| {
        if let Some((at, value, end)) = damage {
            let length = frame.len();
            frame[at.index(length)] = value;
            frame.truncate(1 + end.index(length));
        }
        frame
    });
    let heard = prop_oneof![8 => damaged, 1 => prop::collection::vec(any::<u8>(), 0..100)];
    prop_oneof![
        8 => (0..6_u16, 60_usize..1_514).prop_map(|(flow, wire_len)| AtNic::Offers { flow, wire_len }),
        1 => Just(AtNic::Notifies),
        3 => (0..3_000_u64).prop_map(AtNic::Passes),
        6 => heard.prop_map(AtNic::Hears),
    ]
}

/// Returns a NIC that reacts to messages, with any other settings; flows take turns only without an AQM.
fn reacting() -> impl Strategy<Value = NicSettings> {
    let limit = prop::sample::select(vec![
        None,
        Some(NicLimit::Frames(16)),
        Some(NicLimit::Bytes(Bytes::new(20_000))),
        Some(NicLimit::BytesBesideHeld(Bytes::new(20_000))),
    ]);
    let codel = json!({"mode": "codel", "target_ps": 50_000_000, "interval_ps": 1_000_000_000, "mtu_bytes": 1_514, "ecn": false, "protect": "ect"});
    let codel = settings(&json!({"nic": {"aqm": codel}})).0.aqm;
    let eee = EeeParams { hold_ticks: 50_000_000, trigger_packets: 5, ..EeeParams::default() };
    let reactions = prop::sample::select(vec![
        ReactionSettings::Qcn(QcnSettings::default()),
        ReactionSettings::Dcqcn(DcqcnSettings::default()),
    ]);
    (reactions, limit, any::<[bool; 4]>()).prop_map(
        move |(reactions, limit, [marks, sleeps, is_fair, has_classes])| NicSettings {
            limit,
            aqm: codel.filter(|_| marks),
            eee: sleeps.then_some(eee),
            is_fair: is_fair && !marks,
            classes: has_classes.then(classes),
            reactions: Some(reactions),
            own: [Some(IpAddr::from([10, 0, 0, 1])), None],
            ..NicSettings::default()
        },
    )
}

/// Makes a NIC send until a time, or until it is idle. Checks that one frame is on the wire at a time, and each flow in order.
fn send_until(player: &mut Player, until: Time, left: &mut [Option<u32>; 7], free: &mut Time) {
    while let Some(due) = player.advance(until).filter(|due| *due <= until) {
        player.now = due;
        if let Some((frame, wire_time)) = player.nic.depart(due) {
            assert!(due >= *free, "two frames are on the wire");
            *free = due + wire_time;
            let of_flow = &mut left[usize::from(frame.captured[35])];
            assert!(*of_flow < Some(frame.number), "{:?}, then {}", of_flow, frame.number);
            *of_flow = Some(frame.number);
        }
        while player.nic.pop_dropped().is_some() {}
    }
}

proptest! {
    /// Checks that frames are conserved, leave one at a time and each flow's in order, that only messages make limiters, and that
    /// in the end every frame has left, whatever was paused or slowed down.
    #[test]
    fn whatever_a_nic_hears_its_frames_leave_once_in_the_order_of_their_flow(
        settings in reacting(), events in prop::collection::vec(at_nic(), 1..200),
    ) {
        let nic = Nic::new(GIGABIT, Bytes::new(24), settings);
        let mut player = Player { nic, now: Time::ZERO, offered: Vec::new(), limiters: 0 };
        let (mut left, mut free) = ([None; 7], Time::ZERO);
        for (number, event) in (0..).zip(events) {
            let now = player.now;
            // A class that may be paused, and one below and above it.
            let dscp = |flow| ["dscp=0", "dscp=26", "dscp=46"][usize::from(flow % 3)];
            let of = |flow, wire_len| HostFrame { number, ..HostFrame::new(now, datagram(flow, &[dscp(flow)]), wire_len) };
            match event {
                // A frame that does not fit is returned.
                AtNic::Offers { flow, wire_len } => drop(player.nic.enqueue(now, of(flow, wire_len))),
                AtNic::Notifies => player.nic.enqueue_cnp(now, of(6, 74)),
                AtNic::Passes(gap) => {
                    send_until(&mut player, now + Duration::from_us(gap), &mut left, &mut free);
                    player.now = now + Duration::from_us(gap);
                }
                AtNic::Hears(frame) => {
                    player.nic.handle_message(now, &frame);
                    player.nic.handle_notification(now, &frame);
                    player.nic.receive_control(now, &frame);
                }
            }
            let (stats, waiting) = (player.nic.stats(), player.nic.queue_packets() as u64);
            prop_assert_eq!(stats.offered, stats.sent + stats.dropped + waiting);
            let counts = player.nic.qcn().or(player.nic.dcqcn()).unwrap();
            let nothing = counts.malformed + counts.unknown_flow + counts.without_effect + counts.without_limiter;
            prop_assert!(nothing <= counts.messages && counts.max_limiters <= counts.messages - nothing);
        }
        // Long enough: a pause lasts at most 34 ms, and at 5 Mb/s, the lowest rate of a reaction point, 200 full frames take half a second.
        let end = player.now + Duration::from_ms(100_000);
        send_until(&mut player, end, &mut left, &mut free);
        prop_assert_eq!(player.nic.queue_packets(), 0, "no pause and no rate holds a frame for ever");
    }

    /// Checks that a limited flow is never ahead of its rate by more than the one frame that had to wait for the wire, and
    /// with nothing beside it by none, whatever pauses and whatever leaves beside it.
    #[test]
    fn frames_of_a_limited_flow_are_as_far_apart_as_its_rate_whatever_pauses(
        offered in prop::collection::vec((0_u64..400, 60_u32..1_514), 2..60),
        pauses in prop::collection::vec((0_u64..2_000, 0_u16..4_000), 0..20),
        others in prop::collection::vec(0_u64..2_000, 0..40),
    ) {
        const RATE: DataRate = DataRate::from_bps(100_000_000);
        let settings = NicSettings { classes: Some(classes()), ..NicSettings::default() };
        let mut nic = Nic::new(GIGABIT, Bytes::new(24), settings);
        let limiter = nic.queues.add_limiter(us(0), RATE.as_bps());
        let is_alone = others.is_empty();
        let frames = offered.into_iter().map(|(gap, length)| (gap, 0, Vec::new(), length));
        let pauses = pauses.into_iter().map(|(gap, quanta)| (gap, 1, pause(1 << 3, &[0, 0, 0, quanta, 0, 0, 0, 0]), 0));
        let others = others.into_iter().map(|gap| (gap, 2, Vec::new(), 1_476));
        let mut events: Vec<(u64, usize, Vec<u8>, u32)> = Vec::new();
        let mut now = [0; 3];
        for (gap, kind, control, wire_len) in frames.chain(pauses).chain(others) {
            now[kind] += gap;
            events.push((now[kind], kind, control, wire_len));
        }
        events.sort_by_key(|(at, kind, ..)| (*at, *kind));
        let mut left: Vec<(Time, Duration)> = Vec::new();
        let mut leave = |nic: &mut Nic, until: Time| {
            while let Some(due) = nic.next_departure().filter(|due| *due <= until) {
                if let Some((gone, _)) = nic.depart(due).filter(|(gone, _)| gone.limiter.is_some()) {
                    left.push((due, RATE.transmit_time(Bytes::new(u64::from(gone.wire_len) + 24))));
                }
            }
        };
        let mut count = 0;
        for (at, kind, control, wire_len) in events {
            leave(&mut nic, us(at) - Duration::from_ps(u64::from(at > 0)));
            match kind {
                0 => {
                    count += 1;
                    nic.enqueue(us(at), HostFrame { limiter, ..frame(26, wire_len) }).unwrap();
                }
                1 => nic.receive_control(us(at), &control),
                _ => nic.enqueue(us(at), frame(46, 1_476)).unwrap(),
            }
        }
        leave(&mut nic, Time::MAX);
        prop_assert_eq!(left.len(), count);
        for first in 0..left.len() {
            let mut owed = Duration::ZERO;
            let spare = if is_alone { Duration::ZERO } else { left[first].1 };
            for last in first + 1..left.len() {
                owed += left[last - 1].1;
                let passed = left[last].0 - left[first].0;
                prop_assert!(passed + spare >= owed, "{} to {}: {} of {}", first, last, passed, owed);
            }
        }
    }

    /// Checks the bound of Shreedhar and Varghese: of two flows that wait all the time, neither gets more than a turn and a
    /// frame ahead.
    #[test]
    fn flows_that_wait_all_the_time_have_equal_bytes_whatever_their_frames_are(
        lengths in prop::collection::vec((60_u32..1_515, 60_u32..1_515, 60_u32..1_515), 20..60),
    ) {
        let mut queue = Queue::new(true);
        let mut left = [0_usize; 3];
        for (a, b, c) in &lengths {
            for (port, length) in [(0, *a), (1, *b), (2, *c)] {
                queue.push(HostFrame { captured: datagram(port, &[]), wire_len: length, number: port.into(), ..HostFrame::default() });
                left[usize::from(port)] += 1;
            }
        }
        let mut sent = [0_u32; 3];
        let mut frames = 3 * lengths.len();
        while left.iter().all(|count| *count > 0) {
            let frame = queue.pop().unwrap();
            sent[frame.number as usize] += frame.wire_len;
            left[frame.number as usize] -= 1;
            frames -= 1;
            let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
            prop_assert!(most - least <= 3 * 1_514, "{:?}", sent);
            prop_assert_eq!(queue.len(), frames);
        }
    }
}
