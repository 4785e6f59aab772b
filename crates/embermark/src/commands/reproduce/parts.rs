//! Divides sources into parts.

use std::path::Path;

use embermark_harness::device::Device;
use embermark_model::plan::{Plan, Repeats};
use embermark_model::{Scale, choice};
use embermark_published::{Piece, Source, all, find};
use embermark_workloads::find as workload;
use serde::{Deserialize, Serialize};

use crate::error::Failure;
use crate::plan::PlanArgs;

/// Keys of a plan that override those of a source. Any other key is refused, also a new one.
const FREE_KEYS: [&str; 12] = [
    "scale",
    "data",
    "trials",
    "runs",
    "warmup-runs",
    "max-run-time",
    "window",
    "warm-up",
    "timeout",
    "seed",
    "accept-license",
    "cache",
];

/// A piece of a source at one scale, as it is saved in the folder of the repetition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Source and piece.
    pub repeats: Repeats,
    /// Its folder below that of the repetition.
    pub folder: String,
    /// What it does, in one line.
    pub about: String,
    /// The device that is emulated.
    pub device: Option<String>,
    /// Whether the size of a database loaded once is measured, in an extra trial.
    pub counting: bool,
    /// Whether a headline depends on it.
    #[serde(default)]
    pub decides: bool,
    /// Expected time in seconds, if it is known.
    pub expected_s: Option<u64>,
    /// Keys of a plan file.
    pub plan: PlanArgs,
}

impl Part {
    /// Returns its plan.
    pub fn plan(&self) -> Result<Plan, Failure> {
        let named = |failure| usage!("{}: {failure}", self.folder);
        let plan = self.plan.clone().plan().map_err(named)?;
        Ok(Plan { repeats: Some(self.repeats.clone()), ..plan })
    }
}

/// Returns the parts of the named sources and pieces. `given` overrides their own plans. With a
/// device, only the parts that emulate it are returned.
pub fn select(
    sources: &[String],
    pieces: &[String],
    given: &PlanArgs,
    device: Option<&'static Device>,
) -> Result<Vec<Part>, Failure> {
    refuse_source_options(given)?;
    let sources = chosen(sources)?;
    let known = || sources.iter().flat_map(|source| &source.pieces);
    for name in pieces {
        if known().all(|piece| piece.name != *name) {
            let names = known().map(|piece| &*piece.name);
            return Err(Failure::usage(choice::unknown("piece", name, names)));
        }
    }
    let mut parts = Vec::new();
    for source in &sources {
        let named = |piece: &&Piece| pieces.is_empty() || pieces.contains(&piece.name);
        let emulated = |piece: &&Piece| {
            device.is_none_or(|device| piece.device.as_deref() == Some(device.name))
        };
        for piece in source.pieces.iter().filter(named).filter(emulated) {
            parts.extend(parts_of_piece(source, piece, given)?);
        }
    }
    let ignored = [
        ("window", given.window.is_some(), parts.iter().all(|part| part.plan.window.is_none())),
        ("warm-up", given.warm_up.is_some(), parts.iter().all(|part| part.plan.warm_up.is_none())),
    ];
    if let Some((option, ..)) = ignored.into_iter().find(|(_, given, idle)| *given && *idle) {
        return Err(usage!(
            "{option}: none of the named pieces has a phase of fixed length: leave it out"
        ));
    }
    match (parts.is_empty(), device) {
        (false, _) => Ok(parts),
        (true, Some(device)) => {
            Err(usage!("none of the named pieces emulates {}: leave out --device", device.name))
        }
        (true, None) => Err(usage!("none of the named pieces is left: name others")),
    }
}

/// Returns the named sources.
fn chosen(names: &[String]) -> Result<Vec<&'static Source>, Failure> {
    if names.iter().any(|name| name == "all") {
        return Ok(all().iter().collect());
    }
    let mut chosen: Vec<&Source> = Vec::new();
    for name in names {
        let source = find(name).ok_or_else(|| {
            let known = all().iter().map(|source| &*source.id).chain(["all"]);
            Failure::usage(choice::unknown("source", name, known))
        })?;
        if chosen.iter().all(|known| known.id != source.id) {
            chosen.push(source);
        }
    }
    Ok(chosen)
}

/// Returns the parts of a piece, one per scale of its own or of those given.
fn parts_of_piece(source: &Source, piece: &Piece, given: &PlanArgs) -> Result<Vec<Part>, Failure> {
    let own: PlanArgs = toml::Value::Table(piece.plan.clone()).try_into().map_err(|error| {
        Failure::runtime(format!("{}/{} is not a plan: {error}", source.id, piece.name))
    })?;
    let scales: Vec<(String, String)> = match given.scale.as_slice() {
        [] => piece.scales.iter().map(|rows| (rows.to_string(), piece.unit(*rows))).collect(),
        given => {
            given.iter().map(|scale| (scale.clone(), format!("{}-{scale}", piece.name))).collect()
        }
    };
    let reads_files = workload(&source.workload).is_ok_and(|workload| workload.info().reads_files);
    let part = |(scale, name): (String, String)| {
        let data = given.data.as_deref().filter(|_| reads_files);
        let data =
            data.map(Path::canonicalize).transpose().map_err(|error| usage!("--data: {error}"))?;
        let (expected_s, decides) = match scale.parse().map_err(Failure::usage)? {
            Scale::Rows(rows) => (piece.expected(rows), source.decides(piece, rows)),
            Scale::Full => (None, false),
        };
        // An option overrides a setting of the piece. If the piece has no such setting, the option
        // would have no effect.
        let window = given.window.clone().filter(|_| own.window.is_some());
        let warm_up = given.warm_up.clone().filter(|_| own.warm_up.is_some());
        let given = PlanArgs { data, window, warm_up, scale: vec![scale], ..given.clone() };
        Ok(Part {
            repeats: Repeats { source: source.id.clone(), piece: piece.name.clone() },
            folder: format!("{}/{name}", source.id),
            about: piece.about.clone(),
            device: piece.device.clone(),
            counting: piece.counting,
            decides,
            expected_s,
            plan: given.or(own.clone())?,
        })
    };
    scales.into_iter().map(part).collect()
}

/// Refuses options that the sources determine.
fn refuse_source_options(given: &PlanArgs) -> Result<(), Failure> {
    given.key_beside(&FREE_KEYS)?.map_or(Ok(()), |key| {
        let option = match &*key {
            "workloads" => "a workload".to_owned(),
            "for" | "then" | "p99-limit" | "disk-size" => format!("the key `{key}`"),
            _ => format!("--{key}"),
        };
        Err(usage!(
            "{option} is set by what `reproduce` repeats: leave it out, or run a plan of your own"
        ))
    })
}

#[cfg(test)]
mod tests {
    use embermark_harness::device;

    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|&word| word.to_owned()).collect()
    }

    fn parts(sources: &[&str], pieces: &[&str], given: &PlanArgs) -> Result<Vec<Part>, String> {
        select(&words(sources), &words(pieces), given, None).map_err(|failure| failure.to_string())
    }

    fn folders(parts: &[Part]) -> Vec<&str> {
        parts.iter().map(|part| &*part.folder).collect()
    }

    #[test]
    fn every_piece_is_a_plan_at_each_of_its_scales() {
        let given = PlanArgs::default();
        let all = parts(&["all"], &[], &given).unwrap();
        for part in &all {
            let plan = part.plan().unwrap_or_else(|failure| panic!("{failure}"));
            assert_eq!(plan.repeats.as_ref(), Some(&part.repeats));
            assert_eq!(plan.scales.len(), 1, "{}", part.folder);
            assert_eq!(plan.timeout_ms, None, "{}: as long as it takes", part.folder);
        }
        let mut folders = folders(&all);
        folders.sort_unstable();
        folders.dedup();
        assert_eq!(folders.len(), all.len(), "each has a folder of its own");
    }

    #[test]
    fn sources_and_pieces_are_chosen_by_name() {
        let usual = PlanArgs::default();
        let all = parts(&["mcknight", "mcknight"], &["sqlite", "journal"], &usual).unwrap();
        assert_eq!(folders(&all), ["mcknight/sqlite", "mcknight/journal"]);
        let scales = parts(&["harperdb"], &["sqlite"], &usual).unwrap();
        assert_eq!(scales.len(), 7);
        assert_eq!(scales[6].folder, "harperdb/sqlite-5k");
        assert!(parts(&["mcknigt"], &[], &usual).unwrap_err().contains("did you mean 'mcknight'"));
        assert!(parts(&["mcknight"], &["sqlight"], &usual).unwrap_err().contains("'sqlite'"));
    }

    #[test]
    fn scales_and_repetitions_that_are_given_win() {
        let given = PlanArgs { scale: words(&["10"]), runs: Some(2), ..PlanArgs::default() };
        let all = parts(&["harperdb"], &["batch"], &given).unwrap();
        assert_eq!(folders(&all), ["harperdb/batch-10"]);
        assert_eq!((all[0].plan.runs, &all[0].plan.scale), (Some(2), &words(&["10"])));
    }

    #[test]
    fn what_a_source_says_cannot_be_given() {
        for (option, given) in [
            ("--engines", PlanArgs { engines: words(&["lmdb"]), ..PlanArgs::default() }),
            ("--client", PlanArgs { client: words(&["python"]), ..PlanArgs::default() }),
            ("--variant", PlanArgs { variant: words(&["bulk"]), ..PlanArgs::default() }),
            ("--clients", PlanArgs { clients: Some(4), ..PlanArgs::default() }),
            ("--effort", PlanArgs { effort: Some("quick".into()), ..PlanArgs::default() }),
            ("the key `for`", PlanArgs { lasts: Some("5m".into()), ..PlanArgs::default() }),
            ("--card", PlanArgs { card: words(&["sd-32gb"]), ..PlanArgs::default() }),
        ] {
            let says = parts(&["ulb"], &[], &given).unwrap_err();
            assert!(says.starts_with(option), "{says}");
        }
    }

    #[test]
    fn a_device_chooses_the_pieces_that_emulate_it() {
        let of_device = |source: &str, name: &str| {
            let device = device::find(name).unwrap();
            select(&words(&[source]), &[], &PlanArgs::default(), Some(device))
                .map_err(|f| f.to_string())
        };
        let all = of_device("mcknight", "pi3").unwrap();
        assert_eq!(folders(&all), ["mcknight/pi3"]);
        assert_eq!(all[0].device.as_deref(), Some("pi3"));
        assert!(of_device("ulb", "pi3").unwrap_err().contains("emulates pi3"));
    }

    #[test]
    fn rows_of_a_file_are_for_the_source_that_reads_files() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let given = PlanArgs { data: Some(file.path().to_owned()), ..PlanArgs::default() };
        let ulb = parts(&["ulb"], &["equal"], &given).unwrap();
        assert!(ulb.iter().all(|part| part.plan.data.as_deref() == Some(file.path())));
        let htap = parts(&["harperdb"], &["equal"], &given).unwrap();
        assert!(htap.iter().all(|part| part.plan.data.is_none()));
    }
}
