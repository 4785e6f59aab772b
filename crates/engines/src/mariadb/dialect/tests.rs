use super::*;
use crate::sql::Nullable;

#[test]
fn a_string_in_the_key_has_a_length_and_elsewhere_none() {
    let table = TableDef {
        name: "t",
        columns: &[("id", SqlType::Text, Nullable::No), ("words", SqlType::Text, Nullable::Yes)],
        key: &["id"],
    };
    assert!(
        MariaSql.create_table(&table).starts_with(
            "CREATE TABLE t (id VARCHAR(255) NOT NULL, words LONGTEXT, PRIMARY KEY (id)) \
             ENGINE=InnoDB"
        ),
        "{}",
        MariaSql.create_table(&table)
    );
}
