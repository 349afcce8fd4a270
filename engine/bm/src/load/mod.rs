//! Translates BMv2 JSON into a [`Program`]. Constructs that cannot be run are refused here, by name and place, so packets never
//! encounter them.
//!
//! The loader knows nothing of switches: all switches that run a program share its result.
//!
//! Order matters: headers determine slots and actions the size of the parameter area; after that, everything that consists of
//! instructions can be compiled.

mod actions;
mod compile;
mod expressions;
mod headers;
mod identity;
mod json;
mod limits;
mod objects;
mod parsers;
mod pipelines;
mod unions;

use std::collections::HashMap;

use crate::error::{clip, LoadError};
use crate::program::{
    ActionInfo, ActionProfileInfo, Calculation, Checksum, Code, CounterInfo, Declared, Deparser, Field,
    FieldListInfo, HashCall, Header, HeaderType, LearnListInfo, LogCall, Mark, MatchTable, MeterInfo, Names,
    PacketLayout, ParseVsetInfo, Pc, Program, RegisterInfo, Select, Slot, Stack, Start, TableInfo, Union,
    UnionStack, UnionType, VlStore,
};
use compile::{Compiled, Compiler};
use json::Json;

pub use limits::Limits;

type Result<T> = std::result::Result<T, LoadError>;

/// The JSON version that this loader understands, as in BMv2's docs/JSON_format.md.
const MAJOR_VERSION: u64 = 2;
const LATEST_MINOR_VERSION: u64 = 24;

/// The newest version of the JSON that the loader understands: major and minor number.
pub const JSON_VERSION: (u64, u64) = (MAJOR_VERSION, LATEST_MINOR_VERSION);

/// An action before it is compiled, and the slots of its parameters.
struct ActionSource<'a> {
    json: Json<'a>,
    params: Vec<Field>,
    words: u32,
    /// Its start, once it is compiled for calls by tables.
    pc: Option<Pc>,
}

/// A program during loading.
struct Loader<'a> {
    limits: &'a Limits,
    compiler: Compiler,
    header_types: Vec<HeaderType>,
    headers: Vec<Header>,
    stacks: Vec<Stack>,
    union_types: Vec<UnionType>,
    unions: Vec<Union>,
    union_stacks: Vec<UnionStack>,
    vl_stores: Vec<VlStore>,
    vl_bytes: usize,
    metadata_end: usize,
    reset_end: usize,
    condition_slot: Slot,
    /// A slot that is written but never read.
    unused_slot: Slot,
    stack_ids: HashMap<String, u32>,
    union_ids: HashMap<String, u32>,
    union_stack_ids: HashMap<String, u32>,
    action_sources: Vec<ActionSource<'a>>,
    action_ids: HashMap<u64, u32>,
    selects: Vec<Select>,
    hash_calls: Vec<HashCall>,
    log_calls: Vec<LogCall>,
    calculations: Vec<Calculation>,
    checksums: Vec<Checksum>,
    parsers: Vec<Start>,
    pipelines: Vec<Start>,
    deparsers: Vec<Deparser>,
    match_tables: Vec<MatchTable>,
    profile_selectors: Vec<Option<Calculation>>,
    lists: Vec<Vec<Field>>,
    asserts: u32,
    /// See `run::observe`; collected only for a program that is loaded for tracing.
    marks: Option<Vec<(Pc, Mark)>>,
    cells: usize,
    names: Names,
    tables: Vec<TableInfo>,
    actions: Vec<ActionInfo>,
    action_profiles: Vec<ActionProfileInfo>,
    register_arrays: Vec<RegisterInfo>,
    counter_arrays: Vec<CounterInfo>,
    meter_arrays: Vec<MeterInfo>,
    parse_vsets: Vec<ParseVsetInfo>,
    field_lists: Vec<FieldListInfo>,
    learn_lists: Vec<LearnListInfo>,
}

impl Program {
    /// Loads BMv2 JSON with the default [`Limits`].
    pub fn from_json(json: &[u8]) -> Result<Program> {
        Program::from_json_with(json, &Limits::default())
    }

    /// Loads BMv2 JSON.
    pub fn from_json_with(json: &[u8], limits: &Limits) -> Result<Program> {
        load(json, limits, false)
    }

    /// Loads BMv2 JSON so that a [`crate::trace::Trace`] can map events to source constructs. The program treats packets as
    /// usual; it is compiled without passes that merge or drop instructions.
    pub fn from_json_for_tracing(json: &[u8]) -> Result<Program> {
        load(json, &Limits::default(), true)
    }
}

/// Loads a program.
fn load(text: &[u8], limits: &Limits, for_tracing: bool) -> Result<Program> {
    let value = json::parse(text, limits.max_json_bytes)?;
    let root = Json::root(&value);
    check_version(&root)?;
    if let Some(first) = root.list("extern_instances", limits.max_objects)?.first() {
        return Err(first.error("extern_instances are not supported"));
    }

    identity::check_ids(&root, limits)?;
    let mut loader = Loader::with_headers(&root, limits)?;
    loader.marks = for_tracing.then(Vec::new);
    loader.load_aliases(&root)?;
    let (errors, core_errors) = objects::load_errors(&root, limits)?;
    let enums = objects::load_enums(&root, limits)?;
    loader.load_lists(&root)?;
    loader.load_arrays(&root)?;
    loader.load_calculations(&root)?;
    loader.load_vsets(&root)?;
    loader.compile_actions()?;
    loader.load_pipelines(&root)?;
    loader.load_parsers(&root)?;
    loader.load_deparsers(&root)?;
    loader.load_checksums(&root)?;

    let Compiled { ops, cold_ops, const_base, constants } =
        loader.compiler.finish().map_err(|reason| LoadError::new("program", reason))?;
    let packet = PacketLayout {
        header_types: loader.header_types,
        headers: loader.headers,
        stacks: loader.stacks,
        unions: loader.unions,
        union_stacks: loader.union_stacks,
        vl_stores: loader.vl_stores,
        vl_bytes: loader.vl_bytes,
        metadata_end: loader.metadata_end,
        reset_end: loader.reset_end,
        param_base: loader.condition_slot as usize + 2,
        const_base: const_base as usize,
        constants,
        condition_slot: loader.condition_slot,
        lists: loader.lists,
    };
    let code = Code {
        ops,
        marks: loader.marks,
        cold_ops,
        selects: loader.selects,
        hash_calls: loader.hash_calls,
        log_calls: loader.log_calls,
        calculations: loader.calculations,
        checksums: loader.checksums,
        parsers: loader.parsers,
        pipelines: loader.pipelines,
        deparsers: loader.deparsers,
        core_errors,
        match_tables: loader.match_tables,
        selectors: loader.profile_selectors,
        max_steps: limits.max_steps,
        max_parser_steps: limits.max_parser_steps,
    };
    let declared = Declared {
        names: loader.names,
        tables: loader.tables,
        actions: loader.actions,
        action_profiles: loader.action_profiles,
        register_arrays: loader.register_arrays,
        counter_arrays: loader.counter_arrays,
        meter_arrays: loader.meter_arrays,
        parse_vsets: loader.parse_vsets,
        field_lists: loader.field_lists,
        learn_lists: loader.learn_lists,
        enums,
        errors,
    };
    Ok(Program::new(packet, code, declared))
}

fn check_version(root: &Json<'_>) -> Result<()> {
    let version = match root.opt("__meta__")? {
        Some(meta) => meta.opt("version")?,
        // Compilers before 2016 emitted none.
        None if root.opt("pipelines")?.is_some() => None,
        None => {
            let problem = "is not a BMv2 program: it has neither '__meta__' nor 'pipelines'";
            return Err(root.error(format!("{problem}; {}", json::EXPECTED)));
        }
    };
    let Some(version) = version else { return Ok(()) };
    let [major, minor] = version.tuple()?;
    let (major, minor) = (major.u64()?, minor.u64()?);
    if major != MAJOR_VERSION || minor > LATEST_MINOR_VERSION {
        return Err(version.error(format!(
            "is {major}.{minor}; versions {MAJOR_VERSION}.0 to {MAJOR_VERSION}.{LATEST_MINOR_VERSION} are supported"
        )));
    }
    Ok(())
}

/// Adds a name, which must be unique among its kind.
fn add_name(names: &mut HashMap<String, u32>, json: &Json<'_>, name: &str, id: usize) -> Result<()> {
    if names.insert(name.to_owned(), id as u32).is_some() {
        let next = "give each object of its kind its own name";
        return Err(json.error(format!("the name '{}' is there twice; {next}", clip(name))));
    }
    Ok(())
}

/// Returns the id of a name of the given kind.
fn look_up(names: &HashMap<String, u32>, kind: &str, json: &Json<'_>) -> Result<u32> {
    let name = json.str()?;
    names.get(name).copied().ok_or_else(|| json.error(format!("no {kind} is named '{}'", clip(name))))
}

impl Loader<'_> {
    /// Marks the construct that begins at `pc`. Marks are ordered by `pc`; those of one `pc` by the order of calls.
    fn mark(&mut self, pc: Pc, mark: Mark) {
        if let Some(marks) = &mut self.marks {
            let at = marks.partition_point(|(other, _)| *other <= pc);
            marks.insert(at, (pc, mark));
        }
    }

    /// Counts array cells against the limit.
    fn take_cells(&mut self, json: &Json<'_>, count: usize) -> Result<()> {
        self.cells = self.cells.saturating_add(count);
        if self.cells > self.limits.max_cells {
            return Err(json.error(format!(
                "registers, counters and meters have more than {} cells together, the limit",
                self.limits.max_cells
            )));
        }
        Ok(())
    }
}
