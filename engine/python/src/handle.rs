//! The control interface of one switch. Every method is one call of the engine's runtime interface under its lock.

use std::sync::Arc;
use std::time::Duration;

use bm::CounterValue;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use simple_switch::{MirroringSession, Replica, Switch};

use crate::convert::{self, KeyParam};
use crate::error::Error;
use crate::program::Program;
use crate::switch_host::SwitchHost;

pub(crate) const PS_PER_NS: u64 = 1_000;

/// The control interface of a running switch. `eeon_engine/_engine.pyi` documents the calls.
#[pyclass(frozen, subclass, module = "eeon_engine._engine")]
pub(crate) struct SwitchHandle {
    pub(crate) host: Arc<dyn SwitchHost>,
    /// The `Program` that was loaded through this handle, so that it can be returned without being loaded again.
    program: parking_lot::Mutex<Option<Py<Program>>>,
}

impl SwitchHandle {
    pub(crate) fn new(host: Arc<dyn SwitchHost>, program: Option<Py<Program>>) -> Self {
        Self { host, program: parking_lot::Mutex::new(program) }
    }

    /// Makes one call of the engine that takes microseconds. If the engine is free, it does so without releasing the GIL.
    pub(crate) fn short_call<R: Send, E: Into<Error> + Send>(
        &self,
        call: impl FnOnce(&mut Switch) -> Result<R, E> + Send,
    ) -> PyResult<R> {
        let mut call = Some(call);
        let mut result = None;
        let tried = self.host.try_with(&mut |switch| {
            result = call.take().map(|call| call(switch).map_err(Into::into));
        });
        match (tried, call) {
            (None, Some(call)) => self.call(call),
            (tried, _) => {
                tried.transpose()?;
                Ok(result.unwrap_or(Err(Error::NoProgram))?)
            }
        }
    }

    /// Makes one call of the engine with the GIL released.
    pub(crate) fn call<R: Send, E: Into<Error> + Send>(
        &self,
        call: impl FnOnce(&mut Switch) -> Result<R, E> + Send,
    ) -> PyResult<R> {
        let made = || {
            let mut call = Some(call);
            let mut result = None;
            self.host.with(&mut |switch| {
                if let Some(call) = call.take() {
                    result = Some(call(switch).map_err(Into::into));
                }
            })?;
            result.unwrap_or(Err(Error::NoProgram))
        };
        Ok(Python::attach(|py| py.detach(made))?)
    }
}

#[pymethods]
impl SwitchHandle {
    #[getter]
    fn device_id(&self) -> u64 {
        self.host.device_id()
    }

    #[getter]
    fn cpu_port(&self) -> Option<u16> {
        self.host.cpu_port()
    }

    #[getter]
    fn program(&self, py: Python<'_>) -> Option<Py<Program>> {
        let running = py.detach(|| self.host.program())?;
        self.program.lock().as_ref().filter(|program| program.get().is(&running)).map(|p| p.clone_ref(py))
    }

    fn load_program(&self, py: Python<'_>, program: Py<Program>) -> PyResult<()> {
        let given = program.get();
        py.detach(|| {
            let inner = if self.host.traces() { given.traced()? } else { Arc::clone(&given.inner) };
            self.host.load_program(inner)
        })?;
        let before = self.program.lock().replace(program);
        drop(before);
        Ok(())
    }

    fn check_program(&self, py: Python<'_>, program: &Bound<'_, Program>) -> PyResult<()> {
        let inner = Arc::clone(&program.get().inner);
        Ok(py.detach(|| self.host.check_program(inner))?)
    }

    fn pause(&self, py: Python<'_>) {
        py.detach(|| self.host.pause());
    }

    fn resume(&self, py: Python<'_>) {
        py.detach(|| self.host.resume());
    }

    #[pyo3(signature = (table, key, action, data, priority=0))]
    fn mt_add_entry(
        &self,
        table: &str,
        key: Vec<KeyParam>,
        action: &str,
        data: Vec<PyBackedBytes>,
        priority: u32,
    ) -> PyResult<u64> {
        let (key, data) = (convert::key(key), convert::data(data));
        self.short_call(|switch| switch.state_mut().mt_add_entry(table, &key, action, &data, priority))
    }

    fn mt_modify_entry(
        &self,
        table: &str,
        handle: u64,
        action: &str,
        data: Vec<PyBackedBytes>,
    ) -> PyResult<()> {
        let data = convert::data(data);
        self.short_call(|switch| switch.state_mut().mt_modify_entry(table, handle, action, &data))
    }

    fn mt_delete_entry(&self, table: &str, handle: u64) -> PyResult<()> {
        self.short_call(|switch| switch.state_mut().mt_delete_entry(table, handle))
    }

    fn mt_set_default_action(&self, table: &str, action: &str, data: Vec<PyBackedBytes>) -> PyResult<()> {
        let data = convert::data(data);
        self.short_call(|switch| switch.state_mut().mt_set_default_action(table, action, &data))
    }

    fn mt_reset_default_entry(&self, table: &str) -> PyResult<()> {
        self.short_call(|switch| switch.state_mut().mt_reset_default_entry(table))
    }

    fn mt_get_entries<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyList>> {
        let (program, entries) = self.call(|switch| {
            switch.state().mt_get_entries(table).map(|entries| (Arc::clone(switch.program()), entries))
        })?;
        let entries: Vec<_> =
            entries.iter().map(|entry| convert::entry(py, &program, entry)).collect::<PyResult<_>>()?;
        PyList::new(py, entries)
    }

    fn mt_get_default_entry<'py>(
        &self,
        py: Python<'py>,
        table: &str,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let (program, entry) = self.call(|switch| {
            switch.state().mt_get_default_entry(table).map(|entry| (Arc::clone(switch.program()), entry))
        })?;
        entry.action.map(|action| convert::action(py, &program, &action)).transpose()
    }

    #[pyo3(signature = (table, key, member, priority=0))]
    fn mt_indirect_add_entry(
        &self,
        table: &str,
        key: Vec<KeyParam>,
        member: u64,
        priority: u32,
    ) -> PyResult<u64> {
        let key = convert::key(key);
        self.call(|switch| switch.state_mut().mt_indirect_add_entry(table, &key, member, priority))
    }

    fn mt_indirect_modify_entry(&self, table: &str, handle: u64, member: u64) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_indirect_modify_entry(table, handle, member))
    }

    #[pyo3(signature = (table, key, group, priority=0))]
    fn mt_indirect_ws_add_entry(
        &self,
        table: &str,
        key: Vec<KeyParam>,
        group: u64,
        priority: u32,
    ) -> PyResult<u64> {
        let key = convert::key(key);
        self.call(|switch| switch.state_mut().mt_indirect_ws_add_entry(table, &key, group, priority))
    }

    fn mt_indirect_ws_modify_entry(&self, table: &str, handle: u64, group: u64) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_indirect_ws_modify_entry(table, handle, group))
    }

    fn mt_act_prof_add_member(&self, profile: &str, action: &str, data: Vec<PyBackedBytes>) -> PyResult<u64> {
        let data = convert::data(data);
        self.call(|switch| switch.state_mut().mt_act_prof_add_member(profile, action, &data))
    }

    fn mt_act_prof_modify_member(
        &self,
        profile: &str,
        member: u64,
        action: &str,
        data: Vec<PyBackedBytes>,
    ) -> PyResult<()> {
        let data = convert::data(data);
        self.call(|switch| switch.state_mut().mt_act_prof_modify_member(profile, member, action, &data))
    }

    fn mt_act_prof_delete_member(&self, profile: &str, member: u64) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_act_prof_delete_member(profile, member))
    }

    fn mt_act_prof_create_group(&self, profile: &str) -> PyResult<u64> {
        self.call(|switch| switch.state_mut().mt_act_prof_create_group(profile))
    }

    fn mt_act_prof_delete_group(&self, profile: &str, group: u64) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_act_prof_delete_group(profile, group))
    }

    #[pyo3(signature = (profile, member, group, watch_port=None))]
    fn mt_act_prof_add_member_to_group(
        &self,
        profile: &str,
        member: u64,
        group: u64,
        watch_port: Option<u16>,
    ) -> PyResult<()> {
        self.call(|switch| {
            switch.state_mut().mt_act_prof_add_member_to_group(profile, member, group, watch_port)
        })
    }

    #[pyo3(signature = (profile, member, group, watch_port))]
    fn mt_act_prof_watch_port(
        &self,
        profile: &str,
        member: u64,
        group: u64,
        watch_port: Option<u16>,
    ) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_act_prof_watch_port(profile, member, group, watch_port))
    }

    fn mt_act_prof_remove_member_from_group(&self, profile: &str, member: u64, group: u64) -> PyResult<()> {
        self.call(|switch| switch.state_mut().mt_act_prof_remove_member_from_group(profile, member, group))
    }

    fn mt_read_counters(&self, table: &str, handle: u64) -> PyResult<(u64, u64)> {
        self.short_call(|switch| switch.state().mt_read_counters(table, handle).map(convert::cell))
    }

    fn mt_write_counters(&self, table: &str, handle: u64, bytes: u64, packets: u64) -> PyResult<()> {
        let value = CounterValue { bytes, packets };
        self.short_call(|switch| switch.state_mut().mt_write_counters(table, handle, value))
    }

    fn mt_read_default_counters(&self, table: &str) -> PyResult<(u64, u64)> {
        self.short_call(|switch| switch.state().mt_read_default_counters(table).map(convert::cell))
    }

    fn mt_write_default_counters(&self, table: &str, bytes: u64, packets: u64) -> PyResult<()> {
        let value = CounterValue { bytes, packets };
        self.short_call(|switch| switch.state_mut().mt_write_default_counters(table, value))
    }

    fn mt_get_meter_rates(&self, table: &str, handle: u64) -> PyResult<Vec<(f64, u32)>> {
        self.short_call(|switch| switch.state().mt_get_meter_rates(table, handle).map(convert::rates))
    }

    fn mt_set_meter_rates(&self, table: &str, handle: u64, rates: Vec<(f64, u32)>) -> PyResult<()> {
        let rates = convert::meter_rates(&rates);
        self.short_call(|switch| switch.state_mut().mt_set_meter_rates(table, handle, &rates))
    }

    fn mt_get_default_meter_rates(&self, table: &str) -> PyResult<Vec<(f64, u32)>> {
        self.short_call(|switch| switch.state().mt_get_default_meter_rates(table).map(convert::rates))
    }

    fn mt_set_default_meter_rates(&self, table: &str, rates: Vec<(f64, u32)>) -> PyResult<()> {
        let rates = convert::meter_rates(&rates);
        self.short_call(|switch| switch.state_mut().mt_set_default_meter_rates(table, &rates))
    }

    fn mt_set_entry_ttl(&self, py: Python<'_>, table: &str, handle: u64, ttl_ns: u64) -> PyResult<()> {
        let now = py.detach(|| self.host.now());
        self.short_call(|switch| switch.state_mut().mt_set_entry_ttl(table, handle, ttl_ns, now.as_ps()))
    }

    fn mt_get_entry_idle(&self, py: Python<'_>, table: &str, handle: u64) -> PyResult<u64> {
        let now = py.detach(|| self.host.now());
        let idle_ps =
            self.short_call(|switch| switch.state().mt_get_entry_idle(table, handle, now.as_ps()))?;
        Ok(idle_ps / PS_PER_NS)
    }

    fn mt_sweep_entries(&self, py: Python<'_>, table: &str) -> PyResult<Vec<u64>> {
        let now = py.detach(|| self.host.now());
        self.short_call(|switch| switch.state_mut().mt_sweep_entries(table, now.as_ps()))
    }

    fn take_digests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let taken = self.call(|switch| {
            let program = Arc::clone(switch.program());
            let digests = std::iter::from_fn(|| switch.poll_digest());
            let named = digests.filter_map(|digest| {
                program.learn_list(digest.learn_list).map(|list| (list.name.clone(), digest.sample))
            });
            Ok::<_, Error>(named.collect::<Vec<_>>())
        })?;
        PyList::new(py, taken.iter().map(|(name, sample)| (name, PyBytes::new(py, sample))))
    }

    fn meter_get_rates(&self, meter: &str, index: u64) -> PyResult<Vec<(f64, u32)>> {
        self.short_call(|switch| switch.state().meter_get_rates(meter, index).map(convert::rates))
    }

    fn meter_set_rates(&self, meter: &str, index: u64, rates: Vec<(f64, u32)>) -> PyResult<()> {
        let rates = convert::meter_rates(&rates);
        self.short_call(|switch| switch.state_mut().meter_set_rates(meter, index, &rates))
    }

    fn meter_array_set_rates(&self, meter: &str, rates: Vec<(f64, u32)>) -> PyResult<()> {
        let rates = convert::meter_rates(&rates);
        self.call(|switch| switch.state_mut().meter_array_set_rates(meter, &rates))
    }

    fn parse_vset_get<'py>(&self, py: Python<'py>, vset: &str) -> PyResult<Bound<'py, PyList>> {
        let values = self.call(|switch| switch.state().parse_vset_get(vset))?;
        PyList::new(py, values.iter().map(|value| PyBytes::new(py, value)))
    }

    fn parse_vset_add(&self, vset: &str, value: PyBackedBytes) -> PyResult<()> {
        self.call(|switch| switch.state_mut().parse_vset_add(vset, &value))
    }

    fn parse_vset_remove(&self, vset: &str, value: PyBackedBytes) -> PyResult<()> {
        self.call(|switch| switch.state_mut().parse_vset_remove(vset, &value))
    }

    fn parse_vset_clear(&self, vset: &str) -> PyResult<()> {
        self.call(|switch| switch.state_mut().parse_vset_clear(vset))
    }

    fn read_counters(&self, counter: &str, index: u64) -> PyResult<(u64, u64)> {
        self.short_call(|switch| switch.state().read_counters(counter, index).map(convert::cell))
    }

    fn read_counters_all(&self, counter: &str) -> PyResult<Vec<(u64, u64)>> {
        self.call(|switch| {
            let known = switch.program().counter_arrays().iter().find(|known| known.name == counter);
            // For an unknown name, the read of cell 0 reports the error.
            let size = known.map_or(1, |known| known.size as u64);
            (0..size)
                .map(|index| switch.state().read_counters(counter, index).map(convert::cell))
                .collect::<Result<_, _>>()
        })
    }

    fn read_counters_range(&self, counter: &str, start: u64, end: u64) -> PyResult<Vec<(u64, u64)>> {
        self.call(|switch| {
            let cells = switch.state().read_counters_range(counter, start, end)?;
            Ok::<_, Error>(cells.into_iter().map(convert::cell).collect())
        })
    }

    fn write_counter_array(&self, counter: &str, bytes: u64, packets: u64) -> PyResult<()> {
        let value = CounterValue { bytes, packets };
        self.call(|switch| switch.state_mut().write_counter_array(counter, value))
    }

    fn meter_get_rates_range(&self, meter: &str, start: u64, end: u64) -> PyResult<Vec<Vec<(f64, u32)>>> {
        self.call(|switch| {
            let cells = switch.state().meter_get_rates_range(meter, start, end)?;
            Ok::<_, Error>(cells.into_iter().map(convert::rates).collect())
        })
    }

    fn register_read_range<'py>(
        &self,
        py: Python<'py>,
        register: &str,
        start: u64,
        end: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let cells = self.call(|switch| switch.state().register_read_range(register, start, end))?;
        Ok(PyBytes::new(py, &cells))
    }

    fn write_counters(&self, counter: &str, index: u64, bytes: u64, packets: u64) -> PyResult<()> {
        let value = CounterValue { bytes, packets };
        self.short_call(|switch| switch.state_mut().write_counters(counter, index, value))
    }

    fn register_read<'py>(
        &self,
        py: Python<'py>,
        register: &str,
        index: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let value = self.short_call(|switch| switch.state().register_read(register, index))?;
        Ok(PyBytes::new(py, &value))
    }

    fn register_read_all<'py>(&self, py: Python<'py>, register: &str) -> PyResult<Bound<'py, PyList>> {
        let values = self.call(|switch| switch.state().register_read_all(register))?;
        PyList::new(py, values.iter().map(|value| PyBytes::new(py, value)))
    }

    fn register_write(&self, register: &str, index: u64, value: PyBackedBytes) -> PyResult<()> {
        self.short_call(|switch| switch.state_mut().register_write(register, index, &value))
    }

    #[pyo3(signature = (group, replicas, note=Vec::new()))]
    fn mc_set_group(&self, group: u16, replicas: Vec<(u16, u16)>, note: Vec<u8>) -> PyResult<()> {
        let replicas: Vec<_> =
            replicas.into_iter().map(|(egress_port, rid)| Replica { egress_port, rid }).collect();
        self.call(|switch| switch.set_group(group, &replicas, &note))
    }

    fn mc_delete_group(&self, group: u16) -> PyResult<()> {
        self.call(|switch| switch.delete_group(group))
    }

    #[pyo3(signature = (session, egress_port, mgid, class_of_service=0, packet_length_bytes=0))]
    fn mirroring_session_add(
        &self,
        session: u16,
        egress_port: Option<u16>,
        mgid: Option<u16>,
        class_of_service: u8,
        packet_length_bytes: u32,
    ) -> PyResult<()> {
        let target = MirroringSession { egress_port, mgid, class_of_service, packet_length_bytes };
        self.call(|switch| {
            let priorities = switch.config().priorities;
            if usize::from(class_of_service) >= priorities {
                return Err(Error::Value(format!(
                    "clone session {session}: class of service {class_of_service}; ports have {priorities} queues, \
                     counted from 0"
                )));
            }
            Ok(switch.set_session(session, target)?)
        })
    }

    fn mirroring_session_delete(&self, session: u16) -> PyResult<()> {
        self.call(|switch| switch.delete_session(session))
    }

    fn packet_out(&self, py: Python<'_>, packet: PyBackedBytes) -> PyResult<()> {
        Ok(py.detach(|| self.host.packet_out(&packet))?)
    }

    fn take_packets_in<'py>(&self, py: Python<'py>, timeout_ms: u64) -> PyResult<Bound<'py, PyList>> {
        let packets = py.detach(|| self.host.packet_ins().take(Duration::from_millis(timeout_ms)));
        PyList::new(py, packets.iter().map(|packet| PyBytes::new(py, packet)))
    }

    #[getter]
    fn packets_in_lost(&self) -> u64 {
        self.host.packet_ins().lost()
    }

    fn queue_bytes(&self, port: u16) -> PyResult<u64> {
        self.call(|switch| Ok::<_, Error>(switch.queue_bytes(port).get()))
    }

    fn queue_packets(&self, port: u16) -> PyResult<usize> {
        self.call(|switch| Ok::<_, Error>(switch.queue_packets(port)))
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = self.call(|switch| Ok::<_, Error>(switch.stats()))?;
        Ok(pythonize::pythonize(py, &found)?)
    }

    fn port_stats<'py>(&self, py: Python<'py>, port: u16) -> PyResult<Bound<'py, PyAny>> {
        let found = self.call(|switch| Ok::<_, Error>(switch.port_stats(port)))?;
        Ok(pythonize::pythonize(py, &found)?)
    }

    fn follow(&self, tag: u64) -> PyResult<()> {
        self.call(|switch| {
            switch.follow(tag);
            Ok::<_, Error>(())
        })
    }

    fn take_journey(&self) -> PyResult<String> {
        self.call(|switch| {
            // Converted to a `Value` first, which orders the members by name.
            let named = serde_json::to_value(switch.take_journey());
            named.map(|named| named.to_string()).map_err(|error| Error::Value(error.to_string()))
        })
    }

    fn stop_following(&self) -> PyResult<()> {
        self.call(|switch| {
            switch.stop_following();
            Ok::<_, Error>(())
        })
    }

    fn record_hops(&self, filter: &str) -> PyResult<()> {
        let filter = crate::hops::filter(filter, &["switch"])?;
        self.call(|switch| switch.record_hops(filter.clone(), 0))
    }

    fn take_hops(&self, py: Python<'_>) -> PyResult<Option<Py<PyDict>>> {
        let log = self.call(|switch| Ok::<_, Error>(switch.take_hops()))?;
        log.map(|log| crate::hops::columns(py, &log, &["switch"])).transpose()
    }

    fn take_log(&self) -> PyResult<Vec<String>> {
        self.call(|switch| Ok::<_, Error>(std::iter::from_fn(|| switch.poll_log()).collect()))
    }
}
