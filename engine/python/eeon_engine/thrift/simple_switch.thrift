// Service `simple_switch` of a BMv2 switch: clone sessions, egress queues, the clock.
//
// Method names, field numbers and wire types are BMv2's (1.15.5); argument names are ours.

enum MirroringOperationErrorCode { SESSION_NOT_FOUND = 1 }
exception InvalidMirroringOperation { 1: MirroringOperationErrorCode code }
struct MirroringSessionConfig { 1: optional i32 port, 2: optional i32 mgid }

service SimpleSwitch {
  void mirroring_session_add(1: i32 session, 2: MirroringSessionConfig target)
    throws (1: InvalidMirroringOperation refusal),
  void mirroring_session_delete(1: i32 session) throws (1: InvalidMirroringOperation refusal),
  MirroringSessionConfig mirroring_session_get(1: i32 session) throws (1: InvalidMirroringOperation refusal),

  // The older calls for sessions to a port: 1 is done, 0 is refused; -1 for a session that has no port.
  i32 mirroring_mapping_add(1: i32 session, 2: i32 port),
  i32 mirroring_mapping_delete(1: i32 session),
  i32 mirroring_mapping_get_egress_port(1: i32 session),

  // 0 is done. Depth in packets, rate in packets per second (0: no limit), both of each queue by itself.
  i32 set_egress_priority_queue_depth(1: i32 port, 2: i32 priority, 3: i32 packets),
  i32 set_egress_queue_depth(1: i32 port, 2: i32 packets),
  i32 set_all_egress_queue_depths(1: i32 packets),
  i32 set_egress_priority_queue_rate(1: i32 port, 2: i32 priority, 3: i64 rate),
  i32 set_egress_queue_rate(1: i32 port, 2: i64 rate),
  i32 set_all_egress_queue_rates(1: i64 rate),

  i64 get_time_elapsed_us(),
  i64 get_time_since_epoch_us()
}
