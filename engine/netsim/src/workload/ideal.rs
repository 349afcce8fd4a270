//! The minimum time that a transfer's path allows: its time alone, over links that are awake, with a window that covers the path.
//!
//! The handshake, a segment each way, comes first. Then full segments leave back to back. Switches store each segment before they
//! forward it, so behind the slowest link segments have that link's spacing. Hosts' delays count for each way.

use tcp::Settings;
use units::{Bytes, Duration};
use wire::tcp_options::{Options, Timestamps};

use crate::network::wiring::Direction;
use crate::network::{Network, Paths};
use crate::transport::Transport;

/// Bytes of the shortest Ethernet frame, without FCS.
const MIN_FRAME: u64 = 60;

/// Returns the minimum time of an exchange of `bytes` over a connection that must be opened; `None` if no path exists.
pub(super) fn time(
    paths: &mut Paths,
    network: &Network,
    transport: &Transport,
    settings: &Settings,
    slot: usize,
    bytes: [u64; 2],
) -> Option<Duration> {
    let sides = [false, true].map(|answers| transport.endpoints.side(slot, answers));
    let probes = sides.map(|side| transport.endpoints.probe(side));
    let mut way = |from: usize| {
        let found = paths.find(network, sides[from].host, sides[1 - from].host, &probes[from].0)?;
        Some(network.path(&found))
    };
    let ways = [way(0)?, way(1)?];
    let timestamps = settings.timestamps.map(|_| Timestamps::default());
    let with_data = Options { timestamps, ..Options::default() }.header_len() as u64;
    let with_syn = Options {
        mss: Some(settings.mss),
        window_scale: Some(0),
        sack_permitted: settings.sack,
        timestamps,
        ..Options::default()
    };
    let host = transport.host_delay();
    let mut sum = Duration::ZERO;
    for (path, (_, headers)) in ways.iter().zip(&probes) {
        sum = sum
            .saturating_add(train(path, headers + with_syn.header_len() as u64, 1, 0))
            .saturating_add(host);
    }
    for ((path, (_, headers)), bytes) in ways.iter().zip(&probes).zip(bytes).filter(|(_, bytes)| *bytes > 0) {
        let payload = u64::from(settings.mss).saturating_sub(with_data).max(1);
        sum = sum.saturating_add(train(path, headers + with_data, payload, bytes)).saturating_add(host);
    }
    Some(sum)
}

/// Returns the time from the first bit of the first frame until the last frame has arrived. The frames have `payload`
/// bytes each and one has the rest; without `bytes` there is one frame without payload.
fn train(path: &[&Direction], headers: u64, payload: u64, bytes: u64) -> Duration {
    let (full, rest) = (bytes / payload, bytes % payload);
    let wire_time = |link: &Direction, payload: u64| {
        link.rate.transmit_time(Bytes::new((headers + payload).max(MIN_FRAME)) + link.overhead)
    };
    let (mut first, mut slowest, mut last) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let behind = |first: Duration, slowest: Duration| first.saturating_add(slowest.saturating_mul(full - 1));
    for link in path {
        if full > 0 {
            first += wire_time(link, payload);
            slowest = slowest.max(wire_time(link, payload));
            last = last.max(behind(first, slowest));
        }
        last = last.saturating_add(wire_time(link, rest)).saturating_add(link.delay);
        first += link.delay;
    }
    if rest == 0 && full > 0 {
        behind(first, slowest)
    } else {
        last
    }
}
