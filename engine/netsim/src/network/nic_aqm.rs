//! Active queue management of a NIC's queue: the modes of the P4 program's table `port_aqm`, in plain Rust.
//!
//! In ns-2 both directions of a link have the same queue, so the papers' hosts mark and drop like the switch ports that
//! they face. A real host does this with a queueing discipline. docs/models/marking.md and codel.md describe the modes;
//! a test compares this implementation with the P4 program (`tests/it/nic_aqm.rs`).

use std::num::NonZeroU64;

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::{Duration, Time};
use wire::{classify_snapped, tcp, Ecn, Network, PacketClass};

use crate::network::frame::HostFrame;
use crate::spec::{NicAqm, Protect};

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Pass,
    Mark,
    Drop,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CodelState {
    #[default]
    Below,
    Above,
    Dropping,
    Dropped,
}

/// The registers `codel_*`.
#[derive(Clone, Copy, Debug, Default)]
struct Codel {
    state: CodelState,
    first_above: Time,
    drop_next: Time,
    count: u32,
    last_count: u32,
}

/// The AQM of one queue.
pub(crate) struct Aqm {
    settings: NicAqm,
    /// Average occupancy * 2^32, if occupancy is averaged.
    average: u64,
    codel: Codel,
    random: Xoshiro256PlusPlus,
}

impl Aqm {
    /// Creates the AQM of a NIC; `seed` selects RED's random stream.
    pub(crate) fn new(settings: NicAqm, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { settings, average: 0, codel: Codel::default(), random }
    }

    /// Decides about a frame that fits and is about to enter a queue of this occupancy. `idle` is the time for which nothing has been queued or sent.
    pub(crate) fn admit(
        &mut self,
        found_bytes: u64,
        found_packets: u64,
        idle: Duration,
        frame: &HostFrame,
    ) -> Decision {
        match self.settings {
            NicAqm::MarkThreshold { threshold_bytes, l4s_threshold_bytes, at_dequeue: false } => {
                above_threshold(found_bytes, threshold_bytes, l4s_threshold_bytes, frame)
            }
            NicAqm::Red {
                min_threshold,
                max_threshold,
                probability_slope,
                in_packets,
                average_shift,
                ecn,
                protect,
                half_life_ps,
                by_size,
            } => {
                let mut depth = (if in_packets { found_packets } else { found_bytes }) << 32;
                if average_shift != 0 {
                    let average = half_life_ps.map_or(self.average, |time| aged(self.average, idle, time));
                    depth = average - (average >> average_shift) + (depth >> average_shift);
                    self.average = depth;
                }
                let min = u64::from(min_threshold) << 32;
                let congested = depth >= u64::from(max_threshold) << 32
                    || depth >= min && {
                        let line = ((depth - min) >> 24).wrapping_mul(probability_slope) >> 8;
                        let size = if by_size { u64::from(frame.wire_len) } else { 1 << 8 };
                        let draw = self.random.next_u64() >> 16;
                        draw < line.saturating_mul(size) >> 8
                    };
                let signal = congested.then(|| signal(frame, ecn, protect));
                signal.flatten().unwrap_or(Decision::Pass)
            }
            NicAqm::MarkThreshold { .. } | NicAqm::Codel { .. } => Decision::Pass,
        }
    }

    /// Decides about a frame that was admitted at `admitted` and is about to leave, with `left` bytes behind it.
    pub(crate) fn leave(&mut self, now: Time, admitted: Time, left: u64, frame: &HostFrame) -> Decision {
        match self.settings {
            NicAqm::MarkThreshold { threshold_bytes, l4s_threshold_bytes, at_dequeue: true } => {
                above_threshold(left, threshold_bytes, l4s_threshold_bytes, frame)
            }
            NicAqm::Codel { target_ps, interval_ps, mtu_bytes, ecn, protect } => {
                let late = now.saturating_since(admitted).as_ps() >= target_ps && left > u64::from(mtu_bytes);
                let signal = signal(frame, ecn, protect);
                let is_signalled = self.codel.judge(now, interval_ps, late, signal.is_none());
                signal.filter(|_| is_signalled).unwrap_or(Decision::Pass)
            }
            NicAqm::MarkThreshold { .. } | NicAqm::Red { .. } => Decision::Pass,
        }
    }
}

/// Returns the average after an idle time, as the program's action `red` computes it: whole halvings with a shift, the
/// rest with a parabola.
fn aged(average: u64, idle: Duration, half_life_ps: NonZeroU64) -> u64 {
    let halvings = (u128::from(idle.as_ps()) << 16) / u128::from(half_life_ps.get());
    let Some(left) = u32::try_from(halvings >> 16).ok().and_then(|whole| average.checked_shr(whole)) else {
        return 0;
    };
    let rest = (halvings & 0xFFFF) as u64;
    let loss = (rest * 43_903 - ((rest * rest) >> 16) * 11_135) >> 16;
    left - (left >> 16) * loss
}

impl Codel {
    /// Makes a transition in the table of docs/models/codel.md. Returns whether the packet that leaves gets a signal.
    fn judge(&mut self, now: Time, interval_ps: u64, late: bool, spared: bool) -> bool {
        let mut state = self.state;
        if !late || state == CodelState::Below {
            self.first_above = now + Duration::from_ps(interval_ps);
            self.state = if late { CodelState::Above } else { CodelState::Below };
            return false;
        }
        if state == CodelState::Above {
            if now < self.first_above || spared {
                return false;
            }
            let gained = self.count.wrapping_sub(self.last_count);
            let recent = now < self.drop_next + Duration::from_ps(interval_ps) * 16;
            self.count = if gained > 1 && recent { gained } else { 1 };
            self.last_count = self.count;
            self.drop_next = now + step(interval_ps, self.count);
            self.state = CodelState::Dropping;
            return true;
        }
        if state == CodelState::Dropped {
            self.drop_next += step(interval_ps, self.count);
            state = CodelState::Dropping;
        }
        let due = now >= self.drop_next;
        if due && spared {
            self.drop_next = now;
        } else if due {
            self.count = self.count.saturating_add(1);
            state = CodelState::Dropped;
        }
        self.state = state;
        due && !spared
    }
}

/// Returns interval / sqrt(count).
fn step(interval_ps: u64, count: u32) -> Duration {
    Duration::from_ps((interval_ps as f64 / f64::from(count).sqrt()).round() as u64)
}

fn above_threshold(bytes: u64, threshold: u32, l4s_threshold: u32, frame: &HostFrame) -> Decision {
    let threshold = match wire::ecn(&frame.captured) {
        Some(Ecn::Ect0) => threshold,
        Some(Ecn::Ect1) => l4s_threshold,
        _ => return Decision::Pass,
    };
    if bytes > u64::from(threshold) {
        Decision::Mark
    } else {
        Decision::Pass
    }
}

/// Returns the effect of a congestion signal on a frame, as the program's action `choose_signal` does; `None` if the frame is protected.
fn signal(frame: &HostFrame, ecn: bool, protect: Protect) -> Option<Decision> {
    match wire::ecn(&frame.captured) {
        Some(Ecn::Ce) if ecn => return Some(Decision::Pass),
        Some(Ecn::Ect0 | Ecn::Ect1) if ecn => return Some(Decision::Mark),
        _ => {}
    }
    let class = classify_snapped(&frame.captured, frame.wire_len as usize);
    let control =
        matches!(class, PacketClass::Ack | PacketClass::AckEce | PacketClass::Syn | PacketClass::SynAck);
    let is_protected =
        protect != Protect::Ect && has_ece(&frame.captured) || protect == Protect::AckSyn && control;
    (!is_protected).then_some(Decision::Drop)
}

fn has_ece(captured: &[u8]) -> bool {
    let payload = Network::of(captured).and_then(|network| network.ip()?.payload_of(tcp::PROTOCOL));
    payload.and_then(tcp::Segment::new_checked).is_some_and(|segment| segment.flags() & tcp::ECE != 0)
}
