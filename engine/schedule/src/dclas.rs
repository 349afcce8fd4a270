//! Discretized coflow-aware least-attained service, after Aalo (Chowdhury and Stoica, SIGCOMM 2015): it needs no volumes.

use units::{Duration, Time};

use crate::fair;
use crate::flows::{Flows, Transfer};
use crate::schedule::Scheduler;
use crate::BIT;

/// Queues transfers by the bits that they have sent. Queue limits grow tenfold from the first (Aalo, 4.2: 10 queues, 10 MB,
/// factor 10). Within a queue, transfers are served in order of arrival; the flows of one transfer share max-min fairly.
///
/// Queues have strict priority, as in CoflowSim (class `CoflowSimulatorDark`); Aalo divides capacity among queues by weight.
#[derive(Clone, Copy, Debug)]
pub struct Dclas;

/// Number of queues.
const QUEUES: u32 = 10;
/// The first queue's limit: 10 MiB (CoflowSim, `INIT_QUEUE_LIMIT`).
const FIRST_LIMIT: u128 = 8 * 10 * (1 << 20) * BIT;
/// A queue's limit divided by the limit of the previous queue.
const FACTOR: u128 = 10;

/// Returns the limit of a queue, in the unit of volumes.
fn limit(queue: u32) -> u128 {
    FIRST_LIMIT * FACTOR.pow(queue)
}

/// Returns the queue of a transfer that has sent `sent`.
pub(crate) fn queue(sent: u128) -> u32 {
    (0..QUEUES - 1).find(|queue| sent < limit(*queue)).unwrap_or(QUEUES - 1)
}

/// Returns how long a transfer that has sent `sent` stays in its queue at `rate`, in picoseconds.
pub(crate) fn until_next(sent: u128, rate: u128) -> Option<u128> {
    let queue = queue(sent);
    if queue == QUEUES - 1 || rate == 0 {
        return None;
    }
    Some((limit(queue) - sent).div_ceil(rate))
}

/// Returns the amount that a transfer has sent, and its rate.
fn sent(flows: &Flows, transfer: &Transfer) -> (u128, u128) {
    let under_way = transfer.flows.iter().map(|slot| flows.get(*slot));
    under_way.fold((transfer.ended, 0), |(sent, rate), flow| {
        (sent.saturating_add(flow.volume - flow.remaining), rate + u128::from(flow.enforced))
    })
}

impl Scheduler for Dclas {
    fn allocate(&mut self, flows: &mut Flows) {
        for flow in flows.slots.iter_mut().flatten() {
            flow.rate = 0;
        }
        let open = flows.transfers.iter().filter(|(_, transfer)| !transfer.flows.is_empty());
        let mut order: Vec<(u32, u64, u64)> = open
            .map(|(number, transfer)| (queue(sent(flows, transfer).0), transfer.sequence, *number))
            .collect();
        order.sort_unstable();
        let mut residual = flows.capacity.clone();
        for (_, _, number) in order {
            let slots = flows.transfers[&number].flows.clone();
            fair::fill(flows, &slots, &mut residual);
        }
    }

    fn next_change(&self, flows: &Flows) -> Option<Time> {
        let spans = flows.transfers.values().filter_map(|transfer| {
            let (sent, rate) = sent(flows, transfer);
            until_next(sent, rate)
        });
        let span = u64::try_from(spans.min()?).ok()?;
        flows.now.checked_add(Duration::from_ps(span))
    }
}
