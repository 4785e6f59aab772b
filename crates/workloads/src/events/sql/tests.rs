use embermark_data::events;

use super::*;

#[test]
fn a_typed_row_has_every_column_and_the_values_of_its_bucket_alone() {
    let event =
        |data| Record { event: events::Event { id: 1, timestamp: 2, data }, json: String::new() };
    let air = event(Payload::Co2 { co2: 3.0 });
    let row = params(&air, Form::Typed);
    assert_eq!(row[..3], [Param::Int(1), Param::Int(2), Param::Text("co2")]);
    assert_eq!(row[3..6], [Param::Null, Param::Null, Param::Float(3.0)]);
    assert_eq!(row[6..], [Param::Null; 5]);
    assert_eq!(params(&air, Form::Json).len(), 4);
}
