//! The counters of an endpoint.

/// Counts since the start of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent, of any kind.
    pub segments: u64,
    /// Segments sent with payload, including retransmissions.
    pub data_segments: u64,
    /// Segments retransmitted, including FINs but not SYNs.
    pub retransmitted_segments: u64,
    /// Payload bytes in retransmitted segments.
    pub retransmitted_bytes: u64,
    /// Recoveries begun by duplicate ACKs (RFC 5681, 3.2; RFC 6675, 5).
    pub fast_recoveries: u64,
    /// Expirations of the retransmission timer, including for SYNs (RFC 6298, 5.4).
    pub timeouts: u64,
    /// Of these, those before the connection was established.
    pub syn_timeouts: u64,
    /// Timeouts that turned out to be spurious (RFC 5682, 3).
    pub spurious_timeouts: u64,
    /// Reductions for a loss that were undone because the peer reported each retransmission as a duplicate (RFC 3708, 2).
    pub spurious_recoveries: u64,
    /// Segments that the peer reported as duplicates (RFC 2883).
    pub duplicates_reported: u64,
    /// Reductions of the window for an ECN mark (RFC 3168, 6.1.2).
    pub mark_reductions: u64,
    /// Tail loss probes sent (RFC 8985, 7).
    pub tail_probes: u64,
    /// Window probes sent (RFC 9293, 3.8.6.1).
    pub window_probes: u64,
    /// Segments received.
    pub segments_received: u64,
    /// Of these, those marked CE.
    pub ce_received: u64,
}
