//! The stream of hops of the whole fabric: the switches' own, joined, with what hosts and PHYs do.
//!
//! Nodes are numbered: switches in the order of the spec, then hosts; a host's port is 0. Packets are numbered from 1 in the order
//! in which hosts offer them. On a wire, packets keep their order, so a queue of numbers beside it says who arrives.

use std::collections::VecDeque;

use simple_switch::hops::{
    HopError, HopEvent, HopFilter, HopKind, HopLog, LINK_DOWN_CAUSE, OTHER_CAUSE, UNKNOWN_PACKET,
};
use simple_switch::Frame;
use units::{Bytes, Duration, Time};
use wire::FiveTuple;

use crate::network::frame::HostFrame;
use crate::network::phy::Phy;
use crate::network::Network;

/// What records the hops of a fabric.
pub(super) struct Recorder {
    log: HopLog,
    switches: usize,
    /// Numbers of the packets on each wire.
    wires: Vec<VecDeque<u64>>,
}

impl Network {
    /// Records from now on the hops that `filter` admits. What was recorded before is forgotten; packets under way are not recorded. On an
    /// error nothing is recorded any more.
    pub(crate) fn record_hops(&mut self, filter: &HopFilter) -> Result<(), HopError> {
        self.take_hops(Time::ZERO);
        let Some(first) = self.switches.first() else { return Ok(()) };
        let log = HopLog::new(first.switch.program(), filter.clone(), 0)?;
        for (node, switch) in self.switches.iter_mut().enumerate() {
            switch.switch.record_hops(filter.clone(), node as u16)?;
            if let Some(hops) = switch.switch.hops_mut() {
                hops.tell_sent();
            }
        }
        let under_way = |wire: &super::switch::Wire| (0..wire.link.len()).map(|_| UNKNOWN_PACKET).collect();
        let wires = self.wires.iter().map(under_way).collect();
        self.hops = Some(Box::new(Recorder { log, switches: self.switches.len(), wires }));
        Ok(())
    }

    /// Takes what was recorded until `now`, in order of time, and records nothing any more. None when nothing was recorded.
    pub(crate) fn take_hops(&mut self, now: Time) -> Option<HopLog> {
        let mut hops = self.hops.take();
        for node in &mut self.switches {
            if let (Some(mut log), Some(hops)) = (node.switch.take_hops(), &mut hops) {
                hops.log.absorb(&mut log);
            }
        }
        let mut recorder = *hops?;
        // Links that sleep now have not told so: they tell when they wake.
        for (index, host) in self.hosts.iter().enumerate() {
            recorder.slept((recorder.switches + index) as u16, 0, &host.phy, now);
        }
        for wire in &self.wires {
            recorder.slept(wire.from as u16, wire.port, &wire.phy, now);
        }
        recorder.log.sort();
        Some(recorder.log)
    }
}

impl Recorder {
    fn host(&self, host: usize) -> u16 {
        (self.switches + host) as u16
    }

    /// Records that a host offers a frame.
    #[cold]
    pub(super) fn offered(&mut self, now: Time, host: usize, frame: &HostFrame) {
        self.host_event(HopEvent::new(now, HopKind::Offered, 0), host, frame);
    }

    /// Records that a NIC drops a frame.
    #[cold]
    pub(super) fn nic_dropped(&mut self, now: Time, host: usize, frame: &HostFrame) {
        let event = HopEvent { cause: OTHER_CAUSE, ..HopEvent::new(now, HopKind::Dropped, 0) };
        self.host_event(event, host, frame);
    }

    /// Records that the link of a host loses a frame.
    #[cold]
    pub(super) fn uplink_lost(&mut self, now: Time, host: usize, frame: &HostFrame) {
        let event = HopEvent { cause: LINK_DOWN_CAUSE, ..HopEvent::new(now, HopKind::Dropped, 0) };
        self.host_event(event, host, frame);
    }

    /// Records that the wire behind a switch's port loses a packet.
    #[cold]
    pub(super) fn wire_lost(&mut self, now: Time, node: u16, port: u16, packet: u64, frame: &Frame) {
        let Some(flow) = self.log.flow_of(frame).filter(|_| packet != UNKNOWN_PACKET) else { return };
        let event = HopEvent { cause: LINK_DOWN_CAUSE, ..HopEvent::new(now, HopKind::Dropped, port) };
        self.log.push(HopEvent { packet, flow, node, bytes: frame.len() as u32, ..event }, Some(frame));
    }

    /// Records that a NIC puts a frame on its link, which its last bit has left at `until`.
    #[cold]
    pub(super) fn nic_sent(&mut self, now: Time, host: usize, frame: &HostFrame, until: Time) {
        let event = HopEvent { until_ps: until.as_ps(), ..HopEvent::new(now, HopKind::Sent, 0) };
        self.host_event(event, host, frame);
    }

    fn host_event(&mut self, event: HopEvent, host: usize, frame: &HostFrame) {
        let Some(flow) = self.log.flow_of(&frame.captured) else { return };
        let (packet, bytes, node) = (u64::from(frame.number), frame.wire_len, self.host(host));
        let with_frame = matches!(event.kind, HopKind::Sent | HopKind::Dropped);
        let event = HopEvent { packet, flow, bytes, node, ..event };
        self.log.push(event, with_frame.then_some(&frame.captured[..]));
    }

    /// Records how the PHY of a host's NIC has slept before it sends.
    #[cold]
    pub(super) fn host_phy_sends(&mut self, host: usize, phy: &Phy, start: Time) {
        self.phy_sends(self.host(host), 0, phy, start);
    }

    /// Records how a PHY has slept until now, before it sends.
    #[cold]
    pub(super) fn phy_sends(&mut self, node: u16, port: u16, phy: &Phy, start: Time) {
        let Some(wake) = self.slept(node, port, phy, start) else { return };
        let at = Time::from_ps(start.as_ps().saturating_sub(wake.as_ps()));
        let event = HopEvent { node, until_ps: start.as_ps(), ..HopEvent::new(at, HopKind::Woke, port) };
        self.log.push(event, None);
    }

    /// If the PHY sleeps at `now`, tells since when, and returns the time that it takes to wake.
    fn slept(&mut self, node: u16, port: u16, phy: &Phy, now: Time) -> Option<Duration> {
        let sleep = phy.sleep_at(now)?;
        let event = HopEvent {
            node,
            until_ps: sleep.asleep.as_ps(),
            ..HopEvent::new(sleep.since, HopKind::Slept, port)
        };
        self.log.push(event, None);
        Some(sleep.wake)
    }

    /// Records that a switch has put a packet on a wire.
    #[cold]
    pub(super) fn put_on_wire(&mut self, wire: usize, packet: u64) {
        self.wires[wire].push_back(packet);
    }

    /// Returns the packet that arrives next over a wire.
    #[cold]
    pub(super) fn arrives(&mut self, wire: usize) -> u64 {
        self.wires[wire].pop_front().unwrap_or(UNKNOWN_PACKET)
    }

    /// Records that a packet has arrived at the host that it was for.
    #[cold]
    pub(super) fn delivered(&mut self, now: Time, host: usize, packet: u64, frame: &Frame) {
        if packet == UNKNOWN_PACKET {
            return;
        }
        let Some(flow) = self.log.flow_of(frame) else { return };
        let node = self.host(host);
        let event = HopEvent::new(now, HopKind::Delivered, 0);
        self.log.push(HopEvent { packet, flow, node, bytes: frame.len() as u32, ..event }, None);
    }

    /// Records that a host's TCP sender has lowered its congestion window, given in bytes before and after.
    #[cold]
    pub(super) fn slowed(&mut self, now: Time, host: usize, flow: &FiveTuple, [before, after]: [Bytes; 2]) {
        let Some(flow) = self.log.number_of(Some(flow)) else { return };
        let node = self.host(host);
        let event = HopEvent::new(now, HopKind::Slowed, 0);
        self.log.push(
            HopEvent {
                flow,
                node,
                bytes: u32::try_from(before.get()).unwrap_or(u32::MAX),
                queue_bytes: after.get(),
                ..event
            },
            None,
        );
    }

    /// Takes over what a switch has recorded.
    #[cold]
    pub(super) fn absorb(&mut self, switch: &mut simple_switch::Switch) {
        if let Some(hops) = switch.hops_mut() {
            self.log.absorb(hops);
        }
    }
}
