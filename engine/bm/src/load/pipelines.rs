//! Pipelines: tables, conditionals and action calls, each laid out as one sequence of instructions.
//!
//! p4c wraps every statement of a control in a table without key whose default action is constant. Such a table always does the
//! same, so its action is inlined. Nodes are laid out depth first, so that most transitions fall through.

use super::compile::Label;
use super::json::Json;
use super::{look_up, new_name, Ids, Loader, Result};
use crate::error::clip;
use crate::number::{ones, parse_cut, prefix_mask};
use crate::program::{
    ActionCall, ActionId, ActionProfileInfo, Bound, Field, KeyPlan, Mark, MatchTable, MatchType, Op,
    PackedKey, Pc, Start, TableAction, TableInfo, TableKeyInfo, TableType,
};

/// The kinds of nodes of a pipeline's control flow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Node {
    Table,
    Conditional,
    ActionCall,
}

/// Control flow of one pipeline.
struct Flow<'a> {
    nodes: Vec<(Node, Json<'a>)>,
    names: Ids,
    labels: Vec<Label>,
}

/// The successors of a table.
struct Next {
    /// After a hit, and after a miss, whatever the action, if the table says so.
    on_hit: Option<Option<u32>>,
    on_miss: Option<Option<u32>>,
    by_action: Vec<Option<u32>>,
    base: Option<u32>,
}

impl Next {
    fn hit(&self, local: usize) -> Option<u32> {
        self.on_hit.unwrap_or(self.by_action[local])
    }

    fn miss(&self, local: usize) -> Option<u32> {
        self.on_miss.unwrap_or(self.by_action[local])
    }

    /// Returns the successor if the table has no action to run.
    fn none(&self) -> Option<u32> {
        self.on_miss.unwrap_or(self.base)
    }

    fn all(&self) -> impl Iterator<Item = u32> + '_ {
        let named = [self.on_hit.flatten(), self.on_miss.flatten(), self.base];
        named.into_iter().chain(self.by_action.iter().copied()).flatten()
    }
}

impl<'a> Flow<'a> {
    fn node(&self, json: &Json<'_>) -> Result<Option<u32>> {
        if json.is_null() {
            return Ok(None);
        }
        look_up(&self.names, "table or conditional", json).map(Some)
    }

    fn optional(&self, json: &Json<'_>, key: &str) -> Result<Option<u32>> {
        json.opt(key)?.map_or(Ok(None), |next| self.node(&next))
    }

    fn next_of_table(&self, json: &Json<'_>, actions: &[String]) -> Result<Next> {
        let given = json.get("next_tables")?;
        let map = given.object()?;
        let base = self.optional(json, "base_default_next")?;
        let named = |key: &str| match map.contains_key(key) {
            true => self.node(&given.get(key)?).map(Some),
            false => Ok(None),
        };
        let by_action = actions.iter().map(|action| Ok(named(action)?.unwrap_or(base)));
        let by_action = by_action.collect::<Result<_>>()?;
        Ok(Next { on_hit: named("__HIT__")?, on_miss: named("__MISS__")?, by_action, base })
    }
}

/// A table whose successors do not have their places yet.
type PendingTable = (u32, Next);

impl<'a> Loader<'a> {
    pub(super) fn load_pipelines(&mut self, root: &Json<'a>) -> Result<()> {
        let (mut names, mut nodes) = (Ids::new(), Ids::new());
        for json in root.list("pipelines")? {
            for profile in json.list("action_profiles")? {
                self.load_profile(&profile)?;
            }
            let name = new_name(&mut names, &json)?;
            let pc = self.load_flow(&json, self.code.pipelines.len() as u32, &mut nodes)?;
            self.code.pipelines.push(Start { name, pc });
        }
        self.check_direct_arrays(root)
    }

    fn load_profile(&mut self, json: &Json<'_>) -> Result<()> {
        let name = new_name(&mut self.declared.names.profiles, json)?;
        let id = json.id()?;
        let max_size = json.opt("max_size")?.map_or(Ok(0), |v| v.number(u64::from(u32::MAX)))? as usize;
        let selector = json.opt("selector")?.map(|s| self.load_calculation(&s)).transpose()?;
        let with_selector = selector.is_some();
        self.declared.action_profiles.push(ActionProfileInfo { name, id, max_size, with_selector });
        self.code.selectors.push(selector);
        Ok(())
    }

    /// Compiles a pipeline. `nodes` has the names of tables and conditionals in all pipelines so far, which may not return.
    fn load_flow(&mut self, json: &Json<'a>, pipeline: u32, nodes: &mut Ids) -> Result<Pc> {
        let mut flow = Flow { nodes: Vec::new(), names: Ids::new(), labels: Vec::new() };
        for (key, node) in
            [("tables", Node::Table), ("conditionals", Node::Conditional), ("action_calls", Node::ActionCall)]
        {
            for item in json.list(key)? {
                let name = new_name(nodes, &item)?;
                flow.names.insert(name, flow.nodes.len() as u32);
                flow.labels.push(self.compiler.label());
                flow.nodes.push((node, item));
            }
        }
        let first_conditional = flow.nodes.iter().filter(|(node, _)| *node == Node::Table).count() as u32;
        let init = flow.node(&json.get("init_table")?)?;
        let end = self.compiler.label();
        let pc = self.compiler.pc();
        let mut pending = Vec::new();
        let mut placed = vec![false; flow.nodes.len()];
        let mut edges = vec![Vec::new(); flow.nodes.len()];
        // Nodes to lay out; the last one is next, so that a node's first successor follows it.
        let mut stack: Vec<u32> = init.into_iter().collect();
        if init.is_none() {
            self.compiler.emit(Op::Halt)?;
        }
        // Lay out unreachable nodes, too: the control plane knows their tables.
        stack.splice(0..0, (0..flow.nodes.len() as u32).rev());
        while let Some(at) = stack.pop() {
            if std::mem::replace(&mut placed[at as usize], true) {
                continue;
            }
            self.compiler.place(flow.labels[at as usize]);
            self.compiler.release_temps();
            let begin = self.compiler.pc();
            let (node, json) = &flow.nodes[at as usize];
            let successors = match node {
                Node::Table => self.load_table(&flow, json, end, &mut pending, &placed)?,
                Node::Conditional => {
                    let (successors, decided) = self.load_conditional(&flow, json, end, &placed)?;
                    if begin < decided {
                        let conditional = at - first_conditional;
                        self.mark(begin, Mark::Condition { pipeline, conditional, end: decided });
                    }
                    successors
                }
                Node::ActionCall => self.load_action_call(&flow, json, end, &placed)?,
            };
            stack.extend(successors.iter().rev());
            edges[at as usize] = successors;
        }
        self.compiler.place(end);
        self.compiler.emit(Op::Halt)?;
        if let Some(at) = cycle(&edges) {
            let (_, json) = &flow.nodes[at as usize];
            return Err(json.error("is part of a loop of tables and conditionals, which is not supported"));
        }
        let end = self.compiler.target(end).unwrap_or_default();
        let pc_of = |node: Option<u32>| {
            node.and_then(|n| self.compiler.target(flow.labels[n as usize])).unwrap_or(end)
        };
        for (table, next) in pending {
            let table = &mut self.code.match_tables[table as usize];
            table.next_none = pc_of(next.none());
            for (local, action) in table.actions.iter_mut().enumerate() {
                (action.next_hit, action.next_miss) = (pc_of(next.hit(local)), pc_of(next.miss(local)));
            }
        }
        Ok(pc)
    }

    /// Continues at a node, by falling through if it is laid out next.
    fn go(&mut self, flow: &Flow<'_>, to: Option<u32>, end: Label, placed: &[bool]) -> Result<()> {
        match to {
            Some(node) if !placed[node as usize] => Ok(()),
            Some(node) => self.compiler.jump(flow.labels[node as usize]),
            None => self.compiler.jump(end),
        }
    }

    /// Compiles a conditional. Returns its successors, and the place where it continues if the condition holds.
    fn load_conditional(
        &mut self,
        flow: &Flow<'_>,
        json: &Json<'_>,
        end: Label,
        placed: &[bool],
    ) -> Result<(Vec<u32>, Pc)> {
        let expression = json.get("expression")?;
        let condition = self.condition(&expression, &[])?;
        let (on_true, on_false) = (flow.optional(json, "true_next")?, flow.optional(json, "false_next")?);
        let otherwise = on_false.map_or(end, |n| flow.labels[n as usize]);
        expression.placed(self.compiler.branch(&condition, otherwise, false))?;
        let decided = self.compiler.pc();
        self.go(flow, on_true, end, placed)?;
        Ok((on_true.into_iter().chain(on_false).collect(), decided))
    }

    fn load_action_call(
        &mut self,
        flow: &Flow<'_>,
        json: &Json<'_>,
        end: Label,
        placed: &[bool],
    ) -> Result<Vec<u32>> {
        let action = self.action(&json.get("action_id")?)?;
        if !self.action_sources[action].params.is_empty() {
            return Err(json.error("calls an action that takes parameters"));
        }
        let next = flow.optional(json, "next_node")?;
        self.compile_action(action, false)?;
        self.compiler.emit(Op::EndInline)?;
        self.go(flow, next, end, placed)?;
        Ok(next.into_iter().collect())
    }

    fn action(&self, json: &Json<'_>) -> Result<usize> {
        let id = json.u64()?;
        self.action_ids
            .get(&id)
            .map(|&at| at as usize)
            .ok_or_else(|| json.error(format!("no action has the id {id}")))
    }

    fn named_action(&self, json: &Json<'_>) -> Result<usize> {
        let name = json.str()?;
        let found = self.declared.actions.iter().position(|action| action.name == name);
        found.ok_or_else(|| json.error(format!("no action is named '{}'", clip(name))))
    }

    fn load_table(
        &mut self,
        flow: &Flow<'_>,
        json: &Json<'_>,
        end: Label,
        pending: &mut Vec<PendingTable>,
        placed: &[bool],
    ) -> Result<Vec<u32>> {
        let (info, table, next) = self.read_table(flow, json)?;
        let id = self.declared.tables.len() as u32;
        new_name(&mut self.declared.names.tables, json)?;
        let inline = match &table.default {
            Some(call) if info.key.is_empty() && info.const_default && call.data.is_empty() => {
                (info.table_type == TableType::Simple && !info.with_counters).then_some(call.local as usize)
            }
            _ => None,
        };
        let successors = match inline {
            Some(local) => {
                self.compile_action(table.actions[local].action as usize, false)?;
                self.compiler.emit(Op::EndInline)?;
                let to = next.miss(local);
                self.go(flow, to, end, placed)?;
                to.into_iter().collect()
            }
            None => {
                self.compiler.emit(Op::Apply { table: id })?;
                let mut successors: Vec<u32> = next.all().collect();
                successors.sort_unstable();
                successors.dedup();
                successors
            }
        };
        self.declared.tables.push(info);
        self.code.match_tables.push(table);
        pending.push((id, next));
        Ok(successors)
    }

    fn read_table(&mut self, flow: &Flow<'_>, json: &Json<'_>) -> Result<(TableInfo, MatchTable, Next)> {
        let name = json.get("name")?.str()?.to_owned();
        let match_type = self.match_type(&json.get("match_type")?)?;
        let kind = json.get("type")?;
        let table_type = match kind.str()? {
            "simple" => TableType::Simple,
            "indirect" => TableType::Indirect,
            "indirect_ws" => TableType::IndirectWs,
            other => return Err(kind.error(format!("table type '{}' is not supported", clip(other)))),
        };
        let profile = match table_type {
            TableType::Simple => None,
            _ => {
                // BMv2 before 2.0 called this act_prof_name.
                let given = json.get("action_profile")?;
                let profile = look_up(&self.declared.names.profiles, "action profile", &given)?;
                if table_type == TableType::IndirectWs && self.code.selectors[profile as usize].is_none() {
                    return Err(given.error("has no selector, which a table of type indirect_ws needs"));
                }
                Some(profile)
            }
        };
        let (key_info, key) = self.table_key(json, match_type)?;

        let mut actions = Vec::new();
        let mut action_names = Vec::new();
        // p4c-bm gave only the names of a table's actions.
        let by_id = json.opt("action_ids")?;
        let by_name = by_id.is_none();
        for id in by_id.map_or_else(|| json.get("actions"), Ok)?.array()? {
            let at = if by_name { self.named_action(&id)? } else { self.action(&id)? };
            let source = &self.action_sources[at];
            if actions.iter().any(|a: &TableAction| a.action == at as u32) {
                return Err(id.error("the action is there twice"));
            }
            let pc = source.pc.unwrap_or_default();
            actions.push(TableAction {
                action: at as u32,
                named: self.first_namesake(at) as u32,
                pc,
                words: source.words,
                next_hit: 0,
                next_miss: 0,
            });
            action_names.push(self.declared.actions[at].name.clone());
        }
        let next = flow.next_of_table(json, &action_names)?;
        let stride = actions.iter().map(|a| a.words as usize).max().unwrap_or(0);

        let mut const_default_action = false;
        let mut const_default = false;
        let mut default = None;
        if let Some(entry) = json.opt("default_entry")? {
            if table_type != TableType::Simple {
                return Err(entry.error("only tables of type simple have a default entry in the program"));
            }
            const_default_action = entry.flag("action_const", false)?;
            const_default = entry.flag("action_entry_const", false)?;
            default = Some(self.action_call(&entry, &actions)?);
        }
        let max_size = json.opt("max_size")?.map_or(Ok(u64::MAX), |v| v.u64())?;
        let max_size = usize::try_from(max_size).unwrap_or(usize::MAX);
        let with_counters = json.flag("with_counters", false)?;
        let support_timeout = json.flag("support_timeout", false)?;
        let direct_meter = self.direct_meter(json, &name)?;

        let mut const_entries = Vec::new();
        let entries = json.list("entries")?;
        if !entries.is_empty() && (table_type != TableType::Simple || key.fields.is_empty()) {
            return Err(json.error("only tables of type simple with a key have entries in the program"));
        }
        for entry in &entries {
            let packed = self.const_key(entry, match_type, &key_info, &key)?;
            let same = |(other, _): &(PackedKey, ActionCall)| *other == packed;
            if const_entries.iter().any(same) {
                return Err(entry.error("another entry has the same key"));
            }
            let call = self.action_call(&entry.get("action_entry")?, &actions)?;
            const_entries.push((packed, call));
        }

        let info = TableInfo {
            name,
            id: json.id()?,
            match_type,
            table_type,
            key: key_info,
            actions: actions.iter().map(|a| ActionId(a.action)).collect(),
            max_size,
            action_profile: profile.map(|p| self.declared.action_profiles[p as usize].name.clone()),
            with_counters,
            direct_meter: direct_meter.map(|(m, _)| self.declared.meter_arrays[m as usize].name.clone()),
            support_timeout,
            const_entries: !const_entries.is_empty(),
            const_default,
        };
        let table = MatchTable {
            key,
            match_type,
            actions,
            next_none: 0,
            stride,
            profile,
            direct_meter,
            default,
            const_default_action,
            ages: support_timeout,
            const_entries,
        };
        Ok((info, table, next))
    }

    fn match_type(&self, json: &Json<'_>) -> Result<MatchType> {
        Ok(match json.str()? {
            "exact" => MatchType::Exact,
            "lpm" => MatchType::Lpm,
            "ternary" => MatchType::Ternary,
            "range" => MatchType::Range,
            "valid" => MatchType::Valid,
            other => return Err(json.error(format!("match type '{}' is not supported", clip(other)))),
        })
    }

    /// Returns the first action with the same name and parameters, which may be this one.
    fn first_namesake(&self, at: usize) -> usize {
        let this = &self.declared.actions[at];
        self.declared
            .actions
            .iter()
            .position(|other| other.name == this.name && other.params == this.params)
            .unwrap_or(at)
    }

    fn table_key(&self, json: &Json<'_>, of_table: MatchType) -> Result<(Vec<TableKeyInfo>, KeyPlan)> {
        let mut infos = Vec::new();
        let mut fields = Vec::new();
        let mut prefixes = 0;
        for part in json.list("key")? {
            let given = part.get("match_type")?;
            let match_type = self.match_type(&given)?;
            let target = part.get("target")?;
            let (field, label): (Field, String) = if match_type == MatchType::Valid {
                let header = look_up(&self.declared.names.headers, "header", &target)?;
                let h = &self.packet.headers[header as usize];
                (Field { slot: h.valid, width: 1, signed: false }, h.name.clone())
            } else {
                let (field, _) = self.field(&target)?;
                let [header, member] = target.tuple()?;
                (field, format!("{}.{}", header.str()?, member.str()?))
            };
            let fits = match match_type {
                MatchType::Exact | MatchType::Valid => true,
                MatchType::Lpm => of_table != MatchType::Exact,
                MatchType::Ternary => matches!(of_table, MatchType::Ternary | MatchType::Range),
                MatchType::Range => of_table == MatchType::Range,
            };
            if !fits {
                return Err(given.error("does not go with the match type of the table"));
            }
            prefixes += usize::from(match_type == MatchType::Lpm);
            if prefixes > 1 {
                return Err(given.error("is a second lpm field in one table"));
            }
            let mask = match part.opt("mask")? {
                Some(mask) => Some(parse_cut(mask.str()?, field.width()).map_err(|e| mask.error(e))?),
                None => None,
            };
            let name = part.opt("name")?.map_or(Ok(label), |n| n.str().map(str::to_owned))?;
            infos.push(TableKeyInfo { name, match_type, bitwidth: field.width() });
            fields.push((field, mask));
        }
        Ok((infos, KeyPlan::new(&fields)))
    }

    /// Returns the meter array of a table, and the field that gets the colour.
    fn direct_meter(&self, json: &Json<'_>, table: &str) -> Result<Option<(u32, Field)>> {
        let Some(given) = json.opt("direct_meters")? else { return Ok(None) };
        let meter = look_up(&self.declared.names.meters, "meter_array", &given)?;
        if self.declared.meter_arrays[meter as usize].direct_table.as_deref() != Some(table) {
            return Err(given.error("is not a direct meter of this table"));
        }
        // The meter's declaration names the colour's field: see check_direct_arrays.
        Ok(Some((meter, Field { slot: self.unused_slot, width: 64, signed: false })))
    }

    /// Sets the result fields of direct meters, and checks that direct arrays name existing tables.
    fn check_direct_arrays(&mut self, root: &Json<'_>) -> Result<()> {
        for json in root.list("counter_arrays")? {
            if json.get("is_direct")?.bool()? {
                look_up(&self.declared.names.tables, "table", &json.get("binding")?)?;
            }
        }
        for json in root.list("meter_arrays")? {
            if !json.get("is_direct")?.bool()? {
                continue;
            }
            let table = look_up(&self.declared.names.tables, "table", &json.get("binding")?)?;
            let (target, _) = self.field(&json.get("result_target")?)?;
            if let Some((_, field)) = &mut self.code.match_tables[table as usize].direct_meter {
                *field = target;
            }
        }
        Ok(())
    }

    /// Returns an action with constant data, as in default and const entries.
    fn action_call(&self, json: &Json<'_>, actions: &[TableAction]) -> Result<ActionCall> {
        let id = json.get("action_id")?;
        let at = self.action(&id)?;
        let local = actions
            .iter()
            .position(|a| a.action as usize == at)
            .ok_or_else(|| id.error("the table does not list this action"))?;
        let values = json.list("action_data")?;
        let params = &self.action_sources[at].params;
        if values.len() != params.len() {
            return Err(json.error(format!("gives {} values for {} parameters", values.len(), params.len())));
        }
        let mut data = Vec::new();
        for (value, param) in values.iter().zip(params) {
            data.extend(parse_cut(value.str()?, param.width()).map_err(|e| value.error(e))?);
        }
        Ok(ActionCall { local: local as u32, data })
    }

    fn const_key(
        &self,
        entry: &Json<'_>,
        of_table: MatchType,
        infos: &[TableKeyInfo],
        plan: &KeyPlan,
    ) -> Result<PackedKey> {
        let given = entry.get("match_key")?;
        let parts = given.array()?;
        if parts.len() != infos.len() {
            return Err(given.error(format!(
                "has {} fields; the table's key has {}",
                parts.len(),
                infos.len()
            )));
        }
        let (mut values, mut masks, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        let mut prefix_length = 0;
        for (at, (part, info)) in parts.iter().zip(infos).enumerate() {
            let kind = part.get("match_type")?;
            if self.match_type(&kind)? != info.match_type {
                return Err(kind.error("is not that of the table's key field"));
            }
            let all = ones(info.bitwidth);
            let number = |key: &str| -> Result<Vec<u64>> {
                let json = part.get(key)?;
                parse_cut(json.str()?, info.bitwidth).map_err(|e| json.error(e))
            };
            let (value, mask) = match info.match_type {
                MatchType::Exact => (number("key")?, all),
                MatchType::Valid => (vec![u64::from(part.get("key")?.bool()?)], all),
                MatchType::Lpm => {
                    let length = part.get("prefix_length")?.number(u64::from(info.bitwidth))? as u32;
                    prefix_length = length;
                    (number("key")?, prefix_mask(info.bitwidth, length))
                }
                MatchType::Ternary => (number("key")?, number("mask")?),
                MatchType::Range => {
                    bounds.push(Bound { field: at, first: number("start")?, last: number("end")? });
                    (vec![0], vec![0])
                }
            };
            values.push(value.iter().zip(&mask).map(|(v, m)| v & m).collect::<Vec<u64>>());
            masks.push(mask);
        }
        let ordered = matches!(of_table, MatchType::Ternary | MatchType::Range);
        let priority = match entry.opt("priority")? {
            Some(priority) if ordered => priority.number(i32::MAX as u64)? as u32,
            _ => 0,
        };
        Ok(PackedKey {
            value: plan.pack_masked(values),
            mask: plan.pack(masks),
            bounds,
            prefix_length,
            priority,
        })
    }
}

/// Returns a node on a cycle, if there is one.
fn cycle(edges: &[Vec<u32>]) -> Option<u32> {
    // Remove nodes without incoming edges until none is left, or none can be removed.
    let mut incoming = vec![0usize; edges.len()];
    for &to in edges.iter().flatten() {
        incoming[to as usize] += 1;
    }
    let mut free: Vec<usize> = (0..edges.len()).filter(|&n| incoming[n] == 0).collect();
    while let Some(at) = free.pop() {
        for &to in &edges[at] {
            incoming[to as usize] -= 1;
            if incoming[to as usize] == 0 {
                free.push(to as usize);
            }
        }
    }
    incoming.iter().position(|&n| n > 0).map(|n| n as u32)
}
