//! Observation of packets: the steps of a packet's path report to a follower and to a hop log while these are set. See
//! `journey` and `hops`.

use bm::trace::Trace;
use bm::{Fault, Phv};
use units::{Duration, Time};

use super::Switch;
use crate::config::ConfigError;
use crate::frame::Frame;
use crate::hops::{Cause, Depth, Hop, HopFilter, HopLog, Waiting};
use crate::journey::{Follower, Journey, Ran, What};
use crate::packet::{Packet, PacketId};
use crate::stats::DropCause;

/// The observers of packets. A switch without observers has none.
#[derive(Default)]
pub(super) struct Watch {
    /// Follows packets with one tag in full detail.
    follower: Option<Follower>,
    /// Records the hops of packets.
    hops: Option<HopLog>,
}

/// Returns the trace for the packet, if it is followed.
#[inline(always)]
pub(super) fn watcher<const WATCHED: bool>(
    watch: &mut Option<Box<Watch>>,
    id: PacketId,
) -> Option<&mut Trace> {
    if !WATCHED {
        return None;
    }
    watch.as_deref_mut()?.follower.as_mut()?.trace(id)
}

impl Watch {
    /// Adds a step with what was traced of a packet since the last step.
    #[cold]
    pub(super) fn traced(&mut self, id: PacketId, at: Time, what: impl FnOnce(&mut Follower) -> What) {
        if let Some(follower) = &mut self.follower {
            follower.traced(id, at, what);
        }
    }

    /// Notes a run of ingress, or of egress at a port.
    #[cold]
    pub(super) fn ran(
        &mut self,
        id: PacketId,
        at: Time,
        egress: Option<u16>,
        packet: &Packet,
        phv: &Phv,
        fault: Option<&Fault>,
    ) {
        let is_egress = egress.is_some();
        self.traced(id, at, |follower| {
            let ran = Ran {
                events: follower.trace.take(),
                values: follower.trace.values(phv),
                fault: fault.cloned(),
            };
            if is_egress {
                What::Egress(ran)
            } else {
                What::Ingress(ran)
            }
        });
        if let Some(hops) = &mut self.hops {
            let port = egress.unwrap_or(packet.arrival_port);
            hops.ran(id, at, port, is_egress, phv, packet.frame.len());
        }
    }
}

impl Switch {
    /// Records from now on what happens to frames that arrive with this tag, and to their copies. Earlier records are
    /// discarded. A program loaded with [`bm::Program::from_json_for_tracing`] gives the most detail.
    pub fn follow(&mut self, tag: u64) {
        // A journey shows all values of a packet, also those that nothing reads.
        self.packets.keep_whole_packets();
        self.watch.get_or_insert_default().follower = Some(Follower::new(&self.program, tag));
    }

    /// Takes the steps recorded since [`Switch::follow`] or the last call, and continues to follow. Empty if nothing is followed.
    pub fn take_journey(&mut self) -> Journey {
        let follower = self.watch.as_deref_mut().and_then(|watch| watch.follower.as_mut());
        follower.map(Follower::take).unwrap_or_default()
    }

    /// Returns the number of steps that [`Switch::take_journey`] would return.
    pub fn journey_steps(&self) -> usize {
        let follower = self.watch.as_deref().and_then(|watch| watch.follower.as_ref());
        follower.map_or(0, Follower::steps)
    }

    /// Stops following packets.
    pub fn stop_following(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.follower = None;
        }
        self.look_away();
    }

    /// Records from now on the hops that `filter` admits, of packets that arrive, as hops of `node`. Earlier records
    /// are discarded. On an error an earlier recording continues.
    pub fn record_hops(&mut self, filter: HopFilter, node: u16) -> Result<(), ConfigError> {
        if !filter.fields.is_empty() {
            // A field must keep its value even if nothing reads it after the queue.
            self.packets.keep_whole_packets();
        }
        let hops = HopLog::new(&self.program, filter, node)?;
        self.watch.get_or_insert_default().hops = Some(hops);
        Ok(())
    }

    /// Returns the hop log, to be read or absorbed; `None` if no hops are recorded.
    pub fn hops_mut(&mut self) -> Option<&mut HopLog> {
        self.watch.as_deref_mut()?.hops.as_mut()
    }

    /// Stops recording hops and returns the log; `None` if no hops were recorded.
    pub fn take_hops(&mut self) -> Option<HopLog> {
        let hops = self.watch.as_deref_mut()?.hops.take();
        self.look_away();
        hops
    }

    /// Removes the watch if nothing is followed and no hops are recorded.
    fn look_away(&mut self) {
        if self.watch.as_deref().is_some_and(|watch| watch.follower.is_none() && watch.hops.is_none()) {
            self.watch = None;
        }
    }

    /// Prepares for another program: records of the old one stay, but values of fields are no longer recorded.
    pub(super) fn forget_fields(&mut self) {
        if let Some(hops) = self.hops_mut() {
            hops.forget_fields();
        }
    }

    /// Returns whether a packet is followed.
    pub(super) fn follows(&self, id: PacketId) -> bool {
        let follower = self.watch.as_deref().and_then(|watch| watch.follower.as_ref());
        follower.is_some_and(|follower| follower.follows(id))
    }

    /// Notes a step, if the packet is followed or recorded.
    #[inline]
    pub(super) fn note(&mut self, id: PacketId, what: impl FnOnce(&Switch) -> What) {
        if self.watch.is_some() {
            self.note_watched(id, what);
        }
    }

    #[cold]
    fn note_watched(&mut self, id: PacketId, what: impl FnOnce(&Switch) -> What) {
        let is_recorded = self.hops_mut().is_some_and(|hops| hops.knows(id));
        if !is_recorded && !self.follows(id) {
            return;
        }
        let (at, what) = (self.now, what(self));
        if is_recorded {
            self.record(id, &what);
        }
        if let Some(follower) = self.watch.as_deref_mut().and_then(|watch| watch.follower.as_mut()) {
            follower.note(id, at, what);
        }
    }

    /// Records a step in the hop log. Arrivals, copies and runs have their own functions.
    fn record(&mut self, id: PacketId, what: &What) {
        let packet = self.packets.get(id);
        let (frame, bytes, now) = (&packet.frame, packet.frame.len() as u32, self.now);
        let depth = |port| Depth {
            bytes: self.tm.queue_bytes(port).get(),
            packets: self.tm.queue_packets(port) as u32,
        };
        let Some(hops) = self.watch.as_deref_mut().and_then(|watch| watch.hops.as_mut()) else { return };
        match *what {
            What::Queued { port, priority, bytes_ahead, gate_opens, pause_ends, .. } => {
                let Depth { bytes, packets } = depth(port);
                let depth = Depth { bytes: bytes_ahead, packets: packets - 1 };
                let bytes = (bytes - bytes_ahead) as u32;
                let waiting = Waiting { bytes, priority: priority as u8, depth };
                hops.note(id, now, port, Hop::Queued(waiting), frame);
                if gate_opens > now {
                    hops.note(id, now, port, Hop::Held { waiting, until: gate_opens }, frame);
                }
                if pause_ends > now {
                    hops.note(id, now, port, Hop::Paused { waiting, until: pause_ends }, frame);
                }
            }
            What::Recirculated { back_at: until } => {
                let port = packet.first_position.map_or(0, |first| first.port);
                hops.note(id, now, port, Hop::Recirculated { bytes, depth: depth(port), until }, frame);
            }
            What::Sent { port, wire_time, .. } => {
                let until = now.saturating_add(wire_time);
                hops.note(id, now, port, Hop::sent(bytes, depth(port), until), frame);
            }
            What::Dropped { port, cause } => {
                let meant_for = hops.meant_for(id).filter(|_| cause == DropCause::Ingress);
                let port = meant_for.unwrap_or(port);
                hops.note(id, now, port, Hop::dropped(bytes, depth(port), Cause::Switch(cause)), frame);
            }
            _ => {}
        }
    }

    /// Notes that a packet leaves, and how long the wire is busy with it.
    #[cold]
    pub(super) fn note_sent(&mut self, id: PacketId, port: u16, wire_time: Duration) {
        if let Some(hops) = self.hops_mut() {
            hops.count_sent(id);
        }
        self.note(id, |switch| {
            let frame = &switch.packets.get(id).frame;
            let frame = if switch.follows(id) { frame.to_vec() } else { Vec::new() };
            What::Sent { port, wire_time, frame }
        });
    }

    /// Notes that a frame has arrived and has this id.
    #[cold]
    pub(super) fn note_arrival(&mut self, id: PacketId, port: u16, tag: u64) {
        let Some(watch) = self.watch.as_deref_mut() else { return };
        if let Some(hops) = &mut watch.hops {
            let frame = &self.packets.get(id).frame;
            hops.arrived(Some(id), self.now, port, frame);
        }
        if let Some(follower) = watch.follower.as_mut().filter(|follower| follower.is_for(tag)) {
            follower.add(id);
            let frame = self.packets.get(id).frame.to_vec();
            follower.note(id, self.now, What::Arrived { port, frame });
        }
    }

    /// Notes that a frame was refused before it had an id.
    #[cold]
    pub(super) fn note_refusal(&mut self, port: u16, tag: u64, frame: &Frame, cause: DropCause) {
        let at = self.now;
        let Some(watch) = self.watch.as_deref_mut() else { return };
        if let Some(hops) = &mut watch.hops {
            hops.refused(at, port, frame, cause);
        }
        if let Some(follower) = watch.follower.as_mut().filter(|follower| follower.is_for(tag)) {
            follower.refused(at, port, frame, cause);
        }
    }

    /// Notes that a copy of a packet has this id.
    #[cold]
    pub(super) fn note_copy(&mut self, id: PacketId, copy: PacketId) {
        let at = self.now;
        let port = self.packets.get(copy).arrival_port;
        let Some(watch) = self.watch.as_deref_mut() else { return };
        if let Some(hops) = &mut watch.hops {
            hops.copied(id, copy, at, port);
        }
        if let Some(follower) = &mut watch.follower {
            follower.copied(id, copy, at);
        }
    }
}
