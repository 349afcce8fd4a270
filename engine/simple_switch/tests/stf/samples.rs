//! p4c's sample programs: those with an STF script for v1model, and their compilation by p4c-bm2-ss.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

const COMPILER: &str = "p4c-bm2-ss";

/// Scripts and the programs they belong to, in folders below `testdata`.
pub struct Group {
    pub name: &'static str,
    pub scripts: &'static str,
    programs: &'static str,
    /// Needs a p4c that [`reads_p4_14`].
    pub is_p4_14: bool,
    options: &'static [&'static str],
}

const P4_16: Group = Group {
    name: "P4_16",
    scripts: "p4_16_samples",
    programs: "p4_16_samples",
    is_p4_14: false,
    options: &[],
};

const P4_16_PARSER_INLINE: Group = Group {
    name: "P4_16 parser-inline",
    scripts: "p4_16_samples/parser-inline",
    programs: "p4_16_samples/parser-inline",
    ..P4_16
};

const P4_14: Group = Group {
    name: "P4_14",
    scripts: "p4_14_samples",
    programs: "p4_14_samples",
    is_p4_14: true,
    options: &["--std", "p4-14"],
};

/// All groups. p4c runs the parsers to be inlined with and without inlining; it keeps its translation of each P4_14
/// program to P4_16 beside the program, which a p4c that reads no P4_14 compiles as well.
pub const GROUPS: [Group; 5] = [
    P4_16,
    P4_16_PARSER_INLINE,
    Group { name: "P4_16 parser-inline, inlined", options: &["--parser-inline-opt"], ..P4_16_PARSER_INLINE },
    P4_14,
    Group {
        name: "P4_14, in p4c's translation to P4_16",
        programs: "p4_14_samples_outputs",
        is_p4_14: false,
        options: &[],
        ..P4_14
    },
];

/// A program and its script.
pub struct Sample {
    pub name: String,
    pub script: PathBuf,
    pub program: PathBuf,
    pub options: &'static [&'static str],
}

/// Returns the files of a folder with this extension, by name.
pub fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let paths = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = paths.collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension() == Some(OsStr::new(extension)));
    files.sort();
    Ok(files)
}

/// Returns the samples of a group by name, and describes what else has a script there.
pub fn find(testdata: &Path, group: &Group) -> io::Result<(Vec<Sample>, String)> {
    let mut samples = Vec::new();
    let (mut other_architectures, mut without_program) = (0, 0);
    for script in files(&testdata.join(group.scripts), "stf")? {
        let name = script.file_stem().expect("has an extension").to_string_lossy().into_owned();
        let program = testdata.join(group.programs).join(format!("{name}.p4"));
        if !program.exists() {
            without_program += 1;
        } else if !group.is_p4_14 && !includes_v1model(&program)? {
            other_architectures += 1;
        } else {
            samples.push(Sample { name, script, program, options: group.options });
        }
    }
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    let left_out = format!(
        "left out: {other_architectures} of other architectures, {without_program} scripts without a program"
    );
    Ok((samples, left_out))
}

/// Returns all P4_16 samples for v1model by name, with a script or without.
pub fn v1model_programs(testdata: &Path) -> io::Result<Vec<PathBuf>> {
    let mut programs = Vec::new();
    for path in files(&testdata.join(P4_16.programs), "p4")? {
        if includes_v1model(&path)? {
            programs.push(path);
        }
    }
    Ok(programs)
}

/// Returns whether a P4_16 program includes v1model. Every P4_14 program is for v1model.
fn includes_v1model(program: &Path) -> io::Result<bool> {
    let text = String::from_utf8_lossy(&std::fs::read(program)?).into_owned();
    Ok(text.lines().any(|line| line.trim_start().starts_with("#include") && line.contains("v1model.p4")))
}

/// Returns the version of p4c-bm2-ss, if there is such a program.
pub fn compiler_version() -> Option<String> {
    version(Command::new(COMPILER))
}

/// Returns the output of a command with `--version` on one line, if there is such a program.
pub fn version(mut command: Command) -> Option<String> {
    let output = command.arg("--version").output().ok()?;
    let text = [output.stdout, output.stderr].concat(); // 1.2.5 writes it to standard error.
    Some(String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns whether p4c was built with `SUPPORT_P4_14`, which is off by default.
pub fn reads_p4_14() -> bool {
    let output = Command::new(COMPILER).args(["--std", "p4-14", "--version"]).output();
    output.is_ok_and(|output| output.status.success())
}

/// Returns whether a line of a compiler is about an error.
pub fn is_error(line: &&str) -> bool {
    line.to_lowercase().contains("error")
}

/// Compiles a program as p4c's `run-bmv2-test.py` does, into the folder `scratch`. Returns its JSON, or the first error.
pub fn compile(program: &Path, options: &[&str], scratch: &Path) -> Result<Vec<u8>, String> {
    let name = program.file_name().expect("a file has a name");
    let json = scratch.join(name).with_extension("json");
    let _ = std::fs::remove_file(&json); // A file from an earlier run would hide an error.
    let mut command = Command::new(COMPILER);
    command.args(options).arg("-o").arg(&json);
    // Run in the program's folder, so that messages contain only the file name.
    command.current_dir(program.parent().expect("a file has a folder")).arg(name);
    let output = command.output().map_err(|error| format!("{COMPILER}: {error}"))?;
    std::fs::read(&json).ok().filter(|_| output.status.success()).ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(is_error).or_else(|| said.lines().next());
        line.unwrap_or("p4c says nothing").to_owned()
    })
}
