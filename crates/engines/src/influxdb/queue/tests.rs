use std::net::UdpSocket;
use std::time::{Duration, Instant};

use super::*;

#[test]
fn what_the_kernel_holds_for_a_socket_is_seen_and_what_it_drops_is_counted() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    sender.connect(receiver.local_addr().unwrap()).unwrap();
    let mut queue = Queue::of(std::process::id()).unwrap();
    let port = receiver.local_addr().unwrap().port();
    let table = fs::read_to_string(TABLE).unwrap();
    queue.inode = lines(&table).find(|line| line.port == port).unwrap().inode;
    let none = queue.filling().unwrap();
    assert_eq!((none.bytes, none.dropped), (0, 0));
    sender.send(&[7; 100]).unwrap();
    let one = queue.filling().unwrap();
    assert!(one.bytes >= 100 && one.dropped == 0, "{one:?}");
    for _ in 0..20_000 {
        sender.send(&[7; 1000]).unwrap();
    }
    assert!(queue.filling().unwrap().dropped > 0);
    drop(receiver);
    // A child that another test starts just now has the socket too, until it becomes a program.
    let waiting = Instant::now();
    let gone = loop {
        match queue.filling() {
            Err(error) => break error,
            Ok(_) => assert!(waiting.elapsed() < Duration::from_secs(30), "still there"),
        }
    };
    assert!(gone.to_string().contains("is gone"), "{gone}");
}
