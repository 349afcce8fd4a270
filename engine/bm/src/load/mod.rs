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
mod json;
mod limits;
mod objects;
mod parsers;
mod pipelines;
mod unions;

use std::collections::HashMap;

use crate::error::{clip, LoadError};
use crate::program::{Code, Declared, Field, Mark, PacketLayout, Pc, Program, Slot, UnionType};
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

/// A program during loading: its parts so far, and what only the loader needs.
struct Loader<'a> {
    compiler: Compiler,
    packet: PacketLayout,
    code: Code,
    declared: Declared,
    union_types: Vec<UnionType>,
    /// A slot that is written but never read.
    unused_slot: Slot,
    stack_ids: Ids,
    union_ids: Ids,
    action_sources: Vec<ActionSource<'a>>,
    action_ids: HashMap<u64, u32>,
    asserts: u32,
    cells: usize,
}

impl Program {
    /// Loads BMv2 JSON with the default [`Limits`].
    pub fn from_json(json: &[u8]) -> Result<Program> {
        Program::from_json_with(json, &Limits::default())
    }

    /// Loads BMv2 JSON.
    pub fn from_json_with(json: &[u8], limits: &Limits) -> Result<Program> {
        load(json, limits, false).map_err(|error| error.at("program"))
    }

    /// Loads BMv2 JSON so that a [`crate::trace::Trace`] can map events to source constructs. The program treats packets as
    /// usual; it is compiled without passes that merge or drop instructions.
    pub fn from_json_for_tracing(json: &[u8]) -> Result<Program> {
        load(json, &Limits::default(), true).map_err(|error| error.at("program"))
    }
}

/// Loads a program.
fn load(text: &[u8], limits: &Limits, for_tracing: bool) -> Result<Program> {
    let value = json::parse(text, limits.max_json_bytes)?;
    let root = Json::root(&value, limits);
    check_version(&root)?;
    if let Some(first) = root.list("extern_instances")?.first() {
        return Err(first.error("extern_instances are not supported"));
    }

    let mut loader = Loader::with_headers(&root)?;
    loader.code.marks = for_tracing.then(Vec::new);
    loader.load_aliases(&root)?;
    (loader.declared.errors, loader.code.core_errors) = objects::load_errors(&root)?;
    objects::check_enums(&root)?;
    loader.declared.field_lists = loader.load_lists(&root, "field_lists")?;
    loader.declared.learn_lists = loader.load_lists(&root, "learn_lists")?;
    loader.load_arrays(&root)?;
    loader.load_calculations(&root)?;
    loader.load_vsets(&root)?;
    loader.compile_actions()?;
    loader.load_pipelines(&root)?;
    loader.load_parsers(&root)?;
    loader.load_deparsers(&root)?;
    loader.load_checksums(&root)?;

    let Loader { compiler, mut packet, mut code, declared, .. } = loader;
    let Compiled { ops, cold_ops, const_base, constants } = compiler.finish()?;
    (code.ops, code.cold_ops) = (ops, cold_ops);
    (packet.const_base, packet.constants) = (const_base as usize, constants);
    Ok(Program { packet, code, declared })
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

/// Ids by name; the id is the number of names before it.
type Ids = HashMap<String, u32>;

/// Adds a name, which must be unique among its kind.
fn add_name(ids: &mut Ids, json: &Json<'_>, name: &str) -> Result<()> {
    let id = ids.len() as u32;
    if ids.insert(name.to_owned(), id).is_some() {
        let next = "give each object of its kind its own name";
        return Err(json.error(format!("the name '{}' is there twice; {next}", clip(name))));
    }
    Ok(())
}

/// Adds the name of an object, and returns it.
fn new_name(ids: &mut Ids, object: &Json<'_>) -> Result<String> {
    let name = object.get("name")?.str()?;
    add_name(ids, object, name)?;
    Ok(name.to_owned())
}

/// Returns the id of a name of the given kind.
fn look_up(ids: &Ids, kind: &str, json: &Json<'_>) -> Result<u32> {
    let name = json.str()?;
    ids.get(name).copied().ok_or_else(|| json.error(format!("no {kind} is named '{}'", clip(name))))
}

impl Loader<'_> {
    /// Marks the construct that begins at `pc`. Marks are ordered by `pc`; those of one `pc` by the order of calls.
    fn mark(&mut self, pc: Pc, mark: Mark) {
        if let Some(marks) = &mut self.code.marks {
            let at = marks.partition_point(|(other, _)| *other <= pc);
            marks.insert(at, (pc, mark));
        }
    }

    /// Counts array cells against the limit.
    fn take_cells(&mut self, json: &Json<'_>, count: usize) -> Result<()> {
        self.cells = self.cells.saturating_add(count);
        if self.cells > json.limits.max_cells {
            return Err(json.error(format!(
                "registers, counters and meters have more than {} cells together, the limit",
                json.limits.max_cells
            )));
        }
        Ok(())
    }
}
