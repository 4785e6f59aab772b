use std::collections::VecDeque;
use std::process::{Command, Stdio};
use std::thread;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

/// Samples that fit.
const FIT: usize = 16 * 1024 / 18;

const LAST: Account = Account { made: 1, lost: 2, missed: 3, latest_ns: u64::MAX };

fn queue() -> (Sender, Receiver) {
    let (reader, writer) = io::pipe().unwrap();
    (Sender::over(writer).unwrap(), Receiver::of(reader))
}

const fn values(number: u64) -> Values {
    [number as u16, (number >> 16) as u16, 2, !number as u16, 4_095]
}

fn sample(number: u64) -> Received {
    Received::Sample(number, values(number))
}

#[test]
fn it_holds_sixteen_kibibytes_in_order_and_refuses_what_does_not_fit() {
    let (mut sender, mut receiver) = queue();
    let mut fit = 0;
    while sender.offer(fit, &values(fit)).unwrap() {
        fit += 1;
    }
    assert_eq!(fit, 910);
    assert!(!sender.offer(fit, &values(fit)).unwrap() && !sender.end(&LAST).unwrap());
    for number in 0..fit {
        assert_eq!(receiver.receive().unwrap(), sample(number));
    }
    assert!(sender.end(&LAST).unwrap());
    drop(sender);
    for _ in 0..2 {
        assert_eq!(receiver.receive().unwrap(), Received::End(LAST));
        assert_eq!(receiver.rest().unwrap(), LAST, "it ended, and stays ended");
    }
}

#[test]
fn the_time_that_samples_are_due_from_comes_before_them() {
    let (mut sender, mut receiver) = queue();
    sender.begin(u64::MAX - 7).unwrap();
    assert!(sender.offer(0, &values(0)).unwrap());
    assert_eq!(receiver.receive().unwrap(), sample(0));
    assert_eq!(receiver.began_ns, u64::MAX - 7);
}

#[test]
fn its_bound_is_exact_wherever_in_their_pages_messages_begin_and_end() {
    let (mut sender, mut receiver) = queue();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut held: VecDeque<u64> = VecDeque::new();
    let (mut next, mut refused, mut emptied) = (0, 0, 0);
    for _ in 0..2_000 {
        for _ in 0..random.next_u64() % 1_000 {
            let fits = sender.offer(next, &values(next)).unwrap();
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
            assert_eq!(receiver.receive().unwrap(), sample(number));
        }
    }
    assert!(refused > 1_000 && emptied > 100, "{refused} and {emptied}");
}

#[test]
fn millions_pass_from_thread_to_thread_whole_and_in_order() {
    const SAMPLES: u64 = 2_000_000;
    let (mut sender, mut receiver) = queue();
    let sent = thread::spawn(move || {
        for number in 0..SAMPLES {
            while !sender.offer(number, &values(number)).unwrap() {
                thread::yield_now();
            }
        }
        while !sender.end(&LAST).unwrap() {
            thread::yield_now();
        }
    });
    for number in 0..SAMPLES {
        assert_eq!(receiver.receive().unwrap(), sample(number));
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
    assert!(sender.offer(7, &values(7)).unwrap());
    thread::sleep(std::time::Duration::from_millis(20));
    assert!(!waiting.is_finished());
    drop(sender);
    let (first, second, rest) = waiting.join().unwrap();
    assert_eq!(first, sample(7));
    for gone in [second.map(drop), rest.map(drop)] {
        assert_eq!(gone.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}

#[test]
fn what_a_sender_sent_before_it_died_still_comes() {
    let (mut sender, mut receiver) = queue();
    for number in 0..300 {
        assert!(sender.offer(number, &values(number)).unwrap());
    }
    drop(sender);
    for number in 0..300 {
        assert_eq!(receiver.receive().unwrap(), sample(number));
    }
    assert_eq!(receiver.receive().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn a_sender_without_a_receiver_is_told() {
    let (mut sender, receiver) = queue();
    assert!(sender.offer(0, &values(0)).unwrap());
    drop(receiver);
    let gone = |error: io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    assert!(sender.offer(1, &values(1)).is_err_and(gone));
    assert!(sender.end(&LAST).is_err_and(gone));
}

#[test]
fn a_process_that_is_killed_ends_the_queue_and_other_children_do_not_hold_it() {
    let sleeping = |out: Stdio| Command::new("sleep").arg("60").stdout(out).spawn().unwrap();
    let (reader, writer) = io::pipe().unwrap();
    let (mut sender, mut receiver) =
        (Sender::over(writer.try_clone().unwrap()).unwrap(), Receiver::of(reader));
    // As a server that is started while the sensor runs.
    let mut other = sleeping(Stdio::null());
    let mut sensor = sleeping(Stdio::from(writer));
    assert!(sender.offer(0, &values(0)).unwrap());
    drop(sender);
    assert_eq!(receiver.receive().unwrap(), sample(0));
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
    let error = Sender::over(PipeWriter::from(std::os::fd::OwnedFd::from(file))).err().unwrap();
    assert!(error.to_string().contains("a pipe of"), "{error}");
}
