use super::*;

struct Dollars;

impl Dialect for Dollars {
    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }
}

#[test]
fn every_question_stands_once_in_one_layout_and_has_its_parameters_in_order() {
    let own = Schema::of(Form::Own);
    let all = [Layout::Samples, Layout::Seconds].map(|layout| all(layout, own, &Dollars)).concat();
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

#[test]
fn the_tables_of_the_source_have_its_columns_an_index_of_times_and_no_primary_key() {
    let source = Schema::of(Form::Published);
    let create = |layout| source.create(layout, &Dollars).join("; ");
    assert_eq!(
        create(Layout::Samples),
        "CREATE TABLE datapoint (second BIGINT, nanosecond INTEGER, number SMALLINT, \
         measurement SMALLINT); CREATE INDEX datapoint_time ON datapoint (second, nanosecond)"
    );
    assert_eq!(
        create(Layout::Seconds),
        "CREATE TABLE datapoints (second BIGINT, size INTEGER, measurements TEXT); \
         CREATE INDEX datapoints_time ON datapoints (second)"
    );
    let all =
        [Layout::Samples, Layout::Seconds].map(|layout| all(layout, source, &Dollars)).concat();
    let seek = all.iter().find(|(question, _)| *question == Question::Seek(Seek::LastBelow));
    assert_eq!(
        seek.unwrap().1,
        "SELECT second, nanosecond FROM datapoint WHERE second <= $1 AND (second < $2 \
         OR nanosecond < $3) AND number = 0 AND measurement < 511 \
         ORDER BY second DESC, nanosecond DESC LIMIT 1"
    );
}
