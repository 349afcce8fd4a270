//! What a switch is told when it is made, and what is refused.

use std::num::NonZeroU32;

use units::{Bytes, DataRate, Duration};

/// Ports are 9 bits wide in v1model: 0 to 511.
pub const PORT_COUNT: usize = 512;

/// v1model's `priority` field is 3 bits wide.
pub const MAX_PRIORITIES: usize = 8;

/// By priority the quantum of a queue, in bytes: what it may send at each of its turns with the other queues that have one, in
/// deficit-weighted round robin. Queues without one are strict. They are served before the others where their priority is above the highest with a quantum,
/// and after them otherwise.
pub type Quanta = [Option<NonZeroU32>; MAX_PRIORITIES];

/// Settings of one switch, fixed for its life except for the ports.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// Tells the switches of a fabric apart; mixed into the seed so that equal switches draw different numbers.
    pub device_id: u64,
    /// Length of one tick of every timestamp the program sees. BMv2's is 1 us; 1 ns resolves EEE timings.
    pub tick: Duration,
    /// Port of the controller's packet-ins and packet-outs. Attached by itself, without a rate, unless `ports`
    /// names it.
    pub cpu_port: Option<u16>,
    /// A packet whose `egress_spec` is this is dropped. BMv2 and v1model: 511.
    pub drop_port: u16,
    /// Name of the register that holds, per port, the tick before which the port sends nothing (0: no gate).
    /// `None`: ports have no gate, and a program that holds packets does so by recirculation.
    pub gate_register: Option<String>,
    /// Name of the register that holds, per queue, the tick before which the queue sends nothing (0: no gate). The cell of
    /// a queue is port << 3 | priority. A value 2^40 ticks or more ahead of the clock is long past, and no gate.
    /// With it control frames leave before every queue, as from the MAC of IEEE 802.1Q-2022 clause 36: frames of MAC control
    /// (EtherType 0x8808), then congestion notification messages (0x22E7).
    /// `None`: queues have no gates of their own, and no frame is told from another.
    pub class_gate_register: Option<String>,
    /// Name of the register that holds, per queue as above, the tick at which the program is to run without a packet (0: never): ingress,
    /// with `instance_type` 7, that `ingress_port` and `priority`, and a frame of 60 zeros of which nothing leaves but clones. It runs once
    /// for a value, a tick after it was set or later. `None`: no timers.
    pub timer_register: Option<String>,
    /// Seed of the program's `random()`; the same seed draws the same numbers.
    pub seed: u64,
    /// What the switch's clock shows at [`units::Time::ZERO`], in ticks. BMv2 starts at 0; other values let
    /// tests see timestamps wrap.
    pub clock_start: u64,
    /// Queues per port, 1 to 8; the highest number is served first, unless a port has quanta. BMv2's default is 1.
    pub priorities: usize,
    /// Time from a recirculated packet's egress to its next ingress. More than zero, so that a packet that
    /// circulates while it waits lets time pass. A hold by recirculation is this exact and no better.
    pub recirculation_delay: Duration,
    /// A packet that recirculates more often than this is dropped and counted. The longest hold that
    /// recirculation can give is this many recirculation delays.
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
    /// Number, 0 to 511, not the drop port.
    pub port: u16,
    /// Speed of the link; `None` sends without delay.
    pub rate: Option<DataRate>,
    /// Added to each frame's length for its time on the wire: preamble, FCS and inter-frame gap (24 for Ethernet).
    pub overhead: Bytes,
    /// Maximum number of packets waiting in one queue (one priority); `None` is without limit. BMv2: 64.
    pub queue_limit_packets: Option<usize>,
    /// Maximum number of bytes waiting in one queue; a packet that would exceed it is dropped and counted.
    pub queue_limit_bytes: Option<Bytes>,
    /// Which of its queues share the link by weight. All `None`, as in BMv2: strict priority.
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

/// Why a switch cannot be made, or a port not be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A tick without length would put every packet at the same time, for ever.
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
    /// A queue that the switch was not made with.
    #[error("priority {priority}: the switch has {priorities} queues per port, from 0")]
    NoSuchPriority {
        /// The number given.
        priority: usize,
        /// How many there are.
        priorities: usize,
    },
    /// A quantum of a queue that the switch was not made with.
    #[error(
        "port {port}: a quantum for priority {priority}; the switch has {priorities} queues per port, from 0"
    )]
    QuantumOfNoQueue {
        /// The port.
        port: u16,
        /// The number given.
        priority: usize,
        /// How many queues there are.
        priorities: usize,
    },
    /// The number does not fit v1model's port fields.
    #[error("{role} {port}: v1model's ports go from 0 to {max}", max = PORT_COUNT - 1)]
    PortRange {
        /// What the port is for.
        role: &'static str,
        /// The number given.
        port: u16,
    },
    /// One port, two purposes.
    #[error(
        "cpu_port {0}: is the drop port, to which nothing is sent; choose another number or another drop_port"
    )]
    CpuPortIsDropPort(u16),
    /// The list names a port twice.
    #[error("port {0}: given twice")]
    DuplicatePort(u16),
    /// The program has no such register.
    #[error("{option} {name:?}: the program has no register of this name; leave it out to {without}")]
    NoRegister {
        /// What names the register.
        option: &'static str,
        /// The name.
        name: String,
        /// What happens without it.
        without: &'static str,
    },
    /// The register has its cells for each port, or it cannot be theirs.
    #[error("{option} {name:?}: has {cells} cells, but {lack}")]
    RegisterTooSmall {
        /// What names the register.
        option: &'static str,
        /// The register.
        name: String,
        /// Its size.
        cells: usize,
        /// Which port needs more.
        lack: String,
    },
    /// A field that simple_switch cannot work without.
    #[error(
        "program: has no field {0}, which simple_switch requires; compile it for v1model with p4c-bm2-ss"
    )]
    MissingField(&'static str),
    /// A pipeline, parser or deparser is not there.
    #[error("program: has no {0}, which simple_switch requires; compile it for v1model with p4c-bm2-ss")]
    MissingStage(&'static str),
}

impl SwitchConfig {
    /// Checks what can be checked without the program.
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

/// Checks that only queues of the switch have a quantum.
pub(crate) fn check_quanta(port: &PortConfig, priorities: usize) -> Result<(), ConfigError> {
    match port.quanta.iter().rposition(Option::is_some) {
        Some(priority) if priority >= priorities => {
            Err(ConfigError::QuantumOfNoQueue { port: port.port, priority, priorities })
        }
        _ => Ok(()),
    }
}

/// Checks that `port` may have a link. The drop port's number may, as in BMv2: frames come in there, and what
/// multicast and clone sessions send there goes out.
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
