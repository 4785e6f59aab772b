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
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_and_a_wrong_one_is_refused() {
        let url = HttpUrl::parse("http://ann:a+b%40c@db.example:8086/").unwrap();
        assert_eq!(url.base, "http://db.example:8086");
        assert_eq!(url.user, Some(("ann", "a+b%40c")));
        assert_eq!(HttpUrl::parse("http://127.0.0.1:8086").unwrap().user, None);
        for wrong in ["https://x:1", "x:1", "http://", "http://x/db", "http://ann@x:1"] {
            assert!(HttpUrl::parse(wrong).is_err(), "{wrong}");
        }
    }
}
