use super::*;

struct Dollars;

impl Dialect for Dollars {
    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }
}

#[test]
fn every_question_stands_once_in_one_layout_and_has_its_parameters_in_order() {
    let all = [Layout::Samples, Layout::Seconds].map(|layout| all(layout, &Dollars)).concat();
    let text = |question| {
        let mut found = all.iter().filter(|(other, _)| *other == question);
        let (_, text) = found.next().unwrap();
        assert!(found.next().is_none(), "{question:?}");
        text.as_str()
    };
    assert_eq!(
        text(Question::Seek(Seek::LastBelow)),
        "SELECT s, ns FROM sample WHERE s <= $1 AND (s < $2 OR ns < $3) AND number = 0 \
         AND value < 511 ORDER BY s DESC, ns DESC LIMIT 1"
    );
    assert!(text(Question::Insert).ends_with("($17, $18, $19, $20)"));
    assert!(all.iter().all(|(question, _)| !text(*question).is_empty()));
}
