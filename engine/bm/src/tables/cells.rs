//! All of it together.

use std::collections::BTreeSet;

use super::action_profile::ActionProfile;
use super::counter::Counters;
use super::crcs::Crcs;
use super::entries::Entries;
use super::meter::Meter;
use super::register::Registers;
use crate::program::Program;

/// Everything that packets and the control plane change.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    pub(crate) tables: Vec<Entries>,
    pub(crate) profiles: Vec<ActionProfile>,
    pub(crate) registers: Registers,
    /// Indirect counters; empty for direct ones, which are with their entries.
    pub(crate) counters: Counters,
    /// Indirect meters; empty for direct ones.
    pub(crate) meters: Vec<Vec<Meter>>,
    /// Values with their low word first.
    pub(crate) vsets: Vec<BTreeSet<Vec<u64>>>,
    /// A reset leaves them, as in BMv2.
    pub(crate) crcs: Crcs,
    /// Where keys of more than two words are put together.
    pub(crate) scratch: Vec<u64>,
    /// Where keys are put together as value sets hold them.
    pub(crate) joined: Vec<u64>,
}

impl Cells {
    pub(crate) fn new(program: &Program) -> Cells {
        Cells {
            tables: program.match_tables().iter().map(Entries::new).collect(),
            profiles: vec![ActionProfile::default(); program.action_profiles().len()],
            registers: Registers::new(program.register_arrays()),
            counters: Counters::new(program.counter_arrays()),
            meters: program
                .meter_arrays()
                .iter()
                .map(|m| vec![Meter::default(); if m.direct_table.is_some() { 0 } else { m.size }])
                .collect(),
            vsets: vec![BTreeSet::new(); program.parse_vsets().len()],
            crcs: Crcs::default(),
            scratch: Vec::new(),
            joined: Vec::new(),
        }
    }
}
