//! Calls of the runtime interface, read from an input: a few bytes select objects of the program. Most are valid; some
//! name missing objects or have invalid values.

use arbitrary::{Arbitrary, Unstructured};
use bm::{CounterValue, MatchKeyParam, MatchType, MeterRate, MtAction, Program, TableInfo};
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

/// A call, and the kind and the name of the object that it changes. Replication and sessions have no name.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub kind: &'static str,
    pub on: String,
    pub call: Call,
}

/// The kind of a call that may change everything.
pub(crate) const EVERYTHING: &str = "everything";

/// What is called, with its values.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Add { key: Vec<MatchKeyParam>, priority: u32, to: MtAction },
    Modify { handle: u64, to: MtAction },
    Delete { handle: u64 },
    Clear { reset_default: bool },
    SetDefault { to: MtAction },
    ResetDefault,
    AddMember { action: String, data: Vec<Vec<u8>> },
    ModifyMember { member: u64, action: String, data: Vec<Vec<u8>> },
    DeleteMember { member: u64 },
    CreateGroup,
    DeleteGroup { group: u64 },
    Join { member: u64, group: u64 },
    Leave { member: u64, group: u64 },
    Register { start: u64, end: u64, value: Vec<u8> },
    ResetRegister,
    Counter { index: u64, value: CounterValue },
    ResetCounters,
    EntryCounter { handle: Option<u64>, value: CounterValue },
    ResetEntryCounters,
    Meter { index: Option<u64>, rates: Vec<MeterRate> },
    EntryMeter { handle: Option<u64>, rates: Vec<MeterRate> },
    AddToVset { value: Vec<u8> },
    RemoveFromVset { value: Vec<u8> },
    ClearVset,
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

    /// Returns one of the program's tables, usually one for which `wish` holds.
    fn table(self, program: &Program, wish: impl Fn(&TableInfo) -> bool) -> Option<&TableInfo> {
        let wished: Vec<&TableInfo> = program.tables().iter().filter(|info| wish(info)).collect();
        match self.0 {
            0..240 if !wished.is_empty() => self.of(&wished).copied(),
            _ => self.of(program.tables()),
        }
    }
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

/// The rates of a meter: usually two.
struct Rates(Vec<MeterRate>);

impl<'a> Arbitrary<'a> for Rates {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let (rates, count): ([(u16, u32); 3], u8) = input.arbitrary()?;
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
        Ok(Rates(rates[..count].iter().map(rate).collect()))
    }
}

fn some<T: Copy>(items: &[T; 3], count: u8) -> Vec<T> {
    items[..usize::from(count) % 4].to_vec()
}

/// Returns a number, usually one below `end`: a port, a LAG or a session that inputs use.
fn usual(number: u16, end: u16) -> u16 {
    if number < 0xf000 {
        number % end
    } else {
        number
    }
}

fn port(number: u16) -> u16 {
    usual(number, 8)
}

/// Returns the ports of a node or a LAG.
fn ports(numbers: &[u16; 3], count: u8) -> Vec<u16> {
    some(numbers, count).into_iter().map(port).collect()
}

/// Returns the LAGs of a node, derived from the same numbers as its ports.
fn lags(numbers: &[u16; 3], count: u8) -> Vec<u16> {
    some(numbers, count >> 2).into_iter().map(|number| usual(number >> 3, 4)).collect()
}

impl Op {
    /// Returns the next call of an input, with names and values for a switch. Calls on which others depend are more
    /// frequent.
    pub(crate) fn next(input: &mut Input<'_>, switch: &Switch) -> Option<Op> {
        let program: &Program = switch.program();
        let any = |_: &TableInfo| true;
        let has_key = |info: &TableInfo| !info.key.is_empty() && !info.const_entries;
        let in_use = |info: &TableInfo| switch.state().mt_get_num_entries(&info.name).is_ok_and(|n| n > 0);
        let counts = |info: &TableInfo| info.with_counters;
        let meters = |info: &TableInfo| info.direct_meter.is_some();
        let table = |pick: Pick, wish: &dyn Fn(&TableInfo) -> bool| {
            let info = pick.table(program, wish);
            ("table", info.map_or("no such object", |info| &info.name).to_owned())
        };
        let profile = |pick: Pick| ("profile", pick.name(program.action_profiles(), |p| &p.name));
        let register = |pick: Pick| ("register", pick.name(program.register_arrays(), |r| &r.name));
        let counter = |pick: Pick| ("counter", pick.name(program.counter_arrays(), |c| &c.name));
        let meter = |pick: Pick| ("meter", pick.name(program.meter_arrays(), |m| &m.name));
        let vset = |pick: Pick| ("vset", pick.name(program.parse_vsets(), |v| &v.name));
        let replication = |call: Call| (("replication", String::new()), call);
        let sessions = |call: Call| (("sessions", String::new()), call);
        let entry_of = |of: Pick, index: Index| {
            let entries = switch.state().mt_get_entries(&table(of, &in_use).1).unwrap_or_default();
            index.among(entries.into_iter().map(|entry| entry.handle))
        };
        let member_of = |of: Pick, index: Index| a_member(switch, &profile(of).1, index);
        let group_of = |of: Pick, index: Index| a_group(switch, &profile(of).1, index);
        let node = |index: Index| {
            let node = index.among(switch.pre().nodes().map(|(handle, _)| u64::from(handle.0)));
            NodeHandle(u32::try_from(node).unwrap_or(u32::MAX))
        };
        let group = |group: u8| u16::from(if group < 240 { 1 + group % 4 } else { group });
        let counted = |packets: u64| CounterValue { bytes: packets.wrapping_mul(64), packets };
        // The kinds are numbered as in the committed corpora.
        let kind = match input.u8() {
            0..64 => 0,
            64..92 => 2,
            92..104 => 1,
            104..124 => 6,
            124..132 => 9,
            132..150 => 11,
            _ => (u64::from(input.value::<u32>()?) * 38) >> 32,
        };
        let ((kind, on), call) = match kind {
            0 => {
                let (of, key, lead): (Pick, Key, Lead) = input.value()?;
                let info = of.table(program, has_key);
                let (priority, to) = (u32::from(key.priority), lead.to(switch, info));
                let key = info.map_or(Vec::new(), |info| key.params(info));
                (table(of, &has_key), Call::Add { key, priority, to })
            }
            1 => {
                let (of, entry, lead): (Pick, _, Lead) = input.value()?;
                let to = lead.to(switch, of.table(program, in_use));
                (table(of, &in_use), Call::Modify { handle: entry_of(of, entry), to })
            }
            2 => {
                let (of, entry) = input.value()?;
                (table(of, &in_use), Call::Delete { handle: entry_of(of, entry) })
            }
            3 => (table(input.value()?, &any), Call::Clear { reset_default: input.value()? }),
            4 => {
                let (of, lead): (Pick, Lead) = input.value()?;
                (table(of, &any), Call::SetDefault { to: lead.to(switch, of.table(program, any)) })
            }
            5 => (table(input.value()?, &any), Call::ResetDefault),
            6 => {
                let (of, pick, data) = input.value()?;
                let (action, data) = member(program, of, pick, &data);
                (profile(of), Call::AddMember { action, data })
            }
            7 => {
                let (of, index, pick, data) = input.value()?;
                let (action, data) = member(program, of, pick, &data);
                (profile(of), Call::ModifyMember { member: member_of(of, index), action, data })
            }
            8 => {
                let (of, member) = input.value()?;
                (profile(of), Call::DeleteMember { member: member_of(of, member) })
            }
            9 => (profile(input.value()?), Call::CreateGroup),
            10 => {
                let (of, group) = input.value()?;
                (profile(of), Call::DeleteGroup { group: group_of(of, group) })
            }
            11 | 12 => {
                let (of, member, group) = input.value()?;
                let (member, group) = (member_of(of, member), group_of(of, group));
                let joins = kind == 11;
                (
                    profile(of),
                    if joins { Call::Join { member, group } } else { Call::Leave { member, group } },
                )
            }
            13 => {
                let (of, start, count, value): (Pick, Index, u8, Number) = input.value()?;
                let width = of.of(program.register_arrays()).map_or(8, |r| r.bitwidth);
                let start = start.within(of.of(program.register_arrays()).map_or(0, |r| r.size));
                let end = start.saturating_add(u64::from(count % 4));
                (register(of), Call::Register { start, end, value: value.bytes(width) })
            }
            14 => (register(input.value()?), Call::ResetRegister),
            15 => {
                let (of, index, packets): (Pick, Index, _) = input.value()?;
                let index = index.within(of.of(program.counter_arrays()).map_or(0, |c| c.size));
                (counter(of), Call::Counter { index, value: counted(packets) })
            }
            16 => (counter(input.value()?), Call::ResetCounters),
            17 => {
                let (of, entry, packets) = input.value()?;
                let (table, handle) = (table(of, &in_use), Some(entry_of(of, entry)));
                (table, Call::EntryCounter { handle, value: counted(packets) })
            }
            18 => (table(input.value()?, &counts), Call::ResetEntryCounters),
            19 => {
                let (of, index, Rates(rates)): (Pick, Option<Index>, _) = input.value()?;
                let index = index.map(|at| at.within(of.of(program.meter_arrays()).map_or(0, |m| m.size)));
                (meter(of), Call::Meter { index, rates })
            }
            20 => {
                let (of, entry, Rates(rates)) = input.value()?;
                (table(of, &in_use), Call::EntryMeter { handle: Some(entry_of(of, entry)), rates })
            }
            21 => {
                let (of, packets) = input.value()?;
                (table(of, &counts), Call::EntryCounter { handle: None, value: counted(packets) })
            }
            22 => {
                let (of, Rates(rates)) = input.value()?;
                (table(of, &meters), Call::EntryMeter { handle: None, rates })
            }
            23 | 24 => {
                let (of, value): (Pick, Number) = input.value()?;
                let value = value.bytes(of.of(program.parse_vsets()).map_or(8, |v| v.bitwidth));
                (
                    vset(of),
                    if kind == 23 { Call::AddToVset { value } } else { Call::RemoveFromVset { value } },
                )
            }
            25 => (vset(input.value()?), Call::ClearVset),
            // Rare, because it undoes all earlier calls.
            26 => match input.value()? {
                0..16 => ((EVERYTHING, String::new()), Call::ResetState),
                sure => replication(Call::CreateMulticast { group: group(sure) }),
            },
            27 => replication(Call::CreateMulticast { group: group(input.value()?) }),
            28 => {
                let (id, with_nodes) = input.value()?;
                replication(Call::DestroyMulticast { group: group(id), with_nodes })
            }
            29 => {
                let (id, replicas, count) = input.value()?;
                let replica = |(of, rid): (_, u8)| Replica { egress_port: port(of), rid: u16::from(rid) };
                let replicas = some(&replicas, count).into_iter().map(replica).collect();
                replication(Call::SetMulticast { group: group(id), replicas })
            }
            30 => {
                let (rid, given, count) = input.value()?;
                let (ports, lags) = (ports(&given, count), lags(&given, count));
                replication(Call::CreateNode { rid, ports, lags })
            }
            31 => {
                let (index, given, count) = input.value()?;
                let (ports, lags) = (ports(&given, count), lags(&given, count));
                replication(Call::UpdateNode { node: node(index), ports, lags })
            }
            32 => {
                let (id, given, count) = input.value()?;
                replication(Call::SetLag { lag: usual(id, 4), ports: ports(&given, count) })
            }
            33 | 34 => {
                let (id, index) = input.value()?;
                let (group, node) = (group(id), node(index));
                let joins = kind == 33;
                replication(if joins {
                    Call::Associate { group, node }
                } else {
                    Call::Dissociate { group, node }
                })
            }
            35 => replication(Call::DestroyNode { node: node(input.value()?) }),
            36 => {
                let (id, to, to_group, class_of_service, bytes): (_, Option<_>, Option<_>, _, u16) =
                    input.value()?;
                let packet_length_bytes = if bytes < 0x4000 { 0 } else { u32::from(bytes) >> (bytes & 15) };
                let (egress_port, mgid) = (to.map(port), to_group.map(group));
                let session = MirroringSession { egress_port, mgid, class_of_service, packet_length_bytes };
                sessions(Call::AddSession { id: usual(id, 8), session })
            }
            _ => sessions(Call::DeleteSession { id: usual(input.value()?, 8) }),
        };
        Some(Op { kind, on, call })
    }

    /// Returns whether a batch may contain the call: neither a reset, nor BMv2's calls on nodes and their groups.
    pub(crate) fn may_be_in_a_batch(&self) -> bool {
        match self.call {
            Call::SetMulticast { .. } | Call::DestroyMulticast { with_nodes: true, .. } => true,
            _ => self.kind != EVERYTHING && self.kind != "replication",
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
    index.among(members.into_iter().map(|member| member.number))
}

fn a_group(switch: &Switch, profile: &str, index: Index) -> u64 {
    let groups = switch.state().mt_act_prof_get_groups(profile).unwrap_or_default();
    index.among(groups.into_iter().map(|group| group.handle))
}

impl Lead {
    fn to(&self, switch: &Switch, info: Option<&TableInfo>) -> MtAction {
        let profile = info.and_then(|info| info.action_profile.as_deref()).unwrap_or_default();
        let member = || MtAction::Member(a_member(switch, profile, self.index));
        let group = || MtAction::Group(a_group(switch, profile, self.index));
        let by_action = || {
            let ids = info.map_or(&[][..], |info| &info.actions);
            let (action, data) = action(switch.program(), ids, self.action, &self.data);
            MtAction::Action(action, data)
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
