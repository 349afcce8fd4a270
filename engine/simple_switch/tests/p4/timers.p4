// Sets timers in egress, and again when it runs for one. Register `timers`: ticks, by port << 3 | priority.

#define V1MODEL_VERSION 20200408
#include <core.p4>
#include <v1model.p4>

const bit<32> INSTANCE_TYPE_TIMER = 7;

struct headers_t {}

struct metadata_t {}

// How long after it has run for a timer that timer is due again; 0: never.
register<bit<48>, bit<1>>(1) period;
register<bit<48>, bit<12>>(64) timers;

parser timers_parser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        transition accept;
    }
}

control timers_verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control timers_ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == INSTANCE_TYPE_TIMER) {
            bit<48> next;
            period.read(next, 0);
            if (next != 0) {
                timers.write(standard_metadata.ingress_port ++ standard_metadata.priority,
                             standard_metadata.ingress_global_timestamp + next);
            }
        } else {
            standard_metadata.egress_spec = 1;
        }
    }
}

control timers_egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        // 20 ticks after it has left its queue.
        timers.write(standard_metadata.ingress_port ++ 3w0, standard_metadata.egress_global_timestamp + 20);
    }
}

control timers_update(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control timers_deparser(packet_out packet, in headers_t hdr) {
    apply {}
}

V1Switch(timers_parser(), timers_verify(), timers_ingress(), timers_egress(), timers_update(), timers_deparser()) main;
