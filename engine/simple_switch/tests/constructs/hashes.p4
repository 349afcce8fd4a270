// Every hash that p4c can name and BMv2 has, with a base and a size.
#include "frame.h"

header request_t { bit<72> data; bit<4> more; bit<4> size; }
header result_t { bit<16> crc16; bit<16> crc16_custom; bit<32> crc32; bit<32> crc32_custom; bit<16> csum16; bit<16> xor16;
                  bit<64> identity; bit<16> limited; bit<16> unaligned; }
struct headers_t { request_t request; result_t result; }
NO_METADATA

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    apply {
        standard_metadata.egress_spec = 1;
        hdr.result.setValid();
        hash(hdr.result.crc16, HashAlgorithm.crc16, 16w0, { hdr.request.data }, 32w65536);
        hash(hdr.result.crc16_custom, HashAlgorithm.crc16_custom, 16w0, { hdr.request.data }, 32w65536);
        hash(hdr.result.crc32, HashAlgorithm.crc32, 32w0, { hdr.request.data }, 64w0x100000000);
        hash(hdr.result.crc32_custom, HashAlgorithm.crc32_custom, 32w0, { hdr.request.data }, 64w0x100000000);
        hash(hdr.result.csum16, HashAlgorithm.csum16, 16w0, { hdr.request.data }, 32w65536);
        hash(hdr.result.xor16, HashAlgorithm.xor16, 16w0, { hdr.request.data }, 32w65536);
        hash(hdr.result.identity, HashAlgorithm.identity, 64w0, { hdr.request.data }, 64w0xffffffffffffffff);
        hash(hdr.result.limited, HashAlgorithm.crc16, 16w100, { hdr.request.data }, (bit<32>)hdr.request.size);
        hash(hdr.result.unaligned, HashAlgorithm.crc16, 16w0, { hdr.request.more, hdr.request.data, hdr.request.size },
             32w65536);
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
