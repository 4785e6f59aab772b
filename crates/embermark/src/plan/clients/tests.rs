use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::super::{PlanArgs, parse_configuration};
use super::*;

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

fn args(engines: &[&str], clients: &[&str]) -> PlanArgs {
    PlanArgs { engines: words(engines), client: words(clients), ..PlanArgs::default() }
}

fn says(args: PlanArgs) -> String {
    args.plan().unwrap_err().to_string()
}

/// Makes a program with this file mode.
fn program(folder: &tempfile::TempDir, name: &str, mode: u32) -> String {
    let path = folder.path().join(name);
    fs::write(&path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[cfg(all(feature = "sqlite", feature = "lmdb"))]
#[test]
fn every_column_has_one_for_each_client_and_an_engine_for_reference_stays_native() {
    let columns =
        |engines: &[&str], clients: &[&str]| args(engines, clients).plan().unwrap().engines;
    let both = columns(&["sqlite", "lmdb", "memory"], &["native", "python"]);
    assert_eq!(both, ["sqlite", "sqlite-python", "lmdb", "lmdb-python", "memory"]);
    let plan = args(&["sqlite", "memory"], &["python", "node:better-sqlite3", "python"]);
    let plan = plan.plan().unwrap();
    assert_eq!(plan.engines, ["sqlite-python", "sqlite-node-better-sqlite3", "memory"]);
    assert_eq!(plan.configurations.len(), 2);
    let own = &plan.configurations["sqlite-node-better-sqlite3"];
    assert_eq!((&*own.engine, own.has_settings()), ("sqlite", false));
    assert_eq!(plan.client_of("sqlite-python").unwrap().to_string(), "python");
    assert_eq!(plan.language_of("sqlite-node-better-sqlite3"), "node");
    assert_eq!(plan.language_of("memory"), "native");
    assert_eq!(columns(&["sqlite"], &["native"]), ["sqlite"]);
    assert_eq!(columns(&["sqlite"], &[]), ["sqlite"]);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_configuration_has_them_with_its_own_settings() {
    let fast = parse_configuration("fast=sqlite:synchronous=OFF").unwrap();
    let given = |clients: &[&str]| {
        let given = args(&["sqlite"], clients);
        PlanArgs { configuration: vec![fast.clone()], ..given }.plan().unwrap()
    };
    let plan = given(&["native", "python"]);
    assert_eq!(plan.engines, ["sqlite", "sqlite-python", "fast", "fast-python"]);
    let own = &plan.configurations["fast-python"];
    assert_eq!(own.to_string(), "sqlite with client=python, synchronous=OFF");
    assert_eq!(own.subject(), plan.configurations["fast"].to_string());
    let plan = given(&["python"]);
    assert_eq!(plan.engines, ["sqlite-python", "fast-python"]);
    assert!(!plan.configurations.contains_key("fast"), "it is no column");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_word_names_a_column_with_a_client_which_keeps_it() {
    let plan = args(&["sqlite-node", "sqlite", "sqlite-defaults-python"], &[]).plan().unwrap();
    assert_eq!(plan.engines, ["sqlite-node", "sqlite", "sqlite-defaults-python"]);
    let own = &plan.configurations["sqlite-defaults-python"];
    assert!(own.has_settings() && own.client.is_some());
    let plan = args(&["sqlite-node", "sqlite"], &["native", "node"]).plan().unwrap();
    assert_eq!(plan.engines, ["sqlite-node", "sqlite"], "each once");
    assert!(says(args(&["sqlite-ruby"], &[])).contains("unknown engine 'sqlite-ruby'"));
    assert!(says(args(&["memory-python"], &[])).contains("takes no client"));
    assert!(says(args(&["sqlite-python-node"], &[])).contains("unknown engine"));
}

#[cfg(feature = "sqlite")]
#[test]
fn a_client_is_read_from_a_line_and_from_a_table_alike() {
    let table = "client = [\"native\", \"node\"]\n[configuration.py]\nengine = \"sqlite\"\n\
                 client = \"python\"";
    let read: PlanArgs = toml::from_str(table).unwrap();
    assert_eq!(read.configuration, [parse_configuration("py=sqlite:client=python").unwrap()]);
    assert_eq!(PlanArgs::default().or(read.clone()).unwrap(), read);
    let line = PlanArgs { client: words(&["python"]), ..PlanArgs::default() };
    assert_eq!(line.or(read.clone()).unwrap().client, ["python"], "the line's wins");
    let plan = PlanArgs { engines: words(&["sqlite"]), ..read }.plan().unwrap();
    assert_eq!(plan.engines, ["sqlite", "sqlite-node", "py"], "py keeps its own");
    let native = parse_configuration("a=sqlite:client=native").unwrap();
    let native = PlanArgs { configuration: vec![native], ..PlanArgs::default() };
    assert!(says(native).contains("it has no settings"));
    let ruby: Result<PlanArgs, _> =
        toml::from_str("[configuration.a]\nengine = \"sqlite\"\nclient = \"ruby\"");
    assert!(ruby.unwrap_err().to_string().contains("'ruby' is not a client"));
    assert!(
        parse_configuration("a=sqlite:client=python,client=node")
            .unwrap_err()
            .contains("has client twice")
    );
}

#[cfg(feature = "sqlite")]
#[test]
fn a_program_must_be_there_and_executable() {
    let folder = tempfile::tempdir().unwrap();
    let own = program(&folder, "my_client.sh", 0o755);
    let plan = args(&["sqlite"], &[&own]).plan().unwrap();
    assert_eq!(plan.engines, ["sqlite-my-client"]);
    assert_eq!(plan.client_of("sqlite-my-client").unwrap().to_string(), own);
    assert_eq!(plan.language_of("sqlite-my-client"), "my_client");
    let text = program(&folder, "text", 0o644);
    let refused = says(args(&["sqlite"], &[&text]));
    assert!(refused.contains(&text) && refused.contains("not executable"), "{refused}");
    let folder = folder.path().to_str().unwrap();
    let refused = says(args(&["sqlite"], &[folder]));
    assert!(refused.contains("it is not a file"), "{refused}");
    let refused = says(args(&["sqlite"], &["./nowhere"]));
    assert!(refused.contains("'./nowhere': No such file"), "{refused}");
    let refused = says(args(&["sqlite"], &["ruby"]));
    assert!(refused.contains("--client: 'ruby' is not a client"), "{refused}");
    assert!(refused.contains("or native"), "{refused}");
    // Relative to the folder of this process, which is that of the package.
    let relative = client("./../../scripts/page-test.sh").unwrap().unwrap();
    assert!(relative.program().unwrap().is_absolute());
}

#[cfg(feature = "sqlite")]
#[test]
fn two_columns_of_one_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let own = program(&folder, "python", 0o755);
    let refused = says(args(&["sqlite"], &["python", &own]));
    assert!(refused.contains("two columns are called 'sqlite-python'"), "{refused}");
    let other = parse_configuration("sqlite-python=sqlite:synchronous=OFF").unwrap();
    let given = PlanArgs { configuration: vec![other], ..args(&["sqlite"], &["python"]) };
    assert!(says(given).contains("two columns are called 'sqlite-python'"));
}

#[cfg(feature = "postgres")]
#[test]
fn a_server_of_a_url_has_no_client() {
    let url = vec!["postgres=postgres://host/database".to_owned()];
    let given = PlanArgs { url, ..args(&["postgres"], &["native", "python"]) };
    let refused = says(given);
    assert!(refused.starts_with("--url postgres: 'postgres-python' has a client"), "{refused}");
}
