//! A static site of any number of results. `docs/site.md` describes its pages, and
//! `crates/report/page/src/site` has their code.
//!
//! A result is read, written into its own files and dropped before the next one is read. Only its
//! choices for the index and the summary of each engine in each table are kept. [`crate::summary`]
//! and [`crate::overview`] compute every figure.

mod admission;
mod cells;
mod command;
mod figures;
mod folder;
mod ids;
mod index;
mod number;
mod result;
mod snippets;
mod standing;
mod summaries;
#[cfg(test)]
mod typescript;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use embermark_model::Durability;
use embermark_model::result::{EngineFacts, ResultFile};
use serde::Serialize;

use crate::evidence::{self, Record};
use crate::html::WorkloadFacts;
use crate::{ReportError, text};

use folder::Folder;
use index::Index;
use snippets::Snippets;
use summaries::Summaries;

/// The built page, style and script. Empty if they were not built before this crate.
const HTML: &str = include_str!(concat!(env!("OUT_DIR"), "/site.html"));
const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/site.css"));
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/site.js"));

/// Data of the site that result files do not have.
pub struct SiteOptions<'a> {
    /// Phase names in display order. Phases that are not listed follow in the order in which they
    /// ran.
    pub order: &'a [&'a str],
    /// Facts about engines, by id. An engine without facts is shown by its id.
    pub engines: BTreeMap<String, EngineFacts>,
    /// Facts about workloads.
    pub workloads: Vec<WorkloadFacts>,
    /// Engines whose licences forbid publishing figures. Their figures are never written.
    pub forbidden: Vec<&'static str>,
    /// Whether results that fail a rule of `embermark check` are left out.
    pub checked: bool,
    /// Runs of `embermark durability`, the evidence for what tiers promise.
    pub durability: &'a Record,
    /// Returns a program that opens an engine with the settings of one of its clients.
    pub snippet: &'a dyn Fn(&SnippetKey) -> Program,
}

/// A program that opens an engine, sets it and commits as a measured client does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// No client of embermark uses the engine.
    None,
    /// The program can only be printed where the engine runs.
    NotHere,
    /// The text of the program.
    Text(String),
}

/// The subject of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SnippetKey {
    /// The engine's id.
    pub engine: String,
    /// The client, as `--client` takes it.
    pub client: String,
    /// The tier.
    pub tier: Durability,
}

/// Totals of a finished site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Built {
    /// Number of results.
    pub results: usize,
    /// Number of cells of all results.
    pub cells: usize,
    /// Number of machines.
    pub machines: usize,
}

/// A site that is being written.
pub struct Site<'a> {
    options: SiteOptions<'a>,
    folder: Folder,
    index: Index,
    summaries: Summaries,
    snippets: Snippets,
    /// The result file of each run.
    runs: HashMap<String, PathBuf>,
    cells: usize,
}

/// Whether this build has the pages of a site.
pub const fn is_built() -> bool {
    !SCRIPT.is_empty()
}

impl<'a> Site<'a> {
    /// Begins a site that will be at `out`, in a new folder next to it.
    ///
    /// # Errors
    /// If this build has no page, if something other than a site is at `out`, or if the new folder
    /// cannot be made.
    pub fn begin(out: &Path, options: SiteOptions<'a>) -> Result<Self, ReportError> {
        if !is_built() {
            return Err(ReportError::NoPage);
        }
        let folder = Folder::next_to(out)?;
        folder.write("index.html", HTML)?;
        folder.write("site.css", STYLE)?;
        folder.write("site.js", SCRIPT)?;
        Ok(Self {
            index: Index::new(&options.workloads),
            options,
            folder,
            summaries: Summaries::default(),
            snippets: Snippets::default(),
            runs: HashMap::new(),
            cells: 0,
        })
    }

    /// Reads a result, without what the site must not show.
    ///
    /// # Errors
    /// If the result is left out: the reason, with its path.
    pub fn read(&self, path: &Path) -> Result<ResultFile, ReportError> {
        let file = admission::read_admissible(path, &self.options.forbidden, self.options.checked)?;
        match self.runs.get(&file.manifest.run_id) {
            Some(first) => {
                let run = text::clipped(&file.manifest.run_id, 80);
                Err(ReportError::SameRun(first.clone(), path.to_owned(), run))
            }
            None => Ok(file),
        }
    }

    /// Adds a result that was [read](Self::read).
    ///
    /// # Errors
    /// If a file of the site cannot be written.
    pub fn add(&mut self, path: &Path, file: &ResultFile) -> Result<(), ReportError> {
        self.runs.insert(file.manifest.run_id.clone(), path.to_owned());
        self.cells += file.cells.len();
        let (comparison, standings) =
            evidence::compare(file, self.options.order, self.options.durability);
        let place = self.index.add_result(path, file);
        let id = self.index.result_id(place).to_owned();
        for group in &comparison.groups {
            let at = self.index.group(file, group, place);
            let columns: Vec<usize> = (group.engines.iter())
                .map(|engine| self.index.engine(file, engine.id, &self.options.engines))
                .collect();
            self.index.add_history(&columns, at);
            let figures = figures::group_figures(file, &comparison, group, (at, &columns));
            self.summaries.add(place, &figures, file, group);
            let (snippets, program) = (&mut self.snippets, self.options.snippet);
            let snippet = |of| snippets.place(of, program);
            let cells = cells::group_cells(file, group, &standings, &columns, snippet);
            self.write(&format!("figures/{id}/{at}"), &figures)?;
            self.write(&format!("cells/{id}/{at}"), &cells)?;
        }
        self.index.end_result(place);
        self.write(&format!("result/{id}"), &result::result_data(file))
    }

    /// Writes the files about all results, and puts the site in its place.
    ///
    /// # Errors
    /// If a file of the site cannot be written, or if the folder cannot be put in its place.
    pub fn finish(mut self) -> Result<Built, ReportError> {
        for (group, engines) in self.summaries.competitors() {
            self.index.set_competitors(group, &engines);
        }
        for (group, table) in self.summaries.tables(&self.index) {
            self.write(&format!("table/{group}"), &table)?;
        }
        for (engine, group, history) in self.summaries.histories() {
            self.write(&format!("history/{engine}-{group}"), &history)?;
        }
        for (place, snippet) in self.snippets.all() {
            self.write(&format!("snippets/{place}"), snippet)?;
        }
        self.write("index", &self.index)?;
        let (results, machines) = (self.index.results(), self.index.machines());
        let built = Built { results, machines, cells: self.cells };
        self.folder.put_in_place()?;
        Ok(built)
    }

    /// Writes data as a script that passes it to the page. A page opened from disk can load
    /// scripts, but no other files.
    fn write(&self, name: &str, data: &impl Serialize) -> Result<(), ReportError> {
        let json = crate::html::inert(&serde_json::to_string(data)?);
        self.folder.write(&format!("data/{name}.js"), &format!("embermark(\"{name}\",{json})\n"))
    }
}
