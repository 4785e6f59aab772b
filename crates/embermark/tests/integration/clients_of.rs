//! `embermark fleet run --clients-of`: real SSH servers as client machines of a real PostgreSQL.

use crate::fleet::devices;
use crate::fleet::folder;

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{self, ProgramOutput, Sandbox, is_here, processes, wait_for};
use devices::Device;
use embermark_engines::{OpenOptions, Opened, Store, registry};
use embermark_meter::merge;
use embermark_model::result::{ClientMachines, Latency, ResultFile, Run};
use embermark_model::{Durability, Status};
use embermark_skips::{sampled, skipped};
use folder::{Program, fleet};

const PASSWORD: &str = "s3cr3t-of-ann";

/// Rows for each device. So many that the devices' work overlaps on a busy machine too: another try
/// takes two plays of Ansible.
const ROWS_EACH: u64 = 4_000;

/// Returns a plan with these phases for so many devices.
fn plan(devices: usize, phases: &[&str]) -> String {
    let rows = ROWS_EACH * devices as u64;
    format!(
        "workloads = [\"machine\", \"sensors\"]\nengines = [\"sqlite\"]\nscale = [\"{rows}\"]\n\
         clients = 2\nphases = {phases:?}\nruns = 2\ntrials = 1\n"
    )
}

const NAMES: [&str; 3] = ["roof", "kitchen", "attic"];

const RUN: [&str; 6] = ["fleet", "run", "-V", "embermark_needs_calm=false", "--out", "out"];

/// A server that was not started by embermark, and its URL.
fn server(sandbox: &Sandbox) -> (Store, String) {
    let dir = sandbox.path("of-the-owner");
    fs::create_dir(&dir).unwrap();
    let own = OpenOptions::new(&dir, Durability::Process, 64 << 20);
    let private = OpenOptions { clients: 20, ..own };
    let Opened { store, .. } = registry::find("postgres").unwrap().open(&private).unwrap();
    let socket = dir.join("server/run").to_str().unwrap().replace('/', "%2F");
    // The server accepts every client, but the URL has a password anyway.
    (store, format!("postgres://postgres@{socket}/postgres"))
}

/// Returns the schemas of runs on the server.
fn schemas(owner: &mut Store) -> usize {
    let Store::Sql(owner) = owner else { panic!("no SQL store") };
    let sql = "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'embermark%'";
    let statement = owner.prepare(sql).unwrap();
    let mut found = 0;
    let mut visit = |_: &dyn embermark_engines::row::ResultRow| {
        found += 1;
        Ok(())
    };
    owner.query(statement, &[], &mut visit).unwrap();
    found
}

fn devices(sandbox: &Sandbox, names: &[&'static str], plan: &str) -> Option<Vec<Device>> {
    if !is_here("postgres") {
        skipped("postgres", "its server is not here");
        return None;
    }
    let mut devices = Device::all(sandbox, names)?;
    let lines: Vec<String> = devices.iter().map(|device| device.line("")).collect();
    fleet(sandbox, plan, &lines, Program::Link);
    devices.iter_mut().for_each(|device| device.on(None));
    Some(devices)
}

fn start(sandbox: &Sandbox, url: &str) -> Child {
    let mut command = sandbox.command(&[&RUN[..], &["--clients-of", url]].concat());
    command.env("EMBERMARK_PASSWORD_POSTGRES", PASSWORD);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns every file below a folder that contains the password.
fn holders(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(holders(&path));
        } else if kind.is_file() && holds(&fs::read(&path).unwrap_or_default()) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn holds(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).contains(PASSWORD)
}

/// Returns processes with the password in their command line, which every user can read.
fn tellers() -> Vec<String> {
    let line = |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let told = processes().into_iter().map(line).filter(|line| holds(line));
    told.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

fn client_processes(sandbox: &Sandbox) -> Vec<String> {
    let of = |device: &&str| sandbox.path(device).display().to_string();
    let homes: Vec<String> = NAMES.iter().map(of).collect();
    let left = common::processes_using(&sandbox.path(""));
    let own = |line: &String| {
        line.contains("client-machine") && homes.iter().any(|home| line.contains(home))
    };
    left.into_iter().filter(own).collect()
}

fn together(run: &Run) -> &ClientMachines {
    run.client_machines.as_deref().unwrap()
}

fn is_added_up(result: &ResultFile, devices: &[&str], phases: &[&str]) {
    let trial = &result.cells[0].trials[0];
    let names: Vec<&str> = trial.phases.iter().map(|phase| phase.phase.as_str()).collect();
    assert_eq!(names, phases);
    let rows = ROWS_EACH * devices.len() as u64;
    for phase in &trial.phases {
        assert_eq!(phase.ops, if phase.phase == "update" { rows / 2 } else { rows });
        assert_eq!(phase.runs.len(), 2);
        for run in &phase.runs {
            let all = together(run);
            let names: Vec<&str> = all.machines.iter().map(|one| one.device.as_str()).collect();
            assert_eq!((names, run.clients.len()), (devices.to_vec(), 2 * devices.len()));
            // Every row once, regardless of the client.
            assert_eq!(run.ops, phase.ops);
            assert_eq!(all.machines.iter().map(|one| one.ops).sum::<u64>(), run.ops);
            let each = run.ops / devices.len() as u64;
            assert!(all.machines.iter().all(|one| one.clients == 2 && one.ops == each));
            assert_eq!(all.machines.iter().map(|one| one.common_ops).sum::<u64>(), all.common_ops);
            assert!(all.common_ops > 0 && all.common_ops <= run.ops, "{all:?}");
            assert!(all.common_ns > 0 && all.common_ns <= run.elapsed_ns, "{all:?}");
            let longest = all.machines.iter().map(|one| one.elapsed_ns).max().unwrap();
            // From the first start to the last end on any of them.
            assert!(run.elapsed_ns + 2_000_000 >= longest, "{} {longest}", run.elapsed_ns);
            for one in &all.machines {
                // All devices use this machine's clock.
                let clock = one.clock;
                assert!(clock.offset_ns.unsigned_abs() <= clock.error_ns, "{one:?}");
                assert!(clock.probes > 1 && clock.error_ns < 1_000_000_000, "{one:?}");
                assert!(one.start_delay_ns >= 0, "none begins before the moment: {one:?}");
            }
        }
        let counted = &phase.runs[1];
        assert!(phase.runs[0].discarded && !counted.discarded);
        let parts: Vec<&Latency> =
            together(counted).machines.iter().map(|one| one.latency.as_ref().unwrap()).collect();
        let whole = phase.latency.as_ref().unwrap();
        assert_eq!(whole.samples, parts.iter().map(|part| part.samples).sum::<u64>());
        assert_eq!(whole.hdr, merge(parts.iter().copied()).unwrap().hdr);
        assert_eq!(whole.max, parts.iter().map(|part| part.max).max().unwrap());
    }
}

#[test]
fn the_devices_are_clients_of_one_server_and_what_they_did_is_added_up() {
    let sandbox = Sandbox::new();
    // Each run of a phase takes several processes for each device.
    let (names, phases) = (sampled(NAMES, 2), sampled(["load", "read", "update"], 1));
    let Some(_devices) = devices(&sandbox, &names, &plan(names.len(), &phases)) else { return };
    let (mut owner, url) = server(&sandbox);
    let (mut told, mut tries) = (Vec::new(), 0);
    let ended = loop {
        let running = start(&sandbox, &url);
        let ended = thread::spawn(move || running.wait_with_output().unwrap());
        while !ended.is_finished() {
            told.extend(tellers());
            // An order takes a tenth of a second, and a look some milliseconds.
            thread::sleep(Duration::from_millis(50));
        }
        let ended = ProgramOutput::from(ended.join().unwrap());
        tries += 1;
        // On a busy machine a phase may end on one device before it begins on another.
        if tries == 4 || !ended.stdout.contains("never all at work") {
            break ended.expect_status(0);
        }
        fs::remove_dir_all(sandbox.path("out")).unwrap();
    };
    println!("{}", ended.stdout);
    ended.expect_not_printed(PASSWORD);
    assert_eq!(told, Vec::<String>::new(), "no command line has the password");
    assert!(
        ended.stderr.contains("left out, as clients cannot share it: machine"),
        "{}",
        ended.stderr
    );
    let result = sandbox.result("out");
    let [cell] = &result.cells[..] else { panic!("one cell: {:?}", result.cells) };
    assert_eq!((cell.status, &*cell.id.engine), (Status::Ok, "postgres"), "{:?}", cell.reason);
    assert_eq!(result.plan.clients as usize, 2 * names.len());
    assert_eq!(result.manifest.client_machines.len(), names.len());
    assert!(result.manifest.machine.cpu.is_some(), "they have it in common");
    assert!(result.manifest.finished.is_some());
    is_added_up(&result, &names, &phases);
    assert_eq!(schemas(&mut owner), 0, "nothing is left on the server");
    assert_eq!(client_processes(&sandbox), Vec::<String>::new());
    for name in &names {
        assert_eq!(holders(&sandbox.path(name)), Vec::<String>::new());
    }
    for of in ["out", "fleet"] {
        assert_eq!(holders(&sandbox.path(of)), Vec::<String>::new());
    }

    // A line for each client machine, here and in a report.
    for name in &names {
        for phase in &phases {
            let line = format!("{phase} postgres (by URL) · {name}");
            assert!(ended.stdout.contains(&line), "no '{line}' in\n{}", ended.stdout);
        }
    }
    let report =
        sandbox.embermark(&["report", "out/result.json", "--show", "tables"]).expect_status(0);
    assert!(report.stdout.contains("· client machines"), "{}", report.stdout);
    let csv = sandbox.embermark(&["report", "out/result.json", "--format", "csv"]).expect_status(0);
    let mut rows = csv::Reader::from_reader(csv.stdout.as_bytes());
    let header = rows.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|column| column == name).unwrap();
    let first = rows.records().next().unwrap().unwrap();
    let run = &result.cells[0].trials[0].phases[0].runs[0];
    assert_eq!(first[at("client_machines")], names.len().to_string());
    assert_eq!(first[at("common_ops")], together(run).common_ops.to_string());
    let rate: f64 = first[at("ops_per_second")].parse().unwrap();
    let common = together(run).common_ops as f64 * 1e9 / together(run).common_ns as f64;
    assert!((rate / common - 1.0).abs() < 1e-9, "{rate} {common}");
    let refused = sandbox.embermark(&["run", "--resume", "out"]).expect_status(2);
    assert!(refused.stderr.contains("on several machines"), "{}", refused.stderr);
    owner.close().unwrap();
}

#[test]
fn a_client_machine_that_is_lost_ends_the_run_which_says_so() {
    let sandbox = Sandbox::new();
    // So many trials that one is under way whenever this process gets to look.
    let plan = plan(NAMES.len(), &["load"]).replace("trials = 1", "trials = 1000");
    let Some(mut devices) = devices(&sandbox, &NAMES, &plan) else { return };
    let (mut owner, url) = server(&sandbox);
    let running = start(&sandbox, &format!("postgres={url}"));
    let attic = &mut devices[2];
    let socket = attic.home().join("clients/socket");
    wait_for("the attic's client process", || socket.exists().then_some(()));
    attic.off();
    let ended = ProgramOutput::from(running.wait_with_output().unwrap()).expect_status(1);
    ended.expect_not_printed(PASSWORD);
    let result = sandbox.result("out");
    let trial = result.cells.iter().flat_map(|cell| &cell.trials).last().unwrap();
    assert_eq!(trial.status, Status::Failed);
    assert!(trial.reason.as_ref().unwrap().starts_with("attic: "), "{:?}", trial.reason);
    let warned = |text: &String| text.contains("a client machine was lost: attic: ");
    assert!(result.manifest.warnings.iter().any(warned), "{:?}", result.manifest.warnings);
    assert!(result.manifest.finished.is_none());
    assert_eq!(schemas(&mut owner), 0, "the others closed what they had");
    assert_eq!(client_processes(&sandbox), Vec::<String>::new());
    owner.close().unwrap();
}

#[test]
fn what_makes_no_sense_is_said_before_any_device_is_asked() {
    let sandbox = Sandbox::new();
    sandbox.embermark(&["fleet", "init", "fleet"]).expect_status(0);
    let of = |server: &str| sandbox.embermark(&["fleet", "run", "--clients-of", server]);
    // Another password, because no other command line may contain the first one.
    let refused = of("http://ann:0f-b3n@db").expect_status(2).expect_stderr(&["write ENGINE=URL"]);
    refused.expect_not_printed("0f-b3n");
    of("sqlite=x").expect_status(2).expect_stderr(&["sqlite is not a server"]);
    of("postgre=x").expect_status(2).expect_stderr(&["postgres"]);
    fs::write(sandbox.path("fleet/plan/plan.toml"), "workloads = [\"machine\"]\n").unwrap();
    of("postgres://db/x").expect_status(2).expect_stderr(&["workloads = [\"sensors\"]"]);
    for (workload, phase) in
        [("sensors", "outages"), ("contacts", "select_scan"), ("events", "gps")]
    {
        let plan = format!("workloads = [{workload:?}]\nphases = [{phase:?}]\n");
        fs::write(sandbox.path("fleet/plan/plan.toml"), plan).unwrap();
        let says = format!("only point operations of '{workload}'");
        of("postgres://db/x").expect_status(2).expect_stderr(&[&says]);
    }
    for key in ["for = \"1h\"", "network = \"wifi\"", "cold = true"] {
        let plan = format!("workloads = [\"sensors\"]\n{key}\n");
        fs::write(sandbox.path("fleet/plan/plan.toml"), plan).unwrap();
        of("postgres://db/x").expect_status(2).expect_stderr(&["has no effect on clients"]);
    }
    fs::write(sandbox.path("fleet/plan/plan.toml"), self::plan(NAMES.len(), &["load"])).unwrap();
    fs::remove_file(sandbox.path("fleet/clients.yml")).unwrap();
    of("postgres://db/x").expect_status(2).expect_stderr(&["clients.yml"]);
    sandbox
        .embermark(&["fleet", "run", "--out", "x"])
        .expect_status(2)
        .expect_stderr(&["--clients-of"]);
}
