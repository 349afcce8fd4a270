// A stack of header unions: filled by the parser, shifted, indexed, copied.
#include "frame.h"

header request_t { bit<8> op; bit<8> count; }
header byte_t { bit<8> kind; bit<8> value; }
header word_t { bit<8> kind; bit<16> value; }
header_union value_t { byte_t byte; word_t word; }
header report_t { bit<8> found; }
struct headers_t { request_t request; report_t report; value_t[3] values; value_t[3] others; }
struct metadata_t { bit<8> left; }

PARSER {
    state start {
        packet.extract(hdr.request);
        meta.left = hdr.request.count;
        transition more;
    }
    state more {
        transition select(meta.left) {
            0: accept;
            default: next;
        }
    }
    state next {
        meta.left = meta.left - 1;
        transition select(packet.lookahead<bit<8>>()) {
            1: parse_byte;
            2: parse_word;
        }
    }
    state parse_byte { packet.extract(hdr.values.next.byte); transition more; }
    state parse_word { packet.extract(hdr.values.next.word); transition more; }
}

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        if (standard_metadata.parser_error != error.NoError) {
            hdr.report.setValid();
            hdr.report.found = 0xee;
        } else if (hdr.request.op == 1) {
            hdr.values[1].byte.setValid();
            hdr.values[1].byte.kind = 1;
            hdr.values[1].byte.value = 0x77;
        } else if (hdr.request.op == 2) {
            hdr.others = hdr.values;
        } else if (hdr.request.op == 3) {
            hdr.values.push_front(1);
        } else if (hdr.request.op == 4) {
            hdr.values.pop_front(1);
        } else if (hdr.request.op == 5) {
            hdr.others[2] = hdr.values[0];
        }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
