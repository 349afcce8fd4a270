//! A host: its addresses, its NIC, the link to its switch, and what has arrived.
//!
//! What a host sends is told from outside ([`crate::Fabric::send`]) or comes from its TCP endpoints (`endpoints.rs`), which also get
//! what arrives.

use std::net::{Ipv4Addr, Ipv6Addr};

use wire::{ethernet, Ecn, Network};

use crate::link::Link;
use crate::mac::Mac;
use crate::measures::Count;
use crate::nic::{HostFrame, Nic};
use crate::spec::HostSpec;

/// One host.
pub(crate) struct Host {
    pub(crate) name: String,
    mac: Mac,
    ipv4: Option<Ipv4Addr>,
    ipv6: Option<Ipv6Addr>,
    pub(crate) nic: Nic,
    pub(crate) uplink: Link<HostFrame>,
    pub(crate) received: Count,
    pub(crate) misdelivered: u64,
}

impl Host {
    pub(crate) fn new(spec: &HostSpec, nic: Nic, uplink: Link<HostFrame>) -> Self {
        Self {
            name: spec.name.clone(),
            mac: spec.mac,
            ipv4: spec.ipv4,
            ipv6: spec.ipv6,
            nic,
            uplink,
            received: Count::default(),
            misdelivered: 0,
        }
    }

    pub(crate) fn mac(&self) -> [u8; 6] {
        self.mac.0
    }

    pub(crate) fn ipv4(&self) -> Option<Ipv4Addr> {
        self.ipv4
    }

    pub(crate) fn ipv6(&self) -> Option<Ipv6Addr> {
        self.ipv6
    }

    /// A frame of `len` bytes, of which the first are given, has arrived. `Some` with its ECN codepoint, if it has one, when it is for this host.
    #[inline]
    pub(crate) fn receive(&mut self, frame: &[u8], len: usize) -> Option<Option<Ecn>> {
        let network = Network::of(frame).ok();
        if !self.is_addressed(frame, network.as_ref()) {
            self.misdelivered += 1;
            return None;
        }
        self.received.packets += 1;
        self.received.bytes += len as u64;
        Some(network.and_then(|network| network.ecn()))
    }

    /// Whether the frame is for this host. Switches on the way write the next hop's MAC address, so for an IP
    /// packet the IP address must fit, too.
    fn is_addressed(&self, frame: &[u8], network: Option<&Network<'_>>) -> bool {
        let Ok(ethernet) = ethernet::Frame::new_checked(frame) else { return false };
        let destination = ethernet.destination();
        if destination[0] & 1 == 1 {
            return true; // Multicast and broadcast are for whomever they reach.
        }
        destination == self.mac.0
            && match network {
                Some(Network::Ipv4(packet)) => Some(packet.destination()) == self.ipv4,
                Some(Network::Ipv6(packet)) => Some(packet.destination()) == self.ipv6,
                Some(Network::Other(_)) => true,
                None => false,
            }
    }
}
