//! Objects outside of tables: indirect counters and meters, registers, parser value sets, and CRC parameters.

use std::ops::Range;

use super::pack::number;
use super::{find, wrong_type, Result};
use crate::error::{Refusal, RuntimeError, NO_CODE};
use crate::number::to_bytes;
use crate::program::CrcParameters;
use crate::state::State;
use crate::tables::{Change, CounterValue, Meter, MeterRate};

/// An object in an error: its kind and its name.
type Object<'a> = (&'static str, &'a str);

/// Checks the rates for a meter: none, or as many as it has, lowest first.
pub(super) fn check_rates((kind, name): Object<'_>, count: usize, rates: &[MeterRate]) -> Result<()> {
    let fail = |code, reason: String| {
        Err(RuntimeError::new(Refusal::InvalidValue, code, format!("{kind} '{name}': {reason}")))
    };
    if rates.is_empty() {
        return Ok(());
    }
    if rates.len() != count {
        return fail("BAD_RATES_LIST", format!("{} rates given, it has {count}", rates.len()));
    }
    if let Some(rate) = rates.iter().find(|r| !r.info_rate.is_finite() || r.info_rate < 0.0) {
        let reason = format!("rate {} is not a rate per microsecond", rate.info_rate);
        return fail("INVALID_INFO_RATE_VALUE", reason);
    }
    if let Some(pair) = rates.windows(2).find(|pair| pair[0].info_rate > pair[1].info_rate) {
        let [higher, lower] = [pair[0].info_rate, pair[1].info_rate];
        let reason = format!("rate {higher} comes before the lower rate {lower}; the lowest comes first");
        return fail("INVALID_INFO_RATE_VALUE", reason);
    }
    Ok(())
}

/// Checks the range `start..end` of cells against an array of `size`, and returns it.
fn range((kind, name): Object<'_>, start: u64, end: u64, size: usize) -> Result<Range<usize>> {
    if start < end && end <= size as u64 {
        return Ok(start as usize..end as usize);
    }
    let index = if start >= size as u64 { start } else { end };
    let text = format!("{kind} '{name}': index {index} is out of range, the array has {size} cells");
    Err(RuntimeError::new(Refusal::OutOfRange, "INVALID_INDEX", text))
}

/// Checks the index of a cell against an array of `size`, and returns it.
fn place(object: Object<'_>, index: u64, size: usize) -> Result<usize> {
    range(object, index, index.saturating_add(1), size).map(|cells| cells.start)
}

/// Returns a number of at most `width` bits, low word first.
fn value_of((kind, name): Object<'_>, value: &[u8], width: u32) -> Result<Vec<u64>> {
    number(value, width).map_err(|reason| {
        RuntimeError::new(Refusal::InvalidValue, NO_CODE, format!("{kind} '{name}': {reason}"))
    })
}

impl State {
    fn counter(&self, name: &str) -> Result<usize> {
        let id = find("counter", &self.program.declared.names.counters, name)?;
        if let Some(table) = &self.program.counter_array(id as u32).direct_table {
            let reason = format!("is direct: read it with the entries of table '{table}'");
            return Err(wrong_type(format_args!("counter '{name}'"), reason));
        }
        Ok(id)
    }

    /// Returns a counter cell.
    pub fn read_counters(&self, counter: &str, index: u64) -> Result<CounterValue> {
        let cells = &self.cells.counters[self.counter(counter)?];
        Ok(cells[place(("counter", counter), index, cells.len())?])
    }

    /// Returns the counter cells `start..end`; an empty range is refused.
    pub fn read_counters_range(&self, counter: &str, start: u64, end: u64) -> Result<Vec<CounterValue>> {
        let cells = &self.cells.counters[self.counter(counter)?];
        Ok(cells[range(("counter", counter), start, end, cells.len())?].to_vec())
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
        let cell = place(("counter", counter), index, self.cells.counters[array].len())?;
        self.remember(|state| Change::Counter { array, cell, before: state.cells.counters[array][cell] });
        self.cells.counters[array][cell] = value;
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
            return Err(wrong_type(format_args!("meter '{name}'"), reason));
        }
        Ok(id)
    }

    /// Sets the rates of one meter, lowest first; an empty slice disables it.
    pub fn meter_set_rates(&mut self, meter: &str, index: u64, rates: &[MeterRate]) -> Result<()> {
        let id = self.meter(meter)?;
        let object = ("meter", meter);
        check_rates(object, self.program.meter_array(id as u32).rate_count, rates)?;
        let cell = place(object, index, self.cells.meters[id].len())?;
        self.remember(|state| Change::Meter {
            array: id,
            cell,
            before: state.cells.meters[id][cell].clone(),
        });
        self.cells.meters[id][cell].set_rates(rates);
        Ok(())
    }

    /// Sets the rates of every meter of an array.
    pub fn meter_array_set_rates(&mut self, meter: &str, rates: &[MeterRate]) -> Result<()> {
        let id = self.meter(meter)?;
        check_rates(("meter", meter), self.program.meter_array(id as u32).rate_count, rates)?;
        self.remember(|state| Change::Meters { array: id, before: state.cells.meters[id].clone() });
        self.cells.meters[id].iter_mut().for_each(|m| m.set_rates(rates));
        Ok(())
    }

    /// Returns the rates of one meter; empty if they were never set.
    pub fn meter_get_rates(&self, meter: &str, index: u64) -> Result<Vec<MeterRate>> {
        let cells = &self.cells.meters[self.meter(meter)?];
        Ok(cells[place(("meter", meter), index, cells.len())?].rates())
    }

    /// Returns the rates of the meters `start..end`, each lowest first and empty if never set; an empty range is refused.
    pub fn meter_get_rates_range(&self, meter: &str, start: u64, end: u64) -> Result<Vec<Vec<MeterRate>>> {
        let cells = &self.cells.meters[self.meter(meter)?];
        let cells = &cells[range(("meter", meter), start, end, cells.len())?];
        Ok(cells.iter().map(Meter::rates).collect())
    }

    fn register(&self, name: &str) -> Result<u32> {
        find("register", &self.program.declared.names.registers, name).map(|at| at as u32)
    }

    /// Returns a register cell as big-endian bytes of the register's width.
    pub fn register_read(&self, register: &str, index: u64) -> Result<Vec<u8>> {
        self.register_read_range(register, index, index.saturating_add(1))
    }

    /// Returns the cells `start..end`, concatenated, each as big-endian bytes of the register's width; an empty range is refused.
    pub fn register_read_range(&self, register: &str, start: u64, end: u64) -> Result<Vec<u8>> {
        let id = self.register(register)?;
        let array = self.cells.registers.array(id);
        range(("register", register), start, end, array.size)?;
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
        let object = ("register", register);
        range(object, start, end, array.size)?;
        let value = value_of(object, value, array.width)?;
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
        value_of(("parser value set", &info.name), value, info.bitwidth)
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
        self.set_crc(calculation, parameters)
    }

    /// Sets the parameters of a calculation of type `crc32_custom`.
    pub fn set_crc32_custom_parameters(
        &mut self,
        calculation: &str,
        parameters: CrcParameters<u32>,
    ) -> Result<()> {
        self.set_crc(calculation, parameters)
    }

    fn set_crc<T: Into<u32>>(&mut self, calculation: &str, parameters: CrcParameters<T>) -> Result<()> {
        let (name, width) = (calculation, CrcParameters::<T>::WIDTH);
        let id = find("calculation", &self.program.declared.names.calculations, name)? as u32;
        if self.program.calculation(id).algorithm.custom_width() != Some(width) {
            let reason = format!("is not of type crc{width}_custom, whose parameters alone can be set");
            let text = format!("calculation '{name}': {reason}");
            return Err(RuntimeError::new(Refusal::InvalidValue, "WRONG_TYPE_CALCULATION", text));
        }
        self.cells.crcs.insert(id, parameters.crc());
        Ok(())
    }
}
