//! A switch with a link at every port number except the drop port, and with every table and action profile filled to
//! its size. Not a test.

use std::sync::Arc;

use bm::{Executable, MatchKeyParam, MatchType, Program, State, TableInfo, TableType};
use simple_switch::{PortConfig, Switch, SwitchConfig, PORT_COUNT};
use units::DataRate;

/// Members per group. The program's own limit is 64; a leaf of a large fabric has as many spines.
const GROUP_MEMBERS: usize = 16;

/// All ports at 10 Gb/s, all tables full.
pub fn switch(program: &Arc<Executable>) -> Switch {
    let rate = DataRate::from_bps(10_000_000_000);
    let config = SwitchConfig {
        ports: (0..PORT_COUNT as u16 - 1).map(|port| PortConfig::ethernet(port, rate)).collect(),
        ..SwitchConfig::default()
    };
    let mut switch = Switch::new(Arc::clone(program), config).expect("the configuration is sound");
    let mut state = switch.state_mut();
    for table in program.tables().iter().filter(|table| !table.const_entries && !table.key.is_empty()) {
        fill(&mut state, program, table);
    }
    drop(state);
    switch
}

/// Returns the big-endian bytes of a number of some width.
fn bytes(value: u128, bits: u32) -> Vec<u8> {
    value.to_be_bytes()[16 - bits.div_ceil(8) as usize..].to_vec()
}

/// Returns a distinct key for entry `number`; `None` if the key has no room for that many.
fn key(table: &TableInfo, number: usize) -> Option<Vec<MatchKeyParam>> {
    let mut left = number as u128;
    let params = table.key.iter().map(|field| {
        let ones = u128::MAX >> (128 - field.bitwidth);
        let value = bytes(left & ones, field.bitwidth);
        left = left.checked_shr(field.bitwidth).unwrap_or(0);
        match field.match_type {
            MatchType::Exact => MatchKeyParam::Exact(value),
            MatchType::Lpm => MatchKeyParam::Lpm(value, field.bitwidth),
            MatchType::Ternary => MatchKeyParam::Ternary(value, bytes(ones, field.bitwidth)),
            MatchType::Range => MatchKeyParam::Range(value.clone(), value),
            MatchType::Valid => MatchKeyParam::Valid(value != [0]),
        }
    });
    let params = params.collect();
    (left == 0).then_some(params)
}

/// Returns the action with the most parameters, and data for it.
fn largest_action<'a>(program: &'a Program, table: &TableInfo) -> (&'a str, Vec<Vec<u8>>) {
    let actions = table.actions.iter().map(|id| &program.actions()[id.index()]);
    let largest = actions.max_by_key(|action| action.params.len()).expect("a table has an action");
    (&largest.name, largest.params.iter().map(|param| bytes(1, param.bitwidth)).collect())
}

fn fill(state: &mut State, program: &Program, table: &TableInfo) {
    let (action, data) = largest_action(program, table);
    let groups = match &table.action_profile {
        Some(profile) => fill_profile(state, program, profile, action, &data),
        None => Vec::new(),
    };
    for number in 0..table.max_size {
        let Some(key) = key(table, number) else { break };
        let priority = if matches!(table.match_type, MatchType::Ternary | MatchType::Range) { 1 } else { 0 };
        match table.table_type {
            TableType::Simple => state.mt_add_entry(&table.name, &key, action, &data, priority),
            TableType::Indirect => state.mt_indirect_add_entry(&table.name, &key, 0, priority),
            TableType::IndirectWs => {
                state.mt_indirect_ws_add_entry(&table.name, &key, groups[number % groups.len()], priority)
            }
        }
        .unwrap_or_else(|error| panic!("entry {number} of {}: {error}", table.name));
    }
}

/// Fills an empty profile with members in groups. Returns the groups' handles.
fn fill_profile(
    state: &mut State,
    program: &Program,
    profile: &str,
    action: &str,
    data: &[Vec<u8>],
) -> Vec<u64> {
    let info = program.action_profiles().iter().find(|info| info.name == profile).expect("it is there");
    let known = state.mt_act_prof_get_groups(profile).expect("it has a selector");
    if !known.is_empty() {
        return known.iter().map(|group| group.handle).collect();
    }
    let mut groups = Vec::new();
    for number in 0..info.max_size {
        let member = state.mt_act_prof_add_member(profile, action, data).expect("there is room");
        if number % GROUP_MEMBERS == 0 {
            groups.push(state.mt_act_prof_create_group(profile).expect("it has a selector"));
        }
        let group = groups[groups.len() - 1];
        state.mt_act_prof_add_member_to_group(profile, member, group, None).expect("both are there");
    }
    groups
}
