//! Hosts of a star at 10 Gb/s that all send to the last one, as fast as their links permit.

use netsim::{Fabric, Report};
use units::Time;
use wire::tcp::ACK;
use wire::Ecn;

use super::{register, us, LeafSpine, TEN_GIGABIT};

pub const FRAME: usize = 1514;
pub const HEADERS: usize = 54;
/// Time of a full frame with 24 bytes of overhead at 10 Gb/s.
pub const FRAME_PS: u64 = 1_230_400;

/// One switch and hosts at 10 Gb/s, one of which is the receiver.
pub fn star(senders: usize) -> LeafSpine {
    LeafSpine {
        leaves: 1,
        hosts_per_leaf: senders + 1,
        spines: 0,
        host_bps: TEN_GIGABIT,
        ..LeafSpine::default()
    }
}

/// Results of the second half of a run.
pub struct Seen {
    pub mean_queue: u64,
    pub max_queue: u64,
    /// Of the link.
    pub share: f64,
    /// Of what was sent, the largest sender's and the smallest's.
    pub shares: (f64, f64),
    pub report: Report,
}

/// Runs them for `ms`.
pub fn greedy(size: &LeafSpine, mut fabric: Fabric, ecn: Ecn, ms: u64) -> Seen {
    let senders = size.host_count() - 1;
    for number in 0..ms * 1_000_000_000 / FRAME_PS {
        for host in 0..senders {
            let frame = size.segment(host, senders, ACK, 0, ecn);
            fabric.send(host, Time::from_ps(number * FRAME_PS), &frame[..HEADERS], FRAME).unwrap();
        }
    }
    let mut queue = Vec::new();
    let mut halves = Vec::new();
    for at in (0..=ms * 1_000).step_by(10) {
        if at == ms * 500 || at == ms * 1_000 {
            fabric.run_until(us(at));
            halves.push(fabric.report().unwrap());
        } else if at > ms * 500 {
            fabric.run_until(us(at));
            queue.push(register(&fabric, 0, "occupancy_bytes", senders as u64 + 1));
        }
    }
    let sent: Vec<u64> = (0..senders)
        .map(|host| halves[1].hosts[host].sent.packets - halves[0].hosts[host].sent.packets)
        .collect();
    let delivered = halves[1].hosts[senders].received.packets - halves[0].hosts[senders].received.packets;
    let all = sent.iter().sum::<u64>() as f64;
    Seen {
        mean_queue: queue.iter().sum::<u64>() / queue.len() as u64,
        max_queue: *queue.iter().max().unwrap(),
        share: delivered as f64 / (ms * 500_000_000 / FRAME_PS) as f64,
        shares: (*sent.iter().max().unwrap() as f64 / all, *sent.iter().min().unwrap() as f64 / all),
        report: halves.remove(1),
    }
}
