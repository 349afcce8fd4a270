// Header formats, in the order in which they appear on the wire.

#ifndef EEON_HEADERS_P4_
#define EEON_HEADERS_P4_

#include "types.p4"

// To the controller: the frame as received, with the port on which it was received.
@controller_header("packet_in")
header packet_in_header_t {
    port_id_t ingress_port;
    bit<7> _pad;
}

// From the controller: the frame to send, with its egress port.
@controller_header("packet_out")
header packet_out_header_t {
    port_id_t egress_port;
    bit<7> _pad;
}

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16> ether_type;
}

// IEEE 802.1Q-2022 section 9.6.
header vlan_t {
    bit<3> priority;
    bit<1> drop_eligible;
    bit<12> vlan_id;
    bit<16> ether_type;
}

// IEEE 802.3 clause 31.
header mac_control_t {
    bit<16> opcode;
}

// IEEE 802.3 annex 31D. Bit n of `enabled` makes time n valid. Times are in quanta of 512 bit times.
header pfc_t {
    bit<8> reserved;
    bit<8> enabled;
    bit<16> time_0;
    bit<16> time_1;
    bit<16> time_2;
    bit<16> time_3;
    bit<16> time_4;
    bit<16> time_5;
    bit<16> time_6;
    bit<16> time_7;
}

// Pads the frames that the switch makes to the minimum frame length.
header pfc_padding_t {
    bit<32> zero_0;
    bit<32> zero_1;
    bit<32> zero_2;
    bit<32> zero_3;
    bit<32> zero_4;
    bit<32> zero_5;
    bit<16> zero_6;
}

// IEEE 802.1Q-2022 section 33.4, and the EtherType at which the carried bytes of the sampled frame begin.
// Differences are signed, in units of 64 bytes. The carried ports follow the carried IP header, which is not parsed further.
header cnm_t {
    bit<4> version;
    bit<6> reserved;
    bit<6> feedback;
    mac_addr_t cp_mac; // with cp_queue the CPID
    bit<16> cp_queue;
    bit<16> offset;
    bit<16> delta;
    bit<3> carried_priority;
    bit<13> reserved_2;
    mac_addr_t carried_dst_addr;
    bit<16> carried_bytes;
    bit<16> carried_type;
}

header carried_ports_t {
    bit<16> src_port;
    bit<16> dst_port;
}

// A CNM is routed to the source of the carried packet: the carried addresses are swapped before routing, and again afterwards.
#define REVERSE_CARRIED(hdr) \
    if (hdr.ipv4.isValid()) { \
        ipv4_addr_t addr = hdr.ipv4.src_addr; \
        hdr.ipv4.src_addr = hdr.ipv4.dst_addr; \
        hdr.ipv4.dst_addr = addr; \
    } else { \
        ipv6_addr_t addr = hdr.ipv6.src_addr; \
        hdr.ipv6.src_addr = hdr.ipv6.dst_addr; \
        hdr.ipv6.dst_addr = addr; \
    }

// RFC 791 section 3.1, with the second byte divided as in RFC 2474 and RFC 3168.
header ipv4_t {
    bit<4> version;
    bit<4> ihl; // header length in 32-bit words
    bit<6> dscp;
    ecn_t ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<1> reserved;
    bit<1> dont_fragment;
    bit<1> more_fragments;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> header_checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

header ipv4_options_t {
    varbit<320> options; // (15 - 5) words
}

// RFC 8200 section 3, with the traffic class divided as in RFC 2474 and RFC 3168.
header ipv6_t {
    bit<4> version;
    bit<6> dscp;
    ecn_t ecn;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_addr_t src_addr;
    ipv6_addr_t dst_addr;
}

// RFC 9293 section 3.1. Options stay in the payload, because the program does not read them.
header tcp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> sequence_number;
    bit<32> ack_number;
    bit<4> data_offset; // header length in 32-bit words
    bit<4> reserved;
    bit<1> cwr;
    bit<1> ece;
    bit<1> urg;
    bit<1> ack;
    bit<1> psh;
    bit<1> rst;
    bit<1> syn;
    bit<1> fin;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent_pointer;
}

// RFC 768.
header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

struct headers_t {
    packet_in_header_t packet_in;
    packet_out_header_t packet_out;
    ethernet_t ethernet;
    mac_control_t mac_control;
    pfc_t pfc;
    pfc_padding_t pfc_padding;
    cnm_t cnm;
    vlan_t outer_vlan;
    vlan_t inner_vlan;
    ipv4_t ipv4;
    ipv4_options_t ipv4_options;
    ipv6_t ipv6;
    carried_ports_t carried_ports;
    tcp_t tcp;
    udp_t udp;
}

#endif // EEON_HEADERS_P4_
