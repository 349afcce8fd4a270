// What actions do: registers read, changed and written under a condition, a loop, saturating and signed arithmetic, values
// wider than a word, header stacks indexed at run time, hashes, random draws, and the calls that a switch must hear of.
#include "v1.h"

header item_t {
    bit<8> kind;
    bit<24> value;
}

header results_t {
    bit<32> count;
    bit<32> sum;
    bit<8> saturated;
    int<8> negative;
    bit<16> hash;
    bit<128> wide;
    bit<32> index;
}

struct headers_t {
    ethernet_t ethernet;
    item_t[4] items;
    results_t results;
}

struct metadata_t {
    @field_list(1)
    bit<16> kept;
    bit<16> lost;
}

struct digest_t {
    bit<48> src;
    bit<16> kept;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition parse_item;
    }
    state parse_item {
        packet.extract(hdr.items.next);
        transition select(hdr.items.last.kind) {
            0: accept;
            default: parse_item;
        }
    }
}

NO_VERIFY

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(4) counts;
    register<bit<100>>(2) wide;
    counter(4, CounterType.packets_and_bytes) seen;
    meter(2, MeterType.bytes) rate;

    action work(bit<32> limit) {
        bit<32> count;
        counts.read(count, (bit<32>)hdr.items[0].kind);
        if (count >= limit) {
            count = 0;
        } else {
            count = count + 1;
        }
        counts.write((bit<32>)hdr.items[0].kind, count);
        hdr.results.setValid();
        hdr.results.count = count;
        for (bit<8> i = 0; i < 5; i = i + 1) {
            hdr.results.sum = hdr.results.sum + (bit<32>)i;
        }
        hdr.results.saturated = hdr.items[0].kind |+| 250;
        hdr.results.negative = (int<8>)hdr.items[0].kind - 10;
        if (hdr.results.negative < 0) {
            hdr.results.negative = hdr.results.negative >> 1;
        }
        bit<100> old;
        wide.read(old, 1);
        wide.write(1, old + 0x1000000000000000000000);
        hdr.results.wide = (bit<128>)old - 1;
        hash(hdr.results.hash, HashAlgorithm.crc16, 16w100, { hdr.ethernet.dst, hdr.ethernet.src }, 32w1000);
        seen.count((bit<32>)hdr.items[0].kind);
    }
    action forever() {
        for (bit<8> i = 0; i < 5; i = i + 0) {
            hdr.results.sum = hdr.results.sum + 1;
        }
    }
    table choose {
        key = { hdr.ethernet.type: exact; }
        actions = { work; forever; NoAction; }
        default_action = work(2);
    }

    apply {
        choose.apply();
        bit<32> at = (bit<32>)hdr.items[0].value;
        hdr.results.index = (bit<32>)hdr.items[at].value;
        hdr.items[at].kind = 0xee;
        bit<2> colour;
        rate.execute_meter(0, colour);
        meta.kept = 0x1234;
        meta.lost = 0x5678;
        random(meta.lost, 5, 9);
        digest<digest_t>(1, { hdr.ethernet.src, meta.kept });
        clone_preserving_field_list(CloneType.I2E, 7, 1);
        resubmit_preserving_field_list(1);
        truncate(60);
        log_msg("kind {} of {}", { hdr.items[0].kind, hdr.ethernet.type });
        assert(hdr.items[1].kind != 0x66);
        if (colour == 2) {
            mark_to_drop(standard_metadata);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        recirculate_preserving_field_list(1);
        hdr.items.push_front(1);
        hdr.items[0].setValid();
        hdr.items[0] = { 1, 2 };
    }
}

NO_UPDATE
EMIT_ALL

V1Switch(parse(), verify_none(), ingress(), egress(), update_none(), emit_all()) main;
