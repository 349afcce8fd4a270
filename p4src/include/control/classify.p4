// Classifies the packet: well-formed or not, its class, its ECN codepoint, its length in the queue.
// Every packet from a port or from the controller passes here once, and is counted in `received`.

#ifndef EEON_CLASSIFY_P4_
#define EEON_CLASSIFY_P4_

#include "../headers.p4"
#include "../metadata.p4"
#include "counters.p4"

control classify(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t standard_metadata) {
    // The parser has checked that the TCP header fits into the IP payload.
    @hidden
    action read_tcp() {
        meta.tcp_ece = hdr.tcp.ece;
        if (hdr.tcp.syn == 1) {
            if (hdr.tcp.ack == 1) {
                meta.packet_class = packet_class_t.SYN_ACK;
            } else {
                meta.packet_class = packet_class_t.SYN;
            }
        } else if (hdr.tcp.fin == 1 || hdr.tcp.rst == 1) {
            meta.packet_class = packet_class_t.FIN_RST;
        } else if (meta.l4_length != (bit<16>)hdr.tcp.data_offset << 2) {
            meta.packet_class = packet_class_t.DATA;
        } else if (hdr.tcp.ack == 1) {
            if (hdr.tcp.ece == 1) {
                meta.packet_class = packet_class_t.ACK_ECE;
            } else {
                meta.packet_class = packet_class_t.ACK;
            }
        }
    }

    @hidden
    action read_packet() {
        meta.queued_bytes = standard_metadata.packet_length;
        meta.packet_class = packet_class_t.OTHER;
        if (standard_metadata.parser_error != error.NoError || standard_metadata.checksum_error == 1) {
            meta.verdict = verdict_t.MALFORMED;
        } else {
            if (hdr.ipv4.isValid()) {
                meta.ecn = hdr.ipv4.ecn;
            } else if (hdr.ipv6.isValid()) {
                meta.ecn = hdr.ipv6.ecn;
            } else if (hdr.ethernet.ether_type == ETHERTYPE_MAC_CONTROL) {
                // IEEE 802.3 clause 31: for the MAC that receives it; never forwarded.
                meta.packet_class = packet_class_t.CONTROL;
                meta.verdict = verdict_t.CONSUMED;
            }
            if (hdr.tcp.isValid()) {
                read_tcp();
            } else if (hdr.cnm.isValid()) {
                meta.packet_class = packet_class_t.CONTROL;
                // A CNM from the controller needs no route.
                if (standard_metadata.ingress_port != CPU_PORT) {
                    REVERSE_CARRIED(hdr)
                }
            }
        }
        count_received(meta, standard_metadata.ingress_port);
    }

    apply {
        read_packet();
    }
}

#endif // EEON_CLASSIFY_P4_
