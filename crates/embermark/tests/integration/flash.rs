//! Modelled flash cards: `--card`. Recording takes root, FUSE, loop devices and mkfs.ext4.

use crate::common::Sandbox;
use embermark_model::card::{End, Mapping};
use embermark_model::result::{Cell, FlashOfPhase, ResultFile};
use embermark_skips::skipped;

const RUN: [&str; 14] = [
    "run",
    "sensors",
    "-e",
    "sqlite,lmdb",
    "--scale",
    "500",
    "--phases",
    "load,read,update",
    "--runs",
    "1",
    "--trials",
    "1",
    "--card",
    "sd-32gb,emmc-8gb",
];

/// Returns the result of a run with these additional words. `None` if nothing can be recorded here.
fn run(sandbox: &Sandbox, words: &[&str]) -> Option<ResultFile> {
    sandbox.embermark(&[&RUN[..], &["--out", "out"], words].concat()).expect_status(0);
    let result = sandbox.result("out");
    if let Some(why) = &result.manifest.not_modelled {
        skipped("FUSE", why);
        return None;
    }
    Some(result)
}

fn phase<'a>(cell: &'a Cell, card: &str, name: &str) -> &'a FlashOfPhase {
    let models = &cell.counting.as_ref().unwrap().flash;
    let model = models.iter().find(|model| model.card == card).unwrap();
    assert_eq!(model.not_modelled, None);
    model.phase(name).unwrap()
}

/// Recording and modelling take most of the time, so that the report is of the same run.
#[test]
fn what_is_replayed_is_what_the_device_counted_and_the_report_calls_it_a_model() {
    let sandbox = Sandbox::new();
    let words = ["--tier", "process,power", "--variant", "commit-each,bulk"];
    let Some(result) = run(&sandbox, &words) else { return };
    what_is_replayed_is_what_the_device_counted_and_synced_commits_cost_pages(&result);
    the_report_calls_it_a_model_and_tells_years_at_a_rate_and_advice_says_from_where(&sandbox);
}

fn what_is_replayed_is_what_the_device_counted_and_synced_commits_cost_pages(result: &ResultFile) {
    let per_row = |engine: &str, tier: &str, variant: &str, card: &str| {
        let cell = result.cells.iter().find(|cell| {
            let id = &cell.id;
            (&*id.engine, &*id.durability.to_string(), &*id.variant) == (engine, tier, variant)
        });
        let cell = cell.unwrap();
        for counted in &cell.counting.as_ref().unwrap().phases {
            let (run, flash) = (&counted.runs[0], phase(cell, card, &counted.phase));
            // Compares with the loop device's own counters.
            let about = format!("{} {} {card}", cell.id, counted.phase);
            assert_eq!(flash.run.written_bytes, run.device_io.unwrap().written_bytes, "{about}");
            let maintenance = run.maintenance().and_then(|after| after.device_io);
            let recorded = flash.maintenance.map(|after| after.written_bytes);
            assert_eq!(recorded, maintenance.map(|io| io.written_bytes), "{about}");
            // For few bytes the mean over passes is accurate to a few percent. It is not for the
            // one or two blocks that the file system writes during a phase that reads.
            if counted.phase == "read" {
                continue;
            }
            let [low, typical, high] = End::ALL.map(|end| flash.all(end).programmed_bytes as f64);
            assert!(low * 1.1 >= typical && typical * 1.1 >= high, "{about}: {flash:?}");
        }
        phase(cell, card, "load").all(End::Typical).programmed_bytes as f64 / 500.0
    };
    for engine in ["sqlite", "lmdb"] {
        for card in ["sd-32gb", "emmc-8gb"] {
            let of = |tier, variant| per_row(engine, tier, variant, card);
            let synced = of("power", "commit-each");
            // At least a page of 16 KiB for each synced commit.
            assert!(synced >= 16_384.0, "{engine} on {card}: {synced} a row");
            for cheaper in [of("power", "bulk"), of("process", "bulk")] {
                assert!(cheaper * 5.0 < synced, "{engine} on {card}: {cheaper} and {synced}");
            }
        }
        let cheap = per_row(engine, "power", "commit-each", "sd-32gb");
        let better = per_row(engine, "power", "commit-each", "emmc-8gb");
        assert!(
            cheap > better,
            "{engine}: a card with few open blocks merges: {cheap} and {better}"
        );
    }
}

fn the_report_calls_it_a_model_and_tells_years_at_a_rate_and_advice_says_from_where(
    sandbox: &Sandbox,
) {
    let report = |words: &[&str]| {
        sandbox.embermark(&[&["report", "out/result.json"], words].concat()).expect_status(0).stdout
    };
    let table = report(&["--show", "tables"]);
    for expected in [
        "flash programmed on sd-32gb (model)",
        "flash programmed on emmc-8gb (model)",
        "load a million rows",
        "no card was measured",
        "--rows-per-day",
    ] {
        assert!(table.contains(expected), "no '{expected}' in:\n{table}");
    }
    assert!(!table.contains("load years"), "{table}");
    let with_years = report(&["--rows-per-day", "8.64M"]);
    assert!(with_years.contains("load years") && with_years.contains(" y"), "{with_years}");
    let words = with_years.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("wear even over the whole card"), "{with_years}");
    let csv = report(&["--format", "csv"]);
    for column in ["flash_sd_32gb_programmed_bytes", "flash_emmc_8gb_bytes_per_million"] {
        assert!(csv.lines().next().unwrap().contains(column), "{column}");
    }
    let advice = sandbox
        .embermark(&["advise", "out/result.json", "--weight", "wear=1", "--show", "tables"])
        .expect_status(0);
    assert!(advice.stdout.contains("bytes programmed into sd-32gb, a model"), "{}", advice.stdout);
}

#[test]
fn a_card_of_ones_own_is_read_from_a_file_and_from_a_plan() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.toml", "like = \"sd-32gb\"\nopen-units = 1\ncapacity = \"4 GB\"\n");
    sandbox.write("plan.toml", "card = [\"mine.toml\"]\nscale = [\"100\"]\nengines = [\"lmdb\"]\n");
    let words = ["run", "sensors", "--plan", "plan.toml", "--phases", "load", "--runs", "1"];
    sandbox.embermark(&[&words[..], &["--trials", "1", "--out", "out"]].concat()).expect_status(0);
    let result = sandbox.result("out");
    let card = &result.plan.cards[0];
    assert_eq!((card.name.as_str(), card.capacity_bytes), ("mine", 4_000_000_000));
    let Mapping::LogBlocks { open_units } = card.mapping else { panic!("{card:?}") };
    assert_eq!(open_units.typical, 1);
    if let Some(why) = &result.manifest.not_modelled {
        return skipped("FUSE", why);
    }
    assert!(phase(&result.cells[0], "mine", "load").run.typical.programmed_bytes > 0);
}

#[test]
fn what_is_no_card_or_no_rate_is_refused_with_the_nearest_name() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.toml", "like = \"sd-32gb\"\nopen-unit = 1\n");
    sandbox.write("none.toml", "capacity = 3 GB");
    let refused = |words: &[&str], saying: &[&str]| {
        sandbox
            .embermark(&[&["run", "sensors"], words].concat())
            .expect_status(2)
            .expect_stderr(saying);
    };
    refused(&["--card", "sd-32g"], &["unknown card 'sd-32g'", "did you mean 'sd-32gb'?"]);
    refused(&["--card", "bad.toml"], &["bad.toml", "did you mean 'open-units'?"]);
    refused(&["--card", "none.toml"], &["none.toml", "it is not TOML"]);
    refused(&["--card", "absent.toml"], &["absent.toml", "No such file"]);
    refused(&["--card", "sd-32gb", "--no-counting"], &["--no-counting", "leave out one"]);
    refused(&["--rows-per-day", "many"], &["such as 86400"]);
}

#[test]
fn an_ordinary_user_is_told_why_there_is_nothing() {
    if !nix::unistd::geteuid().is_root() {
        return skipped("root", "becoming another user takes it");
    }
    // In a folder that every user can access.
    let sandbox = Sandbox::new_in("/tmp");
    let words =
        ["run", "sensors", "-e", "lmdb", "--scale", "100", "--phases", "load", "--runs", "1"];
    let further = ["--trials", "1", "--card", "sd-32gb", "--out", "out", "--show", "tables"];
    let ended = sandbox.as_ordinary_user(&[&words[..], &further].concat()).expect_status(0);
    let why = sandbox.result("out").manifest.not_modelled.unwrap();
    assert!(why.contains("no card was modelled: only root"), "{why}");
    assert!(ended.stdout.contains("flash programmed (model)"), "{}", ended.stdout);
    assert!(ended.stdout.contains("no card was modelled"), "{}", ended.stdout);
}
