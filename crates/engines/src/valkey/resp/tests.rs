use std::thread;

use super::*;

/// A connection to somebody who says that, a few bytes at a time, and hears what is sent.
fn told(said: &'static [u8], at_a_time: usize) -> Connection {
    let (stream, other) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        for some in said.chunks(at_a_time) {
            if (&other).write_all(some).is_err() {
                return;
            }
        }
        // Until nobody asks any more.
        let _ = (&other).read(&mut [0; 1024]);
    });
    Connection { stream, out: Vec::new(), received: vec![0; ROOM], at: 0, end: 0 }
}

#[test]
fn answers_are_read_in_their_order_however_they_arrive() {
    const SAID: &[u8] =
        b"+OK\r\n:-42\r\n$5\r\nva\r\nl\r\n$-1\r\n*2\r\n:7\r\n$0\r\n\r\n*-1\r\n$-1\r\n-ERR no\r\n";
    for at_a_time in [1, 2, 3, 7, SAID.len()] {
        let mut connection = told(SAID, at_a_time);
        connection.done().unwrap();
        assert_eq!(connection.integer().unwrap(), -42);
        assert_eq!(connection.bulk().unwrap(), Some(&b"va\r\nl"[..]));
        assert_eq!(connection.bulk().unwrap(), None);
        assert_eq!(connection.list().unwrap(), 2);
        assert_eq!(connection.number_or_none().unwrap(), Some(7));
        assert_eq!(connection.number_or_none().unwrap(), None);
        connection.skip().unwrap();
        assert!(!connection.was_done().unwrap());
        assert!(matches!(connection.done(), Err(Failure::Refused(why)) if why == "ERR no"));
    }
}

#[test]
fn a_value_may_be_larger_than_the_room_and_what_follows_it_is_not_lost() {
    let size = 3 * ROOM + 5;
    let said = format!("+OK\r\n${size}\r\n{}\r\n:1\r\n", "x".repeat(size)).into_bytes().leak();
    for at_a_time in [1000, ROOM - 1, said.len()] {
        let mut connection = told(said, at_a_time);
        connection.done().unwrap();
        let value = connection.bulk().unwrap().unwrap();
        assert!(value.len() == size && value.iter().all(|byte| *byte == b'x'));
        assert_eq!(connection.integer().unwrap(), 1);
    }
}

#[test]
fn what_is_no_answer_and_an_end_in_the_middle_of_one_are_errors() {
    for said in [&b"?what\r\n"[..], b":x1\r\n", b":\r\n", b"\r\n", b"\n"] {
        let mut connection = told(said, 100);
        assert!(matches!(connection.skip(), Err(Failure::Unexpected(_))), "{said:?}");
    }
    let mut connection = told(b"+OK\r\n", 100);
    assert!(matches!(connection.bulk(), Err(Failure::Unexpected(_))));
    let (stream, other) = UnixStream::pair().unwrap();
    (&other).write_all(b"$10\r\nabc").unwrap();
    drop(other);
    let mut connection =
        Connection { stream, out: Vec::new(), received: vec![0; ROOM], at: 0, end: 0 };
    assert!(matches!(connection.bulk(), Err(Failure::Broken(_))));
}

#[test]
fn a_command_is_its_words_with_their_lengths() {
    let mut connection = told(b"", 1);
    connection.command(4, "SET");
    connection.word(&[b"1:", b"\0key"]);
    connection.word(&[b""]);
    connection.number(120);
    let expected = b"*4\r\n$3\r\nSET\r\n$6\r\n1:\0key\r\n$0\r\n\r\n$3\r\n120\r\n";
    assert_eq!(connection.out, expected);
}

#[test]
fn whole_numbers_are_read_up_to_the_largest() {
    assert_eq!(whole(b"0"), Some(0));
    assert_eq!(whole(b"-7"), Some(-7));
    assert_eq!(whole(b"9223372036854775807"), Some(i64::MAX));
    for wrong in [&b""[..], b"-", b"1x", b"+1", b"9223372036854775808"] {
        assert_eq!(whole(wrong), None, "{wrong:?}");
    }
}
