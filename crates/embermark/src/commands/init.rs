//! `embermark init`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_data::table::{Inferred, infer};
use embermark_language::propose;
use embermark_workloads::WORKLOADS;

use super::output;
use crate::error::Failure;
use crate::plan::shipped;

/// The arguments of `embermark init`.
#[derive(Args)]
pub struct InitArgs {
    /// Files of rows, a table each: CSV, JSON lines (both plain or gzip) or Parquet
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// The workload file to write; may not be there yet [default: standard output]
    #[arg(short, long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
}

/// Reads all rows of the files and proposes a workload file.
pub fn init(args: InitArgs) -> Result<ExitCode, Failure> {
    if let Some(out) = args.out.as_deref().filter(|out| out.exists()) {
        return Err(taken(out));
    }
    args.out.as_deref().map_or(Ok(()), can_be_named)?;
    let folder = folder(args.out.as_deref())?;
    let mut tables: Vec<Inferred> = Vec::with_capacity(args.data.len());
    for file in &args.data {
        can_be_named(&relative(file, &folder)?)?;
        say!("reading {}", file.display());
        let mut inferred = infer(file).map_err(Failure::usage)?;
        // Named as the workload file will find it.
        inferred.file = relative(file, &folder)?;
        tables.push(inferred);
    }
    let name = args.out.as_deref().or(args.data.first().map(PathBuf::as_path));
    let name = name.and_then(Path::file_stem).map(|stem| stem.to_string_lossy());
    let name = name.unwrap_or_default();
    let is_taken = |name: &str| {
        WORKLOADS.iter().any(|workload| workload.info().id == name) || shipped(name).is_some()
    };
    let name = if is_taken(&name) { format!("my-{name}").into() } else { name };
    let text = propose(&name, &tables);
    let Some(out) = args.out else { return output::print(&text) };
    let written = OpenOptions::new().write(true).create_new(true).open(&out);
    let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => taken(&out),
        _ => Failure::unwritable(&out)(error),
    })?;
    let out = out.display();
    say!("wrote {out}: look at it, correct it, then: embermark run {out}");
    Ok(ExitCode::SUCCESS)
}

fn taken(out: &Path) -> Failure {
    Failure::usage(format!("{} is there already: give another -o, or remove it", out.display()))
}

/// Refuses a name that cannot stand in a workload file.
fn can_be_named(file: &Path) -> Result<(), Failure> {
    match file.to_str() {
        Some(_) => Ok(()),
        None => Err(Failure::usage(format!(
            "{}: its name is not UTF-8, and a workload file names files in UTF-8: rename it",
            file.display()
        ))),
    }
}

/// The folder that the workload file will lie in.
fn folder(out: Option<&Path>) -> Result<PathBuf, Failure> {
    let out = out.unwrap_or_else(|| Path::new("workload.toml"));
    let path = std::path::absolute(out).map_err(Failure::runtime)?;
    Ok(path.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned))
}

/// A file as it is named from a folder: below it relative, elsewhere absolute.
fn relative(file: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let file = std::path::absolute(file).map_err(Failure::runtime)?;
    Ok(file.strip_prefix(folder).map_or_else(|_| file.clone(), Path::to_owned))
}
