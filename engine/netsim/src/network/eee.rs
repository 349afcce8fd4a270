//! The EEE hold state machine of one transmitter in plain Rust. It decides when a queue may send, given that its PHY
//! sleeps whenever it is idle and that packets may be collected while it sleeps.
//!
//! This is the P4 program's state machine, step by step, in the program's unit (ticks of any clock) and with the
//! program's register names. Host NICs run it; tests compare the program and the PHY with it. Two things differ: times
//! are 64 bits wide and never wrap, and tickets are not needed, because a queue keeps its own order.
//!
//! ```text
//! admitted at t, queue empty and wire idle since busy_until:
//!   t - busy_until < stall  -> still awake: ACTIVE
//!   otherwise s = busy_until + stall, a = s + sleep (asleep_at)
//!     hold = 0              -> WAKE, wake_start = max(t, a),        gate = wake_start + wake
//!     hold > 0              -> HOLD, wake_start = max(t + hold, a), gate = wake_start + wake, held = 1
//! admitted at t in HOLD     -> held += 1; when a trigger is reached:
//!                              WAKE, wake_start = min(wake_start, max(t, a)), gate = wake_start + wake
//! first departure (t >= gate) -> ACTIVE, lpi_ticks += wake_start - a, wakes += 1, no gate
//! every departure           -> busy_until = max(busy_until, t) + wire ticks of the frame
//! ```

/// Settings, as in the action `eee` of the table `port_eee`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EeeParams {
    /// Ts in ticks.
    pub sleep_ticks: u64,
    /// Tw in ticks.
    pub wake_ticks: u64,
    /// Idle ticks before the PHY goes to sleep; 0: at once.
    pub stall_ticks: u64,
    /// Maximum ticks for which the first packet is held; 0 is standard EEE, without coalescing.
    pub hold_ticks: u64,
    /// Held packets that end the hold; 0 disables this trigger.
    pub trigger_packets: u32,
    /// Held frame bytes that end the hold; 0 disables this trigger.
    pub trigger_bytes: u32,
    /// Ticks per byte on the wire, times 2^24.
    pub ticks_per_byte_q24: u64,
    /// Bytes added to a frame for its time on the wire.
    pub overhead_bytes: u16,
}

impl EeeParams {
    /// Returns the ticks of a frame on the wire, rounded down as in the program.
    #[inline]
    pub fn wire_ticks(&self, frame_bytes: u32) -> u64 {
        let bytes = u128::from(frame_bytes) + u128::from(self.overhead_bytes);
        ((bytes * u128::from(self.ticks_per_byte_q24)) >> 24) as u64
    }

    /// Returns whether this many packets or bytes end a hold.
    #[inline]
    fn is_triggered(&self, packets: u32, bytes: u32) -> bool {
        let enough = |held: u32, trigger: u32| trigger != 0 && held >= trigger;
        enough(packets, self.trigger_packets) || enough(bytes, self.trigger_bytes)
    }
}

/// The state of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EeeState {
    /// Nothing is held back. This includes an idle machine: the sleep of its PHY is computed when a packet arrives.
    #[default]
    Active,
    /// Packets are collected until the timer or a trigger.
    Hold,
    /// The PHY is waking, or will wake when its sleep transition is over; the gate is fixed.
    Wake,
}

/// The state of one transmitter, with the names of the program's registers.
#[derive(Clone, Debug, Default)]
pub struct Eee {
    params: EeeParams,
    state: EeeState,
    /// When the wire becomes idle. 0 at the start: idle since the clock began.
    busy_until: u64,
    /// The tick before which nothing leaves; 0: the gate is open.
    gate_open_at: u64,
    wake_start: u64,
    asleep_at: u64,
    held_packets: u32,
    held_bytes: u32,
    lpi_ticks: u64,
    wakes: u64,
}

impl Eee {
    /// Creates a machine whose wire has been idle since tick 0.
    pub fn new(params: EeeParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// Admits a packet of `frame_bytes` to the queue at `t`; `queue_empty` says whether it found the queue empty.
    #[inline]
    pub fn admit(&mut self, t: u64, frame_bytes: u32, queue_empty: bool) {
        match self.state {
            EeeState::Hold => self.join_hold(t, frame_bytes),
            EeeState::Wake => {}
            EeeState::Active => {
                let awake = t < self.busy_until.saturating_add(self.params.stall_ticks);
                if queue_empty && !awake {
                    self.start(t, frame_bytes);
                }
            }
        }
    }

    /// Handles a packet that finds the PHY asleep, or in transition to sleep: it wakes the PHY, or begins a hold.
    fn start(&mut self, t: u64, frame_bytes: u32) {
        let EeeParams { sleep_ticks, wake_ticks, stall_ticks, hold_ticks, .. } = self.params;
        self.asleep_at = self.busy_until + stall_ticks + sleep_ticks;
        // If the first packet reaches a trigger, there is nothing to wait for.
        if hold_ticks == 0 || self.params.is_triggered(1, frame_bytes) {
            self.state = EeeState::Wake;
            self.wake_start = t.max(self.asleep_at);
        } else {
            self.state = EeeState::Hold;
            self.wake_start = t.saturating_add(hold_ticks).max(self.asleep_at);
            self.held_packets = 1;
            self.held_bytes = frame_bytes;
        }
        self.gate_open_at = self.wake_start.saturating_add(wake_ticks);
    }

    fn join_hold(&mut self, t: u64, frame_bytes: u32) {
        self.held_packets = self.held_packets.saturating_add(1);
        self.held_bytes = self.held_bytes.saturating_add(frame_bytes);
        if self.params.is_triggered(self.held_packets, self.held_bytes) {
            self.state = EeeState::Wake;
            // After the timer has expired this changes nothing: the gate only ever moves earlier.
            self.wake_start = self.wake_start.min(t.max(self.asleep_at));
            self.gate_open_at = self.wake_start.saturating_add(self.params.wake_ticks);
        }
    }

    /// Sends a packet of `frame_bytes` from the queue to the wire at `t`.
    ///
    /// # Panics
    /// If the gate is closed at `t`.
    #[inline]
    pub fn depart(&mut self, t: u64, frame_bytes: u32) {
        self.open(t);
        self.busy_until = self.busy_until.max(t) + self.params.wire_ticks(frame_bytes);
    }

    /// Drops a packet that was to leave at `t`: it takes no time on the wire.
    ///
    /// # Panics
    /// If the gate is closed at `t`.
    #[inline]
    pub fn discard(&mut self, t: u64) {
        self.open(t);
        self.busy_until = self.busy_until.max(t);
    }

    #[inline]
    fn open(&mut self, t: u64) {
        assert!(
            t >= self.gate_open_at,
            "a packet leaves at tick {t}, before the gate at {}",
            self.gate_open_at
        );
        if self.state != EeeState::Active {
            self.lpi_ticks += self.wake_start - self.asleep_at;
            self.wakes += 1;
            self.state = EeeState::Active;
            self.gate_open_at = 0;
            self.held_packets = 0;
            self.held_bytes = 0;
        }
    }

    /// Returns the tick before which nothing may leave; 0: the gate is open.
    #[inline]
    pub fn gate_open_at(&self) -> u64 {
        self.gate_open_at
    }

    /// Returns the state of the machine.
    pub fn state(&self) -> EeeState {
        self.state
    }

    /// Returns when the wire becomes idle.
    pub fn busy_until(&self) -> u64 {
        self.busy_until
    }

    /// Returns the number of packets collected by this hold.
    pub fn held_packets(&self) -> u32 {
        self.held_packets
    }

    /// Returns the machine's own account of time in low-power idle, over finished sleeps.
    pub fn lpi_ticks(&self) -> u64 {
        self.lpi_ticks
    }

    /// Returns the number of wakes.
    pub fn wakes(&self) -> u64 {
        self.wakes
    }
}
