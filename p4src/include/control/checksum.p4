// The IPv4 header checksum: verified on arrival (RFC 1812 section 5.2.2), updated with each change of the header.
// TCP and UDP checksums are end to end and cover nothing that a switch changes.
//
// The update is RFC 1624 equation 4, HC' = HC - ~m - m' in one's complement, for the three changes of a word m that
// this program makes. One's complement has two zeros; a full computation writes 0x0000, and so do the actions below,
// because the checksum of an accepted header is never 0xFFFF. A packet-out with a wrong checksum keeps its error.

#ifndef EEON_CHECKSUM_P4_
#define EEON_CHECKSUM_P4_

#include "../headers.p4"
#include "../metadata.p4"

// The result is standard_metadata.checksum_error.
control verify_ipv4_checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
                        { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
                          hdr.ipv4.identification, hdr.ipv4.reserved, hdr.ipv4.dont_fragment,
                          hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
                          hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4_options.options },
                        hdr.ipv4.header_checksum, HashAlgorithm.csum16);
    }
}

// v1model requires this block; the checksum is already right.
control no_checksum_update(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

// The TTL is the upper byte of its word: HC + 0x0100 with end-around carry; 0xFFFF is written as 0.
action checksum_after_ttl_less_one(inout bit<16> checksum) {
    if (checksum >= 0xFEFF) {
        checksum = checksum + 0x0101;
    } else {
        checksum = checksum + 0x0100;
    }
}

// ECN is the lowest part of its word: HC - (CE - ecn) with end-around borrow.
action checksum_after_ce(inout bit<16> checksum, in ecn_t ecn) {
    bit<16> change = 3 - (bit<16>)(bit<2>)ecn;
    if (checksum < change) {
        change = change + 1;
    }
    checksum = checksum - change;
}

#endif // EEON_CHECKSUM_P4_
