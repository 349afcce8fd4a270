//! Makes a call of a switch's runtime interface.

use bm::{MtAction, RuntimeError, State};
use simple_switch::Switch;

use crate::calls::Op;

/// Makes the call. Returns the handle that it gives, if any.
pub(crate) fn make(switch: &mut Switch, op: &Op) -> Result<Option<u64>, RuntimeError> {
    match op {
        Op::CreateMulticast { group } => switch.pre_mut().mc_mgrp_create(*group),
        Op::DestroyMulticast { group, with_nodes: true } => switch.delete_group(*group),
        Op::DestroyMulticast { group, .. } => switch.pre_mut().mc_mgrp_destroy(*group),
        Op::SetMulticast { group, replicas } => switch.set_group(*group, replicas, &[]),
        Op::CreateNode { rid, ports, lags } => {
            return switch.pre_mut().mc_node_create(*rid, ports, lags).map(|node| Some(node.0.into()))
        }
        Op::UpdateNode { node, ports, lags } => switch.pre_mut().mc_node_update(*node, ports, lags),
        Op::SetLag { lag, ports } => switch.pre_mut().mc_set_lag_membership(*lag, ports),
        Op::Associate { group, node } => switch.pre_mut().mc_node_associate(*group, *node),
        Op::Dissociate { group, node } => switch.pre_mut().mc_node_dissociate(*group, *node),
        Op::DestroyNode { node } => switch.pre_mut().mc_node_destroy(*node),
        Op::AddSession { id, session } => switch.set_session(*id, *session),
        Op::DeleteSession { id } => switch.delete_session(*id),
        _ => return make_to_state(&mut switch.state_mut(), op),
    }
    .map(|()| None)
}

/// Makes a call that concerns only the state.
fn make_to_state(state: &mut State, op: &Op) -> Result<Option<u64>, RuntimeError> {
    match op {
        Op::Add { table, key, priority, to } => {
            return match to {
                MtAction::Action(action, data) => state.mt_add_entry(table, key, action, data, *priority),
                MtAction::Member(member) => state.mt_indirect_add_entry(table, key, *member, *priority),
                MtAction::Group(group) => state.mt_indirect_ws_add_entry(table, key, *group, *priority),
            }
            .map(Some)
        }
        Op::Modify { table, handle, to } => match to {
            MtAction::Action(action, data) => state.mt_modify_entry(table, *handle, action, data),
            MtAction::Member(member) => state.mt_indirect_modify_entry(table, *handle, *member),
            MtAction::Group(group) => state.mt_indirect_ws_modify_entry(table, *handle, *group),
        },
        Op::Delete { table, handle } => state.mt_delete_entry(table, *handle),
        Op::Clear { table, reset_default } => state.mt_clear_entries(table, *reset_default),
        Op::SetDefault { table, to } => match to {
            MtAction::Action(action, data) => state.mt_set_default_action(table, action, data),
            MtAction::Member(member) => state.mt_indirect_set_default_member(table, *member),
            MtAction::Group(group) => state.mt_indirect_ws_set_default_group(table, *group),
        },
        Op::ResetDefault { table } => state.mt_reset_default_entry(table),
        Op::AddMember { profile, action, data } => {
            return state.mt_act_prof_add_member(profile, action, data).map(Some)
        }
        Op::ModifyMember { profile, member, action, data } => {
            state.mt_act_prof_modify_member(profile, *member, action, data)
        }
        Op::DeleteMember { profile, member } => state.mt_act_prof_delete_member(profile, *member),
        Op::CreateGroup { profile } => return state.mt_act_prof_create_group(profile).map(Some),
        Op::DeleteGroup { profile, group } => state.mt_act_prof_delete_group(profile, *group),
        Op::Join { profile, member, group } => {
            state.mt_act_prof_add_member_to_group(profile, *member, *group, None)
        }
        Op::Leave { profile, member, group } => {
            state.mt_act_prof_remove_member_from_group(profile, *member, *group)
        }
        Op::Register { register, start, end, value } => {
            state.register_write_range(register, *start, *end, value)
        }
        Op::ResetRegister { register } => state.register_reset(register),
        Op::Counter { counter, index, value } => state.write_counters(counter, *index, *value),
        Op::ResetCounters { counter } => state.reset_counters(counter),
        Op::EntryCounter { table, handle, value } => state.mt_write_counters(table, *handle, *value),
        Op::ResetEntryCounters { table } => state.mt_reset_counters(table),
        Op::Meter { meter, index: Some(index), rates } => state.meter_set_rates(meter, *index, rates),
        Op::Meter { meter, index: None, rates } => state.meter_array_set_rates(meter, rates),
        Op::EntryMeter { table, handle, rates } => state.mt_set_meter_rates(table, *handle, rates),
        Op::DefaultCounter { table, value } => state.mt_write_default_counters(table, *value),
        Op::DefaultMeter { table, rates } => state.mt_set_default_meter_rates(table, rates),
        Op::AddToVset { vset, value } => state.parse_vset_add(vset, value),
        Op::RemoveFromVset { vset, value } => state.parse_vset_remove(vset, value),
        Op::ClearVset { vset } => state.parse_vset_clear(vset),
        Op::ResetState => {
            state.reset_state();
            Ok(())
        }
        other => unreachable!("{other:?} is made to the switch"),
    }
    .map(|()| None)
}
