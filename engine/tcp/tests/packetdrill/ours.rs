//! What scripts of ours have beyond packetdrill's language: settings of the endpoint, the handshake in one line, values, and rounds.
//!
//! In these scripts everything that leaves is expected, whole and at its exact time. The peer's window is 65535 unless it is told,
//! and what is not told to be ECN-capable is not.
//!
//! For exchanges that are too long to be told: `10 times {` begins what happens ten times, up to the line `}`. `round(4) = 20`
//! acknowledges all that has left and was not expected, each segment by an ACK, whereupon 20 segments leave. `lose(4) = 20`: 20
//! such segments are lost. From the first round to a loss, nothing needs to be expected.

use std::fmt::Display;

use serde_json::{json, Value};
use tcp::{Config, Connection, HyStart, Segment, State};
use units::{Bytes, Duration, Time};
use wire::tcp::{ACK, ECE, SYN};
use wire::tcp_options::{Options, Timestamps};
use wire::Ecn;

use super::play::{differs, Player, Stop, OUR_ISN, PEER_ISN};

/// Returns the settings `newreno rack retries=3`: one of the crate's names, with segments of 1000 bytes that are each
/// acknowledged at once, and what differs from it.
pub fn endpoint(text: &str) -> Result<Config, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let mut config: Config = name.parse().map_err(|error| format!("{error}"))?;
    let mut json = json!({"algorithm": name, "ecn": config.ecn, "mss": 1_000, "delayed_ack": null});
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((word, "true"));
        let wrong = |_| format!("the setting {word}");
        match (name, value.split_once('/'), value.parse::<Duration>()) {
            // Fields that JSON does not have, or of which it would have to give the parts.
            ("hystart", _, _) => config.hystart = Some(HyStart::default()),
            ("reads_at_once", _, _) => config.reads_at_once = value == "true",
            ("retries", _, _) => config.retries = value.parse().map_err(|_| format!("the setting {word}"))?,
            ("delayed_ack", Some((segments, timer)), _) => {
                let segments: Value = serde_json::from_str(segments).map_err(wrong)?;
                let timer: Duration = timer.parse().map_err(|_| format!("the setting {word}"))?;
                json[name] = json!({"segments": segments, "timer_ps": timer});
            }
            (_, _, Ok(span)) => json[format!("{name}_ps")] = json!(span),
            _ => json[name] = serde_json::from_str(value).unwrap_or_else(|_| json!(value)),
        }
    }
    let read: Config = serde_json::from_value(json).map_err(|error| error.to_string())?;
    let Config { hystart, reads_at_once, retries, .. } = config;
    Ok(Config { hystart, reads_at_once, retries, ..read })
}

fn told<T: Display>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

/// Returns the peer's timestamps in answer to ours.
fn echo(ours: Timestamps) -> Timestamps {
    Timestamps { value: 77, echo_reply: ours.value }
}

impl Player {
    /// Opens a connection to a peer that accepts all that our SYN offers, and whose SYN-ACK arrives after `rtt`.
    pub fn establish(&mut self, rtt: Duration) -> Result<(), Stop> {
        let mut tcp = Connection::connect(&self.settings()?, OUR_ISN);
        let syn = tcp.poll_transmit(self.now).expect("a SYN leaves at once");
        self.now += rtt;
        let timestamps = syn.options.timestamps.map(echo);
        let answer = Segment {
            sequence: PEER_ISN,
            acknowledgement: OUR_ISN.wrapping_add(1),
            flags: SYN | ACK | (syn.flags & ECE),
            ae: false,
            window: u16::MAX,
            ecn: Ecn::NotEct,
            payload_len: 0,
            options: Options { timestamps, ..syn.options },
        };
        tcp.handle_segment(self.now, &answer);
        let ack = tcp.poll_transmit(self.now).expect("an ACK leaves at once");
        assert!(ack.is_pure_ack() && tcp.state() == State::Established, "{ack:?}");
        // The first window that is scaled.
        let sequence = PEER_ISN.wrapping_add(1);
        let window =
            Segment { sequence, flags: ACK, options: Options { timestamps, ..Options::default() }, ..answer };
        tcp.handle_segment(self.now, &window);
        self.tcp = Some(tcp);
        self.drain();
        Ok(())
    }

    /// Acknowledges all that is under way, each segment by an ACK, and compares the number of segments that leave.
    pub fn round(&mut self, expected: i64) -> Result<(), Stop> {
        self.in_rounds = true;
        for (_, segment) in std::mem::take(&mut self.sent) {
            let ack = Segment {
                sequence: PEER_ISN.wrapping_add(1),
                acknowledgement: segment.sequence.wrapping_add(segment.payload_len),
                flags: ACK,
                ae: false,
                window: u16::MAX,
                ecn: Ecn::NotEct,
                payload_len: 0,
                options: Options { timestamps: segment.options.timestamps.map(echo), ..Options::default() },
            };
            let now = self.now;
            self.connection("round")?.handle_segment(now, &ack);
            self.drain();
        }
        self.compare_count(expected)
    }

    /// Loses all that is under way, and compares its number.
    pub fn lose(&mut self, expected: i64) -> Result<(), Stop> {
        self.compare_count(expected)?;
        self.in_rounds = false;
        self.sent.clear();
        Ok(())
    }

    fn compare_count(&self, expected: i64) -> Result<(), Stop> {
        let count = self.sent.len();
        if count as i64 != expected || self.sent.iter().any(|(_, segment)| segment.payload_len == 0) {
            return differs(format!("{count} segments, expected {expected} with data: {:?}", self.sent));
        }
        Ok(())
    }

    /// Compares a value of our endpoint with its text.
    pub fn compare_ours(&mut self, name: &str, expected: &str) -> Result<(), Stop> {
        let now = self.now;
        let tcp = self.connection(name)?;
        let stats = tcp.stats();
        let value = match name {
            "acknowledged" => tcp.bytes_acknowledged().to_string(),
            "alpha" => told(tcp.dctcp_alpha()),
            "cwnd" => tcp.cwnd().get().to_string(),
            "ecn" => tcp.uses_ecn().to_string(),
            "end" => told(tcp.end().map(|end| format!("{end:?}"))),
            "in_flight" => tcp.in_flight().get().to_string(),
            "mss" => tcp.mss().get().to_string(),
            "received" => tcp.bytes_received().to_string(),
            "rto" => tcp.rto().to_string(),
            "srtt" => told(tcp.srtt()),
            "ssthresh" => told(tcp.ssthresh().map(Bytes::get)),
            "state" => format!("{:?}", tcp.state()),
            "timer" => told(tcp.next_timeout().map(|at: Time| at.since(now))),
            "unread" => tcp.bytes_unread().to_string(),
            "duplicates_reported" => stats.duplicates_reported.to_string(),
            "fast_recoveries" => stats.fast_recoveries.to_string(),
            "mark_reductions" => stats.mark_reductions.to_string(),
            "retransmitted_segments" => stats.retransmitted_segments.to_string(),
            "spurious_recoveries" => stats.spurious_recoveries.to_string(),
            "spurious_timeouts" => stats.spurious_timeouts.to_string(),
            "tail_probes" => stats.tail_probes.to_string(),
            "timeouts" => stats.timeouts.to_string(),
            _ => return Err(Stop::DoesNotApply(format!("the value {name}"))),
        };
        self.compared += 1;
        if value != expected {
            return differs(format!("{name} is {value}, expected {expected}"));
        }
        Ok(())
    }
}
