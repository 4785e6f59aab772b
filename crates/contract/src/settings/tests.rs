use embermark_model::Durability;

use super::*;

const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("synchronous", Takes::Word(&["OFF", "NORMAL", "FULL"])).by_default("FULL"),
        Setting::new("cache_size", Takes::Number),
        Setting::new("compression", Takes::Any),
        Setting::new("threads", Takes::Number).left_by_default(),
    ],
    others: None,
    reserved: &[("port", "it is found free for each trial")],
};

#[test]
fn a_name_or_a_value_that_is_none_is_refused_with_the_nearest() {
    let refused = |name, value| SETTINGS.check([(name, value)]).unwrap_err();
    let unknown = refused("synchronus", "OFF");
    assert!(unknown.contains("unknown setting 'synchronus', did you mean 'synchronous'"));
    assert!(refused("synchronous", "FUL").contains("did you mean 'FULL'"));
    assert!(refused("synchronous", "3").contains("unknown value '3'"));
    assert!(refused("cache_size", "64MB").contains("'64MB' is no whole number"));
    assert!(refused("port", "1").contains("port cannot be set: it is found free"));
    assert!(Settings::NONE.check([("a", "b")]).unwrap_err().contains("it takes no settings"));
    let good = [("synchronous", "full"), ("synchronous", "0"), ("cache_size", "-2000")];
    assert_eq!(SETTINGS.check(good.into_iter().chain([("compression", "a b")])), Ok(()));
}

#[test]
fn an_engine_that_takes_others_is_asked_for_names_that_could_be_one() {
    let open = Settings { others: Some("any setting"), ..SETTINGS };
    assert_eq!(open.check([("work_mem", "4MB")]), Ok(()));
    for name in ["a b", "", "x;y"] {
        assert!(open.check([(name, "1")]).unwrap_err().contains("unknown setting"), "{name}");
    }
}

#[test]
fn a_value_that_comes_back_in_another_form_is_the_same() {
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let taken = |given: (&str, &str), found: &[(&str, &str)]| {
        let mut options = OpenOptions::new("/nowhere", Durability::Power, 0);
        options.settings.push(pair(given));
        let mut found = found.iter().copied().map(pair).collect();
        SETTINGS.taken("toy", &options, &mut found).map(|()| found)
    };
    let off = ("synchronous", "OFF");
    assert_eq!(taken(off, &[("synchronous", "0")]).unwrap(), [pair(("synchronous", "0"))]);
    assert_eq!(taken(off, &[]).unwrap(), [pair(("synchronous", "OFF (as set)"))]);
    assert!(taken(("cache_size", "+07"), &[("cache_size", "7")]).is_ok());
    let error = taken(off, &[("synchronous", "2")]).unwrap_err().to_string();
    assert!(error.contains("it did not take synchronous=OFF: it has 2"), "{error}");
}

#[test]
fn the_defaults_are_those_of_what_is_set_otherwise() {
    let defaults = [("synchronous", "FULL"), ("threads", LEFT)];
    assert_eq!(SETTINGS.defaults().collect::<Vec<_>>(), defaults);
}

#[test]
fn what_is_left_to_an_engine_is_set_by_nobody_and_whatever_it_has() {
    assert_eq!(SETTINGS.check([("threads", LEFT), ("threads", "2")]), Ok(()));
    assert!(SETTINGS.check([("cache_size", LEFT)]).is_err(), "this one has no such value");
    let mut options = OpenOptions::new("/nowhere", Durability::Power, 0);
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    options.settings = [("threads", LEFT), ("cache_size", "7")].map(pair).to_vec();
    assert_eq!(options.configured().collect::<Vec<_>>(), [("cache_size", "7")]);
    let ours = [("cache_size", 1), ("page_size", 2), ("threads", 3)];
    assert_eq!(options.not_configured(ours).collect::<Vec<_>>(), [("page_size", 2)]);
    let mut found = [("threads", "12"), ("cache_size", "7")].map(pair).to_vec();
    assert!(SETTINGS.taken("toy", &options, &mut found).is_ok());
    let mut silent = [pair(("cache_size", "7"))].to_vec();
    SETTINGS.taken("toy", &options, &mut silent).unwrap();
    assert_eq!(silent[1], pair(("threads", "default (as set)")));
}
