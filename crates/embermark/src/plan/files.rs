//! Workloads, by name or in files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use embermark_engines::registry;
use embermark_language::{BUILT_IN, Definition, PUBLISHED, parse};
use embermark_model::choice;
use embermark_model::plan::{Plan, WorkloadFile};
use embermark_model::table::RowsFrom;
use embermark_workloads::defined::Defined;
use embermark_workloads::{WORKLOADS, Workload};

use super::scales::is_toml;
use crate::error::Failure;
use crate::output;

/// Workloads that were requested.
pub struct ChosenWorkloads {
    /// The workloads, each once.
    pub workloads: Vec<&'static dyn Workload>,
    /// Files of the workloads that have one, by id.
    pub files: BTreeMap<String, WorkloadFile>,
}

/// Returns the workloads with these names or in these files. Without names, returns every built-in
/// workload that is not a file. Those that run until they are steady are then left out, because
/// they take minutes.
pub fn chosen(names: &[String], misfits_per_million: u32) -> Result<ChosenWorkloads, Failure> {
    let mut all = ChosenWorkloads { workloads: Vec::new(), files: BTreeMap::new() };
    if names.is_empty() {
        all.workloads.extend(WORKLOADS.iter().filter(|workload| !workload.info().until_steady));
    }
    for name in names {
        let (workload, file) = one(name, misfits_per_million)?;
        let id = workload.id();
        if let Some(before) = all.files.get(id).or(file.as_ref())
            && file.as_ref() != Some(before)
        {
            return Err(usage!(
                "two workloads are called '{id}': give one of the files another name = \"…\""
            ));
        }
        if all.workloads.iter().all(|other| other.id() != id) {
            all.workloads.push(workload);
            all.files.extend(file.map(|file| (id.to_owned(), file)));
        }
    }
    Ok(all)
}

/// Whether any of these workloads, which may have scales after their names, runs until it is
/// steady.
pub fn until_steady(names: &[String]) -> Result<bool, Failure> {
    let (names, _) = super::with_scales(names)?;
    let chosen = chosen(&names, 0)?;
    Ok(chosen.workloads.iter().any(|workload| workload.info().until_steady))
}

/// Returns a workload by its name, or from a file.
fn one(
    name: &str,
    misfits_per_million: u32,
) -> Result<(&'static dyn Workload, Option<WorkloadFile>), Failure> {
    if let Some(workload) = WORKLOADS.iter().find(|workload| workload.id() == name) {
        return Ok((*workload, None));
    }
    let (text, folder) = if let Some(text) = built_in_file(name) {
        (text.to_owned(), PathBuf::from("."))
    } else if is_toml(name) {
        read(Path::new(name))?
    } else if Path::new(name).is_file() {
        return Err(usage!(
            "'{name}' is not a workload: write one for its rows with: embermark init {} -o mine.toml; then name mine.toml",
            output::word(Path::new(name))
        ));
    } else {
        return Err(usage!(
            "{}; a workload of your own is a file: FILE.toml",
            choice::unknown("workload", name, built_in_names())
        ));
    };
    let definition = read_definition(name, &text)?;
    let criteria = BTreeMap::new();
    let file = WorkloadFile { text, folder, misfits_per_million, criteria };
    Ok((defined(definition, &file), Some(file)))
}

/// Parses the text of a file.
fn read_definition(name: &str, text: &str) -> Result<Definition, Failure> {
    let engines: Vec<&str> = registry::all().iter().map(|engine| engine.info().id).collect();
    let definition = parse(name, text, &engines).map_err(|mistakes| {
        let text = if output::colour(&std::io::stderr()) {
            mistakes.colored()
        } else {
            mistakes.to_string()
        };
        usage!("{name} is not a valid workload file").with_screen(text)
    })?;
    if WORKLOADS.iter().any(|workload| workload.id() == definition.name) {
        return Err(usage!(
            "{name}: '{}' is the name of a built-in workload: give another",
            definition.name
        ));
    }
    Ok(definition)
}

/// Returns the workload that a file describes.
fn defined(definition: Definition, file: &WorkloadFile) -> &'static dyn Workload {
    let lenient = f64::from(file.misfits_per_million) / 1e6;
    Defined::leak(definition, file.folder.clone(), lenient)
}

/// Returns the workloads of a plan that are in files.
pub fn workloads_of_plan(plan: &Plan) -> Vec<&'static dyn Workload> {
    // The file was valid when it was measured. If a later version cannot read it, its facts are not
    // shown.
    let read = |(id, file): (&String, &WorkloadFile)| {
        Some(defined(read_definition(id, &file.text).ok()?, file))
    };
    plan.workload_files.iter().filter_map(read).collect()
}

/// Checks that the rows of a plan's workload files are there, where their names are no patterns.
pub fn check_rows(plan: &Plan) -> Result<(), Failure> {
    for (id, file) in &plan.workload_files {
        for table in read_definition(id, &file.text)?.tables {
            let RowsFrom::File(rows) = table.rows else { continue };
            for name in rows.files.iter().filter(|name| !name.contains(['*', '?', '['])) {
                let path = file.folder.join(name);
                let found = fs::metadata(&path).and_then(|found| match found.is_file() {
                    true => File::open(&path).map(drop),
                    false => Ok(()),
                });
                found.map_err(|error| {
                    usage!(
                        "{id}: {}: {error}: check its path, which counts from the workload \
                         file's folder",
                        path.display()
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// Returns the text of a built-in workload file.
pub fn built_in_file(name: &str) -> Option<&'static str> {
    PUBLISHED.iter().chain(BUILT_IN).find(|(id, _)| *id == name).map(|(_, text)| *text)
}

/// Returns the names of the built-in workloads and workload files.
fn built_in_names() -> impl Iterator<Item = &'static str> {
    let workloads = WORKLOADS.iter().map(|workload| workload.id());
    workloads.chain(BUILT_IN.iter().map(|(id, _)| *id))
}

/// Checks that a word that is no engine is a workload, which may have a scale.
///
/// # Errors
/// If it is neither. The error names the nearest of both, or all.
pub fn check_workload(word: &str) -> Result<(), Failure> {
    let (names, _) = super::with_scales(&[word.to_owned()])?;
    let name = names.first().map_or(word, String::as_str);
    if WORKLOADS.iter().any(|workload| workload.info().id == name)
        || is_file(name)
        || built_in_file(name).is_some()
        || Path::new(name).is_file()
    {
        return Ok(());
    }
    let engine = registry::select(name).err().and_then(|unknown| unknown.nearest);
    let workload = choice::nearest(name, built_in_names()).map(str::to_owned);
    let near: Vec<String> = engine.into_iter().chain(workload).collect();
    let hint = if near.is_empty() {
        let engines: Vec<&str> = registry::all().iter().map(|engine| engine.info().id).collect();
        let workloads: Vec<&str> = built_in_names().collect();
        format!(
            "; engines: {}; workloads: {}; a workload of your own is a file: FILE.toml",
            engines.join(", "),
            workloads.join(", ")
        )
    } else {
        format!(", did you mean '{}'?", near.join("' or '"))
    };
    Err(usage!("'{word}' is neither an engine nor a workload{hint}"))
}

/// Whether a workload is a file: a user's, or one that is part of the program.
pub fn is_file(name: &str) -> bool {
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    is_toml(name) || BUILT_IN.iter().any(|(id, _)| *id == name)
}

/// Reads a workload file: its text, and its folder.
fn read(path: &Path) -> Result<(String, PathBuf), Failure> {
    let unreadable = |error| usage!("cannot read the workload {}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let path = std::path::absolute(path).map_err(unreadable)?;
    Ok((text, path.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned)))
}

/// Returns the number of rows per million that may be skipped, from a share such as `5%` or `0.05`.
pub fn misfits_per_million(share: Option<&str>) -> Result<u32, Failure> {
    let Some(text) = share else { return Ok(10_000) };
    let (digits, of) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
    match digits.trim().parse::<f64>() {
        Ok(share) if (0.0..=of).contains(&share) => Ok((share / of * 1e6).round() as u32),
        _ => Err(usage!("--lenient '{text}' is not a share: write for example 5% or 0.05")),
    }
}
