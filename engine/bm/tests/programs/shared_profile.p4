// Two tables that share an action profile. p4c makes a copy of the action for each table; a member belongs to both.
#include "v1.h"

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

NO_VERIFY

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action_profile(16) next_hops;

    action send(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table first {
        key = { hdr.ethernet.dst: exact; }
        actions = { send; @defaultonly NoAction; }
        implementation = next_hops;
    }
    table second {
        key = { hdr.ethernet.dst: exact; }
        actions = { send; @defaultonly NoAction; }
        implementation = next_hops;
    }

    apply {
        if (hdr.ethernet.type == 1) {
            first.apply();
        } else {
            second.apply();
        }
    }
}

NO_EGRESS
NO_UPDATE
EMIT_ALL

V1Switch(parse(), verify_none(), ingress(), egress_none(), update_none(), emit_all()) main;
