//! Schedulers in the fluid model for Python.

use pyo3::prelude::*;
use schedule::fca::Options;
use schedule::fluid::{self, Arrival};
use schedule::FlowId;
use serde::de::value::{Error as Unknown, StringDeserializer};
use serde::de::DeserializeOwned;
use units::{DataRate, Duration, Time};

use crate::error::Error;

/// Number of scheduling decisions between two reports of progress to Python, which also check for signals.
const DECISIONS_PER_CALL: u64 = 64;

/// Returns the end of each transfer, (transfer, picoseconds) by number, for hosts around one non-blocking
/// switch; and the number of flows that had no rate on arrival.
///
/// It works without packets: each flow sends at the rate that `scheduler` (fair, fca, sebf, scf, dclas) assigns.
/// A flow is (arrival in picoseconds, transfer, sending host, receiving host, bits). `order` (total,
/// remaining), `work_conserving` and `preempt` are for fca. Events happen at multiples of `step_ps`; with
/// `only_whole_transfers`, rates are recomputed when a transfer ends, not when each flow ends. `progress` is
/// called from time to time with the number of finished flows. Raises `InvalidValueError`, and any exception
/// of `progress`.
#[pyfunction]
#[pyo3(signature = (scheduler, hosts, rate_bps, flows, *, order="total", work_conserving=true, preempt=false, step_ps=None, only_whole_transfers=false, progress=None))]
#[allow(clippy::too_many_arguments)] // Python calls it by keywords.
pub(crate) fn run_fluid(
    py: Python<'_>,
    scheduler: &str,
    hosts: u32,
    rate_bps: u64,
    flows: Vec<(u64, u64, u32, u32, u64)>,
    order: &str,
    work_conserving: bool,
    preempt: bool,
    step_ps: Option<u64>,
    only_whole_transfers: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<(u64, u64)>, u64)> {
    let name = named("scheduler", scheduler)?;
    let order = named("order", order)?;
    let rate = DataRate::new(rate_bps).ok_or_else(|| Error::value("rate_bps 0: must be more than zero"))?;
    let options = Options { order, work_conserving, preempt };
    let time = fluid::Options { step: step_ps.map(Duration::from_ps), only_whole_transfers };
    let mut raised = None;
    let mut decisions = 0_u64;
    let mut watch = |ended: usize| {
        decisions += 1;
        if decisions % DECISIONS_PER_CALL != 0 {
            return true;
        }
        let told = Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (ended,)).map(drop))
        });
        raised = told.err();
        raised.is_none()
    };
    let run = || {
        let links = schedule::star(hosts, rate).map_err(Error::value)?;
        let arrival = |(number, flow): (usize, (u64, u64, u32, u32, u64))| {
            let (at_ps, transfer, from, to, volume_bits) = flow;
            if from >= hosts || to >= hosts {
                return Err(Error::value(format!(
                    "flow {number}: from host {from} to host {to}: there are {hosts} hosts, numbered from 0"
                )));
            }
            // In traces, a rack may send to itself: it then uses both directions of its link, as in CoflowSim.
            let path = vec![2 * from, 2 * to + 1];
            let id = FlowId { transfer, flow: number as u64 };
            Ok(Arrival { at: Time::from_ps(at_ps), id, volume_bits, path })
        };
        let arrivals = flows.into_iter().enumerate().map(arrival).collect::<Result<Vec<_>, Error>>()?;
        fluid::run_watched(&links, name, options, &arrivals, time, &mut watch).map_err(Error::value)
    };
    let outcome = py.detach(run);
    if let Some(raised) = raised {
        return Err(raised);
    }
    let outcome = outcome?;
    let ends = outcome.transfers.iter().map(|transfer| (transfer.transfer, transfer.ended.as_ps())).collect();
    Ok((ends, outcome.without_rate))
}

/// Returns the value that an argument names.
fn named<T: DeserializeOwned>(argument: &str, text: &str) -> Result<T, Error> {
    // The error quotes the text, which may have any length.
    let value = T::deserialize(StringDeserializer::<Unknown>::new(format!("{text:.40}")));
    value.map_err(|error| Error::value(format!("{argument}: {error}")))
}
