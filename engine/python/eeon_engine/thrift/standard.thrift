// Service `standard` of a BMv2 switch, as its Thrift clients speak it: P4 objects, ports, programs.
//
// Names of methods and types, field numbers and wire types are BMv2's (1.15.5); without them no client would understand the
// server. Names of arguments are ours, they do not travel. Every `cxt` must be 0. Thrift has no unsigned
// numbers: handles, counts and CRC parameters are carried in the signed type of their size.

// ---- What is refused, by kind of object.

enum TableOperationErrorCode {
  TABLE_FULL = 1, INVALID_HANDLE = 2, EXPIRED_HANDLE = 3, COUNTERS_DISABLED = 4, METERS_DISABLED = 5, AGEING_DISABLED = 6,
  INVALID_TABLE_NAME = 7, INVALID_ACTION_NAME = 8, WRONG_TABLE_TYPE = 9, INVALID_MBR_HANDLE = 10, MBR_STILL_USED = 11,
  MBR_ALREADY_IN_GRP = 12, MBR_NOT_IN_GRP = 13, INVALID_GRP_HANDLE = 14, GRP_STILL_USED = 15, EMPTY_GRP = 16,
  DUPLICATE_ENTRY = 17, BAD_MATCH_KEY = 18, INVALID_METER_OPERATION = 19, DEFAULT_ACTION_IS_CONST = 20,
  DEFAULT_ENTRY_IS_CONST = 21, NO_DEFAULT_ENTRY = 22, INVALID_ACTION_PROFILE_NAME = 23, NO_ACTION_PROFILE_SELECTION = 24,
  IMMUTABLE_TABLE_ENTRIES = 25, BAD_ACTION_DATA = 26, NO_TABLE_KEY = 27, ERROR = 100
}
enum CounterOperationErrorCode { INVALID_COUNTER_NAME = 1, INVALID_INDEX = 2, ERROR = 3 }
enum MeterOperationErrorCode {
  INVALID_METER_NAME = 1, INVALID_INDEX = 2, BAD_RATES_LIST = 3, INVALID_INFO_RATE_VALUE = 4, INVALID_BURST_SIZE_VALUE = 5,
  ERROR = 6
}
enum RegisterOperationErrorCode { INVALID_REGISTER_NAME = 1, INVALID_INDEX = 2, ERROR = 3 }
enum ParseVSetOperationErrorCode { INVALID_PARSE_VSET_NAME = 1, ERROR = 2 }
enum LearnOperationErrorCode { INVALID_LIST_ID = 1, INVALID_LIST_NAME = 2, ERROR = 3 }
enum SwapOperationErrorCode { CONFIG_SWAP_DISABLED = 1, ONGOING_SWAP = 2, NO_ONGOING_SWAP = 3 }
enum DevMgrErrorCode { ERROR = 1 }
enum CrcErrorCode { INVALID_CALCULATION_NAME = 1, WRONG_TYPE_CALCULATION = 2, INVALID_CONFIG = 3 }
enum ToeplitzHashErrorCode { INVALID_CALCULATION_NAME = 1, WRONG_TYPE_CALCULATION = 2, INVALID_KEY = 3 }
enum IdLookupErrorCode { INVALID_RESOURCE_TYPE = 0, INVALID_RESOURCE_NAME = 1 }

exception InvalidTableOperation { 1: TableOperationErrorCode code }
exception InvalidCounterOperation { 1: CounterOperationErrorCode code }
exception InvalidMeterOperation { 1: MeterOperationErrorCode code }
exception InvalidRegisterOperation { 1: RegisterOperationErrorCode code }
exception InvalidParseVSetOperation { 1: ParseVSetOperationErrorCode code }
exception InvalidLearnOperation { 1: LearnOperationErrorCode code }
exception InvalidSwapOperation { 1: SwapOperationErrorCode code }
exception InvalidDevMgrOperation { 1: DevMgrErrorCode code }
exception InvalidCrcOperation { 1: CrcErrorCode code }
exception InvalidToeplitzHashOperation { 1: ToeplitzHashErrorCode code }
exception InvalidIdLookup { 1: IdLookupErrorCode code }

// ---- Match keys. Of the optional fields the one that `type` names counts.

enum BmMatchParamType { EXACT = 0, LPM = 1, TERNARY = 2, VALID = 3, RANGE = 4 }
struct BmMatchParamExact { 1: binary key }
struct BmMatchParamLPM { 1: binary key, 2: i32 prefix_length }
struct BmMatchParamTernary { 1: binary key, 2: binary mask }
struct BmMatchParamValid { 1: bool key }
struct BmMatchParamRange { 1: binary start, 2: binary end_ }
struct BmMatchParam {
  1: BmMatchParamType type,
  2: optional BmMatchParamExact exact,
  3: optional BmMatchParamLPM lpm,
  4: optional BmMatchParamTernary ternary,
  5: optional BmMatchParamValid valid,
  6: optional BmMatchParamRange range
}

// ---- What entries do, and entries as they are read back.

enum BmActionEntryType { NONE = 0, ACTION_DATA = 1, MBR_HANDLE = 2, GRP_HANDLE = 3 }
struct BmActionEntry {
  1: BmActionEntryType action_type,
  2: optional string action_name,
  3: optional list<binary> action_data,
  4: optional i32 mbr_handle,
  5: optional i32 grp_handle
}
// The low number wins; -1 is read back from tables without priorities.
struct BmAddEntryOptions { 1: optional i32 priority }
struct BmMtEntryLife { 1: i32 timeout_ms, 2: i32 time_since_hit_ms }
struct BmMtEntry {
  1: list<BmMatchParam> match_key,
  2: BmAddEntryOptions options,
  3: i32 entry_handle,
  4: BmActionEntry action_entry,
  5: optional BmMtEntryLife life
}
struct BmMtActProfMember { 1: i32 mbr_handle, 2: string action_name, 3: list<binary> action_data }
struct BmMtActProfGroup { 1: i32 grp_handle, 2: list<i32> mbr_handles }

// ---- Cells, calculations, ports, the switch itself.

struct BmCounterValue { 1: i64 bytes, 2: i64 packets }
struct BmMeterRateConfig { 1: double units_per_micros, 2: i32 burst_size }
struct BmCrc16Config {
  1: i16 polynomial, 2: i16 initial_remainder, 3: i16 final_xor_value, 4: bool data_reflected, 5: bool remainder_reflected
}
struct BmCrc32Config {
  1: i32 polynomial, 2: i32 initial_remainder, 3: i32 final_xor_value, 4: bool data_reflected, 5: bool remainder_reflected
}
struct DevMgrPortInfo { 1: i32 port_num, 2: string iface_name, 3: bool is_up, 4: map<string, string> extra }
struct BmConfig {
  1: i64 device_id,
  2: i32 thrift_port,
  3: optional string notifications_socket,
  4: optional string elogger_socket,
  5: optional string debugger_socket
}
enum BmResourceType { MATCH_TABLE = 0, ACTION_PROFILE = 1, COUNTER = 2, METER = 3, REGISTER = 4, LEARNING_LIST = 5 }

service Standard {
  // Programs and the state as a whole.
  string bm_get_config(),
  binary bm_get_config_md5(),
  void bm_load_new_config(1: string json) throws (1: InvalidSwapOperation refusal),
  void bm_swap_configs() throws (1: InvalidSwapOperation refusal),
  void bm_reset_state(),
  string bm_serialize_state(),
  BmConfig bm_mgmt_get_info(),
  i32 bm_get_id_from_name(1: i32 cxt, 2: BmResourceType type, 3: string name) throws (1: InvalidIdLookup refusal),

  // Ports.
  void bm_dev_mgr_add_port(1: string iface, 2: i32 port, 3: string pcap) throws (1: InvalidDevMgrOperation refusal),
  void bm_dev_mgr_remove_port(1: i32 port) throws (1: InvalidDevMgrOperation refusal),
  list<DevMgrPortInfo> bm_dev_mgr_show_ports() throws (1: InvalidDevMgrOperation refusal),

  // Tables of any kind.
  i64 bm_mt_get_num_entries(1: i32 cxt, 2: string table) throws (1: InvalidTableOperation refusal),
  void bm_mt_clear_entries(1: i32 cxt, 2: string table, 3: bool reset_default)
    throws (1: InvalidTableOperation refusal),
  list<BmMtEntry> bm_mt_get_entries(1: i32 cxt, 2: string table) throws (1: InvalidTableOperation refusal),
  BmMtEntry bm_mt_get_entry(1: i32 cxt, 2: string table, 3: i32 entry) throws (1: InvalidTableOperation refusal),
  BmMtEntry bm_mt_get_entry_from_key(1: i32 cxt, 2: string table, 3: list<BmMatchParam> key, 4: BmAddEntryOptions options)
    throws (1: InvalidTableOperation refusal),
  BmActionEntry bm_mt_get_default_entry(1: i32 cxt, 2: string table) throws (1: InvalidTableOperation refusal),

  // Tables whose entries have actions of their own.
  i32 bm_mt_add_entry(1: i32 cxt, 2: string table, 3: list<BmMatchParam> key, 4: string action, 5: list<binary> data,
                      6: BmAddEntryOptions options) throws (1: InvalidTableOperation refusal),
  void bm_mt_modify_entry(1: i32 cxt, 2: string table, 3: i32 entry, 4: string action, 5: list<binary> data)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_delete_entry(1: i32 cxt, 2: string table, 3: i32 entry) throws (1: InvalidTableOperation refusal),
  void bm_mt_set_entry_ttl(1: i32 cxt, 2: string table, 3: i32 entry, 4: i32 timeout_ms)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_set_default_action(1: i32 cxt, 2: string table, 3: string action, 4: list<binary> data)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_reset_default_entry(1: i32 cxt, 2: string table) throws (1: InvalidTableOperation refusal),

  // Tables whose entries point at members, and those whose entries point at groups.
  i32 bm_mt_indirect_add_entry(1: i32 cxt, 2: string table, 3: list<BmMatchParam> key, 4: i32 member,
                               5: BmAddEntryOptions options) throws (1: InvalidTableOperation refusal),
  void bm_mt_indirect_modify_entry(1: i32 cxt, 2: string table, 3: i32 entry, 4: i32 member)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_indirect_delete_entry(1: i32 cxt, 2: string table, 3: i32 entry) throws (1: InvalidTableOperation refusal),
  void bm_mt_indirect_set_entry_ttl(1: i32 cxt, 2: string table, 3: i32 entry, 4: i32 timeout_ms)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_indirect_set_default_member(1: i32 cxt, 2: string table, 3: i32 member)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_indirect_reset_default_entry(1: i32 cxt, 2: string table) throws (1: InvalidTableOperation refusal),
  i32 bm_mt_indirect_ws_add_entry(1: i32 cxt, 2: string table, 3: list<BmMatchParam> key, 4: i32 group,
                                  5: BmAddEntryOptions options) throws (1: InvalidTableOperation refusal),
  void bm_mt_indirect_ws_modify_entry(1: i32 cxt, 2: string table, 3: i32 entry, 4: i32 group)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_indirect_ws_set_default_group(1: i32 cxt, 2: string table, 3: i32 group)
    throws (1: InvalidTableOperation refusal),

  // Action profiles.
  i32 bm_mt_act_prof_add_member(1: i32 cxt, 2: string profile, 3: string action, 4: list<binary> data)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_act_prof_modify_member(1: i32 cxt, 2: string profile, 3: i32 member, 4: string action, 5: list<binary> data)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_act_prof_delete_member(1: i32 cxt, 2: string profile, 3: i32 member)
    throws (1: InvalidTableOperation refusal),
  BmMtActProfMember bm_mt_act_prof_get_member(1: i32 cxt, 2: string profile, 3: i32 member)
    throws (1: InvalidTableOperation refusal),
  list<BmMtActProfMember> bm_mt_act_prof_get_members(1: i32 cxt, 2: string profile)
    throws (1: InvalidTableOperation refusal),
  i32 bm_mt_act_prof_create_group(1: i32 cxt, 2: string profile) throws (1: InvalidTableOperation refusal),
  void bm_mt_act_prof_delete_group(1: i32 cxt, 2: string profile, 3: i32 group)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_act_prof_add_member_to_group(1: i32 cxt, 2: string profile, 3: i32 member, 4: i32 group)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_act_prof_remove_member_from_group(1: i32 cxt, 2: string profile, 3: i32 member, 4: i32 group)
    throws (1: InvalidTableOperation refusal),
  BmMtActProfGroup bm_mt_act_prof_get_group(1: i32 cxt, 2: string profile, 3: i32 group)
    throws (1: InvalidTableOperation refusal),
  list<BmMtActProfGroup> bm_mt_act_prof_get_groups(1: i32 cxt, 2: string profile)
    throws (1: InvalidTableOperation refusal),

  // Counters and meters of entries.
  BmCounterValue bm_mt_read_counter(1: i32 cxt, 2: string table, 3: i32 entry)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_write_counter(1: i32 cxt, 2: string table, 3: i32 entry, 4: BmCounterValue value)
    throws (1: InvalidTableOperation refusal),
  void bm_mt_reset_counters(1: i32 cxt, 2: string table) throws (1: InvalidTableOperation refusal),
  void bm_mt_set_meter_rates(1: i32 cxt, 2: string table, 3: i32 entry, 4: list<BmMeterRateConfig> rates)
    throws (1: InvalidTableOperation refusal),
  list<BmMeterRateConfig> bm_mt_get_meter_rates(1: i32 cxt, 2: string table, 3: i32 entry)
    throws (1: InvalidTableOperation refusal),

  // Arrays: counters, meters, registers. A register's value is cut to its width; no cell above 64 bits can be read whole.
  BmCounterValue bm_counter_read(1: i32 cxt, 2: string counter, 3: i32 cell)
    throws (1: InvalidCounterOperation refusal),
  void bm_counter_write(1: i32 cxt, 2: string counter, 3: i32 cell, 4: BmCounterValue value)
    throws (1: InvalidCounterOperation refusal),
  void bm_counter_reset_all(1: i32 cxt, 2: string counter) throws (1: InvalidCounterOperation refusal),
  void bm_meter_set_rates(1: i32 cxt, 2: string meter, 3: i32 cell, 4: list<BmMeterRateConfig> rates)
    throws (1: InvalidMeterOperation refusal),
  void bm_meter_array_set_rates(1: i32 cxt, 2: string meter, 3: list<BmMeterRateConfig> rates)
    throws (1: InvalidMeterOperation refusal),
  list<BmMeterRateConfig> bm_meter_get_rates(1: i32 cxt, 2: string meter, 3: i32 cell)
    throws (1: InvalidMeterOperation refusal),
  i64 bm_register_read(1: i32 cxt, 2: string reg, 3: i32 cell) throws (1: InvalidRegisterOperation refusal),
  list<i64> bm_register_read_all(1: i32 cxt, 2: string reg) throws (1: InvalidRegisterOperation refusal),
  void bm_register_write(1: i32 cxt, 2: string reg, 3: i32 cell, 4: i64 value)
    throws (1: InvalidRegisterOperation refusal),
  void bm_register_write_range(1: i32 cxt, 2: string reg, 3: i32 first, 4: i32 beyond, 5: i64 value)
    throws (1: InvalidRegisterOperation refusal),
  void bm_register_reset(1: i32 cxt, 2: string reg) throws (1: InvalidRegisterOperation refusal),

  // Parser value sets.
  void bm_parse_vset_add(1: i32 cxt, 2: string vset, 3: binary value) throws (1: InvalidParseVSetOperation refusal),
  void bm_parse_vset_remove(1: i32 cxt, 2: string vset, 3: binary value)
    throws (1: InvalidParseVSetOperation refusal),
  list<binary> bm_parse_vset_get(1: i32 cxt, 2: string vset) throws (1: InvalidParseVSetOperation refusal),
  void bm_parse_vset_clear(1: i32 cxt, 2: string vset) throws (1: InvalidParseVSetOperation refusal),

  // Digests.
  void bm_learning_ack(1: i32 cxt, 2: i32 digest, 3: i64 buffer, 4: list<i32> samples)
    throws (1: InvalidLearnOperation refusal),
  void bm_learning_ack_buffer(1: i32 cxt, 2: i32 digest, 3: i64 buffer) throws (1: InvalidLearnOperation refusal),
  void bm_learning_set_timeout(1: i32 cxt, 2: i32 digest, 3: i32 timeout_ms)
    throws (1: InvalidLearnOperation refusal),
  void bm_learning_set_buffer_size(1: i32 cxt, 2: i32 digest, 3: i32 samples)
    throws (1: InvalidLearnOperation refusal),

  // Hashes whose parameters can be set while the program runs.
  void bm_set_crc16_custom_parameters(1: i32 cxt, 2: string calculation, 3: BmCrc16Config parameters)
    throws (1: InvalidCrcOperation refusal),
  void bm_set_crc32_custom_parameters(1: i32 cxt, 2: string calculation, 3: BmCrc32Config parameters)
    throws (1: InvalidCrcOperation refusal),
  void bm_set_toeplitz_hash_key(1: i32 cxt, 2: string calculation, 3: binary key)
    throws (1: InvalidToeplitzHashOperation refusal)
}
