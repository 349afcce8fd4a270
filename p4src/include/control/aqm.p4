// Active queue management: decides which packets are marked or dropped early, by the depth that they find in their port's
// queues, or in their own queue alone where the port's action is by_queue.
// CoDel decides at departure, in control/codel.p4; this file only reads its settings.
// The models, their equations and their sources: docs/models/marking.md and codel.md.
//
// The decision to mark is made here; egress rewrites the header (control/hold.p4). A Not-ECT packet is never marked, CE is
// never cleared, and a packet that arrives with CE passes unchanged and does not count as marked.

#ifndef EEON_AQM_P4_
#define EEON_AQM_P4_

#include "../metadata.p4"
#include "../sizes.p4"
#include "eee.p4"
#include "occupancy.p4"

@brief("RED's average occupancy, if average_shift is above 0.")
@description("Unit: 2^-32 of a byte or a packet, like the thresholds. Index: port << 3 | priority; priority 0 for a port whose AQM is not by_queue.")
@name("red_average")
register<bit<64>, queue_id_t>(QUEUE_CELLS) red_average;

// Determines the effect of a congestion signal on the packet.
action choose_signal(in metadata_t meta, in bit<1> ecn, in protect_t protect, inout signal_t signal) {
    signal = signal_t.DROP;
    if (ecn == 1 && meta.ecn != ecn_t.NOT_ECT) {
        signal = signal_t.CARRIED;
        if (meta.ecn != ecn_t.CE) {
            signal = signal_t.MARK;
        }
    } else if (meta.lossless == 1) {
        signal = signal_t.SPARE;
    } else if (protect != protect_t.ECT && meta.tcp_ece == 1) {
        // It carries congestion feedback.
        signal = signal_t.SPARE;
    } else if (protect == protect_t.ACK_SYN
               && (meta.packet_class == packet_class_t.ACK || meta.packet_class == packet_class_t.ACK_ECE
                   || meta.packet_class == packet_class_t.SYN || meta.packet_class == packet_class_t.SYN_ACK)) {
        signal = signal_t.SPARE;
    }
}

control aqm(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    @brief("Marks nothing and drops nothing early.")
    action drop_tail() {
    }

    // RFC 8257 section 3.1: CE when the instantaneous occupancy is above K. Nothing is dropped early.
    // ECT(1) has its own threshold, for L4S (RFC 9331); the controller writes the same number twice where L4S is not used.
    @brief("Marks ECN-capable packets that find more bytes than a threshold in the port's queues, or in their own queue.")
    action mark_threshold(
        @brief("Bytes, for ECT(0).") byte_count_t threshold_bytes,
        @brief("Bytes, for ECT(1); equal to threshold_bytes if ECT(1) has no threshold of its own.") byte_count_t l4s_threshold_bytes,
        @brief("1 compares the bytes that a packet leaves behind, 0 those that it finds.") bit<1> at_dequeue) {
        if (meta.ecn == ecn_t.ECT_0 || meta.ecn == ecn_t.ECT_1) {
            meta.dequeue_threshold_bytes = threshold_bytes;
            if (meta.ecn == ecn_t.ECT_1) {
                meta.dequeue_threshold_bytes = l4s_threshold_bytes;
            }
            meta.mark_at_dequeue = at_dequeue;
            if (at_dequeue == 0 && meta.found_bytes > meta.dequeue_threshold_bytes) {
                meta.verdict = verdict_t.MARKED;
            }
        }
    }

    // Floyd and Jacobson 1993, without the count since the last mark. With mean_bytes > 0 a packet of mean_bytes has the
    // line's probability, other packets in proportion to their length.
    @brief("Random Early Detection: marks or drops packets with a probability that grows with the queue.")
    @action_restriction("min_threshold <= max_threshold && (mean_bytes == 0 || mean_bytes >= 256)")
    action red(
        @brief("Bytes, or packets if in_packets is 1.") bit<32> min_threshold,
        @brief("Bytes, or packets if in_packets is 1; above min_threshold.") bit<32> max_threshold,
        @brief("max_probability * 2^48 / (max_threshold - min_threshold), times 2^8 / mean_bytes if mean_bytes is above 0.") bit<64> probability_slope,
        @brief("1: the thresholds are in packets.") bit<1> in_packets,
        @brief("The newest depth has the weight 2^-average_shift; 0: no average.") bit<8> average_shift,
        @brief("1 marks ECN-capable packets, 0 drops them.") bit<1> ecn,
        @brief("The packets that are never dropped early: protect_t in types.p4.") protect_t protect,
        @brief("While the port is idle and the queue empty, the average halves every 2^(16 + idle_shift) / idle_halvings ticks; 0: never.") bit<16> idle_halvings,
        @brief("See idle_halvings.") bit<8> idle_shift,
        @brief("Bytes, at least 256; 0: the probability does not depend on a packet's length.") bit<16> mean_bytes) {
        bit<32> found = meta.found_bytes;
        if (in_packets == 1) {
            if (meta.aqm_priority != 0) {
                queue_packets.read(found, meta.queue);
            } else {
                occupancy_packets.read(found, meta.egress_port);
                if (meta.aqm_of_queue == 1) {
                    packet_count_t raised;
                    raised_packets.read(raised, meta.egress_port);
                    found = found - raised;
                }
            }
        }
        bit<64> depth = (bit<64>)found << RED_DEPTH_BITS;
        if (average_shift != 0) {
            queue_id_t cell = meta.egress_port ++ meta.aqm_priority;
            bit<64> average;
            red_average.read(average, cell);
            tick_t idle_since;
            busy_until.read(idle_since, meta.egress_port);
            tick_t now = standard_metadata.ingress_global_timestamp;
            if (found == 0 && !TICK_TO_COME(idle_since, now)) {
                // 48 + 16 bits. The whole halvings are above the 16 fractional bits.
                bit<64> halvings = ((bit<64>)(now - idle_since) * (bit<64>)idle_halvings) >> idle_shift;
                if (halvings >= (64w64 << 16)) {
                    average = 0;
                } else {
                    // 1 - 2^-f as a parabola that is exact at both ends; the remaining average is right to 0.3 %.
                    bit<64> f = halvings & 0xFFFF;
                    bit<64> loss = (f * 43903 - ((f * f) >> 16) * 11135) >> 16;
                    average = average >> (bit<8>)(halvings >> 16);
                    average = average - (average >> 16) * loss;
                }
            }
            depth = average - (average >> average_shift) + (depth >> average_shift);
            red_average.write(cell, depth);
        }

        bool congested = false;
        if (depth >= (bit<64>)max_threshold << RED_DEPTH_BITS) {
            congested = true;
        } else if (depth >= (bit<64>)min_threshold << RED_DEPTH_BITS) {
            // 8 fractional bits of the depth: (max - min) * 2^8 * slope <= 2^56 fits 64 bits. With mean_bytes of at least
            // 2^8, the first product is no larger; 48 bits of it remain, and a length has 16.
            bit<64> above_min = (depth - ((bit<64>)min_threshold << RED_DEPTH_BITS)) >> (RED_DEPTH_BITS - RED_RAMP_BITS);
            bit<64> probability = (above_min * probability_slope) >> RED_RAMP_BITS;
            if (mean_bytes != 0) {
                probability = (probability * (bit<64>)meta.queued_bytes) >> 8;
            }
            probability_t draw;
            random(draw, 0, (probability_t)(-1));
            if ((bit<64>)draw < probability) {
                congested = true;
            }
        }

        if (congested) {
            choose_signal(meta, ecn, protect, meta.signal);
            if (meta.signal == signal_t.MARK) {
                meta.verdict = verdict_t.MARKED;
            } else if (meta.signal == signal_t.DROP) {
                meta.verdict = verdict_t.EARLY_DROPPED;
            }
        }
    }

    // RFC 8289. A queue that would keep at most mtu_bytes behind the packet never counts as too long.
    @brief("CoDel (RFC 8289): marks or drops packets of a queue whose sojourn time stays above the target.")
    action codel(
        @brief("Target delay in ticks.") bit<32> target_ticks,
        @brief("Interval in ticks.") bit<32> interval_ticks,
        @brief("Bytes; there is no signal if a packet leaves no more than this behind.") byte_count_t mtu_bytes,
        @brief("1 marks ECN-capable packets, 0 drops them.") bit<1> ecn,
        @brief("The packets that are never dropped early: protect_t in types.p4.") protect_t protect) {
        meta.codel = 1;
        meta.admitted_at = standard_metadata.ingress_global_timestamp;
        meta.codel_target_ticks = target_ticks;
        meta.codel_interval_ticks = interval_ticks;
        meta.codel_mtu_bytes = mtu_bytes;
        choose_signal(meta, ecn, protect, meta.signal);
    }

    // Each queue of the port has its own thresholds, average and state.
    @brief("Each queue of the port has the AQM that queue_aqm gives it, which compares that queue alone.")
    action by_queue() {
        meta.aqm_of_queue = 1;
        meta.aqm_priority = meta.queue[2:0];
        if (meta.aqm_priority != 0) {
            queue_bytes.read(meta.found_bytes, meta.queue);
        } else {
            byte_count_t raised;
            raised_bytes.read(raised, meta.egress_port);
            meta.found_bytes = meta.found_bytes - raised;
        }
    }

    @brief("Which packets a port marks or drops early.")
    @description("Key: egress port. All actions but by_queue compare the occupancy of all queues of the port.")
    table port_aqm {
        key = { meta.egress_port: exact @name("port"); }
        actions = {
            drop_tail;
            mark_threshold;
            red;
            codel;
            by_queue;
        }
        default_action = drop_tail;
        size = PORT_TABLE_SIZE;
    }

    @brief("Which packets a queue marks or drops early, if the port's AQM is by_queue.")
    @description("Key: egress port << 3 | priority.")
    table queue_aqm {
        key = { meta.queue: exact @name("queue"); }
        actions = {
            drop_tail;
            mark_threshold;
            red;
            codel;
        }
        default_action = drop_tail;
        size = QUEUE_CELLS;
    }

    apply {
        switch (port_aqm.apply().action_run) {
            by_queue: {
                queue_aqm.apply();
            }
        }
    }
}

#endif // EEON_AQM_P4_
