//! Applications over the fabric: their transfers are TCP connections of the hosts, their timers events of the schedule.
//!
//! The models are those of the crate `workload`, which knows no network; here their actions are done, and they are told what has
//! become of them.

use std::collections::BTreeMap;

use tcp::Settings;
use units::{Duration, Histogram, Time};
use wire::build::Addresses;
use workload::report::Distribution;
use workload::{Action, Connection, HostInfo, Outcome, Transfer, Workload, WorkloadError};

use crate::endpoints::{addresses, Counts, Done, Opening, User, CLIENT};
use crate::fabric::Fabric;
use crate::nic::HostFrame;
use crate::report::{SizeReport, TransfersReport, WorkloadReport};
use crate::tag;
use crate::tcp_spec;

/// Upper ends of the classes of size in the report, in bytes; a last class has none.
const SIZES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// The papers call a flow below this size short (E-EON thesis, 6.5).
const SMALL_BYTES: u64 = 1_000_000;

/// Port of UDP frames at both ends: the discard protocol (RFC 863).
const UDP_PORT: u16 = 9;

/// A workload that runs, and what its transfers have shown.
pub(crate) struct Driver {
    workload: Workload,
    /// By application.
    settings: Vec<Settings>,
    /// Places of connections that applications share among their transfers, by application and its number for it.
    shared: BTreeMap<(u32, u32), usize>,
    transfers: Transfers,
}

/// Measures of transfers.
#[derive(Default)]
struct Transfers {
    started: u64,
    given_up: u64,
    completion: Histogram,
    by_size: [SizeClass; SIZES.len() + 1],
    unfinished: u64,
    busy: Duration,
    busy_since: Time,
}

#[derive(Default)]
struct SizeClass {
    completion: Histogram,
    goodput_bps: u128,
}

impl Transfers {
    fn begin(&mut self, now: Time) {
        self.started += 1;
        if self.unfinished == 0 {
            self.busy_since = now;
        }
        self.unfinished += 1;
    }

    fn end(&mut self, now: Time, done: &Done) {
        self.unfinished -= 1;
        if self.unfinished == 0 {
            self.busy += now.saturating_since(self.busy_since);
        }
        if !done.finished {
            self.given_up += 1;
            return;
        }
        let time = now.saturating_since(done.began);
        self.completion.record(time);
        let class = SIZES.iter().position(|size| done.bytes <= *size).unwrap_or(SIZES.len());
        self.by_size[class].completion.record(time);
        // Bytes times 8 times 10^12 ps.
        self.by_size[class].goodput_bps +=
            u128::from(done.bytes) * 8_000_000_000_000 / u128::from(time.as_ps().max(1));
    }

    fn busy(&self, now: Time) -> Duration {
        let since = if self.unfinished > 0 { now.saturating_since(self.busy_since) } else { Duration::ZERO };
        self.busy.saturating_add(since)
    }

    /// Completions of the size classes of at most [`SMALL_BYTES`].
    fn small(&self) -> Histogram {
        let mut small = Histogram::default();
        for (class, _) in self.by_size.iter().zip(SIZES).filter(|(_, size)| *size <= SMALL_BYTES) {
            small.add(&class.completion);
        }
        small
    }

    fn report(&self, counts: &Counts, most_connections: usize) -> TransfersReport {
        let size = |(index, class): (usize, &SizeClass)| SizeReport {
            up_to_bytes: SIZES.get(index).copied(),
            count: class.completion.count(),
            completion_ps: Distribution::of(&class.completion),
            goodput_bps_mean: class
                .goodput_bps
                .checked_div(u128::from(class.completion.count()))
                .map(|mean| u64::try_from(mean).unwrap_or(u64::MAX)),
        };
        let Counts { bytes_received, stats } = counts;
        TransfersReport {
            started: self.started,
            finished: self.completion.count(),
            given_up: self.given_up,
            most_connections: most_connections as u64,
            bytes_received: *bytes_received,
            completion_ps: Distribution::of(&self.completion),
            completion_small_ps: Distribution::of(&self.small()),
            by_size: self.by_size.iter().enumerate().map(size).collect(),
            data_segments: stats.data_segments,
            retransmitted_segments: stats.retransmitted_segments,
            fast_recoveries: stats.fast_recoveries,
            timeouts: stats.timeouts,
            syn_timeouts: stats.syn_timeouts,
            mark_reductions: stats.mark_reductions,
        }
    }
}

impl Fabric {
    /// Starts the applications that `json` describes, once for a fabric: the crate `workload` has the format, and
    /// `docs/models/mapreduce.md` tells it. All is checked before anything starts.
    pub fn start_workload(&mut self, json: &[u8]) -> Result<(), WorkloadError> {
        if self.driver.is_some() {
            return Err(WorkloadError::value("as a whole", "is the second", "a fabric runs one workload"));
        }
        let infos: Vec<_> = self
            .hosts
            .iter()
            .zip(&self.directions)
            .map(|(host, uplink)| HostInfo {
                name: host.name.clone(),
                rate: uplink.rate,
                overhead: uplink.overhead,
            })
            .collect();
        let mut workload = Workload::from_json(json, &infos)?;
        if self.hosts.iter().any(|host| host.ipv4().is_none()) {
            if let Some(host) = self.hosts.iter().find(|host| host.ipv6().is_none()) {
                let reason = "has no IP version in common with all others";
                return Err(WorkloadError::value("hosts", &host.name, reason));
            }
        }
        let settings = (0..workload.len())
            .map(|index| {
                let (place, json) = workload.tcp(index);
                tcp_spec::settings(&place, json)
            })
            .collect::<Result<_, _>>()?;
        workload.start(self.now);
        let (shared, transfers) = (BTreeMap::new(), Transfers::default());
        self.driver = Some(Box::new(Driver { workload, settings, shared, transfers }));
        self.carry_out();
        Ok(())
    }

    /// Whether a workload has been started and every application in the foreground has finished.
    pub fn workload_is_finished(&self) -> bool {
        self.driver.as_ref().is_some_and(|driver| driver.workload.is_finished())
    }

    /// Lets everything happen until every foreground application has finished (`true`, and the clock stands at that instant), or
    /// nothing is left to happen, or `limit`, at most [`tag::LATEST`], is reached (`false`).
    pub fn run_workload(&mut self, limit: Time) -> bool {
        let limit = limit.min(tag::LATEST);
        if !self.workload_is_finished() {
            self.stops_when_finished = true;
            self.run(limit);
            self.stops_when_finished = false;
            if !self.workload_is_finished() && !self.is_idle() {
                self.pass_time(limit);
            }
        }
        self.workload_is_finished()
    }

    /// Timers of applications fire.
    pub(crate) fn workload_acts(&mut self) {
        if let Some(driver) = &mut self.driver {
            driver.workload.handle_timeout(self.now);
        }
        self.carry_out();
    }

    /// Tells applications what has become of their transfers, and does what they ask for, until neither is left.
    pub(crate) fn carry_out(&mut self) {
        let Some(mut driver) = self.driver.take() else { return };
        loop {
            if let Some(done) = self.endpoints.pop_done() {
                driver.transfers.end(self.now, &done);
                let outcome = if done.finished { Outcome::Finished } else { Outcome::Failed };
                driver.workload.handle_transfer(self.now, done.id, outcome);
            } else if let Some(action) = driver.workload.poll_action() {
                self.act(&mut driver, action);
            } else {
                break;
            }
        }
        let due = driver.workload.next_timeout();
        self.driver = Some(driver);
        let source = self.workload_source();
        self.schedule.set_or_clear(source, due);
        self.schedule_endpoints();
    }

    fn act(&mut self, driver: &mut Driver, action: Action) {
        match action {
            Action::Transfer(transfer) => self.begin(driver, &transfer),
            Action::Open { application, connection, from, to } => {
                if let Some(place) = self.shared(driver, application, connection, [from, to]) {
                    self.transmit(2 * place + CLIENT);
                }
            }
            Action::Frame { from, to, frame_bytes } => self.send_udp(from as usize, to as usize, frame_bytes),
        }
    }

    fn begin(&mut self, driver: &mut Driver, transfer: &Transfer) {
        let Transfer { id, from, to, request_bytes, response_bytes, connection } = *transfer;
        driver.transfers.begin(self.now);
        let place = match connection {
            Connection::Own => self.open(&driver.settings[id.application as usize], [from, to], None),
            Connection::Shared(number) => self.shared(driver, id.application, number, [from, to]),
        };
        let asked = place.filter(|place| {
            self.endpoints.ask(self.now, *place, Some(id), request_bytes, response_bytes).is_ok()
        });
        match asked {
            Some(place) => self.transmit(2 * place + CLIENT),
            None => self.endpoints.refuse(self.now, id, request_bytes.max(response_bytes)),
        }
    }

    /// The place of a connection that transfers share, opened if it is not.
    fn shared(
        &mut self,
        driver: &mut Driver,
        application: u32,
        number: u32,
        hosts: [u32; 2],
    ) -> Option<usize> {
        let Driver { settings, shared, .. } = driver;
        let known = shared.get(&(application, number)).copied();
        if let Some(place) = known.filter(|place| self.endpoints.is_talk(*place, (application, number))) {
            return Some(place);
        }
        let place = self.open(&settings[application as usize], hosts, Some((application, number)))?;
        shared.insert((application, number), place);
        Some(place)
    }

    fn open(&mut self, settings: &Settings, hosts: [u32; 2], lasting: Option<(u32, u32)>) -> Option<usize> {
        let hosts = hosts.map(|host| host as usize);
        let addresses = self.addresses_between(hosts)?;
        self.endpoints.open(&Opening { settings, hosts, addresses, user: User::Workload, lasting, at: None })
    }

    fn addresses_between(&self, [from, to]: [usize; 2]) -> Option<Addresses> {
        addresses(&self.hosts[from], &self.hosts[to])
    }

    /// A host sends a UDP frame whose payload is zeros.
    fn send_udp(&mut self, from: usize, to: usize, frame_bytes: u32) {
        let Some(addresses) = self.addresses_between([from, to]) else { return };
        let headers = if addresses.source.is_ipv4() { 42 } else { 62 };
        let payload = vec![0; (frame_bytes as usize).saturating_sub(headers)];
        let mut captured = wire::build::udp(&addresses, UDP_PORT, UDP_PORT, &payload);
        let len = captured.len();
        let tag = Self::tag_of(self.now, &captured, len);
        captured.truncate(headers);
        self.offer(from, HostFrame { captured, wire_len: len as u32, tag });
    }

    /// What applications and their transfers have shown, when there are any.
    pub(crate) fn workload_report(&self) -> Option<WorkloadReport> {
        let Driver { workload, transfers, .. } = &**self.driver.as_ref()?;
        Some(WorkloadReport {
            finished: workload.is_finished(),
            finished_ps: workload.finished_at().map(Time::as_ps),
            applications: workload.report(),
            flows: transfers.report(&self.endpoints.counts(), self.endpoints.talks.len()),
            busy_ps: transfers.busy(self.now).as_ps(),
        })
    }
}
