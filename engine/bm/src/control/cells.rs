//! Objects outside of tables: indirect counters and meters, registers, parser value sets, and CRC parameters.

use std::ops::Range;

use super::pack::number;
use super::{find, Result};
use crate::error::RuntimeError;
use crate::number::to_bytes;
use crate::program::CrcParameters;
use crate::state::State;
use crate::tables::{Change, CounterValue, Meter, MeterRate};

/// Checks the rates for a meter: none, or as many as it has, lowest first.
pub(super) fn check_rates(object: String, count: usize, rates: &[MeterRate]) -> Result<()> {
    let fail = |reason: String| RuntimeError::BadRates { object: object.clone(), reason };
    if rates.is_empty() {
        return Ok(());
    }
    if rates.len() != count {
        return Err(RuntimeError::RateCount { object, given: rates.len(), wanted: count });
    }
    if let Some(rate) = rates.iter().find(|r| !r.info_rate.is_finite() || r.info_rate < 0.0) {
        return Err(fail(format!("rate {} is not a rate per microsecond", rate.info_rate)));
    }
    if let Some(pair) = rates.windows(2).find(|pair| pair[0].info_rate > pair[1].info_rate) {
        return Err(fail(format!(
            "rate {} comes before the lower rate {}; the lowest comes first",
            pair[0].info_rate, pair[1].info_rate
        )));
    }
    Ok(())
}

/// Checks the range `start..end` of cells against an array of `size`, and returns it.
fn range(object: impl FnOnce() -> String, start: u64, end: u64, size: usize) -> Result<Range<usize>> {
    let size = size as u64;
    if start < end && end <= size {
        return Ok(start as usize..end as usize);
    }
    Err(RuntimeError::IndexOutOfRange {
        object: object(),
        index: if start >= size { start } else { end },
        size,
    })
}

fn cell<T>(object: impl FnOnce() -> String, cells: &mut [T], index: u64) -> Result<&mut T> {
    let size = cells.len() as u64;
    usize::try_from(index)
        .ok()
        .and_then(|at| cells.get_mut(at))
        .ok_or_else(|| RuntimeError::IndexOutOfRange { object: object(), index, size })
}

impl State {
    fn counter(&self, name: &str) -> Result<usize> {
        let id = find("counter", &self.program.declared.names.counters, name)?;
        if let Some(table) = &self.program.counter_array(id as u32).direct_table {
            let reason = format!("is direct: read it with the entries of table '{table}'");
            return Err(RuntimeError::WrongType { object: format!("counter '{name}'"), reason });
        }
        Ok(id)
    }

    /// Returns a counter cell.
    pub fn read_counters(&self, counter: &str, index: u64) -> Result<CounterValue> {
        let object = format!("counter '{counter}'");
        let cells = &self.cells.counters[self.counter(counter)?];
        let size = cells.len() as u64;
        let at = usize::try_from(index).ok().and_then(|at| cells.get(at)).copied();
        at.ok_or(RuntimeError::IndexOutOfRange { object, index, size })
    }

    /// Returns the counter cells `start..end`; an empty range is refused.
    pub fn read_counters_range(&self, counter: &str, start: u64, end: u64) -> Result<Vec<CounterValue>> {
        let cells = &self.cells.counters[self.counter(counter)?];
        Ok(cells[range(|| format!("counter '{counter}'"), start, end, cells.len())?].to_vec())
    }

    /// Sets every cell of a counter array.
    pub fn write_counter_array(&mut self, counter: &str, value: CounterValue) -> Result<()> {
        let array = self.counter(counter)?;
        self.remember(|state| Change::Counters { array, before: state.cells.counters[array].to_vec() });
        self.cells.counters[array].fill(value);
        Ok(())
    }

    /// Sets a counter cell.
    pub fn write_counters(&mut self, counter: &str, index: u64, value: CounterValue) -> Result<()> {
        let array = self.counter(counter)?;
        let before = *cell(|| format!("counter '{counter}'"), &mut self.cells.counters[array], index)?;
        self.remember(|_| Change::Counter { array, cell: index as usize, before });
        self.cells.counters[array][index as usize] = value;
        Ok(())
    }

    /// Zeroes a counter array.
    pub fn reset_counters(&mut self, counter: &str) -> Result<()> {
        self.write_counter_array(counter, CounterValue::default())
    }

    fn meter(&self, name: &str) -> Result<usize> {
        let id = find("meter", &self.program.declared.names.meters, name)?;
        if let Some(table) = &self.program.meter_array(id as u32).direct_table {
            let reason = format!("is direct: set it with the entries of table '{table}'");
            return Err(RuntimeError::WrongType { object: format!("meter '{name}'"), reason });
        }
        Ok(id)
    }

    /// Sets the rates of one meter, lowest first; an empty slice disables it.
    pub fn meter_set_rates(&mut self, meter: &str, index: u64, rates: &[MeterRate]) -> Result<()> {
        let id = self.meter(meter)?;
        check_rates(format!("meter '{meter}'"), self.program.meter_array(id as u32).rate_count, rates)?;
        let before = cell(|| format!("meter '{meter}'"), &mut self.cells.meters[id], index)?.clone();
        self.remember(|_| Change::Meter { array: id, cell: index as usize, before });
        self.cells.meters[id][index as usize].set_rates(rates);
        Ok(())
    }

    /// Sets the rates of every meter of an array.
    pub fn meter_array_set_rates(&mut self, meter: &str, rates: &[MeterRate]) -> Result<()> {
        let id = self.meter(meter)?;
        check_rates(format!("meter '{meter}'"), self.program.meter_array(id as u32).rate_count, rates)?;
        self.remember(|state| Change::Meters { array: id, before: state.cells.meters[id].clone() });
        self.cells.meters[id].iter_mut().for_each(|m| m.set_rates(rates));
        Ok(())
    }

    /// Returns the rates of one meter; empty if they were never set.
    pub fn meter_get_rates(&self, meter: &str, index: u64) -> Result<Vec<MeterRate>> {
        let cells = &self.cells.meters[self.meter(meter)?];
        let size = cells.len() as u64;
        let at = usize::try_from(index).ok().and_then(|at| cells.get(at)).map(Meter::rates);
        at.ok_or_else(|| RuntimeError::IndexOutOfRange { object: format!("meter '{meter}'"), index, size })
    }

    /// Returns the rates of the meters `start..end`, each lowest first and empty if never set; an empty range is refused.
    pub fn meter_get_rates_range(&self, meter: &str, start: u64, end: u64) -> Result<Vec<Vec<MeterRate>>> {
        let cells = &self.cells.meters[self.meter(meter)?];
        let cells = &cells[range(|| format!("meter '{meter}'"), start, end, cells.len())?];
        Ok(cells.iter().map(Meter::rates).collect())
    }

    fn register(&self, name: &str) -> Result<u32> {
        find("register", &self.program.declared.names.registers, name).map(|at| at as u32)
    }

    /// Returns a register cell as big-endian bytes of the register's width.
    pub fn register_read(&self, register: &str, index: u64) -> Result<Vec<u8>> {
        let id = self.register(register)?;
        let array = self.cells.registers.array(id);
        let size = array.size as u64;
        let object = || format!("register '{register}'");
        let value = self.cells.registers.cell(id, index).ok_or_else(|| RuntimeError::IndexOutOfRange {
            object: object(),
            index,
            size,
        })?;
        Ok(to_bytes(value, array.width))
    }

    /// Returns the cells `start..end`, concatenated, each as big-endian bytes of the register's width; an empty range is refused.
    pub fn register_read_range(&self, register: &str, start: u64, end: u64) -> Result<Vec<u8>> {
        let id = self.register(register)?;
        let array = self.cells.registers.array(id);
        range(|| format!("register '{register}'"), start, end, array.size)?;
        let cells = (start..end).filter_map(|at| self.cells.registers.cell(id, at));
        Ok(cells.flat_map(|value| to_bytes(value, array.width)).collect())
    }

    /// Returns every cell of a register.
    pub fn register_read_all(&self, register: &str) -> Result<Vec<Vec<u8>>> {
        let id = self.register(register)?;
        let array = self.cells.registers.array(id);
        Ok((0..array.size as u64)
            .filter_map(|at| self.cells.registers.cell(id, at))
            .map(|v| to_bytes(v, array.width))
            .collect())
    }

    /// Writes a cell.
    pub fn register_write(&mut self, register: &str, index: u64, value: &[u8]) -> Result<()> {
        self.register_write_range(register, index, index.saturating_add(1), value)
    }

    /// Writes the cells `start..end`.
    pub fn register_write_range(&mut self, register: &str, start: u64, end: u64, value: &[u8]) -> Result<()> {
        let id = self.register(register)?;
        let array = self.cells.registers.array(id);
        let object = || format!("register '{register}'");
        range(object, start, end, array.size)?;
        let value = number(value, array.width)
            .map_err(|reason| RuntimeError::BadValue { object: object(), reason })?;
        self.remember_register(id, start, end);
        (start..end).for_each(|at| self.cells.registers.set_cell(id, at, &value));
        Ok(())
    }

    fn remember_register(&mut self, array: u32, first: u64, end: u64) {
        self.remember(|state| {
            let registers = &state.cells.registers;
            let before = (first..end).filter_map(|cell| registers.cell(array, cell)).flatten().copied();
            Change::Register { array, first, before: before.collect() }
        });
    }

    /// Zeroes a register.
    pub fn register_reset(&mut self, register: &str) -> Result<()> {
        let id = self.register(register)?;
        self.remember_register(id, 0, self.cells.registers.array(id).size as u64);
        self.cells.registers.reset(id);
        Ok(())
    }

    /// Returns the low words of all cells of the register with this dense index; none for an unknown index.
    pub fn register_cells(&self, index: usize) -> Vec<u64> {
        self.cells.registers.cells(index).collect()
    }

    /// Returns the low word of a cell of the register with this dense index, for the port gate; `None` if the cell or the
    /// register does not exist.
    #[inline]
    pub fn register_cell(&self, index: usize, cell: usize) -> Option<u64> {
        self.cells.registers.get(index as u32, cell as u64)
    }

    fn vset(&self, name: &str) -> Result<usize> {
        find("parser value set", &self.program.declared.names.vsets, name)
    }

    fn vset_value(&self, id: usize, value: &[u8]) -> Result<Vec<u64>> {
        let info = &self.program.parse_vset(id as u32);
        let object = format!("parser value set '{}'", info.name);
        number(value, info.bitwidth).map_err(|reason| RuntimeError::BadValue { object, reason })
    }

    /// Adds a value to a parser value set: its fields concatenated without padding.
    pub fn parse_vset_add(&mut self, vset: &str, value: &[u8]) -> Result<()> {
        let id = self.vset(vset)?;
        let value = self.vset_value(id, value)?;
        self.remember_value_set(id);
        self.cells.vsets[id].insert(value);
        Ok(())
    }

    /// Removes a value from a parser value set.
    pub fn parse_vset_remove(&mut self, vset: &str, value: &[u8]) -> Result<()> {
        let id = self.vset(vset)?;
        let value = self.vset_value(id, value)?;
        self.remember_value_set(id);
        self.cells.vsets[id].remove(&value);
        Ok(())
    }

    /// Returns the values of a parser value set in ascending order.
    pub fn parse_vset_get(&self, vset: &str) -> Result<Vec<Vec<u8>>> {
        let id = self.vset(vset)?;
        let width = self.program.parse_vset(id as u32).bitwidth;
        let mut values: Vec<Vec<u8>> = self.cells.vsets[id].iter().map(|v| to_bytes(v, width)).collect();
        values.sort_unstable();
        Ok(values)
    }

    /// Removes all values of a parser value set.
    pub fn parse_vset_clear(&mut self, vset: &str) -> Result<()> {
        let id = self.vset(vset)?;
        self.remember_value_set(id);
        self.cells.vsets[id].clear();
        Ok(())
    }

    /// Replaces all values of a parser value set.
    pub fn parse_vset_set(&mut self, vset: &str, values: &[Vec<u8>]) -> Result<()> {
        let id = self.vset(vset)?;
        let values = values.iter().map(|value| self.vset_value(id, value)).collect::<Result<_>>()?;
        self.remember_value_set(id);
        self.cells.vsets[id] = values;
        Ok(())
    }

    fn remember_value_set(&mut self, set: usize) {
        self.remember(|state| Change::ValueSet { set, before: state.cells.vsets[set].clone() });
    }

    /// Sets the parameters of a calculation of type `crc16_custom`.
    pub fn set_crc16_custom_parameters(
        &mut self,
        calculation: &str,
        parameters: CrcParameters<u16>,
    ) -> Result<()> {
        let id = self.custom_crc(calculation, 16)?;
        self.cells.crcs.set(id, parameters.crc());
        Ok(())
    }

    /// Sets the parameters of a calculation of type `crc32_custom`.
    pub fn set_crc32_custom_parameters(
        &mut self,
        calculation: &str,
        parameters: CrcParameters<u32>,
    ) -> Result<()> {
        let id = self.custom_crc(calculation, 32)?;
        self.cells.crcs.set(id, parameters.crc());
        Ok(())
    }

    fn custom_crc(&self, calculation: &str, width: u32) -> Result<usize> {
        let id = find("calculation", &self.program.declared.names.calculations, calculation)?;
        if self.program.calculation(id as u32).algorithm.custom_width() == Some(width) {
            return Ok(id);
        }
        Err(RuntimeError::WrongCalculation { calculation: calculation.to_owned(), width })
    }
}
