//! A running switch: its public interface.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bm::Executable;
use parking_lot::Mutex;
use port_io::{Interface, Interfaces, IoCounts, IoError, Poller, PortInfo, PortIo};
use serde::Serialize;
use simple_switch::{PortConfig, Switch, SwitchConfig};
use units::{DataRate, Time};

use crate::clock::Clock;
use crate::engine::Engine;
use crate::run;
use crate::shared::{EndGuard, Shared};
use crate::{LiveError, PacketIns, Turns};

/// The source and destination of frames.
pub enum Ports {
    /// Network interfaces: number and name. More can be added later.
    Interfaces(Vec<(u16, String)>),
    /// An input and output that is fixed for the switch's life, with the numbers of its ports.
    Fixed(Box<dyn PortIo>, Vec<u16>),
}

/// Link and queue settings of every port.
#[derive(Clone, Debug, Default)]
pub struct PortDefaults {
    /// The settings of each port but its number.
    pub each: PortConfig,
    /// Rates of individual ports, which override that of `each`.
    pub rates: BTreeMap<u16, DataRate>,
}

impl PortDefaults {
    fn port(&self, port: u16) -> PortConfig {
        let rate = self.rates.get(&port).copied().or(self.each.rate);
        PortConfig { port, rate, ..self.each.clone() }
    }
}

/// Settings of a live switch.
pub struct LiveConfig {
    /// The switch's own settings. `ports` adds its ports.
    pub switch: SwitchConfig,
    /// Settings of each port.
    pub port_defaults: PortDefaults,
    /// Folder for captures of each interface; `None` disables capture.
    pub capture: Option<PathBuf>,
    /// Whether every packet is followed, for [`Switch::take_journey`]. Frames wait at the ports while too many recorded
    /// steps have not been taken.
    pub follows_all: bool,
}

/// Frames lost or repaired outside the switch, by cause, and other counts of its loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveCounts {
    /// Counts at the ports.
    #[serde(flatten)]
    pub io: IoCounts,
    /// Frames that arrived while no program was loaded.
    pub rx_no_program: u64,
    /// Packets for the controller that were dropped because they were not fetched in time.
    pub packets_in_lost: u64,
    /// Microseconds by which the switch's clock was held back, because its own work exceeded the computer's capacity: a
    /// program that recirculates packets without end.
    pub clock_held_back_us: u64,
    /// Messages that were dropped because they were not read in time.
    pub events_lost: u64,
}

/// One switch in real time. Calls may come from any thread.
pub struct LiveSwitch {
    shared: Arc<Shared>,
    port_defaults: PortDefaults,
    capture: Option<PathBuf>,
    cpu_port: Option<u16>,
    started: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl LiveSwitch {
    /// Opens the ports. No frame is received before `start`. Without a program, frames are dropped and counted until one is loaded.
    pub fn new(
        program: Option<Arc<Executable>>,
        config: LiveConfig,
        ports: Ports,
    ) -> Result<Self, LiveError> {
        let LiveConfig { switch: mut switch_config, port_defaults, capture, follows_all } = config;
        let mut described = Vec::new();
        let unlisted_are_up = matches!(ports, Ports::Fixed(..));
        let (io, numbers): (Box<dyn PortIo>, Vec<u16>) = match ports {
            Ports::Interfaces(named) => {
                let open = |(port, name): &(u16, String)| {
                    let interface = Interface::open(*port, name, capture.as_deref())?;
                    described.push(format!("port {port}: {}", interface.describe()));
                    Ok::<_, IoError>((*port, interface))
                };
                let opened = named.iter().map(open).collect::<Result<Vec<_>, _>>()?;
                (Box::new(Interfaces::new(opened)?), named.iter().map(|(port, _)| *port).collect())
            }
            Ports::Fixed(io, numbers) => (io, numbers),
        };
        switch_config.ports = numbers.iter().map(|port| port_defaults.port(*port)).collect();
        // Without a program, nothing else checks the settings before one is loaded.
        switch_config.check()?;
        let switch = program.map(|program| Switch::new(program, switch_config.clone())).transpose()?;
        let cpu_port = switch_config.cpu_port;
        let clock = Clock::new(Instant::now());
        let engine = Engine::new(switch_config, switch, clock, unlisted_are_up, follows_all);
        let shared = Arc::new(Shared::new(engine, io, Poller::new()?));
        described.into_iter().for_each(|text| shared.events.push(text));
        Ok(Self {
            shared,
            port_defaults,
            capture,
            cpu_port,
            started: AtomicBool::new(false),
            thread: Mutex::default(),
        })
    }

    /// Starts to receive frames.
    pub fn start(&self) -> Result<(), LiveError> {
        if self.started.swap(true, Ordering::AcqRel) {
            return Err(LiveError::Running);
        }
        self.shared.io.lock().register(&self.shared.poller)?;
        let shared = Arc::clone(&self.shared);
        let body = move || {
            let _guard = EndGuard(&shared);
            if let Err(error) = run::run(&shared) {
                shared.events.push(format!("the switch stops: {error}"));
            }
        };
        let thread =
            std::thread::Builder::new().name("switch".into()).spawn(body).map_err(LiveError::Thread)?;
        *self.thread.lock() = Some(thread);
        Ok(())
    }

    /// Ends the loop, and writes pending output to files. May be called repeatedly.
    pub fn stop(&self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.poller.wake();
        if let Some(thread) = self.thread.lock().take() {
            // A loop that panicked has reported it on stderr.
            let _ = thread.join();
        }
        self.shared.ended.store(true, Ordering::Release);
    }

    /// Returns whether the loop has ended, through `stop` or by itself.
    pub fn has_ended(&self) -> bool {
        self.shared.ended.load(Ordering::Acquire)
    }

    /// Calls `call` with the switch, between two batches of frames.
    pub fn with<R>(&self, call: impl FnOnce(&mut Switch) -> R) -> Result<R, LiveError> {
        let result = self.shared.engine.lock().switch.as_mut().map(call).ok_or(LiveError::NoProgram);
        // The call may have opened a gate or made work due.
        self.shared.poller.wake();
        result
    }

    /// Calls [`LiveSwitch::with`] if that is possible without waiting; otherwise returns `None` without calling `call`.
    pub fn try_with<R>(&self, call: impl FnOnce(&mut Switch) -> R) -> Option<Result<R, LiveError>> {
        let result = self.shared.engine.try_lock()?.switch.as_mut().map(call).ok_or(LiveError::NoProgram);
        self.shared.poller.wake();
        Some(result)
    }

    /// Replaces the program and its state, as [`Switch::load_program`] does. The first program creates the switch.
    pub fn load_program(&self, program: Arc<Executable>) -> Result<(), LiveError> {
        let mut engine = self.shared.engine.lock();
        match &mut engine.switch {
            Some(switch) => switch.load_program(program)?,
            None => {
                engine.switch = Some(Switch::new(program, engine.config.clone())?);
                engine.tell_links();
            }
        }
        engine.follow();
        Ok(())
    }

    /// Returns the settings, with the present ports.
    pub fn config(&self) -> SwitchConfig {
        self.shared.engine.lock().config.clone()
    }

    /// Returns the pauses of the loop, in which frames wait at the ports, and the turns of control calls.
    pub fn turns(&self) -> &dyn Turns {
        &self.shared.engine
    }

    /// Returns the time of the switch's clock.
    pub fn now(&self) -> Time {
        self.shared.engine.lock().clock.at(Instant::now())
    }

    /// Sends a packet into the switch on the CPU port.
    pub fn packet_out(&self, packet: &[u8]) -> Result<(), LiveError> {
        let port = self.cpu_port.ok_or(LiveError::NoCpuPort)?;
        {
            let mut engine = self.shared.engine.lock();
            if engine.switch.is_none() {
                return Err(LiveError::NoProgram);
            }
            let now = engine.catch_up();
            engine.arrive(now, port, packet);
        }
        self.shared.poller.wake();
        Ok(())
    }

    /// Returns the packets that left on the CPU port.
    pub fn packet_ins(&self) -> &PacketIns {
        &self.shared.packet_ins
    }

    /// Adds a network interface to a switch whose ports are interfaces.
    pub fn add_port(&self, port: u16, name: &str) -> Result<(), LiveError> {
        let taken =
            |ports: &[PortInfo]| ports.iter().find(|info| info.port == port).map(|info| info.name.clone());
        if let Some(name) = taken(&self.shared.view.lock().0) {
            return Err(IoError::port_taken(port, &name).into());
        }
        let interface = Interface::open(port, name, self.capture.as_deref())?;
        let described = interface.describe();
        let added = self.port_defaults.port(port);
        {
            let mut engine = self.shared.engine.lock();
            if let Some(switch) = &mut engine.switch {
                switch.set_port(added.clone())?;
            }
            engine.config.ports.retain(|old| old.port != port);
            engine.config.ports.push(added);
        }
        let done = self.change(|io| io.add(port, interface));
        if done.is_err() {
            self.drop_port(port);
        } else {
            self.shared.events.push(format!("port {port}: {described}"));
        }
        done
    }

    /// Removes an interface.
    pub fn remove_port(&self, port: u16) -> Result<(), LiveError> {
        self.change(|io| io.remove(port))?;
        self.drop_port(port);
        Ok(())
    }

    fn drop_port(&self, port: u16) {
        let mut engine = self.shared.engine.lock();
        engine.config.ports.retain(|old| old.port != port);
        if let Some(switch) = &mut engine.switch {
            switch.remove_port(port);
        }
    }

    /// Changes the ports, between two batches of frames.
    fn change(&self, change: impl FnOnce(&mut dyn PortIo) -> Result<(), IoError>) -> Result<(), LiveError> {
        self.shared.poller.wake();
        let mut io = self.shared.io.lock();
        if self.has_ended() {
            return Err(LiveError::Stopped);
        }
        change(io.as_mut())?;
        io.register(&self.shared.poller)?;
        run::publish(&**io, &self.shared);
        Ok(())
    }

    /// Returns the ports with their interfaces or files, ordered by number, as last published.
    pub fn ports(&self) -> Vec<PortInfo> {
        self.shared.view.lock().0.clone()
    }

    /// Returns the counts at the ports, as last published, and those of the loop.
    pub fn counts(&self) -> LiveCounts {
        let io = self.shared.view.lock().1;
        let events_lost = self.shared.events.lost();
        let packets_in_lost = self.shared.packet_ins.lost();
        let engine = self.shared.engine.lock();
        LiveCounts {
            io,
            rx_no_program: engine.no_program,
            packets_in_lost,
            clock_held_back_us: engine.clock.held_back().as_micros() as u64,
            events_lost,
        }
    }

    /// Returns messages for users, such as interfaces that went down. If there are none, waits for one, up to `timeout`.
    pub fn take_events(&self, timeout: Duration) -> Vec<String> {
        self.shared.events.take(timeout)
    }
}

impl Drop for LiveSwitch {
    fn drop(&mut self) {
        self.stop();
    }
}
