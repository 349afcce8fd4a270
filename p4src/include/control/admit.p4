// Selects the frames that the router may forward. All others are counted at their ingress port and dropped.
//
//   NOT_ADMITTED: the frame is addressed to another station, or to many (RFC 1812 section 5.3.4)
//   MARTIAN: an address of the IP packet must not appear beyond a host or a link (RFC 1812 sections 4.2.2.11 and 5.3.7)

#ifndef EEON_ADMIT_P4_
#define EEON_ADMIT_P4_

#include "../headers.p4"
#include "../metadata.p4"
#include "../sizes.p4"

// As source and as destination: 0.0.0.0/8, 127.0.0.0/8, multicast, class E and the broadcast address, and link-local
// addresses (RFC 3927 section 2.7). This router has no multicast routes.
#define IS_MARTIAN_IPV4(addr) \
    ((addr)[31:24] >= 224 || (addr)[31:24] == 127 || (addr)[31:24] == 0 || (addr)[31:16] == 0xA9FE)

// The unspecified and the loopback address, multicast, link-local addresses (RFC 4291 sections 2.4, 2.5.2, 2.5.3, 2.5.6).
#define IS_MARTIAN_IPV6(addr) \
    ((addr)[127:120] == 0xFF || (addr)[127:118] == 0x3FA || (addr)[127:1] == 0)

control admit(in headers_t hdr, inout metadata_t meta, in standard_metadata_t standard_metadata) {
    @brief("The frame is addressed to this router.")
    action admit_to_l3() {
    }

    @brief("The frame is for another station: it is counted as NOT_ADMITTED and dropped.")
    action not_admitted() {
        meta.verdict = verdict_t.NOT_ADMITTED;
    }

    @brief("The MAC addresses at which the neighbours of each port reach this router.")
    @description("Key: ingress port, destination MAC address.")
    table l3_admit {
        key = {
            standard_metadata.ingress_port: exact @name("port");
            hdr.ethernet.dst_addr: exact @name("dst_mac") @format(MAC_ADDRESS);
        }
        actions = {
            admit_to_l3;
            not_admitted;
        }
        default_action = not_admitted;
        size = L3_ADMIT_TABLE_SIZE;
    }

    @hidden
    action set_martian() {
        meta.verdict = verdict_t.MARTIAN;
    }

    apply {
        l3_admit.apply();
        if (meta.verdict == verdict_t.FORWARDED) {
            if (hdr.ipv4.isValid()) {
                if (IS_MARTIAN_IPV4(hdr.ipv4.dst_addr) || IS_MARTIAN_IPV4(hdr.ipv4.src_addr)) {
                    set_martian();
                }
            } else if (hdr.ipv6.isValid()) {
                if (IS_MARTIAN_IPV6(hdr.ipv6.dst_addr) || IS_MARTIAN_IPV6(hdr.ipv6.src_addr)) {
                    set_martian();
                }
            }
        }
    }
}

#endif // EEON_ADMIT_P4_
