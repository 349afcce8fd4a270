//! Scripts of github.com/google/packetdrill and of Linux's selftests in which Linux and our endpoints differ, with the reasons.

/// The end of a script's path, and the reason.
pub const DIFFERENCES: [(&str, &str); 29] = [
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
    ("fast_recovery/prr-ss-ack-below-snd_una-cubic.pkt", OLD_BLOCKS),
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
    ("slow_start/slow-start-after-win-update.pkt", PROBE),
    ("slow_start/slow-start-app-limited-9-packets-out.pkt", VALIDATION),
    ("slow_start/slow-start-app-limited.pkt", VALIDATION),
    (
        "ts_recent/invalid_ack.pkt",
        "RFC 9293, 3.10.7.4 answers an ACK of what was never sent; Linux is silent",
    ),
    // Linux's selftests.
    ("tcp_accecn_2nd_data_as_first_connect.pkt", OPTION),
    ("tcp_accecn_client_accecn_options_lost.pkt", OPTION),
    ("tcp_accecn_sack_space_grab.pkt", OPTION),
    ("tcp_accecn_sack_space_grab_with_ts.pkt", OPTION),
    ("tcp_accecn_multiple_syn_drop.pkt", SYN_TIMER),
    ("tcp_accecn_syn_ace_flags_acked_after_retransmit.pkt", SYN_TIMER),
    ("tcp_accecn_syn_ace_flags_drop.pkt", SYN_TIMER),
    (
        "tcp_accecn_close_local_close_then_remote_fin.pkt",
        "Linux keeps no counter of marks in TIME-WAIT; RFC 9768, 3.2.2 has ACE in every segment",
    ),
    ("tcp_basic_server.pkt", "Linux delays the ACK of a FIN without data"),
    ("tcp_close_no_rst.pkt", "Linux does not report data that comes again with a FIN (RFC 2883)"),
    ("tcp_fast_recovery_prr-ss-ack-below-snd_una-cubic.pkt", OLD_BLOCKS),
    ("tcp_limited_transmit_limited-transmit-no-sack.pkt", DISORDER),
    ("tcp_limited_transmit_limited-transmit-sack.pkt", DISORDER),
    ("tcp_slow_start_slow-start-after-win-update.pkt", PROBE),
    ("tcp_slow_start_slow-start-app-limited-9-packets-out.pkt", VALIDATION),
    ("tcp_slow_start_slow-start-app-limited.pkt", VALIDATION),
];

const OPTION: &str = "the AccECN option, which our endpoints do not have, takes 12 bytes of a segment, or the place of a SACK block";
const SYN_TIMER: &str =
    "Linux sends a SYN again every second, four times, before it doubles; RFC 6298 doubles at once";
const OLD_BLOCKS: &str = "Linux looks at the SACK blocks of an ACK below SND.UNA, too";
const PROBE: &str = "Linux probes a closed window with an old byte, RFC 9293, 3.8.6.1 with a new one";

const HYSTART: &str = "Linux' HyStart ends slow start by delay";
const DISORDER: &str = "after duplicate ACKs that turn out to be reordering Linux grows the window by the newly delivered segments, RFC 5681 \
                        by the newly acknowledged ones";
const VALIDATION: &str = "whether a window is used: Linux looks at the largest flight of a round, ours at the flight before each ACK";
