// What `everything` lacks: meters, digests, value sets, ageing entries, tables that a role claims, entries that
// a program starts with. For the tests of the P4Runtime server. It is not a switch.
// Compiled by `make p4`; resources.json and resources.p4info.txtpb are committed.

#include <core.p4>
#include <v1model.p4>

#define CPU_PORT 510

@controller_header("packet_in")
@p4runtime_role("watcher")
header packet_in_t {
    bit<16> ingress_port;
}

@controller_header("packet_out")
@p4runtime_role("watcher")
header packet_out_t {
    bit<16> egress_port;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header key_t {
    bit<32> value;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
    key_t key;
}

struct meta_t {
    bit<2> colour;
    bit<1> in_set;
}

struct pair_t {
    bit<16> type;
    bit<8> first;
}

struct learned_t {
    bit<48> src;
    bit<9> port;
    int<8> offset;
}

parser ParserImpl(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    value_set<bit<16>>(4) types;
    value_set<pair_t>(2) pairs;

    state start {
        transition select(std.ingress_port) {
            CPU_PORT: from_cpu;
            default: ethernet;
        }
    }
    state from_cpu {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }
    state ethernet {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.key);
        transition select(hdr.ethernet.type) {
            types: in_a_set;
            default: second;
        }
    }
    state second {
        transition select(hdr.ethernet.type, hdr.key.value[31:24]) {
            pairs: in_a_set;
            default: accept;
        }
    }
    state in_a_set {
        meta.in_set = 1;
        transition accept;
    }
}

control ResourcesIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    direct_meter<bit<2>>(MeterType.packets) entry_meter;
    direct_counter(CounterType.packets_and_bytes) entry_counter;
    meter(4, MeterType.bytes) cells;
    @single_rate_two_color meter(2, MeterType.packets) simple_cells;

    action drop() {
        mark_to_drop(std);
    }
    action forward(bit<9> port) {
        std.egress_spec = port;
    }
    action metered(bit<9> port) {
        std.egress_spec = port;
        entry_meter.read(meta.colour);
    }
    action measured(bit<9> port) {
        std.egress_spec = port;
        cells.execute_meter<bit<2>>(1, meta.colour);
    }
    action learn() {
        digest<learned_t>(1, { hdr.ethernet.src, std.ingress_port, (int<8>)hdr.key.value[7:0] });
    }
    action to_cpu() {
        std.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = (bit<16>)std.ingress_port;
    }
    action unused() {
        simple_cells.execute_meter<bit<2>>(0, meta.colour);
    }

    table metered_table {
        key = { hdr.key.value: exact @name("value"); }
        actions = { metered; drop; }
        default_action = drop();
        meters = entry_meter;
        counters = entry_counter;
        size = 16;
    }
    table ageing_table {
        key = { hdr.key.value: exact @name("value"); }
        actions = { forward; drop; NoAction; }
        size = 16;
        support_timeout = true;
    }
    @p4runtime_role("routing")
    table routes {
        key = { hdr.key.value: lpm @name("value"); }
        actions = { forward; learn; measured; to_cpu; NoAction; unused; }
        size = 16;
        support_timeout = true;
    }
    @p4runtime_role("filter")
    table filters {
        key = { hdr.key.value: ternary @name("value"); }
        actions = { drop; NoAction; }
        size = 16;
    }
    table preset {
        key = { hdr.key.value: exact @name("value"); }
        actions = { forward; NoAction; }
        entries = {
            0x70000001: forward(7);
        }
    }

    apply {
        if (hdr.packet_out.isValid()) {
            std.egress_spec = (bit<9>)hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }
        mark_to_drop(std);
        metered_table.apply();
        ageing_table.apply();
        preset.apply();
        routes.apply();
        filters.apply();
        if (meta.in_set == 1) {
            std.egress_spec = 3;
        }
        if (meta.colour == 2) {
            mark_to_drop(std);
        }
    }
}

control ResourcesEgress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply { }
}

control ResourcesDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.key);
    }
}

control NoChecksum(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

V1Switch(ParserImpl(), NoChecksum(), ResourcesIngress(), ResourcesEgress(), NoChecksum(), ResourcesDeparser()) main;
