//! Open-loop frames: UDP at exponential gaps, regardless of their fate. For queues and links whose theory assumes Poisson arrivals.

use serde::Deserialize;
use units::{Bytes, Duration, Time};

use crate::application::{Application, Out};
use crate::error::WorkloadError;
use crate::fields::{Context, FieldPath, ReadByHead, MAX_TIME_PS};
use crate::random::{seconds, Purpose, Stream};
use crate::report::Measures;
use crate::transfer::Outcome;

/// Maximum number of flows of an application.
pub const MAX_FLOWS: usize = 1 << 16;

/// Minimum and maximum frame without FCS: headers over IPv6; a jumbo frame.
const FRAME_BYTES: (u64, u64) = (62, 9014);

/// Shorter mean gaps would dominate a run.
const MIN_GAP: Duration = Duration::from_ns(1);

/// The timer for the end of the application.
const END: u64 = u64::MAX;

/// UDP frames at exponential gaps, regardless of their fate.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::schema::application("poisson")))]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // `Head` reads the fields that all kinds share.
pub(crate) struct PoissonSpec {
    kind: ReadByHead,
    name: ReadByHead,
    background: Option<ReadByHead>,
    tcp: Option<ReadByHead>,
    dscp: Option<ReadByHead>,
    /// The flows.
    flows: Vec<FlowSpec>,
    /// No frame is sent before this time. Default 0.
    #[serde(default)]
    start_ps: u64,
    /// Time for which frames are sent.
    duration_ps: u64,
}

/// Frames from one host to another.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "FrameFlowSpec"))]
#[serde(deny_unknown_fields)]
struct FlowSpec {
    /// The sending host.
    source: String,
    /// The receiving host.
    destination: String,
    /// Mean load as a fraction of the source's link rate, above 0 and at most 1.
    load: f64,
    /// Frame size in bytes without FCS, 62 to 9014.
    frame_bytes: u32,
}

struct Flow {
    source: u32,
    destination: u32,
    frame_bytes: u32,
    mean_gap: Duration,
    gaps: Stream,
}

/// All flows of one application.
pub(crate) struct Poisson {
    flows: Vec<Flow>,
    start: Time,
    end: Time,
    frames: u64,
}

impl PoissonSpec {
    pub(crate) fn check(self, at: &FieldPath<'_>, context: &Context<'_>) -> Result<Poisson, WorkloadError> {
        at.count("flows", self.flows.len() as u64, 1, MAX_FLOWS as u64)?;
        at.count("start_ps", self.start_ps, 0, MAX_TIME_PS)?;
        at.count("duration_ps", self.duration_ps, 1, MAX_TIME_PS)?;
        let mut flows = Vec::with_capacity(self.flows.len());
        for (index, flow) in self.flows.iter().enumerate() {
            let field = |field: &str| format!("flows[{index}].{field}");
            let [source, destination] =
                context.hosts.pair(&flow.source, &flow.destination, |end| at.of(&field(end)))?;
            at.number(&field("load"), flow.load, 1e-9, 1.0)?;
            at.count(&field("frame_bytes"), flow.frame_bytes.into(), FRAME_BYTES.0, FRAME_BYTES.1)?;
            let link = &context.hosts.list[source as usize];
            let on_wire = link.rate.transmit_time(Bytes::new(flow.frame_bytes.into()) + link.overhead);
            let mean_gap = seconds(on_wire.as_secs_f64() / flow.load);
            if mean_gap < MIN_GAP {
                let reason = "is a frame less than a nanosecond after the other; make it smaller";
                return Err(at.wrong(&field("load"), flow.load, reason));
            }
            let gaps = context.stream(Purpose::Gaps, &[index as u64]);
            flows.push(Flow { source, destination, frame_bytes: flow.frame_bytes, mean_gap, gaps });
        }
        let start = Time::from_ps(self.start_ps);
        let end = Time::from_ps(self.start_ps + self.duration_ps);
        Ok(Poisson { flows, start, end, frames: 0 })
    }
}

impl Poisson {
    fn schedule(&mut self, number: usize, since: Time, out: &mut Out<'_>) {
        let flow = &mut self.flows[number];
        let next = since.saturating_add(flow.gaps.exponential(flow.mean_gap));
        if next < self.end {
            out.timer(next, number as u64);
        }
    }
}

impl Application for Poisson {
    fn start(&mut self, out: &mut Out<'_>) {
        for number in 0..self.flows.len() {
            self.schedule(number, self.start, out);
        }
        out.timer(self.end, END);
    }

    fn handle_timer(&mut self, token: u64, out: &mut Out<'_>) {
        if token == END {
            out.finish();
            return;
        }
        let Flow { source, destination, frame_bytes, .. } = self.flows[token as usize];
        out.frame(source, destination, frame_bytes);
        self.frames += 1;
        self.schedule(token as usize, out.now, out);
    }

    fn handle_transfer(&mut self, _token: u64, _outcome: Outcome, _out: &mut Out<'_>) {
        unreachable!("frames are not transfers")
    }

    fn report(&self) -> Measures {
        Measures::Poisson { frames: self.frames }
    }
}
