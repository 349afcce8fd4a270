//! Sent and arrived packets, joined by identity.
//!
//! Packets of one identity (for example repeated ACKs) belong to one flow, take one path and do not overtake each other, so the
//! first to arrive is the first that was sent. If some of them are lost, it is unknown which: they are counted but not timed.

use std::collections::BTreeMap;

use serde::Serialize;
use wire::PacketClass;

use crate::observation::Observation;

const PS_PER_NS: u64 = 1000;

/// One packet at one place; the time is in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Passage {
    identity: u64,
    at_ns: u64,
    class: PacketClass,
    is_ce: bool,
}

/// All packets that hosts have sent and received.
#[derive(Default)]
pub struct PacketLog {
    sent: Vec<Passage>,
    arrived: Vec<Passage>,
    misdelivered: u64,
    not_ip: u64,
}

/// The fate of a replay's packets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TrafficBooks"))]
pub struct Report {
    /// By name of the class.
    pub classes: BTreeMap<&'static str, ClassReport>,
    /// Frames that arrived at hosts and that no host had sent.
    pub foreign: u64,
    /// Packets that arrived at a host that does not have their destination address.
    pub misdelivered: u64,
    /// Packets that arrived more often than they were sent.
    pub duplicated: u64,
    /// Packets that arrived but have no known latency, because other packets with their identity were lost.
    pub untimed: u64,
}

/// Packets of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TrafficClass"))]
pub struct ClassReport {
    /// Packets that hosts sent.
    pub sent: Count,
    /// Packets that arrived at their destination.
    pub delivered: Count,
    /// Of those delivered: packets sent without CE that arrived with it.
    pub arrived_marked: u64,
    /// Time from sending to the kernel's arrival time; `None` if nothing was timed.
    pub latency: Option<Latency>,
}

/// A number of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TrafficCount"))]
pub struct Count {
    /// Number of packets.
    pub packets: u64,
}

/// Latencies in picoseconds, as in the twin's report; percentiles by nearest rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TrafficLatency"))]
pub struct Latency {
    /// Arithmetic mean.
    pub mean_ps: u64,
    /// Median.
    pub p50_ps: u64,
    /// 99th percentile.
    pub p99_ps: u64,
}

impl PacketLog {
    /// Records a packet that a host has sent.
    pub fn sent(&mut self, observation: &Observation, at_ns: u64) {
        self.sent.push(passage(observation, at_ns));
    }

    /// Records a frame that has arrived at a host; `observation` is `None` if it is not IP. `is_its_own`: whether the
    /// destination is the host's address.
    pub fn arrived(&mut self, observation: Option<&Observation>, at_ns: u64, is_its_own: bool) {
        match observation {
            None => self.not_ip += 1,
            Some(_) if !is_its_own => self.misdelivered += 1,
            Some(observation) => self.arrived.push(passage(observation, at_ns)),
        }
    }

    /// Returns the number of packets sent so far.
    pub fn sent_count(&self) -> usize {
        self.sent.len()
    }

    /// Returns the number of packets that have arrived at their hosts so far.
    pub fn arrived_count(&self) -> usize {
        self.arrived.len()
    }

    /// Joins both sides.
    pub fn report(mut self) -> Report {
        self.sent.sort_unstable();
        self.arrived.sort_unstable();
        let mut classes: BTreeMap<_, _> =
            PacketClass::ALL.iter().map(|class| (class.name(), ClassReport::default())).collect();
        let mut times: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        let mut report = Report {
            classes: BTreeMap::new(),
            foreign: self.not_ip,
            misdelivered: self.misdelivered,
            duplicated: 0,
            untimed: 0,
        };
        let mut arrived = self.arrived.chunk_by(|a, b| a.identity == b.identity).peekable();
        for sent in self.sent.chunk_by(|a, b| a.identity == b.identity) {
            let identity = sent[0].identity;
            while let Some(foreign) = arrived.next_if(|group| group[0].identity < identity) {
                report.foreign += foreign.len() as u64;
            }
            let got = arrived.next_if(|group| group[0].identity == identity).unwrap_or(&[]);
            report.duplicated += got.len().saturating_sub(sent.len()) as u64;
            let is_timed = sent.len() == 1 || got.len() >= sent.len();
            for (number, out) in sent.iter().enumerate() {
                let class = classes.entry(out.class.name()).or_default();
                class.sent.packets += 1;
                let Some(arrival) = got.get(number) else { continue };
                class.delivered.packets += 1;
                class.arrived_marked += u64::from(arrival.is_ce && !out.is_ce);
                if is_timed {
                    // A system clock that was set back must not give a negative latency.
                    times.entry(out.class.name()).or_default().push(arrival.at_ns.saturating_sub(out.at_ns));
                } else {
                    report.untimed += 1;
                }
            }
        }
        report.foreign += arrived.map(|group| group.len() as u64).sum::<u64>();
        for (name, mut found) in times {
            found.sort_unstable();
            classes.entry(name).or_default().latency = latency(&found);
        }
        report.classes = classes;
        report
    }
}

fn passage(observation: &Observation, at_ns: u64) -> Passage {
    Passage { identity: observation.identity, at_ns, class: observation.class, is_ce: observation.is_ce }
}

fn latency(sorted_ns: &[u64]) -> Option<Latency> {
    if sorted_ns.is_empty() {
        return None;
    }
    let sum: u128 = sorted_ns.iter().map(|ns| u128::from(*ns)).sum();
    Some(Latency {
        mean_ps: (sum * u128::from(PS_PER_NS) / sorted_ns.len() as u128) as u64,
        p50_ps: percentile(sorted_ns, 50) * PS_PER_NS,
        p99_ps: percentile(sorted_ns, 99) * PS_PER_NS,
    })
}

/// Returns a percentile by nearest rank; 0 without values.
pub(crate) fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn observation(identity: u64, is_ce: bool) -> Observation {
        Observation { identity, class: PacketClass::Data, is_ce, destination: IpAddr::from([10, 0, 0, 1]) }
    }

    fn arrive(log: &mut PacketLog, identity: u64, at_ns: u64) {
        log.arrived(Some(&observation(identity, false)), at_ns, true);
    }

    #[test]
    fn what_arrived_is_timed_and_what_did_not_is_missing() {
        let mut log = PacketLog::default();
        for (identity, at) in [(7, 100), (3, 200), (5, 300)] {
            log.sent(&observation(identity, false), at);
        }
        log.arrived(Some(&observation(3, true)), 1_200, true);
        arrive(&mut log, 5, 3_300);
        let report = log.report();
        let data = &report.classes["data"];
        assert_eq!((data.sent.packets, data.delivered.packets, data.arrived_marked), (3, 2, 1));
        let expected = Latency { mean_ps: 2_000_000, p50_ps: 1_000_000, p99_ps: 3_000_000 };
        assert_eq!(data.latency, Some(expected));
        assert_eq!((report.foreign, report.untimed, report.duplicated), (0, 0, 0));
        assert_eq!(report.classes["ack"].latency, None);
    }

    #[test]
    fn packets_alike_are_timed_in_order_and_not_at_all_when_one_of_them_is_lost() {
        let mut log = PacketLog::default();
        for at in [0, 1_000] {
            log.sent(&observation(1, false), at);
            log.sent(&observation(2, false), at);
        }
        for at in [1_500, 500] {
            arrive(&mut log, 1, at);
        }
        arrive(&mut log, 2, 5_000);
        let report = log.report();
        let data = &report.classes["data"];
        assert_eq!((data.sent.packets, data.delivered.packets, report.untimed), (4, 3, 1));
        let expected = Latency { mean_ps: 500_000, p50_ps: 500_000, p99_ps: 500_000 };
        assert_eq!(data.latency, Some(expected));
    }

    #[test]
    fn packets_never_sent_duplicated_or_misdelivered_are_not_delivered() {
        let mut log = PacketLog::default();
        log.sent(&observation(5, false), 0);
        for identity in [4, 5, 5, 6] {
            arrive(&mut log, identity, 10);
        }
        log.arrived(Some(&observation(5, false)), 10, false);
        log.arrived(None, 10, false);
        let report = log.report();
        assert_eq!(report.classes["data"].delivered.packets, 1);
        assert_eq!((report.foreign, report.duplicated, report.misdelivered), (3, 1, 1));
    }
}
