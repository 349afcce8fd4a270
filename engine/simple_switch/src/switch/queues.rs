//! Enqueueing of packets, and the depths and rates of queues, which can be set while the switch runs.
//!
//! Depths and rates have BMv2's names and units: packets, and packets per second of any size. They persist when another
//! program is loaded.

use units::Duration;

use super::Switch;
use crate::config::{check_port, refuse, ConfigError, PORT_COUNT};
use crate::journey::What;
use crate::packet::PacketId;
use crate::stats::DropCause;
use crate::traffic_manager::{MAC_CONTROL, MESSAGES};

const PS_PER_SECOND: u64 = 1_000_000_000_000;

/// Returns the queue of a control frame: a MAC control frame (IEEE 802.3 clause 31) or a congestion notification
/// message (IEEE 802.1Q-2022 table 30-1). `None` for all other frames.
#[inline]
fn control_queue(frame: &[u8]) -> Option<usize> {
    match frame.get(12..14)? {
        [0x88, 0x08] => Some(MAC_CONTROL),
        [0x22, 0xE7] => Some(MESSAGES),
        _ => None,
    }
}

/// Returns the minimum time between two packets; zero for a rate of 0, which means no limit.
fn spacing(rate_pps: u64) -> Duration {
    if rate_pps == 0 {
        return Duration::ZERO;
    }
    Duration::from_ps(PS_PER_SECOND.div_ceil(rate_pps))
}

impl Switch {
    /// Puts a packet into the queue of a port, by its priority.
    pub(super) fn enqueue<const WATCHED: bool>(&mut self, id: PacketId, port: u64) {
        // A port number beyond `u16` is counted as `u16::MAX`.
        let port = u16::try_from(port).unwrap_or(u16::MAX);
        if usize::from(port) >= PORT_COUNT {
            return self.drop_packet(id, port, DropCause::NoSuchPort);
        }
        let (packet, phv) = self.packets.open(id);
        let priority = self.v1model.priority.map_or(0, |field| phv.get(field)) as usize;
        if priority >= self.config.priorities {
            return self.drop_packet(id, port, DropCause::PriorityOutOfRange);
        }
        let control = if self.gates.class.is_some() { control_queue(&packet.frame) } else { None };
        let queue = control.unwrap_or(priority);
        if let Some(fields) = &self.v1model.queueing {
            phv.set(fields.enq_timestamp, self.clock.ticks(self.now));
            phv.set(fields.enq_qdepth, self.tm.depth(port, queue) as u64);
        }
        // The bytes that `truncate` removes never reach the wire.
        let bytes = u32::try_from(phv.packet_length.min(packet.truncate_to)).unwrap_or(u32::MAX);
        if self.tm.enqueue(port, queue, id, bytes, self.now).is_err() {
            return self.drop_packet(id, port, DropCause::QueueFull);
        }
        let is_here =
            |first: crate::packet::QueuePosition| first.port == port && usize::from(first.queue) == queue;
        if !packet.first_position.is_some_and(is_here) {
            packet.first_position = Some(self.tm.next_position(port, queue));
        }
        self.packets.set_queued(id);
        if WATCHED {
            self.note(id, |switch| What::Queued {
                port,
                priority,
                packets_ahead: switch.tm.depth(port, queue) - 1,
                bytes_ahead: switch.tm.queue_bytes(port).get() - u64::from(bytes),
                gate_opens: switch.gate_opens(port),
                pause_ends: switch.pause_ends(port, priority),
                wire_free: switch.tm.wire_free(port),
            });
        }
        self.schedule_arrival(port);
    }

    /// Sets the maximum number of packets in a queue: of one priority or of all, of one port or of all. Given for all, it also
    /// holds for ports attached later without their own limit. Waiting packets beyond it stay.
    pub fn set_queue_depth(
        &mut self,
        port: Option<u16>,
        priority: Option<usize>,
        packets: usize,
    ) -> Result<(), ConfigError> {
        self.check_queue(port, priority)?;
        self.tm.set_depth(port, priority, packets);
        Ok(())
    }

    /// Sets the rate of a queue, chosen likewise, in packets per second; 0: no limit. The link's rate also applies, and a
    /// port with several priorities may send a multiple of it.
    pub fn set_queue_rate(
        &mut self,
        port: Option<u16>,
        priority: Option<usize>,
        rate_pps: u64,
    ) -> Result<(), ConfigError> {
        self.check_queue(port, priority)?;
        self.tm.set_spacing(port, priority, spacing(rate_pps));
        Ok(())
    }

    fn check_queue(&self, port: Option<u16>, priority: Option<usize>) -> Result<(), ConfigError> {
        port.map_or(Ok(()), |port| check_port("port", port))?;
        let priorities = self.config().priorities;
        match priority.filter(|priority| *priority >= priorities) {
            Some(priority) => {
                refuse(format!("priority {priority}: the switch has {priorities} queues per port, from 0"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_never_exceeded_by_rounding() {
        assert_eq!(spacing(1_000_000), Duration::from_us(1));
        assert_eq!(spacing(3).as_ps(), 333_333_333_334);
        assert_eq!(spacing(u64::MAX).as_ps(), 1);
        assert!(spacing(0).is_zero());
    }
}
