// How much stands in each port's queues, in bytes and in packets.
//
// v1model tells packets, not bytes, and tells them too late. So the program keeps its own account: a packet enters when
// ingress has decided to queue it and leaves when egress lets it go. What must hold:
//
//   * the target's own queue never overflows (it drops silently, and the account would be wrong for ever): it is set
//     deeper than the buffer limit allows (control/buffer.p4);
//   * every change is inside one action, the unit in which BMv2 locks the registers that it uses;
//   * a packet that is not to be queued never enters.
//
// Ingress is one thread in BMv2 and egress only takes off, so a packet that fitted still fits when it enters.

#ifndef EEON_OCCUPANCY_P4_
#define EEON_OCCUPANCY_P4_

#include "../metadata.p4"
#include "../sizes.p4"
#include "outside.p4"

@brief("What stands in all queues of a port.")
@description("Bytes. Index: port.")
@name("occupancy_bytes")
register<byte_count_t, port_id_t>(PORT_CELLS) occupancy_bytes;

@brief("What stands in all queues of a port.")
@description("Packets. Index: port.")
@name("occupancy_packets")
register<packet_count_t, port_id_t>(PORT_CELLS) occupancy_packets;

// Index: port << 3 | priority. Of the queues above the lowest, whose bytes are what is left of its port's: a packet of
// priority 0 costs no second account.
@brief("What stands in a queue of priority 1 to 7; queue 0 has the rest of occupancy_bytes.")
@description("Bytes. Index: port << 3 | priority.")
@name("queue_bytes")
register<byte_count_t, queue_id_t>(QUEUE_CELLS) queue_bytes;

@brief("What stands in a queue of priority 1 to 7; queue 0 has the rest of occupancy_packets.")
@description("Packets. Index: port << 3 | priority.")
@name("queue_packets")
register<packet_count_t, queue_id_t>(QUEUE_CELLS) queue_packets;

// Of the port's, what stands in the queues above the lowest: what is left is in that one.
@brief("Of occupancy_bytes, what stands in queues of priority 1 to 7.")
@description("Bytes. Index: port.")
@name("raised_bytes")
register<byte_count_t, port_id_t>(PORT_CELLS) raised_bytes;

@brief("Of occupancy_packets, what stands in queues of priority 1 to 7.")
@description("Packets. Index: port.")
@name("raised_packets")
register<packet_count_t, port_id_t>(PORT_CELLS) raised_packets;

// The packet is to leave by a port, for the time being from its lowest queue, and finds what stands there. (A macro, because
// p4c copies a struct that an action changes.)
#define LEAVES_BY(meta, port) \
    (meta).egress_port = (port); \
    (meta).queue = (port) ++ 3w0; \
    occupancy_bytes.read((meta).found_bytes, (port));

// Part of the action that admits a packet (control/eee.p4). `found` is the number of packets before it.
action occupancy_enter(in metadata_t meta, out packet_count_t found) {
    byte_count_t bytes;
    occupancy_bytes.read(bytes, meta.egress_port);
    occupancy_bytes.write(meta.egress_port, bytes + meta.queued_bytes);
    occupancy_packets.read(found, meta.egress_port);
    occupancy_packets.write(meta.egress_port, found + 1);
    if (meta.queue[2:0] != 0) {
        byte_count_t queued;
        queue_bytes.read(queued, meta.queue);
        queue_bytes.write(meta.queue, queued + meta.queued_bytes);
        byte_count_t raised;
        raised_bytes.read(raised, meta.egress_port);
        raised_bytes.write(meta.egress_port, raised + meta.queued_bytes);
        packet_count_t packets;
        queue_packets.read(packets, meta.queue);
        queue_packets.write(meta.queue, packets + 1);
        raised_packets.read(packets, meta.egress_port);
        raised_packets.write(meta.egress_port, packets + 1);
    }
}

// Part of the action that lets a packet go (control/hold.p4). `left` is what stays behind it, of what its AQM compares.
action occupancy_leave(in metadata_t meta, out byte_count_t left) {
    packet_count_t packets;
    occupancy_bytes.read(left, meta.egress_port);
    left = left - meta.queued_bytes;
    occupancy_bytes.write(meta.egress_port, left);
    occupancy_packets.read(packets, meta.egress_port);
    occupancy_packets.write(meta.egress_port, packets - 1);
    if (meta.queue[2:0] != 0) {
        byte_count_t queued;
        queue_bytes.read(queued, meta.queue);
        queued = queued - meta.queued_bytes;
        queue_bytes.write(meta.queue, queued);
        byte_count_t raised;
        raised_bytes.read(raised, meta.egress_port);
        raised_bytes.write(meta.egress_port, raised - meta.queued_bytes);
        queue_packets.read(packets, meta.queue);
        queue_packets.write(meta.queue, packets - 1);
        raised_packets.read(packets, meta.egress_port);
        raised_packets.write(meta.egress_port, packets - 1);
        if (meta.aqm_of_queue == 1) {
            left = queued;
        }
    } else if (meta.aqm_of_queue == 1) {
        byte_count_t raised;
        raised_bytes.read(raised, meta.egress_port);
        left = left - raised;
    }
    OUTSIDE_LEAVE(meta)
}

#endif // EEON_OCCUPANCY_P4_
