// verify, lookahead, advance, and the errors that end a parser. Ingress reports the error's value.
#include "frame.h"

error { OddKind, NeverRaised }

header kind_t { bit<8> kind; }
header body_t { bit<16> value; }
header report_t { bit<8> ahead; bit<8> known; }
struct headers_t { report_t report; kind_t kind; body_t body; body_t[2] more; }
struct metadata_t { bit<8> ahead; }

PARSER {
    state start {
        packet.extract(hdr.kind);
        meta.ahead = packet.lookahead<bit<8>>();
        verify(hdr.kind.kind[0:0] == 0, error.OddKind);
        transition select(hdr.kind.kind) {
            2: body;
            4: skip;
            6: fill;
            8: skip_odd;
            default: accept;
        }
    }
    state body { packet.extract(hdr.body); transition accept; }
    state skip { packet.advance((bit<32>)meta.ahead); transition body; }
    state skip_odd { packet.advance(4); transition body; }
    state fill { packet.extract(hdr.more.next); transition fill; }
}

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        hdr.report.setValid();
        hdr.report.ahead = meta.ahead;
        if (standard_metadata.parser_error == error.NoError) { hdr.report.known = 0; }
        else if (standard_metadata.parser_error == error.OddKind) { hdr.report.known = 1; }
        else if (standard_metadata.parser_error == error.PacketTooShort) { hdr.report.known = 2; }
        else if (standard_metadata.parser_error == error.StackOutOfBounds) { hdr.report.known = 3; }
        else if (standard_metadata.parser_error == error.ParserInvalidArgument) { hdr.report.known = 4; }
        else { hdr.report.known = 0xff; }
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
