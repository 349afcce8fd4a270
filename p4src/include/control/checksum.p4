// The IPv4 header checksum: checked on arrival (RFC 1812 section 5.2.2), recomputed when the header was changed.
// TCP and UDP checksums are end to end and cover nothing that a switch changes.

#ifndef EEON_CHECKSUM_P4_
#define EEON_CHECKSUM_P4_

#include "../headers.p4"
#include "../metadata.p4"

#define IPV4_CHECKSUM_INPUT \
    { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length, \
      hdr.ipv4.identification, hdr.ipv4.reserved, hdr.ipv4.dont_fragment, hdr.ipv4.more_fragments, \
      hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr, \
      hdr.ipv4_options.options }

// The result is standard_metadata.checksum_error.
control verify_ipv4_checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), IPV4_CHECKSUM_INPUT, hdr.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

// Only after a change: a packet-out with a wrong checksum leaves as the controller made it.
control update_ipv4_checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(meta.ipv4_changed == 1, IPV4_CHECKSUM_INPUT, hdr.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

#endif // EEON_CHECKSUM_P4_
