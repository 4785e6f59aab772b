//! A static site of any number of results. `docs/site.md` describes its pages, and
//! `crates/report/page/src/site` has their code.
//!
//! A result is read, written into its own files and dropped before the next one is read. Only its
//! choices for the index and the summary of each engine in each table are kept. [`crate::summary`]
//! and [`crate::screen()`] compute every figure.

mod cells;
mod command;
mod figures;
mod folder;
mod ids;
mod index;
mod number;
mod standing;
mod summaries;

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::path::{Path, PathBuf};

use embermark_model::Durability;
use embermark_model::result::{EngineFacts, ResultFile};
use serde::Serialize;

use crate::evidence::{self, Record};
use crate::html::{self, WorkloadFacts};
use crate::note::Note;
use crate::{ReportError, check, load, notes, text};

use folder::Folder;
use index::Index;
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
    pub snippet: SnippetSource<'a>,
}

/// Returns a program that opens an engine.
pub type SnippetSource<'a> = &'a dyn Fn(&SnippetKey) -> Program;

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

    /// Reads a result without figures that may not be published. These are in cells that are marked
    /// so, and in all cells of forbidden engines.
    ///
    /// # Errors
    /// If the result is left out: the reason, with its path. It is not a readable result of
    /// embermark, only checked ones are shown and it fails rules of `embermark check`, or its run is
    /// already on the site.
    pub fn read(&self, path: &Path) -> Result<ResultFile, ReportError> {
        // Reading a pipe or a device could wait forever.
        if path.metadata().is_ok_and(|about| !about.is_file()) {
            return Err(ReportError::NotAResult(path.to_owned(), "it is not a regular file"));
        }
        let mut file = load(path)?;
        let (plan, forbidden) = (&file.plan, &self.options.forbidden);
        for cell in &mut file.cells {
            let engine = &*cell.id.engine;
            cell.unpublishable |=
                forbidden.contains(&plan.engine_of(engine)) || forbidden.contains(&engine);
        }
        let file = file.publishable();
        let answers = if self.options.checked { check::check(&file) } else { Vec::new() };
        let rules: Vec<&str> = check::failed(&answers).map(|answer| answer.rule).collect();
        if !rules.is_empty() {
            return Err(ReportError::FailsCheck(path.to_owned(), rules.join(", ")));
        }
        if let Some(first) = self.runs.get(&file.manifest.run_id) {
            let run = text::clipped(&file.manifest.run_id, 80);
            return Err(ReportError::SameRun(first.clone(), path.to_owned(), run));
        }
        Ok(file)
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
        let id = self.index.results[place].id.clone();
        for group in &comparison.groups {
            let at = self.index.group(group, place);
            let columns: Vec<usize> = (group.engines.iter())
                .map(|engine| self.index.engine(file, engine.id, &self.options.engines))
                .collect();
            for column in &columns {
                self.index.histories[*column].insert(at);
            }
            let figures = figures::group_figures(&comparison.kinds, group, (at, &columns));
            self.summaries.add(place, &figures, group);
            let (snippets, program) = (&mut self.snippets, self.options.snippet);
            let snippet = |of| snippets.place(of, program);
            let cells = cells::group_cells(group, &standings, &columns, snippet);
            self.write(&format!("figures/{id}/{at}"), &figures)?;
            self.write(&format!("cells/{id}/{at}"), &cells)?;
        }
        self.index.end_result(place);
        self.write(&format!("result/{id}"), &result_data(file))
    }

    /// Writes the files about all results, and puts the site in its place.
    ///
    /// # Errors
    /// If a file of the site cannot be written, or if the folder cannot be put in its place.
    pub fn finish(mut self) -> Result<Built, ReportError> {
        for (group, engines) in self.summaries.competitors() {
            let plain = engines.iter().filter(|engine| self.index.engines[**engine].plain);
            self.index.groups[group].engines = plain.count();
        }
        for (group, table) in self.summaries.tables(&self.index) {
            self.write(&format!("table/{group}"), &table)?;
        }
        for (engine, group, history) in self.summaries.histories() {
            self.write(&format!("history/{engine}-{group}"), &history)?;
        }
        for (place, snippet) in self.snippets.all.iter().enumerate() {
            self.write(&format!("snippets/{place}"), snippet)?;
        }
        self.write("index", &self.index)?;
        let (results, machines) = (self.index.results.len(), self.index.machines.len());
        self.folder.put_in_place()?;
        Ok(Built { results, machines, cells: self.cells })
    }

    /// Writes data as a script that passes it to the page. A page opened from disk can load
    /// scripts, but no other files.
    fn write(&self, name: &str, data: &impl Serialize) -> Result<(), ReportError> {
        let json = html::inert(&serde_json::to_string(data)?);
        self.folder.write(&format!("data/{name}.js"), &format!("embermark(\"{name}\",{json})\n"))
    }
}

/// Returns the index of a key, whose value is in `all`. A new key gets the value that `make` returns.
fn indexed<K: Eq + Hash, V>(
    known: &mut HashMap<K, usize>,
    all: &mut Vec<V>,
    key: K,
    make: impl FnOnce(&K) -> V,
) -> usize {
    *known.entry(key).or_insert_with_key(|key| {
        all.push(make(key));
        all.len() - 1
    })
}

/// The programs of all cells, in the order of their first use.
#[derive(Default)]
struct Snippets {
    all: Vec<Snippet>,
    /// Index of each requested program. `None` if there is no program.
    places: HashMap<SnippetKey, Option<usize>>,
}

/// A program.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Snippet {
    /// The client, as `--client` takes it.
    client: String,
    /// The command that prints it.
    command: String,
    /// Its text. Absent if the engine is not on this machine, or is a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Snippets {
    /// Returns the index of a program. `None` if no client uses the engine.
    fn place(&mut self, of: SnippetKey, program: SnippetSource<'_>) -> Option<usize> {
        let all = &mut self.all;
        *self.places.entry(of).or_insert_with_key(|of| {
            let text = match program(of) {
                Program::None => return None,
                Program::NotHere => None,
                Program::Text(text) => Some(text),
            };
            let SnippetKey { engine, client, tier } = of;
            let command = format!("embermark snippet {engine} --client {client} -t {tier}");
            all.push(Snippet { client: client.clone(), command, text });
            Some(all.len() - 1)
        })
    }
}

/// Longest text of a warning or a note, in characters.
const LONGEST: usize = 1_000;

/// Data of a result other than its figures.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ResultData {
    /// Description of the machine in one line.
    machine: String,
    /// Conditions that may have disturbed the figures.
    warnings: Vec<String>,
    /// The plan and the machine.
    about: Vec<Note>,
}

fn result_data(file: &ResultFile) -> ResultData {
    let clipped = |note: Note| Note { says: text::clipped(&note.says, LONGEST), ..note };
    ResultData {
        machine: text::clipped(&notes::machine(&file.manifest.machine), LONGEST),
        warnings: notes::warnings(file).into_iter().map(|note| clipped(note).says).collect(),
        about: html::plan_and_machine(file).into_iter().map(clipped).collect(),
    }
}

#[cfg(test)]
mod tests {
    use ts_rs::TypeVisitor;

    use super::cells::Cells;
    use super::figures::Figures;
    use super::index::VERSION;
    use super::summaries::{History, Table};
    use super::*;
    use crate::tests::typescript::Declarations;

    #[test]
    fn the_typescript_of_the_site_is_that_of_its_data_files() {
        let mut declarations = Declarations::importing(&Declarations::of_page());
        declarations.visit::<Index>();
        declarations.visit::<Figures>();
        declarations.visit::<Cells>();
        declarations.visit::<ResultData>();
        declarations.visit::<Snippet>();
        declarations.visit::<Table>();
        declarations.visit::<History<'static>>();
        let about = "Data files of the site. They name groups, engines, machines and results by their indexes in \
                     the index file.";
        declarations.assert_written("page/src/site/data.ts", about, VERSION, "../data");
    }
}
