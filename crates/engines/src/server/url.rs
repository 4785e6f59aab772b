//! URLs of given servers that use HTTP.

/// Splits `http://user:password@host:port`, with or without the user, into `http://host:port` and
/// `user:password`, both encoded as in the URL.
///
/// # Errors
/// Returns what is wrong with it, without quoting it.
pub(crate) fn split_credentials(url: &str) -> Result<(String, Option<&str>), &'static str> {
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
        return Err("its port is not a number");
    }
    match user {
        Some(user) if !user.contains(':') => Err("it has no password"),
        Some(user) if decoded(user).is_none() => Err("an escape in it is wrong"),
        user => Ok((format!("http://{place}"), user)),
    }
}

/// Returns whether the port of a server's address is a number. Otherwise it can be a password whose
/// host is missing.
pub(crate) fn has_port(address: &str) -> bool {
    let host_ends = address.rfind(']').map_or(0, |end| end + 1);
    let port = address[host_ends..].split_once(':');
    port.is_none_or(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

/// Decodes `%40` and the like.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (number, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(number, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_and_a_wrong_one_is_refused() {
        let (base, user) = split_credentials("http://ann:a+b%40c@db.example:8086/").unwrap();
        assert_eq!((base.as_str(), user), ("http://db.example:8086", Some("ann:a+b%40c")));
        assert_eq!(split_credentials("http://127.0.0.1:8086").unwrap().1, None);
        assert!(split_credentials("http://ann:a@[::1]:8086").is_ok());
        let without_place =
            ["https://x:1", "x:1", "http://", "http://x/db", "http://ann:a", "http://[::1"];
        for wrong in without_place.into_iter().chain(["http://ann@x:1", "http://a:%4@x:1"]) {
            assert!(split_credentials(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn escapes_of_a_user_are_read_and_wrong_ones_refused() {
        assert_eq!(decoded("a%40b%C3%BC%25").as_deref(), Some("a@bü%"));
        assert_eq!((decoded("%4"), decoded("%ff")), (None, None));
    }
}
