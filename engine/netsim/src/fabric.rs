//! The fabric: switches, links and hosts under one clock.
//!
//! A caller alternates between feeding frames ([`Fabric::send`], in order of time) and running ([`Fabric::run_until`]),
//! so that a trace of any length takes bounded memory. The choice of batches changes nothing: a frame that a host sends
//! at some time comes before everything else that happens at that time, in the order of feeding.
//!
//! The same program, spec, control writes and frames give the same report, byte for byte.

use std::collections::VecDeque;
use std::sync::Arc;

use bm::Executable;
use simple_switch::hops::{HopFilter, HopLog};
use simple_switch::Switch;
use tcp::Settings;
use units::{Duration, Time};
use workload::WorkloadError;

use crate::errors::{FabricError, FlowError, SendError};
use crate::events::{Event, EventQueue};
use crate::limits::{LATEST, MAX_FRAME_BYTES, MAX_PENDING};
use crate::network::frame::HostFrame;
use crate::network::{tag, Heard, Network};
use crate::report::{ConservationError, FlowReport, Report};
use crate::spec::FabricSpec;
use crate::transport::{FlowSpec, Transport};
use crate::workload::{Driver, Parts};

/// What ends a run early, at the instant when it happens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Never,
    /// Every foreground application has finished.
    WorkloadFinished,
    /// A frame has arrived at a host that is listened to.
    Heard,
}

/// A whole fabric in virtual time.
pub struct Fabric {
    spec: FabricSpec,
    events: EventQueue,
    network: Network,
    transport: Transport,
    /// Applications, if there are any.
    driver: Option<Driver>,
    /// What ends the current run early.
    stop: Stop,
    /// Events handled.
    event_count: u64,
    /// Frames fed and not yet sent, in order.
    pending: VecDeque<(Time, u32, HostFrame)>,
    last_fed: Time,
}

impl Fabric {
    /// Builds the fabric; every switch runs `program`.
    pub fn new(program: Arc<Executable>, spec: FabricSpec) -> Result<Self, FabricError> {
        let network = Network::new(&program, &spec)?;
        let mut events = EventQueue::new(network.hosts.len(), network.wires.len(), network.switches.len());
        events.set(Event::LinksChange, network.next_link_change());
        Ok(Self {
            events,
            network,
            transport: Transport::new(spec.host_delay),
            driver: None,
            stop: Stop::Never,
            event_count: 0,
            pending: VecDeque::new(),
            last_fed: Time::ZERO,
            spec,
        })
    }

    /// Returns the spec that the fabric was built from.
    pub fn spec(&self) -> &FabricSpec {
        &self.spec
    }

    /// Returns the current time; everything before it has happened.
    pub fn now(&self) -> Time {
        self.events.now()
    }

    /// Returns the number of events handled so far, such as frames leaving NICs, frames arriving, switches woken.
    pub fn events(&self) -> u64 {
        self.event_count
    }

    /// Returns the number of P4 passes of all switches so far.
    pub fn p4_passes(&self) -> u64 {
        self.network.p4_passes()
    }

    /// Returns a switch, for reading.
    ///
    /// # Panics
    /// If no switch has this index; other calls that take one panic likewise, unless they return an error.
    pub fn switch(&self, index: usize) -> &Switch {
        &self.network.switches[index].switch
    }

    /// Returns a switch, for configuration. Frames enter and leave through the fabric only.
    pub fn switch_mut(&mut self, index: usize) -> &mut Switch {
        if let Some(driver) = &mut self.driver {
            driver.paths.forget(index);
        }
        &mut self.network.switches[index].switch
    }

    /// Returns the tag of a frame that [`Fabric::send`] takes at `at`, to follow the frame with [`Switch::follow`].
    /// Frames of one class sent at the same time share a tag.
    pub fn tag_of(at: Time, captured: &[u8], wire_len: usize) -> u64 {
        tag::of_frame(at.min(LATEST), captured, wire_len)
    }

    /// Offers a frame of `wire_len` bytes to the host's NIC at `at`. `captured` has its first bytes; the others are
    /// zero. Frames must be fed in order of time.
    pub fn send(&mut self, host: usize, at: Time, captured: &[u8], wire_len: usize) -> Result<(), SendError> {
        self.check_host(host)?;
        let not_before = self.last_fed.max(self.now());
        if at < not_before {
            return Err(SendError::Late { at, not_before });
        }
        if at > LATEST {
            let reason = format!("a frame at {at} is beyond the longest run, {LATEST}");
            return Err(SendError::Impossible(reason));
        }
        let possible = wire::ethernet::HEADER_LEN..=MAX_FRAME_BYTES;
        if !possible.contains(&wire_len) || captured.len() > wire_len {
            return Err(SendError::length(captured.len(), wire_len));
        }
        if self.pending.len() >= MAX_PENDING {
            return Err(SendError::TooMany);
        }
        let mut buffer = self.network.buffers.take();
        buffer.clear();
        buffer.extend_from_slice(captured);
        self.pending.push_back((at, host as u32, HostFrame::new(at, buffer, wire_len)));
        self.last_fed = at;
        Ok(())
    }

    /// Returns the number of frames fed and not yet sent.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Makes a host send bytes to another over TCP, with `settings` at both ends. Returns the flow's index in the
    /// report's list. The order in which flows are added matters only for events at the same instant.
    pub fn start_flow(&mut self, settings: &Settings, flow: FlowSpec) -> Result<usize, FlowError> {
        self.transport.start_flow(&mut self.events, &self.network, settings, flow)
    }

    /// Starts the applications that `json` describes, once per fabric. `docs/models/mapreduce.md` describes the format,
    /// which the crate `workload` reads. Everything is checked before anything starts.
    pub fn start_workload(&mut self, json: &[u8]) -> Result<(), WorkloadError> {
        if self.driver.is_some() {
            return Err(WorkloadError::value("as a whole", "is the second", "a fabric runs one workload"));
        }
        let driver = self.driver.insert(Driver::new(
            json,
            self.events.now(),
            &self.network,
            self.spec.scheduler.as_ref(),
        )?);
        let Self { events, network, transport, .. } = self;
        driver.advance(&mut Parts { events, network, transport });
        Ok(())
    }

    /// Returns whether a workload has been started and all its foreground applications have finished.
    pub fn workload_is_finished(&self) -> bool {
        self.driver.as_ref().is_some_and(Driver::is_finished)
    }

    /// Passes a packet from the controller to the switch, now: a frame on the CPU port, packet-out header included.
    pub fn packet_out(&mut self, switch: usize, packet: &[u8]) -> Result<(), SendError> {
        let count = self.network.switches.len();
        if switch >= count {
            return Err(SendError::no_such("switch", switch, count));
        }
        if packet.len() > MAX_FRAME_BYTES {
            return Err(SendError::length(packet.len(), packet.len()));
        }
        self.network.packet_out(&mut self.events, switch, packet);
        Ok(())
    }

    /// Returns the next packet that the switch has sent to the controller, packet-in header included.
    pub fn poll_packet_in(&mut self, switch: usize) -> Option<Vec<u8>> {
        self.network.switches[switch].poll_packet_in()
    }

    /// Handles every event due before `until`, or before [`LATEST`] if that is earlier.
    pub fn run_until(&mut self, until: Time) {
        let until = until.min(LATEST);
        self.run(until);
        self.pass_time(until);
    }

    /// Handles events until only link changes are left (returns `true`, with the clock at the last event), or until
    /// `limit`, at most [`LATEST`], is reached (`false`).
    pub fn run_to_idle(&mut self, limit: Time) -> bool {
        let limit = limit.min(LATEST);
        self.run_while_busy(limit);
        let idle = self.is_idle();
        if !idle {
            self.pass_time(limit);
        }
        idle
    }

    /// Handles events until every foreground application has finished (returns `true`, with the clock at that instant),
    /// or until no event is left or `limit`, at most [`LATEST`], is reached (`false`).
    pub fn run_workload(&mut self, limit: Time) -> bool {
        let limit = limit.min(LATEST);
        if !self.workload_is_finished() {
            self.stop = Stop::WorkloadFinished;
            self.run_while_busy(limit);
            self.stop = Stop::Never;
            if !self.workload_is_finished() && !self.is_idle() {
                self.pass_time(limit);
            }
        }
        self.workload_is_finished()
    }

    /// Handles events until a frame has arrived at a host that is listened to (returns `true`, with the clock at that instant),
    /// or until `limit`, at most [`LATEST`], is reached (`false`). Returns `true` at once if such a frame waits already.
    pub fn run_until_heard(&mut self, limit: Time) -> bool {
        let limit = limit.min(LATEST);
        if self.network.listener.heard.is_empty() {
            self.stop = Stop::Heard;
            self.run(limit);
            self.stop = Stop::Never;
        }
        let heard = !self.network.listener.heard.is_empty();
        if !heard {
            self.pass_time(limit);
        }
        heard
    }

    /// Starts or stops keeping the frames that arrive at a host, for [`Fabric::poll_heard`].
    pub fn listen(&mut self, host: usize, on: bool) -> Result<(), SendError> {
        self.check_host(host)?;
        self.network.hosts[host].is_listened_to = on;
        Ok(())
    }

    fn check_host(&self, host: usize) -> Result<(), SendError> {
        let count = self.network.hosts.len();
        if host < count {
            return Ok(());
        }
        Err(SendError::no_such("host", host, count))
    }

    /// Returns the next frame that has arrived at a host that is listened to. At most [`crate::MAX_HEARD`] wait.
    pub fn poll_heard(&mut self) -> Option<Heard> {
        self.network.listener.heard.pop_front()
    }

    /// Returns the number of frames lost at hosts that are listened to, because too many waited.
    pub fn heard_lost(&self) -> u64 {
        self.network.listener.lost
    }

    /// Returns whether only link changes are left.
    pub fn is_idle(&self) -> bool {
        let changes = usize::from(self.network.next_link_change().is_some());
        self.pending.is_empty() && self.events.len() == changes
    }

    /// Returns the results so far.
    ///
    /// # Errors
    /// If packets have appeared or vanished, which is a bug of the simulator.
    pub fn report(&self) -> Result<Report, ConservationError> {
        let (network, now) = (&self.network, self.now());
        let (conservation, unbalanced) = (network.conservation(), network.unbalanced_switches());
        if !conservation.holds() || !unbalanced.is_empty() {
            return Err(ConservationError(Box::new(conservation), unbalanced));
        }
        Ok(Report {
            seed: self.spec.seed,
            elapsed_ps: now.as_ps(),
            idle: self.is_idle(),
            events: self.event_count,
            p4_passes: network.p4_passes(),
            conservation,
            classes: network.class_reports(),
            latency: network.latency_of_all(),
            nic_queues: network.nic_queues(),
            hosts: network.host_reports(),
            flows: self.transport.flow_reports(network),
            workload: self.driver.as_ref().map(|driver| driver.report(now, &self.transport)),
            switches: network.switch_reports(),
            energy: network.energy_report(now),
            queue_depth: network.queue_depth_report(),
            faults: network.fault_reports(now),
            pauses: network.pause_reports(now),
        })
    }

    /// Returns the report of one flow of the list so far; `None` if no flow has this index. Unlike [`Fabric::report`],
    /// it takes a time that does not depend on the fabric's size.
    pub fn flow_report(&self, number: usize) -> Option<FlowReport> {
        self.transport.flow_report(&self.network, number)
    }

    /// Records from now on what happens to packets by hop, as far as `filter` admits it; see [`simple_switch::hops`].
    /// Nodes are numbered: switches in the order of the spec, then hosts. Packets are numbered from 1 in the order in
    /// which hosts offer them. Earlier records are discarded; packets under way are not recorded.
    ///
    /// # Errors
    /// If the filter exceeds a limit, or names fields that the program does not have. Then nothing is recorded.
    pub fn record_hops(&mut self, filter: &HopFilter) -> Result<(), simple_switch::ConfigError> {
        let recorded = self.network.record_hops(filter);
        if recorded.is_err() {
            self.network.take_hops(Time::ZERO);
        }
        recorded
    }

    /// Stops recording and returns the log, in order of time; `None` if nothing was recorded.
    pub fn take_hops(&mut self) -> Option<HopLog> {
        self.network.take_hops(self.now())
    }

    /// Moves the clock forward to `time`. No event is due until then.
    fn pass_time(&mut self, time: Time) {
        if time > self.now() {
            self.events.advance(time);
            self.network.advance(&self.events);
        }
    }

    /// Handles events until `limit`, but stops when only link changes are left.
    fn run_while_busy(&mut self, limit: Time) {
        while let Some(change) = self.network.next_link_change().filter(|change| *change < limit) {
            for until in [change, change + Duration::from_ps(1)] {
                self.run(until);
                if self.is_idle() || self.has_ended() {
                    return;
                }
            }
        }
        self.run(limit);
    }

    /// Returns whether the condition that ends the run early has occurred.
    fn has_ended(&self) -> bool {
        match self.stop {
            Stop::Never => false,
            Stop::WorkloadFinished => self.workload_is_finished(),
            Stop::Heard => !self.network.listener.heard.is_empty(),
        }
    }

    fn run(&mut self, until: Time) {
        self.network.send_from_switches(&mut self.events);
        loop {
            let event = self.events.next();
            let send = self.pending.front().map(|(at, _, _)| *at);
            let due = match (event, send) {
                (None, None) => break,
                (Some((at, _)), None) | (None, Some(at)) => at,
                (Some((event, _)), Some(send)) => event.min(send),
            };
            if due >= until {
                break;
            }
            self.events.advance(due);
            self.network.advance(&self.events);
            self.event_count += 1;
            match event {
                Some((at, event)) if send.is_none_or(|send| at < send) => self.handle(event),
                _ => self.send_pending(),
            }
            if !self.network.left.is_empty() {
                self.transport.frames_left(&mut self.events, &mut self.network);
                self.after_transport();
            }
            if self.has_ended() {
                break;
            }
        }
    }

    /// Offers the next fed frame to its host's NIC.
    fn send_pending(&mut self) {
        if let Some((_, host, frame)) = self.pending.pop_front() {
            self.network.offer(&mut self.events, host as usize, frame);
        }
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        let Self { events, network, transport, driver, .. } = self;
        match event {
            Event::NicSends(host) => network.nic_sends(events, host),
            Event::UplinkDelivers(host) => network.uplink_delivers(events, host),
            Event::WireDelivers(wire) => {
                let Some(arrival) = network.wire_delivers(events, wire) else { return };
                if transport.receive(events, network, arrival) {
                    self.after_transport();
                }
            }
            Event::SwitchWakes(switch) => network.switch_wakes(events, switch),
            Event::TransportTimer => {
                transport.handle_timer(events, network);
                self.after_transport();
            }
            Event::SchedulerTimer => {
                if let Some(driver) = driver {
                    driver.handle_scheduler(&mut Parts { events, network, transport });
                }
            }
            Event::LinksChange => network.links_change(events),
            Event::WorkloadTimer => {
                if let Some(driver) = driver {
                    driver.handle_timer(&mut Parts { events, network, transport });
                }
            }
        }
    }

    /// Handles the effects of the transport: connections may have ended transfers, and their next timer may have changed.
    fn after_transport(&mut self) {
        let Self { events, network, transport, driver, .. } = self;
        match driver {
            Some(driver) if transport.endpoints.has_ended() => {
                driver.advance(&mut Parts { events, network, transport });
            }
            _ => transport.schedule_timer(events),
        }
    }
}
