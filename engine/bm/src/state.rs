//! One switch's mutable state and its runtime interface, with BMv2's names.

use std::sync::Arc;

use crate::error::{Fault, RuntimeError};
use crate::phv::Phv;
use crate::program::{ActionId, DeparserId, ParserId, PipelineId, Program};
use crate::target::Target;

/// Names one entry of a table. Handles are given in rising order, from 0 in every table, and not used again.
pub type EntryHandle = u64;
/// Names one member of an action profile.
pub type MemberHandle = u64;
/// Names one group of an action profile.
pub type GroupHandle = u64;
/// Values of an action's parameters: big-endian bytes, leading zeros free, each checked against its width.
pub type ActionData = Vec<Vec<u8>>;

/// One field of a match key. Values are big-endian bytes, leading zeros free, checked against the field's width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchKeyParam {
    /// Equal.
    Exact(Vec<u8>),
    /// A prefix: value and prefix length in bits. Bits beyond the prefix must be zero.
    Lpm(Vec<u8>, u32),
    /// Value and mask. Bits of the value outside the mask must be zero.
    Ternary(Vec<u8>, Vec<u8>),
    /// First and last value, both included.
    Range(Vec<u8>, Vec<u8>),
    /// Header validity.
    Valid(bool),
}

/// What an entry does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MtAction {
    /// An action with its data (direct tables).
    Action(ActionId, ActionData),
    /// A member of the table's action profile.
    Member(MemberHandle),
    /// A group of the table's action profile.
    Group(GroupHandle),
}

/// What a table does on a miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MtDefault {
    /// Nothing set: the table does nothing.
    pub action: Option<MtAction>,
}

/// One entry as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MtEntry {
    /// Its handle.
    pub handle: EntryHandle,
    /// Its key as given, values padded to whole bytes of the field's width.
    pub key: Vec<MatchKeyParam>,
    /// BMv2 priority: the low number wins. 0 for exact and lpm tables.
    pub priority: u32,
    /// What it does.
    pub action: MtAction,
}

/// A counter cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CounterValue {
    /// Bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

/// One rate of a meter: BMv2's unit, per microsecond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeterRate {
    /// Packets or bytes per microsecond.
    pub info_rate: f64,
    /// Packets or bytes.
    pub burst_size: u32,
}

/// A member as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberInfo {
    /// Handle.
    pub handle: MemberHandle,
    /// Action.
    pub action: ActionId,
    /// Its data.
    pub data: ActionData,
}

/// A group as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupInfo {
    /// Handle.
    pub handle: GroupHandle,
    /// Members in the order in which the selector counts them.
    pub members: Vec<MemberHandle>,
}

/// One switch's entries, counters, meters, registers and value sets.
#[derive(Debug)]
pub struct State {
    program: Arc<Program>,
}

type Result<T> = std::result::Result<T, RuntimeError>;

/// The packet path.
impl State {
    /// The state a switch starts with: const entries and default actions set, every cell zero.
    pub fn new(program: &Arc<Program>) -> State {
        State { program: Arc::clone(program) }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Parses `packet` into a reset `phv`. Returns the parser error (`NoError` is the program's value for it, usually 0).
    pub fn parse(&self, parser: ParserId, phv: &mut Phv, packet: &[u8]) -> u32 {
        let _ = (parser, phv, packet);
        todo!()
    }

    /// Whether every checksum that the program verifies holds. `packet` is what was parsed.
    pub fn verify_checksums(&self, phv: &mut Phv, packet: &[u8]) -> bool {
        let _ = (phv, packet);
        todo!()
    }

    /// Runs one pipeline.
    pub fn run<T: Target>(
        &mut self,
        pipeline: PipelineId,
        phv: &mut Phv,
        target: &mut T,
    ) -> std::result::Result<(), Fault> {
        let _ = (pipeline, phv, target);
        todo!()
    }

    /// Computes and stores the checksums that the program updates. `payload` is what follows the headers.
    pub fn update_checksums(&self, phv: &mut Phv, payload: &[u8]) {
        let _ = (phv, payload);
        todo!()
    }

    /// Appends the valid headers in the deparser's order to `out` (not the payload).
    pub fn deparse(&self, deparser: DeparserId, phv: &mut Phv, out: &mut Vec<u8>) {
        let _ = (deparser, phv, out);
        todo!()
    }
}

macro_rules! signatures {
    ($($(#[$doc:meta])* fn $name:ident(&$($m:ident)? ; $($arg:ident : $ty:ty),*) -> $ret:ty;)*) => {
        /// The runtime interface.
        impl State {
            $($(#[$doc])* #[allow(clippy::too_many_arguments)]
            pub fn $name(&$($m)? self, $($arg: $ty),*) -> $ret { $(let _ = $arg;)* todo!() })*
        }
    };
}

signatures! {
    /// Adds an entry to a direct table. `priority` is BMv2's (low wins), used by ternary and range tables only.
    fn mt_add_entry(&mut; table: &str, key: &[MatchKeyParam], action: &str, data: &[Vec<u8>], priority: u32) -> Result<EntryHandle>;
    /// Replaces the action of an entry.
    fn mt_modify_entry(&mut; table: &str, handle: EntryHandle, action: &str, data: &[Vec<u8>]) -> Result<()>;
    /// Deletes an entry of any table.
    fn mt_delete_entry(&mut; table: &str, handle: EntryHandle) -> Result<()>;
    /// Deletes every entry; with `reset_default` also resets the default entry.
    fn mt_clear_entries(&mut; table: &str, reset_default: bool) -> Result<()>;
    /// Sets the default action of a direct table.
    fn mt_set_default_action(&mut; table: &str, action: &str, data: &[Vec<u8>]) -> Result<()>;
    /// Sets the default entry back to what the program says.
    fn mt_reset_default_entry(&mut; table: &str) -> Result<()>;
    /// Entries in order of handle.
    fn mt_get_entries(&; table: &str) -> Result<Vec<MtEntry>>;
    /// One entry.
    fn mt_get_entry(&; table: &str, handle: EntryHandle) -> Result<MtEntry>;
    /// The entry with this key (and priority, for ternary and range tables), if any.
    fn mt_get_entry_from_key(&; table: &str, key: &[MatchKeyParam], priority: u32) -> Result<Option<MtEntry>>;
    /// The default entry.
    fn mt_get_default_entry(&; table: &str) -> Result<MtDefault>;
    /// Number of entries.
    fn mt_get_num_entries(&; table: &str) -> Result<usize>;
    /// Adds an entry that points at a member.
    fn mt_indirect_add_entry(&mut; table: &str, key: &[MatchKeyParam], member: MemberHandle, priority: u32) -> Result<EntryHandle>;
    /// Points an entry at another member.
    fn mt_indirect_modify_entry(&mut; table: &str, handle: EntryHandle, member: MemberHandle) -> Result<()>;
    /// Makes a member the default.
    fn mt_indirect_set_default_member(&mut; table: &str, member: MemberHandle) -> Result<()>;
    /// Adds an entry that points at a group.
    fn mt_indirect_ws_add_entry(&mut; table: &str, key: &[MatchKeyParam], group: GroupHandle, priority: u32) -> Result<EntryHandle>;
    /// Points an entry at another group.
    fn mt_indirect_ws_modify_entry(&mut; table: &str, handle: EntryHandle, group: GroupHandle) -> Result<()>;
    /// Makes a group the default.
    fn mt_indirect_ws_set_default_group(&mut; table: &str, group: GroupHandle) -> Result<()>;
    /// Adds a member.
    fn mt_act_prof_add_member(&mut; profile: &str, action: &str, data: &[Vec<u8>]) -> Result<MemberHandle>;
    /// Replaces a member's action.
    fn mt_act_prof_modify_member(&mut; profile: &str, member: MemberHandle, action: &str, data: &[Vec<u8>]) -> Result<()>;
    /// Deletes a member that nothing uses.
    fn mt_act_prof_delete_member(&mut; profile: &str, member: MemberHandle) -> Result<()>;
    /// Creates an empty group.
    fn mt_act_prof_create_group(&mut; profile: &str) -> Result<GroupHandle>;
    /// Deletes a group that nothing uses.
    fn mt_act_prof_delete_group(&mut; profile: &str, group: GroupHandle) -> Result<()>;
    /// Adds a member to a group.
    fn mt_act_prof_add_member_to_group(&mut; profile: &str, member: MemberHandle, group: GroupHandle) -> Result<()>;
    /// Removes a member from a group.
    fn mt_act_prof_remove_member_from_group(&mut; profile: &str, member: MemberHandle, group: GroupHandle) -> Result<()>;
    /// Members in order of handle.
    fn mt_act_prof_get_members(&; profile: &str) -> Result<Vec<MemberInfo>>;
    /// Groups in order of handle.
    fn mt_act_prof_get_groups(&; profile: &str) -> Result<Vec<GroupInfo>>;
    /// A direct counter of an entry.
    fn mt_read_counters(&; table: &str, handle: EntryHandle) -> Result<CounterValue>;
    /// Sets a direct counter.
    fn mt_write_counters(&mut; table: &str, handle: EntryHandle, value: CounterValue) -> Result<()>;
    /// Zeroes every direct counter of a table.
    fn mt_reset_counters(&mut; table: &str) -> Result<()>;
    /// Rates of an entry's direct meter; an empty slice switches it off.
    fn mt_set_meter_rates(&mut; table: &str, handle: EntryHandle, rates: &[MeterRate]) -> Result<()>;
    /// Rates of an entry's direct meter; empty if never set.
    fn mt_get_meter_rates(&; table: &str, handle: EntryHandle) -> Result<Vec<MeterRate>>;
    /// A counter cell.
    fn read_counters(&; counter: &str, index: u64) -> Result<CounterValue>;
    /// Sets a counter cell.
    fn write_counters(&mut; counter: &str, index: u64, value: CounterValue) -> Result<()>;
    /// Zeroes a counter array.
    fn reset_counters(&mut; counter: &str) -> Result<()>;
    /// Rates of one meter; an empty slice switches it off.
    fn meter_set_rates(&mut; meter: &str, index: u64, rates: &[MeterRate]) -> Result<()>;
    /// Rates of every meter of an array.
    fn meter_array_set_rates(&mut; meter: &str, rates: &[MeterRate]) -> Result<()>;
    /// Rates of one meter; empty if never set.
    fn meter_get_rates(&; meter: &str, index: u64) -> Result<Vec<MeterRate>>;
    /// A register cell, as big-endian bytes of the register's width.
    fn register_read(&; register: &str, index: u64) -> Result<Vec<u8>>;
    /// Every cell of a register.
    fn register_read_all(&; register: &str) -> Result<Vec<Vec<u8>>>;
    /// Writes a cell.
    fn register_write(&mut; register: &str, index: u64, value: &[u8]) -> Result<()>;
    /// Writes cells `start..end`.
    fn register_write_range(&mut; register: &str, start: u64, end: u64, value: &[u8]) -> Result<()>;
    /// Zeroes a register.
    fn register_reset(&mut; register: &str) -> Result<()>;
    /// Low 64 bits of every cell of the register with this dense index, without copying: for the port gate.
    fn register_cells(&; index: usize) -> &[u64];
    /// Adds a value to a parser value set.
    fn parse_vset_add(&mut; vset: &str, value: &[u8]) -> Result<()>;
    /// Removes a value.
    fn parse_vset_remove(&mut; vset: &str, value: &[u8]) -> Result<()>;
    /// Values in order.
    fn parse_vset_get(&; vset: &str) -> Result<Vec<Vec<u8>>>;
    /// Empties a value set.
    fn parse_vset_clear(&mut; vset: &str) -> Result<()>;
    /// Back to how the switch started.
    fn reset_state(&mut;) -> ();
}
