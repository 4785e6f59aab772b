//! `embermark snippet`.

use std::fs;
use std::process::ExitCode;

use clap::Args;
use embermark_clients::snippet;
use embermark_engines::{Kind, OpenOptions, Opened, Tier, registry};
use embermark_model::{Client, Durability};

use crate::error::Failure;
use crate::output;

/// The arguments of `embermark snippet`.
#[derive(Args)]
pub struct SnippetArgs {
    /// The engine, such as sqlite
    engine: String,

    /// The language, optionally with a package: python, node, node:better-sqlite3
    #[arg(long, value_name = "CLIENT")]
    client: Client,

    /// What a commit must survive: none, process or power
    #[arg(short = 't', long, value_name = "TIER", default_value = "process")]
    tier: Durability,
}

/// Folder of the database in the printed program, which the engine creates. An engine with one file
/// has it in the folder in which the program is started.
const FOLDER: &str = "data";

/// Cache memory in bytes, the default of `embermark run`.
const CACHE_BYTES: u64 = 64 << 20;

/// Values of the user's own server, which replace those of the private server.
const SERVER_PLACEHOLDERS: [(&str, &str); 4] =
    [("conninfo", "host=localhost dbname=mine"), ("database", "mine"), ("socket", ""), ("url", "")];

/// Prints a program that opens, configures and commits like the measured client.
pub fn print(args: &SnippetArgs) -> Result<ExitCode, Failure> {
    let engine = registry::find(&args.engine).map_err(Failure::usage)?;
    let info = engine.info();
    let text = snippet(&args.client, info.id).map_err(Failure::usage)?;
    let words = match engine.tier(args.tier) {
        Tier::Offered { setting, .. } => setting,
        Tier::Unsupported { why } => {
            return Err(usage!("{} has no tier {}: {why}", info.id, args.tier));
        }
    };
    // The engine itself reports how it is opened.
    let scratch = tempfile::tempdir().map_err(Failure::runtime)?;
    let dir = fs::canonicalize(scratch.path()).map_err(Failure::runtime)?;
    let opened = engine.open(&OpenOptions::new(&dir, args.tier, CACHE_BYTES));
    let Opened { mut store, .. } = opened.map_err(Failure::runtime)?;
    let connection = store.lifecycle().connection();
    store.close().map_err(Failure::runtime)?;
    let dir = dir.display().to_string();
    let in_dir = format!("{dir}/");
    let (is_server, mut printed) = (info.kind == Kind::Server, text.to_owned());
    for (name, value) in connection.map_err(Failure::runtime)? {
        let value = value.replace(&in_dir, "").replace(&dir, FOLDER);
        let own = SERVER_PLACEHOLDERS.iter().find(|(known, _)| is_server && *known == name);
        let value = own.map_or(value, |(_, own)| (*own).to_owned());
        printed = printed.replace(&format!("{{{{{name}}}}}"), &escaped(&value));
    }
    let tier = args.tier.to_string();
    let printed = remove_placeholders(&printed.replace("{{tier}}", &tier));
    let sign = if args.client.language() == "python" { "#" } else { "//" };
    let promise = format!("{sign} {} in the tier {tier}: {words}", info.name);
    output::print(&format!("{promise}\n{printed}"))
}

/// Removes placeholders of options that the engine does not get: `{{block_size}}`.
fn remove_placeholders(text: &str) -> String {
    let mut parts = text.split("{{");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("}}") {
            Some((name, rest)) if name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => {
                whole.push_str(rest);
            }
            _ => {
                whole.push_str("{{");
                whole.push_str(part);
            }
        }
    }
    whole
}

/// Escapes a text for double quotes, which works in either language.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
