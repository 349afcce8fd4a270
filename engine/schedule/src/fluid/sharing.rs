//! Max-min fair shares of residual capacity: [`crate::fair`], computed per path instead of per flow.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Paths, the paths that cross each link, the number of flows on each path, and the current shares.
#[derive(Default)]
pub(super) struct Paths {
    /// The end of each path's links in `links`.
    ends: Vec<u32>,
    links: Vec<u32>,
    /// The end of each link's paths in `crossing`.
    crossing_ends: Vec<u32>,
    crossing: Vec<u32>,
    /// Number of flows on each path.
    flows: Vec<u32>,
    /// Number of flows on each link.
    users: Vec<u64>,
    /// The rate of one flow of each path.
    rates: Vec<u64>,
    /// Paths whose number of flows has changed since the last sharing.
    touched: Vec<u32>,
    filling: Filling,
}

/// The residual capacity of a link, and its number of flows without a rate.
type Left = (u64, u64);

/// The steps of the last sharing, so that the next one can begin at the first step that changes.
#[derive(Default)]
struct Filling {
    steps: Vec<Step>,
    /// Paths in the order in which they got their rates, with their numbers of flows at that time.
    rated: Vec<(u32, u32)>,
    /// The step in which each path got its rate, or [`NO_STEP`].
    step_of: Vec<u32>,
    /// The state of each link before the first step. A link whose share was 0 then keeps that share.
    before: Vec<Left>,
    after: Vec<Left>,
    tightest: BinaryHeap<Reverse<(u64, u32)>>,
    /// Paths whose flows or rates have changed, as a bit set: neighbours in its order have flows close in memory.
    changed: Vec<u64>,
}

/// The step of paths without a rate.
const NO_STEP: u32 = u32::MAX;

/// One step: the link with the smallest share assigns it to all flows without a rate that cross it.
#[derive(Clone, Copy)]
struct Step {
    share: u64,
    link: u32,
    /// The start of its paths in [`Filling::rated`].
    begin: u32,
}

impl Step {
    fn key(self) -> (u64, u32) {
        (self.share, self.link)
    }
}

fn note(changed: &mut [u64], path: u32) {
    changed[path as usize / 64] |= 1 << (path % 64);
}

/// Returns the part of `list` that belongs to `place`, from the end of the previous place.
fn part<'a>(list: &'a [u32], ends: &[u32], place: usize) -> &'a [u32] {
    let begin = if place == 0 { 0 } else { ends[place - 1] };
    &list[begin as usize..ends[place] as usize]
}

impl Paths {
    /// Creates an allocation for paths over links with numbers below `links`.
    pub fn new<'a>(links: usize, paths: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut new = Self::default();
        let mut crossing: Vec<Vec<u32>> = vec![Vec::new(); links];
        for (number, path) in paths.enumerate() {
            new.links.extend_from_slice(path);
            new.ends.push(new.links.len() as u32);
            for link in path {
                crossing[*link as usize].push(number as u32);
            }
        }
        for paths in &crossing {
            new.crossing.extend_from_slice(paths);
            new.crossing_ends.push(new.crossing.len() as u32);
        }
        let paths = new.ends.len();
        (new.flows, new.rates, new.users) = (vec![0; paths], vec![0; paths], vec![0; links]);
        new.filling.step_of = vec![NO_STEP; paths];
        new.filling.changed = vec![0; paths.div_ceil(64)];
        (new.filling.before, new.filling.after) = (vec![(0, 0); links], vec![(0, 0); links]);
        new
    }

    /// Creates an allocation for the distinct paths among `paths`, and returns it with the number of each path.
    pub fn distinct<'a>(links: usize, paths: impl Iterator<Item = &'a [u32]>) -> (Self, Vec<u32>) {
        let mut known: BTreeMap<&[u32], u32> = BTreeMap::new();
        let mut found: Vec<&[u32]> = Vec::new();
        let mut numbers = Vec::new();
        for path in paths {
            numbers.push(*known.entry(path).or_insert_with(|| {
                found.push(path);
                found.len() as u32 - 1
            }));
        }
        (Self::new(links, found.into_iter()), numbers)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a flow to a path.
    pub fn add(&mut self, path: usize) {
        self.flows[path] += 1;
        for link in part(&self.links, &self.ends, path) {
            self.users[*link as usize] += 1;
        }
        self.touched.push(path as u32);
    }

    /// Removes a flow from a path.
    pub fn remove(&mut self, path: usize) {
        self.flows[path] -= 1;
        for link in part(&self.links, &self.ends, path) {
            self.users[*link as usize] -= 1;
        }
        self.touched.push(path as u32);
    }

    /// Returns the rate of one flow of a path after the last sharing.
    pub fn rate(&self, path: usize) -> u64 {
        self.rates[path]
    }

    /// Divides `residual` among the flows. A `closed` link has nothing.
    ///
    /// This is progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2). A heap finds the link with the smallest
    /// share, since shares only grow while other links assign theirs. Steps before the first one that changes are not repeated.
    pub fn share(&mut self, residual: &mut [u64], closed: impl Fn(usize, u64) -> bool) {
        let dirty = self.dirty(residual);
        let kept = self.kept(&dirty, residual, &closed);
        self.take_back(kept);
        for link in dirty {
            let at = link as usize;
            let (before, after) = (&mut self.filling.before[at], &mut self.filling.after[at]);
            let now = (residual[at], self.users[at]);
            // The steps that are kept take the same from this link.
            *after = (now.0 - (before.0 - after.0), now.1 - (before.1 - after.1));
            *before = now;
        }
        self.fill(closed);
        for (residual, (left, _)) in residual.iter_mut().zip(&self.filling.after) {
            *residual = *left;
        }
    }

    /// Returns the paths whose flows or rate changed in the last sharing, in order, each with the rate of one flow.
    pub fn changed(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let words = self.filling.changed.iter().enumerate().filter(|(_, word)| **word != 0);
        let paths = words.flat_map(|(at, word)| {
            let rest = std::iter::successors(Some(*word), |word| Some(word & word.wrapping_sub(1)));
            rest.take_while(|word| *word != 0).map(move |word| 64 * at as u32 + word.trailing_zeros())
        });
        paths.map(|path| (path, self.rate(path as usize)))
    }

    /// Returns the links whose capacity or flows have changed, and marks the `touched` paths as changed.
    fn dirty(&mut self, residual: &[u64]) -> Vec<u32> {
        let now = residual.iter().zip(&self.users);
        let changed = now.zip(&self.filling.before).enumerate();
        let changed = changed.filter(|(_, ((left, users), before))| (**left, **users) != **before);
        let mut dirty: Vec<u32> = changed.map(|(link, _)| link as u32).collect();
        self.filling.changed.fill(0);
        for path in self.touched.drain(..) {
            dirty.extend_from_slice(part(&self.links, &self.ends, path as usize));
            note(&mut self.filling.changed, path);
            if self.flows[path as usize] == 0 {
                self.rates[path as usize] = 0;
            }
        }
        dirty.sort_unstable();
        dirty.dedup();
        dirty
    }

    /// Returns how many steps stay the same: those before the step of a `dirty` link, and before any step with a larger share
    /// than a dirty link has by then.
    fn kept(&self, dirty: &[u32], residual: &[u64], closed: impl Fn(usize, u64) -> bool) -> usize {
        let Filling { steps, step_of, .. } = &self.filling;
        let is_dirty = |step: &Step| dirty.binary_search(&step.link).is_ok();
        let mut kept = steps.iter().position(is_dirty).unwrap_or(steps.len());
        let mut takes: Vec<(u32, u32)> = Vec::new();
        for link in dirty {
            let at = *link as usize;
            let (mut left, mut users) = (residual[at], self.users[at]);
            if users == 0 {
                continue;
            }
            let first = if closed(at, left) { 0 } else { left / users };
            // Shares only grow.
            let Some(last) = kept.checked_sub(1).map(|last| steps[last]) else { return 0 };
            if last.key() < (first, *link) {
                continue;
            }
            if first == 0 {
                kept = steps[..kept].partition_point(|step| step.key() < (0, *link));
                continue;
            }
            // The link's paths with rates from steps that may be kept: had their flows changed, all their links would be dirty.
            takes.clear();
            for path in part(&self.crossing, &self.crossing_ends, at) {
                let step = step_of[*path as usize];
                if (step as usize) < kept {
                    takes.push((step, *path));
                }
            }
            takes.sort_unstable();
            let mut takes = takes.iter().copied().peekable();
            let mut begin = 0;
            while begin < kept && users > 0 {
                let now = (left / users, *link);
                let end = takes.peek().map_or(kept, |(step, _)| (*step as usize + 1).min(kept));
                if let Some(beaten) = steps[begin..end].iter().position(|step| now < step.key()) {
                    kept = begin + beaten;
                    break;
                }
                begin = end;
                while let Some((_, path)) = takes.next_if(|(step, _)| (*step as usize) < end) {
                    let flows = u64::from(self.flows[path as usize]);
                    left -= self.rates[path as usize] * flows;
                    users -= flows;
                }
            }
        }
        kept
    }

    /// Undoes all steps except the first `kept`.
    fn take_back(&mut self, kept: usize) {
        let Filling { steps, rated, step_of, after, .. } = &mut self.filling;
        for step in steps.drain(kept..).rev() {
            for (path, flows) in rated.drain(step.begin as usize..) {
                step_of[path as usize] = NO_STEP;
                let flows = u64::from(flows);
                for link in part(&self.links, &self.ends, path as usize) {
                    let (left, users) = &mut after[*link as usize];
                    *left += step.share * flows;
                    *users += flows;
                }
            }
        }
    }

    /// Adds steps until every flow has a rate.
    fn fill(&mut self, closed: impl Fn(usize, u64) -> bool) {
        let Self { ends, links, crossing_ends, crossing, flows, rates, filling, .. } = self;
        let Filling { steps, rated, step_of, before, after, tightest, changed } = filling;
        tightest.clear();
        for (link, (left, users)) in after.iter().enumerate().filter(|(_, (_, users))| *users > 0) {
            let (first, first_users) = before[link];
            let share = if closed(link, first) || first < first_users { 0 } else { left / users };
            tightest.push(Reverse((share, link as u32)));
        }
        while let Some(Reverse((known, link))) = tightest.pop() {
            let (of_link, users) = after[link as usize];
            if users == 0 {
                continue;
            }
            let share = if known == 0 { 0 } else { of_link / users };
            if share > known {
                tightest.push(Reverse((share, link)));
                continue;
            }
            let step = steps.len() as u32;
            steps.push(Step { share, link, begin: rated.len() as u32 });
            for path in part(crossing, crossing_ends, link as usize) {
                let at = *path as usize;
                if flows[at] == 0 || step_of[at] != NO_STEP {
                    continue;
                }
                step_of[at] = step;
                rated.push((*path, flows[at]));
                if rates[at] != share {
                    rates[at] = share;
                    note(changed, *path);
                }
                let flows = u64::from(flows[at]);
                for link in part(links, ends, at) {
                    let (left, users) = &mut after[*link as usize];
                    *left -= share * flows;
                    *users -= flows;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Paths;

    const LINKS: usize = 6;

    fn paths(all: &[Vec<u32>]) -> Paths {
        Paths::new(LINKS, all.iter().map(Vec::as_slice))
    }

    /// Residual capacity of each link, and the number of flows on each path.
    type Round = (Vec<u64>, Vec<u32>);

    fn rounds() -> impl Strategy<Value = Vec<Round>> {
        // Few distinct capacities, so that links have equal shares and many steps are kept.
        let left = prop_oneof![Just(0_u64), Just(7), Just(1000), Just(1_000_000), 900..1100_u64];
        let round = (prop::collection::vec(left, LINKS), prop::collection::vec(0..3_u32, 12));
        prop::collection::vec(round, 1..12)
    }

    proptest! {
        #[test]
        fn links_are_shared_as_if_for_the_first_time_whatever_was_shared_before(
            all in prop::collection::vec(prop::collection::btree_set(0..LINKS as u32, 1..4), 12),
            rounds in rounds(),
            changes in prop::collection::vec((0..12_usize, 0..LINKS), 12),
        ) {
            let all: Vec<Vec<u32>> = all.into_iter().map(|path| path.into_iter().collect()).collect();
            let closed = |_: usize, left: u64| left < 100;
            let mut kept = paths(&all);
            let mut flows = [0_u32; 12];
            let mut left = vec![1000_u64; LINKS];
            for ((lefts, counts), (path, link)) in rounds.into_iter().zip(changes) {
                // One path and one link change, or occasionally everything.
                let changed = if counts[0] == 0 { 0..12 } else { path..path + 1 };
                for path in changed {
                    for _ in flows[path]..counts[path] {
                        kept.add(path);
                    }
                    for _ in counts[path]..flows[path] {
                        kept.remove(path);
                    }
                    flows[path] = counts[path];
                }
                left[link] = lefts[link];
                let mut fresh = paths(&all);
                for (path, flows) in flows.iter().enumerate() {
                    (0..*flows).for_each(|_| fresh.add(path));
                }
                let before: Vec<u64> = (0..12).map(|path| kept.rate(path)).collect();
                let (mut of_kept, mut of_fresh) = (left.clone(), left.clone());
                kept.share(&mut of_kept, closed);
                fresh.share(&mut of_fresh, closed);
                prop_assert_eq!(of_kept, of_fresh);
                let told: Vec<u32> = kept.changed().map(|(path, _)| path).collect();
                for (path, before) in before.into_iter().enumerate() {
                    prop_assert_eq!(kept.rate(path), fresh.rate(path));
                    prop_assert!(kept.rate(path) == before || told.contains(&(path as u32)));
                }
            }
        }
    }
}
