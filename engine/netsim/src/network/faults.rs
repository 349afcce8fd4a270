//! Links that fail and recover at given times, and the frames that they lose.
//!
//! While a link is down, the frames on it do not arrive, in either direction, and neither do the frames that its ends send: NICs
//! and switches keep sending, as in real time, and the link loses the frames. The switches at its ends know of the change at
//! once, so groups no longer select it (`Switch::set_link`). No other node is notified, and hosts notice only the loss.

use std::collections::BTreeMap;

use simple_switch::Switch;
use units::{Duration, Time};
use wire::PacketClass;

use crate::events::{Event, EventQueue};
use crate::network::wiring::{LinkFault, Node};
use crate::network::{nic_classes, reactions, Network};
use crate::report::FaultyLinkReport;

/// The class, after those of packets, of frames that switches generate: pauses and congestion notification messages.
const CONTROL: usize = PacketClass::ALL.len();

/// A link goes down or comes back up, unless another fault holds it down.
struct Change {
    at: Time,
    /// Index into [`Faults::links`].
    link: usize,
    goes_down: bool,
}

/// A link with planned faults.
struct Link {
    directions: [usize; 2],
    /// Number of faults that hold it down now.
    faults: u32,
    since: Time,
    was_down: Duration,
}

/// The planned faults of a fabric.
pub(super) struct Faults {
    /// In order of time.
    changes: Vec<Change>,
    /// Index of the first of them that has not happened.
    next: usize,
    links: Vec<Link>,
    /// Frames lost, by direction and by class as sent.
    lost: BTreeMap<usize, [u64; CONTROL + 1]>,
}

impl Faults {
    /// Plans the faults that [`crate::network::wiring::Wiring`] has checked.
    pub(super) fn new(faults: &[LinkFault]) -> Self {
        let mut links: Vec<Link> = Vec::new();
        let mut changes = Vec::new();
        for fault in faults {
            let known = links.iter().position(|link| link.directions.contains(&fault.directions[0]));
            let link = known.unwrap_or_else(|| {
                let directions = fault.directions;
                links.push(Link { directions, faults: 0, since: Time::ZERO, was_down: Duration::ZERO });
                links.len() - 1
            });
            changes.push(Change { at: fault.at, link, goes_down: true });
            changes.extend(fault.until.map(|at| Change { at, link, goes_down: false }));
        }
        changes.sort_by_key(|change| change.at);
        Self { changes, next: 0, links, lost: BTreeMap::new() }
    }

    /// Makes the next change that is due. Returns the directions whose state changes, if any, and whether they are up
    /// now; `None` if no change is due.
    fn pop(&mut self, now: Time) -> Option<Option<([usize; 2], bool)>> {
        let change = self.changes.get(self.next).filter(|change| change.at <= now)?;
        self.next += 1;
        let link = &mut self.links[change.link];
        if change.goes_down {
            link.faults += 1;
            link.since = if link.faults == 1 { now } else { link.since };
            Some((link.faults == 1).then_some((link.directions, false)))
        } else {
            link.faults -= 1;
            let is_up = link.faults == 0;
            link.was_down += if is_up { now.saturating_since(link.since) } else { Duration::ZERO };
            Some(is_up.then_some((link.directions, true)))
        }
    }
}

impl Network {
    /// Returns the time of the next link change.
    pub(crate) fn next_link_change(&self) -> Option<Time> {
        self.faults.changes.get(self.faults.next).map(|change| change.at)
    }

    /// Handles [`Event::LinksChange`].
    #[cold]
    pub(crate) fn links_change(&mut self, events: &mut EventQueue) {
        while let Some(change) = self.faults.pop(events.now()) {
            for (direction, is_up) in change.into_iter().flat_map(|(ends, up)| ends.map(|end| (end, up))) {
                match direction.checked_sub(self.hosts.len()) {
                    None => self.hosts[direction].uplink.set_up(is_up),
                    Some(wire) => self.wires[wire].link.set_up(is_up),
                }
                if let (Node::Switch(switch), port) = self.directions[direction].from {
                    self.switches[switch].switch.set_link(port, is_up);
                }
            }
        }
        events.set(Event::LinksChange, self.next_link_change());
    }

    /// Sets the links of a switch's copy to their state without faults.
    pub(super) fn without_faults(&self, switch: usize, copy: &mut Switch) {
        for link in self.faults.links.iter().filter(|link| link.faults > 0) {
            for (node, port) in link.directions.map(|direction| self.directions[direction].from) {
                if node == Node::Switch(switch) {
                    copy.set_link(port, true);
                }
            }
        }
    }

    /// Counts a frame of a host that its uplink has lost.
    pub(super) fn lose_from_host(&mut self, host: usize, class: PacketClass) {
        self.faults.lost.entry(host).or_default()[class as usize] += 1;
    }

    /// Counts a frame of a switch that this wire has lost. `class` is that of its tag, which belongs to another packet
    /// if the switch has generated the frame.
    pub(super) fn lose_from_switch(&mut self, wire: usize, class: PacketClass, frame: &[u8]) {
        let is_made = nic_classes::is_mac_control(frame) || reactions::is_message(frame);
        let class = if is_made { CONTROL } else { class as usize };
        self.faults.lost.entry(self.hosts.len() + wire).or_default()[class] += 1;
    }

    /// Returns the number of frames that links have lost.
    pub(super) fn lost(&self) -> u64 {
        self.faults.lost.values().flatten().sum()
    }

    /// Returns the losses until `now` in each direction of the links with faults.
    pub(crate) fn fault_reports(&self, now: Time) -> Vec<FaultyLinkReport> {
        let mut reports = Vec::new();
        for link in &self.faults.links {
            let is_down = link.faults > 0;
            let down =
                link.was_down + if is_down { now.saturating_since(link.since) } else { Duration::ZERO };
            for direction in link.directions {
                let classes = PacketClass::ALL.iter().map(|class| class.name()).chain(["control"]);
                let lost = self.faults.lost.get(&direction).copied().unwrap_or_default();
                let ends = &self.directions[direction];
                reports.push(FaultyLinkReport {
                    node: self.node_name(ends.from.0).to_owned(),
                    port: ends.from.1,
                    peer: self.node_name(ends.to.0).to_owned(),
                    down_ps: down.as_ps(),
                    lost: classes.zip(lost).filter(|(_, packets)| *packets > 0).collect(),
                });
            }
        }
        reports
    }
}
