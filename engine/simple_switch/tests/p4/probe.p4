// A program for the tests of simple_switch: a packet asks for one v1model operation, and says on its way out what it saw.
//
// It is not an example of a switch. `op` chooses the operation; the report in front of the payload holds the metadata as
// egress read it. `make p4` makes probe.json from it.

#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

enum bit<8> op_t {
    FORWARD = 0,
    INGRESS_DROP = 1,
    EGRESS_DROP = 2,
    RECIRCULATE = 3,        // `count` times
    RESUBMIT = 4,           // `count` times
    MULTICAST = 5,          // group `argument`
    CLONE_INGRESS = 6,      // session `argument`
    CLONE_EGRESS = 7,       // session `argument`
    CLONE_EGRESS_DROP = 8,  // and the original is dropped
    DIGEST = 9,
    TRUNCATE = 10,          // to `argument` bytes, in egress
    TRUNCATE_INGRESS = 11,  // to `argument` bytes, in ingress, then as MULTICAST when `count` is not 0
    RANDOM = 12,            // 0 to `argument`
    REGISTER = 13,          // add 1 to cell `argument` and report it
    GATE = 14,              // this port's gate opens `argument` ticks from now
    CLONE_FOR_EVER = 15,    // each clone is cloned, session `argument`
    EVERYTHING = 16,        // clone to session `argument`, digest, resubmit once, multicast to group `argument`, and drop
    LOG = 17,
    ASSERT = 18,            // that `count` is not 0
    GROW = 19               // recirculates, 4 bytes longer each time, `count` times
}

header request_t {
    op_t op;
    bit<8> count;
    bit<16> port;
    bit<16> argument;
    bit<8> priority;
    bit<8> is_checked;
    bit<16> checksum;
}

// Written on the way out.
header report_t {
    bit<16> ingress_port;
    bit<16> egress_port;
    bit<32> packet_length;
    bit<32> instance_type;
    bit<16> egress_rid;
    bit<16> parser_error;
    bit<8> checksum_error;
    bit<8> kept;            // of a field list
    bit<16> lost;           // of no field list
    bit<64> ingress_global_timestamp;
    bit<64> egress_global_timestamp;
    bit<32> enq_timestamp;
    bit<32> enq_qdepth;
    bit<32> deq_timedelta;
    bit<32> deq_qdepth;
    bit<32> value;
}

header filler_t {
    bit<32> bytes;
}

struct headers_t {
    report_t report;
    request_t request;
    filler_t filler;
}

struct metadata_t {
    @field_list(1, 2)
    bit<8> kept;
    bit<16> lost;
    @field_list(2)
    bit<8> round;
    bit<32> value;
}

struct sample_t {
    bit<16> port;
    bit<9> ingress_port;
    bit<8> count;
}

parser probe_parser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.request);
        transition accept;
    }
}

control probe_verify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.request.isValid() && hdr.request.is_checked == 1,
                        { hdr.request.op, hdr.request.count, hdr.request.port, hdr.request.argument },
                        hdr.request.checksum, HashAlgorithm.csum16);
    }
}

control probe_ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>, bit<32>>(16) counts;
    @name("gate")
    register<bit<48>, bit<32>>(512) gate;

    apply {
        if (standard_metadata.parser_error != error.NoError) {
            standard_metadata.egress_spec = 1;
        } else {
            standard_metadata.egress_spec = (bit<9>)hdr.request.port;
            standard_metadata.priority = (bit<3>)hdr.request.priority;
            if (standard_metadata.instance_type == 0) {
                meta.kept = 0x5a;
                meta.lost = 0xdead;
            }
            if (hdr.request.op == op_t.INGRESS_DROP) {
                mark_to_drop(standard_metadata);
            } else if (hdr.request.op == op_t.RESUBMIT) {
                if (meta.round < hdr.request.count) {
                    meta.round = meta.round + 1;
                    resubmit_preserving_field_list(2);
                }
            } else if (hdr.request.op == op_t.MULTICAST) {
                standard_metadata.mcast_grp = hdr.request.argument;
            } else if (hdr.request.op == op_t.CLONE_INGRESS) {
                clone_preserving_field_list(CloneType.I2E, (bit<32>)hdr.request.argument, 1);
                hdr.request.count = 99; // the clone must not show this
            } else if (hdr.request.op == op_t.DIGEST) {
                digest<sample_t>(1, { hdr.request.port, standard_metadata.ingress_port, hdr.request.count });
            } else if (hdr.request.op == op_t.TRUNCATE_INGRESS) {
                truncate((bit<32>)hdr.request.argument);
                if (hdr.request.count != 0) {
                    standard_metadata.mcast_grp = (bit<16>)hdr.request.count;
                }
            } else if (hdr.request.op == op_t.RANDOM) {
                random(meta.value, 32w0, (bit<32>)hdr.request.argument);
            } else if (hdr.request.op == op_t.REGISTER) {
                counts.read(meta.value, (bit<32>)hdr.request.argument);
                meta.value = meta.value + 1;
                counts.write((bit<32>)hdr.request.argument, meta.value);
            } else if (hdr.request.op == op_t.GATE) {
                gate.write((bit<32>)hdr.request.port, standard_metadata.ingress_global_timestamp + (bit<48>)hdr.request.argument);
            } else if (hdr.request.op == op_t.EVERYTHING) {
                clone_preserving_field_list(CloneType.I2E, (bit<32>)hdr.request.argument, 1);
                digest<sample_t>(1, { hdr.request.port, standard_metadata.ingress_port, hdr.request.count });
                if (meta.round == 0) {
                    meta.round = 1;
                    resubmit_preserving_field_list(2);
                    standard_metadata.egress_spec = 511;
                } else {
                    standard_metadata.egress_spec = 511;
                    standard_metadata.mcast_grp = hdr.request.argument;
                }
            } else if (hdr.request.op == op_t.LOG) {
                log_msg("port {} count {}", { hdr.request.port, hdr.request.count });
            } else if (hdr.request.op == op_t.ASSERT) {
                assert(hdr.request.count != 0);
            }
        }
    }
}

control probe_egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        bool leaves = true;
        if (hdr.request.isValid()) {
            if (hdr.request.op == op_t.EGRESS_DROP) {
                mark_to_drop(standard_metadata);
            } else if (hdr.request.op == op_t.RECIRCULATE && hdr.request.count != 0) {
                hdr.request.count = hdr.request.count - 1;
                recirculate_preserving_field_list(1);
                leaves = false;
            } else if (hdr.request.op == op_t.GROW && hdr.request.count != 0) {
                hdr.request.count = hdr.request.count - 1;
                hdr.filler.setValid();
                recirculate_preserving_field_list(1);
                leaves = false;
            } else if (hdr.request.op == op_t.CLONE_EGRESS && standard_metadata.instance_type == 0) {
                clone_preserving_field_list(CloneType.E2E, (bit<32>)hdr.request.argument, 1);
            } else if (hdr.request.op == op_t.CLONE_EGRESS_DROP && standard_metadata.instance_type == 0) {
                clone_preserving_field_list(CloneType.E2E, (bit<32>)hdr.request.argument, 1);
                mark_to_drop(standard_metadata);
            } else if (hdr.request.op == op_t.CLONE_FOR_EVER) {
                clone_preserving_field_list(CloneType.E2E, (bit<32>)hdr.request.argument, 1);
            } else if (hdr.request.op == op_t.TRUNCATE) {
                truncate((bit<32>)hdr.request.argument);
            }
        }
        if (leaves) {
            hdr.report.setValid();
            hdr.report.ingress_port = (bit<16>)standard_metadata.ingress_port;
            hdr.report.egress_port = (bit<16>)standard_metadata.egress_port;
            hdr.report.packet_length = standard_metadata.packet_length;
            hdr.report.instance_type = standard_metadata.instance_type;
            hdr.report.egress_rid = standard_metadata.egress_rid;
            hdr.report.checksum_error = (bit<8>)standard_metadata.checksum_error;
            if (standard_metadata.parser_error != error.NoError) {
                hdr.report.parser_error = 1;
            }
            hdr.report.kept = meta.kept;
            hdr.report.lost = meta.lost;
            hdr.report.ingress_global_timestamp = (bit<64>)standard_metadata.ingress_global_timestamp;
            hdr.report.egress_global_timestamp = (bit<64>)standard_metadata.egress_global_timestamp;
            hdr.report.enq_timestamp = standard_metadata.enq_timestamp;
            hdr.report.enq_qdepth = (bit<32>)standard_metadata.enq_qdepth;
            hdr.report.deq_timedelta = standard_metadata.deq_timedelta;
            hdr.report.deq_qdepth = (bit<32>)standard_metadata.deq_qdepth;
            hdr.report.value = meta.value;
        }
    }
}

control probe_update(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control probe_deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.request);
        packet.emit(hdr.filler);
    }
}

V1Switch(probe_parser(), probe_verify(), probe_ingress(), probe_egress(), probe_update(), probe_deparser()) main;
