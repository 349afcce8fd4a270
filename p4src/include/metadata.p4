// The fields of one packet through which the stages communicate.
//
// All fields are zero at the start of a pass. A recirculated packet (control/hold.p4) keeps the fields marked
// HOLD_FIELDS and loses the rest, standard metadata included: its ingress port and its ingress timestamp read 0.

#ifndef EEON_METADATA_P4_
#define EEON_METADATA_P4_

#include "types.p4"

// @field_list takes a number. p4c numbers field lists from 1; 0 means that no list was requested.
const bit<8> HOLD_FIELDS = 1;
// The fields that a copy keeps (control/copies.p4).
const bit<8> COPY_FIELDS = 2;

struct metadata_t {
    // The packet's port and queue. BMv2's egress_spec and priority do not survive a round.
    @field_list(1)
    port_id_t egress_port;
    @field_list(1)
    queue_id_t queue;

    // Its bytes in occupancy_bytes, subtracted when it leaves.
    @field_list(1)
    byte_count_t queued_bytes;

    // They are also in outside_bytes.
    @field_list(1)
    bit<1> outside;

    // Its turn, when `ticketed`. A packet without a ticket never waits.
    @field_list(1)
    bit<1> ticketed;
    @field_list(1)
    ticket_t ticket;
    @field_list(1)
    turn_id_t turn; // 0: unset, the turn of its queue

    // Pauses may close its queue (control/pfc.p4). Such a packet has a ticket.
    @field_list(1)
    bit<1> pausable;

    // Number of times that it reached an open gate before its turn.
    @field_list(1)
    bit<16> rounds;

    // Its time on the wire in ticks, preamble and gap included. 0 where EEE is off.
    @field_list(1)
    tick_t wire_ticks;

    @field_list(1)
    packet_class_t packet_class;

    // MARKED: set CE when the packet leaves.
    @field_list(1)
    verdict_t verdict;

    // The scope of the AQM's depth and state: the packet's queue, or all queues of its port, for which the priority is 0.
    @field_list(1)
    bit<1> aqm_of_queue;
    @field_list(1)
    priority_t aqm_priority;

    // Decide at departure, against the bytes left behind.
    @field_list(1)
    bit<1> mark_at_dequeue;
    @field_list(1)
    byte_count_t dequeue_threshold_bytes;

    // CoDel judges it at departure (control/codel.p4), with its admission time and the port's settings at that time.
    @field_list(1)
    bit<1> codel;
    @field_list(1)
    tick_t admitted_at;
    @field_list(1)
    bit<32> codel_target_ticks;
    @field_list(1)
    bit<32> codel_interval_ticks;
    @field_list(1)
    byte_count_t codel_mtu_bytes;
    @field_list(1)
    signal_t signal;

    // Its class is lossless at its ingress port (control/lossless.p4): its group, and the group's thresholds and pause times.
    @field_list(1)
    bit<1> lossless;
    @field_list(1)
    queue_id_t ingress_queue; // ingress port << 3 | priority
    @field_list(1)
    byte_count_t xon_bytes;
    @field_list(1)
    bit<16> pause_quanta;
    @field_list(1)
    tick_t pause_refresh_ticks;

    // For a copy: its purpose, the queue that it concerns, the time of the pause that it becomes, when it became a pause or a
    // CNM. The queue is ingress port << 3 | priority for a pause, the congestion point for a CNM.
    @field_list(2)
    copy_t copy;
    @field_list(2)
    queue_id_t copy_queue;
    @field_list(2)
    bit<16> copy_quanta;
    @field_list(2)
    tick_t copy_at;

    // Feedback (6 bits), offset and delta (16 each) and carried bytes (7) of the CNM to be made.
    @field_list(2)
    bit<45> cnm;

    // Ingress only.
    byte_count_t xoff_bytes;
    bit<1> has_priorities;    // DSCP and PCP choose among a port's queues
    bit<1> held_outside;      // excluded from the buffer limit if the link is not awake
    bit<6> dscp;              // 0 unless IP
    ecn_t ecn;                // NOT_ECT unless the packet is well-formed IP
    bit<1> tcp_ece;
    bit<16> l4_length;        // bytes of the IP payload
    bit<16> l4_src_port;      // 0 unless unfragmented TCP or UDP
    bit<16> l4_dst_port;
    bit<16> ecmp_key;
    byte_count_t found_bytes; // found in the port's queues, or in its own queue where the AQM is by queue
}

#endif // EEON_METADATA_P4_
