// Service `simple_pre_lag` of a BMv2 switch: multicast groups, their nodes, link aggregation groups (LAGs).
//
// Method names, field numbers and wire types are BMv2's (1.15.5); argument names are ours. Every `cxt` must be 0. A set of ports or
// of LAGs is a string of 0 and 1, number 0 last. A group's handle is its id.

enum McOperationErrorCode { TABLE_FULL = 1, INVALID_MGID = 2, INVALID_MGRP_HANDLE = 3, INVALID_L1_HANDLE = 4, ERROR = 5 }
exception InvalidMcOperation { 1: McOperationErrorCode code }

service SimplePreLAG {
  i32 bm_mc_mgrp_create(1: i32 cxt, 2: i32 group) throws (1: InvalidMcOperation refusal),
  void bm_mc_mgrp_destroy(1: i32 cxt, 2: i32 group) throws (1: InvalidMcOperation refusal),
  i32 bm_mc_node_create(1: i32 cxt, 2: i32 rid, 3: string ports, 4: string lags)
    throws (1: InvalidMcOperation refusal),
  void bm_mc_node_update(1: i32 cxt, 2: i32 node, 3: string ports, 4: string lags)
    throws (1: InvalidMcOperation refusal),
  void bm_mc_node_destroy(1: i32 cxt, 2: i32 node) throws (1: InvalidMcOperation refusal),
  void bm_mc_node_associate(1: i32 cxt, 2: i32 group, 3: i32 node) throws (1: InvalidMcOperation refusal),
  void bm_mc_node_dissociate(1: i32 cxt, 2: i32 group, 3: i32 node) throws (1: InvalidMcOperation refusal),
  void bm_mc_set_lag_membership(1: i32 cxt, 2: i16 lag, 3: string ports) throws (1: InvalidMcOperation refusal),
  // JSON: mgrps (id, l1_handles), l1_handles (handle, rid, l2_handle), l2_handles (handle, ports, lags), lags (id, ports).
  string bm_mc_get_entries(1: i32 cxt) throws (1: InvalidMcOperation refusal)
}
