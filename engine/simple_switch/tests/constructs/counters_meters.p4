// Counters and meters, direct and indirect, of packets and of bytes. The rates of the script refill nothing in its time.
#include "frame.h"

header request_t { bit<8> key; }
header result_t { bit<8> packets; bit<8> bytes; bit<8> entry; }
struct headers_t { request_t request; result_t result; }
struct metadata_t { bit<2> colour; }

PARSER { state start { packet.extract(hdr.request); transition accept; } }

INGRESS {
    counter(4, CounterType.packets_and_bytes) seen;
    direct_counter(CounterType.packets_and_bytes) entry_seen;
    meter(4, MeterType.packets) packet_meter;
    meter(4, MeterType.bytes) byte_meter;
    direct_meter<bit<2>>(MeterType.packets) entry_meter;

    action known() { entry_seen.count(); entry_meter.read(meta.colour); }
    table keys {
        key = { hdr.request.key: exact; }
        actions = { known; }
        counters = entry_seen;
        meters = entry_meter;
    }

    apply {
        standard_metadata.egress_spec = 1;
        hdr.result.setValid();
        seen.count((bit<32>)hdr.request.key);
        packet_meter.execute_meter((bit<32>)hdr.request.key, hdr.result.packets);
        byte_meter.execute_meter((bit<32>)hdr.request.key, hdr.result.bytes);
        keys.apply();
        hdr.result.entry = (bit<8>)meta.colour;
    }
}

NO_EGRESS
NO_CHECKSUMS
EMIT_ALL
SWITCH
