//! Applications over the fabric: their transfers are TCP connections of the hosts, and their timers events of the fabric.
//!
//! The models are in the crate `workload`, which knows no network. The [`Driver`] carries out their actions, and passes
//! them the outcomes of their transfers.

mod ideal;
mod scheduling;
mod transfers;

use std::collections::BTreeMap;

use tcp::Settings;
use units::Time;
use workload::{Action, Connection, HostInfo, Outcome, Transfer, Workload, WorkloadError};

use crate::events::{Event, EventQueue};
use crate::network::frame::HostFrame;
use crate::network::{Network, Paths};
use crate::report::WorkloadReport;
use crate::spec::SchedulerSpec;
use crate::transport::{settings_at, Asked, Opening, Transport};

use scheduling::{Beginning, Scheduling};
use transfers::Transfers;

/// Port of UDP frames at both ends: the discard protocol (RFC 863).
const UDP_PORT: u16 = 9;

/// The parts of the fabric on which applications act.
pub(crate) struct Parts<'a> {
    pub(crate) events: &'a mut EventQueue,
    pub(crate) network: &'a mut Network,
    pub(crate) transport: &'a mut Transport,
}

/// A running workload, and the measurements of its transfers.
pub(crate) struct Driver {
    workload: Workload,
    /// TCP settings by application.
    settings: Vec<Settings>,
    /// Slots of connections that an application's transfers share, by application and by its number for the connection.
    shared: BTreeMap<(u32, u32), usize>,
    transfers: Transfers,
    pub(crate) paths: Paths,
    /// The scheduler that assigns rates to flows, if there is one.
    scheduling: Option<Box<Scheduling>>,
}

impl Driver {
    /// Checks the description of applications and starts them at `now`. [`Driver::advance`] carries out their actions.
    pub(crate) fn new(
        json: &[u8],
        now: Time,
        network: &Network,
        scheduler: Option<&SchedulerSpec>,
    ) -> Result<Self, WorkloadError> {
        let hosts = &network.hosts;
        let infos: Vec<_> = hosts
            .iter()
            .enumerate()
            .map(|(index, host)| {
                let uplink = &network.directions[index];
                HostInfo { name: host.spec.name.clone(), rate: uplink.rate, overhead: uplink.overhead }
            })
            .collect();
        let mut workload = Workload::from_json(json, &infos)?;
        if hosts.iter().any(|host| host.spec.ipv4.is_none()) {
            if let Some(host) = hosts.iter().find(|host| host.spec.ipv6.is_none()) {
                let reason = "has no IP version in common with all others";
                return Err(WorkloadError::value("hosts", &host.spec.name, reason));
            }
        }
        let settings = (0..workload.len())
            .map(|index| {
                let (path, json) = workload.tcp(index);
                settings_at(&path, json)
            })
            .collect::<Result<_, _>>()?;
        workload.start(now);
        let scheduling = scheduler.map(|spec| Box::new(Scheduling::new(spec, network)));
        Ok(Self {
            workload,
            settings,
            shared: BTreeMap::new(),
            transfers: Transfers::default(),
            paths: Paths::default(),
            scheduling,
        })
    }

    /// Returns whether every application in the foreground has finished.
    pub(crate) fn is_finished(&self) -> bool {
        self.workload.is_finished()
    }

    /// Handles [`Event::WorkloadTimer`].
    pub(crate) fn handle_timer(&mut self, parts: &mut Parts<'_>) {
        self.workload.handle_timeout(parts.events.now());
        self.advance(parts);
    }

    /// Handles [`Event::SchedulerTimer`].
    pub(crate) fn handle_scheduler(&mut self, parts: &mut Parts<'_>) {
        if let Some(scheduling) = &mut self.scheduling {
            scheduling.handle_timer(parts);
        }
    }

    /// Passes applications the outcomes of their transfers and carries out their actions, until neither is left. Then
    /// schedules the next timers of applications and connections.
    pub(crate) fn advance(&mut self, parts: &mut Parts<'_>) {
        loop {
            let now = parts.events.now();
            if let Some(ended) = parts.transport.endpoints.pop_ended() {
                self.transfers.end(now, &ended);
                if let Some(scheduling) = &mut self.scheduling {
                    scheduling.end(parts, ended.asked.number);
                }
                let outcome = if ended.finished { Outcome::Finished } else { Outcome::Failed };
                if let Some(ideal) = ended.asked.ideal {
                    self.workload.note_ideal(ended.asked.id, ideal);
                }
                self.workload.handle_transfer(now, ended.asked.id, outcome);
            } else if let Some(action) = self.workload.poll_action() {
                self.perform(parts, action);
            } else {
                break;
            }
        }
        parts.events.set(Event::WorkloadTimer, self.workload.next_timeout());
        parts.transport.schedule_timer(parts.events);
        if let Some(scheduling) = &self.scheduling {
            scheduling.schedule_timer(parts.events);
        }
    }

    fn perform(&mut self, parts: &mut Parts<'_>, action: Action) {
        match action {
            Action::Transfer(transfer) => self.begin(parts, &transfer),
            Action::Open { application, connection, from, to } => {
                if let Some(slot) = self.shared(parts, application, connection, [from, to]) {
                    parts.transport.send(parts.events, parts.network, slot);
                }
            }
            Action::GroupEnds { application, group } => {
                if let Some(scheduling) = &mut self.scheduling {
                    scheduling.end_group(parts.events.now(), application, group);
                }
            }
            Action::Frame { application, from, to, frame_bytes } => {
                let dscp = self.workload.dscp(application as usize);
                send_udp(parts, [from as usize, to as usize], frame_bytes, dscp);
            }
        }
    }

    fn begin(&mut self, parts: &mut Parts<'_>, transfer: &Transfer) {
        let Transfer { id, from, to, request_bytes, response_bytes, connection, group } = *transfer;
        let now = parts.events.now();
        self.transfers.begin(now);
        let slot = match connection {
            Connection::Own => self.open(parts, id.application, [from, to], None),
            Connection::Shared(number) => self.shared(parts, id.application, number, [from, to]),
        };
        let bytes = [request_bytes, response_bytes];
        let number = match (&mut self.scheduling, slot, connection) {
            (Some(scheduling), Some(slot), Connection::Own) => {
                let answers = response_bytes > request_bytes;
                let new = Beginning {
                    side: parts.transport.endpoints.side(slot, answers),
                    to: if answers { from } else { to } as usize,
                    application: id.application,
                    group,
                    bytes: request_bytes.max(response_bytes),
                    mss: self.settings[id.application as usize].mss.into(),
                };
                scheduling.begin(parts, &mut self.paths, &new)
            }
            (Some(scheduling), Some(_), Connection::Shared(_)) => {
                // Others use its connection.
                scheduling.counts.left_out += 1;
                0
            }
            _ => 0,
        };
        let ideal = slot.filter(|_| connection == Connection::Own).and_then(|slot| {
            let settings = &self.settings[id.application as usize];
            ideal::time(&mut self.paths, parts.network, parts.transport, settings, slot, bytes)
        });
        let asked = Asked { id, number, ideal };
        let Parts { events, network, transport } = parts;
        let requested =
            slot.is_some_and(|slot| transport.request(events, network, slot, asked, bytes).is_ok());
        if !requested {
            transport.endpoints.refuse(now, asked, request_bytes.max(response_bytes));
        }
    }

    /// Returns the slot of a shared connection, and opens the connection if it is not open.
    fn shared(
        &mut self,
        parts: &mut Parts<'_>,
        application: u32,
        number: u32,
        hosts: [u32; 2],
    ) -> Option<usize> {
        let name = (application, number);
        let known = self.shared.get(&name).copied();
        if let Some(slot) = known.filter(|slot| parts.transport.endpoints.is_open(*slot, name)) {
            return Some(slot);
        }
        let slot = self.open(parts, application, hosts, Some(name))?;
        self.shared.insert(name, slot);
        Some(slot)
    }

    fn open(
        &self,
        parts: &mut Parts<'_>,
        application: u32,
        hosts: [u32; 2],
        persistent: Option<(u32, u32)>,
    ) -> Option<usize> {
        let settings = &self.settings[application as usize];
        let hosts = hosts.map(|host| host as usize);
        let [from, to] = hosts.map(|host| &parts.network.hosts[host]);
        let addresses = from.addresses_with(to)?;
        parts.transport.endpoints.open(&Opening {
            settings,
            hosts,
            addresses,
            dscp: self.workload.dscp(application as usize),
            is_listed: false,
            persistent,
            at: None,
        })
    }

    /// Returns the report of applications and their transfers.
    pub(crate) fn report(&self, now: Time, transport: &Transport) -> WorkloadReport {
        WorkloadReport {
            finished: self.workload.is_finished(),
            finished_ps: self.workload.finished_at().map(Time::as_ps),
            applications: self.workload.report(),
            flows: self
                .transfers
                .report(&transport.endpoints.counts(), transport.endpoints.max_connections()),
            busy_ps: self.transfers.busy(now).as_ps(),
            scheduler: self.scheduling.as_ref().map(|scheduling| scheduling.counts),
        }
    }
}

/// Sends a UDP frame whose payload is zeros from one host to another.
fn send_udp(parts: &mut Parts<'_>, [from, to]: [usize; 2], frame_bytes: u32, dscp: u8) {
    let hosts = &parts.network.hosts;
    let Some(addresses) = hosts[from].addresses_to(&hosts[to]) else { return };
    let headers = if addresses.source.is_ipv4() { 42 } else { 62 };
    let payload = vec![0; (frame_bytes as usize).saturating_sub(headers)];
    let mut captured = wire::build::udp(&addresses, UDP_PORT, UDP_PORT, &payload);
    wire::set_dscp(&mut captured, dscp);
    let len = captured.len();
    captured.truncate(headers);
    let frame = HostFrame::new(parts.events.now(), captured, len);
    parts.network.offer(parts.events, from, frame);
}
