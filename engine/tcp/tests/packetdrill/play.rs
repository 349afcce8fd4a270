//! Plays a script against one of our endpoints with Linux's settings.

use std::collections::VecDeque;

use tcp::{Config, Connection, DelayedAck, Segment, Settings, State};
use units::{Bytes, Duration, Time};
use wire::tcp::{ACK, PSH, SYN};
use wire::tcp_options::{SackBlock, Timestamps};
use wire::Ecn;

use super::ours;
use super::parse::{Event, Packet, Script, What, When};

/// The result of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The numbers of statements about `TCP_INFO` that were compared and skipped.
    Passes {
        compared: usize,
        passed_over: usize,
    },
    /// The line, and the difference.
    Differs(usize, String),
    DoesNotApply(String),
}

// Just below the end of the numbers, so that a script wraps after two segments.
pub const OUR_ISN: u32 = u32::MAX - 1_500;
pub const PEER_ISN: u32 = u32::MAX - 1_200;

/// Returns Linux's settings from the scripts' `defaults.sh`, on a link with an MTU of 1500 bytes, as far as our endpoints support them.
fn linux(script: &Script) -> Result<Config, String> {
    let connects =
        script.events.iter().any(|event| matches!(&event.what, What::Call { name, .. } if name == "connect"));
    let mut config = Config {
        delayed_ack: Some(DelayedAck { segments: 2, timer: Duration::from_ms(40) }),
        quick_acks: 16,
        prr: true,
        rack: true,
        frto: true,
        dsack: true,
        cwr_growth: false,
        slow_start_limit: None,
        receive_buffer: Some(Bytes::new(15 << 20)),
        reads_at_once: false,
        timestamps: Some(Duration::from_ms(1)),
        restart_after_idle: false,
        // tcp_rtt_estimator: SRTT + max(4 RTTVAR, 200 ms).
        clock_granularity: Duration::from_ms(200),
        syn_retries: 5,
        .."cubic".parse().expect("a name of the crate")
    };
    for (name, value) in &script.sysctls {
        match (name.as_str(), value.as_str()) {
            ("tcp_congestion_control", name) => {
                let name = if name == "reno" { "newreno" } else { name };
                config.algorithm = name.parse::<Config>().map_err(|error| error.to_string())?.algorithm;
            }
            ("tcp_slow_start_after_idle", value) => config.restart_after_idle = value != "0",
            ("tcp_ecn", value) => (config.ecn, config.accecn) = ecn_setting(value, connects)?,
            // How often Linux sends the AccECN option.
            ("tcp_ecn_option" | "tcp_ecn_option_beacon", _) => {}
            ("tcp_rmem", value) => {
                let bytes = value.parse().map_err(|_| format!("the setting tcp_rmem of {value}"))?;
                config.receive_buffer = Some(Bytes::new(bytes));
            }
            ("tcp_sack", value) => config.sack = value != "0",
            ("tcp_timestamps", value) => {
                config.timestamps = (value != "0").then(|| Duration::from_ms(1));
            }
            ("tcp_recovery", "0") => config.rack = false,
            ("tcp_early_retrans", "0") => {}
            (name, value) => return Err(format!("the setting {name}={value}")),
        }
    }
    Ok(config)
}

/// Interprets Linux's `tcp_ecn`: returns whether a connection uses ECN and AccECN, depending on the side that opens it.
fn ecn_setting(value: &str, connects: bool) -> Result<(bool, bool), String> {
    Ok(match (value, connects) {
        ("0", _) | ("2" | "5", true) => (false, false),
        ("1", _) | ("2", false) | ("4", true) => (true, false),
        ("3", _) | ("4" | "5", false) => (true, true),
        _ => return Err(format!("the setting tcp_ecn={value}")),
    })
}

pub struct Player {
    config: Config,
    pub tcp: Option<Connection>,
    pub now: Time,
    pub sent: VecDeque<(Time, Segment)>,
    /// Whether everything is compared, at its exact time, and nothing else may leave.
    is_ours: bool,
    /// Whether what leaves is not expected, because its number is.
    pub in_rounds: bool,
    /// Our timestamps minus the script's, from the first one sent.
    timestamps: Option<u32>,
    compares_timestamps: bool,
    /// The descriptor of the connection, once it differs from the listener's.
    accepted: Option<i64>,
    tolerance: Duration,
    pub compared: usize,
    passed_over: usize,
}

pub fn play(script: &Script) -> Outcome {
    let is_expectation = |event: &Event| matches!(event.what, What::Out(_) | What::Is(_));
    if !script.events.iter().any(is_expectation) {
        return Outcome::DoesNotApply("nothing is expected to leave".to_owned());
    }
    let config = match script.endpoint.as_ref().map_or_else(|| linux(script), |text| ours::endpoint(text)) {
        Ok(config) => config,
        Err(reason) => return Outcome::DoesNotApply(reason),
    };
    let is_ours = script.endpoint.is_some();
    let mut player = Player {
        config,
        tcp: None,
        now: Time::ZERO,
        sent: VecDeque::new(),
        is_ours,
        in_rounds: false,
        timestamps: is_ours.then_some(0),
        compares_timestamps: script.compares_timestamps || is_ours,
        accepted: None,
        tolerance: script.tolerance.unwrap_or(if is_ours { Duration::ZERO } else { Duration::from_ms(5) }),
        compared: 0,
        passed_over: 0,
    };
    let mut line = 0;
    match player.run(script, &mut line) {
        Ok(()) => Outcome::Passes { compared: player.compared, passed_over: player.passed_over },
        Err(Stop::Differs(what)) => Outcome::Differs(line, what),
        Err(Stop::DoesNotApply(what)) => Outcome::DoesNotApply(what),
    }
}

pub enum Stop {
    Differs(String),
    DoesNotApply(String),
}

pub fn differs<T>(what: String) -> Result<T, Stop> {
    Err(Stop::Differs(what))
}

impl Player {
    /// Plays all events; `line` is that of the latest.
    fn run(&mut self, script: &Script, line: &mut usize) -> Result<(), Stop> {
        if let Some(rtt) = script.established {
            self.establish(rtt)?;
        }
        for event in &script.events {
            *line = event.line;
            self.happen(event)?;
        }
        self.expect_nothing_more()
    }

    fn happen(&mut self, event: &Event) -> Result<(), Stop> {
        let (from, to) = match event.when {
            When::At(at) => (Time::ZERO + at, Time::ZERO + at),
            When::After(from, to) => (self.now + from, self.now + to),
        };
        if let What::Out(packet) = &event.what {
            return self.expect(from, to, packet);
        }
        self.advance(from);
        match &event.what {
            What::Call { name, result, .. } if name == "round" && self.is_ours => return self.round(*result),
            What::Call { name, result, .. } if name == "lose" && self.is_ours => return self.lose(*result),
            _ => self.expect_nothing_more()?,
        }
        match &event.what {
            What::Out(_) => Ok(()),
            What::In(packet) => self.receive(packet),
            What::Call { name, arguments, result } => self.call(name, arguments, *result),
            What::Assert(known, others) => {
                self.passed_over += others;
                known.iter().try_for_each(|(name, value)| self.compare(name, *value))
            }
            What::Is(values) => values.iter().try_for_each(|(name, value)| self.compare_ours(name, value)),
        }
    }

    /// Refuses what has left without being expected, in a script of ours.
    fn expect_nothing_more(&self) -> Result<(), Stop> {
        match self.sent.front().filter(|_| self.is_ours && !self.in_rounds) {
            Some((at, segment)) => differs(format!("nothing is expected, and at {at} leaves {segment:?}")),
            None => Ok(()),
        }
    }

    /// Runs the timers that are due by `to`.
    fn advance(&mut self, to: Time) {
        while let Some(due) = self.due().filter(|due| *due <= to) {
            self.now = self.now.max(due);
            if let Some(tcp) = &mut self.tcp {
                tcp.handle_timeout(self.now);
            }
            self.drain();
        }
        self.now = self.now.max(to);
    }

    fn due(&self) -> Option<Time> {
        self.tcp.as_ref().and_then(Connection::next_timeout)
    }

    pub fn drain(&mut self) {
        if let Some(tcp) = &mut self.tcp {
            self.sent.extend(
                std::iter::from_fn(|| tcp.poll_transmit(self.now)).map(|segment| (self.now, segment)),
            );
        }
    }

    fn receive(&mut self, packet: &Packet) -> Result<(), Stop> {
        let mut options = packet.options;
        for SackBlock { left, right } in std::mem::take(&mut options.sack).as_slice() {
            let [left, right] = [left, right].map(|edge| OUR_ISN.wrapping_add(*edge));
            options.sack.push(SackBlock { left, right });
        }
        if let Some(timestamps) = &mut options.timestamps {
            let offset = self.timestamps.unwrap_or(0);
            timestamps.echo_reply = timestamps.echo_reply.wrapping_add(offset);
        }
        let segment = Segment {
            sequence: PEER_ISN.wrapping_add(packet.start),
            acknowledgement: if packet.flags & ACK == 0 {
                0
            } else {
                OUR_ISN.wrapping_add(packet.acknowledgement.unwrap_or(0))
            },
            flags: packet.flags,
            ae: packet.ae,
            window: packet.window.unwrap_or(if self.is_ours { u16::MAX } else { 0 }),
            ecn: packet.ecn.unwrap_or(Ecn::NotEct),
            payload_len: packet.len,
            options,
        };
        let now = self.now;
        self.connection("a packet")?.handle_segment(now, &segment);
        self.drain();
        Ok(())
    }

    /// Compares our segments with an expected one, which may stand for several: Linux passes large ones to the network device.
    fn expect(&mut self, from: Time, to: Time, packet: &Packet) -> Result<(), Stop> {
        let latest = to + self.tolerance;
        while self.sent.is_empty() {
            match self.due() {
                Some(due) if due <= latest => self.advance(due),
                due => {
                    return differs(format!("nothing leaves: {}; the next timer is {due:?}", shown(packet)))
                }
            }
        }
        let (at, first) = self.sent.pop_front().expect("the queue is not empty");
        self.now = self.now.max(at);
        if at + self.tolerance < from || at > latest {
            return differs(format!("{first:?} leaves at {at}, expected {from} to {to}: {}", shown(packet)));
        }
        let mut whole = first;
        while whole.payload_len < packet.len {
            let next = whole.sequence.wrapping_add(whole.payload_len);
            // In scripts of ours, all segments but the last are whole.
            let is_short = |tcp: &Connection| u64::from(whole.payload_len) % tcp.mss().get() != 0;
            if self.is_ours && self.tcp.as_ref().is_some_and(is_short) {
                break;
            }
            match self.sent.front() {
                Some((_, segment))
                    if segment.payload_len > 0 && segment.sequence == next && segment.ecn == whole.ecn =>
                {
                    whole.payload_len += segment.payload_len;
                    whole.flags |= segment.flags;
                    self.sent.pop_front();
                }
                _ => break,
            }
        }
        self.match_packet(&whole, packet)
    }

    fn match_packet(&mut self, ours: &Segment, packet: &Packet) -> Result<(), Stop> {
        // With Linux's, PSH is not compared: stacks differ in where they set it within a burst.
        let ignored = if self.is_ours { 0 } else { PSH };
        let is_syn = ours.has(SYN);
        let same = |ours: u32, theirs: u32, what: &str| {
            if ours == theirs {
                Ok(())
            } else {
                differs(format!("{what} is {ours}, expected {theirs}: {}", shown(packet)))
            }
        };
        same((ours.flags & !ignored).into(), (packet.flags & !ignored).into(), "the set of flags")?;
        same(ours.ae.into(), packet.ae.into(), "AE")?;
        same(ours.sequence.wrapping_sub(OUR_ISN), packet.start, "the sequence number")?;
        same(ours.payload_len, packet.len, "the payload")?;
        if let (Some(ack), true) = (packet.acknowledgement, ours.has(ACK)) {
            same(ours.acknowledgement.wrapping_sub(PEER_ISN), ack, "the acknowledgement number")?;
        }
        if self.is_ours {
            same(ours.window.into(), packet.window.unwrap_or(u16::MAX).into(), "the window")?;
        }
        // With AccECN, Linux also sends pure ACKs ECN-capable; ours follow RFC 3168.
        let is_left_open = self.config.accecn && packet.len == 0 && !self.is_ours;
        self.passed_over += usize::from(packet.accecn_option) + usize::from(is_left_open);
        let unmarked = self.is_ours.then_some(Ecn::NotEct);
        if let Some(ecn) = packet.ecn.or(unmarked).filter(|_| !is_left_open) {
            same(ours.ecn as u32, ecn as u32, "the codepoint")?;
        }
        if packet.any_options {
            return Ok(());
        }
        if is_syn {
            same(ours.options.mss.unwrap_or(0).into(), packet.options.mss.unwrap_or(0).into(), "the MSS")?;
            same(ours.options.sack_permitted.into(), packet.options.sack_permitted.into(), "sackOK")?;
            let scales = [ours.options.window_scale, packet.options.window_scale];
            let [scale, expected] = scales.map(|scale| scale.map_or(99, u32::from));
            same(scale, expected, "the window scale")?;
        }
        let blocks = ours.options.sack.as_slice().iter();
        let relative = |block: &SackBlock| {
            let [left, right] = [block.left, block.right].map(|edge| edge.wrapping_sub(PEER_ISN));
            SackBlock { left, right }
        };
        let blocks: Vec<_> = blocks.map(relative).collect();
        let expected = packet.options.sack.as_slice();
        if blocks != expected {
            return differs(format!("the SACK blocks are {blocks:?}, expected {expected:?}"));
        }
        match (ours.options.timestamps, packet.options.timestamps) {
            (Some(ours), Some(Timestamps { value, echo_reply })) => {
                let base = *self.timestamps.get_or_insert(ours.value.wrapping_sub(value));
                same(ours.echo_reply, echo_reply, "the timestamp's echo")?;
                let apart = ours.value.wrapping_sub(base).wrapping_sub(value) as i32;
                if self.compares_timestamps && apart.abs() > if self.is_ours { 0 } else { 5 } {
                    return differs(format!("the timestamp is {apart} ms off: {}", shown(packet)));
                }
                Ok(())
            }
            (None, None) => Ok(()),
            (ours, _) => differs(format!("timestamps are {ours:?}: {}", shown(packet))),
        }
    }

    pub fn settings(&self) -> Result<Settings, Stop> {
        self.config.clone().check().map_err(|error| Stop::DoesNotApply(error.to_string()))
    }

    fn call(&mut self, name: &str, arguments: &str, result: i64) -> Result<(), Stop> {
        let words: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
        match name {
            "socket" | "bind" | "fcntl" => {}
            "accept" => self.accepted = Some(result).filter(|result| *result >= 0),
            "setsockopt" => self.set(&words, arguments)?,
            "close" if self.accepted.is_some_and(|accepted| words[0].parse() != Ok(accepted)) => {}
            "listen" => {
                // Segments of an earlier connection belong to a closed socket.
                self.sent.clear();
                (self.accepted, self.timestamps) = (None, self.is_ours.then_some(0));
                self.tcp = Some(Connection::listen(&self.settings()?, OUR_ISN));
            }
            "connect" => {
                if self.tcp.is_none() {
                    self.tcp = Some(Connection::connect(&self.settings()?, OUR_ISN));
                }
            }
            "write" | "send" | "sendto" => {
                if words.iter().any(|word| word.starts_with("MSG_") && *word != "MSG_DONTWAIT") {
                    return Err(Stop::DoesNotApply(format!("{name} with {arguments}")));
                }
                let bytes = number(2);
                let worked = self.connection(name)?.send(bytes).is_ok();
                if worked != (result >= 0) {
                    return differs(format!("{name} of {bytes} bytes: {worked}, expected {result}"));
                }
            }
            "read" | "recv" => {
                let taken = self.connection(name)?.read(number(2));
                if result >= 0 && taken != result as u64 {
                    return differs(format!("{name} gives {taken} bytes, expected {result}"));
                }
            }
            "ioctl" if words.get(1) == Some(&"SIOCINQ") => {
                let unread = self.connection(name)?.bytes_unread();
                let expected = words.get(2).and_then(|word| word.trim_matches(['[', ']']).parse().ok());
                if Some(unread) != expected {
                    return differs(format!("{unread} bytes are unread, expected {expected:?}"));
                }
            }
            "abort" if self.is_ours => self.connection(name)?.abort(),
            "left_nic" if self.is_ours => {
                let bytes = number(1);
                let may_send = self.connection(name)?.left_nic(bytes);
                if may_send != (result == 1) {
                    return differs(format!("{name} of {bytes} bytes: {may_send}, expected {result}"));
                }
            }
            "shutdown" if words.get(1).is_some_and(|how| *how != "SHUT_RD") => self.connection(name)?.close(),
            "close" => {
                let Some(tcp) = &mut self.tcp else { return Ok(()) };
                // Like a socket: discarding unread data sends a reset (RFC 2525, 2.17), and an attempt to connect is given up.
                match tcp.state() {
                    State::Listen => {}
                    State::SynSent => tcp.abort(),
                    _ if tcp.bytes_unread() > 0 => tcp.abort(),
                    _ => tcp.close(),
                }
            }
            _ => return Err(Stop::DoesNotApply(format!("the call {name}({arguments})"))),
        }
        self.drain();
        Ok(())
    }

    fn set(&mut self, words: &[&str], arguments: &str) -> Result<(), Stop> {
        let value = words.get(3).map_or("", |word| word.trim_matches(['[', ']', '"']));
        match words.get(2).copied().unwrap_or_default() {
            // Buffers larger than the data sent, and Nagle's algorithm, which our endpoints lack.
            "SO_REUSEADDR" | "SO_SNDBUF" | "TCP_NODELAY" => Ok(()),
            "TCP_MAXSEG" if self.tcp.is_none() => {
                self.config.mss = value.parse().unwrap_or(self.config.mss);
                Ok(())
            }
            "TCP_CONGESTION" if self.tcp.is_none() => {
                let name = if value == "reno" { "newreno" } else { value };
                let config: Config =
                    name.parse().map_err(|_| Stop::DoesNotApply(format!("the algorithm {value}")))?;
                self.config.algorithm = config.algorithm;
                Ok(())
            }
            _ => Err(Stop::DoesNotApply(format!("setsockopt({arguments})"))),
        }
    }

    /// Returns the connection, which `name` needs.
    pub fn connection(&mut self, name: &str) -> Result<&mut Connection, Stop> {
        self.tcp.as_mut().ok_or_else(|| Stop::DoesNotApply(format!("{name} without a connection")))
    }

    /// Compares a value of `TCP_INFO` with ours.
    fn compare(&mut self, name: &str, expected: i64) -> Result<(), Stop> {
        let mss = self.config.mss;
        let tcp = self.connection("TCP_INFO")?;
        let segments = |bytes: Bytes| (bytes.get() / tcp.mss().get()) as i64;
        let value = match name {
            "snd_cwnd" => segments(tcp.cwnd()),
            "snd_ssthresh" => tcp.ssthresh().map_or(0x7fff_ffff, segments),
            "unacked" => tcp.in_flight().get().div_ceil(tcp.mss().get()) as i64,
            "snd_mss" => tcp.mss().get() as i64,
            "advmss" => mss.into(),
            _ => {
                self.passed_over += 1;
                return Ok(());
            }
        };
        self.compared += 1;
        if value != expected {
            return differs(format!("{name} is {value}, expected {expected}"));
        }
        Ok(())
    }
}

fn shown(packet: &Packet) -> String {
    format!("flags {:#x}, {}({}) ack {:?}", packet.flags, packet.start, packet.len, packet.acknowledgement)
}
