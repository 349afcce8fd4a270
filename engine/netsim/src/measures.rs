//! What happens to packets end to end, by the class they were sent with.

use units::{Histogram, Time};
use wire::{Ecn, PacketClass};

use crate::tag;

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Their bytes, without FCS.
    pub bytes: u64,
}

impl Count {
    fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

/// One class.
#[derive(Clone, Default)]
pub struct ClassMeasures {
    /// Offered to NICs by hosts.
    pub sent: Count,
    /// Arrived where it was to go.
    pub delivered: Count,
    /// Of these, with CE set, by whomever.
    pub delivered_ce: u64,
    /// From being offered to the NIC until the last bit has arrived.
    pub latency: Histogram,
}

/// All classes, by number.
#[derive(Clone, Default)]
pub struct Measures([ClassMeasures; PacketClass::ALL.len()]);

impl Measures {
    /// A host offers a frame of `bytes` to its NIC.
    #[inline]
    pub(crate) fn sent(&mut self, class: PacketClass, bytes: usize) {
        self.0[class as usize].sent.add(bytes);
    }

    /// A frame of `bytes` has arrived at the host that it was for.
    #[inline]
    pub(crate) fn delivered(&mut self, now: Time, packet_tag: u64, bytes: usize, ecn: Option<Ecn>) {
        let (sent, class) = tag::decode(packet_tag);
        let measures = &mut self.0[class as usize];
        measures.delivered.add(bytes);
        measures.delivered_ce += u64::from(ecn == Some(Ecn::Ce));
        measures.latency.record(now.saturating_since(sent));
    }

    /// One class.
    pub fn class(&self, class: PacketClass) -> &ClassMeasures {
        &self.0[class as usize]
    }
}
