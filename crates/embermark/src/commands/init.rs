//! `embermark init`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use embermark_data::DataError;
use embermark_data::table::{
    Inferred, group_by_fields, infer, infer_sqlite, is_sqlite, sqlite_tables, sqlite_views, stage,
};
use embermark_engines::registry;
use embermark_language::{Definition, ProposalOptions, parse, propose, statements};
use embermark_model::table::RowsFile;
use embermark_report::format::counted;
use embermark_workloads::WORKLOADS;

use crate::error::Failure;
use crate::output;
use crate::plan::{built_in_file, misfits_per_million};

/// The arguments of `embermark init`.
#[derive(Args)]
pub struct InitArgs {
    /// Files, globs and folders with rows in CSV, JSON or Parquet, or an SQLite database
    ///
    /// Files with the same columns become one table.
    #[arg(required_unless_present = "query", value_name = "DATA")]
    data: Vec<PathBuf>,

    /// Propose a table of the rows of this SELECT, which DuckDB runs over its readers
    #[arg(long, value_name = "SELECT")]
    query: Option<String>,

    /// Propose phases for the statements in this file, separated by semicolons; for an SQLite database
    #[arg(long, value_name = "FILE.sql")]
    log: Option<PathBuf>,

    /// Time zone of times without one, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,

    /// Largest share of a table's rows that a run may skip, such as 5%; give it to the run too
    /// [default: 1%]
    #[arg(long, value_name = "SHARE")]
    lenient: Option<String>,

    /// Also propose a phase in which all work runs at the same time, at the rates of the rows' times
    #[arg(long)]
    live: bool,

    /// Write to this new workload file [default: standard output]
    #[arg(short, long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
}

/// Reads all rows, proposes a workload file, and reads the rows again by the proposal.
pub fn init(args: InitArgs) -> Result<ExitCode, Failure> {
    if let Some(out) = args.out.as_deref().filter(|out| out.exists()) {
        return Err(already_exists(out));
    }
    args.data
        .iter()
        .map(PathBuf::as_path)
        .chain(args.out.as_deref())
        .try_for_each(check_file_name)?;
    args.out.as_deref().map_or(Ok(()), output::check_writable)?;
    let lenient = f64::from(misfits_per_million(args.lenient.as_deref())?) / 1e6;
    let folder = folder(args.out.as_deref())?;
    let one_of_several = args.data.iter().find(|file| args.data.len() > 1 && is_sqlite(file));
    if let Some(file) = one_of_several.filter(|_| args.query.is_none()) {
        return Err(usage!(
            "{} is an SQLite database, which needs a proposal of its own: embermark init {}; tables \
             of both proposals can be in one workload file",
            file.display(),
            output::word(file)
        ));
    }
    let database = match &args.data[..] {
        [one] if args.query.is_none() && is_sqlite(one) => Some(one),
        _ if args.log.is_some() => {
            return Err(usage!(
                "--log goes with one SQLite database: embermark init app.db --log FILE"
            ));
        }
        _ => None,
    };
    if database.is_some() && args.zone.is_some() {
        return Err(usage!(
            "--zone is for times in files: those of an SQLite database are numbers since 1970, and \
             its texts stay texts; leave it out"
        ));
    }
    let log = args.log.as_deref().map(read_log).transpose()?;
    let mut tables = match database {
        Some(file) => infer_database(file, &folder)?,
        None => infer_files(&args, &folder)?,
    };
    let readable = readable(&tables, &folder, lenient);
    // If a file changes meanwhile, a run would read other rows than the proposal is for.
    tables.iter().try_for_each(|table| table.states.check_unchanged()).map_err(Failure::usage)?;
    let mut readable = readable?.into_iter();
    tables.retain(|_| readable.next() == Some(true));
    let label = tables.first().map(Inferred::label).unwrap_or_default();
    let name = args.out.as_deref().and_then(Path::file_stem);
    let name = name.map_or(label, |stem| stem.to_string_lossy().into_owned());
    let is_taken = |name: &str| {
        WORKLOADS.iter().any(|workload| workload.id() == name) || built_in_file(name).is_some()
    };
    let name = if is_taken(&name) { format!("my-{name}") } else { name };
    let wishes = ProposalOptions { live: args.live, statements: log.as_deref() };
    let (text, left_out) = propose(&name, &tables, &wishes);
    if let Some(first) = left_out.first() {
        say!(
            "  {} kinds of statements have no phase, the first: {first}; phases read the proposed \
             tables without parameters, and change rows by their key or by comparisons with \
             constants",
            left_out.len()
        );
    }
    parsed(&text)?;
    let Some(out) = args.out else { return output::print(&text) };
    let written = OpenOptions::new().write(true).create_new(true).open(&out);
    let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => already_exists(&out),
        _ => Failure::unwritable(&out)(error),
    })?;
    let lenient = args.lenient.map(|share| format!(" --lenient {share}")).unwrap_or_default();
    say!(
        "wrote {}: check it, correct it, then: embermark run {}{lenient}",
        out.display(),
        output::word(&out)
    );
    Ok(ExitCode::SUCCESS)
}

/// Examines the rows of files or of a query.
fn infer_files(args: &InitArgs, folder: &Path) -> Result<Vec<Inferred>, Failure> {
    let mut tables = Vec::new();
    let files_of_tables = match &args.query {
        Some(_) => vec![args.data.clone()],
        None => group_by_fields(&args.data).map_err(Failure::usage)?,
    };
    for files in files_of_tables {
        let names = files.iter().map(|file| relative(file, folder));
        let files = names.collect::<Result<Vec<_>, _>>()?;
        let from = RowsFile {
            files,
            query: args.query.clone(),
            zone: args.zone.clone(),
            ..RowsFile::default()
        };
        say!("reading {}", source_name(&from));
        let inferred = infer(&from, folder).map_err(Failure::usage)?;
        print_findings(&inferred);
        tables.push(inferred);
    }
    Ok(tables)
}

/// Examines all tables of a database that have rows.
fn infer_database(file: &Path, folder: &Path) -> Result<Vec<Inferred>, Failure> {
    let name = relative(file, folder)?;
    let mut tables = Vec::new();
    for table in sqlite_tables(file).map_err(Failure::usage)? {
        say!("reading {} of {name}", table.name);
        match infer_sqlite(&name, &table, folder) {
            Ok(inferred) => {
                print_findings(&inferred);
                tables.push(inferred);
            }
            Err(error) if error.is_without_rows() => say!("  it has no rows, and is left out"),
            Err(error) => return Err(Failure::usage(error)),
        }
    }
    if tables.is_empty() {
        return Err(usage!("{name}: none of its tables has rows"));
    }
    let views = sqlite_views(file).map_err(Failure::usage)?;
    if let Some(first) = views.first() {
        let query = format!("SELECT * FROM \"{}\"", first.replace('"', "\"\""));
        say!(
            "  left out, as views and virtual tables are: {}; a table with file = {name:?} and \
             query = {} has the rows of one",
            views.join(", "),
            toml::Value::from(query)
        );
    }
    Ok(tables)
}

/// Returns the statements of a log.
fn read_log(log: &Path) -> Result<Vec<String>, Failure> {
    let text = std::fs::read_to_string(log);
    let text = text.map_err(|error| usage!("cannot read {}: {error}", log.display()))?;
    Ok(statements(&text))
}

/// Prints the findings for a table.
fn print_findings(table: &Inferred) {
    let columns = counted(table.columns.len() as u64, "column");
    say!("  {}, {columns}: {}", counted(table.rows, "row"), table.format);
    let key = |key: &[usize]| {
        key.iter().map(|place| &*table.columns[*place].name).collect::<Vec<_>>().join(", ")
    };
    match (&table.near_key, table.keys.first()) {
        (Some(nearly), _) => say!(
            "  key {}: unique but for {}, first {} and {}: the last of each is kept",
            key(&nearly.key),
            counted(nearly.rows, "row"),
            nearly.first.0,
            nearly.first.1
        ),
        (None, Some(first)) => say!("  key {}", key(first)),
        (None, None) => say!("  no columns are unique together: the key is the number of the row"),
    }
    if let Some(span) = table.span() {
        say!("  {span}");
    }
    for (reason, rows) in &table.dropped {
        let plural = if *rows == 1 { "" } else { "s" };
        say!("  {rows} row{plural} cannot be used: {reason}");
    }
    for note in &table.notes {
        say!("  {note}");
    }
}

/// Reads every row by a proposal for its table, like a run. Returns for each table whether a run
/// would take its rows. Those that it would not take are reported.
///
/// # Errors
/// If it would take those of no table.
fn readable(tables: &[Inferred], folder: &Path, lenient: f64) -> Result<Vec<bool>, Failure> {
    let nothing = |error: &DataError| {
        usage!("a run would not take these rows, so nothing is proposed: {error}")
    };
    let scratch = tempfile::tempdir().map_err(Failure::runtime)?;
    let (mut readable, mut refused) = (Vec::new(), Vec::new());
    for table in tables {
        let proposal =
            propose("proposal", std::slice::from_ref(table), &ProposalOptions::default());
        let (definition, to) = (parsed(&proposal.0)?, scratch.path().join("rows"));
        let staged = stage(&definition.tables, 0, folder, None, 0, lenient, &to);
        readable.push(staged.is_ok());
        match staged {
            Ok(_) => {}
            Err(error @ DataError::RowsRefused { .. }) => refused.push((table.label(), error)),
            Err(error) => return Err(nothing(&error)),
        }
    }
    if let ([(_, error), ..], false) = (&refused[..], readable.contains(&true)) {
        return Err(nothing(error));
    }
    for (table, error) in refused {
        say!("  {table} is left out, because a run would not take its rows: {error}");
    }
    Ok(readable)
}

/// Reads a proposal.
fn parsed(text: &str) -> Result<Definition, Failure> {
    let engines: Vec<&str> = registry::all().iter().map(|engine| engine.info().id).collect();
    parse("proposal", text, &engines).map_err(|mistakes| {
        Failure::runtime("the proposal has mistakes").with_screen(format!("{text}\n{mistakes}"))
    })
}

fn source_name(from: &RowsFile) -> String {
    match &from.files[..] {
        [] => "the query".to_owned(),
        [one] => one.clone(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
    }
}

fn already_exists(out: &Path) -> Failure {
    usage!("{} already exists: give another -o, or remove it", out.display())
}

/// Refuses a file name that a workload file cannot have.
fn check_file_name(file: &Path) -> Result<(), Failure> {
    match file.to_str() {
        Some(_) => Ok(()),
        None => Err(usage!(
            "{}: its name is not UTF-8, and a workload file names files in UTF-8: rename it",
            file.display()
        )),
    }
}

/// Returns the folder of the workload file.
fn folder(out: Option<&Path>) -> Result<PathBuf, Failure> {
    let out = out.unwrap_or_else(|| Path::new("workload.toml"));
    let path = std::path::absolute(out).map_err(Failure::runtime)?;
    Ok(path.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned))
}

/// Returns the name of a file from a folder: relative if it is below, otherwise absolute.
fn relative(file: &Path, folder: &Path) -> Result<String, Failure> {
    let file = std::path::absolute(file).map_err(Failure::runtime)?;
    let named = file.strip_prefix(folder).unwrap_or(&file);
    named
        .to_str()
        .map(str::to_owned)
        .ok_or_else(|| usage!("{}: its name is not UTF-8: rename it", file.display()))
}
