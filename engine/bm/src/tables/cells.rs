//! All mutable contents of a switch.

use std::collections::{BTreeMap, BTreeSet};

use super::action_profile::ActionProfile;
use super::counter::Counters;
use super::entries::Entries;
use super::meter::Meter;
use super::register::Registers;
use crate::program::{Crc, Program};

/// The data that packets and the control plane change.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    pub(crate) tables: Vec<Entries>,
    pub(crate) profiles: Vec<ActionProfile>,
    pub(crate) registers: Registers,
    /// Indirect counters; empty for direct ones, which are stored with their entries.
    pub(crate) counters: Counters,
    /// Indirect meters; empty for direct ones.
    pub(crate) meters: Vec<Vec<Meter>>,
    /// Values with their low word first.
    pub(crate) vsets: Vec<BTreeSet<Vec<u64>>>,
    /// The CRCs whose parameters the control plane has set, by calculation; a reset keeps them, as in BMv2.
    pub(crate) crcs: BTreeMap<u32, Crc>,
    /// Buffer for keys of more than two words.
    pub(crate) scratch: Vec<u64>,
    /// Buffer for keys in the form of value sets.
    pub(crate) joined: Vec<u64>,
}

impl Cells {
    pub(crate) fn new(program: &Program) -> Cells {
        Cells {
            tables: program.code.match_tables.iter().map(Entries::new).collect(),
            profiles: vec![ActionProfile::default(); program.action_profiles().len()],
            registers: Registers::new(program.register_arrays()),
            counters: Counters::new(program.counter_arrays()),
            meters: program
                .meter_arrays()
                .iter()
                .map(|m| vec![Meter::default(); if m.direct_table.is_some() { 0 } else { m.size }])
                .collect(),
            vsets: vec![BTreeSet::new(); program.parse_vsets().len()],
            crcs: BTreeMap::new(),
            scratch: Vec::new(),
            joined: Vec::new(),
        }
    }
}
