//! A standalone switch, with a virtual clock that its user advances.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use simple_switch::{PortConfig, Quanta, SwitchConfig, MAX_PRIORITIES, PORT_COUNT};
use units::{Bytes, DataRate, Duration, Time};

use crate::error::Error;
use crate::handle::SwitchHandle;
use crate::program::Program;
use crate::switch_host::{virtual_ports, LoopLock, PacketIns, SwitchHost, Turns};

/// Events handled before control calls get their turn.
const SLICE: usize = 1024;

/// A frame that has left: its time, port and bytes.
type Sent = (Time, u16, Vec<u8>);

/// A frame to arrive: port, bytes, and the tag by which it can be followed.
type Arrival = (u16, Vec<u8>, u64);

/// A switch, the frames to arrive, and the frames that have left.
struct Standalone {
    config: SwitchConfig,
    switch: Option<simple_switch::Switch>,
    now: Time,
    arrivals: BTreeMap<(Time, u64), Arrival>,
    next_arrival: u64,
    sent: Vec<Sent>,
}

impl Standalone {
    fn arrive(&mut self, at: Time, port: u16, frame: Vec<u8>, tag: u64) -> Result<(), Error> {
        if self.switch.is_none() {
            return Err(Error::NoProgram);
        }
        if at < self.now {
            return Err(Error::Clock(format!(
                "a frame cannot arrive at {} ps, the clock shows {} ps",
                at.as_ps(),
                self.now.as_ps()
            )));
        }
        self.arrivals.insert((at, self.next_arrival), (port, frame, tag));
        self.next_arrival += 1;
        Ok(())
    }

    /// Handles at most one slice of the events due up to `end`. Returns whether all are handled.
    fn advance(&mut self, end: Time, packet_ins: &PacketIns) -> bool {
        let Some(switch) = &mut self.switch else {
            self.now = end;
            return true;
        };
        for _ in 0..SLICE {
            let arrival = self.arrivals.first_key_value().map(|((at, _), _)| *at);
            // The switch's own events come first: a queue that drains at a given time accepts a frame that arrives at the same time.
            let wakeup = switch.next_wakeup().filter(|at| arrival.is_none_or(|arrival| *at <= arrival));
            match (wakeup, arrival) {
                (Some(at), _) if at <= end => {
                    self.now = at;
                    switch.handle_wakeup(at);
                }
                (None, Some(at)) if at <= end => {
                    self.now = at;
                    if let Some((_, (port, frame, tag))) = self.arrivals.pop_first() {
                        switch.handle_packet(at, port, &frame, tag);
                    }
                }
                _ => {
                    self.now = end;
                    return true;
                }
            }
            while let Some(sent) = switch.poll_transmit() {
                if Some(sent.port) == self.config.cpu_port {
                    packet_ins.push(sent.frame.to_vec());
                }
                self.sent.push((sent.at, sent.port, sent.frame.to_vec()));
                switch.recycle(sent.frame);
            }
        }
        false
    }
}

/// Hosts a standalone switch.
struct StandaloneSwitchHost {
    standalone: LoopLock<Standalone>,
    packet_ins: PacketIns,
}

impl SwitchHost for StandaloneSwitchHost {
    fn with(&self, call: &mut dyn FnMut(&mut simple_switch::Switch)) -> Result<(), Error> {
        call(self.standalone.lock().switch.as_mut().ok_or(Error::NoProgram)?);
        Ok(())
    }

    fn try_with(&self, call: &mut dyn FnMut(&mut simple_switch::Switch)) -> Option<Result<(), Error>> {
        let mut standalone = self.standalone.try_lock()?;
        Some(standalone.switch.as_mut().ok_or(Error::NoProgram).map(call))
    }

    fn load_program(&self, program: Arc<bm::Executable>) -> Result<(), Error> {
        let mut standalone = self.standalone.lock();
        match &mut standalone.switch {
            Some(switch) => switch.load_program(program)?,
            None => standalone.switch = Some(simple_switch::Switch::new(program, standalone.config.clone())?),
        }
        Ok(())
    }

    fn config(&self) -> SwitchConfig {
        self.standalone.lock().config.clone()
    }

    fn turns(&self) -> &dyn Turns {
        &self.standalone
    }

    fn now(&self) -> Time {
        self.standalone.lock().now
    }

    fn port_info(&self) -> Vec<(u16, String, bool)> {
        let standalone = self.standalone.lock();
        virtual_ports(&standalone.config.ports, |port| {
            standalone.switch.as_ref().is_none_or(|switch| switch.is_up(port))
        })
    }

    fn port_add(&self, _interface: &str, port: u16) -> Result<(), Error> {
        let mut standalone = self.standalone.lock();
        if standalone.config.ports.iter().any(|old| old.port == port) {
            return Err(Error::Config(format!("port {port}: is attached already")));
        }
        let added = PortConfig::unlimited(port);
        match &mut standalone.switch {
            Some(switch) => switch.set_port(added.clone())?,
            None => return Err(Error::NoProgram),
        }
        standalone.config.ports.push(added);
        Ok(())
    }

    fn port_remove(&self, port: u16) -> Result<(), Error> {
        let mut standalone = self.standalone.lock();
        if !standalone.config.ports.iter().any(|old| old.port == port) {
            return Err(Error::Config(format!("port {port}: is not attached")));
        }
        standalone.config.ports.retain(|old| old.port != port);
        if let Some(switch) = &mut standalone.switch {
            switch.remove_port(port);
        }
        Ok(())
    }

    fn packet_out(&self, packet: &[u8]) -> Result<(), Error> {
        let mut standalone = self.standalone.lock();
        let (port, now) = (standalone.config.cpu_port, standalone.now);
        let port = port.ok_or_else(|| Error::Config("the switch has no CPU port".into()))?;
        standalone.arrive(now, port, packet.to_vec(), 0)
    }

    fn packet_ins(&self) -> &PacketIns {
        &self.packet_ins
    }
}

/// Returns the quanta of a port from a map of priority to bytes.
fn quanta(of: Option<BTreeMap<usize, u32>>) -> Result<Quanta, Error> {
    let mut quanta = Quanta::default();
    for (priority, bytes) in of.unwrap_or_default() {
        let queue = quanta.get_mut(priority).ok_or_else(|| {
            Error::Config(format!(
                "quanta_bytes: priority {priority}; priorities are 0 to {}",
                MAX_PRIORITIES - 1
            ))
        })?;
        let bytes = NonZeroU32::new(bytes).ok_or_else(|| {
            Error::Config(format!("quanta_bytes: 0 for priority {priority}; leave it out for a strict queue"))
        })?;
        *queue = Some(bytes);
    }
    Ok(quanta)
}

/// A port and its link. Without `rate_bps` it sends without delay; without limits its queues never overflow.
///
/// `overhead_bytes` is added to each frame on the wire: 24 for Ethernet's preamble, SFD, FCS and gap.
/// `quanta_bytes` are the quanta, by priority, of queues that share the link in deficit round robin; other
/// queues have strict priority.
#[pyclass(frozen, module = "eeon_engine._engine")]
#[derive(Clone)]
pub(crate) struct Port(pub(crate) PortConfig);

#[pymethods]
impl Port {
    #[new]
    #[pyo3(signature = (
        port, *, rate_bps=None, overhead_bytes=0, queue_limit_packets=None, queue_limit_bytes=None,
        quanta_bytes: "dict[int, int] | None"=None,
    ))]
    pub(crate) fn new(
        port: u16,
        rate_bps: Option<u64>,
        overhead_bytes: u64,
        queue_limit_packets: Option<usize>,
        queue_limit_bytes: Option<u64>,
        quanta_bytes: Option<BTreeMap<usize, u32>>,
    ) -> PyResult<Self> {
        if rate_bps == Some(0) {
            return Err(Error::Config(format!(
                "port {port}: rate_bps 0; leave it out for a port without delay"
            ))
            .into());
        }
        Ok(Self(PortConfig {
            port,
            rate: rate_bps.map(DataRate::from_bps),
            overhead: Bytes::new(overhead_bytes),
            queue_limit_packets,
            queue_limit_bytes: queue_limit_bytes.map(Bytes::new),
            quanta: quanta(quanta_bytes)?,
        }))
    }

    #[getter]
    fn port(&self) -> u16 {
        self.0.port
    }
}

/// A standalone switch with a virtual clock that its user advances.
///
/// Without a program it waits for `load_program`, or for a P4Runtime client to push one. Without `ports` it
/// has all of v1model's, without rate limits. `cpu_port` is 510 by default. `tick_ps` is one tick of the
/// timestamps that the program sees (BMv2: 1 us, 1_000_000). `gate_register` names the register with the tick
/// before which a port sends nothing, `class_gate_register` one with a cell for each queue (port << 3 |
/// priority), and `timer_register` one with the tick at which the program runs without a packet. Raises
/// `ConfigError`.
#[pyclass(frozen, extends = SwitchHandle, module = "eeon_engine._engine")]
pub(crate) struct Switch {
    host: Arc<StandaloneSwitchHost>,
}

#[pymethods]
impl Switch {
    #[new]
    #[pyo3(signature = (
        program=None, *, device_id=1, ports=None, tick_ps=1_000, cpu_port=Some(510), drop_port=511,
        gate_register=None, class_gate_register=None, timer_register=None, seed=0, clock_start=0, priorities=1,
        recirculation_delay_ps=1_000_000,
    ))]
    #[allow(clippy::too_many_arguments)] // Keyword arguments, one for each setting of the switch.
    fn new(
        py: Python<'_>,
        program: Option<Py<Program>>,
        device_id: u64,
        ports: Option<Vec<PyRef<'_, Port>>>,
        tick_ps: u64,
        cpu_port: Option<u16>,
        drop_port: u16,
        gate_register: Option<String>,
        class_gate_register: Option<String>,
        timer_register: Option<String>,
        seed: u64,
        clock_start: u64,
        priorities: usize,
        recirculation_delay_ps: u64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let ports = match ports {
            Some(ports) => ports.iter().map(|port| port.0.clone()).collect(),
            None => (0..PORT_COUNT as u16)
                .filter(|port| Some(*port) != cpu_port)
                .map(PortConfig::unlimited)
                .collect(),
        };
        let config = SwitchConfig {
            device_id,
            tick: Duration::from_ps(tick_ps),
            cpu_port,
            drop_port,
            gate_register,
            class_gate_register,
            timer_register,
            seed,
            clock_start,
            priorities,
            recirculation_delay: Duration::from_ps(recirculation_delay_ps),
            ports,
            ..SwitchConfig::default()
        };
        let inner = program.as_ref().map(|program| Arc::clone(&program.get().inner));
        let switch = py.detach(|| {
            inner
                .map(|inner| simple_switch::Switch::new(inner, config.clone()))
                .transpose()
                .map_err(Error::from)
        })?;
        let standalone = Standalone {
            config,
            switch,
            now: Time::ZERO,
            arrivals: BTreeMap::new(),
            next_arrival: 0,
            sent: Vec::new(),
        };
        let standalone = LoopLock::new(standalone);
        let host = Arc::new(StandaloneSwitchHost { standalone, packet_ins: PacketIns::default() });
        let of_handle = Arc::clone(&host) as Arc<dyn SwitchHost>;
        let handle = SwitchHandle::new(of_handle, device_id, cpu_port, program);
        Ok(PyClassInitializer::from(handle).add_subclass(Self { host }))
    }

    /// Returns the time of the clock.
    #[getter]
    fn now_ps(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.host.standalone.lock().now.as_ps())
    }

    /// Schedules the arrival of a frame on a port, now or at a later time, with a tag for `follow`.
    ///
    /// Raises `ClockError` for a time in the past.
    #[pyo3(signature = (port, frame, at_ps=None, tag=0))]
    fn inject(
        &self,
        py: Python<'_>,
        port: u16,
        frame: PyBackedBytes,
        at_ps: Option<u64>,
        tag: u64,
    ) -> PyResult<()> {
        py.detach(|| {
            let mut standalone = self.host.standalone.lock();
            let at = at_ps.map_or(standalone.now, Time::from_ps);
            standalone.arrive(at, port, frame.to_vec(), tag)
        })?;
        Ok(())
    }

    /// Processes all events up to and including `at_ps`. Returns the departures as (time, port, frame).
    ///
    /// The time is that of the first bit. Departures on the CPU port are included, and also queued for
    /// `take_packets_in`.
    fn advance_to(&self, py: Python<'_>, at_ps: u64) -> PyResult<Vec<(u64, u16, Vec<u8>)>> {
        let end = Time::from_ps(at_ps);
        let sent = py.detach(|| {
            let now = self.host.standalone.lock().now;
            if end < now {
                return Err(Error::Clock(format!(
                    "the clock shows {} ps, it cannot go back to {at_ps} ps",
                    now.as_ps()
                )));
            }
            Ok(self.host.standalone.run(|standalone| {
                standalone.advance(end, &self.host.packet_ins).then(|| std::mem::take(&mut standalone.sent))
            }))
        })?;
        Ok(sent.into_iter().map(|(at, port, frame)| (at.as_ps(), port, frame)).collect())
    }

    /// Returns the time of the next event; None after the last one.
    #[getter]
    fn next_event_ps(&self, py: Python<'_>) -> Option<u64> {
        py.detach(|| {
            let standalone = self.host.standalone.lock();
            let arrival = standalone.arrivals.first_key_value().map(|((at, _), _)| *at);
            let wakeup = standalone.switch.as_ref().and_then(|switch| switch.next_wakeup());
            arrival.into_iter().chain(wakeup).min().map(Time::as_ps)
        })
    }
}
