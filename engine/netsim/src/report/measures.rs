//! End-to-end measurements of packets, by the class with which they were sent.

use units::{Duration, Histogram};
use wire::{Ecn, PacketClass};

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Their bytes, without FCS.
    pub bytes: u64,
}

impl Count {
    /// Counts a packet.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

/// Marks and drops of a NIC's queue for the packets of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassCounts {
    /// Marked with CE.
    pub marked: u64,
    /// Dropped by the AQM.
    pub early_dropped: u64,
    /// Dropped because they did not fit.
    pub tail_dropped: u64,
}

impl ClassCounts {
    /// Adds the counts of another queue.
    pub fn add(&mut self, other: &Self) {
        self.marked += other.marked;
        self.early_dropped += other.early_dropped;
        self.tail_dropped += other.tail_dropped;
    }
}

/// One class.
#[derive(Clone, Default)]
pub struct ClassMeasures {
    /// Offered to NICs by hosts.
    pub sent: Count,
    /// Arrived at their destination.
    pub delivered: Count,
    /// Of these, with CE set.
    pub delivered_ce: u64,
    /// Time from the offer to the NIC until the last bit has arrived.
    pub latency: Histogram,
}

/// All classes, by number.
#[derive(Clone, Default)]
pub struct Measures([ClassMeasures; PacketClass::ALL.len()]);

impl Measures {
    /// Counts a frame of `bytes` that a host offers to its NIC.
    #[inline]
    pub(crate) fn sent(&mut self, class: PacketClass, bytes: usize) {
        self.0[class as usize].sent.add(bytes);
    }

    /// Counts a frame of `bytes` that has arrived at its destination host, `latency` after it was offered to the NIC.
    #[inline]
    pub(crate) fn delivered(
        &mut self,
        class: PacketClass,
        bytes: usize,
        latency: Duration,
        ecn: Option<Ecn>,
    ) {
        let measures = &mut self.0[class as usize];
        measures.delivered.add(bytes);
        measures.delivered_ce += u64::from(ecn == Some(Ecn::Ce));
        measures.latency.record(latency);
    }

    /// Returns the measures of one class.
    pub fn class(&self, class: PacketClass) -> &ClassMeasures {
        &self.0[class as usize]
    }
}
