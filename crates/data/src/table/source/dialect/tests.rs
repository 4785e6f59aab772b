//! Recognising how texts are written.

use super::*;

fn of(text: &str) -> Dialect {
    Dialect::detect(text.as_bytes(), &[], true).unwrap()
}

#[test]
fn delimiter_and_names_are_those_by_which_lines_are_alike() {
    let plain = of("a,b\n1,2\n3,4\n");
    assert_eq!((&*plain.delimiter, plain.skip, plain.is_plain), (",", 1, true));
    assert_eq!(plain.names, ["a", "b"]);
    assert_eq!(of("a;b\n1,5;2,5\n3,5;4,5\n").delimiter, ";");
    assert_eq!(of("a\tb\n1\tx y\n2\tx y\n").delimiter, "\t");
    assert_eq!(of("a b\n1 2\n3 4\n").delimiter, " ");
    assert_eq!(of("text\nhello, world\nbye\nx\n").delimiter, ",");
    let quoted = of("a|\"b|c\"\n1|\"x|y\"\n");
    assert_eq!((&*quoted.delimiter, &quoted.names[..]), ("|", &["a".into(), "b|c".into()][..]));
    assert_eq!(of("a,,a\n1,2,3\n").names, ["a", "column1", "a_1"]);
    assert_eq!(of("\"x\",\"y\"\n\"1\",2,3\n\"2\",3,4\n\"3\",4,5\n").names, ["row_name", "x", "y"]);
}

#[test]
fn what_stands_before_the_rows_is_skipped() {
    let comments = of("# device\n#\ntime,v\n2024-01-01,1\n2024-01-02,2\n");
    assert_eq!((comments.skip, &comments.names[..]), (3, &["time".into(), "v".into()][..]));
    assert!(comments.options(2).contains("skip = 3,"), "{}", comments.options(2));
    // The reader does not count comments among skipped lines if it leaves them out.
    let among = of("# device\n#\ntime,v\n2024-01-01,1\n# restart\n2024-01-02,2\n");
    assert_eq!((among.skip, among.comments), (3, true));
    assert!(among.options(2).contains("skip = 1,"), "{}", among.options(2));
    assert_eq!(of("#time,v\n2024-01-01,1\n2024-01-02,2\n").names, ["time", "v"]);
    assert_eq!(of("Title;;\n;;\na;b;c\n1;2;3\n").names, ["a", "b", "c"]);
    let quoted = of("a,b\n1,\"x\ny\"\n2,\"z\n\nq\"\n");
    assert_eq!((quoted.skip, quoted.names.len()), (1, 2));
    let sep = of("sep=;\nt;v\n1;2\n");
    assert_eq!((sep.skip, &*sep.delimiter, sep.is_plain), (2, ";", false));
    let none = of("2024-01-01,1\n2024-01-02,2\n");
    assert_eq!(
        (none.skip, none.header, &none.names[..]),
        (0, false, &["column0".into(), "column1".into()][..])
    );
    let mut units = "t,v\ns,degC\n".to_owned();
    (0..20).for_each(|row| units += &format!("{row},{row}.5\n"));
    assert_eq!((of(&units).skip, of(&units).is_plain), (2, false));
}

#[test]
fn a_row_with_a_word_for_no_value_is_no_line_of_names() {
    // Nor one with numbers whose signs a time could also have.
    for first in ["1.5,NaN,0.5", "-1.284650e-05,0.5,0.5"] {
        let dialect = of(&format!("{first}\n2.5,0.25,0.5\n3.5,0.5,0.5\n"));
        assert_eq!((dialect.header, dialect.skip, dialect.header_differs), (false, 0, false));
    }
}

#[test]
fn encodings_and_ends_of_lines_are_told() {
    assert_eq!(Dialect::detect(b"caf\xe9,b\n1,2\n", &[], true).unwrap().names[0], "café");
    let wide: Vec<u8> = "a;b\n1;2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = Dialect::detect(&[&b"\xff\xfe"[..], &wide].concat(), &[], false).unwrap();
    assert_eq!((wide.encoding.as_deref(), &*wide.delimiter), (Some("utf-16"), ";"));
    assert!(of("a,b\r\n1,2\r\n").strict && !of("a,b\n1,2\r\n3,4\r\n").strict);
}

#[test]
fn options_that_are_given_are_taken() {
    let read = [
        ("skip".to_owned(), Literal::Int(2)),
        ("names".to_owned(), Literal::List(vec![Literal::Text("x".to_owned())])),
    ];
    let dialect = Dialect::detect(b"junk\nh\n1\n2\n", &read, true).unwrap();
    assert_eq!((dialect.skip, &dialect.names[..]), (2, &["x".to_owned()][..]));
}
