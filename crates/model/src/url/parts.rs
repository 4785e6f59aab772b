//! Parses a server's URL by the rules of the clients that accept it.

use ::url::Url;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::keywords::keywords;

/// Schemes whose URLs may name several hosts, separated by commas.
pub(super) const SEVERAL_HOSTS: [&str; 4] = ["postgres", "postgresql", "mongodb", "mongodb+srv"];

/// The parts of a URL that embermark uses. Not `Debug`, because of the password.
#[derive(Default)]
pub struct Parts {
    pub(super) scheme: String,
    /// The user, if the URL names one.
    pub(super) user: Option<User>,
    /// The user and the password of a URL, encoded.
    credentials: Option<String>,
    /// The first host before the path of a URL.
    address: Host,
    /// The servers: those before the path, or those that parameters name instead.
    pub(super) hosts: Vec<Host>,
    pub(super) database: Option<String>,
    /// The parameters of a URL, encoded.
    query: String,
    /// Whether the URL has parameters that are not kept.
    pub(super) has_more: bool,
    /// Whether the text consists of libpq's keywords and values.
    pub(super) is_keywords: bool,
}

#[derive(Clone, Default)]
pub(super) struct Host {
    pub name: String,
    port: Option<u16>,
}

/// The user that connects.
pub(super) struct User {
    /// Where the name ends in the text, and where a password would follow.
    pub ends: usize,
    pub has_password: bool,
}

impl Parts {
    /// Returns the user's name, unless it is empty.
    pub fn user(&self) -> Option<String> {
        let user = self.credentials()?;
        let name = user.split_once(':').map_or(user, |(name, _)| name);
        (!name.is_empty()).then(|| decoded(name))
    }

    /// Returns the password, which can be empty.
    pub fn password(&self) -> Option<String> {
        let (_, password) = self.credentials()?.split_once(':')?;
        Some(decoded(password))
    }

    /// Returns the user and the password, encoded as in the URL, with the `:` between them.
    pub fn credentials(&self) -> Option<&str> {
        self.credentials.as_deref()
    }

    /// Returns the host before the path, or the first of several. An IPv6 address has no brackets.
    pub fn host(&self) -> &str {
        self.address.name.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns the port of that [host](Self::host), if there is one.
    pub fn port(&self) -> Option<u16> {
        self.address.port
    }

    /// Returns that [host](Self::host) and its port, as in the URL.
    pub fn address(&self) -> String {
        self.address.kept()
    }

    /// Returns the name of the database.
    pub fn database(&self) -> Option<String> {
        self.database.as_deref().map(decoded)
    }

    /// Returns the parameters, encoded as in the URL.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Returns the parts that may be kept: scheme, hosts, ports and database. `***@` replaces a
    /// user and parameters.
    pub(super) fn kept(&self) -> String {
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

/// Parses a URL, or libpq's keywords and values.
pub(super) fn read(text: &str) -> Result<Parts, &'static str> {
    if text.chars().any(char::is_control) {
        return Err("it has control characters");
    }
    match text.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => parse_url(scheme, rest),
        _ => parse_keywords(text),
    }
}

/// Whether this is a scheme by RFC 3986: a letter, then letters, digits, `+`, `-` and `.`.
pub(super) fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn parse_url(scheme: &str, rest: &str) -> Result<Parts, &'static str> {
    if rest.contains(char::is_whitespace) {
        return Err("it has blanks: write %20");
    }
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (path, rest) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    if path.contains('@') || rest.contains('@') {
        return Err(
            "it has an @ after its host: in a user's name and password write @ as %40, / as %2F, \
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
    let hosts: Vec<Host> = hosts.into_iter().map(host).collect::<Result<_, _>>()?;
    let query = rest.strip_prefix('?').unwrap_or_default();
    let query = query.split_once('#').map_or(query, |(query, _)| query);
    let mut parts = Parts {
        scheme: scheme.to_owned(),
        user: user.map(|user| {
            let begins = scheme.len() + "://".len();
            let ends = user.find(':').unwrap_or(user.len());
            User { ends: begins + ends, has_password: user.contains(':') }
        }),
        credentials: user.map(str::to_owned),
        address: hosts.first().cloned().unwrap_or_default(),
        hosts,
        database: database.map(str::to_owned),
        query: query.to_owned(),
        has_more: rest.len() > 1,
        is_keywords: false,
    };
    for (name, value) in ::url::form_urlencoded::parse(query.as_bytes()) {
        let locates_server = match scheme {
            "postgres" | "postgresql" => parts.set(&name, &value)?,
            "mysql" if name == "socket" => parts.set("host", &value)?,
            _ => false,
        };
        parts.has_more |= !locates_server;
    }
    Ok(parts)
}

/// Decodes a part, whose escapes are [whole](has_whole_escapes).
fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

/// Whether each `%` begins an escape, and all of them are UTF-8.
fn has_whole_escapes(text: &str) -> bool {
    let mut after = text.split('%');
    after.next();
    after.all(|after| after.len() >= 2 && after.bytes().take(2).all(|b| b.is_ascii_hexdigit()))
        && percent_decode_str(text).decode_utf8().is_ok()
}

/// Parses a host and its port with the rules of the `url` crate
/// (<https://url.spec.whatwg.org/#host-parsing>).
fn host(text: &str) -> Result<Host, &'static str> {
    if text.is_empty() {
        return Ok(Host { name: String::new(), port: None });
    }
    let url = Url::parse(&format!("server://{text}")).map_err(|error| match error {
        ::url::ParseError::InvalidPort => "its port is not a number up to 65535",
        _ => "it names no host",
    })?;
    if text.ends_with(':') {
        return Err("its port is not a number up to 65535");
    }
    let name = url.host_str().ok_or("it names no host")?.to_owned();
    Ok(Host { name, port: url.port() })
}

impl Parts {
    /// Takes a parameter of libpq that locates a server. Returns whether it is one.
    fn set(&mut self, name: &str, value: &str) -> Result<bool, &'static str> {
        match name {
            "host" | "hostaddr" => {
                let names: Vec<&str> = value.split(',').collect();
                let ports: Vec<Option<u16>> = self.hosts.iter().map(|host| host.port).collect();
                self.hosts = (names.iter().enumerate())
                    .map(|(at, name)| Host {
                        name: encode_host(name),
                        port: ports.get(at).or(ports.first()).copied().flatten(),
                    })
                    .collect();
            }
            "port" => {
                let ports: Result<Vec<Option<u16>>, _> = value
                    .split(',')
                    .map(|port| if port.is_empty() { Ok(None) } else { port.parse().map(Some) })
                    .collect();
                let ports = ports.map_err(|_| "its port is not a number up to 65535")?;
                if self.hosts.is_empty() {
                    self.hosts.push(Host { name: String::new(), port: None });
                }
                for (at, host) in self.hosts.iter_mut().enumerate() {
                    host.port = ports.get(at).or(ports.first()).copied().flatten();
                }
            }
            // libpq also takes a whole connection string here.
            "dbname" if !value.contains(['=', '/', ':', '@']) => {
                self.database = Some(value.to_owned()).filter(|value| !value.is_empty());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Encodes a host, or the folder of a socket, for a URL.
fn encode_host(name: &str) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');
    utf8_percent_encode(name, ENCODED).to_string()
}

fn parse_keywords(text: &str) -> Result<Parts, &'static str> {
    let mut parts =
        Parts { scheme: "postgresql".to_owned(), is_keywords: true, ..Parts::default() };
    let mut found = keywords(text)?;
    if found.is_empty() {
        return Err("it is empty");
    }
    // A port belongs to the host before it, in any order of the keywords.
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
