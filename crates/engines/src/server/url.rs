//! The URL of a server that speaks HTTP and is given.

/// `http://user:password@host:port`, with or without the user.
pub(crate) struct HttpUrl<'a> {
    /// `http://host:port`.
    pub base: String,
    /// A name and a password, encoded as a URL has them.
    pub user: Option<(&'a str, &'a str)>,
}

impl<'a> HttpUrl<'a> {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// What is wrong with it, without a part of it.
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
        let user = user.map(|user| user.split_once(':').ok_or("it has no password"));
        Ok(Self { base: format!("http://{place}"), user: user.transpose()? })
    }
}

#[cfg(test)]
mod tests;
