// Every kind of table: exact, lpm, ternary, optional and range keys, const entries, hit and miss, a switch on the action,
// an action profile, a selector, direct counters and meters. Each leaves a trace in egress_spec or in the source address.
#include "v1.h"

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
    bit<8> mode;
    bit<2> colour;
    bit<9> profile_port;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

NO_VERIFY

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    direct_counter(CounterType.packets_and_bytes) route_counter;
    direct_meter<bit<2>>(MeterType.packets) acl_meter;

    action send(bit<9> port) {
        standard_metadata.egress_spec = port;
        route_counter.count();
    }
    action drop() {
        mark_to_drop(standard_metadata);
    }
    action permit(bit<8> mode) {
        meta.mode = mode;
        acl_meter.read(meta.colour);
    }
    action deny() {
        mark_to_drop(standard_metadata);
        exit;
    }
    action set_mode(bit<8> mode) {
        meta.mode = mode;
    }
    action set_port(bit<9> port) {
        meta.profile_port = port;
    }

    table exact_mode {
        key = { hdr.ethernet.src: exact; hdr.ethernet.type: exact; }
        actions = { set_mode; NoAction; }
        default_action = NoAction;
        size = 2;
    }
    table route {
        key = { hdr.ethernet.type: exact; hdr.ethernet.dst: lpm; }
        actions = { send; drop; @defaultonly NoAction; }
        default_action = drop;
        counters = route_counter;
        size = 64;
    }
    table acl {
        key = { hdr.ethernet.dst: ternary; hdr.ethernet.src: optional; hdr.ethernet.type: range; }
        actions = { permit; deny; NoAction; }
        default_action = NoAction;
        meters = acl_meter;
        size = 64;
    }
    table fixed {
        key = { hdr.ethernet.type: range; hdr.ethernet.dst: ternary; }
        actions = { set_mode; NoAction; }
        const default_action = NoAction;
        const entries = {
            (0x0100 .. 0x01ff, 0x000000000001 &&& 0x000000000001): set_mode(77);
            (0x0100 .. 0x02ff, _): set_mode(88);
        }
    }
    table members {
        key = { hdr.ethernet.type: exact; }
        actions = { set_port; NoAction; }
        implementation = action_profile(8);
    }
    table groups {
        key = { hdr.ethernet.type: exact; hdr.ethernet.src: selector; }
        actions = { set_port; NoAction; }
        implementation = action_selector(HashAlgorithm.crc16, 16, 10);
    }

    apply {
        if (!exact_mode.apply().hit) {
            fixed.apply();
        }
        switch (route.apply().action_run) {
            send: {
                acl.apply();
            }
            drop: {
                meta.mode = 99;
            }
        }
        if (!members.apply().hit) {
            groups.apply();
        }
        hdr.ethernet.src = (bit<48>)(meta.mode ++ (bit<8>)meta.colour ++ (bit<16>)meta.profile_port);
    }
}

NO_EGRESS
NO_UPDATE
EMIT_ALL

V1Switch(parse(), verify_none(), ingress(), egress_none(), update_none(), emit_all()) main;
