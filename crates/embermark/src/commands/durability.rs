//! `embermark durability`.

mod args;
mod experiments;
mod head;
mod kill_storage;
mod progress;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

use embermark_durability::journal::Journal;
use embermark_harness::{JOURNAL, RESULT, interrupt, remove_folder};
use embermark_report::evidence::full_disk_markdown;
use embermark_report::html;

use super::options::default_out;
use super::page;
use crate::error::{Failure, INTERRUPTED};
use crate::output;
pub use args::DurabilityArgs;
use experiments::run_experiments;
pub(super) use experiments::{no_devices, worker_args};
use head::head;

/// Folder of databases and devices, below the run's folder. It is removed at the end.
const WORK: &str = "work";
/// File of the tables next to the result.
const TABLES: &str = "table.txt";
/// Markdown file of what engines did when their disk was full.
const FULL_DISK: &str = "full-disk.md";

/// Runs kills and power cuts, and shows what was left.
pub fn durability(args: DurabilityArgs) -> Result<ExitCode, Failure> {
    // Before the settings of configurations are tried, in folders that an interrupt must not leave.
    let interrupt = interrupt::on_signals()?;
    let mut is_new = false;
    let (out, mut journal) = match &args.resume {
        Some(out) => {
            let path = out.join(JOURNAL);
            let failed = |error| usage!("cannot resume {}: {error}", path.display());
            (out.clone(), Journal::open(&path).map_err(failed)?)
        }
        None => {
            let head = head(&args)?;
            let out = args.out.unwrap_or_else(default_out);
            is_new = !out.exists();
            output::create_folder(&out)?;
            let path = out.join(JOURNAL);
            let failed = |error: io::Error| {
                let path = path.display();
                Failure::usage(match error.kind() {
                    io::ErrorKind::AlreadyExists => {
                        format!("{path} is of another run: name another folder with --out")
                    }
                    _ => format!("cannot begin {path}: {error}; name another folder with --out"),
                })
            };
            (out, Journal::begin(&path, head).map_err(failed)?)
        }
    };
    let out = out.canonicalize().map_err(Failure::unwritable(&out))?;
    let work = out.join(WORK);
    remove(&work)?;
    let ended = run_experiments(&mut journal, &out, &work, &interrupt);
    remove(&work)?;
    if let (Err(failure), None) = (&ended, &args.resume)
        && journal.outcome.tested.is_empty()
        && journal.outcome.not_tried.is_empty()
    {
        // The corrected command may use its folder.
        let journal = out.join(JOURNAL);
        let removed = fs::remove_file(&journal).map_err(Failure::unwritable(&journal));
        let removed = removed.and_then(|()| if is_new { remove(&out) } else { Ok(()) });
        removed.map_err(|error| Failure::runtime(format!("{failure}; {error}")))?;
    }
    ended?;

    let outcome = &journal.outcome;
    let mut json = serde_json::to_vec(outcome).map_err(Failure::runtime)?;
    json.push(b'\n');
    let tables = (TABLES, table::text(outcome, output::FILE_WIDTH).into_bytes());
    let markdown = full_disk_markdown(outcome).map(|text| (FULL_DISK, text.into_bytes()));
    for (name, content) in [(RESULT, json), tables].into_iter().chain(markdown) {
        output::write(&out.join(name), content)?;
    }
    let page = html::durability_data(outcome, &page::unpublishable()).html();
    let page = page::write_next_to_result(page, &out);
    let text = table::text(outcome, output::width());
    output::print(&format!("{text}\n  result  {}\n{page}", out.join(RESULT).display()))?;
    if interrupt.is_set() {
        let out = output::word(&out);
        say!("embermark: interrupted; continue with: embermark durability --resume {out}");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::from(u8::from(outcome.is_failure())))
}

fn remove(folder: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::runtime(format!("cannot remove {}: {error}", folder.display()));
    remove_folder(folder).map_err(failed)
}
