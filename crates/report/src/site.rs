//! A static site of any number of results: `docs/site.md` says what a reader gets, and
//! `crates/report/page/src/site` shows it.
//!
//! A result is read, written into files of its own and dropped before the next one is read. What is
//! kept of it are the choices of the index and the summary of each engine in each table.
//! Every figure is computed here, by [`crate::summary`] and [`crate::overview`].

mod admission;
mod cells;
mod command;
mod figures;
mod folder;
mod gathered;
mod ids;
mod index;
mod number;
mod result;
mod snippets;
mod standing;
#[cfg(test)]
mod typescript;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use embermark_model::Durability;
use embermark_model::result::{EngineFacts, ResultFile};
use serde::Serialize;

use crate::html::WorkloadFacts;
use crate::shown::{self, Record};
use crate::{ReportError, summary, text};

use folder::Folder;
use gathered::Gathered;
use index::Index;
use snippets::Snippets;

/// The built page, style and script, each nothing where it was not built before this crate.
const HTML: &str = include_str!(concat!(env!("OUT_DIR"), "/site.html"));
const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/site.css"));
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/site.js"));

/// What the site shows beside what the result files hold.
pub struct SiteOptions<'a> {
    /// Phase names in display order; phases not among them follow as they ran.
    pub order: &'a [&'a str],
    /// What is known of engines, by id. One that is not among them is shown by its id.
    pub engines: BTreeMap<String, EngineFacts>,
    /// What is known of workloads.
    pub workloads: Vec<WorkloadFacts>,
    /// Engines whose licences forbid publishing figures. No figure of theirs is ever written.
    pub forbidden: Vec<&'static str>,
    /// Whether results are left out that fail a rule of `embermark check`.
    pub checked: bool,
    /// Runs of `embermark durability` that tell what tiers rest on.
    pub durability: &'a Record,
    /// A program that opens and sets an engine as one of its clients does.
    pub snippet: &'a dyn Fn(&SnippetOf) -> Program,
}

/// A program that opens, sets and commits as a client does that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// No client of embermark's uses the engine.
    None,
    /// It can only be printed where the engine runs.
    NotHere,
    /// This one.
    Text(String),
}

/// What a program is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SnippetOf {
    /// The engine's id.
    pub engine: String,
    /// The client, as `--client` takes it.
    pub client: String,
    /// The tier.
    pub tier: Durability,
}

/// What a finished site holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Built {
    /// Results.
    pub results: usize,
    /// Cells of all results.
    pub cells: usize,
    /// Machines.
    pub machines: usize,
}

/// A site that is being written.
pub struct Site<'a> {
    options: SiteOptions<'a>,
    folder: Folder,
    index: Index,
    gathered: Gathered,
    snippets: Snippets,
    /// The file of each run.
    runs: HashMap<String, PathBuf>,
    cells: usize,
}

/// Whether this build has the pages of a site.
pub const fn is_built() -> bool {
    !SCRIPT.is_empty()
}

impl<'a> Site<'a> {
    /// Begins a site that will be at `out`, in a new folder beside it.
    ///
    /// # Errors
    /// When this build has no page, when something else than a site is at `out`, or the new folder
    /// cannot be made.
    pub fn begin(out: &Path, options: SiteOptions<'a>) -> Result<Self, ReportError> {
        if !is_built() {
            return Err(ReportError::NoPage);
        }
        let folder = Folder::beside(out)?;
        folder.write("index.html", HTML)?;
        folder.write("site.css", STYLE)?;
        folder.write("site.js", SCRIPT)?;
        Ok(Self {
            index: Index::new(&options.workloads),
            options,
            folder,
            gathered: Gathered::default(),
            snippets: Snippets::default(),
            runs: HashMap::new(),
            cells: 0,
        })
    }

    /// Reads a result as the site may show it.
    ///
    /// # Errors
    /// When it is to be left out: why, with its path.
    pub fn read(&self, path: &Path) -> Result<ResultFile, ReportError> {
        let file = admission::admitted(path, &self.options.forbidden, self.options.checked)?;
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
    /// When a file of the site cannot be written.
    pub fn add(&mut self, path: &Path, file: &ResultFile) -> Result<(), ReportError> {
        self.runs.insert(file.manifest.run_id.clone(), path.to_owned());
        self.cells += file.cells.len();
        let mut comparison = summary::compare(file, self.options.order);
        let told = shown::of(file, self.options.durability);
        shown::mark(&mut comparison, &told);
        let place = self.index.add_result(path, file);
        let id = self.index.id_of(place).to_owned();
        for group in &comparison.groups {
            let at = self.index.group(file, group, place);
            let columns: Vec<usize> = (group.engines.iter())
                .map(|engine| self.index.engine(file, engine.id, &self.options.engines))
                .collect();
            self.index.has_history(&columns, at);
            let figures = figures::of(file, &comparison, group, (at, &columns));
            self.gathered.add(place, &figures, file, group);
            let (snippets, program) = (&mut self.snippets, self.options.snippet);
            let snippet = |of| snippets.place(of, program);
            let cells = cells::of(file, group, &told, &columns, snippet);
            self.write(&format!("figures/{id}/{at}"), &figures)?;
            self.write(&format!("cells/{id}/{at}"), &cells)?;
        }
        self.index.end_result(place);
        self.write(&format!("result/{id}"), &result::of(file))
    }

    /// Writes what is about all results, and puts the site in its place.
    ///
    /// # Errors
    /// When a file of the site cannot be written, or the folder not be put in its place.
    pub fn finish(mut self) -> Result<Built, ReportError> {
        for (group, engines) in self.gathered.ran() {
            self.index.ran(group, &engines);
        }
        for (group, table) in self.gathered.tables(&self.index) {
            self.write(&format!("table/{group}"), &table)?;
        }
        for (engine, group, history) in self.gathered.histories() {
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

    /// Writes data as a script that hands it to the page: a page from disk may load scripts, and no other files.
    fn write(&self, name: &str, data: &impl Serialize) -> Result<(), ReportError> {
        let json = crate::html::inert(&serde_json::to_string(data)?);
        self.folder.write(&format!("data/{name}.js"), &format!("embermark(\"{name}\",{json})\n"))
    }
}
