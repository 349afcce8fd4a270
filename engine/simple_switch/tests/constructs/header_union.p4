// A header union: extraction, validity, assignment and comparison. The first byte says what ingress does to it.
#include "frame.h"

header request_t { bit<8> op; bit<8> kind; }
header byte_t { bit<8> value; }
header word_t { bit<16> value; }
header_union value_t { byte_t byte; word_t word; }
header report_t { bit<1> a; bit<1> a_byte; bit<1> a_word; bit<1> b; bit<1> b_byte; bit<1> b_word; bit<2> equal; }
struct headers_t { request_t request; report_t report; value_t a; value_t b; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.request);
        transition select(hdr.request.kind) {
            1: parse_byte;
            2: parse_word;
            3: parse_both;
            default: accept;
        }
    }
    state parse_byte { packet.extract(hdr.a.byte); transition accept; }
    state parse_word { packet.extract(hdr.a.word); transition accept; }
    // The second makes the first invalid.
    state parse_both { packet.extract(hdr.a.byte); packet.extract(hdr.a.word); transition accept; }
}

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        if (hdr.request.op == 1) {
            hdr.a.byte.setValid();
            hdr.a.byte.value = 0xb1;
        } else if (hdr.request.op == 2) {
            hdr.a.word.setInvalid();
        } else if (hdr.request.op == 3) {
            hdr.b = hdr.a;
        } else if (hdr.request.op == 4) {
            hdr.b.byte.setValid();
            hdr.b.byte.value = 7;
            hdr.a.byte = hdr.b.byte;
        } else if (hdr.request.op == 5) {
            // An invalid source only makes its own member invalid.
            hdr.a.byte = hdr.b.byte;
        } else if (hdr.request.op == 6) {
            hdr.b.word.setValid();
            hdr.b.word.value = 0x1234;
        }
        hdr.report.setValid();
        hdr.report.a = (bit<1>)hdr.a.isValid();
        hdr.report.a_byte = (bit<1>)hdr.a.byte.isValid();
        hdr.report.a_word = (bit<1>)hdr.a.word.isValid();
        hdr.report.b = (bit<1>)hdr.b.isValid();
        hdr.report.b_byte = (bit<1>)hdr.b.byte.isValid();
        hdr.report.b_word = (bit<1>)hdr.b.word.isValid();
        if (hdr.a == hdr.b) { hdr.report.equal = 1; }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
