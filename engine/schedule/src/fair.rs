//! Max-min fair rates of all flows, regardless of their transfers.

use crate::flows::{least, take, Flows};
use crate::schedule::Scheduler;

/// Assigns equal rates to all flows, except those limited by another link (progressive filling: Bertsekas and Gallager, Data
/// Networks, 6.5.2). Rates are rounded down to whole bits per second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fair;

impl Scheduler for Fair {
    fn allocate(&mut self, flows: &mut Flows) {
        let slots: Vec<u32> = flows.by_id.values().copied().collect();
        for slot in &slots {
            flows.get_mut(*slot).rate = 0;
        }
        let mut residual = flows.capacity.clone();
        fill(flows, &slots, &mut residual);
    }
}

/// Divides the residual capacity max-min fairly among `slots`, which have no rates yet.
pub(crate) fn fill(flows: &mut Flows, slots: &[u32], residual: &mut [u64]) {
    let mut users = vec![0_u64; residual.len()];
    let mut crossing: Vec<Vec<u32>> = vec![Vec::new(); residual.len()];
    let mut links = Vec::new();
    for slot in slots {
        for link in &flows.get(*slot).path {
            if users[*link as usize] == 0 {
                links.push(*link);
            }
            users[*link as usize] += 1;
            crossing[*link as usize].push(*slot);
        }
    }
    links.sort_unstable();
    let mut open = vec![false; flows.slots.len()];
    for slot in slots {
        open[*slot as usize] = true;
    }
    loop {
        links.retain(|link| users[*link as usize] > 0);
        let share = |link: &u32| residual[*link as usize] / users[*link as usize];
        let Some(tightest) = links.iter().copied().min_by_key(share) else { break };
        for slot in &crossing[tightest as usize] {
            if !std::mem::take(&mut open[*slot as usize]) {
                continue;
            }
            let share = residual[tightest as usize] / users[tightest as usize];
            let flow = flows.get_mut(*slot);
            flow.rate = share.min(least(residual, &flow.path));
            take(residual, &flow.path, flow.rate);
            for link in &flow.path {
                users[*link as usize] -= 1;
            }
        }
    }
}
