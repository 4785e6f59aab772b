use super::*;

fn line(ours: [f64; 3], theirs: [f64; 3]) -> Line {
    let mut line = Line::new("lmdb", "0.9.70", "read", "bare C loop");
    ours.into_iter().zip(theirs).for_each(|(ours, theirs)| line.push([ours, theirs]));
    line
}

#[test]
fn a_ratio_within_five_percent_is_the_same_and_others_are_explained() {
    let same = line([104.0, 180.0, 900.0], [100.0, 200.0, 300.0]);
    assert_eq!(same.ratio(), Some(1.04), "the median of 1.04, 0.9 and 3");
    assert_eq!(same.verdict(), "within 5 %");
    assert_eq!(same.brief(), "  read: 1.040 of bare C loop");
    assert_eq!(line([106.0; 3], [100.0; 3]).verdict(), "see docs/calibration.md");
    assert_eq!(line([94.0; 3], [100.0; 3]).verdict(), "see docs/calibration.md");
}

#[test]
fn the_table_shows_both_sides_their_ratio_and_its_interval() {
    let shown = table(&[line([104.0, 104.0, 106.0], [100.0; 3])]);
    for part in ["lmdb 0.9.70", "104 ns", "100 ns bare C loop", "1.040", "1.040-1.060"] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
}

#[test]
fn what_was_not_measured_is_no_number() {
    let nothing = Line::new("x", "1", "read", "tool");
    assert_eq!((nothing.ratio(), nothing.has_figures()), (None, false));
    assert!(table(&[nothing]).contains("not measured"));
}
