// States of eeon_parser for a CNM. The carried frame is truncated: its lengths are not checked, and only the addresses
// and ports of its IP packet are read. The ports become those of a packet to the source of the carried packet.

    state parse_cnm {
        packet.extract(hdr.cnm);
        verify(hdr.cnm.version == 0 && hdr.cnm.carried_bytes <= 64
               && (bit<32>)hdr.cnm.carried_bytes + CNM_BYTES <= standard_metadata.packet_length,
               error.CnmInvalid);
        transition select(hdr.cnm.carried_type) {
            ETHERTYPE_IPV4: parse_carried_ipv4;
            ETHERTYPE_IPV6: parse_carried_ipv6;
            ETHERTYPE_VLAN: parse_carried_outer_vlan;
            ETHERTYPE_QINQ: parse_carried_outer_vlan;
            default: parse_carried_other;
        }
    }

    state parse_carried_outer_vlan {
        packet.extract(hdr.outer_vlan);
        l2_bytes = l2_bytes + VLAN_BYTES;
        transition select(hdr.outer_vlan.ether_type) {
            ETHERTYPE_IPV4: parse_carried_ipv4;
            ETHERTYPE_IPV6: parse_carried_ipv6;
            ETHERTYPE_VLAN: parse_carried_inner_vlan;
            ETHERTYPE_QINQ: parse_carried_inner_vlan;
            default: parse_carried_other;
        }
    }

    state parse_carried_inner_vlan {
        packet.extract(hdr.inner_vlan);
        l2_bytes = l2_bytes + VLAN_BYTES;
        transition select(hdr.inner_vlan.ether_type) {
            ETHERTYPE_IPV4: parse_carried_ipv4;
            ETHERTYPE_IPV6: parse_carried_ipv6;
            default: parse_carried_other;
        }
    }

    state parse_carried_other {
        verify(false, error.CnmInvalid);
        transition accept;
    }

    // The header must be complete, options included; l2_bytes - 12 bytes are carried before it.
    state parse_carried_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5
               && l2_bytes - 12 + ((bit<16>)hdr.ipv4.ihl << 2) <= hdr.cnm.carried_bytes,
               error.CnmInvalid);
        l2_bytes = l2_bytes - 12 + ((bit<16>)hdr.ipv4.ihl << 2) + 4;
        transition select(hdr.ipv4.ihl) {
            5: parse_carried_ipv4_payload;
            default: parse_carried_ipv4_options;
        }
    }

    // The carried bytes may end before the ports.
    state parse_carried_ipv4_options {
        packet.extract(hdr.ipv4_options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition accept;
    }

    state parse_carried_ipv4_payload {
        transition select(hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, 0, IP_PROTOCOL_TCP): parse_carried_ports;
            (0, 0, IP_PROTOCOL_UDP): parse_carried_ports;
            default: accept;
        }
    }

    state parse_carried_ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6 && l2_bytes - 12 + IPV6_BYTES <= hdr.cnm.carried_bytes, error.CnmInvalid);
        l2_bytes = l2_bytes - 12 + IPV6_BYTES + 4;
        transition select(hdr.ipv6.next_header) {
            IP_PROTOCOL_TCP: parse_carried_ports;
            IP_PROTOCOL_UDP: parse_carried_ports;
            default: accept;
        }
    }

    state parse_carried_ports {
        verify(l2_bytes <= hdr.cnm.carried_bytes, error.CnmInvalid);
        packet.extract(hdr.carried_ports);
        meta.l4_src_port = hdr.carried_ports.dst_port;
        meta.l4_dst_port = hdr.carried_ports.src_port;
        transition accept;
    }
