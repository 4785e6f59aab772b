use super::*;

struct Dollars;

impl Dialect for Dollars {
    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }
}

#[test]
fn every_question_has_a_number_of_its_own_and_parameters_in_order() {
    for (number, question) in Question::ALL.into_iter().enumerate() {
        assert_eq!(question.number(), number);
    }
    assert_eq!(
        text(Question::Seek(Seek::LastBelow), &Dollars),
        "SELECT s, ns FROM sample WHERE s <= $1 AND (s < $2 OR ns < $3) AND number = 0 \
         AND value < 511 ORDER BY s DESC, ns DESC LIMIT 1"
    );
    assert!(text(Question::Insert, &Dollars).ends_with("($17, $18, $19, $20)"));
}
