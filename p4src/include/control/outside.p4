// The account of set_buffer_limit_beside_held (control/simulator_buffers.p4): bytes that arrived while the link was not awake.

#ifndef EEON_OUTSIDE_P4_
#define EEON_OUTSIDE_P4_

#include "../metadata.p4"
#include "../sizes.p4"

#ifdef EEON_SIMULATOR_BUFFERS

@brief("The part of occupancy_bytes that was held outside the buffer and has not left.")
@description("Bytes. Index: port.")
@name("outside_bytes")
register<byte_count_t, port_id_t>(PORT_CELLS) outside_bytes;

// Part of the action that admits a packet (control/eee.p4), when the state of its link is known.
#define OUTSIDE_ENTER(meta, state) \
    if ((meta).held_outside == 1) { \
        eee_state.read(state, (meta).egress_port); \
        if (state != eee_state_t.ACTIVE) { \
            byte_count_t outside; \
            outside_bytes.read(outside, (meta).egress_port); \
            outside_bytes.write((meta).egress_port, outside + (meta).queued_bytes); \
            (meta).outside = 1; \
        } \
    }

// Part of the departure action (control/occupancy.p4).
#define OUTSIDE_LEAVE(meta) \
    if ((meta).outside == 1) { \
        byte_count_t outside; \
        outside_bytes.read(outside, (meta).egress_port); \
        outside_bytes.write((meta).egress_port, outside - (meta).queued_bytes); \
    }

#else

#define OUTSIDE_ENTER(meta, state)
#define OUTSIDE_LEAVE(meta)

#endif // EEON_SIMULATOR_BUFFERS

#endif // EEON_OUTSIDE_P4_
