//! One of our endpoints against Linux's TCP, through a TUN device on standard input and output, with a delay, chosen losses and chosen ECN marks.
//!
//! `linux.py` opens the device, starts this program and Linux's side, and compares them. Arguments: our address, Linux's address, its port, bytes
//! to send (0: receive), the algorithm, the one-way delay in ms, and comma-separated numbers of the data segments to lose and to mark on their
//! first transmission. With marks, our endpoint uses ECN. It prints the result as one line of JSON.

#![allow(clippy::print_stderr)] // Standard output is the device.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Read, Write};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::time::Instant;

use tcp::{Config, Connection, DelayedAck, Segment, State};
use units::{Bytes, Duration, Time};
use wire::build::{tcp_headers, Addresses};
use wire::{Ecn, Network};

/// An Ethernet header, which `wire` expects and a TUN device does not carry.
const ETHERNET: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
const OUR_PORT: u16 = 40_000;
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the settings that Linux uses for a connection.
fn linux(algorithm: &str, ecn: bool) -> Config {
    Config {
        ecn,
        delayed_ack: Some(DelayedAck { segments: 2, timer: Duration::from_ms(40) }),
        quick_acks: 16,
        slow_start_limit: None,
        cwr_growth: false,
        rack: true,
        prr: true,
        receive_buffer: Some(Bytes::new(4 << 20)),
        timestamps: Some(Duration::from_ms(1)),
        clock_granularity: Duration::from_ms(200),
        ..algorithm.parse().expect("a name of the crate")
    }
}

/// The path's observations of the direction that carries data.
#[derive(Default)]
struct Path {
    lost: Vec<u64>,
    to_mark: Vec<u64>,
    marked: u64,
    first: Option<u32>,
    began: Time,
    /// Bytes after the first one: highest sent, highest acknowledged.
    sent: u32,
    acknowledged: u32,
    segments: u64,
    retransmitted: u64,
    done: Time,
    /// Largest flight in each round-trip time (without queues), in segments.
    peaks: Vec<u32>,
}

impl Path {
    /// Handles a segment of the sender that enters the path: marks it if it is to be marked, and returns whether it is lost.
    fn enters(&mut self, now: Time, segment: &mut Segment, rtt: Duration) -> bool {
        if segment.payload_len == 0 {
            return false;
        }
        let first = *self.first.get_or_insert_with(|| {
            self.began = now;
            segment.sequence
        });
        let end = segment.sequence.wrapping_sub(first).wrapping_add(segment.payload_len);
        if end <= self.sent {
            self.retransmitted += 1;
            return false;
        }
        (self.sent, self.segments) = (end, self.segments + 1);
        let round = (now.saturating_since(self.began).as_ps() / rtt.as_ps()) as usize;
        let mss = 1_448;
        self.peaks.resize(self.peaks.len().max(round + 1), 0);
        self.peaks[round] = self.peaks[round].max((self.sent - self.acknowledged).div_ceil(mss));
        if self.to_mark.contains(&self.segments) && segment.ecn == Ecn::Ect0 {
            segment.ecn = Ecn::Ce;
            self.marked += 1;
        }
        self.lost.contains(&self.segments)
    }

    /// Records an acknowledgement that reaches the sender.
    fn acknowledges(&mut self, now: Time, segment: &Segment) {
        let Some(first) = self.first else { return };
        // The FIN's offset is not data.
        let offset = segment.acknowledgement.wrapping_sub(first).min(self.sent);
        if offset > self.acknowledged {
            (self.acknowledged, self.done) = (offset, now);
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [ours, linuxs, port, bytes, algorithm, delay_ms, lost, marked] = &arguments[..] else {
        eprintln!("arguments: OUR_ADDRESS LINUX_ADDRESS PORT BYTES ALGORITHM DELAY_MS LOST MARKED");
        std::process::exit(2);
    };
    let address = |text: &str| text.parse::<IpAddr>().expect("an address");
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let addresses = Addresses {
        source_mac: [2, 0, 0, 0, 0, 2],
        destination_mac: [2, 0, 0, 0, 0, 1],
        source: address(ours),
        destination: address(linuxs),
        ecn: Ecn::NotEct,
    };
    let (bytes, delay) = (number(bytes), Duration::from_ms(number(delay_ms)));
    let rtt = delay.saturating_mul(2);
    let numbers = |text: &str| text.split(',').filter(|one| !one.is_empty()).map(number).collect();
    let mut path = Path { lost: numbers(lost), to_mark: numbers(marked), ..Path::default() };

    // Without the buffers of standard input and output, a write is a packet.
    let device = |fd: std::os::fd::BorrowedFd<'_>| {
        std::fs::File::from(fd.try_clone_to_owned().expect("standard input and output are open"))
    };
    let (mut from_linux, mut to_linux) =
        (device(std::io::stdin().as_fd()), device(std::io::stdout().as_fd()));
    let (packets, incoming) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(len) = from_linux.read(&mut buffer) {
            if packets.send([&ETHERNET[..], &buffer[..len]].concat()).is_err() {
                break;
            }
        }
    });

    let begun = Instant::now();
    let clock = || Time::ZERO + Duration::from_ns(begun.elapsed().as_nanos() as u64);
    let settings = linux(algorithm, !marked.is_empty()).check().expect("settings of Linux");
    let mut tcp = Connection::connect(&settings, 1_000);
    if bytes > 0 {
        tcp.send(bytes).expect("a transfer fits a connection");
        tcp.close();
    }
    // Segments in flight: arrival time, order, whether to us, and the segment.
    let mut under_way: BinaryHeap<Reverse<(Time, usize, bool)>> = BinaryHeap::new();
    let mut places: Vec<Segment> = Vec::new();
    loop {
        let now = clock();
        let next = under_way.peek().copied().filter(|Reverse((due, ..))| *due <= now);
        if let Some(Reverse((_, place, to_us))) = next {
            under_way.pop();
            let segment: Segment = places[place];
            if to_us {
                if bytes > 0 {
                    path.acknowledges(now, &segment);
                }
                tcp.handle_segment(now, &segment);
                if tcp.peer_has_closed() {
                    tcp.close();
                }
            } else {
                if bytes == 0 {
                    path.acknowledges(now, &segment);
                }
                let mut frame = Vec::new();
                let addresses = Addresses { ecn: segment.ecn, ..addresses };
                let fields = segment.fields(OUR_PORT, number(port) as u16);
                tcp_headers(&mut frame, &addresses, &fields, segment.payload_len as usize);
                frame.resize(frame.len() + segment.payload_len as usize, 0);
                to_linux.write_all(&frame[ETHERNET.len()..]).expect("the device takes a packet");
            }
        }
        // Handles one arrival at a time: what it triggers leaves before the next one.
        tcp.handle_timeout(now);
        while let Some(mut segment) = tcp.poll_transmit(now) {
            if bytes > 0 && path.enters(now, &mut segment, rtt) {
                continue;
            }
            places.push(segment);
            under_way.push(Reverse((now + delay, places.len() - 1, false)));
        }
        if matches!(tcp.state(), State::TimeWait | State::Closed) && under_way.is_empty() {
            break;
        }
        assert!(now < Time::ZERO + PATIENCE, "the transfer does not end: {:?}", tcp.state());
        let due = under_way.peek().map(|Reverse((due, _, _))| *due);
        let due = due.into_iter().chain(tcp.next_timeout()).min().unwrap_or(now + Duration::from_ms(100));
        let wait = due.saturating_since(clock()).as_ps() / 1_000;
        if let Ok(frame) = incoming.recv_timeout(std::time::Duration::from_nanos(wait.min(100_000_000))) {
            let Some(network @ Network::Ipv4(packet)) = Network::of(&frame) else { continue };
            let Some(header) = wire::tcp::Segment::new_checked(packet.payload()) else { continue };
            let len = packet.payload_len().unwrap_or(0).saturating_sub(header.header_len()) as u32;
            let mut segment = Segment::of_wire(&header, network.ecn().unwrap_or(Ecn::NotEct), len);
            let now = clock();
            if bytes == 0 && path.enters(now, &mut segment, rtt) {
                continue;
            }
            places.push(segment);
            under_way.push(Reverse((now + delay, places.len() - 1, true)));
        }
    }
    let took_us = path.done.saturating_since(path.began).as_ps() / 1_000_000;
    eprintln!(
        "{{\"bytes\": {}, \"took_us\": {took_us}, \"retransmitted\": {}, \"marked\": {}, \"peaks\": {:?}}}",
        path.acknowledged, path.retransmitted, path.marked, path.peaks
    );
}
