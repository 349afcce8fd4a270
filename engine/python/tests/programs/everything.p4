// One object of every kind that a P4Runtime client can address, for the tests of the server. It is not a switch.
// Compiled by `make p4`; everything.json and everything.p4info.txtpb are committed.

#include <core.p4>
#include <v1model.p4>

#define CPU_PORT 510

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    @padding bit<7> _pad;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    @padding bit<7> _pad;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

// Four bytes of key, so that a test writes the frame it means.
header key_t {
    bit<32> value;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
    key_t key;
}

struct meta_t { }

parser ParserImpl(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
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
        transition accept;
    }
}

control EverythingIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    counter(8, CounterType.packets_and_bytes) both;
    counter(8, CounterType.packets) packets_only;
    counter(8, CounterType.bytes) bytes_only;
    register<bit<48>>(16) wide_cells;
    register<int<16>>(4) signed_cells;
    direct_counter(CounterType.packets_and_bytes) exact_hits;
    @max_group_size(16)
    action_selector(HashAlgorithm.crc32, 128, 16) selector;
    action_profile(16) plain_profile;

    action drop() {
        mark_to_drop(std);
    }
    action forward(bit<9> port) {
        std.egress_spec = port;
    }
    action forward_as(bit<9> port, bit<48> src) {
        std.egress_spec = port;
        hdr.ethernet.src = src;
    }
    action to_cpu() {
        std.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std.ingress_port;
    }
    action flood(bit<16> group) {
        std.mcast_grp = group;
    }
    action mirror(bit<9> port, bit<32> session) {
        std.egress_spec = port;
        clone(CloneType.I2E, session);
    }

    table exact_table {
        key = { hdr.key.value: exact @name("value"); }
        actions = { forward; to_cpu; flood; mirror; drop; @defaultonly NoAction; }
        size = 16;
        counters = exact_hits;
    }
    table lpm_table {
        key = { hdr.key.value: lpm @name("value"); hdr.key.value: selector; }
        actions = { forward; forward_as; drop; @defaultonly NoAction; }
        size = 1024;
        implementation = selector;
    }
    table member_table {
        key = { hdr.key.value: exact @name("value"); }
        actions = { forward; drop; @defaultonly NoAction; }
        size = 16;
        implementation = plain_profile;
    }
    table ternary_table {
        key = { hdr.key.value: ternary @name("value"); hdr.ethernet.type: exact @name("type"); }
        actions = { forward; drop; @tableonly to_cpu; @defaultonly NoAction; }
        size = 16;
    }
    table range_table {
        key = { hdr.key.value: range @name("value"); hdr.ethernet.type: optional @name("type"); }
        actions = { forward; drop; NoAction; }
        size = 16;
        const default_action = NoAction();
    }
    table const_table {
        key = { hdr.key.value: ternary @name("value"); }
        actions = { forward; drop; NoAction; }
        const entries = {
            0xcafe0001 &&& 0xffffffff: forward(7);
            0xcafe0000 &&& 0xffff0000: drop();
        }
    }
    table settings {
        actions = { forward; drop; NoAction; }
        default_action = NoAction();
    }

    apply {
        if (hdr.packet_out.isValid()) {
            std.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }
        bit<32> index = (bit<32>)hdr.key.value[2:0];
        both.count(index);
        packets_only.count(index);
        bytes_only.count(index);
        wide_cells.write(0, std.ingress_global_timestamp);
        int<16> cell;
        signed_cells.read(cell, 0);
        signed_cells.write(0, cell - 1);
        mark_to_drop(std);
        settings.apply();
        const_table.apply();
        if (!exact_table.apply().hit) {
            if (!member_table.apply().hit) {
                if (!lpm_table.apply().hit) {
                    if (!ternary_table.apply().hit) {
                        range_table.apply();
                    }
                }
            }
        }
    }
}

control EverythingEgress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply { }
}

control EverythingDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.key);
    }
}

control NoChecksum(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

V1Switch(ParserImpl(), NoChecksum(), EverythingIngress(), EverythingEgress(), NoChecksum(), EverythingDeparser()) main;
