//! Registers, counters, meters and parser value sets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bm::{CounterValue, Executable, MeterRate, State};

use super::{padded, place, Answer, No, No::Elsewhere, No::Refused};
use crate::calls::Op;

/// Non-zero cells, by array and index.
type Cells<T> = BTreeMap<(usize, u64), T>;

pub(super) struct Arrays {
    program: Arc<Executable>,
    registers: Cells<Vec<u8>>,
    counters: Cells<CounterValue>,
    meters: Cells<Vec<MeterRate>>,
    vsets: Vec<BTreeSet<Vec<u8>>>,
}

impl Arrays {
    pub(super) fn new(program: Arc<Executable>) -> Self {
        Self {
            registers: Cells::new(),
            counters: Cells::new(),
            meters: Cells::new(),
            vsets: vec![BTreeSet::new(); program.parse_vsets().len()],
            program,
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Self::new(Arc::clone(&self.program));
    }

    /// Makes a call on an array.
    pub(super) fn make(&mut self, op: &Op) -> Answer {
        match op {
            Op::Register { register, start, end, value } => {
                let at = self.register(register)?;
                let info = &self.program.register_arrays()[at];
                let value = padded(value, info.bitwidth)?;
                if start >= end || *end > info.size as u64 {
                    return Err(Refused);
                }
                (*start..*end).for_each(|index| drop(self.registers.insert((at, index), value.clone())));
            }
            Op::ResetRegister { register } => {
                let at = self.register(register)?;
                self.registers.retain(|(of, _), _| *of != at);
            }
            Op::Counter { counter, index, value } => {
                let (at, size) = self.counter(counter)?;
                if *index >= size {
                    return Err(Refused);
                }
                self.counters.insert((at, *index), *value);
            }
            Op::ResetCounters { counter } => {
                let (at, _) = self.counter(counter)?;
                self.counters.retain(|(of, _), _| *of != at);
            }
            Op::Meter { meter, index, rates } => {
                let at = place(self.program.meter_arrays(), meter, |m| &m.name)?;
                let info = &self.program.meter_arrays()[at];
                check_rates(rates, info.rate_count)?;
                let size = info.size as u64;
                if info.direct_table.is_some() || index.is_some_and(|index| index >= size) {
                    return Err(Refused);
                }
                let cells = index.map_or(0..size, |index| index..index + 1);
                cells.for_each(|index| drop(self.meters.insert((at, index), rates.clone())));
            }
            Op::AddToVset { vset, value } => {
                let (at, value) = self.vset(vset, value)?;
                self.vsets[at].insert(value);
            }
            Op::RemoveFromVset { vset, value } => {
                let (at, value) = self.vset(vset, value)?;
                self.vsets[at].remove(&value);
            }
            Op::ClearVset { vset } => {
                let at = place(self.program.parse_vsets(), vset, |v| &v.name)?;
                self.vsets[at].clear();
            }
            _ => return Err(Elsewhere),
        }
        Ok(None)
    }

    fn register(&self, name: &str) -> Result<usize, No> {
        place(self.program.register_arrays(), name, |r| &r.name)
    }

    /// Returns an indirect counter and its size.
    fn counter(&self, name: &str) -> Result<(usize, u64), No> {
        let at = place(self.program.counter_arrays(), name, |c| &c.name)?;
        let info = &self.program.counter_arrays()[at];
        info.direct_table.is_none().then_some((at, info.size as u64)).ok_or(Refused)
    }

    fn vset(&self, name: &str, value: &[u8]) -> Result<(usize, Vec<u8>), No> {
        let at = place(self.program.parse_vsets(), name, |v| &v.name)?;
        Ok((at, padded(value, self.program.parse_vsets()[at].bitwidth)?))
    }

    /// Compares the model with the values read back.
    pub(super) fn check(&self, state: &State) {
        for (at, info) in self.program.register_arrays().iter().enumerate() {
            let zero = vec![0; info.bitwidth.div_ceil(8) as usize];
            let cells = state.register_read_all(&info.name).expect("the register is there");
            assert_eq!(cells.len(), info.size, "cells of {}", info.name);
            for (index, cell) in (0..).zip(&cells) {
                let expected = self.registers.get(&(at, index)).unwrap_or(&zero);
                assert_eq!(cell, expected, "cell {index} of {}", info.name);
            }
        }
        for (at, info) in self.program.counter_arrays().iter().enumerate() {
            let written =
                self.counters.range((at, 0)..(at + 1, 0)).map(|((_, index), value)| (*index, *value));
            // Unwritten cells are also checked, but only some.
            let few = (0..info.size.min(64) as u64)
                .map(|index| (index, self.counters.get(&(at, index)).copied().unwrap_or_default()));
            for (index, value) in written.chain(few).filter(|_| info.direct_table.is_none()) {
                assert_eq!(
                    state.read_counters(&info.name, index),
                    Ok(value),
                    "cell {index} of {}",
                    info.name
                );
            }
        }
        for (at, info) in self.program.meter_arrays().iter().enumerate() {
            for index in (0..info.size.min(64) as u64).filter(|_| info.direct_table.is_none()) {
                let rates = self.meters.get(&(at, index)).cloned().unwrap_or_default();
                assert_eq!(
                    state.meter_get_rates(&info.name, index),
                    Ok(rates),
                    "meter {index} of {}",
                    info.name
                );
            }
        }
        for (info, values) in self.program.parse_vsets().iter().zip(&self.vsets) {
            let there = state.parse_vset_get(&info.name).expect("the value set is there");
            assert!(there.iter().eq(values), "{}: {there:?} instead of {values:?}", info.name);
        }
    }
}

/// Refuses rates unless there are none, or as many as the meter has, each finite and non-negative, in ascending order.
pub(super) fn check_rates(rates: &[MeterRate], count: usize) -> Result<(), No> {
    let sound = |rate: &MeterRate| rate.info_rate.is_finite() && rate.info_rate >= 0.0;
    let rising = rates.windows(2).all(|pair| pair[0].info_rate <= pair[1].info_rate);
    let right = rates.is_empty() || (rates.len() == count && rates.iter().all(sound) && rising);
    right.then_some(()).ok_or(Refused)
}
