// Routes the packet: longest prefix -> ECMP group -> port and next-hop MACs.
//
//   dst -> ipv4_route / ipv6_route -> ecmp_selector -> forward(port, src_mac, dst_mac) | to_cpu()
//
// A packet that hits no entry, or is not IP, gets the verdict NO_ROUTE. Only forward checks the TTL, so a packet for the
// controller is not lost to its TTL. No ICMP error is sent.

#ifndef EEON_ROUTE_P4_
#define EEON_ROUTE_P4_

#include "../headers.p4"
#include "../metadata.p4"
#include "../sizes.p4"
#include "checksum.p4"
#include "occupancy.p4"

control route(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // ecmp_key is already a hash, so the selector uses it unchanged, modulo the size of the group.
    // (The annotation takes no constant by name.)
    @brief("The next hops of all routes that have several. A flow keeps its member.")
    @description("At most 64 members per group.")
    @max_group_size(64)
    action_selector(HashAlgorithm.identity, ECMP_SELECTOR_SIZE, 16) ecmp_selector;

    @brief("Packets that were sprayed.")
    @description("Packets, modulo 2^32. One cell.")
    register<bit<32>, bit<1>>(1) sprayed_packets;

    // A CRC is linear: two switches that start it from different values still agree on which flows differ in a bit,
    // and a spine would see only one value of the bit by which the leaf chose it. The carries of a product are not
    // linear, and an odd factor loses no information. One product is not enough: seeds of which one is a small multiple
    // of the other give related bits. Therefore the upper bits are folded into the lower ones and multiplied again, by
    // the first constant of MurmurHash3's 32-bit finalizer (Appleby 2011), and the upper half is taken.
    @hidden
    action choose_by(in bit<32> value, in bit<32> seed) {
        bit<32> mixed = value * seed;
        mixed = (mixed ^ (mixed >> 16)) * 0x85EBCA6B;
        meta.ecmp_key = mixed[31:16];
    }

    // The ports are 0 for fragments and for packets other than TCP and UDP, so all fragments of a flow take one path.
    @brief("Sets the factor of the ECMP hash.")
    action set_ecmp_seed(
        @brief("An odd number without unit, different for each switch.") bit<32> seed) {
        bit<32> flow_hash = 0;
        if (hdr.ipv4.isValid()) {
            hash(flow_hash, HashAlgorithm.crc32, 32w0,
                 { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, meta.l4_src_port, meta.l4_dst_port },
                 64w1 << 32);
        } else if (hdr.ipv6.isValid()) {
            hash(flow_hash, HashAlgorithm.crc32, 32w0,
                 { hdr.ipv6.src_addr, hdr.ipv6.dst_addr, hdr.ipv6.next_header, meta.l4_src_port, meta.l4_dst_port },
                 64w1 << 32);
        }
        choose_by(flow_hash, seed);
    }

    // The same on a switch whose ports use several queues. A switch with single queues skips the tables that choose one.
    @brief("Sets the factor of the ECMP hash and lets ports use their eight queues.")
    action set_ecmp_seed_and_priorities(
        @brief("An odd number without unit, different for each switch.") bit<32> seed) {
        set_ecmp_seed(seed);
        meta.has_priorities = 1;
    }

    // Hashes the packet's number instead of taking turns, with which two alternating flows would each keep to one path.
    @brief("Chooses a next hop for each packet, independently of its flow: packets of a flow can overtake each other.")
    action spray_packets(
        @brief("An odd number without unit, different for each switch.") bit<32> seed) {
        bit<32> number;
        sprayed_packets.read(number, 0);
        sprayed_packets.write(0, number + 1);
        choose_by(number, seed);
    }

    @brief("Sprays packets and lets ports use their eight queues.")
    action spray_packets_and_priorities(
        @brief("An odd number without unit, different for each switch.") bit<32> seed) {
        spray_packets(seed);
        meta.has_priorities = 1;
    }

    @brief("Settings of the whole switch.")
    @description("No key: the default action is the setting.")
    table switch_config {
        actions = {
            set_ecmp_seed;
            set_ecmp_seed_and_priorities;
            spray_packets;
            spray_packets_and_priorities;
        }
        default_action = set_ecmp_seed(1);
        size = 1;
    }

    @hidden
    action set_no_route() {
        meta.verdict = verdict_t.NO_ROUTE;
    }

    @brief("Sends the packet to a next hop and decrements its TTL or hop limit.")
    action forward(
        @brief("Egress port, below 509.") port_id_t port,
        @brief("MAC address of the egress port.") @format(MAC_ADDRESS) mac_addr_t src_mac,
        @brief("MAC address of the next hop.") @format(MAC_ADDRESS) mac_addr_t dst_mac) {
        LEAVES_BY(meta, port)
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_mac;
        hdr.ethernet.dst_addr = dst_mac;
        // A queue behind a port that is not a data port would never drain.
        if (port >= COPY_PORT) {
            meta.verdict = verdict_t.NO_ROUTE;
        } else if (hdr.ipv4.isValid()) {
            // RFC 1812 section 5.3.1: a packet whose TTL would become 0 is not forwarded.
            if (hdr.ipv4.ttl <= 1) {
                meta.verdict = verdict_t.TTL_EXPIRED;
            } else {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                checksum_after_ttl_less_one(hdr.ipv4.header_checksum);
            }
        } else {
            // RFC 8200 section 3, "Hop Limit".
            if (hdr.ipv6.hop_limit <= 1) {
                meta.verdict = verdict_t.TTL_EXPIRED;
            } else {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        }
    }

    @brief("Sends the packet to the controller as a packet-in.")
    action to_cpu() {
        standard_metadata.egress_spec = CPU_PORT;
        meta.verdict = verdict_t.TO_CPU;
    }

    // BMv2 keeps no default action for a table with a selector: a miss does nothing, and is handled below.
    @brief("IPv4 routes. A packet that hits none is counted as NO_ROUTE and dropped.")
    @description("Key: destination, longest prefix.")
    table ipv4_route {
        key = {
            hdr.ipv4.dst_addr: lpm @name("dst") @format(IPV4_ADDRESS);
            meta.ecmp_key: selector;
        }
        actions = {
            forward;
            to_cpu;
            @defaultonly NoAction;
        }
        implementation = ecmp_selector;
        size = ROUTE_TABLE_SIZE;
    }

    @brief("IPv6 routes. A packet that hits none is counted as NO_ROUTE and dropped.")
    @description("Key: destination, longest prefix.")
    table ipv6_route {
        key = {
            hdr.ipv6.dst_addr: lpm @name("dst") @format(IPV6_ADDRESS);
            meta.ecmp_key: selector;
        }
        actions = {
            forward;
            to_cpu;
            @defaultonly NoAction;
        }
        implementation = ecmp_selector;
        size = ROUTE_TABLE_SIZE;
    }

    // Each route tests `hit` instead of `action_run`: p4c gives each table its own copy of `forward`, a member of
    // the shared selector holds one of the two, and BMv2 aborts when it looks for what follows the other table's copy.
    apply {
        switch_config.apply();
        if (hdr.ipv4.isValid()) {
            if (!ipv4_route.apply().hit) {
                set_no_route();
            }
        } else if (hdr.ipv6.isValid()) {
            if (!ipv6_route.apply().hit) {
                set_no_route();
            }
        } else {
            set_no_route();
        }
    }
}

#endif // EEON_ROUTE_P4_
