//! Makes a call of a switch's runtime interface.

use bm::{MtAction, RuntimeError, State};
use simple_switch::Switch;

use crate::calls::{Call, Op};

/// Makes the call. Returns the handle that it gives, if any.
pub(crate) fn make(switch: &mut Switch, op: &Op) -> Result<Option<u64>, RuntimeError> {
    match &op.call {
        Call::CreateMulticast { group } => switch.pre_mut().mc_mgrp_create(*group),
        Call::DestroyMulticast { group, with_nodes: true } => switch.delete_group(*group),
        Call::DestroyMulticast { group, .. } => switch.pre_mut().mc_mgrp_destroy(*group),
        Call::SetMulticast { group, replicas } => switch.set_group(*group, replicas, &[]),
        Call::CreateNode { rid, ports, lags } => {
            return switch.pre_mut().mc_node_create(*rid, ports, lags).map(|node| Some(node.0.into()))
        }
        Call::UpdateNode { node, ports, lags } => switch.pre_mut().mc_node_update(*node, ports, lags),
        Call::SetLag { lag, ports } => switch.pre_mut().mc_set_lag_membership(*lag, ports),
        Call::Associate { group, node } => switch.pre_mut().mc_node_associate(*group, *node),
        Call::Dissociate { group, node } => switch.pre_mut().mc_node_dissociate(*group, *node),
        Call::DestroyNode { node } => switch.pre_mut().mc_node_destroy(*node),
        Call::AddSession { id, session } => switch.set_session(*id, *session),
        Call::DeleteSession { id } => switch.delete_session(*id),
        _ => return make_to_state(&mut switch.state_mut(), op),
    }
    .map(|()| None)
}

/// Makes a call that concerns only the state.
fn make_to_state(state: &mut State, op: &Op) -> Result<Option<u64>, RuntimeError> {
    let on = &op.on;
    match &op.call {
        Call::Add { key, priority, to } => {
            return match to {
                MtAction::Action(action, data) => state.mt_add_entry(on, key, action, data, *priority),
                MtAction::Member(member) => state.mt_indirect_add_entry(on, key, *member, *priority),
                MtAction::Group(group) => state.mt_indirect_ws_add_entry(on, key, *group, *priority),
            }
            .map(Some)
        }
        Call::Modify { handle, to } => match to {
            MtAction::Action(action, data) => state.mt_modify_entry(on, *handle, action, data),
            MtAction::Member(member) => state.mt_indirect_modify_entry(on, *handle, *member),
            MtAction::Group(group) => state.mt_indirect_ws_modify_entry(on, *handle, *group),
        },
        Call::Delete { handle } => state.mt_delete_entry(on, *handle),
        Call::Clear { reset_default } => state.mt_clear_entries(on, *reset_default),
        Call::SetDefault { to } => match to {
            MtAction::Action(action, data) => state.mt_set_default_action(on, action, data),
            MtAction::Member(member) => state.mt_indirect_set_default_member(on, *member),
            MtAction::Group(group) => state.mt_indirect_ws_set_default_group(on, *group),
        },
        Call::ResetDefault => state.mt_reset_default_entry(on),
        Call::AddMember { action, data } => return state.mt_act_prof_add_member(on, action, data).map(Some),
        Call::ModifyMember { member, action, data } => {
            state.mt_act_prof_modify_member(on, *member, action, data)
        }
        Call::DeleteMember { member } => state.mt_act_prof_delete_member(on, *member),
        Call::CreateGroup => return state.mt_act_prof_create_group(on).map(Some),
        Call::DeleteGroup { group } => state.mt_act_prof_delete_group(on, *group),
        Call::Join { member, group } => state.mt_act_prof_add_member_to_group(on, *member, *group, None),
        Call::Leave { member, group } => state.mt_act_prof_remove_member_from_group(on, *member, *group),
        Call::Register { start, end, value } => state.register_write_range(on, *start, *end, value),
        Call::ResetRegister => state.register_reset(on),
        Call::Counter { index, value } => state.write_counters(on, *index, *value),
        Call::ResetCounters => state.reset_counters(on),
        Call::EntryCounter { handle, value } => state.mt_write_counters(on, *handle, *value),
        Call::ResetEntryCounters => state.mt_reset_counters(on),
        Call::Meter { index: Some(index), rates } => state.meter_set_rates(on, *index, rates),
        Call::Meter { index: None, rates } => state.meter_array_set_rates(on, rates),
        Call::EntryMeter { handle, rates } => state.mt_set_meter_rates(on, *handle, rates),
        Call::AddToVset { value } => state.parse_vset_add(on, value),
        Call::RemoveFromVset { value } => state.parse_vset_remove(on, value),
        Call::ClearVset => state.parse_vset_clear(on),
        Call::ResetState => {
            state.reset_state();
            Ok(())
        }
        _ => unreachable!("{op:?} is made to the switch"),
    }
    .map(|()| None)
}
