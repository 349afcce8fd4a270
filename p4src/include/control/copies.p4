// Frames that the switch makes. Each begins as a copy of a packet (clone session COPY_SESSION, to COPY_PORT). Egress turns
// the copy into the frame and recirculates it; ingress treats the frame like any packet: it is admitted, takes its turn,
// wakes a sleeping link, and is counted. It is never sampled, marked, paused, or dropped by the buffer limit.

#ifndef EEON_COPIES_P4_
#define EEON_COPIES_P4_

#include "../headers.p4"
#include "../metadata.p4"
#include "../sizes.p4"
#include "counters.p4"

@brief("Pause frames with a time above 0 that the switch generated.")
@description("Packets. Index: port << 3 | priority.")
@name("pauses_sent")
counter<queue_id_t>(QUEUE_CELLS, CounterType.packets) pauses_sent;

#define PAUSE_TIME(priority) \
    hdr.pfc.time_##priority = 0; \
    if (meta.copy_queue[2:0] == priority) { \
        hdr.pfc.time_##priority = meta.copy_quanta; \
    }

// In egress: turns the copy into the frame.
control make_frame(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    @hidden
    action make_pause() {
        hdr.outer_vlan.setInvalid();
        hdr.inner_vlan.setInvalid();
        hdr.ipv4.setInvalid();
        hdr.ipv4_options.setInvalid();
        hdr.ipv6.setInvalid();
        hdr.tcp.setInvalid();
        hdr.udp.setInvalid();
        hdr.ethernet.dst_addr = MAC_CONTROL_ADDRESS;
        hdr.ethernet.src_addr = 0;
        hdr.ethernet.ether_type = ETHERTYPE_MAC_CONTROL;
        hdr.mac_control.setValid();
        hdr.mac_control.opcode = MAC_CONTROL_PFC;
        hdr.pfc.setValid();
        hdr.pfc.reserved = 0;
        hdr.pfc.enabled = (bit<8>)1 << meta.copy_queue[2:0];
        PAUSE_TIME(0)
        PAUSE_TIME(1)
        PAUSE_TIME(2)
        PAUSE_TIME(3)
        PAUSE_TIME(4)
        PAUSE_TIME(5)
        PAUSE_TIME(6)
        PAUSE_TIME(7)
        hdr.pfc_padding.setValid();
        hdr.pfc_padding.zero_0 = 0;
        hdr.pfc_padding.zero_1 = 0;
        hdr.pfc_padding.zero_2 = 0;
        hdr.pfc_padding.zero_3 = 0;
        hdr.pfc_padding.zero_4 = 0;
        hdr.pfc_padding.zero_5 = 0;
        hdr.pfc_padding.zero_6 = 0;
        meta.copy = copy_t.MADE_PAUSE;
        meta.copy_at = standard_metadata.egress_global_timestamp;
        recirculate_preserving_field_list(COPY_FIELDS);
    }

    apply {
        make_pause();
    }
}

// In ingress, on the second pass: chooses the egress port. The frame still has the payload of the copied packet.
control send_made(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // `source`: the MAC address of the port. loop_ticks: the duration of a recirculation on the target; without it, the
    // port's EEE would get a time in the past.
    @brief("Sets the source address of a pause frame that the switch generated.")
    action send_pause(
        @brief("MAC address of the port.") @format(MAC_ADDRESS) mac_addr_t source,
        @brief("Ticks that a recirculation takes on the target.") tick_t loop_ticks) {
        hdr.ethernet.src_addr = source;
        standard_metadata.ingress_global_timestamp = meta.copy_at + loop_ticks;
    }

    @hidden
    action send() {
        meta.egress_port = meta.copy_queue[11:3];
        meta.queue = meta.copy_queue[11:3] ++ CONTROL_PRIORITY;
        meta.turn = PAUSE_TURNS + (turn_id_t)meta.egress_port;
        standard_metadata.egress_spec = meta.egress_port;
        standard_metadata.priority = CONTROL_PRIORITY;
        standard_metadata.ingress_global_timestamp = meta.copy_at;
        meta.packet_class = packet_class_t.CONTROL;
        meta.queued_bytes = PAUSE_FRAME_BYTES;
        truncate(PAUSE_FRAME_BYTES);
        count_received(meta, COPY_PORT);
        if (meta.copy_quanta != 0) {
            pauses_sent.count(meta.copy_queue);
        }
    }

    @brief("The source address in the pause frames that leave a port.")
    @description("Key: egress port.")
    table made_pause {
        key = { meta.egress_port: exact @name("port"); }
        actions = {
            send_pause;
            @defaultonly NoAction;
        }
        default_action = NoAction;
        size = PORT_TABLE_SIZE;
    }

    apply {
        send();
        made_pause.apply();
    }
}

#endif // EEON_COPIES_P4_
