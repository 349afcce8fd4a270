//! The transmitter of a NIC: the rate of its link, and the EEE hold of its PHY, whose clock ticks in picoseconds.

use units::{Bytes, DataRate, Duration, Time};

use crate::network::eee::{Eee, EeeParams, EeeState};

/// The transmitter of one NIC.
pub(super) struct Transmitter {
    pub(super) rate: DataRate,
    /// Bytes added to a frame for its time on the wire.
    pub(super) overhead: Bytes,
    pub(super) eee: Option<Eee>,
    /// When the wire becomes free.
    free_at: Time,
    /// Since when the last frame that left could have left without a pause or its limiter, had it waited.
    pub(super) ready: Time,
}

impl Transmitter {
    /// Returns a transmitter. `eee` needs no `ticks_per_byte_q24` and `overhead_bytes`: they follow from the link.
    pub(super) fn new(rate: DataRate, overhead: Bytes, eee: Option<EeeParams>) -> Self {
        const PS_PER_BYTE_AT_1_BPS: u128 = 8_000_000_000_000;
        let ticks_per_byte_q24 = (PS_PER_BYTE_AT_1_BPS << 24) / u128::from(rate.as_bps());
        let of_link = |eee| EeeParams {
            ticks_per_byte_q24: u64::try_from(ticks_per_byte_q24).unwrap_or(u64::MAX),
            overhead_bytes: u16::try_from(overhead.get()).unwrap_or(u16::MAX),
            ..eee
        };
        let eee = eee.map(|eee| Eee::new(of_link(eee)));
        Self { rate, overhead, eee, free_at: Time::ZERO, ready: Time::ZERO }
    }

    /// Returns whether the PHY neither sleeps nor holds frames.
    pub(super) fn is_awake(&self) -> bool {
        self.eee.as_ref().is_none_or(|eee| eee.state() == EeeState::Active)
    }

    /// Returns when the wire is free and the PHY is awake.
    #[inline]
    pub(super) fn opens_at(&self) -> Time {
        let gate = Time::from_ps(self.eee.as_ref().map_or(0, Eee::gate_open_at));
        self.free_at.max(gate)
    }

    /// Returns the time since the last transmission.
    pub(super) fn idle(&self, now: Time) -> Duration {
        now.saturating_since(self.free_at)
    }

    /// Notes that a frame waits from now on; `is_first` says whether it is the only one.
    #[inline]
    pub(super) fn admit(&mut self, now: Time, wire_len: u32, is_first: bool) {
        if let Some(eee) = &mut self.eee {
            eee.admit(now.as_ps(), wire_len, is_first);
        }
    }

    /// Notes that a frame is dropped at departure.
    pub(super) fn discard(&mut self, now: Time) {
        if let Some(eee) = &mut self.eee {
            eee.discard(now.as_ps());
        }
    }

    /// Sends a frame. Returns its time on the wire.
    #[inline]
    pub(super) fn send(&mut self, now: Time, wire_len: u32) -> Duration {
        assert!(now >= self.free_at, "a NIC sends while its wire is busy");
        self.ready = self.free_at;
        if let Some(eee) = &mut self.eee {
            self.ready = self.ready.max(Time::from_ps(eee.gate_open_at()));
            eee.depart(now.as_ps(), wire_len);
        }
        let wire_time = self.rate.transmit_time(Bytes::new(wire_len.into()) + self.overhead);
        self.free_at = now + wire_time;
        wire_time
    }
}
