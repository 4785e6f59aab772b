use super::*;

fn set(values: &[Value]) -> ResultSet {
    ResultSet { columns: 1, ordered: false, values: values.to_vec() }
}

#[test]
fn two_that_agree_one_alone_and_two_that_differ_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let spec = Spec { referees: &["one", "two"], ..Spec::of(dir.path().join("a-10.rows"), "", 1) };
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
    let values = [Value::Text("Linz, old".into()), Value::Int(4), Value::Null, Value::Float(5.5)];
    let answer = read(&file, true).unwrap();
    assert_eq!(answer, ResultSet { columns: 2, ordered: true, values: values.to_vec() });
    fs::write(&file, "city,n\nLinz\n").unwrap();
    let error = read(&file, true).unwrap_err().to_string();
    assert!(error.contains("right.csv cannot be read") && error.contains("1 field"), "{error}");
    assert!(read(&dir.path().join("none.csv"), true).is_err());
}
