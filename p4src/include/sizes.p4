// Sizes of tables and register arrays. compile.py reads them for compiled/constants.json.

#ifndef EEON_SIZES_P4_
#define EEON_SIZES_P4_

// One cell for each value of port_id_t, so no index can be out of range: BMv2 built without assertions
// does not check indices.
const bit<32> PORT_CELLS = 512;
const bit<32> QUEUE_CELLS = 4096;     // port << 3 | priority
const bit<32> TURN_CELLS = 5120;      // QUEUE_CELLS, and two for each port
const bit<32> RECEIVED_CELLS = 4096;  // port << 3 | packet class
const bit<32> VERDICT_CELLS = 65536;  // port << 7 | packet class << 4 | verdict

const bit<32> ROUTE_TABLE_SIZE = 4096;
const bit<32> PORT_TABLE_SIZE = 512;
const bit<32> L3_ADMIT_TABLE_SIZE = 1024;
const bit<32> DSCP_TABLE_SIZE = 64; // one entry for each DSCP
const bit<32> PCP_TABLE_SIZE = 8;   // and for each PCP

const bit<32> ECMP_SELECTOR_SIZE = 4096; // members, all groups together

// A packet that has reached an open gate this many times leaves without waiting for its turn. See control/hold.p4.
const bit<16> HOLD_PATIENCE_ROUNDS = 1024;

#endif // EEON_SIZES_P4_
