//! Who says what is right of a question in SQL: a file with the answer, or engines that were asked
//! beforehand, whose answers lie beside the staged rows.

use std::fs;
use std::path::{Path, PathBuf};

use embermark_contract::EngineError;
use embermark_data::DataError;
use embermark_language::{Definition, Sql, Work};
use embermark_model::ResultSet;
use embermark_model::answer::{Difference, Value};
use embermark_model::result_set::FirstDifference;

use crate::{CheckError, Spec, WorkloadError};

/// The most values of an answer that is kept to be compared with that of other engines.
pub(super) const MOST_KEPT: usize = 10_000;

/// What is right of a question in SQL.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Right {
    /// This, as a file has it.
    Given {
        /// The file, as the workload file names it.
        file: String,
        /// What it has.
        answer: ResultSet,
    },
    /// This, as engines have said.
    Said {
        /// Which.
        by: Vec<&'static str>,
        /// What they said.
        answer: ResultSet,
    },
    /// Engines have said different things.
    Disputed(String),
    /// Nobody has said anything.
    Unknown,
}

impl Right {
    /// Holds an answer to it.
    ///
    /// # Errors
    /// Where it is wrong, or nobody can say.
    pub(super) fn check(&self, mut found: ResultSet) -> Result<(), CheckError> {
        let right = match self {
            Self::Unknown => return Ok(()),
            Self::Disputed(why) => return Err(CheckError::Disputed(why.clone())),
            Self::Given { answer, .. } => {
                found.read_as_csv();
                answer
            }
            Self::Said { answer, .. } => answer,
        };
        let Some(FirstDifference(right, got)) = right.first_difference(&found) else {
            return Ok(());
        };
        let by = self.by().unwrap_or_default();
        Err(Difference(format!("expected {right}, got {got} ({by})")).into())
    }

    /// Who has said so.
    pub(super) fn by(&self) -> Option<String> {
        match self {
            Self::Given { file, .. } => Some(file.clone()),
            Self::Said { by, .. } => Some(match &by[..] {
                [one] => format!("by {one} alone"),
                all => format!("agreed by {}", all.join(" and ")),
            }),
            Self::Disputed(_) | Self::Unknown => None,
        }
    }
}

/// By phase, what is right.
pub(super) fn right(
    definition: &Definition,
    folder: &Path,
    spec: &Spec,
) -> Result<Vec<Right>, WorkloadError> {
    let given = given(definition, folder)?;
    let phases = definition.phases.iter().zip(given);
    let right = phases.map(|(phase, given)| match (given, &phase.work) {
        (Some((file, answer)), _) => Ok(Right::Given { file, answer }),
        (None, Work::Sql(_)) if !spec.is_referee => said(spec, &phase.name),
        _ => Ok(Right::Unknown),
    });
    right.collect()
}

/// What the referees said.
fn said(spec: &Spec, phase: &str) -> Result<Right, WorkloadError> {
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
            return Ok(Right::Disputed(format!("{before} says {one}, {referee} says {other}")));
        }
        by.push(referee);
    }
    Ok(said.map_or(Right::Unknown, |(by, answer)| Right::Said { by, answer }))
}

/// Keeps a referee's answer beside the rows, whole or not at all.
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

/// Where the answer of a referee lies.
fn file(rows: &Path, phase: &str, referee: &str) -> PathBuf {
    rows.with_extension(format!("{phase}.{referee}.answer"))
}

/// By phase, the answer that a file has, and what that is called.
///
/// # Errors
/// Where a file cannot be read.
pub(super) fn given(
    definition: &Definition,
    folder: &Path,
) -> Result<Vec<Option<(String, ResultSet)>>, WorkloadError> {
    let answers = definition.phases.iter().map(|phase| match &phase.work {
        Work::Sql(Sql { answer: Some(file), ordered, .. }) => {
            let read = read(&folder.join(file), *ordered)?;
            Ok(Some((file.display().to_string(), read)))
        }
        _ => Ok(None),
    });
    answers.collect()
}

/// Reads an answer: CSV with a header, which says nothing here.
fn read(file: &Path, ordered: bool) -> Result<ResultSet, WorkloadError> {
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
        assert_eq!(said(&spec, "nothing").unwrap(), Right::Unknown);
        say("both", "one", 3.0);
        say("both", "two", 3.0 + 1e-12);
        let both = said(&spec, "both").unwrap();
        assert_eq!(both.by().unwrap(), "agreed by one and two");
        both.check(set(&[Value::Int(3)])).unwrap();
        let wrong = both.check(set(&[Value::Int(4)])).unwrap_err().to_string();
        assert_eq!(wrong, "wrong answer: expected (3), got (4) (agreed by one and two)");
        say("alone", "two", 1.0);
        assert_eq!(said(&spec, "alone").unwrap().by().unwrap(), "by two alone");
        say("never", "one", 3.5);
        say("never", "two", 3.0);
        let never = said(&spec, "never").unwrap();
        assert_eq!(never, Right::Disputed("one says (3.5), two says (3)".to_owned()));
        assert_eq!(never.check(set(&[])).unwrap_err().to_string(), "one says (3.5), two says (3)");
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
