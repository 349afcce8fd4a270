//! Maintains the corpora: `corpus unpack FILES FOLDER`, `corpus pack FOLDER FILES`. FOLDER has a folder of inputs for
//! each target, as in cargo-fuzz; FILES is the folder of the packed corpora in the repository.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use fuzz_checks::{corpora, TARGETS};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["unpack", files, folder] => unpack(Path::new(files), Path::new(folder)),
        ["pack", folder, files] => pack(Path::new(folder), Path::new(files)),
        _ => {
            eprintln!("usage: corpus unpack FILES FOLDER | corpus pack FOLDER FILES");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("corpus: {error}");
            ExitCode::FAILURE
        }
    }
}

fn unpack(files: &Path, folder: &Path) -> io::Result<()> {
    TARGETS.iter().try_for_each(|target| {
        let file = files.join(format!("{}.corpus", target.name));
        let breaks_off = || io::Error::other(format!("{} breaks off", file.display()));
        write(&folder.join(target.name), &corpora::unpack(&fs::read(&file)?).ok_or_else(breaks_off)?)
    })
}

fn write(folder: &Path, inputs: &[Vec<u8>]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    (0..).zip(inputs).try_for_each(|(at, input)| fs::write(folder.join(format!("seed-{at:04}")), input))
}

fn pack(folder: &Path, files: &Path) -> io::Result<()> {
    fs::create_dir_all(files)?;
    TARGETS.iter().try_for_each(|target| {
        let read = |entry: io::Result<fs::DirEntry>| fs::read(entry?.path());
        let inputs = fs::read_dir(folder.join(target.name))?.map(read).collect::<io::Result<_>>()?;
        fs::write(files.join(format!("{}.corpus", target.name)), corpora::pack(inputs))
    })
}
