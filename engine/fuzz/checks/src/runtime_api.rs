//! Calls of the runtime interface in any order with any values. A refused call changes nothing, nor does a batch that is
//! rolled back; an accepted one changes only the object that it names, which then is what was written; and what makes or
//! removes something does so once.

use bm::{CounterValue, MeterRate, MtAction, State};
use simple_switch::{PortConfig, Switch, SwitchConfig};

use crate::calls::{Call, Op, EVERYTHING};
use crate::contents::{check, contents, Contents};
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
            let is_named =
                |(kind, name): &(&str, String)| op.kind == EVERYTHING || (*kind == op.kind && *name == op.on);
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
    let Call::SetDefault { .. } = op.call else { return None };
    let mut fixed = switch.program().tables().iter().filter(|info| info.const_default);
    fixed.find(|info| info.name == op.on)?;
    switch.state().mt_get_default_entry(&op.on).ok()?.action
}

/// Returns whether a second call like an accepted one must be refused.
fn is_once(op: &Op) -> bool {
    matches!(
        op.call,
        Call::Add { .. }
            | Call::Delete { .. }
            | Call::DeleteMember { .. }
            | Call::DeleteGroup { .. }
            | Call::Join { .. }
            | Call::Leave { .. }
            | Call::CreateMulticast { .. }
            | Call::DestroyMulticast { .. }
            | Call::Associate { .. }
            | Call::Dissociate { .. }
            | Call::DestroyNode { .. }
            | Call::DeleteSession { .. }
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
    let on = &op.on;
    let is = match &op.call {
        Call::Add { key, priority, to } => {
            let handle = handle.expect("an entry has a handle");
            let added = entry(on, handle).expect("it was added");
            let found = state.mt_get_entry_from_key(on, key, *priority).expect("the key was accepted");
            let is_new = state.mt_read_counters(on, Some(handle)).unwrap_or(no_count) == no_count;
            !info(on).const_entries && is_new && same(&added.action, to) && found == Some(added)
        }
        Call::Modify { handle, to } => {
            !info(on).const_entries && entry(on, *handle).is_ok_and(|entry| same(&entry.action, to))
        }
        Call::Delete { handle } => !info(on).const_entries && entry(on, *handle).is_err(),
        Call::Clear { .. } => info(on).const_entries || state.mt_get_num_entries(on) == Ok(0),
        Call::SetDefault { to } => {
            state.mt_get_default_entry(on).is_ok_and(|default| default.action.is_some_and(|is| same(&is, to)))
        }
        Call::AddMember { action, data } => {
            let to = MtAction::Action(action.clone(), data.clone());
            is_member(&members(on), handle.expect("a member has a handle"), &to)
        }
        Call::ModifyMember { member, action, data } => {
            is_member(&members(on), *member, &MtAction::Action(action.clone(), data.clone()))
        }
        Call::DeleteMember { member } => members(on).iter().all(|known| known.number != *member),
        Call::CreateGroup => members_of(on, handle.expect("a group has a handle")) == Some(Vec::new()),
        Call::DeleteGroup { group } => members_of(on, *group).is_none(),
        Call::Join { member, group } => members_of(on, *group).is_some_and(|all| all.contains(member)),
        Call::Leave { member, group } => members_of(on, *group).is_some_and(|all| !all.contains(member)),
        Call::Register { start, end, value } => (*start..*end)
            .all(|index| state.register_read(on, index).is_ok_and(|cell| number(&cell) == number(value))),
        Call::ResetRegister => {
            state.register_read_all(on).is_ok_and(|cells| cells.iter().flatten().all(|byte| *byte == 0))
        }
        Call::Counter { index, value } => state.read_counters(on, *index) == Ok(*value),
        Call::ResetCounters => state.read_counters(on, 0) == Ok(no_count),
        Call::EntryCounter { handle, value } => state.mt_read_counters(on, *handle) == Ok(*value),
        Call::ResetEntryCounters => {
            let mut entries = state.mt_get_entries(on).expect("it was accepted").into_iter();
            state.mt_read_counters(on, None) == Ok(no_count)
                && entries.all(|entry| state.mt_read_counters(on, Some(entry.handle)) == Ok(no_count))
        }
        Call::Meter { index, rates } => {
            is_sound(rates) && state.meter_get_rates(on, index.unwrap_or(0)).as_ref() == Ok(rates)
        }
        Call::EntryMeter { handle, rates } => {
            is_sound(rates) && state.mt_get_meter_rates(on, *handle).as_ref() == Ok(rates)
        }
        Call::AddToVset { value } => has_value(state, on, value),
        Call::RemoveFromVset { value } => !has_value(state, on, value),
        Call::ClearVset => state.parse_vset_get(on) == Ok(Vec::new()),
        Call::SetMulticast { group, replicas } => switch.pre().replicas(*group) == Some(&replicas[..]),
        Call::CreateNode { rid, ports, .. } => switch.pre().nodes().any(|(known, node)| {
            handle == Some(known.0.into())
                && node.rid == *rid
                && ports.iter().all(|port| node.ports.contains(port))
        }),
        Call::UpdateNode { node, ports, lags } => switch.pre().nodes().any(|(known, found)| {
            let has = |all: &[u16], given: &[u16]| given.iter().all(|number| all.contains(number));
            known == *node && has(&found.ports, ports) && has(ports, &found.ports) && has(&found.lags, lags)
        }),
        Call::AddSession { id, session } => switch.mirroring().get(id) == Some(session),
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
