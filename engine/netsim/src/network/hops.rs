//! The hop log of the whole fabric: the logs of the switches, joined, with the events of hosts and PHYs.
//!
//! Nodes are numbered: switches in the order of the spec, then hosts; a host's port is 0. Packets are numbered from 1 in the order in which
//! hosts offer them. Packets keep their order on a wire, so a queue of numbers per wire identifies those that arrive.

use std::collections::VecDeque;

use simple_switch::hops::{Cause, Depth, Hop, HopEvent, HopFilter, HopLog, NONE, UNKNOWN_PACKET};
use simple_switch::Frame;
use units::{Bytes, Duration, Time};
use wire::FiveTuple;

use crate::network::frame::HostFrame;
use crate::network::phy::Phy;
use crate::network::Network;

/// The recorder of a fabric's hops.
pub(super) struct Recorder {
    log: HopLog,
    switches: usize,
    /// Numbers of the packets on each wire.
    wires: Vec<VecDeque<u64>>,
}

impl Network {
    /// Records from now on the hops that `filter` admits. Earlier records are discarded; packets under way are not
    /// recorded. On an error nothing is recorded any more.
    pub(crate) fn record_hops(&mut self, filter: &HopFilter) -> Result<(), simple_switch::ConfigError> {
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

    /// Stops recording and returns the log until `now`, in order of time; `None` if nothing was recorded.
    pub(crate) fn take_hops(&mut self, now: Time) -> Option<HopLog> {
        let mut hops = self.hops.take();
        for node in &mut self.switches {
            if let (Some(mut log), Some(hops)) = (node.switch.take_hops(), &mut hops) {
                hops.log.absorb(&mut log);
            }
        }
        let mut recorder = *hops?;
        // PHYs record a sleep when they wake, so the current sleeps are missing.
        for (index, host) in self.hosts.iter().enumerate() {
            recorder.slept((recorder.switches + index) as u16, 0, &host.phy, now);
        }
        for wire in &self.wires {
            recorder.slept(wire.from as u16, wire.port, &wire.phy, now);
        }
        // Events of one instant keep their order.
        recorder.log.events.sort_by_key(|event| event.at);
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
        self.host_event(now, Hop::Offered { bytes: frame.wire_len }, host, frame);
    }

    /// Records that a host's NIC or its link loses a frame.
    #[cold]
    pub(super) fn host_dropped(&mut self, now: Time, host: usize, frame: &HostFrame, cause: Cause) {
        self.host_event(now, Hop::dropped(frame.wire_len, Depth::default(), cause), host, frame);
    }

    /// Records that a NIC puts a frame on its link, whose last bit leaves at `until`.
    #[cold]
    pub(super) fn nic_sent(&mut self, now: Time, host: usize, frame: &HostFrame, until: Time) {
        self.host_event(now, Hop::sent(frame.wire_len, Depth::default(), until), host, frame);
    }

    fn host_event(&mut self, at: Time, hop: Hop, host: usize, frame: &HostFrame) {
        let (packet, node) = (u64::from(frame.number), self.host(host));
        self.packet_event(at, packet, [node, 0], hop, &frame.captured);
    }

    /// Records an event of a packet at a port of a node.
    fn packet_event(&mut self, at: Time, packet: u64, [node, port]: [u16; 2], hop: Hop, frame: &[u8]) {
        let Some(flow) = self.log.flow_of(frame).filter(|_| packet != UNKNOWN_PACKET) else { return };
        self.log.push(HopEvent { at, packet, flow, node, port, hop }, frame);
    }

    /// Records that the wire behind a switch's port loses a packet.
    #[cold]
    pub(super) fn wire_lost(&mut self, now: Time, node: u16, port: u16, packet: u64, frame: &Frame) {
        let hop = Hop::dropped(frame.len() as u32, Depth::default(), Cause::LinkDown);
        self.packet_event(now, packet, [node, port], hop, frame);
    }

    /// Records the sleep of a host NIC's PHY before it sends.
    #[cold]
    pub(super) fn host_phy_sends(&mut self, host: usize, phy: &Phy, start: Time) {
        self.phy_sends(self.host(host), 0, phy, start);
    }

    /// Records the sleep of a PHY until `start`, when it sends, and its wake.
    #[cold]
    pub(super) fn phy_sends(&mut self, node: u16, port: u16, phy: &Phy, start: Time) {
        let Some(wake) = self.slept(node, port, phy, start) else { return };
        let at = Time::from_ps(start.as_ps().saturating_sub(wake.as_ps()));
        self.log
            .push(HopEvent { at, packet: 0, flow: NONE, node, port, hop: Hop::Woke { until: start } }, &[]);
    }

    /// Records the current sleep of a PHY, if it sleeps at `now`. Returns the time that it takes to wake.
    fn slept(&mut self, node: u16, port: u16, phy: &Phy, now: Time) -> Option<Duration> {
        let sleep = phy.sleep_at(now)?;
        let hop = Hop::Slept { until: sleep.asleep };
        self.log.push(HopEvent { at: sleep.since, packet: 0, flow: NONE, node, port, hop }, &[]);
        Some(sleep.wake)
    }

    /// Records that a switch has put a packet on a wire.
    #[cold]
    pub(super) fn put_on_wire(&mut self, wire: usize, packet: u64) {
        self.wires[wire].push_back(packet);
    }

    /// Returns the number of the packet that arrives next over a wire.
    #[cold]
    pub(super) fn arrives(&mut self, wire: usize) -> u64 {
        self.wires[wire].pop_front().unwrap_or(UNKNOWN_PACKET)
    }

    /// Records that a packet has arrived at its destination host.
    #[cold]
    pub(super) fn delivered(&mut self, now: Time, host: usize, packet: u64, frame: &Frame) {
        if packet == UNKNOWN_PACKET {
            return;
        }
        let hop = Hop::Delivered { bytes: frame.len() as u32 };
        self.packet_event(now, packet, [self.host(host), 0], hop, frame);
    }

    /// Records that a host's TCP sender has lowered its congestion window, given in bytes before and after.
    #[cold]
    pub(super) fn slowed(&mut self, now: Time, host: usize, flow: &FiveTuple, [before, after]: [Bytes; 2]) {
        let Some(flow) = self.log.number_of(Some(flow)) else { return };
        let (node, hop) = (self.host(host), Hop::Slowed { before, after });
        self.log.push(HopEvent { at: now, packet: 0, flow, node, port: 0, hop }, &[]);
    }

    /// Moves the records of a switch into the log.
    #[cold]
    pub(super) fn absorb(&mut self, switch: &mut simple_switch::Switch) {
        if let Some(hops) = switch.hops_mut() {
            self.log.absorb(hops);
        }
    }
}
