//! Makes a fabric of its spec: switches with their ports, wires, hosts.

use std::collections::VecDeque;
use std::sync::Arc;

use bm::Program;
use simple_switch::{Frame, PortConfig, Switch, SwitchConfig};
use units::{Duration, Time};

use crate::endpoints::Endpoints;
use crate::errors::FabricError;
use crate::events::Schedule;
use crate::fabric::{Fabric, MAX_PACKET_INS};
use crate::flows::Flows;
use crate::host::Host;
use crate::link::Link;
use crate::measures::Measures;
use crate::nic::Nic;
use crate::phy::{Phy, PhyType};
use crate::queue_depth::QueueDepth;
use crate::spec::FabricSpec;
use crate::wiring::{Direction, Node, Wiring};

/// No link at this port.
const NO_WIRE: u32 = u32::MAX;

/// A switch and what belongs to it.
pub(crate) struct SwitchNode {
    pub(crate) name: String,
    pub(crate) switch: Switch,
    /// Index into the fabric's wires by port, or [`NO_WIRE`].
    wire_by_port: Vec<u32>,
    /// Ports with links, in order, and the queue-depth series of each.
    pub(crate) queues: Vec<(u16, usize)>,
    pub(crate) packet_ins: VecDeque<Frame>,
    pub(crate) packet_in_count: u64,
    pub(crate) packet_ins_lost: u64,
    pub(crate) packet_outs: u64,
}

impl SwitchNode {
    /// Index of the wire at `port`, if it has a link.
    #[inline]
    pub(crate) fn wire_at(&self, port: u16) -> Option<usize> {
        let wire = *self.wire_by_port.get(usize::from(port))?;
        (wire != NO_WIRE).then_some(wire as usize)
    }

    /// A packet goes to the controller.
    pub(crate) fn packet_in(&mut self, frame: Frame) {
        self.packet_in_count += 1;
        if self.packet_ins.len() < MAX_PACKET_INS {
            self.packet_ins.push_back(frame);
        } else {
            self.packet_ins_lost += 1;
            self.switch.recycle(frame);
        }
    }
}

/// A direction of a link that leaves a switch.
pub(crate) struct Wire {
    pub(crate) link: Link<(Frame, u64)>,
    pub(crate) to: (Node, u16),
    /// The queue-depth series of the port it leaves by.
    pub(crate) queue: usize,
}

impl Fabric {
    /// Builds the fabric; every switch runs `program`.
    pub fn new(program: Arc<Program>, spec: FabricSpec) -> Result<Self, FabricError> {
        let Wiring { directions, nics } = Wiring::new(&spec)?;
        let (host_count, switch_count) = (spec.hosts.len(), spec.switches.len());
        // A program that counts in ticks is off by at most two of them; a NIC's tick is a picosecond.
        let phys = directions.iter().enumerate().map(|(index, direction)| {
            let tick = Duration::from_ps(if index < host_count { 1 } else { spec.tick_ps });
            Phy::new(direction.phy.unwrap_or(PhyType::NONE), direction.stall, tick * 2)
        });
        let hosts = spec.hosts.iter().zip(&nics).zip(&directions).enumerate();
        let hosts = hosts.map(|(index, ((host, (limit, eee, aqm)), direction))| {
            // Streams of their own, unlike the switches', which are seeded with a device id.
            let seed = spec.seed ^ (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let nic = Nic::new(direction.rate, direction.overhead, *limit, *eee).with_aqm(*aqm, seed);
            Host::new(host, nic, Link::new(direction.delay))
        });
        let mut switches = Vec::with_capacity(switch_count);
        let mut queue_count = 0;
        for index in 0..switch_count {
            switches.push(switch_node(&program, &spec, index, &directions[host_count..], &mut queue_count)?);
        }
        let wires = directions[host_count..].iter().map(|direction| Wire {
            link: Link::new(direction.delay),
            to: direction.to,
            queue: queue_of(&switches, direction),
        });
        let samples = spec.queue_samples;
        Ok(Self {
            now: Time::ZERO,
            phys: phys.collect(),
            hosts: hosts.collect(),
            wires: wires.collect(),
            measures: Measures::default(),
            queue_depth: QueueDepth::new(queue_count, Duration::from_ps(samples.period_ps), samples.max),
            events: 0,
            schedule: Schedule::new(host_count + directions.len() + switch_count + 2),
            endpoints: Endpoints::default(),
            flows: Flows::default(),
            driver: None,
            stops_when_finished: false,
            pending: VecDeque::new(),
            last_fed: Time::ZERO,
            pool: Vec::new(),
            switches,
            directions,
            spec,
        })
    }
}

/// Makes one switch with its ports.
fn switch_node(
    program: &Arc<Program>,
    spec: &FabricSpec,
    index: usize,
    wires: &[Direction],
    queue_count: &mut usize,
) -> Result<SwitchNode, FabricError> {
    let named = &spec.switches[index];
    let mut wire_by_port = vec![NO_WIRE; simple_switch::PORT_COUNT];
    let mut ports = Vec::new();
    for (wire, direction) in wires.iter().enumerate() {
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
            // The program enforces the buffer limit in bytes; a drop here would leave its account wrong.
            queue_limit_packets: None,
            queue_limit_bytes: None,
        });
    }
    ports.sort_by_key(|port| port.port);
    let queues = ports.iter().enumerate().map(|(place, port)| (port.port, *queue_count + place)).collect();
    *queue_count += ports.len();
    let config = SwitchConfig {
        device_id: named.device_id,
        tick: Duration::from_ps(spec.tick_ps),
        cpu_port: Some(spec.cpu_port),
        drop_port: spec.drop_port,
        gate_register: spec.gate_register.clone(),
        seed: spec.seed,
        clock_start: named.clock_start,
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

/// The queue-depth series of the port that a direction leaves by.
fn queue_of(switches: &[SwitchNode], direction: &Direction) -> usize {
    let (Node::Switch(switch), port) = direction.from else {
        unreachable!("only directions that leave switches become wires");
    };
    let queue = switches[switch].queues.iter().find(|(number, _)| *number == port);
    queue.expect("every direction that leaves a switch has a queue").1
}
