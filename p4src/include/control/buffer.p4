// Does the packet fit into its port's buffer? If not, its verdict is TAIL_DROPPED.

#ifndef EEON_BUFFER_P4_
#define EEON_BUFFER_P4_

#include "../metadata.p4"
#include "../sizes.p4"
#include "eee.p4"
#include "occupancy.p4"

control buffer_limit(inout metadata_t meta) {
    // One bit wider than the counts, because a limit of 0xFFFFFFFF means none.
    @brief("Drops what does not fit into the port's buffer.")
    action set_buffer_limit(
        @brief("Bytes; 4294967295: unlimited.") byte_count_t buffer_bytes) {
        if ((bit<33>)meta.found_bytes + (bit<33>)meta.queued_bytes > (bit<33>)buffer_bytes) {
            meta.verdict = verdict_t.TAIL_DROPPED;
        }
    }

    // As ns-2 counts: an ACK takes as much of the buffer as a full frame.
    @brief("Drops what comes when the port holds this many packets, as ns-2 counts.")
    action set_buffer_limit_in_packets(
        @brief("Packets.") packet_count_t buffer_packets) {
        packet_count_t found;
        occupancy_packets.read(found, meta.egress_port);
        if (found >= buffer_packets) {
            meta.verdict = verdict_t.TAIL_DROPPED;
        }
    }

    // What comes while the link is not awake is held elsewhere, without limit, and does not count here until it has left:
    // the burst that ends a hold finds the whole buffer.
    @brief("As set_buffer_limit, but what comes while the link is not awake does not count.")
    action set_buffer_limit_beside_held(
        @brief("Bytes; 4294967295: unlimited.") byte_count_t buffer_bytes) {
        bit<8> state;
        byte_count_t outside;
        outside_bytes.read(outside, meta.egress_port);
        eee_state.read(state, meta.egress_port);
        meta.held_outside = 1;
        if (state == eee_state_t.ACTIVE
            && (bit<33>)(meta.found_bytes - outside) + (bit<33>)meta.queued_bytes > (bit<33>)buffer_bytes) {
            meta.verdict = verdict_t.TAIL_DROPPED;
        }
    }

    @brief("How much a port's queues hold.")
    @description("Key: egress port.")
    table port_buffer {
        key = { meta.egress_port: exact @name("port"); }
        actions = { set_buffer_limit; set_buffer_limit_in_packets; set_buffer_limit_beside_held; }
        default_action = set_buffer_limit(0xFFFFFFFF);
        size = PORT_TABLE_SIZE;
    }

    apply {
        port_buffer.apply();
    }
}

#endif // EEON_BUFFER_P4_
