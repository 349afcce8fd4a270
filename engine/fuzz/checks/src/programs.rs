//! The programs for fuzzing: E-EON's, and the compiled programs of the engine's tests. They are read from the
//! repository, so a program added to the constructs is fuzzed automatically.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bm::{Executable, Limits, Program};

/// A compiled program.
pub struct Source {
    /// Its path in the repository.
    pub path: String,
    /// BMv2 JSON.
    pub json: Vec<u8>,
}

/// Inputs select programs by index, so these keep their order; append new ones.
const FIRST: [&str; 7] = [
    "p4src/compiled/eeon.json",
    "engine/simple_switch/tests/p4/probe.json",
    "engine/bm/tests/programs/actions.json",
    "engine/bm/tests/programs/headers.json",
    "engine/bm/tests/programs/shared_profile.json",
    "engine/bm/tests/programs/tables.json",
    "engine/python/tests/programs/resources.json",
];

/// The compiled programs of this folder follow them, by name.
const CONSTRUCTS: &str = "engine/simple_switch/tests/constructs";

/// Returns every program; the first is E-EON's.
///
/// # Panics
/// If a program cannot be read, because the repository is incomplete.
pub fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let folder = root.join(CONSTRUCTS);
        let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{CONSTRUCTS}: {error}"));
        let mut constructs: Vec<String> = files
            .filter_map(|file| file.ok()?.file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(".p4").map(|stem| format!("{CONSTRUCTS}/{stem}.json")))
            .collect();
        constructs.sort();
        let paths = FIRST.iter().map(|path| (*path).to_owned()).chain(constructs);
        let read = |path: String| match fs::read(root.join(&path)) {
            Ok(json) => Source { path, json },
            Err(error) => panic!("{path}: {error}"),
        };
        paths.map(read).collect()
    })
}

/// Returns the limits under which programs are loaded here. The committed programs are within them, and a hostile
/// program takes so little memory and time that many can run.
pub(crate) fn limits() -> Limits {
    Limits {
        max_json_bytes: 1 << 20,
        max_phv_words: 1 << 13,
        max_instructions: 1 << 16,
        max_cells: 1 << 18,
        max_steps: 2048,
        max_parser_steps: 512,
        ..Limits::default()
    }
}

/// Returns a program. Each is loaded once.
pub(crate) fn program(index: usize) -> Arc<Executable> {
    static LOADED: OnceLock<Vec<Arc<Executable>>> = OnceLock::new();
    let load = |source: &Source| match Program::from_json_with(&source.json, &limits()) {
        Ok(program) => Executable::new(program),
        Err(error) => panic!("{} does not load: {error}", source.path),
    };
    Arc::clone(&LOADED.get_or_init(|| sources().iter().map(load).collect())[index % sources().len()])
}
