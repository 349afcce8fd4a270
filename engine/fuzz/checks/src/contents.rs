//! What a control plane reads of a switch, by object, and what holds of it whatever was written.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use bm::{MatchKeyParam, MtAction, ParamInfo, Program, State, TableInfo};
use simple_switch::Switch;

/// What is read of each object, by kind and name: of many cells a hash, of wide ones that of their low words.
pub(crate) type Contents = BTreeMap<(&'static str, String), String>;

const READ: &str = "what is declared is read";

/// Reads everything that calls may change.
pub(crate) fn contents(switch: &Switch) -> Contents {
    let (program, state) = (switch.program(), switch.state());
    let tables = program.tables().iter().map(|info| (("table", &info.name), table(state, info)));
    let profiles = program.action_profiles().iter().map(|info| {
        let members = state.mt_act_prof_get_members(&info.name).expect(READ);
        (("profile", &info.name), format!("{members:?} {:?}", state.mt_act_prof_get_groups(&info.name)))
    });
    let registers = (0..).zip(program.register_arrays()).map(|(at, info)| {
        let cells = state.register_cells(at);
        assert_eq!(cells.len(), info.size, "cells of {}", info.name);
        (("register", &info.name), hash(&cells))
    });
    let counters = program.counter_arrays().iter().filter(|info| info.direct_table.is_none()).map(|info| {
        let cells = state.read_counters_range(&info.name, 0, info.size as u64).expect(READ);
        let cells: Vec<_> = cells.iter().map(|cell| (cell.bytes, cell.packets)).collect();
        (("counter", &info.name), hash(&cells))
    });
    let meters = program.meter_arrays().iter().filter(|info| info.direct_table.is_none()).map(|info| {
        let rates = state.meter_get_rates_range(&info.name, 0, info.size as u64).expect(READ);
        (("meter", &info.name), hash(&format!("{rates:?}")))
    });
    let vsets = program.parse_vsets().iter();
    let vsets = vsets.map(|info| (("vset", &info.name), format!("{:?}", state.parse_vset_get(&info.name))));
    let pre = switch.pre();
    let groups: Vec<_> =
        pre.groups().map(|group| (group, pre.group_nodes(group), pre.replicas(group))).collect();
    let nodes: Vec<_> = pre.nodes().collect();
    let lags: Vec<_> = pre.lags().collect();
    let replication = format!("{groups:?} {nodes:?} {lags:?}");
    let sessions = format!("{:?}", switch.mirroring());
    let named = tables.chain(profiles).chain(registers).chain(counters).chain(meters).chain(vsets);
    let named = named.map(|((kind, name), read)| ((kind, name.clone()), read));
    named
        .chain([(("replication", String::new()), replication), (("sessions", String::new()), sessions)])
        .collect()
}

fn hash(read: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    read.hash(&mut hasher);
    hasher.finish().to_string()
}

fn table(state: &State, info: &TableInfo) -> String {
    let name = &info.name;
    let entries = state.mt_get_entries(name).expect(READ);
    let direct: Vec<_> = entries
        .iter()
        .map(|entry| Some(entry.handle))
        .chain([None])
        .map(|handle| (state.mt_read_counters(name, handle), state.mt_get_meter_rates(name, handle)))
        .collect();
    format!("{entries:?} {direct:?} {:?}", state.mt_get_default_entry(name))
}

/// Checks that what is stored fits the program, and that what refers to something refers to what is there.
pub(crate) fn check(switch: &Switch) {
    let (program, state) = (switch.program(), switch.state());
    for info in program.tables() {
        let entries = state.mt_get_entries(&info.name).expect(READ);
        assert_eq!(state.mt_get_num_entries(&info.name), Ok(entries.len()), "{}", info.name);
        assert!(entries.len() <= info.max_size, "{} holds {} entries", info.name, entries.len());
        for entry in &entries {
            check_key(info, &entry.key);
            let found = state.mt_get_entry_from_key(&info.name, &entry.key, entry.priority).expect(READ);
            assert_eq!(found.map(|entry| entry.handle), Some(entry.handle), "the key {:?}", entry.key);
        }
        let default = state.mt_get_default_entry(&info.name).expect(READ).action;
        entries
            .iter()
            .map(|entry| &entry.action)
            .chain(&default)
            .for_each(|to| check_action(program, state, info, to));
    }
    for info in program.action_profiles() {
        let members = state.mt_act_prof_get_members(&info.name).expect(READ);
        assert!(info.max_size == 0 || members.len() <= info.max_size, "{} is too full", info.name);
        members.iter().for_each(|member| check_data(program, &member.action, &member.data));
        let members: BTreeSet<u64> = members.iter().map(|member| member.number).collect();
        for group in state.mt_act_prof_get_groups(&info.name).unwrap_or_default() {
            let of_group: BTreeSet<u64> = group.members.iter().copied().collect();
            assert_eq!(of_group.len(), group.members.len(), "a member is in {group:?} twice");
            assert!(of_group.is_subset(&members), "{group:?} of the members {members:?}");
        }
    }
    let pre = switch.pre();
    let nodes: BTreeSet<_> = pre.nodes().map(|(handle, _)| handle).collect();
    let in_groups: Vec<_> =
        pre.groups().filter_map(|group| pre.group_nodes(group)).flatten().copied().collect();
    assert!(in_groups.iter().all(|node| nodes.contains(node)), "{in_groups:?} of the nodes {nodes:?}");
    assert_eq!(in_groups.iter().collect::<BTreeSet<_>>().len(), in_groups.len(), "a node is in two groups");
}

fn check_key(info: &TableInfo, key: &[MatchKeyParam]) {
    for (param, field) in key.iter().zip(&info.key) {
        let width = field.bitwidth;
        match param {
            MatchKeyParam::Exact(value) => check_width(value, width),
            MatchKeyParam::Valid(_) => {}
            MatchKeyParam::Lpm(value, length) => {
                check_width(value, width);
                let free = value.iter().rev().take_while(|byte| **byte == 0).count();
                let last = value
                    .iter()
                    .rev()
                    .nth(free)
                    .map_or(width, |byte| 8 * free as u32 + byte.trailing_zeros());
                assert!(last >= width - length, "{value:?} has bits beyond {length} of {width}");
            }
            MatchKeyParam::Ternary(value, mask) => {
                [value, mask].into_iter().for_each(|number| check_width(number, width));
                assert!(
                    value.iter().zip(mask).all(|(value, mask)| value & !mask == 0),
                    "{value:?} beyond {mask:?}"
                );
            }
            MatchKeyParam::Range(first, last) => {
                [first, last].into_iter().for_each(|number| check_width(number, width));
                assert!(first <= last, "{first:?} to {last:?}");
            }
        }
    }
}

fn check_action(program: &Program, state: &State, info: &TableInfo, to: &MtAction) {
    let profile = info.action_profile.as_deref().unwrap_or_default();
    match to {
        MtAction::Action(name, data) => {
            assert!(info.actions.iter().any(|id| program.actions()[id.index()].name == *name), "{name}");
            check_data(program, name, data);
        }
        MtAction::Member(member) => {
            let members = state.mt_act_prof_get_members(profile).expect(READ);
            assert!(members.iter().any(|known| known.number == *member), "member {member} of {profile}");
        }
        MtAction::Group(group) => {
            let groups = state.mt_act_prof_get_groups(profile).expect(READ);
            let found = groups.iter().find(|known| known.handle == *group);
            assert!(found.is_some_and(|group| !group.members.is_empty()), "group {group} of {profile}");
        }
    }
}

fn check_data(program: &Program, action: &str, data: &[Vec<u8>]) {
    let fits = |params: &[ParamInfo]| {
        params.len() == data.len()
            && params
                .iter()
                .zip(data)
                .all(|(param, value)| value.len() == param.bitwidth.div_ceil(8) as usize)
    };
    let mut named = program.actions().iter().filter(|info| info.name == action);
    assert!(named.any(|info| fits(&info.params)), "{data:?} for {action}");
}

fn check_width(value: &[u8], width: u32) {
    let unused = 8 * value.len() as u32 - width;
    assert!(unused < 8 && value[0] & !(0xff >> unused) == 0, "{value:?} has not {width} bits");
}
