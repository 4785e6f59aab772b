//! The forms in which engines take the URLs of their servers.

use super::parts::{Parts, SEVERAL_HOSTS, read};

/// What an engine accepts as the URL of its server.
struct Form {
    engine: &'static str,
    schemes: &'static [&'static str],
    example: &'static str,
    /// Whether it also accepts libpq's keywords and values.
    keywords: bool,
    /// What the path may name.
    database: Database,
    /// Whether the URL may have parameters.
    parameters: bool,
    /// Whether a user must have a password.
    password: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Database {
    None,
    Number,
    Name,
}

const POSTGRES: Form = Form {
    engine: "postgres",
    schemes: &["postgres", "postgresql"],
    example: "postgres://user:password@host:port/database",
    keywords: true,
    database: Database::Name,
    parameters: true,
    password: false,
};

const INFLUXDB: Form = Form {
    engine: "influxdb",
    schemes: &["http"],
    example: "http://user:password@host:8086",
    keywords: false,
    database: Database::None,
    parameters: false,
    password: true,
};

static FORMS: [Form; 7] = [
    POSTGRES,
    Form { engine: "timescaledb", ..POSTGRES },
    Form {
        engine: "mariadb",
        schemes: &["mysql"],
        example: "mysql://user:password@host:port/database",
        keywords: false,
        ..POSTGRES
    },
    Form {
        engine: "mongodb",
        schemes: &["mongodb", "mongodb+srv"],
        example: "mongodb://user:password@host:port/database",
        keywords: false,
        ..POSTGRES
    },
    Form {
        engine: "valkey",
        schemes: &["valkey", "redis"],
        example: "valkey://user:password@host:port/number",
        database: Database::Number,
        ..INFLUXDB
    },
    INFLUXDB,
    Form { engine: "harperdb", example: "http://user:password@host:9925", ..INFLUXDB },
];

/// Returns the form of an engine. Engines in libraries and of tests have none of their own.
fn form(engine: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.engine == engine)
}

/// Parses the URL of an engine's server.
///
/// # Errors
/// If the URL is invalid. The error gives what is wrong, without any part of the URL.
pub(super) fn parse(engine: &str, url: &str) -> Result<Parts, String> {
    let parts = read(url)?;
    form(engine).map_or(Ok(()), |form| form.check(&parts)).map(|()| parts)
}

/// Checks the URL of an engine's server.
///
/// # Errors
/// As [`parse`], with the right form.
pub(super) fn check(engine: &str, url: &str) -> Result<(), String> {
    let example = form(engine).map_or("engine://user:password@host:port/database", |f| f.example);
    parse(engine, url).map(drop).map_err(|why| format!("{why}; write it as {example}"))
}

impl Form {
    fn check(&self, parts: &Parts) -> Result<(), String> {
        let schemes: Vec<String> =
            self.schemes.iter().map(|scheme| format!("{scheme}://")).collect();
        let database = parts.database.as_deref().unwrap_or_default();
        if parts.is_keywords && !self.keywords || !self.schemes.contains(&&*parts.scheme) {
            return Err(format!("it does not begin with {}", schemes.join(" or ")));
        }
        let several = SEVERAL_HOSTS.contains(&&*parts.scheme);
        if !several && parts.hosts.iter().any(|host| host.name.is_empty()) {
            return Err("it names no host".to_owned());
        }
        if self.database == Database::None && !database.is_empty() {
            return Err("it names more than a host and a port".to_owned());
        }
        if self.database == Database::Number && database.bytes().any(|b| !b.is_ascii_digit()) {
            return Err("what follows its host is not the number of a database".to_owned());
        }
        if parts.has_more && !self.parameters {
            return Err("it has parameters, and none is known".to_owned());
        }
        match &parts.user {
            Some(user) if self.password && !user.has_password => {
                Err("it has a user without a password (write : between them)".to_owned())
            }
            _ => Ok(()),
        }
    }
}
