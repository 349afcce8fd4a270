//! A host: its addresses, its NIC, the link to its switch, and the frames that have arrived.
//!
//! Frames of a host come from outside ([`crate::Fabric::send`]) or from its TCP connections (`transport`), which also
//! receive the frames that arrive.

use std::net::IpAddr;

use units::Time;
use wire::build::Addresses;
use wire::{ethernet, Ecn, Network};

use crate::network::cnp::NotificationPoint;
use crate::network::frame::HostFrame;
use crate::network::hops::Recorder;
use crate::network::link::Link;
use crate::network::nic::Nic;
use crate::network::phy::Phy;
use crate::network::reactions;
use crate::network::LeftNic;
use crate::report::{Count, DcqcnReport};
use crate::spec::HostSpec;

/// One host.
pub(crate) struct Host {
    pub(crate) spec: HostSpec,
    pub(super) nic: Nic,
    /// The PHY of the NIC's transmitter.
    pub(super) phy: Phy,
    pub(super) uplink: Link<HostFrame>,
    /// The switch, and its port, at the other end of the link.
    pub(super) attached_to: (usize, u16),
    pub(super) received: Count,
    pub(super) misdelivered: u64,
    /// DCQCN: answers frames that arrive with CE, and makes outgoing data ECN-capable; `None` without DCQCN.
    pub(super) notification_point: Option<Box<NotificationPoint>>,
    /// Whether a caller listens to the frames that arrive.
    pub(crate) is_listened_to: bool,
}

impl Host {
    /// Returns the addresses of a frame to another host, over IPv4 if both have it. If the host has a gateway, the
    /// frame is addressed to the gateway.
    pub(crate) fn addresses_to(&self, to: &Self) -> Option<Addresses> {
        let (from, to) = (&self.spec, &to.spec);
        let v4 = from.ipv4.zip(to.ipv4).map(|(from, to)| (IpAddr::V4(from), IpAddr::V4(to)));
        let v6 = from.ipv6.zip(to.ipv6).map(|(from, to)| (IpAddr::V6(from), IpAddr::V6(to)));
        let (source, destination) = v4.or(v6)?;
        Some(Addresses {
            source_mac: from.mac.0,
            destination_mac: from.gateway_mac.unwrap_or(to.mac).0,
            source,
            destination,
            ecn: Ecn::NotEct,
        })
    }

    /// Returns the addresses of frames between this host and another, in both directions.
    pub(crate) fn addresses_with(&self, other: &Self) -> Option<[Addresses; 2]> {
        self.addresses_to(other).zip(other.addresses_to(self)).map(Into::into)
    }

    /// Puts the NIC's next frame on the link. Returns its arrival time if it is the first frame on the link, and the
    /// owner to notify that it has left.
    #[inline]
    pub(super) fn send(
        &mut self,
        now: Time,
        hops: Option<(&mut Recorder, usize)>,
    ) -> (Option<Time>, Option<LeftNic>) {
        let Some((frame, wire_time)) = self.nic.depart(now) else { return (None, None) };
        if let Some((hops, host)) = hops {
            hops.host_phy_sends(host, &self.phy, self.nic.ready().min(now));
            hops.nic_sent(now, host, &frame, now + wire_time);
        }
        self.phy.stay_awake(self.nic.ready(), now);
        self.phy.transmit(now, wire_time);
        let left = LeftNic::of(&frame);
        (self.uplink.send(now, wire_time, frame), left)
    }

    /// Receives a frame. If it is for this host, returns `Some` with its ECN codepoint, if it has one.
    #[inline]
    pub(super) fn receive(&mut self, frame: &[u8]) -> Option<Option<Ecn>> {
        let network = Network::of(frame);
        if !self.is_addressed(frame, network.as_ref()) {
            self.misdelivered += 1;
            return None;
        }
        self.received.add(frame.len());
        Some(network.and_then(|network| network.ecn()))
    }

    /// Returns the counts of DCQCN, if it is on.
    pub(super) fn dcqcn(&self) -> Option<DcqcnReport> {
        let (point, reactions) = self.notification_point.as_ref().zip(self.nic.dcqcn())?;
        Some(DcqcnReport {
            marked: point.marked,
            cnps_sent: point.sent,
            cnps: reactions.messages,
            malformed: reactions.malformed + reactions.unknown_flow,
            without_limiter: reactions.without_limiter,
            max_limiters: reactions.max_limiters,
        })
    }

    /// Returns whether the frame is a congestion notification message for this host's NIC.
    #[inline]
    pub(super) fn takes_message(&self, frame: &[u8]) -> bool {
        reactions::is_message(frame) && frame.starts_with(&self.spec.mac.0)
    }

    /// Returns whether the frame is for this host. Switches on the path write the next hop's MAC address, so for an IP
    /// packet the IP address must also match.
    fn is_addressed(&self, frame: &[u8], network: Option<&Network<'_>>) -> bool {
        let Some(ethernet) = ethernet::Frame::new_checked(frame) else { return false };
        let destination = ethernet.destination();
        if destination[0] & 1 == 1 {
            return true; // Multicast and broadcast are for every host that they reach.
        }
        destination == self.spec.mac.0
            && match network {
                Some(Network::Ipv4(packet)) => Some(packet.destination()) == self.spec.ipv4,
                Some(Network::Ipv6(packet)) => Some(packet.destination()) == self.spec.ipv6,
                Some(Network::Other(_)) => true,
                None => false,
            }
    }
}
