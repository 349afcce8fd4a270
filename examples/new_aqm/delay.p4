// A new AQM: mark a packet that can be marked when it has waited longer than a target, as it leaves the queue.
// Everything else is the least that a switch needs: every frame leaves by port 1.
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<2> CE = 3; // RFC 3168, section 5

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<16> flags_and_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> header_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
}

struct metadata_t {}

parser DelayParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            TYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control DelayVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control DelayIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 1;
    }
}

control DelayEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(1, CounterType.packets) marked;

    action mark_above(bit<32> target) {
        // Not-ECT (0) cannot be marked, and CE stays CE.
        if (standard_metadata.deq_timedelta > target && hdr.ipv4.ecn != 0 && hdr.ipv4.ecn != CE) {
            hdr.ipv4.ecn = CE;
            marked.count(0);
        }
    }

    table delay {
        key = { standard_metadata.egress_port: exact; }
        actions = { mark_above; NoAction; }
        default_action = NoAction();
    }

    apply {
        if (hdr.ipv4.isValid()) {
            delay.apply();
        }
    }
}

control DelayUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length, hdr.ipv4.identification,
              hdr.ipv4.flags_and_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
            hdr.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

control DelayDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(DelayParser(), DelayVerify(), DelayIngress(), DelayEgress(), DelayUpdate(), DelayDeparser()) main;
