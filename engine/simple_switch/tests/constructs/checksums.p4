// Checksums: verified and updated, with a condition, and over the payload.
#include "frame.h"

header request_t { bit<8> op; bit<8> value; bit<16> header_sum; bit<16> payload_sum; }
header report_t { bit<8> wrong; }
struct headers_t { report_t report; request_t request; }
NO_METADATA

PARSER { state start { packet.extract(hdr.request); transition accept; } }
INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        hdr.report.setValid();
        hdr.report.wrong = (bit<8>)standard_metadata.checksum_error;
    }
}
NO_EGRESS
VERIFY {
    apply {
        verify_checksum(hdr.request.op == 1, { hdr.request.op, hdr.request.value }, hdr.request.header_sum, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.request.op == 2, { hdr.request.op, hdr.request.value }, hdr.request.payload_sum,
                                     HashAlgorithm.csum16);
    }
}
UPDATE {
    apply {
        update_checksum(hdr.request.op != 3, { hdr.request.op, hdr.request.value }, hdr.request.header_sum, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.request.isValid(), { hdr.request.op, hdr.request.value }, hdr.request.payload_sum,
                                     HashAlgorithm.csum16);
    }
}
EMIT_ALL
SWITCH
