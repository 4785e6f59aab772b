use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn says(args: PlanArgs) -> String {
    args.plan().unwrap_err().to_string()
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn with_nothing_given_it_is_the_embedded_engines_at_small_scales() {
    let plan = PlanArgs::default().plan().unwrap();
    assert!(
        plan.engines.contains(&"memory".to_owned()) && !plan.engines.contains(&"null".to_owned())
    );
    assert_eq!((plan.scales.len(), plan.variants.len(), plan.repeats), (0, 0, None));
    assert_eq!(
        (plan.runs, plan.warmup_runs, plan.trials, plan.max_run_time_ms),
        (6, 1, 3, Some(500))
    );
}

#[test]
fn a_named_workload_is_a_plain_run() {
    let workloads = words(&["sensors"]);
    let args = PlanArgs { workloads: workloads.clone(), ..PlanArgs::default() };
    let plan = args.plan().unwrap();
    let (engines, durabilities) = (plan.engines.clone(), vec![Durability::Process]);
    let usual = Plan { workloads, engines, durabilities, own_trials: true, ..Plan::default() };
    assert_eq!(plan, usual);
}

#[test]
fn no_longest_run_time_and_no_time_out_are_none() {
    let none = || Some("none".to_owned());
    let args = PlanArgs { max_run_time: none(), timeout: none(), ..PlanArgs::default() };
    let plan = args.plan().unwrap();
    assert_eq!((plan.max_run_time_ms, plan.timeout_ms), (None, None));
    let usual = PlanArgs::default().plan().unwrap();
    assert_eq!(usual.timeout_ms, Some(30 * 60 * 1_000));
}

#[test]
fn a_file_of_rows_is_used_whole_unless_a_scale_is_given() {
    let file = || PlanArgs { data: Some("log.txt".into()), ..PlanArgs::default() };
    assert_eq!(file().plan().unwrap().scales, [Scale::Full]);
    let some = PlanArgs { scale: words(&["5"]), ..file() };
    assert_eq!(some.plan().unwrap().scales, [Scale::Rows(5)]);
}

#[test]
fn scales_go_up_by_powers_of_ten_within_a_budget() {
    let until = |scale: &[&str], until: &str| PlanArgs {
        scale: words(scale),
        scales_until: Some(until.into()),
        ..PlanArgs::default()
    };
    let plan = until(&[], "100k").plan().unwrap();
    assert_eq!(plan.scales, [1_000, 10_000, 100_000].map(Scale::Rows));
    assert_eq!(plan.budget_ms, Some(30 * 60 * 1_000));
    let plan = PlanArgs { lasts: Some("90s".into()), ..until(&["20k"], "1M") }.plan().unwrap();
    assert_eq!(plan.scales, [20_000, 200_000, 1_000_000].map(Scale::Rows));
    assert_eq!(plan.budget_ms, Some(90_000));
    assert_eq!(until(&["5"], "5").plan().unwrap().scales, [Scale::Rows(5)]);
    assert!(says(until(&["1k", "10k"], "1M")).contains("starts at one scale"));
    assert!(says(until(&["1M"], "10k")).contains("starts at 1M"));
    assert!(says(until(&[], "full")).contains("not a number of rows"));
}

#[test]
fn unknown_names_are_answered_with_the_nearest_valid_one() {
    let variant = PlanArgs { variant: words(&["bulky"]), ..PlanArgs::default() };
    assert!(says(variant).contains("did you mean 'bulk'?"));
    let phase = PlanArgs { phases: words(&["reads"]), ..PlanArgs::default() };
    assert!(says(phase).contains("did you mean 'read'?"));
    let tier = PlanArgs { tier: words(&["powr"]), ..PlanArgs::default() };
    assert!(says(tier).contains("did you mean 'power'?"));
    let workload = PlanArgs { workloads: words(&["sensor"]), ..PlanArgs::default() };
    assert!(says(workload).contains("did you mean 'sensors'?"));
    let engine = PlanArgs { engines: words(&["nul"]), ..PlanArgs::default() };
    assert!(says(engine).contains("did you mean 'null'?"));
}

#[test]
fn values_that_make_no_sense_are_refused_by_name() {
    for (args, word) in [
        (PlanArgs { max_run_time: Some("0s".into()), ..PlanArgs::default() }, "max-run-time '"),
        (PlanArgs { max_run_time: Some("soon".into()), ..PlanArgs::default() }, "max-run-time '"),
        (PlanArgs { timeout: Some("-5s".into()), ..PlanArgs::default() }, "timeout '-5s'"),
        (PlanArgs { cache: Some("4k".into()), ..PlanArgs::default() }, "too little"),
        (PlanArgs { cache: Some("lots".into()), ..PlanArgs::default() }, "--cache"),
        (PlanArgs { warmup_runs: Some(6), ..PlanArgs::default() }, "warmup-runs"),
        (PlanArgs { url: words(&["postgres"]), ..PlanArgs::default() }, "ENGINE=URL"),
        (PlanArgs { scale: words(&["0"]), ..PlanArgs::default() }, "at least 1"),
    ] {
        let text = says(args);
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn the_command_line_wins_over_the_plan_file() {
    let file: PlanArgs =
        toml::from_str("runs = 3\nscale = ['100k']\nengines = ['memory']").unwrap();
    let plan = PlanArgs { runs: Some(2), ..PlanArgs::default() }.or(file).unwrap().plan().unwrap();
    assert_eq!((plan.runs, plan.scales), (2, vec![Scale::Rows(100_000)]));
    assert!(toml::from_str::<PlanArgs>("rnus = 3").is_err());
}

#[test]
fn naming_a_thing_twice_measures_it_once() {
    let args = PlanArgs {
        scale: words(&["1k", "1000"]),
        engines: words(&["memory", "memory"]),
        ..PlanArgs::default()
    };
    let plan = args.plan().unwrap();
    assert_eq!((plan.scales.len(), plan.engines.len()), (1, 1));
}

/// Values that a plan file may have for any key.
const VALUES: [&str; 22] = [
    "0",
    "-1",
    "1",
    "18446744073709551615",
    "1e300",
    "nan",
    "true",
    "1979-05-27",
    "''",
    "'1'",
    "'x'",
    "'1k'",
    "'10ms'",
    "'none'",
    "'a=b:c=d'",
    "'=\u{202e}'",
    "[]",
    "['']",
    "['x', 'x']",
    "['sqlite', 'power', '1MiB']",
    "{}",
    "{ a = 'b' }",
];

proptest! {
    #[test]
    fn any_values_in_a_plan_file_are_a_plan_or_refused(
        lines in prop::collection::btree_map(0..60_usize, prop::sample::select(VALUES.to_vec()), 0..6),
    ) {
        let known = serde_json::to_value(PlanArgs::default()).unwrap();
        let names: Vec<&String> = known.as_object().unwrap().keys().collect();
        let lines: BTreeMap<&str, &str> =
            lines.into_iter().map(|(place, value)| (names[place % names.len()].as_str(), value)).collect();
        let text: String = lines.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
        if let Ok(args) = toml::from_str::<PlanArgs>(&text)
            && let Err(refused) = PlanArgs::default().or(args).and_then(PlanArgs::plan)
        {
            prop_assert!(!refused.to_string().is_empty());
        }
    }
}

#[test]
fn where_nothing_is_asked_for_the_work_of_a_device_is_measured_within_five_minutes() {
    let args = PlanArgs { engines: words(&["memory"]), ..PlanArgs::default() };
    let plan = args.or_default().unwrap().plan().unwrap();
    assert_eq!(plan.lasts_ms, Some(5 * 60 * 1_000));
    assert_eq!(plan.durabilities, [Durability::Power, Durability::Process]);
    assert_eq!(plan.workloads, ["sensors", "contacts", "events", "htap"]);
    assert_eq!(plan.scales_of["sensors"], [Scale::Rows(10_000)]);
    assert!(!plan.overview && plan.engines == ["memory"]);
    // Arguments beyond the engines make a separate plan.
    for own in [
        PlanArgs { workloads: words(&["sensors"]), ..PlanArgs::default() },
        PlanArgs { scale: words(&["10"]), ..PlanArgs::default() },
        PlanArgs { trials: Some(3), ..PlanArgs::default() },
    ] {
        assert_eq!(own.clone().or_default().unwrap(), own);
    }
    let longer = PlanArgs { lasts: Some("30m".into()), ..PlanArgs::default() };
    assert_eq!(longer.or_default().unwrap().plan().unwrap().lasts_ms, Some(30 * 60 * 1_000));
}

#[test]
fn a_file_that_goes_on_until_it_is_steady_runs_as_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, of: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, super::files::built_in_file(of).unwrap()).unwrap();
        PlanArgs { workloads: words(&[&path.to_string_lossy()]), ..PlanArgs::default() }
    };
    let kept = file("kept.toml", "retention");
    assert_eq!(kept.clone().or_default().unwrap(), kept);
    let plan = kept.plan().unwrap();
    assert_eq!((plan.lasts_ms, plan.window_ms), (None, None));
    let shop = file("mine.toml", "shop").or_default().unwrap().plan().unwrap();
    assert_eq!(shop.lasts_ms, Some(5 * 60 * 1_000));
}

#[test]
fn more_rows_and_limits_of_memory_follow_where_the_time_is_longer_and_are_named_where_it_is_not() {
    let lasting = |lasts: &str, limit: &[&str]| {
        let given = PlanArgs { memory_limit: words(limit), ..PlanArgs::default() };
        let given = PlanArgs { lasts: Some(lasts.into()), engines: words(&["sqlite"]), ..given };
        given.or_default().unwrap().plan().unwrap()
    };
    let usual = lasting("5m", &[]);
    assert_eq!(usual.scales_of["sensors"], [Scale::Rows(10_000)]);
    assert_eq!(
        usual.left_out,
        ["sensors:100k, contacts:10k (--for 20m)", "within 64MiB (--for 1h)"]
    );
    let longer = lasting("30m", &[]);
    assert_eq!(longer.workloads, usual.workloads);
    assert_eq!(longer.scales_of["sensors"], [10_000, 100_000].map(Scale::Rows));
    assert_eq!(longer.left_out, ["within 64MiB (--for 1h)"]);
    let long = lasting("1h", &[]);
    assert!(long.left_out.is_empty() && long.memory_limits.len() == 2);
    assert_eq!(lasting("1h", &["128MiB"]).memory_limits.len(), 1, "what was asked for");
    let no_time = PlanArgs { effort: Some("quick".into()), ..PlanArgs::default() };
    assert!(no_time.or_default().unwrap().plan().unwrap().left_out.is_empty());
}

#[test]
fn storages_follow_where_the_time_is_longer_and_those_asked_for_win() {
    let text = "workloads = ['htap:10']\nengines = ['memory']\n[[then]]\nfrom = '1h'\nstorage = ['none', 'sd-a1']\n";
    let lasting = |lasts: &str, storage: &[&str]| {
        let file: PlanArgs = toml::from_str(text).unwrap();
        let given = PlanArgs { lasts: Some(lasts.into()), storage: words(storage), ..file };
        let plan = given.plan().unwrap();
        let name = |storage: &Option<_>| {
            storage.as_ref().map(|own: &embermark_model::Storage| own.name.to_string())
        };
        (plan.storages.iter().map(name).collect::<Vec<_>>(), plan.left_out)
    };
    assert_eq!(lasting("5m", &[]), (vec![], words(&["on sd-a1 (--for 1h)"])));
    assert_eq!(lasting("1h", &[]), (vec![None, Some("sd-a1".to_owned())], vec![]));
    assert_eq!(lasting("1h", &["emmc"]).0, [Some("emmc".to_owned())]);
}

#[test]
fn all_is_every_workload_and_rows_may_stand_behind_a_name() {
    let of = |names: &[&str]| PlanArgs { workloads: words(names), ..PlanArgs::default() };
    assert!(of(&["all"]).plan().unwrap().overview);
    let plan = of(&["sensors:1k", "contacts", "sensors:10k"]).plan().unwrap();
    assert_eq!(plan.workloads, ["sensors", "contacts"]);
    assert_eq!(plan.scales_of["sensors"], [1_000, 10_000].map(Scale::Rows));
    assert!(!plan.scales_of.contains_key("contacts"));
    let scaled = |names: &[&str]| PlanArgs { scale: words(&["20k"]), ..of(names) };
    assert!(says(scaled(&["sensors:1k"])).contains("--scale has no effect"));
    assert!(scaled(&["sensors:1k", "contacts"]).plan().is_ok());
    let until = PlanArgs { scales_until: Some("10k".into()), ..of(&["sensors:1k"]) };
    assert!(says(until).contains("--scales-until has no effect"));
    assert!(says(of(&["sensors:many"])).contains("sensors:many"));
    assert!(says(of(&["sensor:1k"])).contains("did you mean 'sensors'?"));
}

#[test]
fn a_time_for_the_whole_run_and_a_number_of_trials_are_not_both_to_be_had() {
    let both = PlanArgs { lasts: Some("5m".into()), trials: Some(3), ..PlanArgs::default() };
    assert!(says(both).contains("--trials"));
    let zero = PlanArgs { lasts: Some("0s".into()), ..PlanArgs::default() };
    assert!(says(zero).contains("--for"));
}

#[test]
fn settings_of_a_plan_file_may_be_set_by_name() {
    let set = |all: &[&str]| PlanArgs::from_settings(&words(all));
    let plan = set(&["window=50ms", "seed=7", "engines=['memory']"]).unwrap().plan().unwrap();
    assert_eq!((plan.window_ms, plan.seed, plan.engines), (Some(50), 7, words(&["memory"])));
    // A number needs no quotes.
    let numbers = set(&["rate=5", "scale=[1000, '10k']"]).unwrap();
    assert_eq!((numbers.rate, numbers.scale), (Some("5".into()), words(&["1000", "10k"])));
    for (wrong, says) in [("window", "KEY=VALUE"), ("windows=1s", "windows"), ("seed=x", "--set")] {
        assert!(set(&[wrong]).unwrap_err().to_string().contains(says), "{wrong}");
    }
}

#[test]
fn an_effort_is_a_number_of_trials_and_runs() {
    let of = |effort: &str| PlanArgs { effort: Some(effort.into()), ..PlanArgs::default() };
    let plan = of("quick").plan().unwrap();
    assert_eq!((plan.trials, plan.runs, plan.warmup_runs, plan.own_trials), (1, 2, 1, false));
    assert_eq!(of("thorough").plan().unwrap().trials, 10);
    assert!(says(of("quik")).contains("did you mean 'quick'?"));
    // Without a workload, the work of a device is measured with this effort, however long that
    // takes.
    let plan = of("normal").or_default().unwrap().plan().unwrap();
    assert_eq!((plan.lasts_ms, plan.trials, plan.workloads.len()), (None, 3, 4));
    let both = PlanArgs { lasts: Some("5m".into()), ..of("quick") };
    assert!(says(both).contains("--effort"));
}
