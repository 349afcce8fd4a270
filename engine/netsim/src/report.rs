//! What a run has shown, as data: the same run gives the same bytes.
//!
//! Times are picoseconds, sizes bytes without FCS, energies joules. Lists are in the order of the spec.

use std::collections::BTreeMap;

use serde::Serialize;
use simple_switch::{Drops, PortStats};
use units::{Duration, Time};
use wire::PacketClass;

use crate::fabric::{Fabric, SwitchNode};
use crate::histogram::Histogram;
use crate::host::Host;
use crate::measures::Count;
use crate::phy::{Energy, Phy, StateTimes};
use crate::wiring::{Layer, Node};

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The spec's seed.
    pub seed: u64,
    /// Virtual time that has passed.
    pub elapsed_ps: u64,
    /// Whether nothing was left to happen.
    pub idle: bool,
    /// Events handled.
    pub events: u64,
    /// P4 passes of all switches.
    pub p4_passes: u64,
    /// Where every packet went.
    pub conservation: Conservation,
    /// By class as sent, every class named.
    pub classes: BTreeMap<&'static str, ClassReport>,
    /// The hosts.
    pub hosts: Vec<HostReport>,
    /// The switches.
    pub switches: Vec<SwitchReport>,
    /// Energy of the transmitters whose power the spec tells.
    pub energy: EnergyReport,
    /// Queue depth over time at the switches.
    pub queue_depth: QueueDepthReport,
}

/// The books of the whole fabric: what came in is what went out, was lost, or is still inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conservation {
    /// Offered to NICs by hosts.
    pub sent: u64,
    /// Given to switches by the controller.
    pub packet_outs: u64,
    /// Made inside switches: clones, and replicas beyond the first.
    pub copies: u64,
    /// Arrived at the host that it was for.
    pub delivered: u64,
    /// Arrived at another host.
    pub misdelivered: u64,
    /// Sent to the controller.
    pub packet_ins: u64,
    /// Did not fit a NIC's queue.
    pub nic_drops: u64,
    /// Dropped by switches.
    pub switch_drops: u64,
    /// Waiting in NICs, on links, or inside switches.
    pub queued: u64,
}

impl Conservation {
    /// Whether the books balance.
    pub fn holds(&self) -> bool {
        self.sent + self.packet_outs + self.copies
            == self.delivered
                + self.misdelivered
                + self.packet_ins
                + self.nic_drops
                + self.switch_drops
                + self.queued
    }
}

/// Packets appeared or vanished: the simulator is wrong, and so may be every number of this run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "packets are not conserved: {0:?}; in switches whose books do not balance: {1:?}; please report this as a bug"
)]
pub struct ConservationError(
    /// The books.
    pub Box<Conservation>,
    /// Switches whose own books do not balance.
    pub Vec<String>,
);

/// One class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassReport {
    /// Offered to NICs by hosts.
    pub sent: Count,
    /// Arrived at the hosts that they were for.
    pub delivered: Count,
    /// Of these, packets with CE set.
    pub delivered_ce: u64,
    /// From the offer to the NIC to the arrival of the last bit; absent when nothing was delivered.
    pub latency: Option<LatencyReport>,
}

/// A distribution of latencies. The quantiles are within 0.2 %, the rest is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LatencyReport {
    /// Mean, rounded down.
    pub mean_ps: u64,
    /// Smallest.
    pub min_ps: u64,
    /// Median.
    pub p50_ps: u64,
    /// 99th percentile.
    pub p99_ps: u64,
    /// 99.9th percentile.
    pub p999_ps: u64,
    /// Largest.
    pub max_ps: u64,
}

impl LatencyReport {
    fn of(histogram: &Histogram) -> Option<Self> {
        Some(Self {
            mean_ps: histogram.mean()?.as_ps(),
            min_ps: histogram.min()?.as_ps(),
            p50_ps: histogram.quantile(500)?.as_ps(),
            p99_ps: histogram.quantile(990)?.as_ps(),
            p999_ps: histogram.quantile(999)?.as_ps(),
            max_ps: histogram.max()?.as_ps(),
        })
    }
}

/// One host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostReport {
    /// Name.
    pub name: String,
    /// Frames offered to the NIC.
    pub offered: u64,
    /// Frames that did not fit the NIC's queue.
    pub nic_drops: u64,
    /// Frames and bytes that left the NIC.
    pub sent: Count,
    /// Frames and bytes that arrived and were for this host.
    pub received: Count,
    /// Frames that arrived and were not.
    pub misdelivered: u64,
    /// Most bytes that waited in the NIC.
    pub max_queue_bytes: u64,
    /// The NIC's own account of its EEE: absent when off.
    pub eee: Option<EeeAccount>,
}

/// What an EEE state machine counts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EeeAccount {
    /// Wakes.
    pub wakes: u64,
    /// Time in low power idle, over finished sleeps.
    pub lpi_ps: u64,
}

/// One switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SwitchReport {
    /// Name.
    pub name: String,
    /// Frames received on all ports.
    pub received: u64,
    /// Packets made inside.
    pub copies: u64,
    /// Frames sent on all ports.
    pub sent: u64,
    /// Packets inside now.
    pub in_flight: u64,
    /// Packets dropped, by cause; causes that did not occur are left out.
    pub drops: BTreeMap<&'static str, u64>,
    /// Runs of parser and ingress.
    pub p4_passes: u64,
    /// Packets sent round again.
    pub recirculated: u64,
    /// Packets given by the controller.
    pub packet_outs: u64,
    /// Packets sent to the controller.
    pub packet_ins: u64,
    /// Of these, lost because nobody took them.
    pub packet_ins_lost: u64,
    /// Ports with links.
    pub ports: Vec<PortReport>,
}

/// One port of a switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortReport {
    /// Number.
    pub port: u16,
    /// The node at the other end.
    pub peer: String,
    /// Frames and bytes received.
    pub received: Count,
    /// Frames and bytes sent.
    pub sent: Count,
    /// Drops attributed to this port, by cause.
    pub drops: BTreeMap<&'static str, u64>,
    /// Frames sent after one that was queued later.
    pub reordered: u64,
    /// Most packets in the queue, one that leaves in the same instant included.
    pub max_queue_packets: u64,
    /// Most bytes in the queue, likewise.
    pub max_queue_bytes: u64,
}

/// Energy of the fabric's transmitters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnergyReport {
    /// All transmitters together.
    pub total: LayerEnergy,
    /// By layer: `host_nic`, `leaf_to_host`, `leaf_to_spine`, `spine_to_leaf`, `leaf_to_leaf`, `spine_to_spine`; layers
    /// without transmitters are left out.
    pub layers: BTreeMap<&'static str, LayerEnergy>,
    /// One by one.
    pub transmitters: Vec<TransmitterReport>,
}

/// Energy and time of several transmitters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LayerEnergy {
    /// How many.
    pub transmitters: u64,
    /// Energy used.
    pub used_joules: f64,
    /// Without EEE.
    pub legacy_joules: f64,
    /// With sleep and wake in no time.
    pub ideal_joules: f64,
    /// Share of their time with something on the wire.
    pub transmitting_share: f64,
    /// Share of their time awake, transmitting included.
    pub active_share: f64,
    /// Share of their time going to sleep.
    pub sleep_share: f64,
    /// Share of their time in low power idle.
    pub lpi_share: f64,
    /// Share of their time waking up.
    pub wake_share: f64,
    /// Times they were woken.
    pub wakes: u64,
    /// Transmissions that started before the PHY could be awake; not 0 means that what controls it is wrong.
    pub violations: u64,
}

/// One transmitter. The four times add up to `elapsed_ps` exactly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransmitterReport {
    /// The node.
    pub node: String,
    /// Its port.
    pub port: u16,
    /// The node at the other end.
    pub peer: String,
    /// Its layer.
    pub layer: &'static str,
    /// Whether it sleeps at all.
    pub eee: bool,
    /// Time with something on the wire.
    pub transmitting_ps: u64,
    /// Time awake, transmitting included.
    pub active_ps: u64,
    /// Time going to sleep.
    pub sleep_ps: u64,
    /// Time in low power idle.
    pub lpi_ps: u64,
    /// Time waking up.
    pub wake_ps: u64,
    /// Times it was woken.
    pub wakes: u64,
    /// See [`LayerEnergy::violations`].
    pub violations: u64,
    /// Energy used.
    pub used_joules: f64,
}

/// Queue depth over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueDepthReport {
    /// Length of a period; the first starts with the run.
    pub period_ps: u64,
    /// Queues that were ever not empty.
    pub queues: Vec<QueueSamples>,
}

/// Depth of one queue over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueSamples {
    /// The switch.
    pub switch: String,
    /// The port.
    pub port: u16,
    /// Most bytes that waited in each period; zeros at the end are left out.
    pub max_bytes: Vec<u64>,
}

impl Fabric {
    /// What has happened so far.
    ///
    /// # Errors
    /// When packets have appeared or vanished, which is a bug of the simulator.
    pub fn report(&self) -> Result<Report, ConservationError> {
        let conservation = self.conservation();
        let unbalanced: Vec<_> = self
            .switches
            .iter()
            .filter(|node| !node.switch.stats().is_balanced())
            .map(|node| node.name.clone())
            .collect();
        if !conservation.holds() || !unbalanced.is_empty() {
            return Err(ConservationError(Box::new(conservation), unbalanced));
        }
        Ok(Report {
            seed: self.spec.seed,
            elapsed_ps: self.now.as_ps(),
            idle: self.is_idle(),
            events: self.events,
            p4_passes: self.p4_passes(),
            conservation,
            classes: PacketClass::ALL
                .into_iter()
                .map(|class| (class.name(), self.class_report(class)))
                .collect(),
            hosts: self.hosts.iter().map(host_report).collect(),
            switches: (0..self.switches.len()).map(|index| self.switch_report(index)).collect(),
            energy: self.energy_report(),
            queue_depth: self.queue_depth_report(),
        })
    }

    /// The books.
    pub fn conservation(&self) -> Conservation {
        let mut books = Conservation::default();
        for host in &self.hosts {
            let nic = host.nic.stats();
            books.sent += nic.offered;
            books.nic_drops += nic.dropped;
            books.delivered += host.received.packets;
            books.misdelivered += host.misdelivered;
            books.queued += (host.nic.queue_packets() + host.uplink.len()) as u64;
        }
        for node in &self.switches {
            let stats = node.switch.stats();
            books.packet_outs += node.packet_outs;
            books.packet_ins += node.packet_in_count;
            books.copies += stats.copies;
            books.switch_drops += stats.drops.total();
            books.queued += stats.in_flight;
        }
        books.queued += self.wires.iter().map(|wire| wire.link.len() as u64).sum::<u64>();
        books
    }

    fn class_report(&self, class: PacketClass) -> ClassReport {
        let measures = self.measures.class(class);
        ClassReport {
            sent: measures.sent,
            delivered: measures.delivered,
            delivered_ce: measures.delivered_ce,
            latency: LatencyReport::of(&measures.latency),
        }
    }

    fn switch_report(&self, index: usize) -> SwitchReport {
        let SwitchNode { name, switch, queues, packet_in_count, packet_ins_lost, packet_outs, .. } =
            &self.switches[index];
        let stats = switch.stats();
        let ports = queues.iter().map(|(port, _)| self.port_report(index, *port, &switch.port_stats(*port)));
        SwitchReport {
            name: name.clone(),
            received: stats.received,
            copies: stats.copies,
            sent: stats.sent,
            in_flight: stats.in_flight,
            drops: drops(&stats.drops),
            p4_passes: stats.p4_passes,
            recirculated: stats.recirculated,
            packet_outs: *packet_outs,
            packet_ins: *packet_in_count,
            packet_ins_lost: *packet_ins_lost,
            ports: ports.collect(),
        }
    }

    fn port_report(&self, switch: usize, port: u16, stats: &PortStats) -> PortReport {
        let from = (Node::Switch(switch), port);
        let peer = self.directions.iter().find(|direction| direction.from == from);
        PortReport {
            port,
            peer: peer.map(|direction| self.node_name(direction.to.0).to_owned()).unwrap_or_default(),
            received: Count { packets: stats.rx_packets, bytes: stats.rx_bytes },
            sent: Count { packets: stats.tx_packets, bytes: stats.tx_bytes },
            drops: drops(&stats.drops),
            reordered: stats.reordered,
            max_queue_packets: stats.max_queue_packets,
            max_queue_bytes: stats.max_queue_bytes,
        }
    }

    fn node_name(&self, node: Node) -> &str {
        match node {
            Node::Host(host) => &self.hosts[host].name,
            Node::Switch(switch) => &self.switches[switch].name,
        }
    }

    fn energy_report(&self) -> EnergyReport {
        let mut total = EnergySum::default();
        let mut by_layer: BTreeMap<Layer, EnergySum> = BTreeMap::new();
        let mut transmitters = Vec::new();
        for (direction, phy) in self.directions.iter().zip(&self.phys) {
            if direction.phy.is_none() {
                continue;
            }
            total.add(phy, self.now);
            by_layer.entry(direction.layer).or_default().add(phy, self.now);
            let times = phy.times(self.now);
            transmitters.push(TransmitterReport {
                node: self.node_name(direction.from.0).to_owned(),
                port: direction.from.1,
                peer: self.node_name(direction.to.0).to_owned(),
                layer: direction.layer.name(),
                eee: direction.stall.is_some(),
                transmitting_ps: phy.transmitting(self.now).as_ps(),
                active_ps: times.active.as_ps(),
                sleep_ps: times.sleep.as_ps(),
                lpi_ps: times.lpi.as_ps(),
                wake_ps: times.wake.as_ps(),
                wakes: phy.wakes(),
                violations: phy.violations(),
                used_joules: phy.energy(self.now).used,
            });
        }
        let layers =
            Layer::ALL.iter().filter_map(|layer| Some((layer.name(), by_layer.get(layer)?.report())));
        EnergyReport { total: total.report(), layers: layers.collect(), transmitters }
    }

    fn queue_depth_report(&self) -> QueueDepthReport {
        let mut queues = Vec::new();
        for node in &self.switches {
            for (port, queue) in &node.queues {
                let max_bytes = self.queue_depth.samples(*queue);
                if !max_bytes.is_empty() {
                    queues.push(QueueSamples { switch: node.name.clone(), port: *port, max_bytes });
                }
            }
        }
        QueueDepthReport { period_ps: self.queue_depth.period().as_ps(), queues }
    }
}

/// What several transmitters have spent.
#[derive(Default)]
struct EnergySum {
    transmitters: u64,
    energy: Energy,
    times: StateTimes,
    transmitting: Duration,
    wakes: u64,
    violations: u64,
}

impl EnergySum {
    fn add(&mut self, phy: &Phy, now: Time) {
        let (energy, times) = (phy.energy(now), phy.times(now));
        self.transmitters += 1;
        self.energy.used += energy.used;
        self.energy.legacy += energy.legacy;
        self.energy.ideal += energy.ideal;
        // Sums of long runs over many transmitters stop at 213 days, which only the shares would notice.
        self.times.active = self.times.active.saturating_add(times.active);
        self.times.sleep = self.times.sleep.saturating_add(times.sleep);
        self.times.lpi = self.times.lpi.saturating_add(times.lpi);
        self.times.wake = self.times.wake.saturating_add(times.wake);
        self.transmitting = self.transmitting.saturating_add(phy.transmitting(now));
        self.wakes += phy.wakes();
        self.violations += phy.violations();
    }

    fn report(&self) -> LayerEnergy {
        let StateTimes { active, sleep, lpi, wake } = self.times;
        let total: f64 = [active, sleep, lpi, wake].iter().map(|time| time.as_secs_f64()).sum();
        let share = |time: Duration| if total > 0.0 { time.as_secs_f64() / total } else { 0.0 };
        LayerEnergy {
            transmitters: self.transmitters,
            used_joules: self.energy.used,
            legacy_joules: self.energy.legacy,
            ideal_joules: self.energy.ideal,
            transmitting_share: share(self.transmitting),
            active_share: share(active),
            sleep_share: share(sleep),
            lpi_share: share(lpi),
            wake_share: share(wake),
            wakes: self.wakes,
            violations: self.violations,
        }
    }
}

fn host_report(host: &Host) -> HostReport {
    let nic = host.nic.stats();
    HostReport {
        name: host.name.clone(),
        offered: nic.offered,
        nic_drops: nic.dropped,
        sent: Count { packets: nic.sent, bytes: nic.sent_bytes },
        received: host.received,
        misdelivered: host.misdelivered,
        max_queue_bytes: nic.max_queue_bytes,
        eee: host.nic.eee().map(|eee| EeeAccount { wakes: eee.wakes(), lpi_ps: eee.lpi_ticks() }),
    }
}

fn drops(drops: &Drops) -> BTreeMap<&'static str, u64> {
    drops.iter().filter(|(_, count)| *count > 0).map(|(cause, count)| (cause.name(), count)).collect()
}
