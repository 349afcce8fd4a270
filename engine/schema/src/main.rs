//! Writes the schema into a file: `make reference` does, into `schema.json`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = std::env::args_os().nth(1) else {
        eprintln!("schema: name the file to write, such as engine/schema/schema.json");
        return ExitCode::FAILURE;
    };
    if let Err(error) = std::fs::write(&file, schema::text()) {
        eprintln!("schema: {}: {error}", file.to_string_lossy());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
