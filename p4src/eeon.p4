// The E-EON switch: an IP router that marks ECN by the byte depth of each queue, and holds packets while links sleep.
//
//   parser -> classify -> admit -> route -> choose_priority -> congestion_point -> buffer_limit -> aqm -> eee_admit     ingress: every decision
//          -> queue [gate] -> hold -> counters -> deparser              egress: waiting, leaving, rewriting
//
// Runs unchanged on BMv2's simple_switch and on the engine; targets differ in data only: tick, ports, limits.
// It is not an L2 switch: it learns no addresses, answers no ARP and sends no ICMP. Read include/types.p4 first.

#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

// They are off the main path: readers can skip them, and `p4c-bm2-ss -DEEON_CORE` leaves them out.
#ifndef EEON_CORE
#define EEON_QCN               // control/qcn.p4: congestion notification messages of IEEE 802.1Q
#define EEON_SIMULATOR_BUFFERS // control/simulator_buffers.p4, control/outside.p4: buffers as simulators count them
#endif

#include "include/types.p4"
#include "include/sizes.p4"
#include "include/headers.p4"
#include "include/metadata.p4"
#include "include/parser.p4"
#include "include/control/checksum.p4"
#include "include/control/counters.p4"
#include "include/control/packet_io.p4"
#include "include/control/classify.p4"
#include "include/control/admit.p4"
#include "include/control/route.p4"
#include "include/control/priority.p4"
#include "include/control/occupancy.p4"
#include "include/control/aqm.p4"
#include "include/control/codel.p4"
#include "include/control/eee.p4"
#include "include/control/buffer.p4"
#include "include/control/pfc.p4"
#include "include/control/lossless.p4"
#include "include/control/qcn.p4"
#include "include/control/copies.p4"
#include "include/control/hold.p4"

control eeon_ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == INSTANCE_TYPE_RECIRCULATED && meta.copy == copy_t.NONE) {
            // The first pass made every decision; the packet returns to its queue.
            standard_metadata.egress_spec = meta.egress_port;
            standard_metadata.priority = meta.queue[2:0];
            if (hdr.cnm.isValid()) {
                truncate(meta.queued_bytes);
            }
        } else if (standard_metadata.instance_type == INSTANCE_TYPE_TIMER) {
            say_again.apply(meta, standard_metadata);
        } else {
            // Classification.
            if (meta.copy == copy_t.MADE_PAUSE) {
                send_made.apply(hdr, meta, standard_metadata);
            } else if (meta.copy == copy_t.MADE_CNM) {
                enter_cnm.apply(hdr, meta, standard_metadata);
            } else {
                classify.apply(hdr, meta, standard_metadata);
            }

            // Forwarding. The copy carries the port of a pause frame that the switch made.
            if (hdr.packet_out.isValid()) {
                packet_out_decap.apply(hdr, meta, standard_metadata);
            } else if (meta.copy != copy_t.MADE_PAUSE) {
                if (meta.verdict == verdict_t.FORWARDED && meta.copy == copy_t.NONE) {
                    admit.apply(hdr, meta, standard_metadata);
                }
                if (meta.verdict == verdict_t.FORWARDED) {
                    route.apply(hdr, meta, standard_metadata);
                }
            }

            // Admission to the queue. A frame that the switch made always fits.
            if (meta.verdict == verdict_t.FORWARDED && hdr.cnm.isValid()) {
                take_cnm.apply(hdr, meta, standard_metadata);
            } else if (meta.verdict == verdict_t.FORWARDED && meta.copy == copy_t.NONE) {
                if (meta.has_priorities == 1) {
                    choose_priority.apply(hdr, meta, standard_metadata);
                    choose_pausable.apply(meta);
                    congestion_point.apply(meta);
                    lossless_limit.apply(meta, standard_metadata);
                }
                if (meta.lossless == 0) {
                    buffer_limit.apply(meta);
                }
                if (meta.verdict == verdict_t.FORWARDED) {
                    aqm.apply(meta, standard_metadata);
                }
            }

            if ((bit<4>)meta.verdict <= (bit<4>)verdict_t.MARKED) {
                eee_admit.apply(meta, standard_metadata);
            } else {
                if (hdr.cnm.isValid()) {
                    refuse_cnm.apply(meta);
                } else if (meta.verdict == verdict_t.CONSUMED) {
                    receive_pause.apply(hdr, standard_metadata);
                }
                count_not_queued.apply(meta, standard_metadata);
                if (meta.verdict != verdict_t.TO_CPU) {
                    mark_to_drop(standard_metadata);
                }
            }
        }
    }
}

control eeon_egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.verdict == verdict_t.TO_CPU) {
            packet_in_encap.apply(hdr, standard_metadata);
        } else if (standard_metadata.egress_port == COPY_PORT && meta.copy == copy_t.PAUSE) {
            make_frame.apply(hdr, meta, standard_metadata);
        } else if (standard_metadata.egress_port == COPY_PORT && meta.copy == copy_t.CNM) {
            make_cnm_frame.apply(hdr, meta, standard_metadata);
        } else {
            hold.apply(hdr, meta, standard_metadata);
        }
    }
}

@pkginfo(name="eeon", version="0.1.0", organization="E-EON")
@brief("An IP router that sets ECN marks according to the bytes in its queues, and holds packets while links sleep.")
@description("Ticks are those of the target's clock: 1 us on BMv2. Bytes are those of frames from the Ethernet header on, without the FCS.")
V1Switch(eeon_parser(),
         verify_ipv4_checksum(),
         eeon_ingress(),
         eeon_egress(),
         no_checksum_update(),
         eeon_deparser()) main;
