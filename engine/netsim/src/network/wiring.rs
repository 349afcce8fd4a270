//! A checked spec, with names resolved to numbers: the connections, and their transmitters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::net::IpAddr;

use schedule::{fca::Volume, Name};
use simple_switch::Quanta;
use units::{Bytes, DataRate, Duration, Time};

use crate::limits::MAX_SPEC_TIME_PS;
use crate::network::eee::EeeParams;
use crate::network::nic::{NicLimit, NicSettings};
use crate::network::nic_classes::{NicClasses, PRIORITIES};
use crate::reaction::ReactionSettings;
use crate::spec::{
    EndSpec, FabricSpec, LinkSpec, NicAqm, NicClassesSpec, NicDcqcnSpec, NicSpec, PhySpec, SchedulerSpec,
    SpecError,
};

/// A node, by its index in the spec's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Host(usize),
    Switch(usize),
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    pub(crate) from: (Node, u16),
    pub(crate) to: (Node, u16),
    pub(crate) rate: DataRate,
    pub(crate) delay: Duration,
    pub(crate) overhead: Bytes,
    /// The part of the fabric to which the transmitter belongs.
    pub(crate) layer: &'static str,
    /// Power and timings of the transmitter, if the spec has them.
    pub(crate) phy: Option<PhySpec>,
    /// Idle time before it sleeps, if it does.
    pub(crate) stall: Option<Duration>,
}

/// A checked fault of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkFault {
    /// Both directions, as indices into [`Wiring::directions`]; first the one that leaves the named end.
    pub(crate) directions: [usize; 2],
    pub(crate) at: Time,
    pub(crate) until: Option<Time>,
}

/// The fabric's directions: first those that leave hosts, in the order of the hosts, then those that leave switches, in
/// the order of the links.
pub(crate) struct Wiring {
    pub(crate) directions: Vec<Direction>,
    /// The settings of the hosts' NICs.
    pub(crate) nics: Vec<NicSettings>,
    /// The faults of links, in the order of the spec.
    pub(crate) faults: Vec<LinkFault>,
}

/// Returns the classes of the NICs, in the form in which a frame's queue is looked up.
fn classes(spec: &NicClassesSpec) -> Result<NicClasses, SpecError> {
    let priority = |place: String, of: u8| {
        let reason = "is not a priority; there are 0 to 7";
        (usize::from(of) < PRIORITIES).then_some(of).ok_or_else(|| wrong(place, of, reason))
    };
    let default = priority("nic_classes.default_priority".into(), spec.default_priority)?;
    let mut of_dscp = [None; 64];
    for (index, one) in spec.dscp.iter().enumerate() {
        let place = |field: &str| format!("nic_classes.dscp[{index}].{field}");
        let slot = of_dscp.get_mut(usize::from(one.dscp));
        let slot = slot.ok_or_else(|| wrong(place("dscp"), one.dscp, "is not a DSCP; there are 0 to 63"))?;
        if slot.replace(priority(place("priority"), one.priority)?).is_some() {
            return Err(wrong(place("dscp"), one.dscp, "has a priority already; leave out one of the two"));
        }
    }
    let mut pausable = 0;
    for (index, of) in spec.pausable.iter().enumerate() {
        pausable |= 1 << priority(format!("nic_classes.pausable[{index}]"), *of)?;
    }
    Ok(NicClasses { priority: of_dscp.map(|of| of.unwrap_or(default)), default_priority: default, pausable })
}

fn wrong(place: impl Display, value: impl Display, reason: impl Display) -> SpecError {
    SpecError(format!("{place}: {value}: {reason}"))
}

impl Wiring {
    pub(crate) fn new(spec: &FabricSpec) -> Result<Self, SpecError> {
        check_numbers(spec)?;
        let nodes = nodes(spec)?;
        let phys = phys(spec)?;
        let is_leaf = leaves(spec, &nodes);
        let mut used = BTreeSet::new();
        let mut uplinks: Vec<Option<Direction>> = vec![None; spec.hosts.len()];
        let mut downlinks = Vec::new();
        for (index, link) in spec.links.iter().enumerate() {
            let place = format!("links[{index}]");
            let end = |side: &str, end: &EndSpec| match nodes.get(end.node.as_str()) {
                Some(node) => Ok((*node, end.port)),
                None => {
                    Err(wrong(format!("{place}.{side}.node"), &end.node, "no switch or host has this name"))
                }
            };
            let (a, b) = (end("a", &link.a)?, end("b", &link.b)?);
            if let (Node::Host(_), Node::Host(_)) = (a.0, b.0) {
                return Err(wrong(place, &link.b.node, "both ends are hosts; one must be a switch"));
            }
            for (side, end, (node, _)) in [("a", &link.a, a), ("b", &link.b, b)] {
                check_port(&format!("{place}.{side}"), end, node, spec)?;
                if !used.insert((end.node.as_str(), end.port)) {
                    let port = format!("{} port {}", end.node, end.port);
                    return Err(wrong(format!("{place}.{side}"), port, "has a link already"));
                }
            }
            for (from, to, end) in [(a, b, &link.a), (b, a, &link.b)] {
                let layer = layer(from.0, to.0, &is_leaf);
                let direction = direction(&place, link, from, to, end, layer, &phys)?;
                match from.0 {
                    Node::Host(host) => uplinks[host] = Some(direction),
                    Node::Switch(_) => downlinks.push(direction),
                }
            }
        }
        let classes = spec.nic_classes.as_ref().map(classes).transpose()?;
        let directions = Vec::with_capacity(2 * spec.links.len());
        let mut wiring = Wiring { directions, nics: Vec::new(), faults: Vec::new() };
        for (index, (host, uplink)) in spec.hosts.iter().zip(uplinks).enumerate() {
            let place = format!("hosts[{index}]");
            let mut uplink =
                uplink.ok_or_else(|| wrong(&place, &host.name, "has no link; add one to a switch"))?;
            let settings =
                nic(&format!("{place} {}", host.name), host.nic.as_ref().unwrap_or(&spec.nic), &uplink)?;
            uplink.stall = settings.eee.map(|eee| Duration::from_ps(eee.stall_ticks));
            wiring.nics.push(NicSettings {
                // The streams differ from those of the switches, which are seeded with a device id.
                seed: spec.seed ^ (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
                classes: classes.clone(),
                own: [host.ipv4.map(IpAddr::V4), host.ipv6.map(IpAddr::V6)],
                ..settings
            });
            wiring.directions.push(uplink);
        }
        wiring.directions.extend(downlinks);
        if let Some(scheduler) = &spec.scheduler {
            check_scheduler(scheduler, &wiring)?;
        }
        wiring.faults = faults(spec, &nodes, &wiring.directions)?;
        Ok(wiring)
    }
}

/// Returns the faults of single links.
fn faults(
    spec: &FabricSpec,
    nodes: &BTreeMap<&str, Node>,
    directions: &[Direction],
) -> Result<Vec<LinkFault>, SpecError> {
    let mut found = Vec::new();
    for (index, fault) in spec.faults.iter().enumerate() {
        let place = |field: &str| format!("faults[{index}].{field}");
        if spec.scheduler.is_some() {
            let reason =
                "is with a scheduler, which does not know of links that are down: leave one of them out";
            return Err(wrong(format!("faults[{index}]"), &fault.node, reason));
        }
        let node = nodes.get(fault.node.as_str());
        let node =
            *node.ok_or_else(|| wrong(place("node"), &fault.node, "no switch or host has this name"))?;
        let at = Time::ZERO + check_time(place("at_ps"), fault.at_ps)?;
        let until = fault.until_ps.map(|ps| check_time(place("until_ps"), ps)).transpose()?;
        let until = until.map(|until| Time::ZERO + until);
        if until.is_some_and(|until| until <= at) {
            let reason = format!("must be later than at_ps, {}", fault.at_ps);
            return Err(wrong(place("until_ps"), fault.until_ps.unwrap_or_default(), reason));
        }
        let before = found.len();
        for (forth, direction) in directions.iter().enumerate() {
            let (from, port) = direction.from;
            if from == node && fault.port.is_none_or(|named| named == port) {
                let back = directions.iter().position(|other| other.from == direction.to);
                let back = back.expect("a link has two directions");
                found.push(LinkFault { directions: [forth, back], at, until });
            }
        }
        if found.len() == before {
            let port = fault.port.map_or_else(String::new, |port| format!(" port {port}"));
            return Err(wrong(format!("faults[{index}]"), format!("{}{port}", fault.node), "has no link"));
        }
    }
    Ok(found)
}

/// Returns the settings of a NIC, without those that other parts of the spec determine. Checks those of its notification point.
fn nic(place: &str, nic: &NicSpec, uplink: &Direction) -> Result<NicSettings, SpecError> {
    let wrong =
        |field: &str, value: &dyn Display, reason: &str| wrong(format!("{place} nic.{field}"), value, reason);
    let time = |field: &str, ps| check_time(format!("{place} nic.{field}"), ps);
    let eee = match nic.eee {
        None => None,
        Some(eee) => {
            let phy = uplink.phy.ok_or_else(|| no_timings(place, uplink.rate.as_bps()))?;
            Some(EeeParams {
                sleep_ticks: phy.sleep.as_ps(),
                wake_ticks: phy.wake.as_ps(),
                stall_ticks: time("eee.stall_ps", eee.stall_ps)?.as_ps(),
                hold_ticks: time("eee.hold_ps", eee.hold_ps)?.as_ps(),
                trigger_packets: eee.trigger_packets,
                trigger_bytes: eee.trigger_bytes,
                ..EeeParams::default()
            })
        }
    };
    // As the controller's configuration is checked, so that nothing overflows.
    match nic.aqm {
        Some(NicAqm::Red { min_threshold, max_threshold, probability_slope, average_shift, .. }) => {
            if min_threshold > max_threshold {
                return Err(wrong("aqm.min_threshold", &min_threshold, "is above max_threshold"));
            }
            if average_shift > 24 {
                return Err(wrong("aqm.average_shift", &average_shift, "must be at most 24"));
            }
            let span = u128::from(max_threshold - min_threshold) << 8;
            if span * u128::from(probability_slope) > 1 << 57 {
                return Err(wrong(
                    "aqm.probability_slope",
                    &probability_slope,
                    "makes a probability above 1",
                ));
            }
        }
        Some(NicAqm::Codel { target_ps, interval_ps, .. }) => {
            time("aqm.target_ps", target_ps)?;
            if !(1..=10_000_000_000_000).contains(&interval_ps) {
                let reason = "must be from 1 ps to 10 s (10000000000000 ps)";
                return Err(wrong("aqm.interval_ps", &interval_ps, reason));
            }
        }
        Some(NicAqm::MarkThreshold { .. }) | None => {}
    }
    let reactions = match (nic.qcn, nic.dcqcn) {
        (None, None) => None,
        (Some(_), Some(_)) => {
            let reason = "is with qcn; a flow has one reaction point: leave one of them out";
            return Err(wrong("dcqcn", &"given", reason));
        }
        (Some(qcn), None) => {
            qcn.check(&format!("{place} nic.qcn"))?;
            Some(ReactionSettings::Qcn(qcn))
        }
        (None, Some(NicDcqcnSpec { reaction, cnp_interval_ps, cnp_dscp: dscp })) => {
            reaction.check(&format!("{place} nic.dcqcn.reaction"))?;
            time("dcqcn.cnp_interval_ps", cnp_interval_ps)?;
            if dscp > 63 {
                return Err(wrong("dcqcn.cnp_dscp", &dscp, "is not a DSCP; there are 0 to 63"));
            }
            Some(ReactionSettings::Dcqcn(reaction))
        }
    };
    let limit = match (nic.buffer_bytes, nic.buffer_packets, nic.held_outside) {
        (None, None, false) => None,
        (Some(bytes), None, false) => Some(NicLimit::Bytes(Bytes::new(bytes))),
        (Some(bytes), None, true) => Some(NicLimit::BytesBesideHeld(Bytes::new(bytes))),
        (None, Some(packets), false) => Some(NicLimit::Frames(packets)),
        (Some(_), Some(packets), _) => {
            let reason = "stands beside buffer_bytes; a buffer is counted in one of them";
            return Err(wrong("buffer_packets", &packets, reason));
        }
        (None, _, true) => {
            let reason =
                "needs buffer_bytes: only a buffer that is counted in bytes can leave out what is held";
            return Err(wrong("held_outside", &true, reason));
        }
    };
    if nic.fair && nic.aqm.is_some() {
        let reason = "is with an AQM, which judges one FIFO: leave out one of the two";
        return Err(wrong("fair", &true, reason));
    }
    Ok(NicSettings { limit, eee, aqm: nic.aqm, is_fair: nic.fair, reactions, ..NicSettings::default() })
}

fn check_scheduler(scheduler: &SchedulerSpec, wiring: &Wiring) -> Result<(), SpecError> {
    let place = |field: &str| format!("scheduler.{field}");
    if scheduler.kind != Name::Fca {
        let defaults = (Volume::Total, true, false);
        if (scheduler.order, scheduler.work_conserving, scheduler.preempt) != defaults {
            let reason = "has no order, work_conserving and preempt; leave them out, or choose fca";
            return Err(wrong(place("kind"), scheduler.kind, reason));
        }
    }
    for (field, value) in
        [("floor_reserve_ppm", scheduler.floor_reserve_ppm), ("capacity_ppm", scheduler.capacity_ppm)]
    {
        if value > 1_000_000 {
            return Err(wrong(place(field), value, "is in millionths, at most 1000000"));
        }
    }
    if scheduler.capacity_ppm == 0 {
        return Err(wrong(place("capacity_ppm"), 0, "must be more than 0: nothing could be sent"));
    }
    for (field, ps) in [
        ("report_delay_ps", scheduler.report_delay_ps),
        ("decide_delay_ps", scheduler.decide_delay_ps),
        ("enforce_delay_ps", scheduler.enforce_delay_ps),
    ] {
        check_time(place(field), ps)?;
    }
    if wiring.nics.iter().any(|nic| nic.eee.is_some()) {
        let reason = "is with NICs that sleep; what EEE saves between paced frames is not modelled: turn off EEE of the NICs";
        return Err(wrong("scheduler", scheduler.kind, reason));
    }
    Ok(())
}

fn check_time(place: impl Display, ps: u64) -> Result<Duration, SpecError> {
    if ps > MAX_SPEC_TIME_PS {
        return Err(wrong(place, ps, "is longer than 1000 s (1000000000000000 ps)"));
    }
    Ok(Duration::from_ps(ps))
}

fn check_numbers(spec: &FabricSpec) -> Result<(), SpecError> {
    let samples = spec.queue_samples;
    for (place, ps) in [
        ("tick_ps", spec.tick_ps),
        ("recirculation_delay_ps", spec.recirculation_delay_ps),
        ("queue_samples.period_ps", samples.period_ps),
    ] {
        if check_time(place, ps)?.is_zero() {
            return Err(wrong(place, 0, "must be more than zero"));
        }
    }
    for (field, ps) in [("tx_ps", spec.host_delay.tx_ps), ("rx_ps", spec.host_delay.rx_ps)] {
        check_time(format!("host_delay.{field}"), ps)?;
    }
    if spec.scheduler.is_some() && spec.host_delay.tx_ps > 0 {
        let reason = "is with a scheduler, whose rates change in NICs at once: set it to 0, or leave the scheduler out";
        return Err(wrong("host_delay.tx_ps", spec.host_delay.tx_ps, reason));
    }
    if !(1..=simple_switch::MAX_PRIORITIES).contains(&spec.priorities) {
        return Err(wrong("priorities", spec.priorities, "must be from 1 to 8, v1model's priorities"));
    }
    quanta(spec)?;
    if !(2..=65_536).contains(&samples.max) || samples.max % 2 != 0 {
        return Err(wrong("queue_samples.max", samples.max, "must be an even number from 2 to 65536"));
    }
    Ok(())
}

/// Returns the quanta of every switch port.
pub(crate) fn quanta(spec: &FabricSpec) -> Result<Quanta, SpecError> {
    let mut quanta = Quanta::default();
    for (index, one) in spec.quanta.iter().enumerate() {
        let place = || format!("quanta[{index}].priority");
        let slot = quanta[..spec.priorities].get_mut(one.priority).ok_or_else(|| {
            wrong(place(), one.priority, format!("there are {} queues, from 0", spec.priorities))
        })?;
        if slot.replace(one.bytes).is_some() {
            return Err(wrong(place(), one.priority, "has a quantum already"));
        }
    }
    Ok(quanta)
}

fn nodes(spec: &FabricSpec) -> Result<BTreeMap<&str, Node>, SpecError> {
    let mut nodes = BTreeMap::new();
    let switches = spec.switches.iter().enumerate().map(|(i, s)| ("switches", i, &s.name, Node::Switch(i)));
    let hosts = spec.hosts.iter().enumerate().map(|(i, h)| ("hosts", i, &h.name, Node::Host(i)));
    for (list, index, name, node) in switches.chain(hosts) {
        if nodes.insert(name.as_str(), node).is_some() {
            return Err(wrong(format!("{list}[{index}].name"), name, "another node has this name"));
        }
    }
    let mut macs = BTreeSet::new();
    for (index, host) in spec.hosts.iter().enumerate() {
        if !macs.insert(host.mac) {
            return Err(wrong(format!("hosts[{index}].mac"), host.mac, "another host has this address"));
        }
    }
    Ok(nodes)
}

fn phys(spec: &FabricSpec) -> Result<BTreeMap<u64, PhySpec>, SpecError> {
    let mut phys = BTreeMap::new();
    for (index, phy) in spec.phy.iter().enumerate() {
        let place = |field: &str| format!("phy[{index}].{field}");
        if !(phy.watts.is_finite() && phy.watts >= 0.0) {
            return Err(wrong(place("watts"), phy.watts, "must be a number of watts, not negative"));
        }
        if !(0.0..=1.0).contains(&phy.lpi_fraction) {
            return Err(wrong(place("lpi_fraction"), phy.lpi_fraction, "must be from 0 to 1"));
        }
        check_time(place("sleep_ps"), phy.sleep.as_ps())?;
        check_time(place("wake_ps"), phy.wake.as_ps())?;
        if phys.insert(phy.rate_bps, *phy).is_some() {
            return Err(wrong(place("rate_bps"), phy.rate_bps, "another entry has this rate"));
        }
    }
    Ok(phys)
}

/// Returns for each switch whether it has hosts. Ends without a known node are reported later.
fn leaves(spec: &FabricSpec, nodes: &BTreeMap<&str, Node>) -> Vec<bool> {
    let mut is_leaf = vec![false; spec.switches.len()];
    for link in &spec.links {
        for (one, other) in [(&link.a, &link.b), (&link.b, &link.a)] {
            let ends = (nodes.get(one.node.as_str()), nodes.get(other.node.as_str()));
            if let (Some(Node::Switch(switch)), Some(Node::Host(_))) = ends {
                is_leaf[*switch] = true;
            }
        }
    }
    is_leaf
}

fn check_port(place: &str, end: &EndSpec, node: Node, spec: &FabricSpec) -> Result<(), SpecError> {
    let refuse = |field: &str, value: &dyn Display, reason: &str| {
        Err(wrong(format!("{place}.{field}"), value, reason))
    };
    match node {
        Node::Host(_) if end.port != 0 => refuse("port", &end.port, "a host has one port, 0"),
        Node::Host(_) if end.eee.is_some() => {
            refuse("eee", &end.node, "is a host, whose PHY follows its NIC; set nic.eee")
        }
        Node::Switch(_) if end.port == spec.cpu_port => {
            refuse("port", &end.port, "is the CPU port, which has no link")
        }
        _ => Ok(()),
    }
}

/// Returns the layer of a transmitter. A leaf is a switch with hosts, a spine one without.
fn layer(from: Node, to: Node, is_leaf: &[bool]) -> &'static str {
    match (from, to) {
        (Node::Host(_), _) => "host_nic",
        (Node::Switch(_), Node::Host(_)) => "leaf_to_host",
        (Node::Switch(from), Node::Switch(to)) => match (is_leaf[from], is_leaf[to]) {
            (true, true) => "leaf_to_leaf",
            (true, false) => "leaf_to_spine",
            (false, true) => "spine_to_leaf",
            (false, false) => "spine_to_spine",
        },
    }
}

fn direction(
    place: &str,
    link: &LinkSpec,
    from: (Node, u16),
    to: (Node, u16),
    end: &EndSpec,
    layer: &'static str,
    phys: &BTreeMap<u64, PhySpec>,
) -> Result<Direction, SpecError> {
    let rate = DataRate::new(link.rate_bps)
        .ok_or_else(|| wrong(format!("{place}.rate_bps"), 0, "must be more than zero"))?;
    if link.overhead_bytes > u64::from(u16::MAX) {
        let reason = "must fit 16 bits; Ethernet's is 24";
        return Err(wrong(format!("{place}.overhead_bytes"), link.overhead_bytes, reason));
    }
    let phy = phys.get(&link.rate_bps).copied();
    if end.eee.is_some() && phy.is_none() {
        return Err(no_timings(place, link.rate_bps));
    }
    Ok(Direction {
        from,
        to,
        rate,
        delay: check_time(format!("{place}.delay_ps"), link.delay_ps)?,
        overhead: Bytes::new(link.overhead_bytes),
        layer,
        phy,
        stall: end.eee.map(|eee| check_time(format!("{place} eee.stall_ps"), eee.stall_ps)).transpose()?,
    })
}

fn no_timings(place: &str, rate_bps: u64) -> SpecError {
    wrong(place, rate_bps, "EEE is on at a rate that `phy` says no timings for; add an entry or turn it off")
}

#[cfg(test)]
mod tests {
    use serde_json::{json, Value};

    use super::*;

    const REFUSALS: &str = include_str!("../../tests/refusals.txt");

    /// Returns the rows of `refusals.txt`. The first is a spec.
    fn rows() -> impl Iterator<Item = &'static str> {
        REFUSALS.lines().filter(|line| line.starts_with('{'))
    }

    /// Returns the wiring of that spec, with some of its values replaced.
    fn wiring(by: &Value) -> Result<Wiring, SpecError> {
        let mut spec: Value = serde_json::from_str(rows().next().unwrap()).unwrap();
        for (pointer, value) in by.as_object().unwrap() {
            let (parent, last) = pointer.rsplit_once('/').unwrap();
            match spec.pointer_mut(parent).unwrap() {
                Value::Array(list) => list.push(value.clone()),
                parent => parent[last] = value.clone(),
            }
        }
        Wiring::new(&FabricSpec::from_json(spec.to_string().as_bytes())?)
    }

    #[test]
    fn directions_start_with_the_hosts_and_know_their_layer() {
        let wiring = wiring(&json!({})).unwrap();
        let found: Vec<_> = wiring.directions.iter().map(|d| (d.from, d.to.0, d.layer)).collect();
        let (leaf, spine) = (Node::Switch(0), Node::Switch(1));
        assert_eq!(
            found,
            [
                ((Node::Host(0), 0), leaf, "host_nic"),
                ((Node::Host(1), 0), leaf, "host_nic"),
                ((leaf, 1), Node::Host(0), "leaf_to_host"),
                ((leaf, 2), Node::Host(1), "leaf_to_host"),
                ((leaf, 3), spine, "leaf_to_spine"),
                ((spine, 1), leaf, "spine_to_leaf"),
            ]
        );
        assert_eq!(wiring.directions[0].overhead, Bytes::new(24));
    }

    #[test]
    fn a_fault_of_a_node_is_one_of_each_of_its_links_in_both_directions() {
        let faults =
            json!([{"node": "leaf1", "at_ps": 7}, {"node": "spine1", "port": 1, "at_ps": 8, "until_ps": 9}]);
        let (at, until) = (Time::from_ps(7), None);
        let of_leaf = [[2, 0], [3, 1], [4, 5]].map(|directions| LinkFault { directions, at, until });
        let of_spine = LinkFault { directions: [5, 4], at: Time::from_ps(8), until: Some(Time::from_ps(9)) };
        assert_eq!(
            wiring(&json!({ "/faults": faults })).unwrap().faults,
            [of_leaf.as_slice(), &[of_spine]].concat()
        );
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_place_value_and_reason() {
        for row in rows().skip(1) {
            let (by, expected) = row.split_once(" -> ").unwrap();
            let error = wiring(&serde_json::from_str(by).unwrap()).err();
            let error = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{row}: {error:?}");
        }
    }
}
