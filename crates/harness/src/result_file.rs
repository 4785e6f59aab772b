//! Assembles result files from journals, and writes them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use embermark_engines::{EFFECTIVE_DURABILITY, OWN_DURABILITY};
use embermark_model::Status;
use embermark_model::result::{Cell, Manifest, ResultFile, SCHEMA, Trial};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::cells::PlannedCell;
use crate::journal::{EndedTrial, Head, Journal, NotBegun, Prepared};
use crate::{HarnessError, Result, background_cpu, cross_check};

/// Makes the result of a journal, complete or interrupted: every cell with the trials that ended.
pub fn assemble(journal: &Journal) -> ResultFile {
    let mut journal = journal.clone();
    let Journal { trials, counted, explained, .. } = &mut journal;
    cross_check::check_answers(trials, &mut [counted, explained]);
    let Journal { head, prepared, warnings, trials, drift, counted, explained, .. } = journal;
    let Head { manifest, plan, cells, .. } = head;
    let (datasets, floor) = match prepared {
        Some(Prepared { datasets, floor }) => (datasets, floor),
        None => (manifest.datasets, manifest.floor),
    };
    let named = trials
        .iter()
        .map(|ended| (format!("{} of {}", ended.trial.index + 1, ended.cell), &ended.trial));
    let warnings = manifest.warnings.into_iter().chain(warnings);
    let warnings = warnings.chain(background_cpu::during(named)).collect();
    let missed = match (&journal.finished, plan.lasts_ms) {
        (Some(_), Some(_)) => "the time (--for) was over before its turn",
        _ => "the run was interrupted before its turn",
    };
    let cells = cells.iter().map(|planned| {
        let own = trials.iter().filter(|ended| ended.cell == planned.id);
        let own = own.map(|ended| ended.trial.clone()).collect();
        let of_cell = |ended: &[EndedTrial]| {
            let ended = ended.iter().find(|ended| ended.cell == planned.id);
            ended.map(|ended| Box::new(ended.trial.clone()))
        };
        let (counting, explaining) = (of_cell(&counted), of_cell(&explained));
        let mut cell =
            Cell { counting, explaining, ..cell(planned, own, journal.not_begun.as_ref(), missed) };
        keep_plans_once(&mut cell);
        cell
    });
    let cells = cells.collect();
    ResultFile {
        schema: SCHEMA,
        manifest: Manifest {
            finished: journal.finished,
            datasets,
            floor,
            warnings,
            drift,
            not_counted: journal.not_counted,
            energy: journal.energy,
            wear: journal.wear,
            not_modelled: journal.not_modelled,
            ..manifest
        },
        plan,
        cells,
    }
}

/// Removes a phase's plan from the trials in which it equals that of the first one.
fn keep_plans_once(cell: &mut Cell) {
    let mut first: HashMap<String, String> = HashMap::new();
    let Cell { trials, counting, explaining, .. } = cell;
    let others = [counting, explaining].into_iter().flatten().map(|trial| &mut **trial);
    for phase in trials.iter_mut().chain(others).flat_map(|trial| &mut trial.phases) {
        let Some(plan) = &phase.plan else { continue };
        match first.get(&phase.phase) {
            Some(known) if known == plan => phase.plan = None,
            Some(_) => {}
            None => drop(first.insert(phase.phase.clone(), plan.clone())),
        }
    }
}

/// Makes a cell of the result. `missed` is the reason for a cell that should have a trial and has
/// none.
fn cell(
    planned: &PlannedCell,
    trials: Vec<Trial>,
    not_begun: Option<&NotBegun>,
    missed: &str,
) -> Cell {
    let worst = trials.iter().map(|trial| trial.status).max();
    let (status, reason) = match (&planned.skip, worst) {
        (Some(skip), _) => (skip.status, Some(skip.reason.clone())),
        (None, Some(worst)) => {
            let first = trials.iter().find(|trial| trial.status == worst);
            (worst, first.and_then(|trial| trial.reason.clone()))
        }
        (None, None) => match not_begun.filter(|not| planned.id.scale >= not.scale) {
            Some(not) => (Status::Skipped, Some(not.reason.clone())),
            None => (Status::NotRun, Some(missed.to_owned())),
        },
    };
    let PlannedCell { id, reference, unpublishable, .. } = planned.clone();
    // A server given by URL has its own durability.
    let of_server = |trial: &Trial| trial.settings.get(EFFECTIVE_DURABILITY)?.parse().ok();
    let effective_durability = match trials.iter().find_map(of_server) {
        Some(kept) => Some(kept).filter(|kept| *kept != id.durability),
        None => planned.effective_durability,
    };
    let own = |trial: &Trial| trial.settings.get(OWN_DURABILITY).cloned();
    let mut cell = Cell {
        id,
        status,
        reason,
        effective_durability,
        own_durability: trials.iter().find_map(own),
        reference,
        unpublishable,
        trials,
        lost_trials: Vec::new(),
        counting: None,
        explaining: None,
    };
    cell.move_lost_trials();
    cell
}

/// Returns the bytes of the result file at `path`: JSON on one line, compressed if the name ends in
/// `.gz`. The same result gives the same bytes.
///
/// # Errors
/// If a value has no JSON form.
pub fn result_bytes(path: &Path, result: &ResultFile) -> io::Result<Vec<u8>> {
    let mut json = serde_json::to_vec(result)?;
    json.push(b'\n');
    if path.extension().is_none_or(|end| end != "gz") {
        return Ok(json);
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&json)?;
    gzip.finish()
}

/// Writes a result file with the content of [`result_bytes`], completely or not at all. A link, a
/// device or a pipe stays what it is.
///
/// # Errors
/// If it cannot be written.
pub fn write_result(path: &Path, result: &ResultFile) -> Result<()> {
    // A link to a pipe, such as /dev/stdout, leads to no path.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let write = || {
        let bytes = result_bytes(path, result)?;
        match target.metadata() {
            Ok(known) if !known.is_file() => fs::write(&target, bytes),
            _ => replace(&target, &bytes),
        }
    };
    write().map_err(|error| HarnessError::file(path, "write the result", error))
}

/// Writes a file completely or not at all.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = path.with_added_extension("part");
    let write = || {
        let mut file = File::create(&draft)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    // Whether the draft can be removed does not change the error.
    write().inspect_err(|_| drop(fs::remove_file(&draft)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::symlink;

    use embermark_report::load;

    use super::*;

    #[test]
    fn a_result_is_one_line_and_compressed_by_its_name_and_reads_back_as_it_was() {
        let result = load(Path::new("../report/tests/fixtures/schema-1.json")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [plain, gzip] = ["a.json", "a.json.gz"].map(|name| folder.path().join(name));
        for path in [&plain, &gzip] {
            write_result(path, &result).unwrap();
            let back = serde_json::to_value(load(path).unwrap()).unwrap();
            assert!(back == serde_json::to_value(&result).unwrap(), "{}", path.display());
        }
        let [plain, gzip] = [plain, gzip].map(|path| fs::read(path).unwrap());
        assert_eq!(plain.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(gzip.starts_with(&[0x1f, 0x8b]) && gzip.len() < plain.len() / 3, "{}", gzip.len());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no draft is left");
    }

    #[test]
    fn a_link_to_a_device_or_a_file_stays_a_link() {
        let result = load(Path::new("../report/tests/fixtures/schema-1.json")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file.json");
        fs::write(&file, "older").unwrap();
        for target in [Path::new("/dev/null"), file.as_path()] {
            let link = folder.path().join("link.json");
            symlink(target, &link).unwrap();
            write_result(&link, &result).unwrap();
            assert_eq!(fs::read_link(&link).unwrap(), target);
            fs::remove_file(&link).unwrap();
        }
        assert!(load(&file).is_ok() && !Path::new("/dev/null").is_file());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }
}
