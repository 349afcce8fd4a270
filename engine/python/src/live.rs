//! A switch in real time for Python. No packets pass through this module, except those of the controller.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration as StdDuration, SystemTime, UNIX_EPOCH};

use live::{LiveConfig, LiveCounts, LiveError, PacketIns, PortDefaults, Ports, Turns};
use port_io::{PacketIn, PcapPort, PcapPorts};
use pyo3::prelude::*;
use simple_switch::{SwitchConfig, PORT_COUNT};
use units::{DataRate, Duration, Time};

use crate::convert::AsDict;
use crate::error::Error;
use crate::handle::SwitchHandle;
use crate::program::Program;
use crate::switch::Port;
use crate::switch_host::SwitchHost;

impl From<LiveError> for Error {
    fn from(error: LiveError) -> Self {
        match error {
            LiveError::NoProgram => Error::NoProgram,
            error => Error::config(error),
        }
    }
}

struct LiveSwitchHost {
    switch: live::LiveSwitch,
    follows_all: bool,
}

impl SwitchHost for LiveSwitchHost {
    fn with(&self, call: &mut dyn FnMut(&mut simple_switch::Switch)) -> Result<(), Error> {
        Ok(self.switch.with(call)?)
    }

    fn try_with(&self, call: &mut dyn FnMut(&mut simple_switch::Switch)) -> Option<Result<(), Error>> {
        Some(self.switch.try_with(call)?.map_err(Error::from))
    }

    fn load_program(&self, program: Arc<bm::Executable>) -> Result<(), Error> {
        Ok(self.switch.load_program(program)?)
    }

    fn traces(&self) -> bool {
        self.follows_all
    }

    fn config(&self) -> SwitchConfig {
        self.switch.config()
    }

    fn turns(&self) -> &dyn Turns {
        self.switch.turns()
    }

    fn now(&self) -> Time {
        self.switch.now()
    }

    fn time_since_epoch_us(&self) -> Option<u64> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(since.as_micros() as u64)
    }

    fn port_info(&self) -> Vec<(u16, String, bool)> {
        self.switch.ports().into_iter().map(|info| (info.port, info.name, info.is_up)).collect()
    }

    fn port_add(&self, interface: &str, port: u16) -> Result<(), Error> {
        Ok(self.switch.add_port(port, interface)?)
    }

    fn port_remove(&self, port: u16) -> Result<(), Error> {
        Ok(self.switch.remove_port(port)?)
    }

    fn port_set_link(&self, port: u16, _up: bool) -> Result<(), Error> {
        Err(Error::Config(format!("port {port}: its interface says whether it is up")))
    }

    fn packet_out(&self, packet: &[u8]) -> Result<(), Error> {
        Ok(self.switch.packet_out(packet)?)
    }

    fn packet_ins(&self) -> &PacketIns {
        self.switch.packet_ins()
    }
}

/// One switch in real time. A separate thread, which never holds the GIL, moves its packets. Only available
/// on Linux.
///
/// Ports are one of: `interfaces`, network interfaces by number and name (needs root or CAP_NET_RAW;
/// `port_add` can add more); `packet_in`, a nanomsg address for all of v1model's ports; `files`, a number and
/// a NAME for each port, which reads NAME_in.pcap and writes NAME_out.pcap, files or FIFOs, from `wait_s`
/// seconds after `start`. All ports have the same queue limits and, unless `port_rates_bps` has them, the
/// same rate; BMv2's are an unlimited rate and 64 packets. `capture` is a folder for pcap files of each
/// interface. Timestamps are in microseconds by default, as BMv2's.
///
/// Ports are opened by the constructor, but no frame is received before `start`. Raises `ConfigError`.
#[pyclass(frozen, extends = SwitchHandle, module = "eeon_engine._engine")]
pub(crate) struct LiveSwitch {
    host: Arc<LiveSwitchHost>,
}

#[pymethods]
impl LiveSwitch {
    #[new]
    #[pyo3(signature = (
        program=None, *, interfaces=None, packet_in=None, files=None, wait_s=0.0, capture=None,
        device_id=0, tick_ps=1_000_000, cpu_port=None, drop_port=511, gate_register=None,
        class_gate_register=None, timer_register=None, seed=0, priorities=1, recirculation_delay_ps=10_000_000, rate_bps=None, overhead_bytes=0, queue_limit_packets=64,
        queue_limit_bytes=None, port_rates_bps: "dict[int, int] | None"=None, quanta_bytes: "dict[int, int] | None"=None,
        follows_all=false,
    ))]
    #[allow(clippy::too_many_arguments)] // Keyword arguments, one for each setting of the switch.
    fn new(
        py: Python<'_>,
        program: Option<Py<Program>>,
        interfaces: Option<Vec<(u16, String)>>,
        packet_in: Option<String>,
        files: Option<Vec<(u16, String)>>,
        wait_s: f64,
        capture: Option<PathBuf>,
        device_id: u64,
        tick_ps: u64,
        cpu_port: Option<u16>,
        drop_port: u16,
        gate_register: Option<String>,
        class_gate_register: Option<String>,
        timer_register: Option<String>,
        seed: u64,
        priorities: usize,
        recirculation_delay_ps: u64,
        rate_bps: Option<u64>,
        overhead_bytes: u64,
        queue_limit_packets: Option<usize>,
        queue_limit_bytes: Option<u64>,
        port_rates_bps: Option<BTreeMap<u16, u64>>,
        quanta_bytes: Option<BTreeMap<usize, u32>>,
        follows_all: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let port_rates = port_rates_bps.unwrap_or_default();
        if let Some((port, _)) = port_rates.iter().find(|(_, rate)| **rate == 0) {
            let text = format!("port_rates_bps of port {port} is 0; leave the port out for no delay");
            return Err(Error::Config(text).into());
        }
        if rate_bps == Some(0) {
            return Err(Error::Config("rate_bps 0; leave it out for ports without delay".into()).into());
        }
        let each =
            Port::new(0, rate_bps, overhead_bytes, queue_limit_packets, queue_limit_bytes, quanta_bytes)?;
        let wait = StdDuration::try_from_secs_f64(wait_s)
            .map_err(|error| Error::Config(format!("wait_s {wait_s}: {error}")))?;
        let config = LiveConfig {
            switch: SwitchConfig {
                device_id,
                tick: Duration::from_ps(tick_ps),
                cpu_port,
                drop_port,
                gate_register,
                class_gate_register,
                timer_register,
                seed,
                priorities,
                recirculation_delay: Duration::from_ps(recirculation_delay_ps),
                ..SwitchConfig::default()
            },
            port_defaults: PortDefaults {
                each: each.0,
                rates: port_rates.into_iter().map(|(port, bps)| (port, DataRate::from_bps(bps))).collect(),
            },
            capture,
            follows_all,
        };
        let given = program.as_ref().map(|program| program.get());
        let switch = py.detach(|| {
            let inner = match given {
                Some(program) if follows_all => Some(program.traced()?),
                given => given.map(|program| Arc::clone(&program.inner)),
            };
            let ports = match (interfaces, packet_in, files) {
                (interfaces, None, None) => Ports::Interfaces(interfaces.unwrap_or_default()),
                (None, Some(address), None) => {
                    let numbers = (0..PORT_COUNT as u16).filter(|port| Some(*port) != cpu_port);
                    let socket = PacketIn::listen(&address).map_err(LiveError::from)?;
                    Ports::Fixed(Box::new(socket), numbers.collect())
                }
                (None, None, Some(files)) => {
                    let open = |(port, name): &(u16, String)| PcapPort::open(*port, name);
                    let opened = files.iter().map(open).collect::<Result<_, _>>().map_err(LiveError::from)?;
                    let io = PcapPorts::new(opened, wait).map_err(LiveError::from)?;
                    Ports::Fixed(Box::new(io), files.iter().map(|(port, _)| *port).collect())
                }
                _ => return Err(Error::Config("give one of interfaces, packet_in and files".into())),
            };
            Ok(live::LiveSwitch::new(inner, config, ports)?)
        })?;
        let host = Arc::new(LiveSwitchHost { switch, follows_all });
        let of_handle = Arc::clone(&host) as Arc<dyn SwitchHost>;
        let handle = SwitchHandle::new(of_handle, device_id, cpu_port, program);
        Ok(PyClassInitializer::from(handle).add_subclass(Self { host }))
    }

    /// Starts receiving frames. May be called once.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        Ok(py.detach(|| self.host.switch.start()).map_err(Error::from)?)
    }

    /// Ends its thread, and writes pending output to files. May be called again.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.host.switch.stop());
    }

    /// Returns whether its thread has ended, by `stop` or by itself.
    #[getter]
    fn has_ended(&self) -> bool {
        self.host.switch.has_ended()
    }

    /// Takes messages for the user, such as interfaces that went down. If there are none, waits for one.
    fn take_events(&self, py: Python<'_>, timeout_ms: u64) -> Vec<String> {
        py.detach(|| self.host.switch.take_events(StdDuration::from_millis(timeout_ms)))
    }

    /// Returns the recent counts of frames lost or repaired outside the switch, and the counts of its loop.
    fn io_counts(&self, py: Python<'_>) -> AsDict<LiveCounts> {
        AsDict(py.detach(|| self.host.switch.counts()))
    }
}
