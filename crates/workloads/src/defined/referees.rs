//! Right answers of SQL questions, from a file or from engines that were asked beforehand. Their
//! answers are stored next to the staged rows.

use std::fs;
use std::path::{Path, PathBuf};

use embermark_contract::EngineError;
use embermark_data::DataError;
use embermark_language::{Definition, Sql, Work};
use embermark_model::ResultSet;
use embermark_model::answer::{Difference, Value};
use embermark_model::result_set::FirstDifference;

use super::Result;
use crate::{CheckError, Spec, WorkloadError};

/// Most values of an answer that is kept to compare it with other engines' answers.
pub(super) const MOST_KEPT: usize = 10_000;

/// The right answer of an SQL question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Right {
    /// An answer from a file, or on which engines agree.
    Known {
        /// The file's name in the workload file, or the engines.
        by: String,
        answer: ResultSet,
        /// Whether it was read from CSV.
        is_csv: bool,
    },
    /// Engines gave different answers.
    Disputed(String),
    /// No answer is known.
    Unknown,
}

impl Right {
    /// Compares an answer with it.
    ///
    /// # Errors
    /// Fails where the answer is wrong, or the right one is disputed.
    pub(super) fn check(&self, mut found: ResultSet) -> Result<(), CheckError> {
        let (by, answer) = match self {
            Self::Unknown => return Ok(()),
            Self::Disputed(why) => return Err(CheckError::Disputed(why.clone())),
            Self::Known { by, answer, is_csv } => {
                if *is_csv {
                    found.read_as_csv();
                }
                (by, answer)
            }
        };
        match answer.first_difference(&found) {
            None => Ok(()),
            Some(FirstDifference(right, got)) => {
                Err(Difference(format!("expected {right}, got {got} ({by})")).into())
            }
        }
    }

    /// Returns where the right answer comes from.
    pub(super) fn by(&self) -> Option<String> {
        match self {
            Self::Known { by, .. } => Some(by.clone()),
            Self::Disputed(_) | Self::Unknown => None,
        }
    }
}

/// Returns the right answer of each phase.
pub(super) fn right(definition: &Definition, folder: &Path, spec: &Spec) -> Result<Vec<Right>> {
    let given = given(definition, folder)?;
    let phases = definition.phases.iter().zip(given);
    let right = phases.map(|(phase, given)| match (given, &phase.work) {
        (Some((by, answer)), _) => Ok(Right::Known { by, answer, is_csv: true }),
        (None, Work::Sql(_)) if !spec.is_referee => referees_answer(spec, &phase.name),
        _ => Ok(Right::Unknown),
    });
    right.collect()
}

/// Returns the answer of the referees.
fn referees_answer(spec: &Spec, phase: &str) -> Result<Right> {
    let mut said: Option<(Vec<&'static str>, ResultSet)> = None;
    for referee in spec.referees {
        let file = file(&spec.rows, phase, referee);
        if !file.exists() {
            continue;
        }
        let unreadable = |cause| DataError::Unreadable { path: file.clone(), cause };
        let text = fs::read(&file).map_err(unreadable)?;
        let answer: ResultSet = serde_json::from_slice(&text).map_err(|e| unreadable(e.into()))?;
        let Some((by, first)) = &mut said else {
            said = Some((vec![referee], answer));
            continue;
        };
        if let Some(FirstDifference(one, other)) = first.first_difference(&answer) {
            let before = by[0];
            return Ok(Right::Disputed(format!(
                "{before} answers {one}, {referee} answers {other}"
            )));
        }
        by.push(referee);
    }
    Ok(said.map_or(Right::Unknown, |(by, answer)| {
        let by = match &by[..] {
            [one] => format!("only by {one}"),
            all => format!("agreed by {}", all.join(" and ")),
        };
        Right::Known { by, answer, is_csv: false }
    }))
}

/// Stores a referee's answer next to the rows, atomically.
pub(super) fn keep(
    rows: &Path,
    phase: &str,
    referee: &str,
    answer: &ResultSet,
) -> Result<(), EngineError> {
    let (to, draft) = (file(rows, phase, referee), file(rows, phase, "part"));
    let write = || {
        fs::write(&draft, serde_json::to_vec(answer)?)?;
        fs::rename(&draft, &to)
    };
    write().map_err(|error| EngineError::file("the harness", "write", to.clone(), error))
}

/// Returns the path of a referee's answer.
fn file(rows: &Path, phase: &str, referee: &str) -> PathBuf {
    rows.with_extension(format!("{phase}.{referee}.answer"))
}

/// Returns the answer that a file has for each phase, with the file's name.
///
/// # Errors
/// Fails where a file cannot be read.
pub(super) fn given(
    definition: &Definition,
    folder: &Path,
) -> Result<Vec<Option<(String, ResultSet)>>> {
    let answers = definition.phases.iter().map(|phase| match &phase.work {
        Work::Sql(Sql { answer: Some(file), ordered, .. }) => {
            let read = read(&folder.join(file), *ordered)?;
            Ok(Some((file.display().to_string(), read)))
        }
        _ => Ok(None),
    });
    answers.collect()
}

/// Reads an answer from CSV with a header, which is ignored.
fn read(file: &Path, ordered: bool) -> Result<ResultSet> {
    let wrong = |error: csv::Error| {
        let file = file.display();
        WorkloadError::Unfit(format!("the answer {file} cannot be read: {error}"))
    };
    let mut reader = csv::Reader::from_path(file).map_err(wrong)?;
    let columns = reader.headers().map_err(wrong)?.len();
    let mut answer = ResultSet { columns, ordered, values: Vec::new() };
    for row in reader.records() {
        answer.values.extend(row.map_err(wrong)?.iter().map(|field| Value::Text(field.to_owned())));
    }
    answer.read_as_csv();
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(values: &[Value]) -> ResultSet {
        ResultSet { columns: 1, ordered: false, values: values.to_vec() }
    }

    #[test]
    fn two_that_agree_one_alone_and_two_that_differ_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let spec =
            Spec { referees: &["one", "two"], ..Spec::of(dir.path().join("a-10.rows"), "", 1) };
        let say = |phase: &str, by: &str, number: f64| {
            keep(&spec.rows, phase, by, &set(&[Value::Float(number)])).unwrap();
        };
        assert_eq!(referees_answer(&spec, "nothing").unwrap(), Right::Unknown);
        say("both", "one", 3.0);
        say("both", "two", 3.0 + 1e-12);
        let both = referees_answer(&spec, "both").unwrap();
        assert_eq!(both.by().unwrap(), "agreed by one and two");
        both.check(set(&[Value::Int(3)])).unwrap();
        let wrong = both.check(set(&[Value::Int(4)])).unwrap_err().to_string();
        assert_eq!(wrong, "wrong answer: expected (3), got (4) (agreed by one and two)");
        say("alone", "two", 1.0);
        assert_eq!(referees_answer(&spec, "alone").unwrap().by().unwrap(), "only by two");
        say("never", "one", 3.5);
        say("never", "two", 3.0);
        let never = referees_answer(&spec, "never").unwrap();
        assert_eq!(never, Right::Disputed("one answers (3.5), two answers (3)".to_owned()));
        assert_eq!(
            never.check(set(&[])).unwrap_err().to_string(),
            "one answers (3.5), two answers (3)"
        );
    }

    #[test]
    fn an_answer_is_read_without_its_header_and_one_that_is_broken_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("right.csv");
        fs::write(&file, "city,n\n\"Linz, old\",4\n,5.50\n").unwrap();
        let values =
            [Value::Text("Linz, old".into()), Value::Int(4), Value::Null, Value::Float(5.5)];
        let answer = read(&file, true).unwrap();
        assert_eq!(answer, ResultSet { columns: 2, ordered: true, values: values.to_vec() });
        fs::write(&file, "city,n\nLinz\n").unwrap();
        let error = read(&file, true).unwrap_err().to_string();
        assert!(error.contains("right.csv cannot be read") && error.contains("1 field"), "{error}");
        assert!(read(&dir.path().join("none.csv"), true).is_err());
    }
}
