// The frame of the test programs: what v1model needs besides the control under test.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

#define NO_VERIFY control verify_none(inout headers_t hdr, inout metadata_t meta) { apply { } }
#define NO_UPDATE control update_none(inout headers_t hdr, inout metadata_t meta) { apply { } }
#define NO_EGRESS control egress_none(inout headers_t hdr, inout metadata_t meta, \
                                      inout standard_metadata_t standard_metadata) { apply { } }
#define EMIT_ALL control emit_all(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
