use super::*;

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn what_adapters_explain_is_written_where_they_say_and_of_phases_that_there_are() {
    let known = Known::with(Vec::new());
    let all: Vec<&Explained> = known.explanations.iter().flat_map(|(_, all)| *all).collect();
    assert_eq!(all.is_empty(), cfg!(not(any(feature = "duckdb", feature = "postgres"))));
    for one in all {
        let (file, section) = one.section.split_once('#').unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        let mut headings = text.lines().filter(|line| line.starts_with('#'));
        let is_it = |line: &str| anchor(line.trim_start_matches(['#', ' '])) == section;
        assert!(headings.any(is_it), "{}", one.section);
        for phase in one.phases {
            assert!(known.order.contains(phase), "{phase}");
        }
    }
}
