// Does the packet fit into its port's buffer? If not, its verdict is TAIL_DROPPED.

#ifndef EEON_BUFFER_P4_
#define EEON_BUFFER_P4_

#include "../metadata.p4"
#include "../sizes.p4"
#include "eee.p4"
#include "occupancy.p4"

control buffer_limit(inout metadata_t meta) {
    // One bit wider than the counts, because a limit of 0xFFFFFFFF means unlimited.
    @brief("Drops packets that do not fit into the port's buffer.")
    action set_buffer_limit(
        @brief("Bytes; 4294967295: unlimited.") byte_count_t buffer_bytes) {
        if ((bit<33>)meta.found_bytes + (bit<33>)meta.queued_bytes > (bit<33>)buffer_bytes) {
            meta.verdict = verdict_t.TAIL_DROPPED;
        }
    }

#ifdef EEON_SIMULATOR_BUFFERS
#include "simulator_buffers.p4"
#endif

    @brief("The buffer limit of a port, for all its queues together.")
    @description("Key: egress port.")
    table port_buffer {
        key = { meta.egress_port: exact @name("port"); }
        actions = {
            set_buffer_limit;
#ifdef EEON_SIMULATOR_BUFFERS
            set_buffer_limit_in_packets;
            set_buffer_limit_beside_held;
#endif
        }
        default_action = set_buffer_limit(0xFFFFFFFF);
        size = PORT_TABLE_SIZE;
    }

    apply {
        port_buffer.apply();
    }
}

#endif // EEON_BUFFER_P4_
