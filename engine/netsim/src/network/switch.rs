//! A switch of the network, and the wires behind its ports.

use std::collections::VecDeque;
use std::ops::Range;

use simple_switch::hops::UNKNOWN_PACKET;
use simple_switch::{Frame, Switch};
use units::{Duration, Time};

use crate::limits::MAX_PACKET_INS;
use crate::network::link::Link;
use crate::network::phy::Phy;
use crate::network::wiring::Node;

/// Marks a port without a link.
pub(super) const NO_WIRE: u32 = u32::MAX;

/// A switch, and the state that belongs to it.
pub(crate) struct SwitchNode {
    pub(crate) name: String,
    pub(crate) switch: Switch,
    /// Index into the network's wires by port, or [`NO_WIRE`].
    pub(super) wire_by_port: Vec<u32>,
    /// Ports with links, in order, each with its queue-depth series.
    pub(super) queues: Vec<(u16, usize)>,
    pub(super) packet_ins: VecDeque<Frame>,
    pub(super) packet_in_count: u64,
    pub(super) packet_ins_lost: u64,
    pub(super) packet_outs: u64,
}

impl SwitchNode {
    /// Returns the index of the wire at `port`, if it has a link.
    #[inline]
    pub(super) fn wire_at(&self, port: u16) -> Option<usize> {
        let wire = *self.wire_by_port.get(usize::from(port))?;
        (wire != NO_WIRE).then_some(wire as usize)
    }

    /// Returns the number of the packet just taken from the switch's transmissions, if hops are recorded.
    #[inline]
    pub(super) fn next_sent(&mut self, is_recorded: bool) -> u64 {
        let hops = if is_recorded { self.switch.hops_mut() } else { None };
        hops.map_or(UNKNOWN_PACKET, |hops| hops.next_sent())
    }

    /// Stores a packet for the controller.
    pub(super) fn packet_in(&mut self, frame: Frame) {
        self.packet_in_count += 1;
        if self.packet_ins.len() < MAX_PACKET_INS {
            self.packet_ins.push_back(frame);
        } else {
            self.packet_ins_lost += 1;
            self.switch.recycle(frame);
        }
    }

    /// Takes a stored packet for the controller.
    pub(crate) fn poll_packet_in(&mut self) -> Option<Vec<u8>> {
        let frame = self.packet_ins.pop_front()?;
        let packet = frame.to_vec();
        self.switch.recycle(frame);
        Some(packet)
    }
}

/// A direction of a link that leaves a switch.
pub(crate) struct Wire {
    pub(super) link: Link<(Frame, u64)>,
    /// The PHY of the transmitter.
    pub(super) phy: Phy,
    /// The switch that sends.
    pub(super) from: usize,
    /// The port by which it leaves the switch.
    pub(super) port: u16,
    pub(super) to: (Node, u16),
    /// The queue-depth series of that port.
    pub(super) queue: usize,
}

impl Wire {
    /// Sends a frame at the end of `held`, during which it was held back although the port was awake. Returns its
    /// arrival time if it is the first frame on the link.
    #[inline]
    pub(super) fn send(
        &mut self,
        held: Range<Time>,
        wire_time: Duration,
        frame: Frame,
        tag: u64,
    ) -> Option<Time> {
        self.phy.stay_awake(held.start, held.end);
        self.phy.transmit(held.end, wire_time);
        self.link.send(held.end, wire_time, (frame, tag))
    }
}
