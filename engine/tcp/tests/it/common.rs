//! A script: one endpoint, and a peer whose segments the test defines.
//!
//! Our sequence numbers start at 1000, the peer's at 5000: our first byte is 1001, the peer's 5001.

use tcp::{Config, Connection, DelayedAck, Segment, State};
use units::{Duration, Time};
use wire::tcp::{ACK, ECE, SYN};
use wire::tcp_options::{Options, SackBlock, SackBlocks, Timestamps};
use wire::Ecn;

pub const OUR_ISN: u32 = 1000;
pub const PEER_ISN: u32 = 5000;
/// Payload of a full segment in scripts, chosen for readable numbers.
pub const MSS: u32 = 1000;

/// Returns settings for scripts: segments of 1000 bytes, each acknowledged at once.
pub fn config(name: &str) -> Config {
    Config { mss: MSS as u16, delayed_ack: None, ..name.parse().unwrap() }
}

/// Every second segment or 40 ms.
pub const DELAYED: Option<DelayedAck> = Some(DelayedAck { segments: 2, timer: Duration::from_ms(40) });

pub fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns the sequence number of byte `offset` of our data, from 0.
pub fn ours(offset: u32) -> u32 {
    (OUR_ISN + 1).wrapping_add(offset)
}

/// Returns the sequence number of byte `offset` of the peer's data.
pub fn theirs(offset: u32) -> u32 {
    (PEER_ISN + 1).wrapping_add(offset)
}

pub struct Script {
    pub tcp: Connection,
    pub now: Time,
}

impl Script {
    pub fn connect(config: Config) -> Self {
        let tcp = Connection::connect(&config.check().unwrap(), OUR_ISN);
        Self { tcp, now: Time::ZERO }
    }

    /// Returns an established connection that we opened. The peer accepts all our options, and sends the SYN-ACK after `rtt`.
    pub fn established(config: Config, rtt: Duration) -> Self {
        let mut script = Self::connect(config);
        let syn = script.expect_one();
        script.now += rtt;
        let timestamps = syn.options.timestamps.map(|ours| Timestamps { value: 77, echo_reply: ours.value });
        let options = Options { timestamps, ..syn.options };
        let flags = SYN | ACK | (syn.flags & ECE);
        script.receive(Segment { flags, options, ..script.peer_segment(PEER_ISN, OUR_ISN + 1) });
        let ack = script.expect_one();
        assert!(ack.is_pure_ack(), "{ack:?}");
        assert_eq!(script.tcp.state(), State::Established);
        // Later windows are scaled.
        script.ack(0);
        script
    }

    /// Returns the same, with `bytes` written and what the window allows of them sent.
    pub fn sending(config: Config, rtt: Duration, bytes: u64) -> Self {
        let mut script = Self::established(config, rtt);
        script.write(bytes);
        script
    }

    /// Returns a segment of the peer without payload.
    pub fn peer_segment(&self, sequence: u32, acknowledgement: u32) -> Segment {
        Segment {
            sequence,
            acknowledgement,
            flags: ACK,
            ae: false,
            window: u16::MAX,
            ecn: Ecn::NotEct,
            payload_len: 0,
            options: Options::default(),
        }
    }

    pub fn receive(&mut self, segment: Segment) {
        self.tcp.handle_segment(self.now, &segment);
    }

    /// Delivers an ACK of our data up to `offset`.
    pub fn ack(&mut self, offset: u32) {
        self.receive(self.peer_segment(theirs(0), ours(offset)));
    }

    /// Delivers the same with ECE.
    pub fn ack_ece(&mut self, offset: u32) {
        self.receive(Segment { flags: ACK | ECE, ..self.peer_segment(theirs(0), ours(offset)) });
    }

    /// Delivers a (duplicate) ACK with SACK blocks of our data.
    pub fn sack(&mut self, offset: u32, blocks: &[(u32, u32)]) {
        let mut sack = SackBlocks::default();
        for (left, right) in blocks {
            sack.push(SackBlock { left: ours(*left), right: ours(*right) });
        }
        let options = Options { sack, ..Options::default() };
        self.receive(Segment { options, ..self.peer_segment(theirs(0), ours(offset)) });
    }

    /// Returns everything that we send now.
    pub fn sent(&mut self) -> Vec<Segment> {
        std::iter::from_fn(|| self.tcp.poll_transmit(self.now)).collect()
    }

    /// Returns the start offsets of the data segments that we send now.
    pub fn sent_data(&mut self) -> Vec<u32> {
        let sent = self.sent();
        assert!(sent.iter().all(|segment| segment.payload_len > 0), "not only data: {sent:?}");
        sent.iter().map(|segment| segment.sequence - ours(0)).collect()
    }

    /// Writes data, and sends what the window allows of it.
    pub fn write(&mut self, bytes: u64) {
        self.tcp.send(bytes).unwrap();
        self.sent();
    }

    pub fn expect_one(&mut self) -> Segment {
        let sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent[0]
    }

    pub fn wait(&mut self, span: Duration) {
        self.now += span;
    }

    /// Runs the next timer.
    pub fn time_out(&mut self) {
        self.now = self.tcp.next_timeout().expect("no timer runs");
        self.tcp.handle_timeout(self.now);
    }

    /// Runs one round trip in which everything that was `under_way` is acknowledged `rtt` after its departure, each segment by an
    /// ACK. Returns what was sent then.
    pub fn round(&mut self, under_way: Vec<u32>, rtt: Duration) -> Vec<u32> {
        self.wait(rtt);
        let mut sent = Vec::new();
        for start in under_way {
            self.ack(start + 1_000);
            sent.extend(self.sent_data());
        }
        sent
    }

    pub fn cwnd(&self) -> u64 {
        self.tcp.cwnd().get()
    }
}
