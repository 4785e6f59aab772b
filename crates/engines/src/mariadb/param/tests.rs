use super::*;

#[test]
fn a_value_of_another_type_or_longer_than_any_before_does_not_suit() {
    let mut slot = Slot::new();
    let long = "x".repeat(1000);
    assert!(slot.put(Param::Null).unwrap() && slot.put(Param::Int(-1)).unwrap());
    for param in [Param::Float(0.5), Param::Text(""), Param::Text(&long), Param::Int(7)] {
        assert!(!slot.put(param).unwrap(), "{param:?}");
        slot.suit(param);
        assert!(slot.put(param).unwrap(), "{param:?}");
        assert!(slot.put(Param::Null).unwrap());
    }
    slot.suit(Param::Text("short"));
    assert!(slot.put(Param::Text(&long)).unwrap(), "what was there is kept");
    slot.suit(Param::Float(0.0));
    assert!(slot.put(Param::Float(f64::INFINITY)).unwrap_err().to_string().contains("inf"));
}
