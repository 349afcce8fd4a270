// Lossless classes: accounts by ingress port, and the decision to pause the neighbour (IEEE 802.1Q-2022
// clause 36). The model, its rules and its limits: docs/models/pfc.md.
//
// A group is the traffic of one ingress port and one priority. Its bytes are added with those of the queue (control/eee.p4)
// and removed with them (control/hold.p4). Above `xoff_bytes` the neighbour is paused, at `xon_bytes` released. In between the
// pause is repeated after half of its time: on targets with timers at that instant, otherwise when a packet of the group
// arrives, whether it fits or not, or leaves. The pause frame is made from a copy of that packet, or of none (control/copies.p4).

#ifndef EEON_LOSSLESS_P4_
#define EEON_LOSSLESS_P4_

#include "../metadata.p4"
#include "../sizes.p4"
#include "qcn.p4"

@brief("The occupancy of a group: the packets of one ingress port and priority that are in the switch.")
@description("Bytes. Index: ingress port << 3 | priority.")
@name("ingress_bytes")
register<byte_count_t, queue_id_t>(QUEUE_CELLS) ingress_bytes;

@brief("The time of the last pause sent to the neighbour; 0: the neighbour may send.")
@description("Ticks. Index: ingress port << 3 | priority.")
@name("pause_sent_at")
register<tick_t, queue_id_t>(QUEUE_CELLS) pause_sent_at;

// When the pause is to be repeated. 0: it may send. The engine then runs the program for this group without a packet.
@brief("The time when the pause is sent again; 0: the neighbour may send.")
@description("Ticks. Index: ingress port << 3 | priority.")
@name("pause_timer")
register<tick_t, queue_id_t>(QUEUE_CELLS) pause_timer;

// The quanta of the last pause, for runs without a packet.
@brief("The pause time last sent to the neighbour.")
@description("Quanta of 512 bit times. Index: ingress port << 3 | priority.")
@name("pause_told")
register<bit<16>, queue_id_t>(QUEUE_CELLS) pause_told;

// Packets that did not fit the limit of their group. With enough headroom there are none.
@brief("Packets that exceeded the limit of their group and were dropped.")
@description("Packets. Index: ingress port << 3 | priority.")
@name("lossless_dropped")
counter<queue_id_t>(QUEUE_CELLS, CounterType.packets) lossless_dropped;

// Pauses the neighbour from now on.
action ask_pause(
    in metadata_t meta, in tick_t now, inout copy_t copy, inout queue_id_t copy_queue, inout bit<16> copy_quanta) {
    pause_sent_at.write(meta.ingress_queue, GATE_AT(now));
    pause_timer.write(meta.ingress_queue, GATE_AT(now + meta.pause_refresh_ticks));
    pause_told.write(meta.ingress_queue, meta.pause_quanta);
    copy = copy_t.PAUSE;
    copy_queue = meta.ingress_queue;
    copy_quanta = meta.pause_quanta;
}

// The same in ingress, with the copy. If the copy was to become a CNM, the next packet of the queue is sampled for it.
action pause_in_ingress(
    in metadata_t meta, in tick_t now, inout copy_t copy, inout queue_id_t copy_queue, inout bit<16> copy_quanta) {
    if (copy == copy_t.CNM) {
        SAMPLE_NEXT(meta.queue)
    }
    ask_pause(meta, now, copy, copy_queue, copy_quanta);
    clone_preserving_field_list(CloneType.I2E, COPY_SESSION, COPY_FIELDS);
}

// Part of the action that admits a packet of a group.
action lossless_enter(
    in metadata_t meta, in tick_t now, inout copy_t copy, inout queue_id_t copy_queue, inout bit<16> copy_quanta) {
    byte_count_t bytes;
    tick_t sent;
    ingress_bytes.read(bytes, meta.ingress_queue);
    bytes = bytes + meta.queued_bytes;
    ingress_bytes.write(meta.ingress_queue, bytes);
    pause_sent_at.read(sent, meta.ingress_queue);
    if ((sent == 0 && bytes > meta.xoff_bytes) || (sent != 0 && now - sent >= meta.pause_refresh_ticks)) {
        pause_in_ingress(meta, now, copy, copy_queue, copy_quanta);
    }
}

// Part of the departure action of a packet of a group.
action lossless_leave(
    in metadata_t meta, in tick_t now, inout copy_t copy, inout queue_id_t copy_queue, inout bit<16> copy_quanta) {
    byte_count_t bytes;
    tick_t sent;
    ingress_bytes.read(bytes, meta.ingress_queue);
    bytes = bytes - meta.queued_bytes;
    ingress_bytes.write(meta.ingress_queue, bytes);
    pause_sent_at.read(sent, meta.ingress_queue);
    if (sent != 0) {
        if (bytes <= meta.xon_bytes) {
            pause_sent_at.write(meta.ingress_queue, 0);
            pause_timer.write(meta.ingress_queue, 0);
            copy = copy_t.PAUSE;
            copy_queue = meta.ingress_queue;
            copy_quanta = 0;
            clone_preserving_field_list(CloneType.E2E, COPY_SESSION, COPY_FIELDS);
        } else if (now - sent >= meta.pause_refresh_ticks) {
            ask_pause(meta, now, copy, copy_queue, copy_quanta);
            clone_preserving_field_list(CloneType.E2E, COPY_SESSION, COPY_FIELDS);
        }
    }
}

// For packets to be queued on a switch whose ports use several queues: is the packet's class lossless at its ingress
// port? Then the limit of its group decides whether it fits, and not the port's buffer limit.
control lossless_limit(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    // The thresholds compare the bytes in the group, including the newest packet.
    @brief("The group pauses its neighbour before it drops packets.")
    @action_restriction("xon_bytes <= xoff_bytes && xoff_bytes <= limit_bytes")
    action lossless(
        @brief("Bytes above which the neighbour is paused (XOFF).") byte_count_t xoff_bytes,
        @brief("Bytes at or below which the neighbour may send again (XON).") byte_count_t xon_bytes,
        @brief("Bytes above which a packet is dropped.") byte_count_t limit_bytes,
        @brief("Pause time in quanta of 512 bit times.") bit<16> pause_quanta,
        @brief("Ticks after which the pause is sent again.") tick_t pause_refresh_ticks) {
        meta.lossless = 1;
        meta.xoff_bytes = xoff_bytes;
        meta.xon_bytes = xon_bytes;
        meta.pause_quanta = pause_quanta;
        meta.pause_refresh_ticks = pause_refresh_ticks;
        byte_count_t bytes;
        ingress_bytes.read(bytes, meta.ingress_queue);
        if ((bit<33>)bytes + (bit<33>)meta.queued_bytes > (bit<33>)limit_bytes) {
            meta.verdict = verdict_t.TAIL_DROPPED;
            lossless_dropped.count(meta.ingress_queue);
            // A neighbour that was not paused, or whose pause has run out while nothing left, would keep sending in vain.
            tick_t now = standard_metadata.ingress_global_timestamp;
            tick_t sent;
            pause_sent_at.read(sent, meta.ingress_queue);
            if (sent == 0 || now - sent >= meta.pause_refresh_ticks) {
                pause_in_ingress(meta, now, meta.copy, meta.copy_queue, meta.copy_quanta);
            }
        }
    }

    @hidden
    action find_group() {
        meta.ingress_queue = standard_metadata.ingress_port ++ meta.queue[2:0];
    }

    @brief("Classes that are lossless at their ingress port.")
    @description("Key: ingress port << 3 | priority.")
    table lossless_group {
        key = { meta.ingress_queue: exact @name("queue"); }
        actions = {
            lossless;
            @defaultonly NoAction;
        }
        default_action = NoAction;
        size = QUEUE_CELLS;
    }

    apply {
        if (meta.verdict == verdict_t.FORWARDED) {
            find_group();
            lossless_group.apply();
        }
    }
}

// For a group whose timer has expired.
control say_again(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    @hidden
    action ask_again() {
        meta.ingress_queue = standard_metadata.ingress_port ++ standard_metadata.priority;
        pause_told.read(meta.pause_quanta, meta.ingress_queue);
        tick_t sent;
        pause_sent_at.read(sent, meta.ingress_queue);
        pause_timer.read(meta.pause_refresh_ticks, meta.ingress_queue);
        meta.pause_refresh_ticks = meta.pause_refresh_ticks - sent;
        tick_t now = standard_metadata.ingress_global_timestamp;
        pause_in_ingress(meta, now, meta.copy, meta.copy_queue, meta.copy_quanta);
    }

    apply {
        ask_again();
    }
}

#endif // EEON_LOSSLESS_P4_
