// Priority flow control (IEEE 802.1Q-2022 clause 36): received pause frames, and the queue gates that they move.
// The model, its rules and its limits: docs/models/pfc.md.
//
// A pause frame stops the receiver's transmitter on the same link: it closes queues of the port on which it arrived. Each
// of its eight times counts quanta of 512 bit times; 0 opens the queue. A later frame replaces the rest of an earlier
// pause. The departure decides whether a packet waits at a closed queue (control/hold.p4).

#ifndef EEON_PFC_P4_
#define EEON_PFC_P4_

#include "../headers.p4"
#include "../metadata.p4"
#include "../sizes.p4"
#include "eee.p4"

// Nothing leaves the queue before this time. 0: no pause. Index: port << 3 | priority. Where the engine's traffic manager
// reads it, no packet needs to recirculate.
@brief("The time before which nothing leaves the queue; 0: no pause.")
@description("Ticks. Index: port << 3 | priority.")
@name("class_gate_open_at")
register<tick_t, queue_id_t>(QUEUE_CELLS) class_gate_open_at;

// Pauses received on a port with an entry, obeyed or not, by port << 3 | priority, without those that open a queue. The
// controller's watchdog reads it to see whether a neighbour still pauses.
@brief("Pauses with a time above 0 that arrived on a port with an entry, obeyed or not.")
@description("Packets. Index: port << 3 | priority.")
@name("pauses_received")
counter<queue_id_t>(QUEUE_CELLS, CounterType.packets) pauses_received;

// MAC control frames that moved no gate: another opcode, a port without PFC, or only priorities that the port does not pause.
@brief("MAC control frames that changed no gate.")
@description("Packets. Index: ingress port.")
@name("control_ignored")
counter<port_id_t>(PORT_CELLS, CounterType.packets) control_ignored;

#define PAUSE(priority) \
    if (hdr.pfc.enabled[priority:priority] == 1) { \
        tick_t until = 0; \
        if (hdr.pfc.time_##priority != 0) { \
            until = now + (tick_t)(((bit<64>)hdr.pfc.time_##priority * (bit<64>)quantum_ticks_q16) >> 16); \
            until = GATE_AT(until); \
            pauses_received.count(first + priority); \
        } \
        if (priorities[priority:priority] == 1) { \
            class_gate_open_at.write(first + priority, until); \
        } \
    }

// For frames whose verdict is CONSUMED.
control receive_pause(in headers_t hdr, in standard_metadata_t standard_metadata) {
    @brief("The port obeys no pauses.")
    action ignore_pauses() {
        control_ignored.count(standard_metadata.ingress_port);
    }

    @brief("The port obeys pauses of some priorities.")
    action obey_pauses(
        @brief("Ticks per 512 bit times of the link, with 16 fractional bits.") bit<48> quantum_ticks_q16,
        @brief("Bit n: priority n may be paused.") bit<8> priorities) {
        if ((hdr.pfc.enabled & priorities) == 0) {
            control_ignored.count(standard_metadata.ingress_port);
        }
        tick_t now = standard_metadata.ingress_global_timestamp;
        queue_id_t first = (queue_id_t)standard_metadata.ingress_port << 3;
        PAUSE(0)
        PAUSE(1)
        PAUSE(2)
        PAUSE(3)
        PAUSE(4)
        PAUSE(5)
        PAUSE(6)
        PAUSE(7)
    }

    @hidden
    action ignore_other_control() {
        control_ignored.count(standard_metadata.ingress_port);
    }

    @brief("Which pauses a port obeys.")
    @description("Key: ingress port of the pause frame.")
    table port_pfc {
        key = { standard_metadata.ingress_port: exact @name("port"); }
        actions = {
            ignore_pauses;
            obey_pauses;
        }
        default_action = ignore_pauses;
        size = PORT_TABLE_SIZE;
    }

    apply {
        if (hdr.pfc.isValid()) {
            port_pfc.apply();
        } else {
            ignore_other_control();
        }
    }
}

// For packets to be queued on a switch whose ports use several queues: may pauses close the packet's queue? Then the packet
// needs a turn, so that order survives its rounds on a target without gates.
control choose_pausable(inout metadata_t meta) {
    @brief("The queue may be paused.")
    action take_pauses() {
        meta.pausable = 1;
        meta.ticketed = 1;
    }

    // The controller's watchdog has detected pauses without end: no packet enters, and the queued ones leave when the last
    // obeyed pause is over.
    @brief("Drops packets for the queue, because the controller has found pauses without end.")
    action discard() {
        meta.verdict = verdict_t.TAIL_DROPPED;
    }

    @brief("Queues that may be paused.")
    @description("Key: egress port << 3 | priority.")
    table pausable_queue {
        key = { meta.queue: exact @name("queue"); }
        actions = {
            take_pauses;
            discard;
            @defaultonly NoAction;
        }
        default_action = NoAction;
        size = QUEUE_CELLS;
    }

    apply {
        pausable_queue.apply();
    }
}

#endif // EEON_PFC_P4_
