//! The network of a fabric: hosts with their NICs, links with their PHYs, and switches that run P4.
//!
//! A frame's path: a host's queue ([`nic`], with an AQM and the hold of [`eee`]), its link ([`link`], [`phy`]), a
//! switch ([`switch`]), the wire at the switch's port, and so on to the destination host ([`host`]). [`build`] creates
//! a network from a spec that [`wiring`] has checked; [`report`] fills in its part of the report.

mod build;
mod cnp;
pub mod eee;
mod faults;
pub(crate) mod frame;
mod hops;
mod host;
mod limiter;
mod link;
mod listen;
pub mod nic;
mod nic_aqm;
pub mod nic_classes;
mod nic_fair;
mod nic_limit;
mod nic_queues;
#[cfg(test)]
mod nic_tests;
mod nic_transmitter;
mod path;
mod pauses;
pub mod phy;
mod reactions;
mod report;
mod switch;
pub(crate) mod tag;
pub(crate) mod wiring;

use std::num::NonZeroU32;

use simple_switch::hops::Cause;
use simple_switch::{Frame, Transmit};
use units::{Bytes, Time};
use wire::{Ecn, FiveTuple, PacketClass};

use crate::events::{Event, EventQueue};
use crate::limits::LATEST;
use crate::report::measures::Measures;
use crate::report::queue_depth::QueueDepth;

use faults::Faults;
use frame::{Buffers, HostFrame};
use hops::Recorder;
pub(crate) use host::Host;
pub use listen::Heard;
pub(crate) use listen::Listener;
pub(crate) use path::Paths;
use pauses::Pauses;
use switch::{SwitchNode, Wire};
use wiring::{Direction, Node};

/// Hosts, links and switches, and the measurements of the packets between them.
pub(crate) struct Network {
    pub(crate) hosts: Vec<Host>,
    /// Directions that leave switches, in the order of the links.
    pub(crate) wires: Vec<Wire>,
    pub(crate) switches: Vec<SwitchNode>,
    /// Every direction: first those that leave hosts, in the order of the hosts, then those of `wires`. A path consists of indices.
    pub(crate) directions: Vec<Direction>,
    cpu_port: u16,
    measures: Measures,
    queue_depth: QueueDepth,
    pub(crate) buffers: Buffers,
    pub(crate) listener: Listener,
    /// Frames that have left NICs or were dropped there, and whose owners must be notified.
    pub(crate) left: Vec<LeftNic>,
    /// The number of the last frame that a host has offered.
    offered: u32,
    /// Records hops, if requested. See `hops`.
    hops: Option<Box<Recorder>>,
    faults: Faults,
    /// Pauses of queues, if queues can be paused.
    pauses: Option<Pauses>,
}

/// A frame that has left its host's NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftNic {
    pub(crate) owner: NonZeroU32,
    pub(crate) payload_bytes: u64,
}

impl LeftNic {
    /// Creates the record of a frame with an owner; `None` for any other frame.
    #[inline]
    fn of(frame: &HostFrame) -> Option<Self> {
        frame.owner.map(|owner| Self {
            owner,
            payload_bytes: u64::from(frame.wire_len) - frame.captured.len() as u64,
        })
    }
}

/// A frame that has arrived at its destination host.
pub(crate) struct Arrival {
    pub(crate) host: usize,
    pub(crate) frame: Frame,
    /// The switch that owns the frame's memory.
    switch: usize,
}

impl Network {
    /// Returns the directions of a path.
    pub(crate) fn path(&self, numbers: &[u32]) -> Vec<&Direction> {
        numbers.iter().map(|number| &self.directions[*number as usize]).collect()
    }

    /// Returns the number of P4 passes of all switches.
    pub(crate) fn p4_passes(&self) -> u64 {
        self.switches.iter().map(|node| node.switch.p4_passes()).sum()
    }

    /// Advances to the time of `events`; nothing has changed before it.
    #[inline]
    pub(crate) fn advance(&mut self, events: &EventQueue) {
        self.queue_depth.advance(events.now());
    }

    /// Sends everything that is due at switches: a control write may have opened a gate, a new program may have emptied queues.
    pub(crate) fn send_from_switches(&mut self, events: &mut EventQueue) {
        for switch in 0..self.switches.len() {
            self.send_from_switch(events, switch);
        }
    }

    /// Offers a frame of a host to its NIC.
    pub(crate) fn offer(&mut self, events: &mut EventQueue, host: usize, mut frame: HostFrame) {
        if self.hosts[host].notification_point.is_some() && frame.class() == PacketClass::Data {
            wire::set_ect0(&mut frame.captured);
        }
        self.note_offered(events, host, &mut frame);
        match self.hosts[host].nic.enqueue(events.now(), frame) {
            Ok(()) => self.schedule_nic(events, host),
            Err(dropped) => self.drop_in_nic(events, host, dropped),
        }
    }

    #[inline]
    fn note_offered(&mut self, events: &EventQueue, host: usize, frame: &mut HostFrame) {
        self.measures.sent(frame.class(), frame.wire_len as usize);
        self.offered = self.offered.wrapping_add(1);
        frame.number = self.offered;
        if let Some(hops) = &mut self.hops {
            hops.offered(events.now(), host, frame);
        }
    }

    /// Handles DCQCN at a host: a notification changes a flow's rate, and a packet with CE may cause a notification.
    fn dcqcn(&mut self, events: &mut EventQueue, host: usize, frame: &[u8], ecn: Option<Ecn>) {
        let now = events.now();
        if self.hosts[host].nic.handle_notification(now, frame) {
            return self.schedule_nic(events, host);
        }
        if ecn != Some(Ecn::Ce) {
            return;
        }
        let point = self.hosts[host].notification_point.as_mut();
        let Some(cnp) = point.and_then(|point| point.marked(now, frame)) else { return };
        let len = cnp.len();
        let mut cnp = HostFrame::new(now, cnp, len);
        self.note_offered(events, host, &mut cnp);
        self.hosts[host].nic.enqueue_cnp(now, cnp);
        self.schedule_nic(events, host);
    }

    /// Adds a limiter with this rate, in bits per second on the wire, to a host's NIC; `None` if the NIC has the maximum number.
    pub(crate) fn add_limiter(
        &mut self,
        events: &EventQueue,
        host: usize,
        rate_bps: u64,
    ) -> Option<NonZeroU32> {
        self.hosts[host].nic.queues.add_limiter(events.now(), rate_bps)
    }

    /// Sets the rate of a limiter from now on.
    pub(crate) fn set_limiter(
        &mut self,
        events: &mut EventQueue,
        host: usize,
        limiter: NonZeroU32,
        rate_bps: u64,
    ) {
        self.hosts[host].nic.queues.set_limiter(events.now(), limiter, rate_bps);
        self.schedule_nic(events, host);
    }

    /// Removes a limiter.
    pub(crate) fn remove_limiter(&mut self, events: &mut EventQueue, host: usize, limiter: NonZeroU32) {
        self.hosts[host].nic.queues.remove_limiter(limiter);
        self.schedule_nic(events, host);
    }

    /// Handles a frame that a NIC has dropped.
    fn drop_in_nic(&mut self, events: &EventQueue, host: usize, dropped: HostFrame) {
        if let Some(hops) = &mut self.hops {
            hops.host_dropped(events.now(), host, &dropped, Cause::Nic);
        }
        self.left.extend(LeftNic::of(&dropped));
        self.buffers.give_back(dropped.captured);
    }

    #[inline]
    fn schedule_nic(&self, events: &mut EventQueue, host: usize) {
        let due = self.hosts[host].nic.next_event().map(|due| due.max(events.now()));
        events.set(Event::NicSends(host), due);
    }

    /// Handles [`Event::NicSends`].
    #[inline]
    pub(crate) fn nic_sends(&mut self, events: &mut EventQueue, index: usize) {
        let host = &mut self.hosts[index];
        if host.nic.reacts(events.now()) {
            // A rate has changed, so the due frame may be due later.
            return self.schedule_nic(events, index);
        }
        let (arrival, left) = host.send(events.now(), self.hops.as_deref_mut().map(|hops| (hops, index)));
        if let Some(arrival) = arrival {
            events.set_due(Event::UplinkDelivers(index), arrival);
        }
        self.left.extend(left);
        while let Some(dropped) = self.hosts[index].nic.pop_dropped() {
            self.drop_in_nic(events, index, dropped);
        }
        self.schedule_nic(events, index);
    }

    /// Handles [`Event::UplinkDelivers`].
    #[inline]
    pub(crate) fn uplink_delivers(&mut self, events: &mut EventQueue, index: usize) {
        let host = &mut self.hosts[index];
        let Some((frame, is_lost)) = host.uplink.receive() else { return };
        events.set(Event::UplinkDelivers(index), host.uplink.next_arrival());
        if is_lost {
            return self.uplink_loses(events, index, frame);
        }
        let (switch, port) = host.attached_to;
        let HostFrame { captured, wire_len, tag, number, .. } = frame;
        self.expect(switch, u64::from(number));
        self.switches[switch].switch.handle_snapped(events.now(), port, &captured, wire_len as usize, tag);
        if let Some(priorities) = self.pause_of(&captured) {
            self.pause_came(events.now(), (Node::Switch(switch), port), priorities);
        }
        self.buffers.give_back(captured);
        self.send_from_switch(events, switch);
    }

    /// Handles [`Event::WireDelivers`]. A frame that is returned has arrived at its host; it must be given back with [`Network::recycle`].
    #[inline]
    pub(crate) fn wire_delivers(&mut self, events: &mut EventQueue, index: usize) -> Option<Arrival> {
        let wire = &mut self.wires[index];
        let ((frame, packet_tag), is_lost) = wire.link.receive()?;
        events.set(Event::WireDelivers(index), wire.link.next_arrival());
        let packet = self.hops.as_deref_mut().map(|hops| hops.arrives(index));
        if is_lost {
            self.wire_loses(events, index, frame, packet_tag, packet);
            return None;
        }
        match wire.to {
            (Node::Switch(switch), port) => {
                if let Some(packet) = packet {
                    self.expect(switch, packet);
                }
                let pause = self.pause_of(&frame);
                self.switches[switch].switch.handle_frame(events.now(), port, frame, packet_tag);
                if let Some(priorities) = pause {
                    self.pause_came(events.now(), (Node::Switch(switch), port), priorities);
                }
                self.send_from_switch(events, switch);
                None
            }
            (Node::Host(host), _) => {
                let arrival = Arrival { host, frame, switch: wire.from };
                if nic_classes::is_mac_control(&arrival.frame) {
                    self.control_arrives(events, arrival, packet);
                    return None;
                }
                if self.hosts[host].is_listened_to {
                    self.listener.hear(events.now(), host, &arrival.frame);
                }
                let is_message = self.hosts[host].takes_message(&arrival.frame);
                if is_message {
                    self.hosts[host].nic.handle_message(events.now(), &arrival.frame);
                    self.schedule_nic(events, host);
                }
                let Some(ecn) = self.hosts[host].receive(&arrival.frame) else {
                    self.recycle(arrival);
                    return None;
                };
                if let (Some(hops), Some(packet)) = (&mut self.hops, packet) {
                    hops.delivered(events.now(), host, packet, &arrival.frame);
                }
                if self.hosts[host].notification_point.is_some() {
                    self.dcqcn(events, host, &arrival.frame, ecn);
                }
                // A message has the tag of the frame from which it was copied, and no host has sent it.
                if !is_message {
                    let (sent, class) = tag::decode(packet_tag);
                    let latency = events.now().saturating_since(sent);
                    self.measures.delivered(class, arrival.frame.len(), latency, ecn);
                }
                Some(arrival)
            }
        }
    }

    /// Handles a host's frame that a link has lost while it is down.
    #[cold]
    fn uplink_loses(&mut self, events: &EventQueue, host: usize, frame: HostFrame) {
        self.lose_from_host(host, frame.class());
        if let Some(hops) = &mut self.hops {
            hops.host_dropped(events.now(), host, &frame, Cause::LinkDown);
        }
        self.buffers.give_back(frame.captured);
    }

    /// Handles a switch's frame that a link has lost while it is down.
    #[cold]
    fn wire_loses(
        &mut self,
        events: &EventQueue,
        wire: usize,
        frame: Frame,
        packet_tag: u64,
        packet: Option<u64>,
    ) {
        self.lose_from_switch(wire, tag::decode(packet_tag).1, &frame);
        let Wire { from, port, .. } = self.wires[wire];
        if let (Some(hops), Some(packet)) = (&mut self.hops, packet) {
            hops.wire_lost(events.now(), from as u16, port, packet, &frame);
        }
        self.switches[from].switch.recycle(frame);
    }

    /// Delivers a MAC control frame, which ends at the NIC.
    #[cold]
    fn control_arrives(&mut self, events: &mut EventQueue, arrival: Arrival, packet: Option<u64>) {
        let host = arrival.host;
        if self.hosts[host].is_listened_to {
            self.listener.hear(events.now(), host, &arrival.frame);
        }
        if let (Some(hops), Some(packet)) = (&mut self.hops, packet) {
            hops.delivered(events.now(), host, packet, &arrival.frame);
        }
        let to = &mut self.hosts[host];
        to.received.add(arrival.frame.len());
        to.nic.receive_control(events.now(), &arrival.frame);
        if let Some(priorities) = self.pause_of(&arrival.frame) {
            self.pause_came(events.now(), (Node::Host(host), 0), priorities);
        }
        self.recycle(arrival);
        self.schedule_nic(events, host);
    }

    /// Sets the number of the packet that arrives next at a switch, if hops are recorded.
    #[inline]
    fn expect(&mut self, switch: usize, packet: u64) {
        if self.hops.is_some() {
            if let Some(hops) = self.switches[switch].switch.hops_mut() {
                hops.expect(packet);
            }
        }
    }

    /// Returns whether hops are recorded.
    #[inline]
    pub(crate) fn records_hops(&self) -> bool {
        self.hops.is_some()
    }

    /// Records that a host's TCP sender has lowered its congestion window, given in bytes before and after, if hops are recorded.
    pub(crate) fn slowed(&mut self, now: Time, host: usize, flow: &FiveTuple, window: [Bytes; 2]) {
        if let Some(hops) = &mut self.hops {
            hops.slowed(now, host, flow, window);
        }
    }

    /// Returns the memory of a frame to the switch that sent it.
    #[inline]
    pub(crate) fn recycle(&mut self, arrival: Arrival) {
        self.switches[arrival.switch].switch.recycle(arrival.frame);
    }

    /// Handles [`Event::SwitchWakes`].
    #[inline]
    pub(crate) fn switch_wakes(&mut self, events: &mut EventQueue, index: usize) {
        self.switches[index].switch.handle_wakeup(events.now());
        self.send_from_switch(events, index);
    }

    /// Passes a packet from the controller to a switch, packet-out header included.
    pub(crate) fn packet_out(&mut self, events: &mut EventQueue, index: usize, packet: &[u8]) {
        let node = &mut self.switches[index];
        node.packet_outs += 1;
        let packet_tag = tag::encode(events.now().min(LATEST), PacketClass::Other);
        node.switch.handle_packet(events.now(), self.cpu_port, packet, packet_tag);
        self.advance(events);
        self.send_from_switch(events, index);
    }

    /// Puts a switch's frames on the wires, and notes its queue depths and its next wake-up.
    #[inline]
    fn send_from_switch(&mut self, events: &mut EventQueue, index: usize) {
        let node = &mut self.switches[index];
        while let Some(Transmit { port, at, ready, wire_time, frame, tag }) = node.switch.poll_transmit() {
            let packet = node.next_sent(self.hops.is_some());
            let Some(wire) = node.wire_at(port) else {
                // The switch drops packets to ports without a link, so this is the CPU port.
                node.packet_in(frame);
                continue;
            };
            if let Some(hops) = &mut self.hops {
                hops.phy_sends(index as u16, port, &self.wires[wire].phy, ready);
                hops.put_on_wire(wire, packet);
            }
            if let Some(arrival) = self.wires[wire].send(ready..at, wire_time, frame, tag) {
                events.set_due(Event::WireDelivers(wire), arrival);
            }
        }
        if let Some(hops) = &mut self.hops {
            hops.absorb(&mut node.switch);
        }
        while let Some(port) = node.switch.poll_queue_change() {
            if let Some(wire) = node.wire_at(port) {
                self.queue_depth.observe(self.wires[wire].queue, node.switch.queue_bytes(port).get());
            }
        }
        events.set(Event::SwitchWakes(index), node.switch.next_wakeup());
    }
}
