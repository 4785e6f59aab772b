//! `embermark fleet run --clients-of`: the devices as client machines of one server.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use embermark_engines::{Kind, registry};
use embermark_fleet::{Answer, Clients, Message, RunOptions as FleetOptions};
use embermark_harness::client_machines::{
    Facts, Job, MachineReplies, Order, OrderTransport, conduct,
};
use embermark_harness::{HarnessError, RESULT, RunOptions, interrupt, progress};
use embermark_model::plan::Plan;
use embermark_workloads::WORKLOADS;

use super::{PLAN, plan_in, read_plan};
use crate::commands::measure::{is_failure, write_reports};
use crate::commands::options::default_out;
use crate::commands::show::{ReportFacts, ShowArgs};
use crate::error::Failure;
use crate::plan::PlanArgs;

/// Schemes of URLs that determine the engine.
const SCHEMES: &[(&str, &[&str])] = &[
    ("postgres", &["postgres", "postgresql"]),
    ("mariadb", &["mariadb", "mysql"]),
    ("mongodb", &["mongodb", "mongodb+srv"]),
    ("valkey", &["valkey", "redis", "valkeys", "rediss"]),
];

/// Keys of a plan that clients of one server may have. Any other key is refused, also a new one.
const USED_KEYS: [&str; 23] = [
    "workloads",
    "scale",
    "tier",
    "variant",
    "phases",
    "data",
    "effort",
    "trials",
    "runs",
    "warmup-runs",
    "max-run-time",
    "timeout",
    "seed",
    "accept-license",
    "cache",
    "clients",
    "rate",
    // The server's URL determines these.
    "engines",
    "configuration",
    "url",
    "engine-library",
    // The cells that have them are unsupported, with the reason.
    "memory-limit",
    "storage",
];

/// Makes every device of a fleet a client machine of the server at a URL.
pub fn run(
    folder: &Path,
    server: &str,
    out: Option<PathBuf>,
    options: &FleetOptions,
) -> Result<ExitCode, Failure> {
    let plan = client_plan(folder, server)?;
    // The name of the default folder is the time in UTC.
    let time = default_out().file_name().unwrap_or_default().to_owned();
    let out = out.unwrap_or_else(|| folder.join("clients").join(time));
    let seconds = plan.timeout_ms.unwrap_or(0).div_ceil(1_000);
    let mut options = options.clone();
    options.variables.insert(0, format!("embermark_order_timeout={seconds}"));
    let harness = RunOptions { interrupt: interrupt::on_signals()?, ..RunOptions::new(&out)? };
    let clients = Clients::install(folder, &options, |device, says| say!("{device}: {says}"))?;
    say!("client machines: {}", clients.names().join(", "));
    let mut progress = progress::on_stderr(None);
    let mut transport = AnsibleTransport { clients };
    let result = match conduct(&plan, &out, &mut transport, &harness, progress.as_mut()) {
        Ok(result) => result,
        Err(HarnessError::Interrupted { result: Some(result) }) => {
            say!("embermark: interrupted; the trials that had ended are in {}", out.display());
            *result
        }
        Err(error) => return Err(error.into()),
    };
    let (known, show) = (ReportFacts::new(Vec::new()), ShowArgs::all_tables());
    write_reports(&result, &out, &show, &known);
    show.print(&known, &result, show.format()?, &out.join(RESULT))?;
    Ok(ExitCode::from(u8::from(is_failure(&result))))
}

/// Returns the fleet's plan with the server's engine instead of its engines. Of its workloads it
/// keeps those that clients can share.
fn client_plan(fleet: &Path, server: &str) -> Result<Plan, Failure> {
    let (engine, url) = parse_server(server)?;
    let mut args = read_plan(fleet)?;
    refuse_unused(&args)?;
    let infos = WORKLOADS.iter().map(|workload| workload.info());
    let shared = infos.filter(|info| !info.points.is_empty());
    let known: Vec<&str> = shared.map(|info| info.id).collect();
    let shares = |name: &String| known.contains(&&**name);
    let first = known.first().copied().unwrap_or_default();
    if args.workloads.is_empty() {
        args.workloads = vec![first.to_owned()];
    }
    let (shared, other): (Vec<String>, Vec<String>) = args.workloads.into_iter().partition(shares);
    if shared.is_empty() {
        return Err(usage!(
            "{}: clients of one server share point operations, which {first} has, and it names none of that: \
             workloads = [\"{first}\"]",
            fleet.join(PLAN).display()
        ));
    }
    if !other.is_empty() {
        say!("left out, as clients cannot share it: {}", other.join(", "));
    }
    args.workloads = shared;
    args.engines = vec![engine.to_owned()];
    (args.configuration, args.engine_library) = (Vec::new(), Vec::new());
    args.url = vec![format!("{engine}={url}")];
    // At least two clients make it a plan of point operations. The real number per device is set
    // below.
    let each = args.clients.unwrap_or(1);
    args.clients = Some(each.max(2));
    Ok(Plan { clients: each, ..plan_in(fleet, args)? })
}

/// Refuses keys of a plan that have no effect on clients of one server.
fn refuse_unused(args: &PlanArgs) -> Result<(), Failure> {
    args.key_beside(&USED_KEYS)?.map_or(Ok(()), |key| {
        Err(usage!("'{key}' of the plan has no effect on clients of one server: leave it out"))
    })
}

/// Returns the engine of `ENGINE=URL`, or of a URL whose scheme determines it.
fn parse_server(server: &str) -> Result<(&str, &str), Failure> {
    let is_scheme = |text: &str| text.contains("://");
    if let Some((engine, url)) = server.split_once('=').filter(|(engine, _)| !is_scheme(engine)) {
        let found = registry::find(engine).map_err(Failure::usage)?;
        if found.info().kind != Kind::Server {
            return Err(usage!("{engine} is not a server: it runs in its client's process"));
        }
        return Ok((engine, url));
    }
    let scheme = server.split_once("://").map(|(scheme, _)| scheme).unwrap_or_default();
    let known = SCHEMES.iter().find(|(_, schemes)| schemes.contains(&scheme));
    known.map(|(engine, _)| (*engine, server)).ok_or_else(|| {
        let schemes: Vec<&str> =
            SCHEMES.iter().flat_map(|(_, schemes)| *schemes).copied().collect();
        usage!(
            "--clients-of: the URL does not name an engine (known schemes: {}): write ENGINE=URL",
            schemes.join(", ")
        )
    })
}

/// Sends orders over the fleet's SSH.
struct AnsibleTransport {
    clients: Clients,
}

impl AnsibleTransport {
    /// Sends a message to every machine, and returns their answers.
    fn send_to_all(&mut self, messages: Vec<Message>) -> Result<Vec<String>, String> {
        let messages: Vec<_> = (0..).zip(messages.into_iter().map(Some)).collect();
        let answers = self.clients.send(&messages, false);
        let said = self.clients.names().iter().zip(answers);
        said.map(|(name, answer)| answer.output.map_err(|why| format!("{name}: {why}"))).collect()
    }
}

impl OrderTransport for AnsibleTransport {
    fn names(&self) -> Vec<String> {
        self.clients.names().to_vec()
    }

    fn facts(&mut self) -> Result<Vec<Facts>, String> {
        let message = Message { command: "facts", input: "\n".to_owned() };
        let said = self.send_to_all(vec![message; self.clients.names().len()])?;
        let parsed = |said: &String| serde_json::from_str(said).map_err(|error| error.to_string());
        said.iter().map(parsed).collect()
    }

    fn start(&mut self, jobs: &[Job]) -> Result<(), String> {
        let message = |job: &Job| {
            let input = serde_json::to_string(job).map_err(|error| error.to_string())?;
            Ok(Message { command: "start", input })
        };
        let messages = jobs.iter().map(message).collect::<Result<Vec<_>, String>>()?;
        self.send_to_all(messages).map(drop)
    }

    fn send(&mut self, orders: &[(usize, Vec<Order>)], clocks: bool) -> Vec<MachineReplies> {
        let message = |orders: &Vec<Order>| {
            let input = serde_json::to_string(orders).unwrap_or_default();
            (!orders.is_empty()).then_some(Message { command: "order", input })
        };
        let messages: Vec<(usize, Option<Message>)> =
            orders.iter().map(|(machine, orders)| (*machine, message(orders))).collect();
        let carried = |(answer, asked): (Answer, bool)| {
            let replies = answer.output.and_then(|said| match asked {
                true => serde_json::from_str(&said).map_err(|error| format!("its reply: {error}")),
                false => Ok(Vec::new()),
            });
            MachineReplies { replies, clock: answer.clock }
        };
        let answers = self.clients.send(&messages, clocks);
        let asked = messages.iter().map(|(_, message)| message.is_some());
        answers.into_iter().zip(asked).map(carried).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_its_engine_or_by_its_scheme() {
        let of = |server: &'static str| parse_server(server).map_err(|failure| failure.to_string());
        assert_eq!(of("postgres=host=a user=b"), Ok(("postgres", "host=a user=b")));
        let url = "postgresql://ann@db:5432/x?options=a=b";
        assert_eq!(of(url), Ok(("postgres", url)));
        assert_eq!(of("redis://db"), Ok(("valkey", "redis://db")));
        assert!(of("http://db").unwrap_err().contains("write ENGINE=URL"));
        assert!(of("sqlite=x").unwrap_err().contains("not a server"));
        assert!(of("postgre=x").unwrap_err().contains("postgres"));
        // No error has a password.
        assert!(!of("http://ann:s3cret@db").unwrap_err().contains("s3cret"));
    }
}
