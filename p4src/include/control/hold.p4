// Departure from the queue: the gates of port and queue, the turn, the account, CoDel, the mark, the count.
//
// A packet with a ticket leaves when the gate is open and its turn has come. Until then it recirculates: egress ->
// recirculate -> ingress, which sends it straight back to the same queue. Time is read here and not in ingress, where
// a recirculated packet has a timestamp of 0. Where the target keeps the gate, no packet recirculates.
//
// BMv2 can lose a recirculated packet: its input queue holds 1024 of them and drops the rest silently. The lost
// bytes stay in occupancy_bytes until a client writes the register. The lost ticket does not stop the port: a packet that
// has reached an open gate HOLD_PATIENCE_ROUNDS times leaves, and its successor is next.

#ifndef EEON_HOLD_P4_
#define EEON_HOLD_P4_

#include "../headers.p4"
#include "../metadata.p4"
#include "../sizes.p4"
#include "checksum.p4"
#include "codel.p4"
#include "counters.p4"
#include "eee.p4"
#include "lossless.p4"
#include "occupancy.p4"
#include "pfc.p4"

control hold(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    @hidden
    action leave() {
        byte_count_t left;
        occupancy_leave(meta, left);
        tick_t now = standard_metadata.egress_global_timestamp;
        if (meta.lossless == 1) {
            lossless_leave(meta, now, meta.copy, meta.copy_queue, meta.copy_quanta);
        }
        if (meta.mark_at_dequeue == 1 && left > meta.dequeue_threshold_bytes) {
            meta.verdict = verdict_t.MARKED;
        }
        if (meta.codel == 1) {
            codel_judge(meta, now, left, meta.verdict);
            if (meta.verdict == verdict_t.EARLY_DROPPED) {
                mark_to_drop(standard_metadata);
                meta.wire_ticks = 0;
            }
        }
        if (meta.verdict == verdict_t.MARKED) {
            if (hdr.ipv4.isValid()) {
                checksum_after_ce(hdr.ipv4.header_checksum, hdr.ipv4.ecn);
                hdr.ipv4.ecn = ecn_t.CE;
            } else {
                hdr.ipv6.ecn = ecn_t.CE;
            }
        }
        count_departure(meta);
        // Kept for every port: EEE may be switched on at any time, and must then know since when the wire is idle.
        tick_t busy;
        busy_until.read(busy, meta.egress_port);
        if (!TICK_TO_COME(busy, now)) {
            busy = now;
        }
        busy_until.write(meta.egress_port, busy + meta.wire_ticks);
    }

    @hidden
    action leave_in_turn() {
        tick_t now = standard_metadata.egress_global_timestamp;
        tick_t gate;
        ticket_t serving;
        gate_open_at.read(gate, meta.egress_port);
        ticket_serving.read(serving, meta.turn);
        if (meta.pausable == 1) {
            tick_t paused_until;
            class_gate_open_at.read(paused_until, meta.queue);
            if (paused_until != 0) {
                if (TICK_TO_COME(paused_until, now)) {
                    gate = paused_until;
                } else {
                    // The pause is over. Left in the cell, it would apply again after the clock has wrapped.
                    class_gate_open_at.write(meta.queue, 0);
                }
            }
        }
        if (gate != 0 && TICK_BEFORE(now, gate)) {
            recirculate_preserving_field_list(HOLD_FIELDS);
        } else {
            if (TICKET_BEFORE(serving, meta.ticket) && meta.rounds < HOLD_PATIENCE_ROUNDS) {
                meta.rounds = meta.rounds + 1;
                recirculate_preserving_field_list(HOLD_FIELDS);
            } else {
                // A late packet whose ticket was skipped must not turn the count back.
                if (!TICKET_BEFORE(meta.ticket, serving)) {
                    ticket_serving.write(meta.turn, meta.ticket + 1);
                }
                bit<8> state;
                eee_state.read(state, meta.egress_port);
                if (state != eee_state_t.ACTIVE) {
                    tick_t asleep;
                    tick_t start;
                    tick_t lpi;
                    bit<32> count;
                    asleep_at.read(asleep, meta.egress_port);
                    wake_start.read(start, meta.egress_port);
                    lpi_ticks.read(lpi, meta.egress_port);
                    wakes.read(count, meta.egress_port);
                    lpi_ticks.write(meta.egress_port, lpi + (start - asleep));
                    wakes.write(meta.egress_port, count + 1);
                    eee_state.write(meta.egress_port, eee_state_t.ACTIVE);
                    gate_open_at.write(meta.egress_port, 0);
                    held_packets.write(meta.egress_port, 0);
                    held_bytes.write(meta.egress_port, 0);
                }
                leave();
            }
        }
    }

    apply {
        if (meta.ticketed == 1) {
            leave_in_turn();
        } else {
            leave();
        }
    }
}

#endif // EEON_HOLD_P4_
