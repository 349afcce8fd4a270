// Quantized congestion notification (IEEE 802.1Q-2022 clauses 30 to 33): a congestion point at each queue with settings, the
// messages (CNMs) that it makes, and their path back to the sender of the sampled frame.
// The model, its rules and its deviations from the standard: docs/models/qcn.md.
//
//   congestion_point -> clone (COPY_FIELDS) -> COPY_PORT -> make_cnm_frame -> round -> enter_cnm -> route -> take_cnm
//   CNM of another switch                                            -> classify            -> route -> take_cnm
//
// A CNM is for the source of the frame that it carries. This switch routes, so classify or enter_cnm swaps the carried addresses,
// the CNM takes the route of a packet to the source, and take_cnm swaps them back.
//
// Only a switch whose ports use several queues samples: CNMs do not help a class that shares its queue with others.

#ifndef EEON_QCN_P4_
#define EEON_QCN_P4_

#include "../headers.p4"
#include "../metadata.p4"
#include "../sizes.p4"
#include "occupancy.p4"

#ifdef EEON_QCN

@brief("The bytes still to arrive before the next sample.")
@description("Bytes. Index: port << 3 | priority.")
@name("qcn_sample_left")
register<byte_count_t, queue_id_t>(QUEUE_CELLS) qcn_sample_left;
@brief("The length of the queue at the last sample.")
@description("Bytes. Index: port << 3 | priority.")
@name("qcn_old_bytes")
register<byte_count_t, queue_id_t>(QUEUE_CELLS) qcn_old_bytes;

// The next packet of the queue is sampled.
#define SAMPLE_NEXT(queue) qcn_sample_left.write(queue, 0);

// Samples taken, and CNMs made from them, by queue; CNMs that enter a queue of this switch are counted as CONTROL.
@brief("Samples taken.")
@description("Packets. Index: port << 3 | priority.")
@name("qcn_samples")
counter<queue_id_t>(QUEUE_CELLS, CounterType.packets) qcn_samples;
@brief("CNMs that the switch generated.")
@description("Packets. Index: port << 3 | priority.")
@name("cnms_made")
counter<queue_id_t>(QUEUE_CELLS, CounterType.packets) cnms_made;

@brief("CNMs received on a port whose CNMs are not trusted.")
@description("Packets. Index: ingress port.")
@name("cnms_ignored")
counter<port_id_t>(PORT_CELLS, CounterType.packets) cnms_ignored;

// (a - b) / 64, floored, in 16 bits of two's complement, saturated.
#define DIFFERENCE_IN_64_BYTES(result, a, b) \
    if ((a) >= (b)) { \
        byte_count_t ahead = ((a) - (b)) >> 6; \
        result = ahead > 0x7FFF ? 16w0x7FFF : (bit<16>)ahead; \
    } else { \
        byte_count_t behind = ((b) - (a) + 63) >> 6; \
        result = behind > 0x8000 ? 16w0x8000 : 0 - (bit<16>)behind; \
    }

#define SAMPLE_AFTER(level, sixteenths) \
    if (feedback[5:3] == level) { \
        share = sixteenths; \
    }

// For frames routed to a queue, before the decision whether they fit.
control congestion_point(inout metadata_t meta) {
    @brief("The queue takes no samples.")
    action qcn_off() {
    }

    // Feedback is the standard's Qoff - w * Qdelta with the sign changed: (q - set point) + w * (q - q at the last sample), where
    // q includes the arriving frame and w is 2^weight_shift. From range_bytes = (2 w + 1) set points on, it is as strong as
    // possible: level 63. Below, scale_q56 = 63 * 2^56 / range_bytes, rounded up, converts it to a level. Level 0 sends no CNM.
    //
    // The next sample follows after sample_bytes, or sooner with stronger feedback: after a half, a third, ... an eighth of them,
    // drawn from 1 - jitter to 1 + jitter of that, where jitter has 16 fractional bits.
    @brief("The queue samples frames and notifies their sources of congestion.")
    action qcn(
        @brief("The set point: the target length of the queue, in bytes.") byte_count_t set_point_bytes,
        @brief("The change in length has the weight 2^weight_shift.") bit<8> weight_shift,
        @brief("Bytes of feedback at which it reaches its maximum.") bit<64> range_bytes,
        @brief("63 * 2^56 / range_bytes, rounded up.") bit<64> scale_q56,
        @brief("Bytes between samples when there is no congestion.") byte_count_t sample_bytes,
        @brief("The distance between samples is drawn from 1 - jitter to 1 + jitter times its value; 16 fractional bits.") bit<16> jitter_q16) {
        byte_count_t left;
        qcn_sample_left.read(left, meta.queue);
        if (left > meta.queued_bytes) {
            qcn_sample_left.write(meta.queue, left - meta.queued_bytes);
        } else {
            byte_count_t depth;
            if (meta.queue[2:0] == 0) {
                byte_count_t raised;
                occupancy_bytes.read(depth, meta.egress_port);
                raised_bytes.read(raised, meta.egress_port);
                depth = depth - raised;
            } else {
                queue_bytes.read(depth, meta.queue);
            }
            depth = depth + meta.queued_bytes;
            byte_count_t old;
            qcn_old_bytes.read(old, meta.queue);
            qcn_old_bytes.write(meta.queue, depth);
            qcn_samples.count(meta.queue);

            bit<64> above = (bit<64>)depth + ((bit<64>)depth << weight_shift);
            bit<64> below = (bit<64>)set_point_bytes + ((bit<64>)old << weight_shift);
            bit<6> feedback = 0;
            if (above > below) {
                bit<64> excess = above - below;
                if (excess >= range_bytes) {
                    feedback = 63;
                } else {
                    feedback = (bit<6>)((excess * scale_q56) >> 56);
                }
            }
            // 1 / (1 + level), with 16 fractional bits, rounded.
            bit<64> share = 65536;
            SAMPLE_AFTER(1, 32768)
            SAMPLE_AFTER(2, 21845)
            SAMPLE_AFTER(3, 16384)
            SAMPLE_AFTER(4, 13107)
            SAMPLE_AFTER(5, 10923)
            SAMPLE_AFTER(6, 9362)
            SAMPLE_AFTER(7, 8192)
            bit<32> draw;
            random(draw, 32w0, (bit<32>)jitter_q16 << 1);
            share = share * (65536 + (bit<64>)draw - (bit<64>)jitter_q16);
            qcn_sample_left.write(meta.queue, (byte_count_t)(((bit<64>)sample_bytes * (share >> 16)) >> 16));

            if (feedback != 0) {
                bit<16> offset = 0;
                bit<16> delta = 0;
                DIFFERENCE_IN_64_BYTES(offset, set_point_bytes, depth)
                DIFFERENCE_IN_64_BYTES(delta, depth, old)
                byte_count_t carried = meta.queued_bytes - 12;
                if (carried > 64) {
                    carried = 64;
                }
                meta.cnm = feedback ++ offset ++ delta ++ (bit<7>)carried;
                meta.copy = copy_t.CNM;
                meta.copy_queue = meta.queue;
                clone_preserving_field_list(CloneType.I2E, COPY_SESSION, COPY_FIELDS);
            }
        }
    }

    @brief("Congestion points of IEEE 802.1Q clause 30.")
    @description("Key: egress port << 3 | priority.")
    table port_qcn {
        key = { meta.queue: exact @name("queue"); }
        actions = {
            qcn_off;
            qcn;
        }
        default_action = qcn_off;
        size = QUEUE_CELLS;
    }

    apply {
        if (meta.verdict == verdict_t.FORWARDED) {
            port_qcn.apply();
        }
    }
}

// For a copy, in egress of COPY_PORT: builds the frame and recirculates it. The copy is whole; enter_cnm truncates it.
control make_cnm_frame(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // mac: the switch's address, the first six bytes of the CPID. The last two are the queue.
    @brief("Turns the copy of a sampled frame into a CNM.")
    action make_cnm(
        @brief("MAC address of the switch, the first six bytes of the CPID.") @format(MAC_ADDRESS) mac_addr_t mac) {
        hdr.cnm.setValid();
        hdr.cnm.version = 0;
        hdr.cnm.reserved = 0;
        hdr.cnm.feedback = meta.cnm[44:39];
        hdr.cnm.cp_mac = mac;
        hdr.cnm.cp_queue = (bit<16>)meta.copy_queue;
        hdr.cnm.offset = meta.cnm[38:23];
        hdr.cnm.delta = meta.cnm[22:7];
        hdr.cnm.carried_priority = meta.copy_queue[2:0];
        hdr.cnm.reserved_2 = 0;
        hdr.cnm.carried_dst_addr = hdr.ethernet.dst_addr;
        hdr.cnm.carried_bytes = (bit<16>)meta.cnm[6:0];
        hdr.cnm.carried_type = hdr.ethernet.ether_type;
        hdr.ethernet.dst_addr = hdr.ethernet.src_addr;
        hdr.ethernet.src_addr = mac;
        hdr.ethernet.ether_type = ETHERTYPE_CNM;
        cnms_made.count(meta.copy_queue);
        meta.copy = copy_t.MADE_CNM;
        // A recirculated packet has an ingress timestamp of 0.
        meta.copy_at = standard_metadata.egress_global_timestamp;
        recirculate_preserving_field_list(COPY_FIELDS);
    }

    @brief("The MAC address in the CNMs that the switch generates.")
    @description("No key: the default action is the setting.")
    table cnm_source {
        actions = { make_cnm; }
        default_action = make_cnm(0);
        size = 1;
    }

    apply {
        cnm_source.apply();
    }
}

// A recirculated frame that this switch has made: does the work that classify does for others. It has not been received.
control enter_cnm(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    @hidden
    action enter() {
        standard_metadata.ingress_global_timestamp = meta.copy_at;
        meta.packet_class = packet_class_t.CONTROL;
        // A sampled frame without IP gives no address to route by.
        if (standard_metadata.parser_error != error.NoError) {
            meta.verdict = verdict_t.NO_ROUTE;
        }
        meta.queued_bytes = CNM_BYTES + (byte_count_t)hdr.cnm.carried_bytes;
        truncate(meta.queued_bytes);
        REVERSE_CARRIED(hdr)
    }

    apply {
        enter();
    }
}

// For a CNM that has been routed, or that the controller sends through a port. A CNM from an untrusted port is dropped.
// No buffer limit and no AQM apply to it; its queue is the same at every port.
control take_cnm(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    @brief("Counts and drops CNMs that arrive on the port.")
    action ignore_cnms() {
        cnms_ignored.count(standard_metadata.ingress_port);
        meta.verdict = verdict_t.CONSUMED;
    }

    @brief("Forwards CNMs that arrive on the port.")
    action trust_cnms() {
    }

    @brief("Whether the CNMs that arrive on a port are trusted.")
    @description("Key: ingress port.")
    table port_cnm {
        key = { standard_metadata.ingress_port: exact @name("port"); }
        actions = {
            ignore_cnms;
            trust_cnms;
        }
        default_action = ignore_cnms;
        size = PORT_TABLE_SIZE;
    }

    @brief("Puts CNMs into a queue.")
    action set_cnm_priority(
        @brief("0 to 7; the highest is served first.") priority_t priority) {
        meta.queue = meta.egress_port ++ priority;
        standard_metadata.priority = priority;
    }

    @brief("The queue of CNMs, the same at every port.")
    @description("No key: the default action is the setting.")
    table cnm_queue {
        actions = { set_cnm_priority; }
        default_action = set_cnm_priority(0);
        size = 1;
    }

    @hidden
    action enter_turn() {
        meta.turn = CNM_TURNS + (turn_id_t)meta.egress_port;
        if (standard_metadata.ingress_port != CPU_PORT) {
            REVERSE_CARRIED(hdr)
        }
    }

    apply {
        enter_turn();
        if (meta.has_priorities == 1) {
            cnm_queue.apply();
        }
        // The switch's own CNMs, and the controller's, are trusted.
        if (meta.copy != copy_t.MADE_CNM && standard_metadata.ingress_port != CPU_PORT) {
            port_cnm.apply();
        }
    }
}

// For a CNM that is not queued. The controller did not send the sampled frame, so a route to the controller counts as no route.
control refuse_cnm(inout metadata_t meta) {
    @hidden
    action refuse() {
        if (meta.verdict == verdict_t.TO_CPU) {
            meta.verdict = verdict_t.NO_ROUTE;
        }
    }

    apply {
        refuse();
    }
}

#else

#define SAMPLE_NEXT(queue)

control congestion_point(inout metadata_t meta) {
    apply {
    }
}

control make_cnm_frame(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
    }
}

control enter_cnm(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
    }
}

control take_cnm(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
    }
}

control refuse_cnm(inout metadata_t meta) {
    apply {
    }
}

#endif // EEON_QCN

#endif // EEON_QCN_P4_
