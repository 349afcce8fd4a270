// Parser and deparser.
//
// The parser also checks lengths: it stops with an error at the first header that is inconsistent, and classify
// turns any error into the verdict MALFORMED. A frame may be longer than the IP packet in it (padding), never shorter.
// Fragments and IPv6 packets with extension headers are parsed up to the IP header.

#ifndef EEON_PARSER_P4_
#define EEON_PARSER_P4_

#include "headers.p4"
#include "metadata.p4"

error {
    CnmInvalid,
    IPv4VersionOrLengthInvalid,
    IPv6VersionOrLengthInvalid,
    PfcAddressInvalid,
    TcpLengthInvalid,
    UdpLengthInvalid
}

parser eeon_parser(packet_in packet,
                   out headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    // Bytes before the IP header.
    bit<16> l2_bytes;

    state start {
        l2_bytes = ETHERNET_BYTES;
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        l2_bytes = PACKET_OUT_BYTES + ETHERNET_BYTES;
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            ETHERTYPE_VLAN: parse_outer_vlan;
            ETHERTYPE_QINQ: parse_outer_vlan;
            ETHERTYPE_MAC_CONTROL: parse_mac_control;
#ifdef EEON_QCN
            ETHERTYPE_CNM: parse_cnm;
#endif
            default: accept;
        }
    }

    state parse_mac_control {
        packet.extract(hdr.mac_control);
        transition select(hdr.mac_control.opcode) {
            MAC_CONTROL_PFC: parse_pfc;
            default: accept;
        }
    }

    state parse_pfc {
        packet.extract(hdr.pfc);
        verify(hdr.ethernet.dst_addr == MAC_CONTROL_ADDRESS, error.PfcAddressInvalid);
        transition accept;
    }

#ifdef EEON_QCN
#include "qcn_parser.p4"
#endif

    state parse_outer_vlan {
        packet.extract(hdr.outer_vlan);
        l2_bytes = l2_bytes + VLAN_BYTES;
        transition select(hdr.outer_vlan.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            ETHERTYPE_VLAN: parse_inner_vlan;
            ETHERTYPE_QINQ: parse_inner_vlan;
            default: accept;
        }
    }

    state parse_inner_vlan {
        packet.extract(hdr.inner_vlan);
        l2_bytes = l2_bytes + VLAN_BYTES;
        transition select(hdr.inner_vlan.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        meta.l4_length = hdr.ipv4.total_length - ((bit<16>)hdr.ipv4.ihl << 2);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5
               && hdr.ipv4.total_length >= (bit<16>)hdr.ipv4.ihl << 2
               && (bit<32>)hdr.ipv4.total_length + (bit<32>)l2_bytes <= standard_metadata.packet_length,
               error.IPv4VersionOrLengthInvalid);
        transition select(hdr.ipv4.ihl) {
            5: parse_ipv4_payload;
            default: parse_ipv4_options;
        }
    }

    state parse_ipv4_options {
        packet.extract(hdr.ipv4_options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition parse_ipv4_payload;
    }

    state parse_ipv4_payload {
        transition select(hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, 0, IP_PROTOCOL_TCP): parse_tcp;
            (0, 0, IP_PROTOCOL_UDP): parse_udp;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        meta.l4_length = hdr.ipv6.payload_length;
        verify(hdr.ipv6.version == 6
               && (bit<32>)hdr.ipv6.payload_length + (bit<32>)(l2_bytes + IPV6_BYTES)
                  <= standard_metadata.packet_length,
               error.IPv6VersionOrLengthInvalid);
        transition select(hdr.ipv6.next_header) {
            IP_PROTOCOL_TCP: parse_tcp;
            IP_PROTOCOL_UDP: parse_udp;
            default: accept;
        }
    }

    state parse_tcp {
        verify(meta.l4_length >= TCP_MIN_BYTES, error.TcpLengthInvalid);
        packet.extract(hdr.tcp);
        verify(hdr.tcp.data_offset >= 5 && (bit<16>)hdr.tcp.data_offset << 2 <= meta.l4_length,
               error.TcpLengthInvalid);
        meta.l4_src_port = hdr.tcp.src_port;
        meta.l4_dst_port = hdr.tcp.dst_port;
        transition accept;
    }

    state parse_udp {
        verify(meta.l4_length >= UDP_BYTES, error.UdpLengthInvalid);
        packet.extract(hdr.udp);
        meta.l4_src_port = hdr.udp.src_port;
        meta.l4_dst_port = hdr.udp.dst_port;
        transition accept;
    }
}

control eeon_deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.mac_control);
        packet.emit(hdr.pfc);
        packet.emit(hdr.pfc_padding);
        packet.emit(hdr.cnm);
        packet.emit(hdr.outer_vlan);
        packet.emit(hdr.inner_vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.carried_ports);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}

#endif // EEON_PARSER_P4_
