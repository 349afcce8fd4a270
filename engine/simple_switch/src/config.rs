//! The settings of a switch, and the errors for settings that are refused.

use std::num::NonZeroU32;

use units::{Bytes, DataRate, Duration};

/// Ports are 9 bits wide in v1model: 0 to 511.
pub const PORT_COUNT: usize = 512;

/// v1model's `priority` field is 3 bits wide.
pub const MAX_PRIORITIES: usize = 8;

/// The quantum of each queue in bytes, by priority: what the queue may send at each of its turns in deficit-weighted
/// round robin with the other queues that have a quantum. Queues without a quantum are strict: those with a priority
/// above the highest quantum are served before the round robin, the others after it.
pub type Quanta = [Option<NonZeroU32>; MAX_PRIORITIES];

/// Settings of one switch. Only the ports can change later.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// Identifies the switch in its fabric; mixed into the seed so that equal switches draw different numbers.
    pub device_id: u64,
    /// Length of one tick of all timestamps that the program sees. BMv2 uses 1 us; 1 ns resolves EEE timings.
    pub tick: Duration,
    /// Port of the controller's packet-ins and packet-outs. It is attached without a rate, unless `ports` lists it.
    pub cpu_port: Option<u16>,
    /// The value of `egress_spec` that drops a packet. BMv2 and v1model: 511.
    pub drop_port: u16,
    /// Name of the register that holds, per port, the tick before which the port sends nothing (0: no gate). `None`:
    /// ports have no gate, and a program holds packets by recirculation.
    pub gate_register: Option<String>,
    /// Name of the register that holds, per queue, the tick before which the queue sends nothing (0: no gate). The cell
    /// of a queue is port << 3 | priority. A value more than 2^40 ticks ahead of the clock is past, and no gate. With
    /// this register, control frames leave before all queues, as from the MAC of IEEE 802.1Q-2022 clause 36: MAC
    /// control frames (EtherType 0x8808) first, then congestion notification messages (0x22E7).
    /// `None`: queues have no gates, and control frames are queued like all others.
    pub class_gate_register: Option<String>,
    /// Name of the register that holds, per queue as above, the tick at which the program runs without a packet (0:
    /// never). Ingress runs with `instance_type` 7, that `ingress_port` and `priority`, and a frame of 60 zeros, of
    /// which only clones leave. Each value causes one run, at the earliest a tick after it was set. `None`: no timers.
    pub timer_register: Option<String>,
    /// Seed of the program's `random()`; the same seed draws the same numbers.
    pub seed: u64,
    /// The clock's value at [`units::Time::ZERO`], in ticks. BMv2 starts at 0; with other values tests see timestamps
    /// wrap.
    pub clock_start: u64,
    /// Queues per port, 1 to 8. The highest priority is served first, unless a port has quanta. BMv2's default is 1.
    pub priorities: usize,
    /// Time from a recirculated packet's egress to its next ingress. It must be more than zero, so that time passes
    /// while a packet circulates. It is the resolution of a hold by recirculation.
    pub recirculation_delay: Duration,
    /// Maximum number of recirculations of a packet; one that exceeds it is dropped and counted. The longest hold by
    /// recirculation is this many recirculation delays.
    pub recirculation_limit: u32,
    /// The ports with a link.
    pub ports: Vec<PortConfig>,
}

impl Default for SwitchConfig {
    /// Returns a configuration with ticks of one microsecond and one queue per port as in BMv2, no ports, and no gate.
    fn default() -> Self {
        Self {
            device_id: 0,
            tick: Duration::from_us(1),
            cpu_port: None,
            drop_port: 511,
            gate_register: None,
            class_gate_register: None,
            timer_register: None,
            seed: 0,
            clock_start: 0,
            priorities: 1,
            recirculation_delay: Duration::from_us(1),
            recirculation_limit: 1 << 24,
            ports: Vec::new(),
        }
    }
}

/// One port and its link.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Number, 0 to 511.
    pub port: u16,
    /// Rate of the link; with `None`, frames take no time on the wire.
    pub rate: Option<DataRate>,
    /// Bytes added to each frame on the wire: preamble, FCS and inter-frame gap (24 for Ethernet).
    pub overhead: Bytes,
    /// Maximum number of packets waiting in one queue; `None`: as `Switch::set_queue_depth` set it, or no limit. BMv2: 64.
    pub queue_limit_packets: Option<usize>,
    /// Maximum number of bytes waiting in one queue; a packet that would exceed it is dropped and counted.
    pub queue_limit_bytes: Option<Bytes>,
    /// The quanta of the queues that share the link by weight. All `None`, as in BMv2: strict priority.
    pub quanta: Quanta,
}

impl PortConfig {
    /// Creates a port that sends without delay and queues without limit.
    pub fn unlimited(port: u16) -> Self {
        Self {
            port,
            rate: None,
            overhead: Bytes::ZERO,
            queue_limit_packets: None,
            queue_limit_bytes: None,
            quanta: [None; MAX_PRIORITIES],
        }
    }

    /// Creates a port with a link of `rate`, Ethernet's 24 bytes of overhead and no queue limit.
    pub fn ethernet(port: u16, rate: DataRate) -> Self {
        Self { rate: Some(rate), overhead: Bytes::new(24), ..Self::unlimited(port) }
    }
}

/// Why settings of a switch or of a port are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// With a tick of zero, all packets would have the same time.
    #[error("tick: must be more than zero; use 1us as BMv2, or 1ns")]
    ZeroTick,
    /// See [`SwitchConfig::recirculation_delay`].
    #[error(
        "recirculation_delay: must be more than zero, or a held packet would circulate without time passing"
    )]
    ZeroRecirculationDelay,
    /// See [`SwitchConfig::priorities`].
    #[error("priorities: {0} queues per port; v1model's priority field allows 1 to {MAX_PRIORITIES}")]
    Priorities(usize),
    /// The switch has no queue of this priority.
    #[error("priority {priority}: the switch has {priorities} queues per port, from 0")]
    NoSuchPriority {
        /// The given priority.
        priority: usize,
        /// The number of queues per port.
        priorities: usize,
    },
    /// A quantum is given for a queue that the switch does not have.
    #[error(
        "port {port}: a quantum for priority {priority}; the switch has {priorities} queues per port, from 0"
    )]
    QuantumOfNoQueue {
        /// The port.
        port: u16,
        /// The given priority.
        priority: usize,
        /// The number of queues per port.
        priorities: usize,
    },
    /// The number does not fit v1model's port fields.
    #[error("{role} {port}: v1model's ports go from 0 to {max}", max = PORT_COUNT - 1)]
    PortRange {
        /// The setting that names the port.
        role: &'static str,
        /// The given number.
        port: u16,
    },
    /// The CPU port is the drop port.
    #[error(
        "cpu_port {0}: is the drop port, to which nothing is sent; choose another number or another drop_port"
    )]
    CpuPortIsDropPort(u16),
    /// The list contains a port twice.
    #[error("port {0}: given twice")]
    DuplicatePort(u16),
    /// The program has no such register.
    #[error("{option} {name:?}: the program has no register of this name; leave it out to {without}")]
    NoRegister {
        /// The option that names the register.
        option: &'static str,
        /// The name.
        name: String,
        /// The behaviour without it.
        without: &'static str,
    },
    /// The register has too few cells for the ports.
    #[error("{option} {name:?}: has {cells} cells, but {lack}")]
    RegisterTooSmall {
        /// The option that names the register.
        option: &'static str,
        /// The register.
        name: String,
        /// Its number of cells.
        cells: usize,
        /// The port that needs more.
        lack: String,
    },
    /// The program lacks a field that simple_switch requires.
    #[error(
        "program: has no field {0}, which simple_switch requires; compile it for v1model with p4c-bm2-ss"
    )]
    MissingField(&'static str),
    /// The program lacks a pipeline, parser or deparser.
    #[error("program: has no {0}, which simple_switch requires; compile it for v1model with p4c-bm2-ss")]
    MissingStage(&'static str),
}

impl SwitchConfig {
    /// Checks everything that does not depend on the program.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.tick.is_zero() {
            return Err(ConfigError::ZeroTick);
        }
        if self.recirculation_delay.is_zero() {
            return Err(ConfigError::ZeroRecirculationDelay);
        }
        if !(1..=MAX_PRIORITIES).contains(&self.priorities) {
            return Err(ConfigError::Priorities(self.priorities));
        }
        if usize::from(self.drop_port) >= PORT_COUNT {
            return Err(ConfigError::PortRange { role: "drop_port", port: self.drop_port });
        }
        if let Some(port) = self.cpu_port {
            check_port("cpu_port", port)?;
            if port == self.drop_port {
                return Err(ConfigError::CpuPortIsDropPort(port));
            }
        }
        let mut seen = [false; PORT_COUNT];
        for port in &self.ports {
            check_quanta(port, self.priorities)?;
            let PortConfig { port, .. } = port;
            check_port("port", *port)?;
            if std::mem::replace(&mut seen[usize::from(*port)], true) {
                return Err(ConfigError::DuplicatePort(*port));
            }
        }
        Ok(())
    }
}

/// Checks that every quantum belongs to a queue of the switch.
pub(crate) fn check_quanta(port: &PortConfig, priorities: usize) -> Result<(), ConfigError> {
    match port.quanta.iter().rposition(Option::is_some) {
        Some(priority) if priority >= priorities => {
            Err(ConfigError::QuantumOfNoQueue { port: port.port, priority, priorities })
        }
        _ => Ok(()),
    }
}

/// Checks that `port` may have a link. As in BMv2, the drop port may have one: it receives frames, and sends the copies
/// that multicast groups and clone sessions send there.
pub(crate) fn check_port(role: &'static str, port: u16) -> Result<(), ConfigError> {
    if usize::from(port) >= PORT_COUNT {
        return Err(ConfigError::PortRange { role, port });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut SwitchConfig)) -> Result<(), ConfigError> {
        let mut config = SwitchConfig::default();
        change(&mut config);
        config.check()
    }

    #[test]
    fn the_default_is_accepted() {
        assert_eq!(with(|_| ()), Ok(()));
    }

    #[test]
    fn settings_that_would_stop_time_are_refused() {
        assert_eq!(with(|c| c.tick = Duration::ZERO), Err(ConfigError::ZeroTick));
        assert_eq!(
            with(|c| c.recirculation_delay = Duration::ZERO),
            Err(ConfigError::ZeroRecirculationDelay)
        );
    }

    #[test]
    fn ports_outside_v1models_range_or_given_twice_are_refused_by_number() {
        let port = PortConfig::unlimited;
        assert_eq!(
            with(|c| c.ports = vec![port(512)]).unwrap_err().to_string(),
            "port 512: v1model's ports go from 0 to 511"
        );
        assert_eq!(with(|c| c.ports = vec![port(511)]), Ok(()));
        assert_eq!(with(|c| c.ports = vec![port(3), port(3)]), Err(ConfigError::DuplicatePort(3)));
        assert_eq!(with(|c| c.cpu_port = Some(511)), Err(ConfigError::CpuPortIsDropPort(511)));
        assert_eq!(with(|c| c.priorities = 9), Err(ConfigError::Priorities(9)));
        let mut quanta = [None; MAX_PRIORITIES];
        quanta[2] = NonZeroU32::new(1500);
        let with_queues =
            |count| with(|c| (c.priorities, c.ports) = (count, vec![PortConfig { quanta, ..port(3) }]));
        assert_eq!(with_queues(3), Ok(()));
        assert_eq!(
            with_queues(2).unwrap_err().to_string(),
            "port 3: a quantum for priority 2; the switch has 2 queues per port, from 0"
        );
    }
}
