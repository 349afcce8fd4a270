// Actions of buffer_limit: buffers as simulators count them, for comparison with simulator results.

    // As in ns-2: an ACK takes as much of the buffer as a full frame.
    @brief("Drops packets that arrive when the port already holds this many packets, as ns-2 does.")
    action set_buffer_limit_in_packets(
        @brief("Packets.") packet_count_t buffer_packets) {
        packet_count_t found;
        occupancy_packets.read(found, meta.egress_port);
        if (found >= buffer_packets) {
            meta.verdict = verdict_t.TAIL_DROPPED;
        }
    }

    // Packets that arrive while the link is not awake are held elsewhere, without limit, and are not counted here:
    // the burst that ends a hold finds the whole buffer.
    @brief("As set_buffer_limit, but packets that arrive while the link is not awake do not count.")
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
