//! A fabric in virtual time for Python.

use std::sync::Arc;
use std::time::{Duration, Instant};

use netsim::{Fabric, FabricSpec, FlowSpec, SendError};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::Time;

use crate::error::Error;
use crate::handle::SwitchHandle;
use crate::program::Program;
use crate::switch_host::{virtual_ports, LoopLock, PacketIns, SwitchHost, Turns};

/// Approximate maximum time that a control call waits for the fabric. Slices grow and shrink in virtual time to take
/// this long; their boundaries do not affect the results.
const SLICE: Duration = Duration::from_millis(4);

/// Interval at which Python checks for Ctrl-C.
const SIGNAL_CHECK: Duration = Duration::from_millis(200);

/// The first slice, in picoseconds of virtual time.
const FIRST_SLICE_PS: u64 = 1_000_000;

struct Shared {
    fabric: LoopLock<Fabric>,
    /// By switch.
    packet_ins: Vec<PacketIns>,
}

impl Shared {
    /// Passes the switches' packets for the controller to its receivers.
    fn collect(&self, fabric: &mut Fabric) {
        for (index, packet_ins) in self.packet_ins.iter().enumerate() {
            while let Some(packet) = fabric.poll_packet_in(index) {
                packet_ins.push(packet);
            }
        }
    }
}

/// Hosts one switch of a fabric.
struct TwinSwitchHost {
    shared: Arc<Shared>,
    index: usize,
}

impl SwitchHost for TwinSwitchHost {
    fn with(&self, call: &mut dyn FnMut(&mut simple_switch::Switch)) -> Result<(), Error> {
        call(self.shared.fabric.lock().switch_mut(self.index));
        Ok(())
    }

    fn try_with(&self, call: &mut dyn FnMut(&mut simple_switch::Switch)) -> Option<Result<(), Error>> {
        call(self.shared.fabric.try_lock()?.switch_mut(self.index));
        Some(Ok(()))
    }

    fn load_program(&self, program: Arc<bm::Executable>) -> Result<(), Error> {
        Ok(self.shared.fabric.lock().switch_mut(self.index).load_program(program)?)
    }

    fn config(&self) -> simple_switch::SwitchConfig {
        self.shared.fabric.lock().switch(self.index).config().clone()
    }

    fn turns(&self) -> &dyn Turns {
        &self.shared.fabric
    }

    fn now(&self) -> Time {
        self.shared.fabric.lock().now()
    }

    fn port_info(&self) -> Vec<(u16, String, bool)> {
        let fabric = self.shared.fabric.lock();
        let switch = fabric.switch(self.index);
        virtual_ports(&switch.config().ports, |port| switch.is_up(port))
    }

    fn packet_out(&self, packet: &[u8]) -> Result<(), Error> {
        let mut fabric = self.shared.fabric.lock();
        let sent = fabric.packet_out(self.index, packet).map_err(Error::value);
        self.shared.collect(&mut fabric);
        sent
    }

    fn packet_ins(&self) -> &PacketIns {
        &self.shared.packet_ins[self.index]
    }
}

/// The senders of a batch's frames.
#[derive(FromPyObject)]
enum Senders {
    /// One host, by name.
    #[pyo3(transparent)]
    One(String),
    /// A host per frame, by number.
    #[pyo3(transparent)]
    Each(PyBuffer<u32>),
}

/// Switches, links and hosts under one clock. `spec` is the JSON of a `json_types.FabricSpec`;
/// `json_documents.make_twin` writes it.
///
/// The same program, spec, frames, and control calls at the same times give the same report, byte for byte.
/// Raises `ConfigError` with the place in the spec.
#[pyclass(frozen, module = "eeon_engine._engine")]
pub(crate) struct Twin {
    shared: Arc<Shared>,
    spec: FabricSpec,
    program: Py<Program>,
}

#[pymethods]
impl Twin {
    #[new]
    fn new(py: Python<'_>, program: Py<Program>, spec: &str) -> PyResult<Self> {
        let inner = Arc::clone(&program.get().inner);
        let (fabric, spec) = py.detach(|| {
            let spec = FabricSpec::from_json(spec.as_bytes()).map_err(Error::config)?;
            let fabric = Fabric::new(inner, spec.clone()).map_err(Error::config)?;
            Ok::<_, Error>((fabric, spec))
        })?;
        let packet_ins = spec.switches.iter().map(|_| PacketIns::default()).collect();
        Ok(Self { shared: Arc::new(Shared { fabric: LoopLock::new(fabric), packet_ins }), spec, program })
    }

    /// Returns the names of switches, in the order of the spec.
    #[getter]
    fn switches(&self) -> Vec<&str> {
        self.spec.switches.iter().map(|switch| switch.name.as_str()).collect()
    }

    /// Returns the names of hosts, in the order of the spec; `feed` takes their positions as numbers.
    #[getter]
    fn hosts(&self) -> Vec<&str> {
        self.spec.hosts.iter().map(|host| host.name.as_str()).collect()
    }

    /// Returns a switch, for control or for a P4Runtime server. Raises `NoSuchObjectError`.
    fn switch(&self, py: Python<'_>, name: &str) -> PyResult<SwitchHandle> {
        let found = self.spec.switches.iter().position(|switch| switch.name == name);
        let index = found.ok_or_else(|| {
            Error::no_such_object(format!(
                "no switch named '{name}'; the fabric has {}",
                self.switches().join(", ")
            ))
        })?;
        let host = Arc::new(TwinSwitchHost { shared: Arc::clone(&self.shared), index });
        let (device_id, cpu_port) = (self.spec.switches[index].device_id, self.spec.cpu_port);
        Ok(SwitchHandle::new(host, device_id, Some(cpu_port), Some(self.program.clone_ref(py))))
    }

    /// Accepts frames for hosts to send, as flat arrays in order of time. Returns the number accepted.
    ///
    /// `hosts` is one name for all, or a uint32 array of host numbers; `times_ps` is a uint64 array. Frame i
    /// is frames[offsets[i]:offsets[i + 1]] of the uint8 array `frames`; `offsets` is uint64, with one
    /// element more than there are frames. `lengths` (uint32) are lengths on the wire: shorter frames are
    /// padded with zeros.
    ///
    /// At most 2**20 frames are queued; if not all were accepted, run before you feed the rest. Raises
    /// `ClockError` for a frame out of order and `InvalidValueError` for arrays that do not match; the frames
    /// before the one in the message have been accepted.
    #[pyo3(signature = (hosts, times_ps, offsets, frames, lengths=None))]
    fn feed(
        &self,
        py: Python<'_>,
        hosts: Senders,
        times_ps: PyBuffer<u64>,
        offsets: PyBuffer<u64>,
        frames: PyBuffer<u8>,
        lengths: Option<PyBuffer<u32>>,
    ) -> PyResult<usize> {
        let times_ps = times_ps.to_vec(py)?;
        let senders = match hosts {
            Senders::One(name) => vec![self.host(&name)?; times_ps.len()],
            Senders::Each(numbers) => numbers.to_vec(py)?.into_iter().map(|number| number as usize).collect(),
        };
        let (offsets, frames) = (offsets.to_vec(py)?, frames.to_vec(py)?);
        let lengths = lengths.map(|lengths| lengths.to_vec(py)).transpose()?;
        Ok(py.detach(|| {
            let fabric = &mut self.shared.fabric.lock();
            feed(fabric, &senders, &times_ps, &offsets, &frames, lengths.as_deref())
        })?)
    }

    /// Returns the tag of a frame that is fed for this time, for `SwitchHandle.follow`.
    ///
    /// The tag consists of the frame's time and class; frames with the same time and class share it.
    #[staticmethod]
    #[pyo3(signature = (at_ps, frame, length=None))]
    fn tag_of(at_ps: u64, frame: &[u8], length: Option<usize>) -> PyResult<u64> {
        let at = Time::from_ps(at_ps);
        if at > netsim::LATEST {
            return Err(Error::value(format!("{at} is later than any frame can be sent")).into());
        }
        Ok(Fabric::tag_of(at, frame, length.unwrap_or(frame.len())))
    }

    /// Returns the number of frames fed and not yet sent.
    #[getter]
    fn pending(&self, py: Python<'_>) -> usize {
        py.detach(|| self.shared.fabric.lock().pending())
    }

    /// Returns the time before which all events have been processed.
    #[getter]
    fn now_ps(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.shared.fabric.lock().now().as_ps())
    }

    /// Returns the number of events processed so far.
    #[getter]
    fn events(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.shared.fabric.lock().events())
    }

    /// Returns the number of runs of parser and ingress so far, over all switches.
    #[getter]
    fn p4_passes(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.shared.fabric.lock().p4_passes())
    }

    /// Processes all events before `at_ps`. Ctrl-C stops it between two slices.
    fn run_until(&self, py: Python<'_>, at_ps: u64) -> PyResult<()> {
        self.run(py, at_ps, |fabric, end| {
            fabric.run_until(end);
            false
        })?;
        Ok(())
    }

    /// Processes events until none are left (True) or until `limit_ps` (False).
    #[pyo3(signature = (limit_ps=u64::MAX))]
    fn run_to_idle(&self, py: Python<'_>, limit_ps: u64) -> PyResult<bool> {
        self.run(py, limit_ps, Fabric::run_to_idle)
    }

    /// Starts or stops keeping every frame that arrives at a host, for `take_heard`.
    #[pyo3(signature = (host, on=true))]
    fn listen(&self, py: Python<'_>, host: &str, on: bool) -> PyResult<()> {
        let index = self.host(host)?;
        let done = py.detach(|| self.shared.fabric.lock().listen(index, on));
        Ok(done.map_err(Error::value)?)
    }

    /// Processes events until a frame has arrived at a host in `listen` (True).
    ///
    /// The clock is then at this instant, so that an answer can be sent at once. Returns False, with the
    /// clock at `limit_ps`, if no frame arrives before.
    #[pyo3(signature = (limit_ps=u64::MAX))]
    fn run_until_heard(&self, py: Python<'_>, limit_ps: u64) -> PyResult<bool> {
        self.run(py, limit_ps, Fabric::run_until_heard)
    }

    /// Takes the frames that arrived at hosts in `listen`: time in picoseconds, host, frame without FCS.
    fn take_heard(&self, py: Python<'_>) -> Vec<(u64, &str, Vec<u8>)> {
        py.detach(|| {
            let mut fabric = self.shared.fabric.lock();
            let heard = std::iter::from_fn(|| fabric.poll_heard());
            let name = |host: usize| self.spec.hosts[host].name.as_str();
            heard.map(|heard| (heard.at.as_ps(), name(heard.host), heard.frame)).collect()
        })
    }

    /// Returns the number of frames that arrived at hosts in `listen` while 65,536 were already queued.
    #[getter]
    fn heard_lost(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.shared.fabric.lock().heard_lost())
    }

    /// Starts a TCP flow of `size` bytes from one host to another. Returns its number in the report's
    /// `flows`.
    ///
    /// `tcp` is the JSON of a `json_types.TcpSpec`; the default is New Reno. It starts now or at `at_ps`.
    /// Raises `ConfigError`.
    #[pyo3(signature = (source, destination, size, *, at_ps=None, tcp=None))]
    fn start_flow(
        &self,
        py: Python<'_>,
        source: &str,
        destination: &str,
        size: u64,
        at_ps: Option<u64>,
        tcp: Option<&str>,
    ) -> PyResult<usize> {
        let (source, destination) = (self.host(source)?, self.host(destination)?);
        let settings = netsim::tcp_settings(tcp).map_err(Error::config)?;
        let number = py.detach(|| {
            let mut fabric = self.shared.fabric.lock();
            let start = at_ps.map_or(fabric.now(), Time::from_ps);
            fabric.start_flow(&settings, FlowSpec { source, destination, bytes: size, start })
        });
        Ok(number.map_err(Error::config)?)
    }

    /// Starts applications whose transfers are TCP connections between the hosts. Once per twin.
    ///
    /// `spec` is the JSON of a `json_types.WorkloadSpec`; docs/models/mapreduce.md explains it. It is checked
    /// completely before anything starts. Raises `ConfigError` with place, value and reason.
    fn start_workload(&self, py: Python<'_>, spec: &str) -> PyResult<()> {
        let started = py.detach(|| self.shared.fabric.lock().start_workload(spec.as_bytes()));
        Ok(started.map_err(Error::config)?)
    }

    /// Processes events until every foreground application has finished (True).
    ///
    /// The clock is then at this instant. Returns False at `limit_ps`, if no events are left, and if no
    /// workload was started. Ctrl-C stops it between two slices.
    #[pyo3(signature = (limit_ps=u64::MAX))]
    fn run_workload(&self, py: Python<'_>, limit_ps: u64) -> PyResult<bool> {
        // If no events are left, later slices would change nothing.
        self.run(py, limit_ps, |fabric, end| fabric.run_workload(end) || fabric.is_idle())?;
        Ok(py.detach(|| self.shared.fabric.lock().workload_is_finished()))
    }

    /// Starts recording the events of packets by hop, as `SwitchHandle.record_hops` does.
    fn record_hops(&self, py: Python<'_>, filter: &str) -> PyResult<()> {
        let filter = crate::hops::filter(filter, &self.nodes())?;
        let recorded = py.detach(|| self.shared.fabric.lock().record_hops(&filter));
        Ok(recorded.map_err(Error::config)?)
    }

    /// Ends the recording, and returns it as `SwitchHandle.take_hops` does.
    #[pyo3(signature = () -> "dict[str, object] | None")]
    fn take_hops(&self, py: Python<'_>) -> PyResult<Option<Py<PyDict>>> {
        let log = py.detach(|| self.shared.fabric.lock().take_hops());
        log.map(|log| crate::hops::columns(py, &log, &self.nodes())).transpose()
    }

    /// Returns the state of one flow of `start_flow`: the JSON of a `FlowReport`, which
    /// `json_documents.flow_report` reads. Faster than `report`, which covers the whole fabric. Raises
    /// `ConfigError` for an unknown number.
    fn flow_report(&self, py: Python<'_>, number: usize) -> PyResult<String> {
        let report = py.detach(|| self.shared.fabric.lock().flow_report(number));
        let report = report.ok_or_else(|| {
            Error::Config(format!("flow {number}: there is none; start_flow gives their numbers"))
        })?;
        Ok(serde_json::to_string(&report).map_err(Error::value)?)
    }

    /// Returns a report of the run so far: the JSON of a `Report`, for `json_documents.twin_report`.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        Ok(py.detach(|| {
            let report = self.shared.fabric.lock().report().map_err(Error::value)?;
            serde_json::to_string(&report).map_err(Error::value)
        })?)
    }
}

impl Twin {
    /// Returns the names of switches and hosts, by the node numbers of hops.
    fn nodes(&self) -> Vec<&str> {
        let hosts = self.spec.hosts.iter().map(|host| host.name.as_str());
        self.spec.switches.iter().map(|switch| switch.name.as_str()).chain(hosts).collect()
    }

    fn host(&self, name: &str) -> Result<usize, Error> {
        self.spec.hosts.iter().position(|host| host.name == name).ok_or_else(|| {
            Error::no_such_object(format!(
                "no host named '{name}'; the fabric has {} hosts",
                self.spec.hosts.len()
            ))
        })
    }

    /// Calls `step` with increasing end times until it returns true or has reached `end_ps`. Returns its last result.
    fn run(
        &self,
        py: Python<'_>,
        end_ps: u64,
        mut step: impl FnMut(&mut Fabric, Time) -> bool + Send,
    ) -> PyResult<bool> {
        let mut slice_ps = FIRST_SLICE_PS;
        loop {
            let finished = py.detach(|| {
                let began = Instant::now();
                self.shared.fabric.run(|fabric| {
                    let end = fabric.now().as_ps().saturating_add(slice_ps).min(end_ps);
                    let slice_began = Instant::now();
                    let done = step(fabric, Time::from_ps(end));
                    self.shared.collect(fabric);
                    if slice_began.elapsed() < SLICE / 2 {
                        slice_ps = slice_ps.saturating_mul(2);
                    } else if slice_began.elapsed() > SLICE * 2 {
                        slice_ps = (slice_ps / 2).max(1);
                    }
                    if done || end == end_ps {
                        return Some(Some(done));
                    }
                    (began.elapsed() > SIGNAL_CHECK).then_some(None)
                })
            });
            if let Some(done) = finished {
                return Ok(done);
            }
            py.check_signals()?;
        }
    }
}

/// Feeds the frames of [`Twin::feed`] until all are accepted or the fabric is full. Returns the number accepted.
fn feed(
    fabric: &mut Fabric,
    senders: &[usize],
    times_ps: &[u64],
    offsets: &[u64],
    frames: &[u8],
    lengths: Option<&[u32]>,
) -> Result<usize, Error> {
    let count = times_ps.len();
    let fits = |name: &str, length: usize, wanted: usize| {
        if length == wanted {
            return Ok(());
        }
        Err(Error::value(format!("{count} frames need {wanted} {name}, {length} are given")))
    };
    fits("hosts", senders.len(), count)?;
    fits("offsets", offsets.len(), count + 1)?;
    lengths.map_or(Ok(()), |lengths| fits("lengths", lengths.len(), count))?;
    for index in 0..count {
        let (start, end) = (offsets[index] as usize, offsets[index + 1] as usize);
        let captured = frames.get(start..end).ok_or_else(|| {
            Error::value(format!("frame {index}: bytes {start} to {end}, {} are given", frames.len()))
        })?;
        let length = lengths.map_or(captured.len(), |lengths| lengths[index] as usize);
        match fabric.send(senders[index], Time::from_ps(times_ps[index]), captured, length) {
            Ok(()) => {}
            Err(SendError::TooMany) => return Ok(index),
            Err(error @ SendError::Late { .. }) => {
                return Err(Error::Clock(format!("frame {index}: {error}")))
            }
            Err(error) => return Err(Error::value(format!("frame {index}: {error}"))),
        }
    }
    Ok(count)
}
