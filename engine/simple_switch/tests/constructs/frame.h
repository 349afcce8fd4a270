// The frame of the constructs' programs: what v1model needs besides the construct under test.
#include <core.p4>
#include <v1model.p4>

#define PARSER parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, \
                            inout standard_metadata_t standard_metadata)
#define INGRESS control ingress(inout headers_t hdr, inout metadata_t meta, \
                                inout standard_metadata_t standard_metadata)
#define EGRESS control egress(inout headers_t hdr, inout metadata_t meta, \
                              inout standard_metadata_t standard_metadata)
#define VERIFY control verify_checksums(inout headers_t hdr, inout metadata_t meta)
#define UPDATE control update_checksums(inout headers_t hdr, inout metadata_t meta)
#define DEPARSER control deparse(packet_out packet, in headers_t hdr)

#define NO_METADATA struct metadata_t { }
#define NO_EGRESS EGRESS { apply { } }
#define NO_CHECKSUMS VERIFY { apply { } } UPDATE { apply { } }
#define EMIT_ALL DEPARSER { apply { packet.emit(hdr); } }
#define SWITCH V1Switch(parse(), verify_checksums(), ingress(), egress(), update_checksums(), deparse()) main;
