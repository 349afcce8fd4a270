// Chooses one of a port's eight queues: by the DSCP of an IP packet, or by the PCP of a tagged frame whose DSCP has no entry.
//
// A router uses the DSCP (RFC 2474). A frame whose DSCP has no entry, or without IP, uses the PCP of its outer tag (IEEE
// 802.1Q-2022 section 6.9.3), and otherwise the queue of the default action. Neither field is rewritten.
//
// The buffer limit and EEE stay those of the port: its queues share its buffer. The AQM is the port's or the queue's
// (control/aqm.p4). A target with one queue per port drops packets of priorities above 0, and their bytes stay in the
// account; use entries only on targets that were started with eight queues.

#ifndef EEON_PRIORITY_P4_
#define EEON_PRIORITY_P4_

#include "../headers.p4"
#include "../metadata.p4"
#include "../sizes.p4"

control choose_priority(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    @brief("Puts the packet into a queue of its port.")
    action set_priority(
        @brief("0 to 7; the highest is served first.") priority_t priority) {
        meta.queue = meta.egress_port ++ priority;
        standard_metadata.priority = priority;
    }

    @brief("The queue of an IP packet with a given DSCP.")
    @description("Key: DSCP, 0 to 63; 0 for packets that are not IP.")
    table dscp_priority {
        key = { meta.dscp: exact @name("dscp"); }
        actions = { set_priority; }
        default_action = set_priority(0);
        size = DSCP_TABLE_SIZE;
    }

    @brief("The queue of a tagged frame if its DSCP has no entry.")
    @description("Key: PCP of the outer tag, 0 to 7.")
    table pcp_priority {
        key = { hdr.outer_vlan.priority: exact @name("pcp"); }
        actions = {
            set_priority;
            @defaultonly NoAction;
        }
        default_action = NoAction;
        size = PCP_TABLE_SIZE;
    }

    @hidden
    action read_dscp() {
        if (hdr.ipv4.isValid()) {
            meta.dscp = hdr.ipv4.dscp;
        } else if (hdr.ipv6.isValid()) {
            meta.dscp = hdr.ipv6.dscp;
        }
    }

    apply {
        read_dscp();
        if (!dscp_priority.apply().hit && hdr.outer_vlan.isValid()) {
            pcp_priority.apply();
        }
    }
}

#endif // EEON_PRIORITY_P4_
