// The depth of each port's queues, in bytes and in packets.
//
// v1model reports packets, not bytes, and reports them too late. Therefore the program keeps its own account: a packet is
// added when ingress decides to queue it, and removed when egress lets it leave. Invariants:
//
//   * the target's own queue never overflows (it drops silently, and the account would stay wrong): it is set
//     deeper than the buffer limit allows (control/buffer.p4);
//   * every change is inside one action, the unit in which BMv2 locks the registers that it uses;
//   * a packet that is not queued never enters the account.
//
// Ingress is one thread in BMv2 and egress only subtracts, so a packet that fitted still fits when it is added.

#ifndef EEON_OCCUPANCY_P4_
#define EEON_OCCUPANCY_P4_

#include "../metadata.p4"
#include "../sizes.p4"
#include "outside.p4"

@brief("The bytes in all queues of a port.")
@description("Bytes. Index: port.")
@name("occupancy_bytes")
register<byte_count_t, port_id_t>(PORT_CELLS) occupancy_bytes;

@brief("The packets in all queues of a port.")
@description("Packets. Index: port.")
@name("occupancy_packets")
register<packet_count_t, port_id_t>(PORT_CELLS) occupancy_packets;

// Index: port << 3 | priority. Only for queues above the lowest, whose bytes are the remainder of its port's: a packet of
// priority 0 needs no second account.
@brief("The bytes in a queue of priority 1 to 7. Queue 0 has the rest of occupancy_bytes.")
@description("Bytes. Index: port << 3 | priority.")
@name("queue_bytes")
register<byte_count_t, queue_id_t>(QUEUE_CELLS) queue_bytes;

@brief("The packets in a queue of priority 1 to 7. Queue 0 has the rest of occupancy_packets.")
@description("Packets. Index: port << 3 | priority.")
@name("queue_packets")
register<packet_count_t, queue_id_t>(QUEUE_CELLS) queue_packets;

// The part of the port's account in the queues above the lowest; the remainder is in the lowest.
@brief("The part of occupancy_bytes in queues of priority 1 to 7.")
@description("Bytes. Index: port.")
@name("raised_bytes")
register<byte_count_t, port_id_t>(PORT_CELLS) raised_bytes;

@brief("The part of occupancy_packets in queues of priority 1 to 7.")
@description("Packets. Index: port.")
@name("raised_packets")
register<packet_count_t, port_id_t>(PORT_CELLS) raised_packets;

// Sets the egress port, initially with its lowest queue, and reads the depth that the packet finds. (A macro, because
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

// Part of the departure action (control/hold.p4). `left` is the depth that the packet leaves behind, in its AQM's scope.
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
