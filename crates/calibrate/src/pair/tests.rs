use super::*;

#[test]
fn both_take_turns_and_the_first_run_of_each_is_discarded() {
    let order = std::cell::RefCell::new(String::new());
    let side = |name: char, ns: f64| {
        let order = &order;
        let mut first = true;
        move || {
            order.borrow_mut().push(name);
            Ok(if std::mem::take(&mut first) { 1e9 } else { ns })
        }
    };
    let medians = turns(side('o', 3.0), side('t', 2.0)).unwrap();
    assert_eq!(medians, [3.0, 2.0]);
    assert_eq!(*order.borrow(), "ottoottoottootto");
}
