// CoDel at dequeue (RFC 8289): judges a packet as it leaves, by its sojourn time.
// The model, its rules and its deviations from the RFC's pseudo code: docs/models/codel.md.
//
//            target reached     for an interval: signal      due: signal
//   BELOW ----------------> ABOVE ----------------> DROPPING -----------> DROPPED
//     ^                       |                      |   ^                  | |
//     |                       |                      |   +------------------+ |
//     +-----------------------+----------------------+---- next packet, ------+
//         below the target, or no more than an MTU left     still above: schedule the next signal
//
// A signal is a drop or a mark. The RFC drops in a loop until it has a packet to deliver; here each packet is judged
// when it leaves the queue. On a target where a dropped packet takes no wire time, the result is the same.

#ifndef EEON_CODEL_P4_
#define EEON_CODEL_P4_

#include "../metadata.p4"
#include "../sizes.p4"

@brief("The CoDel state of a queue: 0 BELOW, 1 ABOVE, 2 DROPPING, 3 DROPPED.")
@description("Index: port << 3 | priority; priority 0 for a port whose AQM is not by_queue.")
@name("codel_state")
register<bit<8>, queue_id_t>(QUEUE_CELLS) codel_state;

@brief("In ABOVE: the time at which the sojourn time has been above the target for an interval.")
@description("Ticks. Index: as for codel_state.")
@name("codel_first_above")
register<tick_t, queue_id_t>(QUEUE_CELLS) codel_first_above;

@brief("The time of the next signal while dropping; afterwards a hint at the time of the last one.")
@description("Ticks. Index: as for codel_state.")
@name("codel_drop_next")
register<tick_t, queue_id_t>(QUEUE_CELLS) codel_drop_next;

@brief("Signals in the dropping state: count in RFC 8289. It can resume from the previous dropping state.")
@description("Signals. Index: as for codel_state.")
@name("codel_count")
register<bit<32>, queue_id_t>(QUEUE_CELLS) codel_count;
@brief("The value from which codel_count started.")
@description("Signals. Index: as for codel_state.")
@name("codel_last_count")
register<bit<32>, queue_id_t>(QUEUE_CELLS) codel_last_count;

// One Newton step of y = 1 / sqrt(m): y <- y (3 - m y^2) / 2. Fixed point: m * 2^30, y * 2^31.
#define RECIPROCAL_ROOT_STEP(y, m) \
    y = (y * ((64w3 << 31) - ((((y * y) >> 31) * (m)) >> 30))) >> 32

// interval / sqrt(count) to the nearest tick, for count > 0. The error of the fixed-point root is below 2^-28 of the result:
// docs/models/codel.md.
action codel_control_law(in bit<32> interval, in bit<32> count, out tick_t step) {
    // count = m * 4^e with 1 <= m < 4; the result is shifted right by e.
    bit<64> m = (bit<64>)count;
    bit<8> e = 15;
    if (m < 1 << 16) {
        m = m << 16;
        e = e - 8;
    }
    if (m < 1 << 24) {
        m = m << 8;
        e = e - 4;
    }
    if (m < 1 << 28) {
        m = m << 4;
        e = e - 2;
    }
    if (m < 1 << 30) {
        m = m << 2;
        e = e - 1;
    }
    // Two straight lines that deviate at most 2.3 % from 1 / sqrt(m), for m < 2 and for m >= 2.
    bit<64> y = 2714664829 - ((m * 18768) >> 15);
    if (m >= 1 << 31) {
        y = 1919557909 - ((m * 6635) >> 15);
    }
    RECIPROCAL_ROOT_STEP(y, m);
    RECIPROCAL_ROOT_STEP(y, m);
    RECIPROCAL_ROOT_STEP(y, m);
    step = (tick_t)((((((bit<64>)interval * y) >> 30) >> e) + 1) >> 1);
}

// Part of the departure action (control/hold.p4), at `now`, with `left` bytes behind the packet. It may set the
// verdict to MARKED or EARLY_DROPPED. (p4c copies an inout struct field by field; therefore `meta` is `in`.)
action codel_judge(in metadata_t meta, in tick_t now, in byte_count_t left, inout verdict_t verdict) {
    queue_id_t cell = meta.egress_port ++ meta.aqm_priority;
    bit<8> state;
    codel_state.read(state, cell);
    if (now - meta.admitted_at < (tick_t)meta.codel_target_ticks || left <= meta.codel_mtu_bytes) {
        codel_state.write(cell, codel_state_t.BELOW);
    } else if (state == codel_state_t.BELOW) {
        codel_first_above.write(cell, now + (tick_t)meta.codel_interval_ticks);
        codel_state.write(cell, codel_state_t.ABOVE);
    } else {
        bit<32> count;
        tick_t due;
        bit<1> signals = 0;
        codel_count.read(count, cell);
        codel_drop_next.read(due, cell);
        if (state == codel_state_t.ABOVE) {
            tick_t first_above;
            codel_first_above.read(first_above, cell);
            // A protected packet cannot start dropping; the first unprotected one does.
            if (!TICK_TO_COME(first_above, now) && meta.signal != signal_t.SPARE) {
                bit<32> last_count;
                codel_last_count.read(last_count, cell);
                bit<32> delta = count - last_count;
                // Soon after the last dropping state: start from the count that controlled the queue then.
                count = 1;
                if (delta > 1 && TICK_TO_COME(due + ((tick_t)meta.codel_interval_ticks << 4), now)) {
                    count = delta;
                }
                codel_count.write(cell, count);
                codel_last_count.write(cell, count);
                due = now;
                signals = 1;
            }
        }
        if (signals == 1 || state == codel_state_t.DROPPED) {
            tick_t step;
            codel_control_law(meta.codel_interval_ticks, count, step);
            due = due + step;
            codel_drop_next.write(cell, due);
        }
        if (signals == 1) {
            state = codel_state_t.DROPPING;
        } else if (state != codel_state_t.ABOVE) {
            state = codel_state_t.DROPPING;
            if (!TICK_TO_COME(due, now)) {
                if (meta.signal == signal_t.SPARE) {
                    // The signal waits for the next packet that may take it; several such waits remain one signal.
                    codel_drop_next.write(cell, now);
                } else {
                    codel_count.write(cell, count |+| 1);
                    state = codel_state_t.DROPPED;
                    signals = 1;
                }
            }
        }
        codel_state.write(cell, state);
        if (signals == 1) {
            if (meta.signal == signal_t.DROP) {
                verdict = verdict_t.EARLY_DROPPED;
            } else if (meta.signal == signal_t.MARK) {
                verdict = verdict_t.MARKED;
            }
        }
    }
}

#endif // EEON_CODEL_P4_
