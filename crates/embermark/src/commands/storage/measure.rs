//! `embermark storage measure`: measures a device, and writes a file by which it can be imitated.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bytesize::ByteSize;
use clap::Args;
use embermark_harness::doctor::{Findings, inspect};
use embermark_model::storage::{SECTOR, Storage, StorageName};
use embermark_storage::measure::{Effort, LEAST_WRITTEN, measure};
use embermark_storage::{Origin, fit_storage, parse, to_toml};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::page;
use crate::error::Failure;
use crate::output;
use crate::plan::milliseconds;

/// The arguments of `embermark storage measure`.
#[derive(Args)]
pub struct MeasureArgs {
    /// A folder on the device to measure. No root is needed
    folder: PathBuf,

    /// Write the storage to this file, whose name it gets
    #[arg(short, long, value_name = "FILE.toml")]
    out: PathBuf,

    /// Time for all of it
    #[arg(long = "for", value_name = "TIME", default_value = "2m")]
    lasts: String,

    /// The most to write to the device, at least 64MiB
    #[arg(long, value_name = "SIZE", default_value = "1GB")]
    write_limit: String,

    /// Also write a page with plots of what was measured
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
}

/// Measures a device, and writes the file of a storage.
pub fn run(args: &MeasureArgs) -> Result<ExitCode, Failure> {
    let refused = |error: String| usage!("{}: {error}", args.out.display());
    if !args.out.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml")) {
        return Err(refused("give a name that ends in .toml".to_owned()));
    }
    let name = args.out.file_stem().unwrap_or_default().to_string_lossy();
    let name = StorageName::new(&name).map_err(|error| refused(error.to_string()))?;
    let lasts = Duration::from_millis(milliseconds("--for", &args.lasts)?);
    let written = match args.write_limit.parse::<ByteSize>() {
        Ok(ByteSize(bytes)) if bytes >= LEAST_WRITTEN => bytes,
        _ => {
            let given = &args.write_limit;
            return Err(usage!(
                "--write-limit '{given}': write a size from 64MiB on, for example 500MB"
            ));
        }
    };
    for path in [Some(&args.out), args.page.as_ref()].into_iter().flatten() {
        output::check_writable(path)?;
    }
    let folder = args.folder.canonicalize().map_err(|error| {
        let folder = args.folder.display();
        usage!("{folder}: {error}; name a folder on the device to measure")
    })?;
    let found = inspect(&folder);
    let origin = origin(&found);
    say!(
        "measuring {} for {}, writing at most {} MB to it: leave the machine alone",
        if origin.device.is_empty() { "the device" } else { &origin.device },
        args.lasts,
        written / 1_000_000
    );
    let effort = Effort { lasts, written };
    let measured = measure(&folder, effort, &mut |step| say!("  {step}"));
    let measured = measured.map_err(|error| match error.is_usage() {
        true => Failure::usage(error),
        false => Failure::runtime(error),
    })?;
    let about = match &*origin.device {
        "" => "measured by 'embermark storage measure'".to_owned(),
        device => format!("{device}, measured"),
    };
    // Sectors larger than a file system's block do not matter.
    let sector_bytes = found.sector_bytes.unwrap_or(SECTOR).clamp(SECTOR, 4_096);
    let storage = Storage { sector_bytes, ..fit_storage(name, &about, &measured) };
    let text = to_toml(&storage, &measured, &origin);
    parse(name.as_str(), &text).map_err(|error| {
        Failure::runtime(format!("the device cannot be described as a storage: {error}"))
    })?;
    output::write(&args.out, &text)?;
    if let Some(path) = &args.page {
        output::write(path, page::page(&storage, &measured, &origin))?;
    }
    say!("{} MB were written to the device", measured.written_bytes / 1_000_000);
    let pages = args.page.iter().map(|path| format!("page     {}\n", path.display()));
    let pages: String = pages.collect();
    let out = args.out.display();
    let summary = super::summary(&storage);
    output::print(&format!("{summary}\nstorage  {out}\n{pages}"))
}

/// Returns the facts about the device, as `embermark doctor` shows them.
fn origin(found: &Findings) -> Origin {
    let fact = |name: &str| {
        let fact = found.facts.iter().find(|fact| fact.name == name);
        fact.map(|fact| fact.value.clone()).unwrap_or_default()
    };
    let before = |text: String, end: &str| {
        text.split_once(end).map_or(text.clone(), |(before, _)| before.to_owned())
    };
    Origin {
        // Device names and mount points mean nothing on another machine.
        device: before(fact("storage"), ", /dev/"),
        file_system: before(fact("files"), " at /"),
        kernel: fact("kernel"),
        date: Timestamp::now().to_zoned(TimeZone::UTC).date().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
