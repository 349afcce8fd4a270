//! Replays in real time for Python.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use parking_lot::Mutex;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use traffic::{Frame, HostEnd, Playback, PlaybackError};

use crate::error::Error;

impl From<PlaybackError> for Error {
    fn from(error: PlaybackError) -> Self {
        match error {
            PlaybackError::Frame { .. } | PlaybackError::TooLarge { .. } => Error::value(error),
            PlaybackError::Io(_) | PlaybackError::Host { .. } => Error::config(error),
        }
    }
}

/// Frames sent from hosts' interfaces at given times, in real time, and the arrivals at these hosts. Only
/// available on Linux.
///
/// A host is the path of its network namespace (None: the caller's), the name of its interface there, and the
/// IP addresses whose packets are delivered there. It needs root, or CAP_NET_RAW and CAP_SYS_ADMIN. The run
/// is over when every packet has arrived, or none has for `settle_ms`. At most `memory_limit` bytes of frames
/// are kept. Raises `ConfigError` for a host that cannot be used.
#[pyclass(frozen, module = "eeon_engine._engine")]
pub(crate) struct Traffic {
    /// `None` after the report.
    playback: Mutex<Option<Playback>>,
}

#[pymethods]
impl Traffic {
    #[new]
    #[pyo3(signature = (hosts, *, settle_ms=1_000, memory_limit=2 << 30))]
    fn new(
        py: Python<'_>,
        hosts: Vec<(Option<PathBuf>, String, Vec<String>)>,
        settle_ms: u64,
        memory_limit: usize,
    ) -> PyResult<Self> {
        let address = |text: &String| {
            text.parse::<IpAddr>().map_err(|error| Error::value(format!("address '{text}': {error}")))
        };
        let ends = hosts.into_iter().map(|(namespace, interface, addresses)| {
            let addresses = addresses.iter().map(address).collect::<Result<_, _>>()?;
            Ok(HostEnd { namespace, interface, addresses })
        });
        let ends = ends.collect::<Result<Vec<_>, Error>>()?;
        let opened = py.detach(|| Playback::open(&ends, Duration::from_millis(settle_ms), memory_limit));
        Ok(Self { playback: Mutex::new(Some(opened.map_err(Error::from)?)) })
    }

    /// Adds frames in order of time, as flat arrays like those of `Twin.feed`; times are in nanoseconds since
    /// the start. Raises `InvalidValueError` with the number of the first invalid frame, counted from 0 over
    /// all added frames; the frames before it have been accepted.
    fn add(
        &self,
        py: Python<'_>,
        hosts: PyBuffer<u32>,
        times_ns: PyBuffer<u64>,
        offsets: PyBuffer<u64>,
        frames: PyBuffer<u8>,
        lengths: PyBuffer<u32>,
    ) -> PyResult<()> {
        let (hosts, times_ns, offsets) = (hosts.to_vec(py)?, times_ns.to_vec(py)?, offsets.to_vec(py)?);
        let (frames, lengths) = (frames.to_vec(py)?, lengths.to_vec(py)?);
        let count = times_ns.len();
        if (hosts.len(), lengths.len(), offsets.len()) != (count, count, count + 1) {
            let given =
                format!("{} hosts, {} lengths, {} offsets", hosts.len(), lengths.len(), offsets.len());
            return Err(Error::value(format!("{count} times do not go with {given}")).into());
        }
        Ok(self.with(py, |playback| {
            for index in 0..count {
                let (start, end) = (offsets[index] as usize, offsets[index + 1] as usize);
                let captured = frames.get(start..end).ok_or_else(|| {
                    Error::value(format!("bytes {start} to {end} of frames, {} are given", frames.len()))
                })?;
                let (host, length) = (hosts[index] as usize, lengths[index] as usize);
                playback.add(Frame { host, at_ns: times_ns[index], captured, length })?;
            }
            Ok(())
        })?)
    }

    /// Returns the number of frames whose time has passed.
    #[getter]
    fn passed(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.with(py, |playback| Ok(playback.passed()))?)
    }

    /// Runs for `timeout_ms` without the GIL; the clock starts with the first call. True at the end.
    ///
    /// Call it again at once: frames that are due between two calls are late. Raises `ConfigError` if a
    /// host's interface fails.
    fn run(&self, py: Python<'_>, timeout_ms: u64) -> PyResult<bool> {
        Ok(self.with(py, |playback| Ok(playback.run_for(Duration::from_millis(timeout_ms))?))?)
    }

    /// Returns the JSON of a `TrafficReport`, which `json_documents.traffic_report` reads. Ends the object:
    /// every later call raises `ConfigError`.
    fn report(&self, py: Python<'_>, late_after_ns: u64) -> PyResult<String> {
        Ok(py.detach(|| {
            let playback = self.playback.lock().take().ok_or_else(over)?;
            serde_json::to_string(&playback.report(late_after_ns)).map_err(Error::value)
        })?)
    }
}

impl Traffic {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Playback) -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        py.detach(|| call(self.playback.lock().as_mut().ok_or_else(over)?))
    }
}

fn over() -> Error {
    Error::Config("this traffic is over and reported; make another".into())
}
