//! Scripts of github.com/google/packetdrill in which Linux does something else than our endpoints, and why.

/// The end of a script's path, and the reason.
pub const DIFFERENCES: [(&str, &str); 19] = [
    ("cubic/cubic-bulk-166k-idle-restart.pkt", HYSTART),
    ("cubic/cubic-bulk-166k.pkt", HYSTART),
    ("cubic/cubic-rto-ss-ca-cwnd-bump.pkt", RACK_TLP),
    (
        "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700.pkt",
        "Linux reduces for a mark by PRR, too",
    ),
    ("fast_recovery/prr-ss-30pkt-lost-1_4-11_16.pkt", PRR),
    ("fast_recovery/prr-ss-30pkt-lost1_4.pkt", PRR),
    ("fast_recovery/prr-ss-ack-below-snd_una-cubic.pkt", PRR),
    ("fast_retransmit/fr-4pkt-fack-last-byte.pkt", RACK_TLP),
    ("fast_retransmit/fr-4pkt-fack-last-mss.pkt", RACK_TLP),
    ("limited_transmit/limited-transmit-no-sack.pkt", DISORDER),
    ("limited_transmit/limited-transmit-sack.pkt", DISORDER),
    ("sack/sack-shift-sacked-7-3-4-8-9-fack.pkt", RACK_TLP),
    ("sack/sack-shift-sacked-7-5-6-8-9-fack.pkt", RACK_TLP),
    ("shutdown/shutdown-rdwr-send-queue-ack-close.pkt", RACK_TLP),
    ("shutdown/shutdown-rdwr-write-queue-close.pkt", RACK_TLP),
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
const RACK_TLP: &str = "RFC 8985: a loss is found by time, and a lost tail by a probe";
const PRR: &str = "how many segments leave with an ACK in recovery: Linux counts PRR in segments";
const DISORDER: &str = "after duplicate ACKs that turn out to be reordering Linux grows the window by the newly delivered segments, RFC 5681 \
                        by the newly acknowledged ones";
const VALIDATION: &str = "whether a window is used: Linux looks at the largest flight of a round, ours at the flight before each ACK";
