use super::*;

#[test]
fn both_take_turns_and_the_first_run_of_each_is_discarded() {
    let mut order = String::new();
    let figures = turns(RUNS, |side| {
        let (name, ns) = match side {
            Side::Ours => ('o', 3.0),
            Side::Theirs => ('t', 2.0),
        };
        let first = !order.contains(name);
        order.push(name);
        Ok(if first { 1e9 } else { ns })
    });
    assert_eq!(medians(&figures.unwrap()), [3.0, 2.0]);
    assert_eq!(order, "ottoottoottootto");
}
