//! Imitated network links in a report: what they are models of, and what they did.

use std::path::Path;

use embermark_model::NetworkLink;
use embermark_model::network::{Carried, LinkUse};
use embermark_model::result::ResultFile;
use embermark_report::advise::tables;
use embermark_report::compare::compare;
use embermark_report::{Format, Options, load, render, screen};

const ABOUT: &str =
    "servers over an imitated network: a model of radio, not a measurement of a network";

/// The fixture's cells, with one trial that went over a link.
pub(crate) fn over_a_link() -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    file.plan.network = Some(NetworkLink {
        name: "radio".to_owned(),
        about: "a \u{1b}[2Jradio".to_owned(),
        delay_us: 2_500,
        jitter_us: 4_000,
        up_kbit_per_s: 375,
        down_kbit_per_s: 20_000,
        half_duplex: true,
        loss_ppm: 2_000,
        queue_bytes: 100_000,
    });
    let carried = |packets| Carried { packets, bytes: 1_000 * packets, lost: 3, dropped: 1 };
    let trial = file.cells.iter_mut().flat_map(|cell| &mut cell.trials).next().unwrap();
    trial.network = Some(LinkUse {
        round_trip_ns: 9_800_000,
        up: carried(1_000),
        down: carried(1_500),
        late_ns: 250_000_000,
        latest_ns: 20_000_000,
    });
    // The values that a file has.
    serde_json::from_slice(&serde_json::to_vec(&file).unwrap()).unwrap()
}

#[test]
fn a_link_is_told_as_a_model_with_its_parameters_and_what_it_did() {
    let (file, options) = (over_a_link(), Options { width: 300, ..Options::default() });
    let screen = screen(&file, &options, &Default::default());
    assert!(screen.contains(ABOUT), "{screen}");
    let tables = render(&file, Format::Table, &options).unwrap();
    for says in [
        ABOUT,
        "2.50 ms and up to 4.00 ms more in each direction; 375 kbit/s to the server and 20 Mbit/s from it, one side \
         at a time; 0.2 % of packets lost; queue 100 kB",
        "1,000 packets of 1.00 MB to servers and 1,500 packets of 1.50 MB from them; 6 lost, 2 found the queue full",
        "a round trip over TCP took up to 9.80 ms before an engine was opened (5.00 ms of them the delay); packets \
         were 100 µs late on average and at most 20.0 ms",
    ] {
        assert!(tables.contains(says), "{says}\n{tables}");
    }
    assert!(!tables.contains('\u{1b}'));
}

#[test]
fn a_link_that_no_trial_went_over_is_not_told() {
    let mut file = over_a_link();
    file.cells.iter_mut().flat_map(|cell| &mut cell.trials).for_each(|trial| trial.network = None);
    let screen = screen(&file, &Options::default(), &Default::default());
    assert!(!screen.contains("imitated network"), "{screen}");
}

#[test]
fn results_with_different_links_are_not_compared() {
    let (mut old, new) = (over_a_link(), over_a_link());
    assert_eq!(compare(&old, &new).differences.incomparable, Vec::<String>::new());
    old.plan.network = None;
    let reasons = compare(&old, &new).differences.incomparable;
    assert!(
        reasons.iter().any(|reason| reason.starts_with("network: none, then radio: ")),
        "{reasons:?}"
    );
}

#[test]
fn exports_have_what_a_link_did() {
    let csv = render(&over_a_link(), Format::Csv, &Options::default()).unwrap();
    let head = csv.lines().next().unwrap();
    let at = head.split(',').position(|name| name == "network_round_trip_ns").unwrap();
    assert!(csv.lines().skip(1).any(|line| line.split(',').nth(at) == Some("9800000")), "{head}");
}

#[test]
fn advice_says_that_servers_were_behind_a_link() {
    let tables = tables(&[&over_a_link()], None, &[]).tables;
    assert!(!tables.is_empty());
    for table in &tables {
        assert!(table.at.ends_with(" rows, servers over radio"), "{}", table.at);
        let mut commands = table.commands.values();
        assert!(
            commands.all(|command| command.contains(" --network radio")),
            "{:?}",
            table.commands
        );
    }
}
