//! Random packets. A description gives both the bytes and the expected outcome, so nothing here parses a frame.

use proptest::prelude::*;

/// `packet_class_t` of types.p4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Data,
    Ack,
    AckEce,
    Syn,
    SynAck,
    FinRst,
    Other,
    Control,
}

pub const NOT_ECT: u8 = 0;
pub const ECT_1: u8 = 1;
pub const CE: u8 = 3;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    Whole,
    First,
    Later,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    V4 { option_words: u8, fragment: Fragment },
    V6 { has_extension: bool },
    NotIp,
    // A MAC control frame, unless it is tagged.
    MacControl,
}

impl Network {
    fn is_ip(self) -> bool {
        matches!(self, Network::V4 { .. } | Network::V6 { .. })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Tcp { flags: u8, option_words: u8 },
    Udp,
    Icmp,
}

/// The defect of a packet. Defects that a packet cannot have leave it unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    None,
    Version,
    /// IPv4 header shorter than five words.
    HeaderLength,
    /// The IP packet is longer than the frame.
    TooLong,
    /// The IPv4 packet is shorter than its header.
    TooShort,
    Checksum,
    /// TCP header shorter than five words.
    DataOffset,
    /// The IP packet ends within the TCP or UDP header.
    TransportCut,
    /// The frame ends within the IP packet: this number of 256ths of the way.
    FrameCut(u8),
}

/// The destination of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One of the ports that the test observes.
    Port(u8),
    /// No route leads to it.
    Nowhere,
    /// A route leads to the CPU port.
    Controller,
    /// The frame is addressed to another station.
    Elsewhere,
    /// The number of one of [`MARTIANS`].
    Martian(u8),
}

/// Addresses that no router forwards, for IPv4 and IPv6, and whether the source has them.
pub const MARTIANS: [([u8; 4], [u8; 16], bool); 8] = [
    ([127, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], false),
    ([127, 255, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], true),
    ([0, 0, 0, 0], [0; 16], true),
    ([224, 0, 0, 5], [0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5], false),
    ([239, 255, 255, 255], [0xFF; 16], true),
    ([255, 255, 255, 255], [0xFF; 16], false),
    ([169, 254, 1, 1], [0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], false),
    ([169, 254, 255, 255], [0xFE, 0xBF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], true),
];

#[derive(Clone, Debug)]
pub struct Packet {
    /// VLAN tags, at most three; two are parsed through.
    pub tags: u8,
    pub network: Network,
    pub transport: Transport,
    pub payload: u16,
    /// Bytes after the IP packet.
    pub padding: u8,
    pub ecn: u8,
    pub dscp: u8,
    pub ttl: u8,
    pub source_port: u16,
    pub damage: Damage,
    pub target: Target,
    /// A packet-out for its target, in place of a packet from a port.
    pub is_packet_out: bool,
}

/// Addresses of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub macs: [[u8; 6]; 2],
    pub v4: [[u8; 4]; 2],
    pub v6: [[u8; 16]; 2],
}

/// A packet as it is sent, with its properties.
#[derive(Clone, Debug)]
pub struct Built {
    /// With the header of a packet-out, if it is one.
    pub bytes: Vec<u8>,
    pub class: Class,
    pub is_malformed: bool,
    pub is_ip: bool,
    /// [`NOT_ECT`] unless it is well-formed IP.
    pub ecn: u8,
    /// A well-formed TCP packet with ECE.
    pub has_ece: bool,
    ip_at: usize,
    ip_header: usize,
    is_v6: bool,
}

impl Packet {
    /// Returns the bytes of a packet-out through port `out`, or of a packet from a port.
    pub fn build(&self, ends: &Ends, out: u16) -> Built {
        let network = if self.tags > 2 { Network::NotIp } else { self.network };
        let is_parsed = matches!(
            network,
            Network::V4 { fragment: Fragment::Whole, .. } | Network::V6 { has_extension: false }
        );
        let (mut segment, protocol) = self.segment(is_parsed, matches!(network, Network::V6 { .. }));
        let smallest = match self.transport {
            Transport::Tcp { .. } => 20,
            Transport::Udp => 8,
            Transport::Icmp => 0,
        };
        let mut is_malformed = is_parsed && self.damage == Damage::DataOffset && protocol == 6;
        let mut padding = usize::from(self.padding);
        if is_parsed && self.damage == Damage::TransportCut && smallest > 0 {
            padding += segment.len() - (smallest - 1);
            segment.truncate(smallest - 1);
            is_malformed = true;
        }

        let mut bytes = Vec::new();
        if self.is_packet_out {
            bytes.extend((out << 7).to_be_bytes());
        }
        let frame_at = bytes.len();
        bytes.extend(ends.macs[1]);
        bytes.extend(ends.macs[0]);
        for tag in 0..self.tags {
            bytes.extend(if tag == 0 && self.tags > 1 { [0x88, 0xa8] } else { [0x81, 0x00] });
            bytes.extend([0x60, tag + 1]);
        }
        let ether_type: u16 = match network {
            Network::V4 { .. } => 0x0800,
            Network::V6 { .. } => 0x86dd,
            Network::NotIp => 0x0806,
            Network::MacControl => 0x8808,
        };
        bytes.extend(ether_type.to_be_bytes());
        let ip_at = bytes.len();
        let ip_header = match network {
            Network::V4 { option_words, fragment } => {
                is_malformed |=
                    self.add_v4(&mut bytes, ends, protocol, option_words, fragment, segment.len(), padding);
                20 + 4 * usize::from(option_words)
            }
            Network::V6 { has_extension } => {
                is_malformed |=
                    self.add_v6(&mut bytes, ends, protocol, has_extension, segment.len(), padding);
                40
            }
            Network::NotIp | Network::MacControl => 0,
        };
        bytes.extend(&segment);
        let ip_end = bytes.len();
        bytes.resize(bytes.len() + padding, 0xa5);
        if let (Damage::FrameCut(part), true) = (self.damage, network.is_ip()) {
            // The Ethernet header stays: a frame must have one.
            let shortest = frame_at + 14;
            bytes.truncate(shortest + (ip_end - shortest - 1) * usize::from(part) / 255);
            is_malformed = true;
        }

        let is_control = network == Network::MacControl && self.tags == 0;
        // A pause of a priority (opcode 0x0101) is for 01:80:c2:00:00:01, and this frame is not.
        let has_opcode = bytes.get(ip_at..ip_at + 2).is_some_and(|opcode| opcode != [1, 1]);
        is_malformed |= is_control && !has_opcode;
        let is_tcp = is_parsed && protocol == 6 && !is_malformed;
        let flags = if let Transport::Tcp { flags, .. } = self.transport { flags } else { 0 };
        Built {
            bytes,
            class: match () {
                () if is_tcp => class_of(flags, self.payload > 0),
                () if is_control && has_opcode => Class::Control,
                () => Class::Other,
            },
            is_malformed,
            is_ip: network.is_ip(),
            ecn: if is_malformed || !network.is_ip() { NOT_ECT } else { self.ecn },
            has_ece: is_tcp && flags & ECE != 0,
            ip_at,
            ip_header,
            is_v6: matches!(network, Network::V6 { .. }),
        }
    }

    /// Returns the TCP, UDP or ICMP bytes, and the protocol number.
    fn segment(&self, is_parsed: bool, is_v6: bool) -> (Vec<u8>, u8) {
        let mut bytes = Vec::new();
        let ports = [self.source_port.to_be_bytes(), 8080u16.to_be_bytes()].concat();
        let protocol = match self.transport {
            Transport::Tcp { flags, option_words } => {
                let is_short = is_parsed && self.damage == Damage::DataOffset;
                let offset = if is_short { 4 } else { 5 + option_words };
                bytes.extend(ports);
                bytes.extend([0, 0, 0, 1, 0, 0, 0, 2, offset << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
                bytes.resize(20 + 4 * usize::from(option_words), 1);
                6
            }
            Transport::Udp => {
                bytes.extend(ports);
                bytes.extend((8 + self.payload).to_be_bytes());
                bytes.extend([0, 0]);
                17
            }
            Transport::Icmp if is_v6 => 58,
            Transport::Icmp => 1,
        };
        bytes.resize(bytes.len() + usize::from(self.payload), 0x5a);
        (bytes, protocol)
    }

    /// Adds an IPv4 header. Returns whether it is malformed.
    #[allow(clippy::too_many_arguments)]
    fn add_v4(
        &self,
        bytes: &mut Vec<u8>,
        ends: &Ends,
        protocol: u8,
        option_words: u8,
        fragment: Fragment,
        segment: usize,
        padding: usize,
    ) -> bool {
        let length = 20 + 4 * usize::from(option_words);
        let (mut version, mut words, mut total) = (4, 5 + option_words, length + segment);
        match self.damage {
            Damage::Version => version = 5,
            Damage::HeaderLength => words = 4,
            Damage::TooLong => total += padding + 1,
            Damage::TooShort => total = length - 1,
            _ => {}
        }
        let flags: [u8; 2] = match fragment {
            Fragment::Whole => [0x40, 0],
            Fragment::First => [0x20, 0],
            Fragment::Later => [0x00, 185],
        };
        let mut header = vec![version << 4 | words, self.dscp << 2 | self.ecn];
        header.extend((total as u16).to_be_bytes());
        header.extend([self.dscp, self.payload as u8, flags[0], flags[1], self.ttl, protocol, 0, 0]);
        header.extend(ends.v4[0]);
        header.extend(ends.v4[1]);
        header.resize(length, 1);
        let sum = wire::checksum::internet(&header) ^ u16::from(self.damage == Damage::Checksum);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend(header);
        use Damage::{Checksum, HeaderLength, TooLong, TooShort, Version};
        matches!(self.damage, Version | HeaderLength | TooLong | TooShort | Checksum)
    }

    /// Adds an IPv6 header. Returns whether it is malformed.
    fn add_v6(
        &self,
        bytes: &mut Vec<u8>,
        ends: &Ends,
        protocol: u8,
        has_extension: bool,
        segment: usize,
        padding: usize,
    ) -> bool {
        let version = if self.damage == Damage::Version { 4 } else { 6 };
        let length = if self.damage == Damage::TooLong { segment + padding + 1 } else { segment };
        let next = if has_extension { 0 } else { protocol };
        bytes.extend([version << 4 | self.dscp >> 2, self.dscp << 6 | self.ecn << 4, 0x12, 0x34]);
        bytes.extend((length as u16).to_be_bytes());
        bytes.extend([next, self.ttl]);
        bytes.extend(ends.v6[0]);
        bytes.extend(ends.v6[1]);
        matches!(self.damage, Damage::Version | Damage::TooLong)
    }
}

impl Built {
    /// Returns the frame as a switch forwards it: new MAC addresses, one hop less, and CE if it was marked.
    pub fn forwarded(&self, macs: [[u8; 6]; 2], is_marked: bool) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[..6].copy_from_slice(&macs[1]);
        bytes[6..12].copy_from_slice(&macs[0]);
        bytes[self.ip_at + if self.is_v6 { 7 } else { 8 }] -= 1;
        self.rewrite(bytes, is_marked)
    }

    /// Returns the frame of a packet-out as a switch sends it: without the header, and with CE if it was marked.
    pub fn unwrapped(&self, is_marked: bool) -> Vec<u8> {
        if is_marked {
            self.rewrite(self.bytes.clone(), true).split_off(2)
        } else {
            self.bytes[2..].to_vec()
        }
    }

    /// Sets CE, and recomputes the IPv4 checksum.
    fn rewrite(&self, mut bytes: Vec<u8>, is_marked: bool) -> Vec<u8> {
        let ip = &mut bytes[self.ip_at..];
        if is_marked {
            ip[1] |= if self.is_v6 { CE << 4 } else { CE };
        }
        if !self.is_v6 {
            ip[10..12].fill(0);
            let sum = wire::checksum::internet(&ip[..self.ip_header]);
            ip[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }

    /// Returns the bytes in the queue: those of the frame.
    pub fn queued_bytes(&self, is_packet_out: bool) -> u64 {
        self.bytes.len() as u64 - if is_packet_out { 2 } else { 0 }
    }
}

/// Returns the first class that applies, in the order of types.p4.
fn class_of(flags: u8, has_payload: bool) -> Class {
    let has = |flag| flags & flag != 0;
    match () {
        () if has(SYN) && has(ACK) => Class::SynAck,
        () if has(SYN) => Class::Syn,
        () if has(FIN) || has(RST) => Class::FinRst,
        () if has_payload => Class::Data,
        () if has(ACK) && has(ECE) => Class::AckEce,
        () if has(ACK) => Class::Ack,
        () => Class::Other,
    }
}

/// Returns any packet from a port; half of them are plain TCP over IPv4 for the first target.
pub fn packets() -> BoxedStrategy<Packet> {
    let flags = prop_oneof![
        6 => Just(ACK),
        2 => Just(ACK | ECE),
        1 => Just(SYN),
        1 => Just(SYN | ECE | 0x80),
        1 => Just(SYN | ACK),
        1 => Just(SYN | ACK | ECE),
        1 => Just(FIN | ACK),
        1 => any::<u8>(),
    ];
    let tcp = (flags, prop_oneof![4 => Just(0), 1 => 0..=10u8])
        .prop_map(|(flags, option_words)| Transport::Tcp { flags, option_words });
    let transport = prop_oneof![8 => tcp, 1 => Just(Transport::Udp), 1 => Just(Transport::Icmp)].boxed();
    let fragment =
        prop_oneof![8 => Just(Fragment::Whole), 1 => Just(Fragment::First), 1 => Just(Fragment::Later)];
    let v4 = (prop_oneof![4 => Just(0), 1 => 0..=10u8], fragment)
        .prop_map(|(option_words, fragment)| Network::V4 { option_words, fragment });
    let v6 = prop::bool::weighted(0.2).prop_map(|has_extension| Network::V6 { has_extension });
    let network =
        prop_oneof![24 => v4, 8 => v6, 2 => Just(Network::NotIp), 1 => Just(Network::MacControl)].boxed();
    let damage = prop_oneof![
        12 => Just(Damage::None),
        1 => prop_oneof![
            Just(Damage::Version),
            Just(Damage::HeaderLength),
            Just(Damage::TooLong),
            Just(Damage::TooShort),
            Just(Damage::Checksum),
            Just(Damage::DataOffset),
            Just(Damage::TransportCut),
            any::<u8>().prop_map(Damage::FrameCut),
        ],
    ]
    .boxed();
    let target = prop_oneof![
        16 => Just(Target::Port(0)),
        5 => Just(Target::Port(1)),
        1 => Just(Target::Nowhere),
        1 => Just(Target::Controller),
        1 => Just(Target::Elsewhere),
        1 => (0..MARTIANS.len() as u8).prop_map(Target::Martian),
    ];
    let payload = prop_oneof![3 => Just(0), 4 => Just(946), 3 => 0..1400u16];
    let headers = (prop_oneof![6 => Just(0), 1 => 0..=3u8], network, transport, payload);
    let bits =
        (prop_oneof![4 => Just(0), 1 => 0..47u8], 0..4u8, 0..64u8, prop_oneof![9 => 2..=255u8, 1 => 0..2u8]);
    let rest = (any::<u16>(), damage, target, prop::bool::weighted(0.05));
    (headers, bits, rest)
        .prop_map(
            |(
                (tags, network, transport, payload),
                (padding, ecn, dscp, ttl),
                (source_port, damage, target, is_packet_out),
            )| Packet {
                tags,
                network,
                transport,
                payload,
                padding,
                ecn,
                dscp,
                ttl,
                source_port,
                damage,
                target,
                is_packet_out,
            },
        )
        .boxed()
}
