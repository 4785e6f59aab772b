use super::{Found, Question};
use crate::retention::rows::{Row, Rows};

fn rows() -> Rows {
    Rows::new(3, 480).unwrap()
}

/// What a store holds, asked row by row.
fn answered(question: &Question, there: &[Row]) -> Found {
    let mut found = Found::new();
    match *question {
        Question::Newest { sensor } => {
            found.rows.extend(there.iter().rev().find(|row| row.sensor == sensor));
        }
        Question::Range { sensor, from_ms, to_ms } => {
            let own = |row: &&Row| row.sensor == sensor && (from_ms..to_ms).contains(&row.time_ms);
            found.rows.extend(there.iter().filter(own));
        }
        Question::Mean { from_ms, to_ms } => {
            let within = there.iter().filter(|row| (from_ms..to_ms).contains(&row.time_ms));
            let values: Vec<f64> = within.map(|row| row.temperature).collect();
            found.mean =
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        }
    }
    found
}

#[test]
fn answers_of_the_rows_that_are_there_are_right_at_any_time() {
    let rows = rows();
    for came in [1, 19, 20, 21, 333, 480, 500, 777, 1_000, 1_234] {
        let there: Vec<Row> = rows.there(came).map(|number| rows.row(number)).collect();
        for number in 0..60 {
            let question = Question::number(&rows, number, came);
            question.check(&rows, came, &answered(&question, &there)).unwrap();
        }
    }
}

#[test]
fn a_row_too_many_or_too_few_or_another_value_is_wrong() {
    let (rows, came) = (rows(), 777);
    let there: Vec<Row> = rows.there(came).map(|number| rows.row(number)).collect();
    let [newest, range, mean] = [0, 1, 2].map(|number| Question::number(&rows, number, came));
    let refused = |question: &Question, spoil: &dyn Fn(&mut Found)| {
        let mut found = answered(question, &there);
        spoil(&mut found);
        let wrong = question.check(&rows, came, &found).unwrap_err().0;
        assert!(wrong.contains("expected"), "{wrong}");
    };
    refused(&newest, &|found| found.rows.clear());
    refused(&newest, &|found| found.rows[0].battery += 1);
    refused(&range, &|found| _ = found.rows.pop());
    refused(&range, &|found| found.rows.push(Row::default()));
    refused(&range, &|found| found.rows[2].humidity += 0.25);
    refused(&mean, &|found| found.mean = None);
    refused(&mean, &|found| found.mean = found.mean.map(|mean| mean + 0.001));
}

#[test]
fn expired_rows_are_in_no_answer() {
    let (rows, came) = (rows(), 520);
    let all: Vec<Row> = (0..came).map(|number| rows.row(number)).collect();
    // A range that is longer than the day.
    let question = Question::Range { sensor: 0, from_ms: all[0].time_ms, to_ms: i64::MAX };
    assert!(question.check(&rows, came, &answered(&question, &all)).is_err());
    assert!(question.check(&rows, came, &answered(&question, &all[20..])).is_ok());
}
