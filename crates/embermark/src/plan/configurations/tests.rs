use super::*;
use crate::plan::PlanArgs;

fn fast() -> (String, Configuration) {
    parse_configuration("fast=sqlite:synchronous=OFF,cache_size=-4000").unwrap()
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn it_is_read_from_a_line_and_from_a_table_alike() {
    let table = "[configuration.fast]\nengine = \"sqlite\"\n\
                 settings = { synchronous = \"OFF\", cache_size = -4000 }";
    let read: PlanArgs = toml::from_str(table).unwrap();
    assert_eq!(read.configuration, [fast()]);
    let merged = PlanArgs::default().or(read.clone()).unwrap();
    assert_eq!(merged, read, "the file's where the line has none");
    let (name, configuration) =
        parse_configuration("w=wiredtiger:log=(enabled=true,path=a),x=1").unwrap();
    assert_eq!((&*name, &*configuration.settings["log"]), ("w", "(enabled=true,path=a)"));
    assert_eq!(configuration.settings["x"], "1");
}

#[test]
fn where_its_library_is_stands_apart_from_its_settings() {
    let (_, own) = parse_configuration("old=rocksdb:library=lib,block_size=8192").unwrap();
    let here = std::env::current_dir().unwrap().join("lib");
    assert_eq!(own.library.as_deref(), Some(&*here));
    assert_eq!(own.pairs(), [("block_size".to_owned(), "8192".to_owned())]);
    let table = "[configuration.old]\nengine = \"rocksdb\"\nlibrary = \"lib\"";
    let read: PlanArgs = toml::from_str(table).unwrap();
    assert_eq!(read.configuration, [parse_configuration("old=rocksdb:library=lib").unwrap()]);
    assert_eq!(PlanArgs::default().or(read.clone()).unwrap(), read);
    let says = read.configuration[0].1.to_string();
    assert_eq!(says, format!("rocksdb with library={}", here.display()));
    assert!(
        parse_configuration("a=rocksdb:library=x,library=y")
            .unwrap_err()
            .contains("has library twice")
    );
}

#[test]
fn a_line_that_is_none_is_refused() {
    for wrong in ["fast", "fast=sqlite", "fast=sqlite:synchronous"] {
        assert!(
            parse_configuration(wrong)
                .unwrap_err()
                .contains("is not of the form NAME=ENGINE:setting=value"),
            "{wrong}"
        );
    }
    assert!(parse_configuration("a=sqlite:b=1,b=2").unwrap_err().contains("has b twice"));
    let twice = PlanArgs { configuration: vec![fast(), fast()], ..PlanArgs::default() };
    let error = twice.or(PlanArgs::default()).unwrap_err().to_string();
    assert!(error.contains("'fast' is given twice"), "{error}");
    let listed: Result<PlanArgs, _> =
        toml::from_str("[configuration.a]\nengine = \"sqlite\"\nsettings = { x = [1] }");
    assert!(listed.unwrap_err().to_string().contains("x of configuration 'a' is not a value"));
}

#[test]
fn it_is_a_column_where_it_is_named_or_else_the_last() {
    let all = configurations(vec![fast()], &[]).unwrap();
    let columns = |list: &[&str]| columns(&words(list), &all).unwrap();
    assert_eq!(columns(&["memory"]), ["memory", "fast"]);
    assert_eq!(columns(&["fast", "memory", "fast"]), ["fast", "memory"]);
    let error = super::columns(&words(&["fats"]), &all).unwrap_err().to_string();
    assert!(error.contains("valid:") && error.contains("fast"), "{error}");
}

#[cfg(feature = "sqlite")]
#[test]
fn an_engines_own_defaults_have_a_name_where_they_are_known() {
    let plan =
        |engines: &[&str]| PlanArgs { engines: words(engines), ..PlanArgs::default() }.plan();
    let defaults = plan(&["sqlite", "sqlite-defaults"]).unwrap();
    assert_eq!(defaults.engines, ["sqlite", "sqlite-defaults"]);
    let configuration = &defaults.configurations["sqlite-defaults"];
    assert_eq!(configuration.engine, "sqlite");
    assert_eq!(configuration.settings["journal_mode"], "DELETE");
    let error = plan(&["memory-defaults"]).unwrap_err().to_string();
    assert!(error.contains("the defaults of memory are not known here"), "{error}");
}

#[cfg(feature = "rocksdb")]
#[test]
fn the_version_of_the_system_has_a_name_and_an_own_configuration_of_that_name_wins() {
    let plan = |engines: &[&str], own: &[&str]| {
        let configuration = own.iter().map(|own| parse_configuration(own).unwrap()).collect();
        PlanArgs { engines: words(engines), configuration, ..PlanArgs::default() }.plan()
    };
    let column = ["rocksdb-system"];
    let named = plan(&column, &[]).map_err(|error| error.to_string());
    match registry::find("rocksdb").unwrap().system().unwrap() {
        Ok(folder) => {
            let own = &named.unwrap().configurations["rocksdb-system"];
            assert_eq!((&*own.engine, own.library.as_ref()), ("rocksdb", Some(&folder)));
            assert!(!own.has_settings());
        }
        Err(none) => assert!(named.unwrap_err().contains(&none.to_string())),
    }
    let own = plan(&column, &["rocksdb-system=rocksdb:block_size=4096"]).unwrap();
    assert!(own.configurations["rocksdb-system"].has_settings());
    let error = plan(&["memory-system"], &[]).unwrap_err().to_string();
    assert!(error.contains("memory has no system version"), "{error}");
}

#[cfg(feature = "sqlite")]
#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let says = |name: &str, of: &str, setting: &str, value: &str| {
        let settings = [(setting.to_owned(), value.to_owned())].into();
        let configuration =
            Configuration { engine: of.to_owned(), settings, library: None, client: None };
        let all = vec![(name.to_owned(), configuration)];
        let args = PlanArgs { configuration: all, ..PlanArgs::default() };
        args.plan().unwrap_err().to_string()
    };
    assert!(says("a", "sqlit", "b", "c").contains("did you mean 'sqlite'?"));
    assert!(says("sqlite", "sqlite", "synchronous", "OFF").contains("the name of an engine"));
    assert!(says("a b", "sqlite", "synchronous", "OFF").contains("a name has letters"));
    assert!(says("a", "sqlite", "synchronus", "OFF").contains("did you mean 'synchronous'?"));
    assert!(says("a", "memory", "size", "1").contains("takes no settings"));
}
