use super::*;

struct Dollars;

impl Dialect for Dollars {
    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }
}

#[test]
fn every_question_stands_once_in_one_layout_and_has_its_parameters_in_order() {
    let all = [Layout::Samples, Layout::Seconds].map(Question::of).concat();
    for question in &all {
        assert_eq!(all.iter().filter(|other| *other == question).count(), 1, "{question:?}");
    }
    assert_eq!(
        text(Question::Seek(Seek::LastBelow), &Dollars),
        "SELECT s, ns FROM sample WHERE s <= $1 AND (s < $2 OR ns < $3) AND number = 0 \
         AND value < 511 ORDER BY s DESC, ns DESC LIMIT 1"
    );
    assert!(text(Question::Insert, &Dollars).ends_with("($17, $18, $19, $20)"));
}
