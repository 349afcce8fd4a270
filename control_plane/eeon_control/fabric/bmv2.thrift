// What this controller asks of a BMv2 switch over Thrift, and no more: registers, queues, ports, the clock, who it is.
//
// Services `standard` and `simple_switch` on one multiplexed port. Method names, field numbers and wire types are BMv2's
// (1.15.5); argument names are ours, they do not travel. `cxt` is always 0.

enum RegisterOperationErrorCode { INVALID_REGISTER_NAME = 1, INVALID_INDEX = 2, ERROR = 3 }
exception InvalidRegisterOperation { 1: RegisterOperationErrorCode code }

struct DevMgrPortInfo { 1: i32 port_num, 2: string iface_name, 3: bool is_up }
struct BmConfig { 1: i64 device_id, 2: i32 thrift_port }

service Standard {
  BmConfig bm_mgmt_get_info(),
  string bm_get_config(),
  binary bm_get_config_md5(),
  list<DevMgrPortInfo> bm_dev_mgr_show_ports(),
  list<i64> bm_register_read_all(1: i32 cxt, 2: string reg) throws (1: InvalidRegisterOperation refusal)
}

// 0 is done. Depth in packets, rate in packets per second, 0 for no limit.
service SimpleSwitch {
  i32 set_egress_queue_depth(1: i32 port, 2: i32 packets),
  i32 set_egress_queue_rate(1: i32 port, 2: i64 rate),
  i64 get_time_elapsed_us()
}
