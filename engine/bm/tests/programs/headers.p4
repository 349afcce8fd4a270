// Parsing and deparsing: IPv4 options (a variable-length field), a header stack with a loop in the parser, lookahead,
// verify, a parser value set, checksums with a condition and over the payload.
#include "v1.h"

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<8> tos;
    bit<16> total_length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> header_checksum;
    bit<32> src;
    bit<32> dst;
}

header ipv4_options_t {
    varbit<320> options;
}

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

header mpls_t {
    bit<20> label;
    bit<3> traffic_class;
    bit<1> bottom;
    bit<8> ttl;
}

struct headers_t {
    ethernet_t ethernet;
    mpls_t[3] mpls;
    ipv4_t ipv4;
    ipv4_options_t options;
    udp_t udp;
}

struct metadata_t {
    bit<8> seen;
}

error { OddVersion }

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    value_set<bit<16>>(4) known_types;

    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x0800: parse_ipv4;
            0x8847: parse_mpls;
            known_types: parse_known;
            default: accept;
        }
    }

    state parse_mpls {
        packet.extract(hdr.mpls.next);
        transition select(hdr.mpls.last.bottom) {
            0: parse_mpls;
            default: parse_ipv4;
        }
    }

    state parse_ipv4 {
        verify(packet.lookahead<bit<4>>() == 4, error.OddVersion);
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.ihl >= 5, error.HeaderTooShort);
        transition select(hdr.ipv4.ihl) {
            5: parse_transport;
            default: parse_options;
        }
    }

    state parse_options {
        packet.extract(hdr.options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition parse_transport;
    }

    state parse_transport {
        transition select(hdr.ipv4.protocol, hdr.ipv4.fragment_offset) {
            (17, 0): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition accept;
    }

    state parse_known {
        meta.seen = 1;
        transition accept;
    }
}

control verify_header(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
                        { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_length, hdr.ipv4.identification,
                          hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src,
                          hdr.ipv4.dst, hdr.options.options },
                        hdr.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = (bit<9>)meta.seen + 1;
        if (hdr.mpls[0].isValid()) {
            hdr.mpls.pop_front(1);
        }
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        }
    }
}

NO_EGRESS

control update_header(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
                        { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_length, hdr.ipv4.identification,
                          hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src,
                          hdr.ipv4.dst, hdr.options.options },
                        hdr.ipv4.header_checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.udp.isValid(),
                                     { hdr.ipv4.src, hdr.ipv4.dst, 8w0, hdr.ipv4.protocol, hdr.udp.length,
                                       hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length },
                                     hdr.udp.checksum, HashAlgorithm.csum16);
    }
}

EMIT_ALL

V1Switch(parse(), verify_header(), ingress(), egress_none(), update_header(), emit_all()) main;
