//! The loop between the clock and the hosts' sockets. One thread sends and receives for all hosts.
//!
//! It sleeps until the next frame is due. The report contains the lateness of frames, because a busy computer is late.
//! Late frames are sent in order, as fast as possible; none is omitted.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use port_io::{HostSocket, IoError, Poller, ReceiveBuffer};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::observation::Observation;
use crate::packet_log::{percentile, PacketLog, Report};

/// Maximum number of frames of one host sent in one call, if several are due.
const SEND_BATCH: usize = 32;
/// Number of send calls before arrivals are received.
const CALLS_PER_TURN: usize = 8;
/// Maximum wait, so that the kernel's counters are read regularly.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The reason why a replay is impossible.
#[derive(Debug, thiserror::Error)]
pub enum PlaybackError {
    /// A socket failed.
    #[error("{0}")]
    Io(#[from] IoError),
    /// A frame is invalid for its position or for the hosts.
    #[error("frame {index}: {problem}")]
    Frame {
        /// Its index among all frames added.
        index: usize,
        /// The problem.
        problem: String,
    },
    /// The frames exceed the memory limit.
    #[error("the frames take more than {limit} bytes of memory; replay a shorter trace, or one with fewer bytes of each frame captured")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// A host's interface failed during the replay.
    #[error("host {host}: {doing}: {source}")]
    Host {
        /// The host's number.
        host: usize,
        /// The attempted operation.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// A host's end of its link.
#[derive(Clone, Debug)]
pub struct HostEnd {
    /// The file of its network namespace; `None` means the caller's namespace.
    pub namespace: Option<PathBuf>,
    /// Its interface there.
    pub interface: String,
    /// The host's addresses: packets to these are delivered when they arrive here.
    pub addresses: Vec<IpAddr>,
}

/// A frame to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Number of the host that sends it.
    pub host: usize,
    /// Nanoseconds since the start.
    pub at_ns: u64,
    /// The available bytes; the rest is zeros.
    pub captured: &'a [u8],
    /// Bytes on the wire, without FCS.
    pub length: usize,
}

#[derive(Clone, Copy)]
struct Due {
    at_ns: u64,
    start: usize,
    captured: u32,
    length: u32,
    host: u32,
}

/// Delay of frames after their times, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lateness {
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Maximum.
    pub max_ns: u64,
    /// Number of frames sent later than the given limit.
    pub late: u64,
}

/// The report of a replay in real time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TrafficReport"))]
pub struct PlaybackReport {
    /// The fate of packets.
    #[serde(flatten)]
    pub packets: Report,
    /// Lateness of frames.
    pub lateness: Lateness,
    /// Frames that the kernel refused to send.
    pub refused: u64,
    /// Frames that arrived at hosts and that the kernel dropped before they were fetched.
    pub overruns: u64,
    /// Time from the first frame to the last one sent or received.
    pub elapsed_ns: u64,
}

/// The start, by both clocks: due times use the monotonic clock, passages the system's clock, which the kernel uses for arrivals.
#[derive(Clone, Copy)]
struct Began {
    at: Instant,
    system_ns: u64,
}

/// The frames, the hosts, and the progress of the replay.
pub struct Playback {
    sockets: Vec<HostSocket>,
    owners: FxHashMap<IpAddr, usize>,
    poller: Poller,
    ready: Vec<u64>,
    received: ReceiveBuffer,
    queue: Vec<Due>,
    bytes: Vec<u8>,
    memory_limit: usize,
    next: usize,
    began: Option<Began>,
    last: Instant,
    settle: Duration,
    lateness_ns: Vec<u64>,
    log: PacketLog,
    refused: u64,
    overruns: u64,
    padded: Vec<u8>,
}

impl Playback {
    /// Opens the hosts' interfaces. The replay ends when every packet has arrived, or when none has arrived for `settle`.
    pub fn open(hosts: &[HostEnd], settle: Duration, memory_limit: usize) -> Result<Self, PlaybackError> {
        let poller = Poller::new()?;
        let mut sockets = Vec::new();
        let mut owners = FxHashMap::default();
        for (number, host) in hosts.iter().enumerate() {
            let socket = HostSocket::open(number as u16, host.namespace.as_deref(), &host.interface)?;
            poller.add(&socket, number as u64)?;
            owners.extend(host.addresses.iter().map(|address| (*address, number)));
            sockets.push(socket);
        }
        Ok(Self {
            sockets,
            owners,
            poller,
            ready: Vec::new(),
            received: ReceiveBuffer::default(),
            queue: Vec::new(),
            bytes: Vec::new(),
            memory_limit,
            next: 0,
            began: None,
            last: Instant::now(),
            settle,
            lateness_ns: Vec::new(),
            log: PacketLog::default(),
            refused: 0,
            overruns: 0,
            padded: Vec::new(),
        })
    }

    /// Adds a frame, which must not be earlier than the previous one.
    pub fn add(&mut self, frame: Frame<'_>) -> Result<(), PlaybackError> {
        let index = self.queue.len();
        let wrong = |problem: String| Err(PlaybackError::Frame { index, problem });
        if frame.host >= self.sockets.len() {
            return wrong(format!("host {} of {}", frame.host, self.sockets.len()));
        }
        if let Some(before) = self.queue.last().filter(|last| last.at_ns > frame.at_ns) {
            return wrong(format!("is due at {} ns, the one before at {} ns", frame.at_ns, before.at_ns));
        }
        let longest = 1 << 16;
        if frame.length > longest || frame.captured.len() > frame.length {
            let captured = frame.captured.len();
            return wrong(format!("{captured} bytes captured of {}; at most {longest}", frame.length));
        }
        let item = std::mem::size_of::<Due>();
        if self.bytes.len() + frame.captured.len() + (index + 1) * item > self.memory_limit {
            return Err(PlaybackError::TooLarge { limit: self.memory_limit });
        }
        self.queue.push(Due {
            at_ns: frame.at_ns,
            start: self.bytes.len(),
            captured: frame.captured.len() as u32,
            length: frame.length as u32,
            host: frame.host as u32,
        });
        self.bytes.extend_from_slice(frame.captured);
        Ok(())
    }

    /// Returns the number of frames whose time has come so far.
    pub fn passed(&self) -> usize {
        self.next
    }

    /// Sends and receives for `slice`. The first call starts the clock. Returns whether the replay has ended.
    pub fn run_for(&mut self, slice: Duration) -> Result<bool, PlaybackError> {
        let began = *self.began.get_or_insert_with(|| {
            self.last = Instant::now();
            let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Began { at: self.last, system_ns: system.as_nanos() as u64 }
        });
        let end = Instant::now() + slice;
        loop {
            for _ in 0..CALLS_PER_TURN {
                if !self.send_due(&began)? {
                    break;
                }
            }
            let now = Instant::now();
            let due = self.queue.get(self.next).map(|due| began.at + Duration::from_nanos(due.at_ns));
            let all_sent = due.is_none();
            if all_sent && now >= self.last + self.settle {
                // This thread may have been suspended for that time: frames that arrived meanwhile still count.
                self.poller.wait(Duration::ZERO, &mut self.ready)?;
                self.receive(&began)?;
            }
            let quiet_at = self.last + self.settle;
            if all_sent && (now >= quiet_at || self.log.arrived_count() >= self.log.sent_count()) {
                self.count_overruns();
                return Ok(true);
            }
            if now >= end {
                self.count_overruns();
                return Ok(false);
            }
            let until = due.unwrap_or(quiet_at).min(end);
            let wait = until.saturating_duration_since(now).min(LONGEST_WAIT);
            self.poller.wait(wait, &mut self.ready)?;
            self.receive(&began)?;
        }
    }

    /// Sends the next due frames of one host. Returns whether there were any.
    fn send_due(&mut self, began: &Began) -> Result<bool, PlaybackError> {
        let now_ns = began.at.elapsed().as_nanos() as u64;
        let due: Vec<Due> = {
            let rest = &self.queue[self.next..];
            let host = rest.first().map(|due| due.host);
            let same = |due: &&Due| due.at_ns <= now_ns && Some(due.host) == host;
            rest.iter().take(SEND_BATCH).take_while(same).copied().collect()
        };
        let Some(first) = due.first() else { return Ok(false) };
        let host = first.host as usize;
        self.padded.clear();
        let mut ends = [0; SEND_BATCH];
        for (end, due) in ends.iter_mut().zip(&due) {
            let start = self.padded.len();
            self.padded.extend_from_slice(&self.bytes[due.start..due.start + due.captured as usize]);
            *end = start + due.length as usize;
            self.padded.resize(*end, 0);
        }
        let mut frames: [&[u8]; SEND_BATCH] = [&[]; SEND_BATCH];
        let mut start = 0;
        for (frame, end) in frames.iter_mut().zip(ends).take(due.len()) {
            (*frame, start) = (&self.padded[start..end], end);
        }
        let frames = &frames[..due.len()];
        let mut done = 0;
        while done < due.len() {
            let at_ns = began.at.elapsed().as_nanos() as u64;
            let taken = match self.sockets[host].send(&frames[done..]) {
                Ok(count) => {
                    let count = count.max(1);
                    for (frame, due) in frames[done..].iter().zip(&due[done..]).take(count) {
                        self.lateness_ns.push(at_ns.saturating_sub(due.at_ns));
                        if let Some(observation) = Observation::of(frame, frame.len()) {
                            self.log.sent(&observation, at_ns);
                        }
                    }
                    count
                }
                Err(source) if is_refusal(&source) => {
                    self.refused += 1;
                    1
                }
                Err(source) => return Err(PlaybackError::Host { host, doing: "sending", source }),
            };
            done += taken;
        }
        self.last = Instant::now();
        self.next += due.len();
        Ok(true)
    }

    fn receive(&mut self, began: &Began) -> Result<(), PlaybackError> {
        for key in &self.ready {
            let host = *key as usize;
            let (log, owners, last) = (&mut self.log, &self.owners, &mut self.last);
            let mut deliver = |at: Option<u64>, frame: &[u8]| {
                let at_ns = at.map_or_else(
                    || began.at.elapsed().as_nanos() as u64,
                    |at| at.saturating_sub(began.system_ns),
                );
                let observation = Observation::of(frame, frame.len());
                let is_its_own = observation
                    .is_some_and(|observation| owners.get(&observation.destination) == Some(&host));
                log.arrived(observation.as_ref(), at_ns, is_its_own);
                // Other hosts' packets do not prolong the wait.
                if is_its_own {
                    *last = Instant::now();
                }
            };
            self.sockets[host]
                .receive(&mut self.received, &mut deliver)
                .map_err(|source| PlaybackError::Host { host, doing: "receiving", source })?;
        }
        Ok(())
    }

    fn count_overruns(&mut self) {
        self.overruns += self.sockets.iter().map(HostSocket::drops).sum::<u64>();
    }

    /// Returns the final report; frames delayed by more than `late_after_ns` count as late.
    pub fn report(mut self, late_after_ns: u64) -> PlaybackReport {
        self.count_overruns();
        self.lateness_ns.sort_unstable();
        let elapsed =
            self.began.map_or(Duration::ZERO, |began| self.last.saturating_duration_since(began.at));
        let late = self.lateness_ns.partition_point(|ns| *ns <= late_after_ns);
        PlaybackReport {
            lateness: Lateness {
                p50_ns: percentile(&self.lateness_ns, 50),
                p99_ns: percentile(&self.lateness_ns, 99),
                max_ns: self.lateness_ns.last().copied().unwrap_or(0),
                late: (self.lateness_ns.len() - late) as u64,
            },
            packets: self.log.report(),
            refused: self.refused,
            overruns: self.overruns,
            elapsed_ns: elapsed.as_nanos() as u64,
        }
    }
}

/// Returns whether the kernel refused this frame but will accept others.
fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        // ENOBUFS, EAGAIN, ENOMEM: no room now; EMSGSIZE, EINVAL: the frame is too long for the interface.
        Some(libc::ENOBUFS | libc::EAGAIN | libc::ENOMEM | libc::EMSGSIZE | libc::EINVAL)
    )
}
