//! Clients: `--client`, which adds a column for each program that does the timed work.

use std::os::unix::fs::PermissionsExt;
use std::path;

use embermark_engines::{Kind, registry};
use embermark_model::{Client, Configuration, Configurations};

use crate::error::Failure;

/// Parses a client: `python`, `node:better-sqlite3`, `./my-program`. `native` is `None`. A program
/// must exist and be executable. Its path becomes absolute.
pub fn client(text: &str) -> Result<Option<Client>, String> {
    if text == Client::NATIVE {
        return Ok(None);
    }
    let client: Client =
        text.parse().map_err(|error| format!("{error}; or native, embermark itself"))?;
    let Some(program) = client.program() else { return Ok(Some(client)) };
    let refused = |why: &str| format!("client '{text}': {why}");
    let absolute = path::absolute(program).map_err(|error| refused(&error.to_string()))?;
    let about = absolute.metadata().map_err(|error| refused(&error.to_string()))?;
    if !about.is_file() {
        return Err(refused("it is not a file: name the program itself"));
    }
    if about.permissions().mode() & 0o111 == 0 {
        return Err(refused("it is not executable: chmod +x makes it so"));
    }
    let absolute = absolute.to_str().ok_or_else(|| refused("its path is not UTF-8"))?;
    absolute.parse().map(Some).map_err(|error| format!("{error}"))
}

/// Parses `--client`, each client once.
pub fn clients(given: &[String]) -> Result<Vec<Option<Client>>, Failure> {
    let all = given.iter().map(|text| client(text).map_err(|why| usage!("--client: {why}")));
    super::unique(all)
}

/// Returns the columns with each of these clients, and their configurations. A column with its own
/// client keeps it, and a reference engine has none.
pub fn with_clients(
    columns: Vec<String>,
    configurations: Configurations,
    clients: &[Option<Client>],
) -> Result<(Vec<String>, Configurations), Failure> {
    if clients.is_empty() {
        return Ok((columns, configurations));
    }
    let with_client = |column: &String, client: &Option<Client>| {
        let own = configurations.get(column).cloned();
        let Some(client) = client else { return (column.clone(), own) };
        let own = own.unwrap_or_else(|| Configuration::new(column));
        let own = Configuration { client: Some(client.clone()), ..own };
        (format!("{column}-{}", client.suffix()), Some(own))
    };
    let native = [None];
    let all = columns.iter().flat_map(|column| {
        let keeps_client = has_one_client(column, configurations.get(column));
        let clients = if keeps_client { &native[..] } else { clients };
        clients.iter().map(move |client| Ok(with_client(column, client)))
    });
    let all = super::unique(all)?;
    for (at, (name, own)) in all.iter().enumerate() {
        let is_twice = all[..at].iter().any(|(other, _)| other == name);
        let is_other = |known: &Configuration| Some(known) != own.as_ref();
        if is_twice || configurations.get(name).is_some_and(is_other) {
            return Err(usage!(
                "--client: two columns are called '{name}': give the configuration, or the program, \
                 another name"
            ));
        }
    }
    let columns = all.iter().map(|(name, _)| name.clone()).collect();
    Ok((columns, all.into_iter().filter_map(|(name, own)| Some((name, own?))).collect()))
}

/// Whether `--client` leaves a column as it is.
fn has_one_client(column: &str, own: Option<&Configuration>) -> bool {
    let engine = registry::find(own.map_or(column, |own| &own.engine));
    let is_reference = engine.is_ok_and(|engine| engine.info().kind == Kind::Reference);
    is_reference || own.is_some_and(|own| own.client.is_some())
}

/// Refuses columns with a client in a command that uses engines itself.
pub fn refuse_clients(configurations: &Configurations, command: &str) -> Result<(), Failure> {
    let first = configurations.iter().find_map(|(name, own)| Some((name, own.client.as_ref()?)));
    first.map_or(Ok(()), |(name, client)| {
        Err(usage!(
            "'{name}' has the client {client}, and `embermark {command}` uses engines without one: leave the \
             client out, or measure it with `embermark run`"
        ))
    })
}

#[cfg(test)]
mod tests;
