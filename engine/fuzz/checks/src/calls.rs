//! Calls of the runtime interface: encoded in an input ([`Call`], a few bytes that select objects of the program), and
//! complete with names and values ([`Op`]). Most are valid; some name missing objects or have invalid values.

use arbitrary::Arbitrary;
use bm::{MatchKeyParam, MatchType, MeterRate, Program, TableInfo};
use simple_switch::{MirroringSession, NodeHandle, Replica, Switch};

use crate::input::Input;

/// One element of a list, or, if 255, something that is not in it.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub(crate) struct Pick(u8);

/// A handle or index: below 200 usually an existing one, 255 one that no object has.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub(crate) struct Index(u8);

/// A number for a field of some width. `shape` selects a small, arbitrary, padded, too wide or empty number.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub(crate) struct Number {
    shape: u8,
    value: u64,
}

/// Enough numbers for any key or action of the programs; missing numbers are zero.
type Numbers = [Number; 4];

/// A match key: numbers for its fields, and its other parameters.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub(crate) struct Key {
    fields: Numbers,
    masks: [Number; 2],
    length: u8,
    wrong: u8,
    priority: u8,
}

/// The action, member or group of an entry or default: usually of the kind that the table's type requires.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub(crate) struct Lead {
    kind: u8,
    action: Pick,
    data: Numbers,
    index: Index,
}

/// A call, as encoded in an input.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub(crate) enum Call {
    Add { table: Pick, key: Key, lead: Lead },
    Modify { table: Pick, entry: Index, lead: Lead },
    Delete { table: Pick, entry: Index },
    Clear { table: Pick, reset_default: bool },
    SetDefault { table: Pick, lead: Lead },
    ResetDefault { table: Pick },
    AddMember { profile: Pick, action: Pick, data: Numbers },
    ModifyMember { profile: Pick, member: Index, action: Pick, data: Numbers },
    DeleteMember { profile: Pick, member: Index },
    CreateGroup { profile: Pick },
    DeleteGroup { profile: Pick, group: Index },
    Join { profile: Pick, member: Index, group: Index },
    Leave { profile: Pick, member: Index, group: Index },
    Register { register: Pick, start: Index, count: u8, value: Number },
    ResetRegister { register: Pick },
    Counter { counter: Pick, index: Index, packets: u64 },
    ResetCounters { counter: Pick },
    EntryCounter { table: Pick, entry: Index, packets: u64 },
    ResetEntryCounters { table: Pick },
    Meter { meter: Pick, index: Option<Index>, rates: [(u16, u32); 3], count: u8 },
    EntryMeter { table: Pick, entry: Index, rates: [(u16, u32); 3], count: u8 },
    DefaultCounter { table: Pick, packets: u64 },
    DefaultMeter { table: Pick, rates: [(u16, u32); 3], count: u8 },
    AddToVset { vset: Pick, value: Number },
    RemoveFromVset { vset: Pick, value: Number },
    ClearVset { vset: Pick },
    ResetState { sure: u8 },
    CreateMulticast { group: u8 },
    DestroyMulticast { group: u8, with_nodes: bool },
    SetMulticast { group: u8, replicas: [(u16, u8); 3], count: u8 },
    CreateNode { rid: u16, ports: [u16; 3], count: u8 },
    UpdateNode { node: Index, ports: [u16; 3], count: u8 },
    SetLag { lag: u16, ports: [u16; 3], count: u8 },
    Associate { group: u8, node: Index },
    Dissociate { group: u8, node: Index },
    DestroyNode { node: Index },
    AddSession { id: u16, port: Option<u16>, group: Option<u8>, class: u8, bytes: u16 },
    DeleteSession { id: u16 },
}

/// The action, member or group of an entry or default, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Action(String, Vec<Vec<u8>>),
    Member(u64),
    Group(u64),
}

/// A call with names and values.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Add { table: String, key: Vec<MatchKeyParam>, priority: u32, to: To },
    Modify { table: String, handle: u64, to: To },
    Delete { table: String, handle: u64 },
    Clear { table: String, reset_default: bool },
    SetDefault { table: String, to: To },
    ResetDefault { table: String },
    AddMember { profile: String, action: String, data: Vec<Vec<u8>> },
    ModifyMember { profile: String, member: u64, action: String, data: Vec<Vec<u8>> },
    DeleteMember { profile: String, member: u64 },
    CreateGroup { profile: String },
    DeleteGroup { profile: String, group: u64 },
    Join { profile: String, member: u64, group: u64 },
    Leave { profile: String, member: u64, group: u64 },
    Register { register: String, start: u64, end: u64, value: Vec<u8> },
    ResetRegister { register: String },
    Counter { counter: String, index: u64, packets: u64 },
    ResetCounters { counter: String },
    EntryCounter { table: String, handle: u64, packets: u64 },
    ResetEntryCounters { table: String },
    Meter { meter: String, index: Option<u64>, rates: Vec<MeterRate> },
    EntryMeter { table: String, handle: u64, rates: Vec<MeterRate> },
    DefaultCounter { table: String, packets: u64 },
    DefaultMeter { table: String, rates: Vec<MeterRate> },
    AddToVset { vset: String, value: Vec<u8> },
    RemoveFromVset { vset: String, value: Vec<u8> },
    ClearVset { vset: String },
    ResetState,
    CreateMulticast { group: u16 },
    DestroyMulticast { group: u16, with_nodes: bool },
    SetMulticast { group: u16, replicas: Vec<Replica> },
    CreateNode { rid: u16, ports: Vec<u16>, lags: Vec<u16> },
    UpdateNode { node: NodeHandle, ports: Vec<u16>, lags: Vec<u16> },
    SetLag { lag: u16, ports: Vec<u16> },
    Associate { group: u16, node: NodeHandle },
    Dissociate { group: u16, node: NodeHandle },
    DestroyNode { node: NodeHandle },
    AddSession { id: u16, session: MirroringSession },
    DeleteSession { id: u16 },
}

impl Pick {
    fn name<'a, T>(self, items: &'a [T], name: impl Fn(&'a T) -> &'a str) -> String {
        self.of(items).map_or("no such object", name).to_owned()
    }

    fn of<T>(self, items: &[T]) -> Option<&T> {
        if self.0 == u8::MAX {
            return None;
        }
        items.get(usize::from(self.0) % items.len().max(1))
    }
}

impl Pick {
    /// Returns one of the program's tables, usually one for which `wish` holds.
    fn table(self, program: &Program, wish: impl Fn(&TableInfo) -> bool) -> Option<&TableInfo> {
        let wished: Vec<&TableInfo> = program.tables().iter().filter(|info| wish(info)).collect();
        match self.0 {
            0..240 if !wished.is_empty() => self.of(&wished).copied(),
            _ => self.of(program.tables()),
        }
    }
}

fn name_of(info: Option<&TableInfo>) -> String {
    info.map_or("no such object", |info| &info.name).to_owned()
}

impl Index {
    fn get(self) -> u64 {
        match self.0 {
            255 => u64::MAX,
            254 => 1 << 32,
            index => u64::from(index),
        }
    }

    /// Returns a cell of an array of the given size, or any number.
    fn within(self, size: usize) -> u64 {
        match self.0 {
            index @ 0..200 => u64::from(index) % size.max(1) as u64,
            _ => self.get(),
        }
    }

    /// Returns one of the existing handles, or any number.
    fn among(self, handles: impl IntoIterator<Item = u64>) -> u64 {
        let handles: Vec<u64> = handles.into_iter().collect();
        match self.0 {
            index @ 0..200 if !handles.is_empty() => handles[usize::from(index) % handles.len()],
            _ => self.get(),
        }
    }
}

impl Number {
    /// Returns big-endian bytes. For most shapes they fit in `width` bits.
    fn bytes(self, width: u32) -> Vec<u8> {
        let count = width.div_ceil(8).max(1) as usize;
        let mut bytes = vec![0; count];
        let small = self.shape < 160;
        let value = if small { self.value & 3 } else { self.value };
        for (at, byte) in bytes.iter_mut().rev().enumerate() {
            *byte = if small && at >= 8 { 0 } else { value.to_le_bytes()[at % 8] };
        }
        let unused = count as u32 * 8 - width;
        if unused < 8 {
            bytes[0] &= 0xff >> unused;
        } else {
            bytes[0] = 0;
        }
        match self.shape {
            255 => Vec::new(),
            254 => [vec![1], vec![0; count]].concat(),
            253 => vec![0xff; count + 30],
            250..=252 => [vec![0; 3], bytes].concat(),
            _ => bytes,
        }
    }

    /// Returns all ones in many cases, so that masks and ends of ranges are often valid.
    fn mask(self, width: u32) -> Vec<u8> {
        if self.shape < 80 {
            return Number { shape: 200, value: u64::MAX }.bytes(width);
        }
        self.bytes(width)
    }
}

impl Key {
    fn params(&self, info: &TableInfo) -> Vec<MatchKeyParam> {
        let mut params: Vec<_> = (0..)
            .zip(&info.key)
            .map(|(at, field)| {
                let (number, mask) = (self.fields[at % 4], self.masks[at % 2]);
                let width = field.bitwidth;
                match field.match_type {
                    MatchType::Exact => MatchKeyParam::Exact(number.bytes(width)),
                    MatchType::Valid => MatchKeyParam::Valid(number.value & 1 == 1),
                    MatchType::Lpm => {
                        let length = u32::from(self.length) % (width + 2);
                        MatchKeyParam::Lpm(number.bytes(width), length)
                    }
                    MatchType::Ternary => MatchKeyParam::Ternary(number.bytes(width), mask.mask(width)),
                    MatchType::Range => MatchKeyParam::Range(number.bytes(width), mask.mask(width)),
                }
            })
            .collect();
        match self.wrong {
            255 => params.push(MatchKeyParam::Valid(true)),
            254 => drop(params.pop()),
            253 => params.iter_mut().for_each(|p| *p = MatchKeyParam::Lpm(vec![1], 1)),
            252 => params.iter_mut().for_each(|p| *p = MatchKeyParam::Valid(true)),
            _ => {}
        }
        params
    }
}

/// Returns the name of an action, and data for it.
fn action(program: &Program, ids: &[bm::ActionId], pick: Pick, data: &Numbers) -> (String, Vec<Vec<u8>>) {
    match pick.of(ids) {
        Some(id) => {
            let info = &program.actions()[id.index()];
            let values = (0..).zip(&info.params).map(|(at, param)| data[at % 4].bytes(param.bitwidth));
            let mut values: Vec<_> = values.collect();
            if data[3].shape == u8::MAX && info.params.len() < 4 {
                values.push(vec![1]);
            }
            (info.name.clone(), values)
        }
        None => ("no such action".to_owned(), Vec::new()),
    }
}

fn rates(rates: &[(u16, u32); 3], count: u8) -> Vec<MeterRate> {
    let count = if count < 200 { 2 } else { usize::from(count) % 4 };
    let rate = |&(rate, burst_size): &(u16, u32)| {
        let info_rate = match rate {
            u16::MAX => f64::NAN,
            0xfffe => -1.0,
            0xfffd => f64::INFINITY,
            0xfffc => f64::MAX,
            rate => f64::from(rate) / 16.0,
        };
        MeterRate { info_rate, burst_size }
    };
    rates[..count].iter().map(rate).collect()
}

fn some<T: Copy>(items: &[T; 3], count: u8) -> Vec<T> {
    items[..usize::from(count) % 4].to_vec()
}

/// Returns a port, usually one of v1model's.
fn port(port: u16) -> u16 {
    if port < 0xf000 {
        port % 8
    } else {
        port
    }
}

/// Returns a LAG, usually one of BMv2's.
fn lag(lag: u16) -> u16 {
    if lag < 0xf000 {
        lag % 4
    } else {
        lag
    }
}

/// Returns the LAGs of a node, derived from the same numbers as its ports.
fn lags(numbers: &[u16; 3], count: u8) -> Vec<u16> {
    some(numbers, count >> 2).into_iter().map(|number| lag(number >> 3)).collect()
}

impl Call {
    /// Returns the next call of an input. Calls on which others depend are more frequent.
    pub(crate) fn next(input: &mut Input<'_>) -> Option<Call> {
        Some(match input.u8() {
            0..64 => {
                let (table, key, lead) = input.value()?;
                Call::Add { table, key, lead }
            }
            64..92 => {
                let (table, entry) = input.value()?;
                Call::Delete { table, entry }
            }
            92..104 => {
                let (table, entry, lead) = input.value()?;
                Call::Modify { table, entry, lead }
            }
            104..124 => {
                let (profile, action, data) = input.value()?;
                Call::AddMember { profile, action, data }
            }
            124..132 => Call::CreateGroup { profile: input.value()? },
            132..150 => {
                let (profile, member, group) = input.value()?;
                Call::Join { profile, member, group }
            }
            _ => input.value()?,
        })
    }

    /// Returns the call with names and values, as it is made to a switch.
    pub(crate) fn op(&self, switch: &Switch) -> Op {
        let program: &Program = switch.program();
        let any = |_: &TableInfo| true;
        let has_key = |info: &TableInfo| !info.key.is_empty() && !info.const_entries;
        let in_use = |info: &TableInfo| switch.state().mt_get_num_entries(&info.name).is_ok_and(|n| n > 0);
        let counts = |info: &TableInfo| info.with_counters;
        let meters = |info: &TableInfo| info.direct_meter.is_some();
        let table = |pick: Pick, wish: &dyn Fn(&TableInfo) -> bool| name_of(pick.table(program, wish));
        let profile = |pick: Pick| pick.name(program.action_profiles(), |p| &p.name);
        let register = |pick: Pick| pick.name(program.register_arrays(), |r| &r.name);
        let counter = |pick: Pick| pick.name(program.counter_arrays(), |c| &c.name);
        let meter = |pick: Pick| pick.name(program.meter_arrays(), |m| &m.name);
        let vset = |pick: Pick| pick.name(program.parse_vsets(), |v| &v.name);
        let ports = |given: &[u16; 3], count| some(given, count).into_iter().map(port).collect::<Vec<_>>();
        let entry_of = |of: Pick, index: Index| {
            let entries = switch.state().mt_get_entries(&table(of, &in_use)).unwrap_or_default();
            index.among(entries.into_iter().map(|entry| entry.handle))
        };
        let member_of = |of: Pick, index: Index| a_member(switch, &profile(of), index);
        let group_of = |of: Pick, index: Index| a_group(switch, &profile(of), index);
        let node = |index: Index| {
            let node = index.among(switch.pre().nodes().map(|(handle, _)| u64::from(handle.0)));
            NodeHandle(u32::try_from(node).unwrap_or(u32::MAX))
        };
        let group = |group: u8| u16::from(if group < 240 { 1 + group % 4 } else { group });
        let session = |id: u16| if id < 0xf000 { id % 8 } else { id };
        match *self {
            Call::Add { table: of, ref key, ref lead } => Op::Add {
                table: table(of, &has_key),
                key: of.table(program, has_key).map_or(Vec::new(), |info| key.params(info)),
                priority: u32::from(key.priority),
                to: lead.to(switch, of.table(program, has_key)),
            },
            Call::Modify { table: of, entry, ref lead } => Op::Modify {
                table: table(of, &in_use),
                handle: entry_of(of, entry),
                to: lead.to(switch, of.table(program, in_use)),
            },
            Call::Delete { table: of, entry } => {
                Op::Delete { table: table(of, &in_use), handle: entry_of(of, entry) }
            }
            Call::Clear { table: of, reset_default } => Op::Clear { table: table(of, &any), reset_default },
            Call::SetDefault { table: of, ref lead } => {
                Op::SetDefault { table: table(of, &any), to: lead.to(switch, of.table(program, any)) }
            }
            Call::ResetDefault { table: of } => Op::ResetDefault { table: table(of, &any) },
            Call::AddMember { profile: of, action, ref data } => {
                let (action, data) = member(program, of, action, data);
                Op::AddMember { profile: profile(of), action, data }
            }
            Call::ModifyMember { profile: of, member: index, action, ref data } => {
                let (action, data) = member(program, of, action, data);
                Op::ModifyMember { profile: profile(of), member: member_of(of, index), action, data }
            }
            Call::DeleteMember { profile: of, member } => {
                Op::DeleteMember { profile: profile(of), member: member_of(of, member) }
            }
            Call::CreateGroup { profile: of } => Op::CreateGroup { profile: profile(of) },
            Call::DeleteGroup { profile: of, group } => {
                Op::DeleteGroup { profile: profile(of), group: group_of(of, group) }
            }
            Call::Join { profile: of, member, group } => {
                Op::Join { profile: profile(of), member: member_of(of, member), group: group_of(of, group) }
            }
            Call::Leave { profile: of, member, group } => {
                Op::Leave { profile: profile(of), member: member_of(of, member), group: group_of(of, group) }
            }
            Call::Register { register: of, start, count, value } => {
                let width = of.of(program.register_arrays()).map_or(8, |r| r.bitwidth);
                let start = start.within(of.of(program.register_arrays()).map_or(0, |r| r.size));
                let end = start.saturating_add(u64::from(count % 4));
                Op::Register { register: register(of), start, end, value: value.bytes(width) }
            }
            Call::ResetRegister { register: of } => Op::ResetRegister { register: register(of) },
            Call::Counter { counter: of, index, packets } => Op::Counter {
                counter: counter(of),
                index: index.within(of.of(program.counter_arrays()).map_or(0, |c| c.size)),
                packets,
            },
            Call::ResetCounters { counter: of } => Op::ResetCounters { counter: counter(of) },
            Call::EntryCounter { table: of, entry, packets } => {
                Op::EntryCounter { table: table(of, &in_use), handle: entry_of(of, entry), packets }
            }
            Call::ResetEntryCounters { table: of } => Op::ResetEntryCounters { table: table(of, &counts) },
            Call::Meter { meter: of, index, rates: ref given, count } => Op::Meter {
                meter: meter(of),
                index: index.map(|at| at.within(of.of(program.meter_arrays()).map_or(0, |m| m.size))),
                rates: rates(given, count),
            },
            Call::EntryMeter { table: of, entry, rates: ref given, count } => Op::EntryMeter {
                table: table(of, &in_use),
                handle: entry_of(of, entry),
                rates: rates(given, count),
            },
            Call::DefaultCounter { table: of, packets } => {
                Op::DefaultCounter { table: table(of, &counts), packets }
            }
            Call::DefaultMeter { table: of, rates: ref given, count } => {
                Op::DefaultMeter { table: table(of, &meters), rates: rates(given, count) }
            }
            Call::AddToVset { vset: of, value } => {
                let width = of.of(program.parse_vsets()).map_or(8, |v| v.bitwidth);
                Op::AddToVset { vset: vset(of), value: value.bytes(width) }
            }
            Call::RemoveFromVset { vset: of, value } => {
                let width = of.of(program.parse_vsets()).map_or(8, |v| v.bitwidth);
                Op::RemoveFromVset { vset: vset(of), value: value.bytes(width) }
            }
            Call::ClearVset { vset: of } => Op::ClearVset { vset: vset(of) },
            // Rare, because it undoes all earlier calls.
            Call::ResetState { sure } if sure < 16 => Op::ResetState,
            Call::ResetState { sure } => Op::CreateMulticast { group: group(sure) },
            Call::CreateMulticast { group: id } => Op::CreateMulticast { group: group(id) },
            Call::DestroyMulticast { group: id, with_nodes } => {
                Op::DestroyMulticast { group: group(id), with_nodes }
            }
            Call::SetMulticast { group: id, ref replicas, count } => {
                let replica = |(of, rid)| Replica { egress_port: port(of), rid: u16::from(rid) };
                let replicas = some(replicas, count).into_iter().map(replica).collect();
                Op::SetMulticast { group: group(id), replicas }
            }
            Call::CreateNode { rid, ports: ref given, count } => {
                Op::CreateNode { rid, ports: ports(given, count), lags: lags(given, count) }
            }
            Call::UpdateNode { node: index, ports: ref given, count } => {
                Op::UpdateNode { node: node(index), ports: ports(given, count), lags: lags(given, count) }
            }
            Call::SetLag { lag: id, ports: ref given, count } => {
                Op::SetLag { lag: lag(id), ports: ports(given, count) }
            }
            Call::Associate { group: id, node: index } => {
                Op::Associate { group: group(id), node: node(index) }
            }
            Call::Dissociate { group: id, node: index } => {
                Op::Dissociate { group: group(id), node: node(index) }
            }
            Call::DestroyNode { node: index } => Op::DestroyNode { node: node(index) },
            Call::AddSession { id, port: to, group: to_group, class, bytes } => Op::AddSession {
                id: session(id),
                session: MirroringSession {
                    egress_port: to.map(port),
                    mgid: to_group.map(group),
                    class_of_service: class,
                    packet_length_bytes: if bytes < 0x4000 { 0 } else { u32::from(bytes) >> (bytes & 15) },
                },
            },
            Call::DeleteSession { id } => Op::DeleteSession { id: session(id) },
        }
    }
}

fn member(program: &Program, profile: Pick, pick: Pick, data: &Numbers) -> (String, Vec<Vec<u8>>) {
    let name = profile.of(program.action_profiles()).map(|p| &p.name);
    let of_profile = |t: &&TableInfo| t.action_profile.is_some() && t.action_profile.as_ref() == name;
    let ids: Vec<_> =
        program.tables().iter().filter(of_profile).flat_map(|t| t.actions.iter().copied()).collect();
    action(program, &ids, pick, data)
}

fn a_member(switch: &Switch, profile: &str, index: Index) -> u64 {
    let members = switch.state().mt_act_prof_get_members(profile).unwrap_or_default();
    index.among(members.into_iter().map(|member| member.handle))
}

fn a_group(switch: &Switch, profile: &str, index: Index) -> u64 {
    let groups = switch.state().mt_act_prof_get_groups(profile).unwrap_or_default();
    index.among(groups.into_iter().map(|group| group.handle))
}

impl Lead {
    fn to(&self, switch: &Switch, info: Option<&TableInfo>) -> To {
        let profile = info.and_then(|info| info.action_profile.as_deref()).unwrap_or_default();
        let member = || To::Member(a_member(switch, profile, self.index));
        let group = || To::Group(a_group(switch, profile, self.index));
        let by_action = || {
            let ids = info.map_or(&[][..], |info| &info.actions);
            let (action, data) = action(switch.program(), ids, self.action, &self.data);
            To::Action(action, data)
        };
        match (self.kind, info.map(|info| info.table_type)) {
            (254, _) => member(),
            (255, _) => group(),
            (253, _) => by_action(),
            (_, Some(bm::TableType::Indirect)) => member(),
            (kind, Some(bm::TableType::IndirectWs)) if kind % 2 == 0 => member(),
            (_, Some(bm::TableType::IndirectWs)) => group(),
            _ => by_action(),
        }
    }
}
