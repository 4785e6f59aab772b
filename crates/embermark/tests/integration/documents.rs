//! The documents: the index and the book name each page once, no page is too long, and every
//! link leads to a file and a heading that exist. The same holds for links in the explanations of
//! engines. Documents about every engine leave none out, and that of the result file no option.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use embermark_engines::{Kind, registry};
use embermark_model::plan::Plan;
use embermark_workloads::WORKLOADS;
use serde::de::{Deserialize, Deserializer, Error, Visitor, value};
use serde::forward_to_deserialize_any;

/// Pages that may be longer: one is generated, the other is the language of workload files.
const LONG: [&str; 2] = ["docs/reproduction.md", "docs/workload-files.md"];
/// The largest number of lines of any other page.
const LINES: usize = 300;
/// The documents outside `docs/` whose links are checked.
const OUTSIDE: [&str; 3] = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];
/// Documents that name every engine, and how often at least: once in each of their lists.
const OF_EVERY_ENGINE: [(&str, usize); 7] = [
    ("README.md", 1),
    ("docs/configurations.md", 1),
    ("docs/engines/README.md", 1),
    ("docs/engines/clients.md", 2),
    ("docs/engines/maintenance.md", 3),
    ("docs/licences.md", 1),
    ("docs/packages.md", 1),
];
const INDEX: &str = "docs/README.md";
const SUMMARY: &str = "docs/SUMMARY.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the text of every document, by its path in the repository.
fn documents() -> BTreeMap<String, String> {
    let root = root();
    let mut folders = vec!["docs".to_owned()];
    let mut paths = OUTSIDE.map(str::to_owned).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                paths.push(path);
            }
        }
    }
    paths
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(root.join(path)).unwrap()))
        .collect()
}

/// Returns the lines outside of fenced code.
fn prose(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let outside = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    };
    text.lines().filter(outside).collect()
}

/// Returns the targets of the links to files of the repository, in order.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text).join("\n");
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let targets = targets.map(|(target, _)| target);
    targets
        .filter(|t| !t.contains("://") && !t.contains(char::is_whitespace))
        .map(str::to_owned)
        .collect()
}

/// Returns the path in the repository of a link's target, and its anchor.
fn resolved(page: &str, target: &str) -> (String, Option<String>) {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (target, None),
    };
    if path.is_empty() {
        return (page.to_owned(), anchor);
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => {
                assert!(parts.pop().is_some(), "{page}: {target} leaves the repository")
            }
            Component::Normal(name) => parts.push(name.to_str().unwrap()),
            _ => {}
        }
    }
    (parts.join("/"), anchor)
}

/// Returns the anchors that GitHub and mdBook give the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for line in prose(text).into_iter().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let times = seen.entry(anchor.clone()).or_default();
        anchors.insert(if *times == 0 { anchor } else { format!("{anchor}-{times}") });
        *times += 1;
    }
    anchors
}

/// Returns the pages below `docs/` that a page links to, in the order of its links.
fn named(page: &str, text: &str) -> Vec<String> {
    let targets = links(text).into_iter().map(|target| resolved(page, &target).0);
    targets.filter(|path| path.starts_with("docs/") && path.ends_with(".md")).collect()
}

#[test]
fn the_index_and_the_book_name_every_page_once() {
    let documents = documents();
    let index = named(INDEX, &documents[INDEX]);
    // The index begins with a link to the first lesson.
    let (first, index) = index.split_first().unwrap();
    assert_eq!(first, &index[0]);
    let book = named(SUMMARY, &documents[SUMMARY]);
    assert_eq!(
        book.split_first().unwrap(),
        (&INDEX.to_owned(), index),
        "{SUMMARY} differs from {INDEX}"
    );
    let mut sorted = index.to_vec();
    sorted.sort();
    let pages = documents
        .into_keys()
        .filter(|path| path.starts_with("docs/") && ![INDEX, SUMMARY].contains(&path.as_str()));
    assert_eq!(sorted, pages.collect::<Vec<_>>());
}

#[test]
fn no_page_is_longer_than_300_lines() {
    let documents = documents();
    let long = documents.iter().filter(|(path, text)| {
        path.starts_with("docs/") && !LONG.contains(&path.as_str()) && text.lines().count() > LINES
    });
    assert_eq!(long.map(|(path, _)| path).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let (root, documents) = (root(), documents());
    let headings: BTreeMap<_, _> =
        documents.iter().map(|(page, text)| (page.as_str(), anchors(text))).collect();
    let mut broken = Vec::new();
    let mut checked = 0;
    for (page, text) in &documents {
        for target in links(text) {
            checked += 1;
            let (path, anchor) = resolved(page, &target);
            let leads = match anchor {
                Some(anchor) => {
                    headings.get(path.as_str()).is_some_and(|all| all.contains(&anchor))
                }
                None => root.join(&path).exists(),
            };
            if !leads {
                broken.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(checked > 200, "{checked}");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn documents_about_every_engine_leave_none_out() {
    let documents = documents();
    // TimescaleDB, which only runs on a given server, is PostgreSQL with an extension.
    let engines = registry::ENGINES
        .iter()
        .filter(|engine| engine.info().kind != Kind::Reference && !engine.is_given())
        .map(|engine| engine.info());
    let mut missing = Vec::new();
    for engine in engines {
        // Both hybrids are named together.
        let id = engine.id.split('-').next().unwrap();
        for (page, least) in OF_EVERY_ENGINE {
            let text = documents[page].split_whitespace().collect::<Vec<_>>().join(" ");
            let words = text.split(|c: char| !c.is_alphanumeric());
            let by_id = words.filter(|word| word.eq_ignore_ascii_case(id)).count();
            let times = by_id.max(text.matches(engine.name).count());
            if times < least {
                missing.push(format!("{page} has {} {times} times, not {least}", engine.id));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Takes the names of a struct's fields, older ones too, from its deserialization, which it refuses.
struct FieldNames<'a>(&'a mut Vec<&'static str>);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Error::custom("there are only names"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.extend(fields);
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[test]
fn the_document_of_the_result_file_has_every_field_of_a_plan() {
    let mut fields = Vec::new();
    assert!(Plan::deserialize(FieldNames(&mut fields)).is_err());
    assert!(fields.len() > 35 && fields.contains(&"memory_limits_bytes"), "{fields:?}");
    let text = documents().remove("docs/result-format.md").unwrap();
    // Older names are in the part before.
    let (older, text) = text.split_once("\n## Top level\n").unwrap();
    let (_, plan) = text.split_once("\n## `plan`\n").unwrap();
    let plan = plan.split("\n## ").next().unwrap();
    let is_named = |field: &&&str| [older, plan].concat().contains(&format!("`{field}`"));
    let missing: Vec<_> = fields.iter().filter(|field| !is_named(field)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_an_engine_explains_names_a_heading_a_figure_and_phases_that_exist() {
    let root = root();
    let phases = WORKLOADS.iter().flat_map(|workload| workload.info().phases);
    let phases: BTreeSet<&str> = phases.map(|phase| phase.name).collect();
    let explained = registry::all().iter().flat_map(|engine| engine.explained());
    let explained: Vec<_> = explained.collect();
    assert_eq!(explained.is_empty(), cfg!(not(any(feature = "duckdb", feature = "postgres"))));
    for one in explained {
        let (page, heading) = one.section.split_once('#').unwrap();
        let text = fs::read_to_string(root.join(page)).unwrap();
        assert!(anchors(&text).contains(heading), "{}", one.section);
        assert!(one.evidence.contains(|c: char| c.is_ascii_digit()), "{}", one.evidence);
        for phase in one.phases {
            assert!(phases.contains(phase), "{phase}");
        }
    }
}
