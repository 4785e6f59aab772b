use std::collections::VecDeque;
use std::process::{Command, Stdio};
use std::thread;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

/// Five numbers of two bytes, in 16 KiB.
const SHAPE: Shape = Shape { payload: 10, bytes: 16 * 1024 };

/// Rows that fit.
const FIT: usize = 16 * 1024 / 18;

const LAST: Account = Account { made: 1, missed: 3, latest_ns: u64::MAX };

/// Returns what a queue has carried when a sensor that began at a time has put rows of these
/// numbers into it, and the account of this many rows that were made.
pub(crate) fn queued(
    shape: Shape,
    began_ns: u64,
    numbers: impl IntoIterator<Item = u64>,
    made: u64,
) -> Vec<u8> {
    let (mut reader, writer) = io::pipe().unwrap();
    let mut sender = Sender::over(writer, shape).unwrap();
    sender.begin(began_ns).unwrap();
    for number in numbers {
        assert!(sender.offer(number, &[0; MOST][..shape.payload]).unwrap());
    }
    assert!(sender.end(&Account { made, ..Account::default() }).unwrap());
    drop(sender);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    bytes
}

fn queue() -> (Sender, Receiver) {
    let (reader, writer) = io::pipe().unwrap();
    (Sender::over(writer, SHAPE).unwrap(), Receiver::new(reader, SHAPE))
}

fn payload(number: u64) -> [u8; 10] {
    let mut payload = [7; 10];
    payload[1..9].copy_from_slice(&(!number).to_le_bytes());
    payload
}

/// Receives a whole row of that number.
fn receive(receiver: &mut Receiver, number: u64) {
    assert_eq!(receiver.receive().unwrap(), Received::Row(number));
    assert_eq!(receiver.payload(), payload(number));
}

#[test]
fn it_holds_sixteen_kibibytes_in_order_and_refuses_what_does_not_fit() {
    let (mut sender, mut receiver) = queue();
    let mut fit = 0;
    while sender.offer(fit, &payload(fit)).unwrap() {
        fit += 1;
    }
    assert_eq!(fit, 910);
    assert!(!sender.offer(fit, &payload(fit)).unwrap() && !sender.end(&LAST).unwrap());
    for number in 0..fit {
        receive(&mut receiver, number);
    }
    assert!(sender.end(&LAST).unwrap());
    drop(sender);
    for _ in 0..2 {
        assert_eq!(receiver.receive().unwrap(), Received::End(LAST));
        assert_eq!(receiver.rest().unwrap(), LAST, "it ended, and stays ended");
    }
}

#[test]
fn numbers_alone_fill_queues_of_one_row_and_of_many() {
    for rows in [1, 7, 1_000, 100_000] {
        let (reader, writer) = io::pipe().unwrap();
        let shape = Shape::of_rows(rows);
        let (mut sender, mut receiver) =
            (Sender::over(writer, shape).unwrap(), Receiver::new(reader, shape));
        let fit = (0..).find(|number| !sender.offer(*number, &[]).unwrap()).unwrap();
        assert_eq!(fit, rows as u64);
        for number in 0..fit {
            assert_eq!(receiver.receive().unwrap(), Received::Row(number));
            assert!(receiver.payload().is_empty());
        }
        assert!(sender.offer(fit, &[]).unwrap());
    }
}

#[test]
fn the_time_that_samples_are_due_from_comes_before_them() {
    let (mut sender, mut receiver) = queue();
    sender.begin(u64::MAX - 7).unwrap();
    assert!(sender.offer(0, &payload(0)).unwrap());
    receive(&mut receiver, 0);
    assert_eq!(receiver.began_ns, u64::MAX - 7);
}

#[test]
fn its_bound_is_exact_wherever_in_their_pages_messages_begin_and_end() {
    let (mut sender, mut receiver) = queue();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut held: VecDeque<u64> = VecDeque::new();
    let (mut next, mut refused, mut emptied) = (0, 0, 0);
    let rounds = if embermark_skips::is_long() { 2_000 } else { 500 };
    for _ in 0..rounds {
        for _ in 0..random.next_u64() % 1_000 {
            let fits = sender.offer(next, &payload(next)).unwrap();
            assert_eq!(fits, held.len() < FIT, "with {} in it", held.len());
            if fits {
                held.push_back(next);
            }
            refused += u64::from(!fits);
            next += 1;
        }
        for _ in 0..random.next_u64() % 1_000 {
            let Some(number) = held.pop_front() else {
                emptied += 1;
                break;
            };
            receive(&mut receiver, number);
        }
    }
    assert!(refused > 1_000 && emptied > 100, "{refused} and {emptied}");
}

#[test]
fn many_pass_from_thread_to_thread_whole_and_in_order() {
    let samples = if embermark_skips::is_long() { 2_000_000 } else { 400_000 };
    let (mut sender, mut receiver) = queue();
    let sent = thread::spawn(move || {
        for number in 0..samples {
            while !sender.offer(number, &payload(number)).unwrap() {
                thread::yield_now();
            }
        }
        while !sender.end(&LAST).unwrap() {
            thread::yield_now();
        }
    });
    for number in 0..samples {
        receive(&mut receiver, number);
    }
    assert_eq!(receiver.rest().unwrap(), LAST);
    sent.join().unwrap();
}

#[test]
fn who_waits_is_woken_by_a_sample_and_by_the_end_of_the_sender() {
    let (mut sender, mut receiver) = queue();
    let waiting = thread::spawn(move || {
        let first = receiver.receive().unwrap();
        (first, receiver.receive(), receiver.rest())
    });
    thread::sleep(std::time::Duration::from_millis(20));
    assert!(!waiting.is_finished());
    assert!(sender.offer(7, &payload(7)).unwrap());
    thread::sleep(std::time::Duration::from_millis(20));
    assert!(!waiting.is_finished());
    drop(sender);
    let (first, second, rest) = waiting.join().unwrap();
    assert_eq!(first, Received::Row(7));
    for gone in [second.map(drop), rest.map(drop)] {
        assert_eq!(gone.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}

#[test]
fn what_a_sender_sent_before_it_died_still_comes() {
    let (mut sender, mut receiver) = queue();
    for number in 0..300 {
        assert!(sender.offer(number, &payload(number)).unwrap());
    }
    drop(sender);
    for number in 0..300 {
        receive(&mut receiver, number);
    }
    assert_eq!(receiver.receive().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn a_sender_without_a_receiver_is_told() {
    let (mut sender, receiver) = queue();
    assert!(sender.offer(0, &payload(0)).unwrap());
    drop(receiver);
    let gone = |error: io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    assert!(sender.offer(1, &payload(1)).is_err_and(gone));
    assert!(sender.end(&LAST).is_err_and(gone));
}

#[test]
fn a_process_that_is_killed_ends_the_queue_and_other_children_do_not_hold_it() {
    let sleeping = |out: Stdio| Command::new("sleep").arg("60").stdout(out).spawn().unwrap();
    let (reader, writer) = io::pipe().unwrap();
    let (mut sender, mut receiver) =
        (Sender::over(writer.try_clone().unwrap(), SHAPE).unwrap(), Receiver::new(reader, SHAPE));
    // It is like a server that is started while the sensor runs.
    let mut other = sleeping(Stdio::null());
    let mut sensor = sleeping(Stdio::from(writer));
    assert!(sender.offer(0, &payload(0)).unwrap());
    drop(sender);
    receive(&mut receiver, 0);
    let waiting = thread::spawn(move || receiver.receive());
    thread::sleep(std::time::Duration::from_millis(20));
    assert!(!waiting.is_finished(), "the sensor holds it");
    sensor.kill().unwrap();
    let gone = waiting.join().unwrap().unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::UnexpectedEof);
    sensor.wait().unwrap();
    assert_eq!(other.try_wait().unwrap(), None, "it runs, and does not hold the queue");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn what_is_no_pipe_is_no_queue() {
    let file = tempfile::tempfile().unwrap();
    let error =
        Sender::over(PipeWriter::from(std::os::fd::OwnedFd::from(file)), SHAPE).err().unwrap();
    assert!(error.to_string().contains("a pipe of"), "{error}");
}
