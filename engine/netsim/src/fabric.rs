//! The fabric: switches, links and hosts under one clock.
//!
//! A caller alternates between feeding ([`Fabric::send`], in order of time) and running ([`Fabric::run_until`]), so
//! that a trace of any length takes bounded memory. Which batches it chooses changes nothing: a frame that a
//! host sends at some time comes before everything else that happens at that time, in the order fed.
//!
//! Same program, spec, control writes and frames: same report, byte for byte.

use std::collections::VecDeque;

use simple_switch::{Switch, Transmit};
use units::Time;
use wire::classify_snapped;

use crate::assembly::{SwitchNode, Wire};
use crate::endpoints::Endpoints;
use crate::errors::{FlowError, SendError};
use crate::events::{Schedule, Source};
use crate::flows::{FlowSpec, Flows};
use crate::host::Host;
use crate::measures::Measures;
use crate::nic::HostFrame;
use crate::phy::Phy;
use crate::queue_depth::QueueDepth;
use crate::spec::FabricSpec;
use crate::tag;
use crate::wiring::{Direction, Node};
use crate::workload::Driver;

/// Most frames fed and not yet sent. A caller that wants to feed more runs first.
pub const MAX_PENDING: usize = 1 << 20;

/// Most packet-ins of one switch that nobody has taken; later ones are lost and counted.
pub const MAX_PACKET_INS: usize = 4096;

/// Longest frame, in bytes without FCS.
pub const MAX_FRAME_BYTES: usize = simple_switch::MAX_FRAME_BYTES;

/// Buffers of sent frames that are kept for reuse.
const POOL_LIMIT: usize = 4096;

/// A whole fabric in virtual time.
pub struct Fabric {
    pub(crate) spec: FabricSpec,
    pub(crate) now: Time,
    /// Every direction; those that leave hosts come first, in the order of the hosts.
    pub(crate) directions: Vec<Direction>,
    /// By direction.
    pub(crate) phys: Vec<Phy>,
    pub(crate) hosts: Vec<Host>,
    /// Directions that leave switches, in order; `wires[i]` is `directions[hosts.len() + i]`.
    pub(crate) wires: Vec<Wire>,
    pub(crate) switches: Vec<SwitchNode>,
    pub(crate) measures: Measures,
    pub(crate) queue_depth: QueueDepth,
    pub(crate) events: u64,
    /// TCP connections of the hosts.
    pub(crate) endpoints: Endpoints,
    /// Flows of the list.
    pub(crate) flows: Flows,
    /// Applications, when there are any.
    pub(crate) driver: Option<Box<Driver>>,
    /// A run ends in the instant in which the applications have finished.
    pub(crate) stops_when_finished: bool,
    /// Sources, in this order: NICs, uplinks, wires, switches, all endpoints' timers, all applications' timers.
    pub(crate) schedule: Schedule,
    /// Frames fed and not yet sent, in order.
    pub(crate) pending: VecDeque<(Time, u32, HostFrame)>,
    pub(crate) last_fed: Time,
    /// Buffers for reuse.
    pub(crate) pool: Vec<Vec<u8>>,
}

impl Fabric {
    /// The spec it was built from.
    pub fn spec(&self) -> &FabricSpec {
        &self.spec
    }

    /// Everything before this time has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events handled so far: frames leaving NICs, frames arriving, switches woken.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// P4 passes of all switches so far.
    pub fn p4_passes(&self) -> u64 {
        self.switches.iter().map(|node| node.switch.p4_passes()).sum()
    }

    /// Number of a host in the spec's list.
    pub fn host_index(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// Number of a switch in the spec's list.
    pub fn switch_index(&self, name: &str) -> Option<usize> {
        self.switches.iter().position(|node| node.name == name)
    }

    /// A switch, to look at.
    ///
    /// # Panics
    /// When there is no switch of this number; so do the other calls that take one, unless they return an error.
    pub fn switch(&self, index: usize) -> &Switch {
        &self.switches[index].switch
    }

    /// A switch, to configure. Frames go in and out through the fabric only.
    pub fn switch_mut(&mut self, index: usize) -> &mut Switch {
        &mut self.switches[index].switch
    }

    /// The tag with which a frame that [`Fabric::send`] takes at `at` travels, to follow it with [`Switch::follow`]. Frames of
    /// one class sent at the same time share it.
    pub fn tag_of(at: Time, captured: &[u8], wire_len: usize) -> u64 {
        tag::encode(at.min(tag::LATEST), classify_snapped(captured, wire_len))
    }

    /// The host offers a frame to its NIC at `at`. Of its `wire_len` bytes only the first need be given; the
    /// others are zero. Frames are fed in order of time.
    pub fn send(&mut self, host: usize, at: Time, captured: &[u8], wire_len: usize) -> Result<(), SendError> {
        if host >= self.hosts.len() {
            return Err(SendError::NoSuchNode { kind: "host", index: host, count: self.hosts.len() });
        }
        let not_before = self.last_fed.max(self.now);
        if at < not_before {
            return Err(SendError::Late { at, not_before });
        }
        if at > tag::LATEST {
            return Err(SendError::BeyondEnd { at });
        }
        let possible = wire::ethernet::HEADER_LEN..=MAX_FRAME_BYTES;
        if !possible.contains(&wire_len) || captured.len() > wire_len {
            return Err(SendError::Length { captured: captured.len(), wire_len });
        }
        if self.pending.len() >= MAX_PENDING {
            return Err(SendError::TooMany);
        }
        let mut buffer = self.pool.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(captured);
        let tag = Self::tag_of(at, captured, wire_len);
        self.pending.push_back((
            at,
            host as u32,
            HostFrame { captured: buffer, wire_len: wire_len as u32, tag },
        ));
        self.last_fed = at;
        Ok(())
    }

    /// Frames fed and not yet sent.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Has a host send bytes to another over TCP with `settings` at both ends; returns the flow's number in the report's list. The
    /// flows' order does not matter but for what happens at the same instant.
    pub fn start_flow(&mut self, settings: &tcp::Settings, flow: FlowSpec) -> Result<usize, FlowError> {
        let number = self.flows.add(&mut self.endpoints, self.now, &self.hosts, settings, flow)?;
        self.schedule_endpoints();
        Ok(number)
    }

    /// The controller gives the switch a packet, now: a frame on the CPU port, packet-out header included.
    pub fn packet_out(&mut self, switch: usize, packet: &[u8]) -> Result<(), SendError> {
        let count = self.switches.len();
        let node = self.switches.get_mut(switch);
        let node = node.ok_or(SendError::NoSuchNode { kind: "switch", index: switch, count })?;
        if packet.len() > MAX_FRAME_BYTES {
            return Err(SendError::Length { captured: packet.len(), wire_len: packet.len() });
        }
        node.packet_outs += 1;
        let tag = tag::encode(self.now.min(tag::LATEST), wire::PacketClass::Other);
        node.switch.handle_packet(self.now, self.spec.cpu_port, packet, tag);
        self.queue_depth.advance(self.now);
        self.drain(switch);
        Ok(())
    }

    /// The next packet that the switch has sent to the controller, packet-in header included.
    pub fn poll_packet_in(&mut self, switch: usize) -> Option<Vec<u8>> {
        let node = &mut self.switches[switch];
        let frame = node.packet_ins.pop_front()?;
        let packet = frame.to_vec();
        node.switch.recycle(frame);
        Some(packet)
    }

    /// Lets everything happen that is due before `until`, which is at most [`tag::LATEST`].
    pub fn run_until(&mut self, until: Time) {
        let until = until.min(tag::LATEST);
        self.run(until);
        self.pass_time(until);
    }

    /// Lets everything happen, until nothing is left to happen (`true`, and the clock stands at the last event)
    /// or `limit`, at most [`tag::LATEST`], is reached (`false`).
    pub fn run_to_idle(&mut self, limit: Time) -> bool {
        let limit = limit.min(tag::LATEST);
        self.run(limit);
        let idle = self.is_idle();
        if !idle {
            self.pass_time(limit);
        }
        idle
    }

    /// Nothing happens until `now`.
    pub(crate) fn pass_time(&mut self, now: Time) {
        if now > self.now {
            self.now = now;
            self.queue_depth.advance(now);
        }
    }

    /// Whether nothing is left to happen.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.schedule.peek().is_none()
    }

    pub(crate) fn run(&mut self, until: Time) {
        // Control writes may have opened gates, or a new program may have emptied queues.
        for switch in 0..self.switches.len() {
            self.drain(switch);
        }
        loop {
            let event = self.schedule.peek();
            let send = self.pending.front().map(|(at, _, _)| *at);
            let due = match (event, send) {
                (None, None) => break,
                (Some((at, _)), None) | (None, Some(at)) => at,
                (Some((event, _)), Some(send)) => event.min(send),
            };
            if due >= until {
                break;
            }
            // An event that a control write has made due may lie before the time run to.
            self.now = self.now.max(due);
            self.queue_depth.advance(self.now);
            self.events += 1;
            match event {
                Some((at, source)) if send.is_none_or(|send| at < send) => self.happen(source),
                _ => self.send_pending(),
            }
            if self.stops_when_finished && self.workload_is_finished() {
                break;
            }
        }
    }

    fn happen(&mut self, source: Source) {
        let mut index = source.0 as usize;
        if index < self.hosts.len() {
            return self.nic_sends(index);
        }
        index -= self.hosts.len();
        if index < self.hosts.len() {
            return self.uplink_delivers(index);
        }
        index -= self.hosts.len();
        if index < self.wires.len() {
            return self.wire_delivers(index);
        }
        index -= self.wires.len();
        if index == self.switches.len() {
            return self.endpoints_act();
        }
        if index > self.switches.len() {
            return self.workload_acts();
        }
        self.switches[index].switch.handle_wakeup(self.now);
        self.drain(index);
    }

    fn nic_source(&self, host: usize) -> Source {
        Source(host as u32)
    }

    fn uplink_source(&self, host: usize) -> Source {
        Source((self.hosts.len() + host) as u32)
    }

    fn wire_source(&self, wire: usize) -> Source {
        Source((2 * self.hosts.len() + wire) as u32)
    }

    fn switch_source(&self, switch: usize) -> Source {
        Source((2 * self.hosts.len() + self.wires.len() + switch) as u32)
    }

    fn endpoints_source(&self) -> Source {
        Source((2 * self.hosts.len() + self.wires.len() + self.switches.len()) as u32)
    }

    pub(crate) fn workload_source(&self) -> Source {
        Source(self.endpoints_source().0 + 1)
    }

    /// A host offers the next frame fed to its NIC.
    fn send_pending(&mut self) {
        if let Some((_, host, frame)) = self.pending.pop_front() {
            self.offer(host as usize, frame);
        }
    }

    /// A flow starts, or a connection's timer fires.
    fn endpoints_act(&mut self) {
        while let Some(end) = self.endpoints.pop_due(self.now) {
            self.transmit(end);
        }
        self.endpoints_have_acted();
    }

    /// Applications hear of what has become of their transfers; the next timer of the connections is known.
    fn endpoints_have_acted(&mut self) {
        if self.endpoints.has_done() {
            self.carry_out();
        } else {
            self.schedule_endpoints();
        }
    }

    /// Everything that one end of a flow sends now goes to its host's NIC.
    pub(crate) fn transmit(&mut self, end: usize) {
        let mut captured = self.pool.pop().unwrap_or_default();
        while let Some((host, len)) = self.endpoints.poll_transmit(self.now, end, &mut captured) {
            let tag = Self::tag_of(self.now, &captured, len);
            self.offer(host, HostFrame { captured, wire_len: len as u32, tag });
            captured = self.pool.pop().unwrap_or_default();
        }
        self.pool.push(captured);
    }

    pub(crate) fn schedule_endpoints(&mut self) {
        let due = self.endpoints.next_alarm();
        let source = self.endpoints_source();
        self.schedule.set_or_clear(source, due);
    }

    /// A host offers a frame to its NIC.
    pub(crate) fn offer(&mut self, index: usize, frame: HostFrame) {
        let host = &mut self.hosts[index];
        let (_, class) = tag::decode(frame.tag);
        self.measures.sent(class, frame.wire_len as usize);
        match host.nic.enqueue(self.now, frame) {
            Ok(()) => self.schedule_nic(index),
            Err(dropped) => self.recycle(dropped),
        }
    }

    fn schedule_nic(&mut self, host: usize) {
        let due = self.hosts[host].nic.next_departure().map(|due| due.max(self.now));
        let source = self.nic_source(host);
        self.schedule.set_or_clear(source, due);
    }

    fn nic_sends(&mut self, index: usize) {
        let host = &mut self.hosts[index];
        if let Some((frame, wire_time)) = host.nic.depart(self.now) {
            self.phys[index].transmit(self.now, wire_time);
            if let Some(arrival) = host.uplink.send(self.now, wire_time, frame) {
                let source = self.uplink_source(index);
                self.schedule.set(source, arrival);
            }
        }
        while let Some(dropped) = self.hosts[index].nic.pop_dropped() {
            self.recycle(dropped);
        }
        self.schedule_nic(index);
    }

    fn uplink_delivers(&mut self, index: usize) {
        let host = &mut self.hosts[index];
        let Some(frame) = host.uplink.receive() else { return };
        let next = host.uplink.next_arrival();
        let source = self.uplink_source(index);
        self.schedule.set_or_clear(source, next);
        let (Node::Switch(switch), port) = self.directions[index].to else {
            unreachable!("a host's link leads to a switch; the wiring has checked it");
        };
        let HostFrame { captured, wire_len, tag } = &frame;
        self.switches[switch].switch.handle_snapped(self.now, port, captured, *wire_len as usize, *tag);
        self.recycle(frame);
        self.drain(switch);
    }

    fn wire_delivers(&mut self, index: usize) {
        let wire = &mut self.wires[index];
        let Some((frame, tag)) = wire.link.receive() else { return };
        let (next, to) = (wire.link.next_arrival(), wire.to);
        let source = self.wire_source(index);
        self.schedule.set_or_clear(source, next);
        match to {
            (Node::Switch(switch), port) => {
                self.switches[switch].switch.handle_frame(self.now, port, frame, tag);
                self.drain(switch);
            }
            (Node::Host(host), _) => {
                if let Some(ecn) = self.hosts[host].receive(&frame, frame.len()) {
                    self.measures.delivered(self.now, tag, frame.len(), ecn);
                    if !self.endpoints.is_empty() {
                        if let Some(end) = self.endpoints.receive(self.now, host, &frame) {
                            self.transmit(end);
                            self.endpoints_have_acted();
                        }
                    }
                }
                if let (Node::Switch(from), _) = self.directions[self.hosts.len() + index].from {
                    self.switches[from].switch.recycle(frame);
                }
            }
        }
    }

    /// Takes from a switch what it sends, and notes how deep its queues are and when it is to be woken.
    fn drain(&mut self, index: usize) {
        let node = &mut self.switches[index];
        let (first_wire, host_count) = (2 * self.hosts.len(), self.hosts.len());
        while let Some(Transmit { port, at, wire_time, frame, tag }) = node.switch.poll_transmit() {
            let Some(wire_index) = node.wire_at(port) else {
                // The switch drops what goes to a port without link, so this is the CPU port.
                node.packet_in(frame);
                continue;
            };
            let wire = &mut self.wires[wire_index];
            self.phys[host_count + wire_index].transmit(at, wire_time);
            if let Some(arrival) = wire.link.send(at, wire_time, (frame, tag)) {
                self.schedule.set(Source((first_wire + wire_index) as u32), arrival);
            }
        }
        while let Some(port) = node.switch.poll_queue_change() {
            if let Some(wire) = node.wire_at(port) {
                self.queue_depth.observe(self.wires[wire].queue, node.switch.queue_bytes(port).get());
            }
        }
        let wakeup = node.switch.next_wakeup();
        let source = self.switch_source(index);
        self.schedule.set_or_clear(source, wakeup);
    }

    fn recycle(&mut self, frame: HostFrame) {
        if self.pool.len() < POOL_LIMIT {
            self.pool.push(frame.captured);
        }
    }
}
