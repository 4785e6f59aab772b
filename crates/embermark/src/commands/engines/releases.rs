//! Release dates of engine versions.

use jiff::civil::Date;

/// One line per version. The header names the columns.
const TABLE: &str = include_str!("releases.tsv");

/// Returns the release date of an engine's version, if it is known.
pub fn released(engine: &str, version: &str) -> Option<Date> {
    lines().find_map(|[id, known, day, _]| {
        (id == engine && known == version).then(|| day.parse().ok())?
    })
}

/// Formats the age of a date: in months below two years, otherwise in years.
pub fn age(day: Date, today: Date) -> String {
    let months = (i32::from(today.year()) - i32::from(day.year())) * 12 + i32::from(today.month())
        - i32::from(day.month())
        - i32::from(today.day() < day.day());
    match months.max(0) {
        0 => "under a month".to_owned(),
        1 => "1 month".to_owned(),
        months @ ..24 => format!("{months} months"),
        months => format!("{} years", months / 12),
    }
}

fn lines() -> impl Iterator<Item = [&'static str; 4]> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

#[cfg(test)]
mod tests {
    use embermark_engines::{Availability, Origin, registry};
    use jiff::civil::date;

    use super::*;

    #[test]
    fn every_line_is_of_an_engine_with_a_day_and_a_source() {
        let all = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(lines().count(), all, "four columns each");
        for [engine, version, day, source] in lines() {
            assert!(day.parse::<Date>().is_ok(), "{engine} {version}: {day}");
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{engine} {version}");
            assert!(!source.is_empty(), "{engine} {version}");
            let once = lines().filter(|line| line[..2] == [engine, version]).count();
            assert_eq!(once, 1, "{engine} {version}");
        }
        // A build may leave engines out, so not every line has an engine here.
        assert!(
            registry::ENGINES.iter().any(|known| lines().any(|line| line[0] == known.info().id))
        );
    }

    /// Compiled in, and without a release: LMDB is a state of its development branch, a hybrid is of
    /// two engines.
    const WITHOUT: [&str; 3] = ["lmdb", "hybrid", "hybrid-bdb"];

    #[test]
    fn an_engine_that_is_compiled_in_has_a_line_for_the_version_of_the_lock_file() {
        let lock = include_str!("../../../../../Cargo.lock");
        for engine in registry::ENGINES.iter().filter(|one| !WITHOUT.contains(&one.info().id)) {
            let (id, origin) = (engine.info().id, engine.origin());
            let Availability::Ready { version } = engine.availability() else { continue };
            if origin != Some(Origin::CompiledIn) {
                continue;
            }
            let line = lines().find(|line| line[..2] == [id, version.as_str()]);
            let [.., source] = line.unwrap_or_else(|| panic!("no line has {id} {version}"));
            let Some(package) = source.strip_prefix("https://crates.io/crates/") else { continue };
            let (name, pinned) = package.split_once('/').unwrap();
            let package = format!("name = \"{name}\"\nversion = \"{pinned}\"\n");
            assert!(lock.contains(&package), "{source}: Cargo.lock has another version");
        }
    }

    #[test]
    fn a_version_is_as_old_as_its_day_says_and_an_unknown_one_has_none() {
        assert_eq!(released("rocksdb", "7.8.3"), Some(date(2022, 11, 29)));
        assert_eq!(released("rocksdb", "7.8"), None);
        assert_eq!(released("leveldb", "7.8.3"), None);
        let day = date(2025, 7, 9);
        assert_eq!(age(day, date(2025, 7, 31)), "under a month");
        assert_eq!(age(day, date(2025, 8, 8)), "under a month");
        assert_eq!(age(day, date(2025, 8, 9)), "1 month");
        assert_eq!(age(day, date(2026, 11, 23)), "16 months");
        assert_eq!(age(day, date(2027, 7, 8)), "23 months");
        assert_eq!(age(day, date(2027, 7, 9)), "2 years");
        assert_eq!(age(day, date(2024, 1, 1)), "under a month", "a clock that is wrong");
    }
}
