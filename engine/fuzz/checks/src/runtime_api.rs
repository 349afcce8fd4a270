//! Calls of the runtime interface in any order with any values. A refused call changes nothing, nor does a batch that is
//! rolled back; an accepted one changes only the object that it names, which then is what was written; and what makes or
//! removes something does so once.

use bm::{CounterValue, MeterRate, MtAction, State};
use simple_switch::{PortConfig, Switch, SwitchConfig};

use crate::calls::Op;
use crate::contents::{check, contents, object, Contents};
use crate::input::Input;
use crate::programs;
use crate::runtime_interface::make;

/// Maximum number of calls of one input.
const MAX_CALLS: usize = 120;

/// Runs the target. The input: 1 byte for the program, then calls. They are made once, and again after a batch that is
/// rolled back: the calls that the second half of the bytes contains.
pub fn runtime_api(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let program = programs::program(usize::from(input.u8()));
    let config = SwitchConfig { ports: vec![PortConfig::unlimited(1)], ..SwitchConfig::default() };
    let mut switch = Switch::new(program, config).expect("the configuration is sound");
    let calls = input.rest();
    let mut before = contents(&switch);
    for_each_call(&mut switch, calls, |switch, op| make_and_check(switch, op, &mut before));

    switch.begin_batch();
    let start = switch.savepoint();
    for_each_call(&mut switch, &calls[calls.len() / 2..], |switch, op| {
        if op.may_be_in_a_batch() {
            // Whether the call is refused depends on the others, as it does outside a batch.
            let _ = make(switch, op);
        }
    });
    switch.roll_back(start);
    switch.end_batch();
    assert_eq!(contents(&switch), before, "a batch that is rolled back changes nothing");

    for_each_call(&mut switch, calls, |switch, op| make_and_check(switch, op, &mut before));
}

fn for_each_call(switch: &mut Switch, input: &[u8], mut call: impl FnMut(&mut Switch, &Op)) {
    let mut input = Input::new(input);
    for _ in 0..MAX_CALLS {
        if input.is_empty() {
            break;
        }
        let Some(op) = Op::next(&mut input, switch) else { break };
        call(switch, &op);
    }
}

/// Makes a call of a switch with these contents, and updates them.
fn make_and_check(switch: &mut Switch, op: &Op, before: &mut Contents) {
    let fixed = fixed_default(switch, op);
    match make(switch, op) {
        Ok(handle) => {
            let after = contents(switch);
            let named = object(op);
            let is_named =
                |(kind, name): &(&'static str, String)| named.is_none_or(|named| named == (*kind, name));
            assert!(before.keys().any(is_named), "{op:?} names nothing");
            let mut others = before.iter().filter(|(object, _)| !is_named(object));
            let changed = others.find(|(object, read)| after.get(*object) != Some(read));
            assert_eq!(changed, None, "{op:?} changed another object");
            check_written(switch, op, handle);
            assert_eq!(fixed_default(switch, op), fixed, "{op:?} changed what is const");
            if is_once(op) {
                assert!(make(switch, op).is_err(), "{op:?} was accepted twice");
                assert_eq!(contents(switch), after, "{op:?} was refused the second time");
            }
            check(switch);
            *before = after;
        }
        Err(error) => {
            assert!(!error.text.is_empty() && error.text.len() < 4096, "{error}");
            assert_eq!(contents(switch), *before, "{op:?} was refused");
        }
    }
}

/// Returns the default action that a call may not change, because the program declares it const.
fn fixed_default(switch: &Switch, op: &Op) -> Option<MtAction> {
    let Op::SetDefault { table, .. } = op else { return None };
    let mut fixed = switch.program().tables().iter().filter(|info| info.const_default);
    fixed.find(|info| info.name == *table)?;
    switch.state().mt_get_default_entry(table).ok()?.action
}

/// Returns whether a second call like an accepted one must be refused.
fn is_once(op: &Op) -> bool {
    matches!(
        op,
        Op::Add { .. }
            | Op::Delete { .. }
            | Op::DeleteMember { .. }
            | Op::DeleteGroup { .. }
            | Op::Join { .. }
            | Op::Leave { .. }
            | Op::CreateMulticast { .. }
            | Op::DestroyMulticast { .. }
            | Op::Associate { .. }
            | Op::Dissociate { .. }
            | Op::DestroyNode { .. }
            | Op::DeleteSession { .. }
    )
}

/// Checks that what an accepted call has written is read back, with the handle that it has given.
fn check_written(switch: &Switch, op: &Op, handle: Option<u64>) {
    let (program, state) = (switch.program(), switch.state());
    let info =
        |table: &str| program.tables().iter().find(|info| info.name == table).expect("it was accepted");
    let entry = |table: &str, handle: u64| state.mt_get_entry(table, handle);
    let members = |profile: &str| state.mt_act_prof_get_members(profile).expect("it was accepted");
    let groups = |profile: &str| state.mt_act_prof_get_groups(profile).expect("it has a selector");
    let members_of = |profile: &str, handle: u64| {
        groups(profile).into_iter().find(|group| group.handle == handle).map(|group| group.members)
    };
    let no_count = CounterValue::default();
    let is = match op {
        Op::Add { table, key, priority, to } => {
            let handle = handle.expect("an entry has a handle");
            let added = entry(table, handle).expect("it was added");
            let found = state.mt_get_entry_from_key(table, key, *priority).expect("the key was accepted");
            let is_new = state.mt_read_counters(table, handle).unwrap_or(no_count) == no_count;
            !info(table).const_entries && is_new && same(&added.action, to) && found == Some(added)
        }
        Op::Modify { table, handle, to } => {
            !info(table).const_entries && entry(table, *handle).is_ok_and(|entry| same(&entry.action, to))
        }
        Op::Delete { table, handle } => !info(table).const_entries && entry(table, *handle).is_err(),
        Op::Clear { table, .. } => info(table).const_entries || state.mt_get_num_entries(table) == Ok(0),
        Op::SetDefault { table, to } => state
            .mt_get_default_entry(table)
            .is_ok_and(|default| default.action.is_some_and(|is| same(&is, to))),
        Op::AddMember { profile, action, data } => {
            let to = MtAction::Action(action.clone(), data.clone());
            is_member(&members(profile), handle.expect("a member has a handle"), &to)
        }
        Op::ModifyMember { profile, member, action, data } => {
            is_member(&members(profile), *member, &MtAction::Action(action.clone(), data.clone()))
        }
        Op::DeleteMember { profile, member } => members(profile).iter().all(|known| known.number != *member),
        Op::CreateGroup { profile } => {
            members_of(profile, handle.expect("a group has a handle")) == Some(Vec::new())
        }
        Op::DeleteGroup { profile, group } => members_of(profile, *group).is_none(),
        Op::Join { profile, member, group } => {
            members_of(profile, *group).is_some_and(|all| all.contains(member))
        }
        Op::Leave { profile, member, group } => {
            members_of(profile, *group).is_some_and(|all| !all.contains(member))
        }
        Op::Register { register, start, end, value } => (*start..*end).all(|index| {
            state.register_read(register, index).is_ok_and(|cell| number(&cell) == number(value))
        }),
        Op::ResetRegister { register } => {
            state.register_read_all(register).is_ok_and(|cells| cells.iter().flatten().all(|byte| *byte == 0))
        }
        Op::Counter { counter, index, value } => state.read_counters(counter, *index) == Ok(*value),
        Op::ResetCounters { counter } => state.read_counters(counter, 0) == Ok(no_count),
        Op::EntryCounter { table, handle, value } => state.mt_read_counters(table, *handle) == Ok(*value),
        Op::DefaultCounter { table, value } => state.mt_read_default_counters(table) == Ok(*value),
        Op::ResetEntryCounters { table } => {
            let mut entries = state.mt_get_entries(table).expect("it was accepted").into_iter();
            state.mt_read_default_counters(table) == Ok(no_count)
                && entries.all(|entry| state.mt_read_counters(table, entry.handle) == Ok(no_count))
        }
        Op::Meter { meter, index, rates } => {
            is_sound(rates) && state.meter_get_rates(meter, index.unwrap_or(0)).as_ref() == Ok(rates)
        }
        Op::EntryMeter { table, handle, rates } => {
            is_sound(rates) && state.mt_get_meter_rates(table, *handle).as_ref() == Ok(rates)
        }
        Op::DefaultMeter { table, rates } => {
            is_sound(rates) && state.mt_get_default_meter_rates(table).as_ref() == Ok(rates)
        }
        Op::AddToVset { vset, value } => has_value(state, vset, value),
        Op::RemoveFromVset { vset, value } => !has_value(state, vset, value),
        Op::ClearVset { vset } => state.parse_vset_get(vset) == Ok(Vec::new()),
        Op::SetMulticast { group, replicas } => switch.pre().replicas(*group) == Some(&replicas[..]),
        Op::CreateNode { rid, ports, .. } => switch.pre().nodes().any(|(known, node)| {
            handle == Some(known.0.into())
                && node.rid == *rid
                && ports.iter().all(|port| node.ports.contains(port))
        }),
        Op::UpdateNode { node, ports, lags } => switch.pre().nodes().any(|(known, found)| {
            let has = |all: &[u16], given: &[u16]| given.iter().all(|number| all.contains(number));
            known == *node && has(&found.ports, ports) && has(ports, &found.ports) && has(&found.lags, lags)
        }),
        Op::AddSession { id, session } => switch.mirroring().get(id) == Some(session),
        _ => true,
    };
    assert!(is, "{op:?}, which gave {handle:?}, is not what is read");
}

/// Returns a number without its leading zeros.
fn number(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..]
}

/// Returns whether what is read is the action, member or group that was written.
fn same(read: &MtAction, written: &MtAction) -> bool {
    match (read, written) {
        (MtAction::Action(read, has), MtAction::Action(written, given)) => {
            read == written
                && has.iter().map(|value| number(value)).eq(given.iter().map(|value| number(value)))
        }
        _ => read == written,
    }
}

fn is_member(members: &[bm::MemberInfo<u64>], handle: u64, to: &MtAction) -> bool {
    let found = members.iter().find(|member| member.number == handle);
    found.is_some_and(|found| same(&MtAction::Action(found.action.clone(), found.data.clone()), to))
}

fn has_value(state: &State, vset: &str, value: &[u8]) -> bool {
    state.parse_vset_get(vset).is_ok_and(|all| all.iter().any(|known| number(known) == number(value)))
}

/// Returns whether rates may be those of a meter: finite, not negative, the lowest first.
fn is_sound(rates: &[MeterRate]) -> bool {
    let sound = |rate: &MeterRate| rate.info_rate.is_finite() && rate.info_rate >= 0.0;
    rates.iter().all(sound) && rates.windows(2).all(|pair| pair[0].info_rate <= pair[1].info_rate)
}
