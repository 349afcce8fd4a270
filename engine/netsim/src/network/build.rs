//! Builds a network from its spec: hosts, switches with their ports, wires.

use std::collections::VecDeque;
use std::sync::Arc;

use bm::Executable;
use simple_switch::{PortConfig, Switch, SwitchConfig};
use units::Duration;

use crate::errors::FabricError;
use crate::network::cnp::NotificationPoint;
use crate::network::faults::Faults;
use crate::network::frame::Buffers;
use crate::network::host::Host;
use crate::network::link::Link;
use crate::network::nic::Nic;
use crate::network::phy::Phy;
use crate::network::switch::{SwitchNode, Wire, NO_WIRE};
use crate::network::wiring::{quanta, Direction, Node, Wiring};
use crate::network::{Listener, Network};
use crate::report::measures::{Count, Measures};
use crate::report::queue_depth::QueueDepth;
use crate::spec::FabricSpec;

impl Network {
    /// Builds the network; every switch runs `program`.
    pub(crate) fn new(program: &Arc<Executable>, spec: &FabricSpec) -> Result<Self, FabricError> {
        let Wiring { directions, nics, faults } = Wiring::new(spec)?;
        let (uplinks, downlinks) = directions.split_at(spec.hosts.len());
        let hosts = spec.hosts.iter().zip(nics).zip(uplinks);
        let hosts = hosts.map(|((host, settings), direction)| {
            let dcqcn = host.nic.as_ref().unwrap_or(&spec.nic).dcqcn;
            let nic = Nic::new(direction.rate, direction.overhead, settings);
            let (Node::Switch(switch), port) = direction.to else {
                unreachable!("a host's link leads to a switch; the wiring has checked it");
            };
            Host {
                spec: host.clone(),
                nic,
                phy: phy(direction, Duration::from_ps(1)),
                uplink: Link::new(direction.delay),
                attached_to: (switch, port),
                received: Count::default(),
                misdelivered: 0,
                notification_point: dcqcn.map(|dcqcn| Box::new(NotificationPoint::new(&dcqcn))),
                is_listened_to: false,
            }
        });
        let mut switches = Vec::with_capacity(spec.switches.len());
        let mut queue_count = 0;
        for index in 0..spec.switches.len() {
            switches.push(switch_node(program, spec, index, downlinks, &mut queue_count)?);
        }
        let wires = downlinks.iter().map(|direction| wire(&switches, spec, direction));
        let samples = spec.queue_samples;
        Ok(Self {
            hosts: hosts.collect(),
            wires: wires.collect(),
            cpu_port: spec.cpu_port,
            measures: Measures::default(),
            queue_depth: QueueDepth::new(queue_count, Duration::from_ps(samples.period_ps), samples.max),
            buffers: Buffers::default(),
            listener: Listener::default(),
            left: Vec::new(),
            offered: 0,
            hops: None,
            faults: Faults::new(&faults),
            pauses: spec.class_gate_register.as_ref().map(|_| vec![Default::default(); directions.len()]),
            switches,
            directions,
        })
    }
}

/// Returns the PHY of a transmitter. Its sender counts in ticks, and so is off by at most two of them.
fn phy(direction: &Direction, tick: Duration) -> Phy {
    Phy::new(direction.phy.unwrap_or_default(), direction.stall, tick * 2)
}

/// Creates one switch with its ports.
fn switch_node(
    program: &Arc<Executable>,
    spec: &FabricSpec,
    index: usize,
    downlinks: &[Direction],
    queue_count: &mut usize,
) -> Result<SwitchNode, FabricError> {
    let named = &spec.switches[index];
    let quanta = quanta(spec)?;
    let mut wire_by_port = vec![NO_WIRE; simple_switch::PORT_COUNT];
    let mut ports = Vec::new();
    for (wire, direction) in downlinks.iter().enumerate() {
        if direction.from.0 != Node::Switch(index) {
            continue;
        }
        let port = direction.from.1;
        if let Some(slot) = wire_by_port.get_mut(usize::from(port)) {
            *slot = wire as u32;
        }
        ports.push(PortConfig {
            port,
            rate: Some(direction.rate),
            overhead: direction.overhead,
            // The E-EON program enforces a limit in bytes; a drop here would make its account wrong. Other programs have no limit.
            queue_limit_packets: spec.queue_limit_packets,
            queue_limit_bytes: None,
            quanta,
        });
    }
    ports.sort_by_key(|port| port.port);
    let queues = ports.iter().enumerate().map(|(series, port)| (port.port, *queue_count + series)).collect();
    *queue_count += ports.len();
    let config = SwitchConfig {
        device_id: named.device_id,
        tick: Duration::from_ps(spec.tick_ps),
        cpu_port: Some(spec.cpu_port),
        drop_port: spec.drop_port,
        gate_register: spec.gate_register.clone(),
        class_gate_register: spec.class_gate_register.clone(),
        timer_register: spec.timer_register.clone(),
        seed: spec.seed,
        clock_start: named.clock_start,
        priorities: spec.priorities,
        recirculation_delay: Duration::from_ps(spec.recirculation_delay_ps),
        ports,
        ..SwitchConfig::default()
    };
    let switch = Switch::new(Arc::clone(program), config)
        .map_err(|error| FabricError::Switch { name: named.name.clone(), error })?;
    Ok(SwitchNode {
        name: named.name.clone(),
        switch,
        wire_by_port,
        queues,
        packet_ins: VecDeque::new(),
        packet_in_count: 0,
        packet_ins_lost: 0,
        packet_outs: 0,
    })
}

/// Creates the wire of a direction that leaves a switch.
fn wire(switches: &[SwitchNode], spec: &FabricSpec, direction: &Direction) -> Wire {
    let (Node::Switch(from), port) = direction.from else {
        unreachable!("only directions that leave switches become wires");
    };
    let queue = switches[from].queues.iter().find(|(number, _)| *number == port);
    let (_, queue) = *queue.expect("every direction that leaves a switch has a queue");
    Wire {
        link: Link::new(direction.delay),
        phy: phy(direction, Duration::from_ps(spec.tick_ps)),
        from,
        port,
        to: direction.to,
        queue,
    }
}
