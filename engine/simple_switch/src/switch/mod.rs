//! The switch: its public interface, and the order in which it handles due events.
//!
//! A packet's path is in `arrival`, `ingress`, `copies`, `queues` and `egress`, in this order; `watch` observes it.
//! Only these and `timers` access the fields of a switch.

mod arrival;
mod copies;
mod egress;
mod gates;
mod ingress;
mod queues;
mod timers;
mod watch;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use bm::{Executable, Phv, Refusal, RuntimeError, State, NO_CODE};
use units::{Bytes, Duration, Time};

use crate::agenda::Agenda;
use crate::clock::Clock;
use crate::config::{check_port, check_quanta, ConfigError, PortConfig, SwitchConfig, PORT_COUNT};
use crate::effects::Effects;
use crate::frame::{Frame, FramePool};
use crate::journey::What;
use crate::limits::MAX_FRAME_BYTES;
use crate::mirroring::{MirroringSession, MAX_SESSION_ID};
use crate::packet::{PacketId, PacketStore};
use crate::pre::{GroupImage, Pre, Replica};
use crate::stats::{DropCause, PortStats, SwitchStats};
use crate::switch::gates::Gates;
use crate::switch::timers::Timers;
use crate::switch::watch::Watch;
use crate::traffic_manager::TrafficManager;
use crate::unread::{Digest, Unread};
use crate::v1model::V1Model;

/// The agenda key of the recirculation loop, after all ports.
const LOOP: usize = PORT_COUNT;
/// The agenda key of the first queue's timer; the others follow by port << 3 | priority.
const TIMERS: usize = LOOP + 1;

/// A frame that leaves the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Port by which it leaves.
    pub port: u16,
    /// When its first bit is on the wire, which is when it left the queue.
    pub at: Time,
    /// Since when it could have left if its queue had not been paused: the wire was free, a packet waited at the port,
    /// and the port's own gate was open. At most `at`.
    pub ready: Time,
    /// Time for which the port is busy with it, overhead included; zero on a port without a rate.
    pub wire_time: Duration,
    /// Its bytes. Pass the frame to the next switch with `handle_frame`, or back with `recycle`.
    pub frame: Frame,
    /// The tag with which it arrived.
    pub tag: u64,
}

/// Buffers that hold data only during one step.
struct Scratch {
    /// A packet's old headers while field lists are copied out of them.
    phv: Phv,
    /// Headers between the deparser and the frame.
    headers: Vec<u8>,
    /// The replicas being made.
    replicas: Vec<Replica>,
}

/// When a packet was last copied, and the number of copies of copies at that time since the last copy of an original packet.
#[derive(Clone, Copy, Debug)]
struct Copied {
    at: Time,
    of_copies: u64,
}

/// A multicast group or clone session before a call of a batch.
#[derive(Clone, Debug)]
enum Replicated {
    Group(u16, GroupImage),
    Session(u16, Option<MirroringSession>),
}

/// A point in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint {
    /// Position in the changes of the state: [`State::savepoint`].
    pub state: usize,
    /// Position in the changes of multicast groups and clone sessions.
    pub replicated: usize,
}

/// One v1model switch.
///
/// Time must not run backwards over the `handle_` calls. An event that was due before a packet arrives is handled
/// before the packet, so a late caller gets the same frames at the same times as a punctual one. A packet that arrives
/// at the very instant of an event is handled before the event.
pub struct Switch {
    config: SwitchConfig,
    program: Arc<Executable>,
    v1model: V1Model,
    no_error: u32,
    state: State,
    packets: PacketStore,
    frames: FramePool,
    tm: TrafficManager,
    pre: Pre,
    /// Clone sessions by id.
    mirroring: BTreeMap<u16, MirroringSession>,
    /// What an open batch has changed in multicast groups and clone sessions, oldest first.
    undo: Option<Vec<Replicated>>,
    effects: Effects,
    digests: Unread<Digest>,
    clock: Clock,
    /// Counts that belong to no port; [`Switch::stats`] adds the others.
    counts: SwitchStats,
    /// Packets in the recirculation loop, with the time at which they reach ingress. The delay is the same for all, so
    /// they stay in order.
    circulating: VecDeque<(Time, PacketId)>,
    outbox: VecDeque<Transmit>,
    /// The time of the current event. Never decreases.
    now: Time,
    scratch: Scratch,
    /// The observers of packets, if there are any. See `journey`.
    watch: Option<Box<Watch>>,
    copied: Copied,
    agenda: Agenda,
    /// A port to be served now, while nothing else on the agenda is due; `None` outside of calls.
    next_served: Option<u16>,
    gates: Gates,
    timers: Option<Timers>,
    /// [`Transmit::ready`] of the packet in service.
    ready: Time,
    /// Attached ports whose link is down.
    down: BTreeSet<u16>,
}

impl Switch {
    /// Creates a switch that runs `program`.
    pub fn new(program: Arc<Executable>, config: SwitchConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let v1model = V1Model::of(&program)?;
        let gates = Gates::of(&program, &config, &config.ports)?;
        let timers = Timers::of(&program, &config, &config.ports)?;
        let mut tm = TrafficManager::new(config.priorities);
        config.ports.iter().for_each(|port| tm.attach(port));
        if let Some(port) = config.cpu_port.filter(|port| !tm.is_attached(*port)) {
            tm.attach(&PortConfig::unlimited(port));
        }
        let mut switch = Self {
            no_error: program.error_code("NoError").unwrap_or(0),
            state: State::new(&program),
            packets: PacketStore::new(&program, &v1model),
            frames: FramePool::default(),
            tm,
            pre: Pre::default(),
            mirroring: BTreeMap::new(),
            undo: None,
            effects: Effects::new(config.drop_port, config.seed, config.device_id),
            digests: Unread::EMPTY,
            clock: Clock::new(config.tick, config.clock_start),
            counts: SwitchStats::default(),
            circulating: VecDeque::new(),
            outbox: VecDeque::new(),
            now: Time::ZERO,
            scratch: Scratch { phv: Phv::new(&program), headers: Vec::new(), replicas: Vec::new() },
            watch: None,
            copied: Copied { at: Time::ZERO, of_copies: 0 },
            agenda: Agenda::new(TIMERS + timers.as_ref().map_or(0, Timers::count)),
            next_served: None,
            gates,
            timers,
            ready: Time::ZERO,
            down: BTreeSet::new(),
            v1model,
            program,
            config,
        };
        switch.tell_ports();
        Ok(switch)
    }

    /// Returns a switch with the same program, ports, entries and groups, without packets, at time zero, and with all
    /// registers zero. A frame given to it shows where this switch would send it.
    pub fn without_packets(&self) -> Self {
        let copy = Self::new(Arc::clone(&self.program), self.config.clone());
        let mut copy = copy.expect("a switch's own program and settings have been checked");
        copy.state = self.state.without_packets();
        copy.pre = self.pre.clone();
        copy.down = self.down.clone();
        copy
    }

    /// Handles a frame that arrives on `port`. `tag` has no meaning for the switch: it stays with the packet and its
    /// copies. The bytes are copied once, into a reused buffer.
    ///
    /// # Panics
    /// If `now` is earlier than in the last call; the other `handle_` calls panic likewise.
    pub fn handle_packet(&mut self, now: Time, port: u16, frame: &[u8], tag: u64) {
        let frame = if frame.len() <= MAX_FRAME_BYTES { frame } else { &frame[..=MAX_FRAME_BYTES] };
        let frame = self.frames.copy_of(frame);
        self.handle_frame(now, port, frame, tag);
    }

    /// Handles a frame of `wire_len` bytes as [`Switch::handle_packet`] does. `captured` has its first bytes; all others are
    /// zeros. The zeros are stored only if something may read them, so a payload that the program does not read costs nothing.
    ///
    /// # Panics
    /// If `captured` is longer than `wire_len`.
    pub fn handle_snapped(&mut self, now: Time, port: u16, captured: &[u8], wire_len: usize, tag: u64) {
        let zeros = wire_len.checked_sub(captured.len()).expect("a frame has the bytes that are given of it");
        let wire_len = wire_len.min(MAX_FRAME_BYTES + 1);
        let captured = &captured[..captured.len().min(wire_len)];
        let frame = self.frames.snapped(captured, zeros.min(wire_len - captured.len()));
        self.handle_frame(now, port, frame, tag);
    }

    /// Handles a frame that another switch has sent as [`Switch::handle_packet`] does, without copying it.
    ///
    /// The frame may omit zeros, see [`Switch::handle_snapped`].
    pub fn handle_frame(&mut self, now: Time, port: u16, frame: Frame, tag: u64) {
        self.check_time(now);
        while let Some((at, key)) = self.agenda.first().filter(|(at, _)| *at < now) {
            self.do_next(at, key);
        }
        self.now = now;
        self.receive(port, frame, tag);
        self.do_all_due(now);
    }

    /// Returns the time of the switch's next own event.
    pub fn next_wakeup(&self) -> Option<Time> {
        self.agenda.first().map(|(at, _)| at.max(self.now))
    }

    /// Handles all events due up to and including `now`, in order of time, then of port. The recirculation loop comes
    /// after all ports, and the timers after the loop.
    pub fn handle_wakeup(&mut self, now: Time) {
        self.check_time(now);
        self.do_all_due(now);
        self.now = now;
    }

    /// Returns the next frame to send, in order of `at`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.outbox.pop_front()
    }

    /// Takes a frame's buffer back for reuse.
    pub fn recycle(&mut self, frame: Frame) {
        self.frames.give(frame);
    }

    /// Returns the next unread digest.
    pub fn poll_digest(&mut self) -> Option<Digest> {
        self.digests.pop()
    }

    /// Returns the next unread message of `log_msg`.
    pub fn poll_log(&mut self) -> Option<String> {
        self.effects.log.pop()
    }

    /// Returns the bytes waiting in all queues of a port: frame bytes without FCS, excluding packets on the wire or in the recirculation loop.
    pub fn queue_bytes(&self, port: u16) -> Bytes {
        self.tm.queue_bytes(port)
    }

    /// Returns the number of packets waiting in all queues of a port.
    pub fn queue_packets(&self, port: u16) -> usize {
        self.tm.queue_packets(port)
    }

    /// Returns a port whose [`Switch::queue_bytes`] may have changed since it was last returned, in no particular
    /// order. A caller that follows the queues need not query all ports.
    #[inline]
    pub fn poll_queue_change(&mut self) -> Option<u16> {
        self.tm.poll_changed()
    }

    /// Returns the counts of one port. Port numbers outside v1model's range share one set.
    pub fn port_stats(&self, port: u16) -> PortStats {
        *self.tm.stats(port)
    }

    /// Returns the counts of the switch.
    pub fn stats(&self) -> SwitchStats {
        let mut stats = SwitchStats {
            in_flight: self.packets.in_use() as u64,
            digests_lost: self.digests.lost,
            log_messages_lost: self.effects.log.lost,
            ..self.counts
        };
        for port in self.tm.all_stats() {
            stats.received += port.rx_packets;
            stats.sent += port.tx_packets;
            stats.drops.add(&port.drops);
        }
        stats
    }

    /// Returns the number of runs of parser and ingress so far: see [`SwitchStats::p4_passes`].
    pub fn p4_passes(&self) -> u64 {
        self.counts.p4_passes
    }

    /// Attaches a port, or changes the link of an attached port.
    pub fn set_port(&mut self, port: PortConfig) -> Result<(), ConfigError> {
        check_port("port", port.port)?;
        check_quanta(&port, self.config.priorities)?;
        Gates::of(&self.program, &self.config, std::slice::from_ref(&port))?;
        Timers::of(&self.program, &self.config, std::slice::from_ref(&port))?;
        let number = port.port;
        self.tm.attach(&port);
        self.schedule(number);
        match self.config.ports.iter_mut().find(|old| old.port == port.port) {
            Some(old) => *old = port,
            None => self.config.ports.push(port),
        }
        self.state.set_port_up(number, self.is_up(number));
        Ok(())
    }

    /// Detaches a port. Packets that arrive on it or are sent to it are dropped and counted.
    pub fn remove_port(&mut self, port: u16) {
        self.tm.detach(port);
        self.config.ports.retain(|old| old.port != port);
        self.down.remove(&port);
        self.state.set_port_up(port, false);
    }

    /// Sets the link state of an attached port. Ports start up. Members of action profiles whose watch port is down or
    /// not attached are not selected. Frames are still sent to the port: losing them is the link's part.
    pub fn set_link(&mut self, port: u16, up: bool) {
        if !self.tm.is_attached(port) {
            return;
        }
        if up {
            self.down.remove(&port);
        } else {
            self.down.insert(port);
        }
        self.state.set_port_up(port, up);
    }

    /// Returns whether a port is attached.
    pub fn is_attached(&self, port: u16) -> bool {
        self.tm.is_attached(port)
    }

    /// Returns whether a port is attached and its link up.
    pub fn is_up(&self, port: u16) -> bool {
        self.tm.is_attached(port) && !self.down.contains(&port)
    }

    /// Reports to the state which ports are up.
    fn tell_ports(&mut self) {
        for port in 0..PORT_COUNT as u16 {
            self.state.set_port_up(port, self.is_up(port));
        }
    }

    /// Returns the settings, with the ports as they are now.
    pub fn config(&self) -> &SwitchConfig {
        &self.config
    }

    /// Returns the running program.
    pub fn program(&self) -> &Arc<Executable> {
        &self.program
    }

    /// Replaces the program, with a fresh state; clone sessions and multicast groups stay, as in BMv2. Packets inside are
    /// dropped and counted: their headers have no meaning in the new program. On an error the old program keeps running.
    pub fn load_program(&mut self, program: Arc<Executable>) -> Result<(), ConfigError> {
        let v1model = V1Model::of(&program)?;
        let gates = Gates::of(&program, &self.config, &self.config.ports)?;
        let timers = Timers::of(&program, &self.config, &self.config.ports)?;
        for port in 0..PORT_COUNT as u16 {
            while let Some(dequeued) = self.tm.dequeue(port, Time::MAX, None::<fn(usize) -> Time>) {
                self.drop_packet(dequeued.packet, port, DropCause::ProgramChanged);
            }
            self.agenda.set(usize::from(port), None);
        }
        self.timers.iter().for_each(|timers| timers.stop(&mut self.agenda));
        while let Some((_, packet)) = self.circulating.pop_front() {
            let port = self.packets.get(packet).arrival_port;
            self.drop_packet(packet, port, DropCause::ProgramChanged);
        }
        self.agenda.set(LOOP, None);
        self.no_error = program.error_code("NoError").unwrap_or(0);
        self.state = State::new(&program);
        self.packets = self.packets.emptied(&program, &v1model);
        self.scratch.phv = Phv::new(&program);
        self.undo = None;
        // The journey uses the old program's numbers.
        self.stop_following();
        self.forget_fields();
        self.gates = gates;
        self.timers = timers;
        self.v1model = v1model;
        self.program = program;
        self.tell_ports();
        Ok(())
    }

    /// Returns the state (tables, counters, registers and so on) for reading.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the state (tables, counters, registers and so on) for writing. When the guard is dropped, the switch
    /// reads the port gates and timers again.
    pub fn state_mut(&mut self) -> StateGuard<'_> {
        StateGuard { switch: self }
    }

    /// Returns the clone sessions by id.
    pub fn mirroring(&self) -> &BTreeMap<u16, MirroringSession> {
        &self.mirroring
    }

    /// Returns the multicast groups.
    pub fn pre(&self) -> &Pre {
        &self.pre
    }

    /// Returns the multicast groups, for changes.
    pub fn pre_mut(&mut self) -> &mut Pre {
        &mut self.pre
    }

    /// Creates or replaces a multicast group as [`Pre::set_group`] does, with opaque bytes of the client.
    pub fn set_group(&mut self, mgid: u16, replicas: &[Replica], note: &[u8]) -> Result<(), RuntimeError> {
        self.remember_group(mgid);
        self.pre.set_group(mgid, replicas)?;
        self.pre.set_note(mgid, note);
        Ok(())
    }

    /// Destroys a multicast group and its nodes.
    pub fn delete_group(&mut self, mgid: u16) -> Result<(), RuntimeError> {
        self.remember_group(mgid);
        self.pre.delete_group(mgid)
    }

    /// Adds or replaces a clone session.
    pub fn set_session(&mut self, id: u16, session: MirroringSession) -> Result<(), RuntimeError> {
        if id > MAX_SESSION_ID {
            let text = format!("clone session {id}: ids go from 0 to {MAX_SESSION_ID}");
            return Err(RuntimeError::new(Refusal::InvalidValue, NO_CODE, text));
        }
        self.remember_session(id);
        self.mirroring.insert(id, session);
        Ok(())
    }

    /// Deletes a clone session.
    pub fn delete_session(&mut self, id: u16) -> Result<(), RuntimeError> {
        self.remember_session(id);
        self.mirroring.remove(&id).map(drop).ok_or_else(|| {
            let text = format!("clone session {id}: is not configured");
            RuntimeError::new(Refusal::NoSuchHandle, "SESSION_NOT_FOUND", text)
        })
    }

    fn remember_group(&mut self, mgid: u16) {
        if let Some(changes) = &mut self.undo {
            changes.push(Replicated::Group(mgid, self.pre.image(mgid)));
        }
    }

    fn remember_session(&mut self, id: u16) {
        if let Some(changes) = &mut self.undo {
            changes.push(Replicated::Session(id, self.mirroring.get(&id).copied()));
        }
    }

    /// Begins a batch: until [`Switch::end_batch`], control calls are logged so that they can be undone. These are the calls on the state, and the
    /// calls above on multicast groups and clone sessions. No packet may be handled meanwhile: its counts would be undone with the calls.
    pub fn begin_batch(&mut self) {
        self.state.begin_batch();
        self.undo = Some(Vec::new());
    }

    /// Ends the batch and keeps its changes.
    pub fn end_batch(&mut self) {
        self.state.end_batch();
        self.undo = None;
    }

    /// Returns a point for [`Switch::roll_back`].
    pub fn savepoint(&self) -> Savepoint {
        Savepoint { state: self.state.savepoint(), replicated: self.undo.as_ref().map_or(0, Vec::len) }
    }

    /// Undoes what the batch has changed since a savepoint.
    pub fn roll_back(&mut self, to: Savepoint) {
        self.state_mut().roll_back(to.state);
        let Some(mut changes) = self.undo.take() else { return };
        while changes.len() > to.replicated {
            match changes.pop() {
                Some(Replicated::Group(mgid, image)) => self.pre.put_back(mgid, image),
                Some(Replicated::Session(id, Some(before))) => drop(self.mirroring.insert(id, before)),
                Some(Replicated::Session(id, None)) => drop(self.mirroring.remove(&id)),
                None => break,
            }
        }
        self.undo = Some(changes);
    }

    /// Clears tables, counters, meters and registers, and removes multicast groups, as BMv2's `reset_state`. The
    /// program, clone sessions, queues and packets inside stay.
    pub fn reset_state(&mut self) {
        self.state_mut().reset_state();
        self.pre = Pre::default();
    }

    /// Returns the clock's value in microseconds, whatever the tick is: BMv2's `get_time_elapsed_us`.
    pub fn time_elapsed_us(&self, now: Time) -> u64 {
        self.clock.microseconds(now)
    }

    /// Saves from now on all headers and metadata of a packet while it waits, also those that nothing reads: the reference for
    /// the analysis that finds these. [`Switch::stop_following`] does not undo it.
    pub fn keep_whole_packets(&mut self) {
        self.packets.keep_whole_packets();
    }

    fn check_time(&self, now: Time) {
        assert!(now >= self.now, "time runs backwards: the switch is at {}, the call says {now}", self.now);
    }

    fn do_all_due(&mut self, now: Time) {
        self.serve_ready();
        while let Some((at, key)) = self.agenda.first().filter(|(at, _)| *at <= now) {
            self.do_next(at, key);
        }
    }

    /// Handles the first event on the agenda, at its own time.
    fn do_next(&mut self, at: Time, key: usize) {
        // A control write may open a gate at a time in the past; it opens now.
        self.now = self.now.max(at);
        if key == LOOP {
            let (_, packet) =
                self.circulating.pop_front().expect("the loop is on the agenda, so it holds a packet");
            self.agenda.set(LOOP, self.circulating.front().map(|(at, _)| *at));
            self.ingress(packet);
        } else if let Some(queue) = key.checked_sub(TIMERS) {
            self.run_timer(queue);
        } else {
            self.serve(key as u16);
        }
        self.serve_ready();
    }

    /// Serves a port: sends its next packet if its gate is open, and schedules its next service.
    fn serve(&mut self, port: u16) {
        if self.gate_opens(port) <= self.now {
            self.ready = self.ready_since(port);
            let opens = self.gates.of_queues(&self.state, self.clock, self.now, port);
            if let Some(dequeued) = self.tm.dequeue(port, self.now, opens) {
                self.egress(port, dequeued);
            }
        }
        self.schedule(port);
    }

    #[inline]
    fn serve_ready(&mut self) {
        let Some(port) = self.next_served.take() else { return };
        self.serve(port);
        // A clone may have entered a queue, possibly of the same port.
        if let Some(port) = self.next_served.take() {
            self.schedule(port);
        }
    }

    /// Schedules a port as [`Switch::schedule`] does, after a packet has entered its queue. Usually the packet can
    /// leave at once and nothing else is due now; then the agenda is not needed.
    #[inline]
    fn schedule_arrival(&mut self, port: u16) {
        let due = self.due(port);
        if let Some(other) = self.next_served.take() {
            self.agenda.set(usize::from(other), Some(self.now));
        } else if due == Some(self.now) && self.agenda.first().is_none_or(|(at, _)| at > self.now) {
            self.next_served = Some(port);
            return;
        }
        self.agenda.set(usize::from(port), due);
    }

    /// Puts the port's next service on the agenda, after any change that may affect it.
    fn schedule(&mut self, port: u16) {
        let due = self.due(port);
        self.agenda.set(usize::from(port), due);
    }

    /// Returns when the pause of a queue ends: now or earlier if it is not paused. The port's own gate may be closed longer.
    pub fn pause_ends(&self, port: u16, priority: usize) -> Time {
        let own = self.gates.of_queues(&self.state, self.clock, self.now, port);
        own.map_or(Time::ZERO, |opens| opens(priority))
    }

    /// Reads the gates of a port's queues again. A packet that arrived on this port and ended in ingress, such as a
    /// pause frame, may have opened them.
    fn reread_class_gates(&mut self, port: u16) {
        if self.gates.class.is_some() {
            self.schedule(port);
        }
    }

    /// Returns when the port must be served next; `None` if nothing is to be served.
    #[inline]
    fn due(&self, port: u16) -> Option<Time> {
        let opens = self.gates.of_queues(&self.state, self.clock, self.now, port);
        self.tm.due(port, self.now, self.gate_opens(port), opens)
    }

    /// Puts a packet into the recirculation loop.
    fn circulate(&mut self, packet: PacketId) {
        let at = self.now + self.config.recirculation_delay;
        self.note(packet, |_| What::Recirculated { back_at: at });
        self.circulating.push_back((at, packet));
        if self.circulating.len() == 1 {
            self.agenda.set(LOOP, Some(at));
        }
    }

    /// Removes a packet from the switch and counts it as dropped.
    fn drop_packet(&mut self, packet: PacketId, port: u16, cause: DropCause) {
        self.tm.stats_mut(port).drops.count(cause);
        self.note(packet, |_| What::Dropped { port, cause });
        let frame = self.packets.remove(packet);
        self.frames.give(frame);
    }

    /// Returns since when the packets waiting at a port could have left if their queues had not been paused; now if queues have no gates.
    #[inline]
    fn ready_since(&self, port: u16) -> Time {
        if self.gates.class.is_none() {
            return self.now;
        }
        let opened = self.gates.port.map(|gate| gate.open_since(&self.state, self.clock, self.now, port));
        self.tm.ready_since(port).max(opened.unwrap_or(Time::ZERO))
    }

    /// Returns when the port's gate opens: [`Time::ZERO`] if it is open, [`Time::MAX`] if it never opens.
    #[inline]
    fn gate_opens(&self, port: u16) -> Time {
        self.gates.port.map_or(Time::ZERO, |gate| gate.opens(&self.state, self.clock, self.now, port, 0))
    }
}

/// Write access to a switch's state. When it is dropped, the switch reads the port gates and timers again.
pub struct StateGuard<'a> {
    switch: &'a mut Switch,
}

impl Deref for StateGuard<'_> {
    type Target = State;
    fn deref(&self) -> &State {
        &self.switch.state
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.switch.state
    }
}

impl Drop for StateGuard<'_> {
    fn drop(&mut self) {
        if self.switch.timers.is_some() {
            (0..PORT_COUNT as u16).for_each(|port| self.switch.reread_timers(port));
        }
        if self.switch.gates.port.is_none() && self.switch.gates.class.is_none() {
            return;
        }
        for port in 0..PORT_COUNT as u16 {
            if self.switch.tm.queue_packets(port) > 0 {
                self.switch.schedule(port);
            }
        }
    }
}
