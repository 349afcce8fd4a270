//! The control interface of one switch. Every method is one call of the engine's runtime interface under its lock.

use std::sync::Arc;
use std::time::Duration;

use bm::{CounterValue, DefaultEntry, Entry, MeterRate, MtAction};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use simple_switch::{MirroringSession, PortStats, Replica, Switch, SwitchStats};

use crate::convert::{AsDict, Data, Given, Key, Rates, Told};
use crate::error::Error;
use crate::program::Program;
use crate::switch_host::SwitchHost;

/// The control interface of a running switch.
///
/// Names and meanings are those of BMv2's runtime interface, if it has the call. Calls that begin with
/// `client` are for clients that choose the ids of members and groups, as P4Runtime's do; they work on the
/// same objects. Every call is atomic and may come from any thread. A refused call raises a `ControlError`
/// and changes nothing; a call to a switch without a program raises `ConfigError`. `values` has the types.
#[pyclass(frozen, subclass, module = "eeon_engine._engine")]
pub(crate) struct SwitchHandle {
    pub(crate) host: Arc<dyn SwitchHost>,
    /// P4Runtime's device id.
    #[pyo3(get)]
    device_id: u64,
    /// Port of packet-ins and packet-outs.
    #[pyo3(get)]
    cpu_port: Option<u16>,
    /// The `Program` that was loaded through this handle, so that it can be returned without being loaded again.
    program: parking_lot::Mutex<Option<Py<Program>>>,
}

impl SwitchHandle {
    pub(crate) fn new(
        host: Arc<dyn SwitchHost>,
        device_id: u64,
        cpu_port: Option<u16>,
        program: Option<Py<Program>>,
    ) -> Self {
        Self { host, device_id, cpu_port, program: parking_lot::Mutex::new(program) }
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

    /// Makes a call that the engine never refuses.
    pub(crate) fn ask<R: Send>(&self, call: impl FnOnce(&mut Switch) -> R + Send) -> PyResult<R> {
        self.call(|switch| Ok::<_, Error>(call(switch)))
    }
}

/// Makes methods with the names, arguments and results of the engine's calls. A row begins with the way to make the
/// call and the part of the switch that has it.
macro_rules! calls {
    ($($(#[$attribute:meta])* $how:ident $part:ident.$name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        #[pymethods]
        impl SwitchHandle {$(
            $(#[$attribute])*
            fn $name(&self, $($argument: $kind),*) -> PyResult<<$result as Told>::As> {
                self.$how(|switch| {
                    let result: $result = switch.$part().$name($($argument.given()),*)?;
                    Ok::<_, Error>(result.told())
                })
            }
        )*}
    };
}
pub(crate) use calls;

calls! {
    /// Adds an entry to a direct table and returns its handle. The lowest priority number wins.
    #[pyo3(signature = (table, key, action, data, priority=0))]
    short_call state_mut.mt_add_entry(table: &str, key: Key, action: &str, data: Data, priority: u32) -> u64;
    short_call state_mut.mt_modify_entry(table: &str, handle: u64, action: &str, data: Data) -> ();
    /// Deletes an entry of any table.
    short_call state_mut.mt_delete_entry(table: &str, handle: u64) -> ();
    /// Sets the action of a direct table for misses.
    short_call state_mut.mt_set_default_action(table: &str, action: &str, data: Data) -> ();
    /// Resets the default entry to the program's.
    short_call state_mut.mt_reset_default_entry(table: &str) -> ();
    /// Returns the entries in order of handle.
    call state.mt_get_entries(table: &str) -> Vec<Entry<MtAction>>;
    /// Returns the default entry; None if it is not set.
    call state.mt_get_default_entry(table: &str) -> DefaultEntry<MtAction>;

    /// Adds an entry that refers to a member and returns its handle.
    #[pyo3(signature = (table, key, member, priority=0))]
    call state_mut.mt_indirect_add_entry(table: &str, key: Key, member: u64, priority: u32) -> u64;
    /// Makes an entry refer to a member.
    call state_mut.mt_indirect_modify_entry(table: &str, handle: u64, member: u64) -> ();
    /// Adds an entry that refers to a group and returns its handle.
    #[pyo3(signature = (table, key, group, priority=0))]
    call state_mut.mt_indirect_ws_add_entry(table: &str, key: Key, group: u64, priority: u32) -> u64;
    /// Makes an entry refer to a group.
    call state_mut.mt_indirect_ws_modify_entry(table: &str, handle: u64, group: u64) -> ();

    /// Adds a member and returns its handle.
    call state_mut.mt_act_prof_add_member(profile: &str, action: &str, data: Data) -> u64;
    call state_mut.mt_act_prof_modify_member(profile: &str, member: u64, action: &str, data: Data) -> ();
    /// Deletes an unused member.
    call state_mut.mt_act_prof_delete_member(profile: &str, member: u64) -> ();
    /// Creates an empty group and returns its handle.
    call state_mut.mt_act_prof_create_group(profile: &str) -> u64;
    /// Deletes an unused group.
    call state_mut.mt_act_prof_delete_group(profile: &str, group: u64) -> ();
    /// Adds a member to a group. It is not selected while `watch_port` is down or not attached.
    #[pyo3(signature = (profile, member, group, watch_port=None))]
    call state_mut.mt_act_prof_add_member_to_group(
        profile: &str, member: u64, group: u64, watch_port: Option<u16>
    ) -> ();
    call state_mut.mt_act_prof_remove_member_from_group(profile: &str, member: u64, group: u64) -> ();

    /// Returns the direct counter of an entry; handle None is the default entry, which BMv2 does not count.
    short_call state.mt_read_counters(table: &str, handle: Option<u64>) -> CounterValue;
    /// Returns the rates of an entry's direct meter, lowest first; empty if never set. Handle None as above.
    short_call state.mt_get_meter_rates(table: &str, handle: Option<u64>) -> Vec<MeterRate>;
    /// Sets the rates of an entry's direct meter, lowest first; no rates disable it. Handle None as above.
    short_call state_mut.mt_set_meter_rates(table: &str, handle: Option<u64>, rates: Rates) -> ();

    short_call state.read_counters(counter: &str, index: u64) -> CounterValue;
    /// Returns the cells `start` to `end` - 1 of an indirect counter; at least one.
    short_call state.read_counters_range(counter: &str, start: u64, end: u64) -> Vec<CounterValue>;
    /// Returns the rates of one cell of an indirect meter, lowest first; empty if never set.
    short_call state.meter_get_rates(meter: &str, index: u64) -> Vec<MeterRate>;
    /// Returns the rates of cells `start` to `end` - 1 of an indirect meter; at least one.
    short_call state.meter_get_rates_range(meter: &str, start: u64, end: u64) -> Vec<Vec<MeterRate>>;
    /// Sets the rates of one cell of an indirect meter; no rates disable it.
    short_call state_mut.meter_set_rates(meter: &str, index: u64, rates: Rates) -> ();
    call state_mut.meter_array_set_rates(meter: &str, rates: Rates) -> ();
    /// Returns a cell, big-endian, in as many whole bytes as its width needs.
    short_call state.register_read(register: &str, index: u64) -> Vec<u8>;
    /// Returns the concatenated cells `start` to `end` - 1, each big-endian, in as many whole bytes as its
    /// width needs; at least one cell.
    short_call state.register_read_range(register: &str, start: u64, end: u64) -> Vec<u8>;
    short_call state_mut.register_write(register: &str, index: u64, value: PyBackedBytes) -> ();

    /// Returns the members of a parser value set in order: their fields side by side, without padding.
    call state.parse_vset_get(vset: &str) -> Vec<Vec<u8>>;
    call state_mut.parse_vset_add(vset: &str, value: PyBackedBytes) -> ();
    call state_mut.parse_vset_remove(vset: &str, value: PyBackedBytes) -> ();
    short_call state_mut.parse_vset_set(vset: &str, values: Data) -> ();
    call state_mut.parse_vset_clear(vset: &str) -> ();
}

/// Counters.
#[pymethods]
impl SwitchHandle {
    fn mt_write_counters(&self, table: &str, handle: Option<u64>, bytes: u64, packets: u64) -> PyResult<()> {
        let value = CounterValue { bytes, packets };
        self.short_call(|switch| switch.state_mut().mt_write_counters(table, handle, value))
    }

    fn write_counter_array(&self, counter: &str, bytes: u64, packets: u64) -> PyResult<()> {
        let value = CounterValue { bytes, packets };
        self.call(|switch| switch.state_mut().write_counter_array(counter, value))
    }

    fn write_counters(&self, counter: &str, index: u64, bytes: u64, packets: u64) -> PyResult<()> {
        let value = CounterValue { bytes, packets };
        self.short_call(|switch| switch.state_mut().write_counters(counter, index, value))
    }
}

/// Program, clock, packets, recordings.
#[pymethods]
impl SwitchHandle {
    /// Returns the running program. None without a program, or if another handle has loaded it.
    #[getter]
    fn program(&self, py: Python<'_>) -> Option<Py<Program>> {
        let running = py.detach(|| self.host.program())?;
        self.program.lock().as_ref().filter(|program| program.get().is(&running)).map(|p| p.clone_ref(py))
    }

    /// Replaces the program and its state; packets inside are dropped and counted. The clock continues, and
    /// multicast groups and clone sessions stay, as in BMv2.
    ///
    /// Raises `ConfigError` if this switch cannot run the new program; the old one then continues.
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

    /// Raises the exception that `load_program` would raise, and changes nothing.
    fn check_program(&self, py: Python<'_>, program: &Bound<'_, Program>) -> PyResult<()> {
        let inner = Arc::clone(&program.get().inner);
        py.detach(|| Switch::new(inner, self.host.config())).map_err(Error::from)?;
        Ok(())
    }

    /// Makes run loops wait until `resume`. Returns once no packet is being processed. Calls nest.
    fn pause(&self, py: Python<'_>) {
        py.detach(|| self.host.turns().pause());
    }

    /// Undoes one `pause`.
    fn resume(&self, py: Python<'_>) {
        py.detach(|| self.host.turns().resume());
    }

    /// Sets the idle timeout of an entry, in the switch's time; 0 means none.
    fn mt_set_entry_ttl(&self, py: Python<'_>, table: &str, handle: u64, ttl_ns: u64) -> PyResult<()> {
        let now = py.detach(|| self.host.now());
        self.short_call(|switch| switch.state_mut().mt_set_entry_ttl(table, handle, ttl_ns, now.as_ps()))
    }

    /// Returns the handles of entries without a hit during their timeout, again after each further one.
    fn mt_sweep_entries(&self, py: Python<'_>, table: &str) -> PyResult<Vec<u64>> {
        let now = py.detach(|| self.host.now());
        self.short_call(|switch| switch.state_mut().mt_sweep_entries(table, now.as_ps()))
    }

    /// Returns the messages of `digest()` since the last call: name of the learn list, and its fields.
    ///
    /// Each field is padded to whole bytes. At most 1024 messages are queued; older ones are dropped.
    fn take_digests(&self) -> PyResult<Vec<(String, Vec<u8>)>> {
        self.ask(|switch| {
            let program = Arc::clone(switch.program());
            let digests = std::iter::from_fn(|| switch.poll_digest());
            let named = digests.filter_map(|digest| {
                program.learn_list(digest.learn_list).map(|list| (list.name.clone(), digest.sample))
            });
            named.collect()
        })
    }

    /// Creates or replaces a whole multicast group: copies in the given order, with opaque bytes that
    /// `mc_groups` returns.
    #[pyo3(signature = (group, replicas, note=Vec::new()))]
    fn mc_set_group(&self, group: u16, replicas: Vec<(u16, u16)>, note: Vec<u8>) -> PyResult<()> {
        let replicas: Vec<_> =
            replicas.into_iter().map(|(egress_port, rid)| Replica { egress_port, rid }).collect();
        self.call(|switch| switch.set_group(group, &replicas, &note))
    }

    fn mc_delete_group(&self, group: u16) -> PyResult<()> {
        self.call(|switch| switch.delete_group(group))
    }

    /// Adds or replaces a clone session: copies to a port, to a group, or to both.
    ///
    /// Copies use the queue `class_of_service`, and are cut to `packet_length_bytes` (0: not cut). BMv2's
    /// sessions have neither.
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
                return Err(Error::value(format!(
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

    /// Sends a packet into the switch on the CPU port, now. It begins with the packet-out header.
    fn packet_out(&self, py: Python<'_>, packet: PyBackedBytes) -> PyResult<()> {
        Ok(py.detach(|| self.host.packet_out(&packet))?)
    }

    /// Takes the packets that left on the CPU port, with their packet-in headers. If there are none, waits
    /// for one.
    fn take_packets_in(&self, py: Python<'_>, timeout_ms: u64) -> Vec<Vec<u8>> {
        py.detach(|| self.host.packet_ins().take(Duration::from_millis(timeout_ms)))
    }

    /// Returns the number of packets that left on the CPU port while 4096 were already queued.
    #[getter]
    fn packets_in_lost(&self) -> u64 {
        self.host.packet_ins().lost()
    }

    /// Returns the bytes waiting in all queues of a port.
    fn queue_bytes(&self, port: u16) -> PyResult<u64> {
        self.ask(|switch| switch.queue_bytes(port).get())
    }

    /// Returns the packets waiting in all queues of a port.
    fn queue_packets(&self, port: u16) -> PyResult<usize> {
        self.ask(|switch| switch.queue_packets(port))
    }

    fn stats(&self) -> PyResult<AsDict<SwitchStats>> {
        self.ask(|switch| AsDict(switch.stats()))
    }

    fn port_stats(&self, port: u16) -> PyResult<AsDict<PortStats>> {
        self.ask(|switch| AsDict(switch.port_stats(port)))
    }

    /// Starts recording the journeys of frames that arrive with this tag, and of their copies.
    ///
    /// Loading another program ends this.
    fn follow(&self, tag: u64) -> PyResult<()> {
        self.ask(|switch| switch.follow(tag))
    }

    /// Takes the record since `follow`: the JSON of a `Journey`, which `json_documents.take_journey` reads.
    fn take_journey(&self) -> PyResult<String> {
        self.call(|switch| {
            // Converted to a `Value` first, which orders the members by name.
            let named = serde_json::to_value(switch.take_journey());
            named.map(|named| named.to_string()).map_err(Error::value)
        })
    }

    /// Starts recording the events of packets by hop, and discards an earlier recording. `filter` is the JSON
    /// of a `hops.HopFilter`, which `hops.record` writes. Raises `ConfigError`.
    fn record_hops(&self, filter: &str) -> PyResult<()> {
        let filter = crate::hops::filter(filter, &["switch"])?;
        self.call(|switch| switch.record_hops(filter, 0))
    }

    /// Ends the recording, and returns it as columns for `hops.take`. None if nothing was being recorded.
    #[pyo3(signature = () -> "dict[str, object] | None")]
    fn take_hops(&self, py: Python<'_>) -> PyResult<Option<Py<PyDict>>> {
        let log = self.ask(Switch::take_hops)?;
        log.map(|log| crate::hops::columns(py, &log, &["switch"])).transpose()
    }

    /// Takes the messages of the program's `log_msg` since the last call.
    fn take_log(&self) -> PyResult<Vec<String>> {
        self.ask(|switch| std::iter::from_fn(|| switch.poll_log()).collect())
    }
}
