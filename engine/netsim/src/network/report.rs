//! The network's part of the report: packets, hosts, switches, energy, queues.

use std::collections::BTreeMap;

use simple_switch::{Drops, PortStats};
use units::{Duration, Histogram, Time};
use wire::PacketClass;
use workload::report::Distribution;

use crate::network::host::Host;
use crate::network::phy::{Energy, Phy, StateTimes};
use crate::network::switch::SwitchNode;
use crate::network::wiring::Node;
use crate::network::Network;
use crate::report::measures::ClassMeasures;
use crate::report::{
    ClassCounts, ClassReport, Conservation, Count, EeeAccount, EnergyReport, HostReport, LayerEnergy,
    PauseAccount, PortReport, QueueDepthReport, QueueSamples, SwitchReport, TransmitterReport,
};

impl Network {
    /// Returns the packet counts of the whole network.
    pub(crate) fn conservation(&self) -> Conservation {
        let mut counts = Conservation::default();
        for host in &self.hosts {
            let nic = host.nic.stats();
            counts.sent += nic.offered;
            counts.nic_drops += nic.dropped;
            counts.delivered += host.received.packets;
            counts.misdelivered += host.misdelivered;
            counts.queued += (host.nic.queue_packets() + host.uplink.len()) as u64;
        }
        for node in &self.switches {
            let stats = node.switch.stats();
            counts.packet_outs += node.packet_outs;
            counts.packet_ins += node.packet_in_count;
            counts.copies += stats.copies;
            counts.switch_drops += stats.drops.total();
            counts.queued += stats.in_flight;
        }
        counts.queued += self.wires.iter().map(|wire| wire.link.len() as u64).sum::<u64>();
        counts.link_drops = self.lost();
        counts
    }

    /// Returns the names of switches whose own counts do not add up.
    pub(crate) fn unbalanced_switches(&self) -> Vec<String> {
        let unbalanced = self.switches.iter().filter(|node| !node.switch.stats().is_balanced());
        unbalanced.map(|node| node.name.clone()).collect()
    }

    /// Returns the reports by class as sent; every class is included.
    pub(crate) fn class_reports(&self) -> BTreeMap<&'static str, ClassReport> {
        let report = |class: PacketClass| {
            let ClassMeasures { sent, delivered, delivered_ce, latency } = self.measures.class(class);
            let (sent, delivered, delivered_ce) = (*sent, *delivered, *delivered_ce);
            (class.name(), ClassReport { sent, delivered, delivered_ce, latency: Distribution::of(latency) })
        };
        PacketClass::ALL.into_iter().map(report).collect()
    }

    pub(crate) fn host_reports(&self) -> Vec<HostReport> {
        self.hosts.iter().map(host_report).collect()
    }

    pub(crate) fn switch_reports(&self) -> Vec<SwitchReport> {
        (0..self.switches.len()).map(|index| self.switch_report(index)).collect()
    }

    /// Returns the marks and drops of all NICs' queues, by class as sent; every class is included.
    pub(crate) fn nic_queues(&self) -> BTreeMap<&'static str, ClassCounts> {
        let total = |class: PacketClass| {
            let mut total = ClassCounts::default();
            for host in &self.hosts {
                total.add(&host.nic.stats().classes[class as usize]);
            }
            (class.name(), total)
        };
        PacketClass::ALL.into_iter().map(total).collect()
    }

    /// Returns the latency of all classes together.
    pub(crate) fn latency_of_all(&self) -> Option<Distribution> {
        let mut all = Histogram::default();
        for class in PacketClass::ALL {
            all.add(&self.measures.class(class).latency);
        }
        Distribution::of(&all)
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

    pub(super) fn node_name(&self, node: Node) -> &str {
        match node {
            Node::Host(host) => &self.hosts[host].spec.name,
            Node::Switch(switch) => &self.switches[switch].name,
        }
    }

    /// Returns the energy up to `now`.
    pub(crate) fn energy_report(&self, now: Time) -> EnergyReport {
        let mut all = Vec::new();
        let mut by_layer: BTreeMap<&'static str, Vec<&Phy>> = BTreeMap::new();
        let mut transmitters = Vec::new();
        let phys = self.hosts.iter().map(|host| &host.phy).chain(self.wires.iter().map(|wire| &wire.phy));
        for (direction, phy) in self.directions.iter().zip(phys) {
            if direction.phy.is_none() {
                continue;
            }
            all.push(phy);
            by_layer.entry(direction.layer).or_default().push(phy);
            let times = phy.times(now);
            transmitters.push(TransmitterReport {
                node: self.node_name(direction.from.0).to_owned(),
                port: direction.from.1,
                peer: self.node_name(direction.to.0).to_owned(),
                layer: direction.layer,
                eee: direction.stall.is_some(),
                transmitting_ps: phy.transmitting(now).as_ps(),
                active_ps: times.active.as_ps(),
                sleep_ps: times.sleep.as_ps(),
                lpi_ps: times.lpi.as_ps(),
                wake_ps: times.wake.as_ps(),
                wakes: phy.wakes(),
                violations: phy.violations(),
                used_joules: phy.energy(now).used,
            });
        }
        let layers = by_layer.into_iter().map(|(layer, phys)| (layer, sum_of(&phys, now)));
        EnergyReport { total: sum_of(&all, now), layers: layers.collect(), transmitters }
    }

    pub(crate) fn queue_depth_report(&self) -> QueueDepthReport {
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

/// Returns the energy and the times of several transmitters up to `now`.
fn sum_of(phys: &[&Phy], now: Time) -> LayerEnergy {
    let joules = |of: fn(Energy) -> f64| phys.iter().fold(0.0, |sum, phy| sum + of(phy.energy(now)));
    // In long runs with many transmitters sums saturate at 213 days, which affects only the shares.
    let sum = |times: &dyn Fn(&Phy) -> Duration| {
        phys.iter().fold(Duration::ZERO, |sum, phy| sum.saturating_add(times(phy))).as_secs_f64()
    };
    let times: [fn(StateTimes) -> Duration; 4] =
        [|times| times.active, |times| times.sleep, |times| times.lpi, |times| times.wake];
    let seconds = times.map(|of| sum(&|phy| of(phy.times(now))));
    let total: f64 = seconds.iter().sum();
    let share = |seconds: f64| if total > 0.0 { seconds / total } else { 0.0 };
    let [active_share, sleep_share, lpi_share, wake_share] = seconds.map(share);
    LayerEnergy {
        transmitters: phys.len() as u64,
        used_joules: joules(|energy| energy.used),
        legacy_joules: joules(|energy| energy.legacy),
        ideal_joules: joules(|energy| energy.ideal),
        transmitting_share: share(sum(&|phy| phy.transmitting(now))),
        active_share,
        sleep_share,
        lpi_share,
        wake_share,
        wakes: phys.iter().map(|phy| phy.wakes()).sum(),
        violations: phys.iter().map(|phy| phy.violations()).sum(),
    }
}

fn host_report(host: &Host) -> HostReport {
    let nic = host.nic.stats();
    HostReport {
        name: host.spec.name.clone(),
        offered: nic.offered,
        nic_drops: nic.dropped,
        sent: Count { packets: nic.sent, bytes: nic.sent_bytes },
        received: host.received,
        misdelivered: host.misdelivered,
        max_queue_bytes: nic.max_queue_bytes,
        qcn: host.nic.qcn(),
        dcqcn: host.dcqcn(),
        eee: host.nic.eee().map(|eee| EeeAccount { wakes: eee.wakes(), lpi_ps: eee.lpi_ticks() }),
        pauses: host
            .nic
            .queues
            .has_classes()
            .then_some(PauseAccount { obeyed: nic.pauses, ignored: nic.control_ignored }),
    }
}

fn drops(drops: &Drops) -> BTreeMap<&'static str, u64> {
    drops.iter().filter(|(_, count)| *count > 0).map(|(cause, count)| (cause.name(), count)).collect()
}
