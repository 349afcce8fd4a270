// A header stack: next, last, push and pop, elements by an index that the packet gives.
#include "frame.h"

header request_t { bit<8> op; bit<8> index; }
header label_t { bit<7> value; bit<1> bottom; }
header report_t { bit<8> value; bit<8> zero; }
struct headers_t { request_t request; report_t report; label_t[4] labels; label_t[4] others; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.request);
        transition select(hdr.request.op) {
            0xff: accept;
            default: labels;
        }
    }
    state labels {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.bottom) {
            1: accept;
            default: labels;
        }
    }
}

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        bit<32> index = (bit<32>)hdr.request.index;
        hdr.report.setValid();
        hdr.report.value = 0xaa;
        if (standard_metadata.parser_error == error.StackOutOfBounds) { hdr.report.value = 0xee; }
        if (hdr.request.op == 1) {
            hdr.report.value = (bit<8>)hdr.labels[index].value;
        } else if (hdr.request.op == 2) {
            hdr.labels[index].value = 0x55;
        } else if (hdr.request.op == 3) {
            hdr.labels[index].setValid();
            hdr.labels[index].value = 0x11;
            hdr.labels[index].bottom = 1;
        } else if (hdr.request.op == 4) {
            hdr.labels[index].setInvalid();
        } else if (hdr.request.op == 5) {
            hdr.labels.push_front(1);
        } else if (hdr.request.op == 6) {
            hdr.labels.pop_front(1);
        } else if (hdr.request.op == 7) {
            hdr.labels.push_front(2);
            hdr.labels[0].setValid();
            hdr.labels[0].value = 1;
            hdr.labels[1] = hdr.labels[3];
        } else if (hdr.request.op == 8) {
            hdr.labels.pop_front(3);
        } else if (hdr.request.op == 9) {
            hdr.others = hdr.labels;
        } else if (hdr.request.op == 11) {
            hdr.labels[0] = hdr.labels[1];
            if (hdr.labels[0] == hdr.labels[1]) { hdr.report.value = 1; }
        } else if (hdr.request.op == 12) {
            // What the swaps of a shift leave in an invalid element.
            hdr.labels.push_front(1);
            hdr.report.value = (bit<8>)hdr.labels[0].value;
        } else if (hdr.request.op == 13) {
            hdr.labels.push_front(9);
        } else if (hdr.request.op == 14) {
            hdr.labels.pop_front(9);
        }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
