//! The parts of a server's URL, by the rules of the clients that take it.

use ::url::Url;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Schemes whose URLs may name several hosts, which commas divide.
const SEVERAL_HOSTS: [&str; 4] = ["postgres", "postgresql", "mongodb", "mongodb+srv"];

/// What an engine takes for the URL of its server.
struct Form {
    engine: &'static str,
    schemes: &'static [&'static str],
    example: &'static str,
    /// Whether libpq's keywords and values are taken as well.
    keywords: bool,
    /// What a path may name.
    database: Database,
    /// Whether it may have parameters.
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

const FORMS: [Form; 7] = [
    POSTGRES,
    Form { engine: "timescaledb", ..POSTGRES },
    Form {
        engine: "mariadb",
        schemes: &["mysql"],
        example: "mysql://user:password@host:port/database",
        keywords: false,
        database: Database::Name,
        parameters: true,
        password: false,
    },
    Form {
        engine: "mongodb",
        schemes: &["mongodb", "mongodb+srv"],
        example: "mongodb://user:password@host:port/database",
        keywords: false,
        database: Database::Name,
        parameters: true,
        password: false,
    },
    Form {
        engine: "valkey",
        schemes: &["valkey", "redis"],
        example: "valkey://user:password@host:port/number",
        keywords: false,
        database: Database::Number,
        parameters: false,
        password: true,
    },
    Form {
        engine: "influxdb",
        schemes: &["http"],
        example: "http://user:password@host:8086",
        keywords: false,
        database: Database::None,
        parameters: false,
        password: true,
    },
    Form {
        engine: "harperdb",
        schemes: &["http"],
        example: "http://user:password@host:9925",
        keywords: false,
        database: Database::None,
        parameters: false,
        password: true,
    },
];

/// What is read of a URL.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    scheme: String,
    /// The user's name, or the place in the text where a password would follow it.
    pub user: Option<User>,
    hosts: Vec<Host>,
    database: Option<String>,
    /// Whether there are parameters that are not kept.
    has_more: bool,
    /// Whether it is libpq's keywords and values.
    pub is_keywords: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Host {
    name: String,
    port: Option<u16>,
}

/// Who connects.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct User {
    /// Where the name ends in the text.
    pub ends: usize,
    pub has_password: bool,
}

impl Parts {
    /// The parts that may be kept: scheme, hosts, ports and database. `***@` stands for a user and for
    /// parameters that are left out.
    pub fn kept(&self) -> String {
        let hosts: Vec<String> = self.hosts.iter().map(Host::kept).collect();
        let is_more = self.user.is_some() || self.has_more;
        let hidden = if is_more { format!("{}@", super::HIDDEN) } else { String::new() };
        let database = self.database.iter().map(|name| format!("/{name}")).collect::<String>();
        format!("{}://{hidden}{}{database}", self.scheme, hosts.join(","))
    }
}

impl Host {
    fn kept(&self) -> String {
        self.port.map_or_else(|| self.name.clone(), |port| format!("{}:{port}", self.name))
    }
}

/// What is wrong with a URL of an engine's server, without a part of it, and the form of one that is right.
/// Engines in libraries and of tests have no form of their own.
pub(super) fn check(engine: &str, url: &str) -> Result<(), String> {
    let form = FORMS.iter().find(|form| form.engine == engine);
    let example = form.map_or("engine://user:password@host:port/database", |form| form.example);
    let wrong = |why: &str| format!("{why}; write it as {example}");
    let parts = read(url).map_err(wrong)?;
    form.map_or(Ok(()), |form| form.check(&parts)).map_err(|why| wrong(&why))
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
            return Err("it has parameters, of which none is known".to_owned());
        }
        match &parts.user {
            Some(user) if self.password && !user.has_password => {
                Err("it has a user without a password (write : between them)".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// Takes a URL, or libpq's keywords and values, apart.
pub(super) fn read(text: &str) -> Result<Parts, &'static str> {
    if text.chars().any(char::is_control) {
        return Err("it has control characters");
    }
    match text.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => of_url(scheme, rest),
        _ => of_keywords(text),
    }
}

/// RFC 3986: a letter, then letters, digits, `+`, `-` and `.`.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn of_url(scheme: &str, rest: &str) -> Result<Parts, &'static str> {
    if rest.contains(char::is_whitespace) {
        return Err("it has blanks: write %20");
    }
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (path, rest) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    if path.contains('@') || rest.contains('@') {
        return Err(
            "an @ stands after its host: in a user's name and password write @ as %40, / as %2F, \
             ? as %3F, # as %23",
        );
    }
    let (user, hosts) = match authority.rsplit_once('@') {
        Some((user, hosts)) => (Some(user), hosts),
        None => (None, authority),
    };
    if user.is_some_and(|user| user.contains('@') || user.matches(':').count() > 1) {
        return Err("in a user's name and password write @ as %40 and : as %3A");
    }
    if ![user.unwrap_or_default(), path].into_iter().all(has_whole_escapes) {
        return Err("a % in it is not followed by two hexadecimal digits: write % as %25");
    }
    let several = SEVERAL_HOSTS.contains(&scheme);
    let hosts = if several { hosts.split(',').collect() } else { vec![hosts] };
    let database = path.strip_prefix('/').filter(|path| !path.is_empty());
    if database.is_some_and(|database| database.contains('/')) {
        return Err("its path has more than a database");
    }
    let mut parts = Parts {
        scheme: scheme.to_owned(),
        user: user.map(|user| {
            let begins = scheme.len() + "://".len();
            let ends = user.find(':').unwrap_or(user.len());
            User { ends: begins + ends, has_password: user.contains(':') }
        }),
        hosts: hosts.into_iter().map(host).collect::<Result<_, _>>()?,
        database: database.map(str::to_owned),
        ..Parts::default()
    };
    let query = rest.strip_prefix('?').unwrap_or_default();
    let query = query.split_once('#').map_or(query, |(query, _)| query);
    parts.has_more = rest.len() > 1;
    for (name, value) in ::url::form_urlencoded::parse(query.as_bytes()) {
        let is_place = match scheme {
            "postgres" | "postgresql" => parts.set(&name, &value)?,
            "mysql" if name == "socket" => parts.set("host", &value)?,
            _ => false,
        };
        parts.has_more |= !is_place;
    }
    Ok(parts)
}

/// Whether each `%` begins an escape.
fn has_whole_escapes(text: &str) -> bool {
    let mut after = text.split('%');
    after.next();
    after.all(|after| after.len() >= 2 && after.bytes().take(2).all(|b| b.is_ascii_hexdigit()))
        && percent_decode_str(text).decode_utf8().is_ok()
}

/// A host and its port, as the `url` crate reads them (<https://url.spec.whatwg.org/#host-parsing>).
fn host(text: &str) -> Result<Host, &'static str> {
    if text.is_empty() {
        return Ok(Host { name: String::new(), port: None });
    }
    let url = Url::parse(&format!("server://{text}")).map_err(|error| match error {
        ::url::ParseError::InvalidPort => "its port is no number up to 65535",
        _ => "it names no host",
    })?;
    if text.ends_with(':') {
        return Err("its port is no number up to 65535");
    }
    let name = url.host_str().ok_or("it names no host")?.to_owned();
    Ok(Host { name, port: url.port() })
}

impl Parts {
    /// Takes a parameter of libpq that says where a server is; whether it is one.
    fn set(&mut self, name: &str, value: &str) -> Result<bool, &'static str> {
        match name {
            "host" | "hostaddr" => {
                let names: Vec<&str> = value.split(',').collect();
                let ports: Vec<Option<u16>> = self.hosts.iter().map(|host| host.port).collect();
                self.hosts = (names.iter().enumerate())
                    .map(|(at, name)| Host {
                        name: place(name),
                        port: ports.get(at).or(ports.first()).copied().flatten(),
                    })
                    .collect();
            }
            "port" => {
                let ports: Result<Vec<Option<u16>>, _> = value
                    .split(',')
                    .map(|port| if port.is_empty() { Ok(None) } else { port.parse().map(Some) })
                    .collect();
                let ports = ports.map_err(|_| "its port is no number up to 65535")?;
                if self.hosts.is_empty() {
                    self.hosts.push(Host { name: String::new(), port: None });
                }
                for (at, host) in self.hosts.iter_mut().enumerate() {
                    host.port = ports.get(at).or(ports.first()).copied().flatten();
                }
            }
            // Here libpq takes a whole connection string as well.
            "dbname" if !value.contains(['=', '/', ':', '@']) => {
                self.database = Some(value.to_owned()).filter(|value| !value.is_empty());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A host or the folder of a socket as it is written in a URL.
fn place(name: &str) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');
    utf8_percent_encode(name, ENCODED).to_string()
}

/// Keywords and values, as libpq reads them:
/// <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-KEYWORD-VALUE>.
fn keywords(text: &str) -> Result<Vec<(&str, String)>, &'static str> {
    let mut rest = text.trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let ends = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(ends);
        let after = after.trim_start().strip_prefix('=');
        let after = after.ok_or("it is no URL, and a word of it has no = and value")?.trim_start();
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
            return Err("it is no URL, and what stands before an = is no keyword of libpq");
        }
        let (value, after) = value(after)?;
        found.push((name, value));
        rest = after.trim_start();
    }
    Ok(found)
}

fn of_keywords(text: &str) -> Result<Parts, &'static str> {
    let mut parts =
        Parts { scheme: "postgresql".to_owned(), is_keywords: true, ..Parts::default() };
    let mut found = keywords(text)?;
    if found.is_empty() {
        return Err("it is empty");
    }
    // A port belongs to the host before it, wherever it stands.
    found.sort_by_key(|(name, _)| *name == "port");
    for (name, value) in found {
        if name == "user" || name == "password" {
            let user = parts.user.get_or_insert(User { ends: text.len(), has_password: false });
            user.has_password |= name == "password";
        } else if !parts.set(name, &value)? {
            parts.has_more = true;
        }
    }
    Ok(parts)
}

/// A value, quoted or up to a blank, in which a backslash takes the next character as it is; and what
/// follows it.
fn value(text: &str) -> Result<(String, &str), &'static str> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut chars = text.char_indices().skip(usize::from(quoted));
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            c if !quoted && c.is_whitespace() => return Ok((value, &text[at..])),
            c => value.push(c),
        }
    }
    if quoted { Err("a quoted value in it has no end") } else { Ok((value, "")) }
}

/// A part of a URL that may be shown nowhere, as it is written.
pub(super) struct Hidden(pub String);

/// Names of parameters that every client takes: their values say nothing of anybody.
const HARMLESS: [&str; 5] = ["host", "hostaddr", "port", "dbname", "socket"];

/// The fewest characters of a value of a parameter that can be a secret, where its name does not say
/// that it is one.
const LEAST_SECRET: usize = 8;

/// The user, the password and the values of parameters of a URL, or of libpq's keywords.
pub(super) fn hidden(text: &str) -> Vec<Hidden> {
    let is_secret = |name: &str, value: &str| {
        let name = name.to_ascii_lowercase();
        let said = ["user", "pass", "token", "secret"].iter().any(|word| name.contains(word));
        let said = said || matches!(&*name, "u" | "p");
        !HARMLESS.contains(&&*name) && (said || value.chars().count() >= LEAST_SECRET)
    };
    let mut found: Vec<String> = Vec::new();
    if let Some((_, rest)) = text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
        let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
        if let Some((user, _)) = before.rsplit_once('@') {
            found.push(user.to_owned());
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            found.extend([user.to_owned(), password.to_owned()]);
        }
        let query = query.split_once('#').map_or(query, |(query, _)| query);
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if is_secret(name, value) {
                found.push(value.to_owned());
                // `authMechanismProperties=AWS_SESSION_TOKEN:…`
                found.extend(value.rsplit_once([':', '=']).map(|(_, value)| value.to_owned()));
            }
        }
    } else {
        let values = keywords(text).unwrap_or_default().into_iter();
        let secret = values.filter(|(name, value)| is_secret(name, value));
        found.extend(secret.map(|(_, value)| value));
    }
    found.into_iter().map(Hidden).collect()
}
