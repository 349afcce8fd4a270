//! Streams of events for a schedule, in any order, valid or not.

use ::schedule::fca::{Options, Volume};
use ::schedule::{Floor, FlowId, Name, NewFlow, Schedule};
use units::{DataRate, Duration, Time};

use crate::input::Input;

/// Maximum number of events of a run.
const MAX_EVENTS: usize = 2000;

/// Events: a byte and its arguments. Gaps are a byte, in units of 10 ms.
pub(crate) const ARRIVE: u8 = 0;
pub(crate) const END: u8 = 1;
pub(crate) const PROGRESS: u8 = 2;
pub(crate) const CLOSE: u8 = 3;
pub(crate) const ALLOCATE: u8 = 4;
/// Time passes until a flow ends or until the next change that the scheduler has announced.
pub(crate) const NEXT: u8 = 5;
const KINDS: u8 = 6;

/// Runs the target. The input: 1 byte for the scheduler and its options, 1 for the number of links, 1 for the floor; then events.
pub fn schedule(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let which = input.u8();
    let name = Name::ALL[usize::from(which) % Name::ALL.len()];
    let options = Options {
        order: if which & 8 == 0 { Volume::Total } else { Volume::Remaining },
        work_conserving: which & 16 == 0,
        preempt: which & 32 != 0,
    };
    let capacities: Vec<u64> = (0..1 + u64::from(input.u8() % 8)).map(|link| 1000 + link * 777_777).collect();
    let floor = match input.u8() {
        0 => None,
        share => Some(Floor {
            rate: DataRate::from_bps(u64::from(share) * 50),
            reserve_ppm: u32::from(share) * 5_000,
        }),
    };
    let rates: Vec<_> = capacities.iter().map(|rate| DataRate::from_bps(*rate)).collect();
    let schedule = Schedule::new(&rates, name.scheduler(options), floor);
    let mut run = Run { schedule, capacities, floor, now: Time::ZERO };
    for _ in 0..MAX_EVENTS {
        if input.is_empty() {
            return;
        }
        run.event(&mut input);
    }
}

struct Run {
    schedule: Schedule,
    capacities: Vec<u64>,
    floor: Option<Floor>,
    now: Time,
}

impl Run {
    fn event(&mut self, input: &mut Input<'_>) {
        match input.u8() % KINDS {
            ARRIVE => {
                // Occasionally in the past, which is refused.
                let gap = input.u8();
                let at = if gap == u8::MAX { Time::ZERO } else { self.later(gap) };
                let id = id(input);
                let volume_bits = match input.u8() {
                    u8::MAX => u64::MAX,
                    size => u64::from(size) << (size % 32),
                };
                let (first, count) = (u32::from(input.u8()), u32::from(input.u8() % 18));
                let links = self.capacities.len() as u32;
                // May include one number beyond the links, and loops if the path is longer than the number of links.
                let path: Vec<u32> = (0..count).map(|link| (first + link) % (links + 1)).collect();
                let before = self.schedule.flows().len();
                let taken = self.schedule.arrive(at, &NewFlow { id, volume_bits, path: &path });
                let after = self.schedule.flows().len();
                assert_eq!(after, before + usize::from(taken.is_ok()), "{taken:?}");
                match taken {
                    Ok(()) => self.now = at,
                    Err(error) => assert!(error.to_string().len() < 400),
                }
            }
            END => {
                let at = self.later(input.u8());
                let id = id(input);
                let known = self.schedule.flows().flow(id).is_some();
                assert_eq!(self.schedule.end(at, id).is_ok(), known);
                self.now = if known { at } else { self.now };
            }
            PROGRESS => {
                let at = self.later(input.u8());
                let id = id(input);
                let left = u64::from(input.u8()) << 20;
                let known = self.schedule.flows().flow(id).is_some();
                assert_eq!(self.schedule.progress(at, id, left).is_ok(), known);
                self.now = if known { at } else { self.now };
            }
            CLOSE => {
                let transfer = u64::from(input.u8() % 4);
                let open = self.schedule.flows().transfer(transfer).map(|open| open.flows_under_way());
                assert_eq!(self.schedule.close(transfer).is_ok(), open == Some(0));
            }
            ALLOCATE => {
                self.now = self.later(input.u8());
                self.allocate();
            }
            _ => {
                let next = [self.schedule.flows().next_end(), self.schedule.next_change()];
                if let Some(next) = next.into_iter().flatten().min() {
                    assert!(next >= self.now, "a step in the past");
                    self.now = next;
                    self.allocate();
                }
            }
        }
    }

    fn later(&self, gap: u8) -> Time {
        self.now.saturating_add(Duration::from_ms(10 * u64::from(gap)))
    }

    fn allocate(&mut self) {
        let changes = self.schedule.allocate(self.now).expect("time has not gone back").to_vec();
        assert!(changes.windows(2).all(|pair| pair[0].id < pair[1].id), "changes are in order of names");
        for change in &changes {
            assert_eq!(
                self.schedule.flows().flow(change.id).map(|flow| flow.rate_bps()),
                Some(change.rate_bps)
            );
        }
        let mut loads = vec![0; self.capacities.len()];
        let mut users = vec![0; self.capacities.len()];
        for flow in self.schedule.flows().iter() {
            for link in flow.path() {
                loads[*link as usize] += flow.rate_bps();
                users[*link as usize] += 1;
            }
        }
        for (load, capacity) in loads.iter().zip(&self.capacities) {
            assert!(load <= capacity, "{load} of {capacity} bit/s are given out");
        }
        if let Some(floor) = self.floor {
            let reserve =
                |link: usize| self.capacities[link] * u64::from(floor.reserve_ppm.min(1_000_000)) / 1_000_000;
            for flow in self.schedule.flows().iter() {
                let shares = flow.path().iter().map(|link| reserve(*link as usize) / users[*link as usize]);
                let least = shares.min().unwrap_or(0).min(floor.rate.as_bps());
                assert!(flow.rate_bps() >= least, "{} bit/s, below the floor of {least}", flow.rate_bps());
            }
        }
        // A repeated call at the same time has nothing to report, except what step one gains from rounding.
        assert!(self.schedule.allocate(self.now).is_ok());
    }
}

fn id(input: &mut Input<'_>) -> FlowId {
    FlowId { transfer: u64::from(input.u8() % 4), flow: u64::from(input.u8() % 16) }
}
