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

/// One port and its link. The default is port 0, which sends without delay and queues without limit.
#[derive(Clone, Debug, Default)]
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
        Self { port, ..Self::default() }
    }

    /// Creates a port with a link of `rate`, Ethernet's 24 bytes of overhead and no queue limit.
    pub fn ethernet(port: u16, rate: DataRate) -> Self {
        Self { rate: Some(rate), overhead: Bytes::new(24), ..Self::unlimited(port) }
    }
}

/// Why settings of a switch or of a port are refused: the setting, its value, the limit and the next step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

pub(crate) fn refuse<T>(reason: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError(reason.into()))
}

impl SwitchConfig {
    /// Checks everything that does not depend on the program.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.tick.is_zero() {
            return refuse("tick: must be more than zero; use 1us as BMv2, or 1ns");
        }
        if self.recirculation_delay.is_zero() {
            return refuse(
                "recirculation_delay: must be more than zero, or a held packet would circulate without time passing",
            );
        }
        if !(1..=MAX_PRIORITIES).contains(&self.priorities) {
            return refuse(format!(
                "priorities: {} queues per port; v1model's priority field allows 1 to {MAX_PRIORITIES}",
                self.priorities
            ));
        }
        check_port("drop_port", self.drop_port)?;
        if let Some(port) = self.cpu_port {
            check_port("cpu_port", port)?;
            if port == self.drop_port {
                return refuse(format!(
                    "cpu_port {port}: is the drop port, to which nothing is sent; choose another number or another drop_port"
                ));
            }
        }
        let mut seen = [false; PORT_COUNT];
        for port in &self.ports {
            check_quanta(port, self.priorities)?;
            let PortConfig { port, .. } = port;
            check_port("port", *port)?;
            if std::mem::replace(&mut seen[usize::from(*port)], true) {
                return refuse(format!("port {port}: given twice"));
            }
        }
        Ok(())
    }
}

/// Checks that every quantum belongs to a queue of the switch.
pub(crate) fn check_quanta(port: &PortConfig, priorities: usize) -> Result<(), ConfigError> {
    match port.quanta.iter().rposition(Option::is_some) {
        Some(priority) if priority >= priorities => refuse(format!(
            "port {}: a quantum for priority {priority}; the switch has {priorities} queues per port, from 0",
            port.port
        )),
        _ => Ok(()),
    }
}

/// Checks that the number fits v1model's port fields. As in BMv2, the drop port may have a link: it receives frames, and
/// sends the copies that multicast groups and clone sessions send there.
pub(crate) fn check_port(role: &'static str, port: u16) -> Result<(), ConfigError> {
    if usize::from(port) >= PORT_COUNT {
        return refuse(format!("{role} {port}: v1model's ports go from 0 to {}", PORT_COUNT - 1));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_be_are_refused_by_name_value_and_limit() {
        let refused = |change: &dyn Fn(&mut SwitchConfig)| {
            let mut config = SwitchConfig { priorities: 3, ..SwitchConfig::default() };
            change(&mut config);
            config.check().map_or_else(|error| error.to_string(), |()| String::new())
        };
        let port = PortConfig::unlimited;
        let mut weighted = port(3);
        weighted.quanta[2] = NonZeroU32::new(1500);
        assert_eq!(refused(&|_| ()), "");
        assert_eq!(refused(&|c| c.ports = vec![port(511), weighted.clone()]), "");
        let tick = "tick: must be more than zero; use 1us as BMv2, or 1ns";
        assert_eq!(refused(&|c| c.tick = Duration::ZERO), tick);
        assert!(
            refused(&|c| c.recirculation_delay = Duration::ZERO).starts_with("recirculation_delay: must be")
        );
        assert_eq!(refused(&|c| c.ports = vec![port(512)]), "port 512: v1model's ports go from 0 to 511");
        assert_eq!(refused(&|c| c.drop_port = 512), "drop_port 512: v1model's ports go from 0 to 511");
        assert_eq!(refused(&|c| c.ports = vec![port(3), port(3)]), "port 3: given twice");
        assert!(refused(&|c| c.cpu_port = Some(511)).starts_with("cpu_port 511: is the drop port"));
        assert!(refused(&|c| c.priorities = 9).starts_with("priorities: 9 queues per port"));
        assert_eq!(
            refused(&|c| (c.priorities, c.ports) = (2, vec![weighted.clone()])),
            "port 3: a quantum for priority 2; the switch has 2 queues per port, from 0"
        );
    }
}
