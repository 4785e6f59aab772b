//! A second process that uses a database which this one has open: this program again, running a
//! test that is otherwise ignored.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use embermark_engines::{Join, Link, OpenOptions, Tier, registry};
use embermark_model::Durability;
use embermark_skips::{is_here, sampled};

pub mod common;

use common::{REQUEST_VARIABLE, close, count, create, join, options, write};

/// Prefix of a helper's answers, among the output of the test program itself.
const ANSWER: &str = "answer ";

/// Runs the helper, whose request has the engine, folder, tier and address of the database.
fn helper(request: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["join::joins_and_counts", "--exact", "--ignored", "--nocapture"]);
    command
        .env(REQUEST_VARIABLE, request)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn answer(from: &mut BufReader<ChildStdout>) -> i64 {
    for line in from.lines() {
        // The first output of the test program is on the same line.
        if let Some((_, answer)) = line.unwrap().split_once(ANSWER) {
            return answer.parse().unwrap();
        }
    }
    panic!("the helper ended without an answer")
}

#[test]
fn what_a_process_commits_another_one_that_joined_it_reads() {
    let engines = registry::ENGINES.iter().copied().filter(|engine| is_here(*engine));
    for engine in sampled(engines, 8) {
        let id = engine.info().id;
        let offered = |tier: &Durability| matches!(engine.tier(*tier), Tier::Offered { .. });
        for tier in sampled(Durability::ALL.into_iter().filter(offered), 1) {
            let dir = tempfile::tempdir().unwrap();
            let options = options(dir.path(), tier, Link::Socket);
            let mut store = engine.open(&options).unwrap().store;
            let at = match join(&store) {
                Join::At(at) => at,
                Join::Exclusive(why) => {
                    assert!(why.len() > 10, "{id}: {why}");
                    assert!(engine.join(&options, "").err().unwrap().is_unsupported(), "{id}");
                    close(store).unwrap();
                    continue;
                }
            };
            create(&mut store).unwrap();
            write(&mut store, 1, 1).unwrap();
            let request = format!("{id}\n{}\n{tier}\n{at}", options.dir.display());
            let mut child = helper(&request);
            let mut out = BufReader::new(child.stdout.take().unwrap());
            assert_eq!(answer(&mut out), 1, "{id} ({tier})");
            write(&mut store, 2, 1).unwrap();
            child.stdin.take().unwrap().write_all(b"go on\n").unwrap();
            assert_eq!(answer(&mut out), 2, "{id} ({tier})");
            assert!(child.wait().unwrap().success(), "{id} ({tier})");
            // The end of the process has removed nothing.
            write(&mut store, 3, 1).unwrap();
            assert_eq!(count(&mut store).unwrap(), 3, "{id} ({tier})");
            close(store).unwrap();
            println!("{id} ({tier}) was joined");
        }
    }
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn joins_and_counts() {
    let request = std::env::var(REQUEST_VARIABLE).unwrap();
    let [id, dir, tier, at] = request.splitn(4, '\n').collect::<Vec<_>>().try_into().unwrap();
    let tier = tier.parse().unwrap();
    let options = OpenOptions::new(dir, tier, 64 << 20);
    let mut store = registry::find(id).unwrap().join(&options, at).unwrap();
    println!("{ANSWER}{}", count(&mut store).unwrap());
    std::io::stdin().read_line(&mut String::new()).unwrap();
    println!("{ANSWER}{}", count(&mut store).unwrap());
    close(store).unwrap();
}
