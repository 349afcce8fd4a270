// Energy-Efficient Ethernet: admits the packet, and holds the port's queue while its link sleeps.
// The model, its rules and its equations: docs/models/eee_hold.md.
//
//            idle for stall, then a packet; hold > 0              trigger
//   ACTIVE ------------------------------------------> HOLD ----------------> WAKE
//     ^ |    idle for stall, then a packet; hold = 0     |                      | ^
//     | +------------------------------------------------|----------------------|-+
//     +--------------------------------------------------+----------------------+
//                       first packet to leave, at or after gate_open_at (control/hold.p4)
//
// One action does all of it, including admission and ticket, because egress changes the same registers concurrently: the
// packet that finds the queue empty must also be the one that reads when the wire went idle.
// A port with EEE off pays for the admission and one comparison of tickets.

#ifndef EEON_EEE_P4_
#define EEON_EEE_P4_

#include "../metadata.p4"
#include "../sizes.p4"
#include "lossless.p4"
#include "occupancy.p4"

@brief("The EEE state of a port's link: 0 ACTIVE, 1 HOLD, 2 WAKE.")
@description("Index: port.")
@name("eee_state")
register<bit<8>, port_id_t>(PORT_CELLS) eee_state;

// When the wire goes idle. While EEE is off, when the last packet left its queue, because its time on the wire is unknown.
@brief("The time when the wire becomes idle; while EEE is off, the time when the last packet left its queue.")
@description("Ticks. Index: port.")
@name("busy_until")
register<tick_t, port_id_t>(PORT_CELLS) busy_until;

// Nothing leaves before this time. 0: no gate. Where the engine's traffic manager reads it, no packet needs to recirculate.
@brief("The time before which nothing leaves the port; 0: no gate.")
@description("Ticks. Index: port.")
@name("gate_open_at")
register<tick_t, port_id_t>(PORT_CELLS) gate_open_at;

@brief("The time when the link begins to wake.")
@description("Ticks. Index: port.")
@name("wake_start")
register<tick_t, port_id_t>(PORT_CELLS) wake_start;

@brief("The time when the transition into the current sleep ends.")
@description("Ticks. Index: port.")
@name("asleep_at")
register<tick_t, port_id_t>(PORT_CELLS) asleep_at;

// Since the current HOLD began; cleared at the first departure.
@brief("Packets that have arrived since the current HOLD began.")
@description("Packets. Index: port.")
@name("held_packets")
register<packet_count_t, port_id_t>(PORT_CELLS) held_packets;
@brief("Bytes that have arrived since the current HOLD began.")
@description("Bytes. Index: port.")
@name("held_bytes")
register<byte_count_t, port_id_t>(PORT_CELLS) held_bytes;

@brief("Time in low-power idle since the switch started.")
@description("Ticks. Index: port.")
@name("lpi_ticks")
register<tick_t, port_id_t>(PORT_CELLS) lpi_ticks;
@brief("Wakes since the switch started.")
@description("Wakes. Index: port.")
@name("wakes")
register<bit<32>, port_id_t>(PORT_CELLS) wakes;

// The next ticket to give, and the one whose turn it is. Equal: no packet with a ticket is queued. Index: turn_id_t, so a
// waiting queue delays no other queue.
@brief("The next ticket to issue.")
@description("Tickets. Index: port << 3 | priority; 4096 + port for pause frames; 4608 + port for CNMs.")
@name("ticket_next")
register<ticket_t, turn_id_t>(TURN_CELLS) ticket_next;
@brief("The ticket whose turn it is; equal to ticket_next if no packet with a ticket is queued.")
@description("Tickets. Index: as for ticket_next.")
@name("ticket_serving")
register<ticket_t, turn_id_t>(TURN_CELLS) ticket_serving;

#define OWN_TURN(meta) \
    if ((meta).turn == 0) { \
        (meta).turn = (turn_id_t)(meta).queue; \
    }

control eee_admit(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    // Packets still take tickets while packets with tickets are queued, so that order survives switching EEE off, and
    // when a pause may hold them (control/pfc.p4).
    @brief("The port's link never sleeps.")
    action eee_off() {
        packet_count_t found;
        occupancy_enter(meta, found);
        if (meta.lossless == 1) {
            lossless_enter(meta, standard_metadata.ingress_global_timestamp, meta.copy, meta.copy_queue, meta.copy_quanta);
        }
        OWN_TURN(meta)
        ticket_t next;
        ticket_t serving;
        ticket_next.read(next, meta.turn);
        ticket_serving.read(serving, meta.turn);
        if (meta.ticketed == 1 || next != serving) {
            meta.ticketed = 1;
            meta.ticket = next;
            ticket_next.write(meta.turn, next + 1);
        }
    }

    @brief("The port's link sleeps when idle, and packets wait until it is awake.")
    action eee(
        @brief("Ticks to go to sleep (Ts).") tick_t sleep_ticks,
        @brief("Ticks to wake (Tw).") tick_t wake_ticks,
        @brief("Idle ticks before the link goes to sleep.") tick_t stall_ticks,
        @brief("Ticks that the first packet waits at most before the wake starts; 0: it does not wait.") tick_t hold_ticks,
        @brief("The number of packets that ends the hold; 0: no number does.") packet_count_t trigger_packets,
        @brief("The number of bytes that ends the hold; 0: no number does.") byte_count_t trigger_bytes,
        @brief("Ticks per byte on the wire, with 24 fractional bits.") wire_time_t ticks_per_byte_q24,
        @brief("Bytes of overhead per frame on the wire.") bit<16> overhead_bytes) {
        packet_count_t found;
        occupancy_enter(meta, found);
        if (meta.lossless == 1) {
            lossless_enter(meta, standard_metadata.ingress_global_timestamp, meta.copy, meta.copy_queue, meta.copy_quanta);
        }

        meta.ticketed = 1;
        OWN_TURN(meta)
        ticket_next.read(meta.ticket, meta.turn);
        ticket_next.write(meta.turn, meta.ticket + 1);
        // 16 + 48 bits: a frame is shorter than 2^16 bytes minus the overhead.
        meta.wire_ticks = (tick_t)(((bit<64>)(meta.queued_bytes + (byte_count_t)overhead_bytes)
                                    * (bit<64>)ticks_per_byte_q24) >> WIRE_TIME_BITS);

        tick_t now = standard_metadata.ingress_global_timestamp;
        bit<8> state;
        eee_state.read(state, meta.egress_port);
        if (state == eee_state_t.ACTIVE) {
            if (found == 0) {
                tick_t sleeps_at;
                busy_until.read(sleeps_at, meta.egress_port);
                sleeps_at = sleeps_at + stall_ticks;
                if (!TICK_TO_COME(sleeps_at, now)) {
                    // A sleep that has begun is never aborted: the wake starts when the link is asleep, or later.
                    tick_t asleep = sleeps_at + sleep_ticks;
                    tick_t start = now;
                    bit<8> next = eee_state_t.WAKE;
                    // If the first packet reaches a trigger, there is no hold; a pause frame counts as a trigger.
                    if (hold_ticks != 0 && trigger_packets != 1 && meta.packet_class != packet_class_t.CONTROL
                        && (trigger_bytes == 0 || meta.queued_bytes < trigger_bytes)) {
                        start = now + hold_ticks;
                        next = eee_state_t.HOLD;
                        held_packets.write(meta.egress_port, 1);
                        held_bytes.write(meta.egress_port, meta.queued_bytes);
                    }
                    if (TICK_TO_COME(asleep, start)) {
                        start = asleep;
                    }
                    eee_state.write(meta.egress_port, next);
                    asleep_at.write(meta.egress_port, asleep);
                    wake_start.write(meta.egress_port, start);
                    gate_open_at.write(meta.egress_port, GATE_AT(start + wake_ticks));
                }
            }
        } else if (state == eee_state_t.HOLD) {
            packet_count_t packets;
            byte_count_t bytes;
            held_packets.read(packets, meta.egress_port);
            held_bytes.read(bytes, meta.egress_port);
            packets = packets + 1;
            bytes = bytes + meta.queued_bytes;
            held_packets.write(meta.egress_port, packets);
            held_bytes.write(meta.egress_port, bytes);
            if (meta.packet_class == packet_class_t.CONTROL
                || (trigger_packets != 0 && packets >= trigger_packets)
                || (trigger_bytes != 0 && bytes >= trigger_bytes)) {
                eee_state.write(meta.egress_port, eee_state_t.WAKE);
                tick_t asleep;
                tick_t start = now;
                tick_t timer;
                asleep_at.read(asleep, meta.egress_port);
                wake_start.read(timer, meta.egress_port);
                if (TICK_TO_COME(asleep, start)) {
                    start = asleep;
                }
                // The gate only moves earlier: a trigger after the timer has fired changes nothing.
                if (TICK_BEFORE(start, timer)) {
                    wake_start.write(meta.egress_port, start);
                    gate_open_at.write(meta.egress_port, GATE_AT(start + wake_ticks));
                }
            }
        }

        OUTSIDE_ENTER(meta, state)
    }

    @brief("The Energy-Efficient Ethernet settings of a port.")
    @description("Key: egress port.")
    table port_eee {
        key = { meta.egress_port: exact @name("port"); }
        actions = {
            eee_off;
            eee;
        }
        default_action = eee_off;
        size = PORT_TABLE_SIZE;
    }

    apply {
        port_eee.apply();
    }
}

#endif // EEON_EEE_P4_
