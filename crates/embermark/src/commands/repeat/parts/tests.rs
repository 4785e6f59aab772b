use embermark_harness::device;

use super::*;

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

fn parts(sources: &[&str], pieces: &[&str], given: &PlanArgs) -> Result<Vec<Part>, String> {
    of(&words(sources), &words(pieces), given, None).map_err(|failure| failure.to_string())
}

fn folders(parts: &[Part]) -> Vec<&str> {
    parts.iter().map(|part| &*part.folder).collect()
}

#[test]
fn every_piece_is_a_plan_at_each_of_its_scales() {
    let given = PlanArgs::default();
    let all = parts(&["all"], &[], &given).unwrap();
    for part in &all {
        let plan = part.plan().unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(plan.repeats.as_ref(), Some(&part.repeats));
        assert_eq!(plan.scales.len(), 1, "{}", part.folder);
        assert_eq!(plan.timeout_ms, None, "{}: as long as it takes", part.folder);
    }
    let mut folders = folders(&all);
    folders.sort_unstable();
    folders.dedup();
    assert_eq!(folders.len(), all.len(), "each has a folder of its own");
}

#[test]
fn sources_and_pieces_are_chosen_by_name() {
    let usual = PlanArgs::default();
    let all = parts(&["mcknight", "mcknight"], &["sqlite", "journal"], &usual).unwrap();
    assert_eq!(folders(&all), ["mcknight/sqlite", "mcknight/journal"]);
    let scales = parts(&["harperdb"], &["sqlite"], &usual).unwrap();
    assert_eq!(scales.len(), 7);
    assert_eq!(scales[6].folder, "harperdb/sqlite-5k");
    assert!(parts(&["mcknigt"], &[], &usual).unwrap_err().contains("did you mean 'mcknight'"));
    assert!(parts(&["mcknight"], &["sqlight"], &usual).unwrap_err().contains("'sqlite'"));
}

#[test]
fn scales_and_repetitions_that_are_given_win() {
    let given = PlanArgs { scale: words(&["10"]), runs: Some(2), ..PlanArgs::default() };
    let all = parts(&["harperdb"], &["batch"], &given).unwrap();
    assert_eq!(folders(&all), ["harperdb/batch-10"]);
    assert_eq!((all[0].plan.runs, &all[0].plan.scale), (Some(2), &words(&["10"])));
}

#[test]
fn what_a_source_says_cannot_be_given() {
    for (option, given) in [
        ("--engines", PlanArgs { engines: words(&["lmdb"]), ..PlanArgs::default() }),
        ("--variant", PlanArgs { variant: words(&["bulk"]), ..PlanArgs::default() }),
        ("--clients", PlanArgs { clients: Some(4), ..PlanArgs::default() }),
    ] {
        let says = parts(&["ulb"], &[], &given).unwrap_err();
        assert!(says.starts_with(option), "{says}");
    }
}

#[test]
fn a_device_chooses_the_pieces_that_emulate_it() {
    let of_device = |source: &str, name: &str| {
        let device = device::find(name).unwrap();
        of(&words(&[source]), &[], &PlanArgs::default(), Some(device)).map_err(|f| f.to_string())
    };
    let all = of_device("mcknight", "pi3").unwrap();
    assert_eq!(folders(&all), ["mcknight/pi3"]);
    assert_eq!(all[0].device.as_deref(), Some("pi3"));
    assert!(of_device("ulb", "pi3").unwrap_err().contains("emulates pi3"));
}

#[test]
fn rows_of_a_file_are_for_the_source_that_reads_files() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let given = PlanArgs { data: Some(file.path().to_owned()), ..PlanArgs::default() };
    let ulb = parts(&["ulb"], &["equal"], &given).unwrap();
    assert!(ulb.iter().all(|part| part.plan.data.as_deref() == Some(file.path())));
    let htap = parts(&["harperdb"], &["equal"], &given).unwrap();
    assert!(htap.iter().all(|part| part.plan.data.is_none()));
}
