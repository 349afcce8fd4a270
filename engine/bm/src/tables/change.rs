//! The values that a batch's calls have overwritten, for undoing them.

use std::collections::BTreeSet;

use super::action_profile::{GroupImage, MemberImage};
use super::counter::CounterValue;
use super::entries::{DefaultEntry, Entries, RowImage};
use super::meter::Meter;

/// One change: its place, and the contents before it. Those of a register are the words of consecutive cells.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Row { table: usize, at: u32, before: Box<RowImage> },
    Table { table: usize, before: Box<Entries> },
    Default { table: usize, before: Box<DefaultEntry> },
    Member { profile: usize, handle: u32, before: Box<MemberImage> },
    Group { profile: usize, handle: u32, before: Box<GroupImage> },
    Counter { array: usize, cell: usize, before: CounterValue },
    Counters { array: usize, before: Vec<CounterValue> },
    Meter { array: usize, cell: usize, before: Meter },
    Meters { array: usize, before: Vec<Meter> },
    Register { array: u32, first: u64, before: Vec<u64> },
    ValueSet { set: usize, before: BTreeSet<Vec<u64>> },
}
