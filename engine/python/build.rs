//! Puts a digest of the engine's sources into the extension, so that a result can say which engine made it.
//!
//! It is over what a run in virtual time is made of: manifests, lock file, and `src/` of every crate of the workspace but those that
//! only a live switch and live traffic need, and the one that writes the types' schema, which change no result. Tests, benches and fuzz targets are left out. The
//! sources are read and not the repository, so that it is the same in a copy without `.git`.

use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest, Sha256};

/// Crates that no run in virtual time comes through.
const NOT_IN_A_RUN: [&str; 4] = ["live", "port_io", "schema", "traffic"];

fn main() -> io::Result<()> {
    let engine = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("..");
    let mut files = vec![engine.join("Cargo.toml"), engine.join("Cargo.lock")];
    for entry in fs::read_dir(&engine)? {
        let folder = entry?.path();
        let (manifest, sources) = (folder.join("Cargo.toml"), folder.join("src"));
        let not_in_a_run = NOT_IN_A_RUN.iter().any(|name| folder.ends_with(name));
        if manifest.is_file() && sources.is_dir() && !not_in_a_run {
            println!("cargo::rerun-if-changed={}", sources.display());
            files.push(manifest);
            collect(&sources, &mut files)?;
        }
    }
    files.sort();
    let mut all = Sha256::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&engine).map_err(io::Error::other)?;
        all.update(name.to_string_lossy().replace('\\', "/").as_bytes());
        all.update([0]);
        all.update(Sha256::digest(fs::read(file)?));
    }
    println!("cargo::rustc-env=EEON_SOURCE_DIGEST={}", hex(&all.finalize()));
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
