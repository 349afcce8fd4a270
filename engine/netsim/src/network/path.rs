//! Finds the links that a frame will cross, by sending it through copies of the switches that have no packets.
//!
//! The copies run the same program on the same entries, so the path is the one that the switches' own hash chooses
//! while no link has failed. The network's switches, with their counters and registers, are not touched.

use simple_switch::Switch;
use units::Time;

use crate::limits::LATEST;
use crate::network::wiring::Node;
use crate::network::Network;

/// Maximum number of switches on a path.
const MAX_SWITCHES: usize = schedule::MAX_PATH - 1;
/// Maximum number of wake-ups of a copy until the frame has left it, for example held by an EEE gate, or recirculating.
const MAX_WAKEUPS: u32 = 10_000;

/// A copy of a switch, with its own time.
struct Copy {
    switch: Switch,
    now: Time,
}

/// Copies of the network's switches, created on demand.
#[derive(Default)]
pub(crate) struct Paths {
    copies: Vec<Option<Box<Copy>>>,
}

impl Paths {
    /// Discards the copy of a switch that may have been written to.
    pub(crate) fn forget(&mut self, switch: usize) {
        if let Some(copy) = self.copies.get_mut(switch) {
            *copy = None;
        }
    }

    /// Returns the indices of the directions (hosts' uplinks first, then the wires) that a frame from one host to
    /// another crosses, in order; `None` if it does not arrive.
    pub(crate) fn find(
        &mut self,
        network: &Network,
        from: usize,
        to: usize,
        frame: &[u8],
    ) -> Option<Vec<u32>> {
        self.copies.resize_with(network.switches.len(), || None);
        let mut links = vec![from as u32];
        let (mut switch, mut port) = network.hosts[from].attached_to;
        let mut frame = frame.to_vec();
        for _ in 0..MAX_SWITCHES {
            let node = &network.switches[switch];
            let index = switch;
            let copy = self.copies[switch].get_or_insert_with(|| {
                let mut switch = node.switch.without_packets();
                network.without_faults(index, &mut switch);
                Box::new(Copy { switch, now: Time::ZERO })
            });
            let (out, sent) = copy.forward(port, &frame)?;
            let wire = node.wire_at(out)?;
            links.push((network.hosts.len() + wire) as u32);
            match network.wires[wire].to {
                (Node::Host(host), _) => return (host == to).then_some(links),
                (Node::Switch(next), next_port) => (switch, port, frame) = (next, next_port, sent),
            }
        }
        None
    }
}

impl Copy {
    /// Returns the port by which the copy sends a frame, and the frame as sent; `None` if the copy drops it. Leaves nothing in the copy.
    fn forward(&mut self, port: u16, frame: &[u8]) -> Option<(u16, Vec<u8>)> {
        self.switch.handle_packet(self.now, port, frame, 0);
        let mut sent = None;
        for _ in 0..MAX_WAKEUPS {
            while let Some(transmit) = self.switch.poll_transmit() {
                sent.get_or_insert_with(|| (transmit.port, transmit.frame.to_vec()));
                self.switch.recycle(transmit.frame);
            }
            while self.switch.poll_digest().is_some() {}
            let Some(next) = self.switch.next_wakeup().filter(|next| *next < LATEST) else { break };
            self.now = self.now.max(next);
            self.switch.handle_wakeup(self.now);
        }
        sent
    }
}
