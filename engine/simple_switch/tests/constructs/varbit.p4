// A field of variable length: extraction, comparison, assignment, and what is left of it after setInvalid and setValid.
#include "frame.h"

header request_t { bit<8> op; bit<8> first; bit<8> second; }
header options_t { bit<8> before; varbit<64> bytes; bit<8> after; }
header report_t { bit<8> same_field; bit<8> same_header; bit<32> problem; bit<32> length; }
struct headers_t { request_t request; report_t report; options_t a; options_t b; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.request);
        packet.extract(hdr.a, (bit<32>)hdr.request.first);
        packet.extract(hdr.b, (bit<32>)hdr.request.second);
        transition accept;
    }
}

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        hdr.report.setValid();
        if (standard_metadata.parser_error == error.PacketTooShort) { hdr.report.problem = 1; }
        if (standard_metadata.parser_error == error.HeaderTooShort) { hdr.report.problem = 2; }
        if (standard_metadata.parser_error == error.ParserInvalidArgument) { hdr.report.problem = 3; }
        if (hdr.a.bytes == hdr.b.bytes) { hdr.report.same_field = 1; }
        if (hdr.a == hdr.b) { hdr.report.same_header = 1; }
        if (hdr.request.op == 1) {
            hdr.a = hdr.b;
        } else if (hdr.request.op == 2) {
            hdr.a.bytes = hdr.b.bytes;
        } else if (hdr.request.op == 3) {
            hdr.a.setInvalid();
            hdr.a.setValid();
        }
    }
}

EGRESS { apply { hdr.report.length = standard_metadata.packet_length; } }
NO_CHECKSUMS
EMIT_ALL
SWITCH
