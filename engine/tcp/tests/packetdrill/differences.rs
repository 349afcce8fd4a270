//! Scripts of github.com/google/packetdrill in which Linux does something else than our endpoints, and why.

/// The end of a script's path, and the reason.
pub const DIFFERENCES: [(&str, &str); 13] = [
    ("cubic/cubic-bulk-166k-idle-restart.pkt", HYSTART),
    ("cubic/cubic-bulk-166k.pkt", HYSTART),
    (
        "cubic/cubic-rto-ss-ca-cwnd-bump.pkt",
        "CUBIC's ssthresh follows the flight (RFC 9438, 4.6); Linux takes cwnd",
    ),
    (
        "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700.pkt",
        "Linux reduces for a mark by PRR, too",
    ),
    (
        "fast_recovery/prr-ss-ack-below-snd_una-cubic.pkt",
        "Linux looks at the SACK blocks of an ACK below SND.UNA, too",
    ),
    (
        "fast_retransmit/fr-4pkt-fack-last-byte.pkt",
        "Linux splits a segment of which the peer holds a part, and goes on probing",
    ),
    (
        "fast_retransmit/fr-4pkt-fack-last-mss.pkt",
        "a quarter of the round-trip time is 25 ms; Linux' timer takes 40 ms for it",
    ),
    ("limited_transmit/limited-transmit-no-sack.pkt", DISORDER),
    ("limited_transmit/limited-transmit-sack.pkt", DISORDER),
    (
        "slow_start/slow-start-after-win-update.pkt",
        "Linux probes a closed window with an old byte, RFC 9293, 3.8.6.1 with a new one",
    ),
    ("slow_start/slow-start-app-limited-9-packets-out.pkt", VALIDATION),
    ("slow_start/slow-start-app-limited.pkt", VALIDATION),
    (
        "ts_recent/invalid_ack.pkt",
        "RFC 9293, 3.10.7.4 answers an ACK of what was never sent; Linux is silent",
    ),
];

const HYSTART: &str = "Linux' HyStart ends slow start by delay";
const DISORDER: &str = "after duplicate ACKs that turn out to be reordering Linux grows the window by the newly delivered segments, RFC 5681 \
                        by the newly acknowledged ones";
const VALIDATION: &str = "whether a window is used: Linux looks at the largest flight of a round, ours at the flight before each ACK";
