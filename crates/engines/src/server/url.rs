//! The URL of a server that speaks HTTP and is given.

/// `http://user:password@host:port`, with or without the user.
pub(crate) struct HttpUrl<'a> {
    /// `http://host:port`.
    pub base: String,
    /// A name and a password, encoded as a URL has them.
    pub user: Option<(&'a str, &'a str)>,
}

impl<'a> HttpUrl<'a> {
    /// Takes a URL apart, or says what is wrong with it, without a part of it.
    pub fn parse(url: &'a str) -> Result<Self, &'static str> {
        let rest = url.strip_prefix("http://").ok_or("it does not begin with http://")?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, place) = match rest.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, rest),
        };
        if place.is_empty() || place.contains(['/', '?', '#']) {
            return Err("it names no host, or more than a host and a port");
        }
        if !has_port(place) {
            return Err("its port is no number");
        }
        let user = user.map(|user| user.split_once(':').ok_or("it has no password"));
        Ok(Self { base: format!("http://{place}"), user: user.transpose()? })
    }
}

/// Whether what a server's address has for a port is a number: else it may be a password, after
/// which the host is missing.
pub(crate) fn has_port(address: &str) -> bool {
    let host_ends = address.rfind(']').map_or(0, |end| end + 1);
    let port = address[host_ends..].split_once(':');
    port.is_none_or(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
