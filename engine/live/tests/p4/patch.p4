/* A patch panel: what comes in on port 2n leaves on port 2n+1, and the other way round. It parses nothing, so that
 * every frame must leave as it came; register `frames` counts them. For tests of ports. */
#include <core.p4>
#include <v1model.p4>

struct headers_t {}

struct metadata_t {}

parser PatchParser(packet_in packet, out headers_t headers, inout metadata_t metadata,
                   inout standard_metadata_t standard_metadata) {
    state start {
        transition accept;
    }
}

control Nothing(inout headers_t headers, inout metadata_t metadata) {
    apply {}
}

control PatchIngress(inout headers_t headers, inout metadata_t metadata,
                     inout standard_metadata_t standard_metadata) {
    register<bit<32>>(512) frames;

    action patch() {
        bit<32> count;
        frames.read(count, (bit<32>) standard_metadata.ingress_port);
        frames.write((bit<32>) standard_metadata.ingress_port, count + 1);
        standard_metadata.egress_spec = standard_metadata.ingress_port ^ 1;
    }

    action to_port(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table forward {
        key = { standard_metadata.ingress_port : exact; }
        actions = { patch; to_port; }
        size = 512;
        default_action = patch();
    }

    apply {
        forward.apply();
    }
}

control PatchEgress(inout headers_t headers, inout metadata_t metadata,
                    inout standard_metadata_t standard_metadata) {
    apply {}
}

control PatchDeparser(packet_out packet, in headers_t headers) {
    apply {}
}

V1Switch(PatchParser(), Nothing(), PatchIngress(), PatchEgress(), Nothing(), PatchDeparser()) main;
