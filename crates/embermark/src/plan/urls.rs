//! Servers that already run: `--url`.

use std::collections::BTreeMap;

use embermark_engines::registry;
use embermark_harness::passwords;
use embermark_model::{Configuration, Configurations, ServerUrl};

use crate::error::Failure;

/// Parses the URLs of `ENGINE=URL`, adds the password from the environment, and checks that the
/// engine accepts each.
pub fn urls(given: &[String]) -> Result<BTreeMap<String, ServerUrl>, Failure> {
    let mut urls = BTreeMap::new();
    for text in given {
        // Without ENGINE=URL, all of the text may be secret.
        let given = text.split_once('=');
        let given = given.and_then(|(engine, url)| Some((registry::find(engine).ok()?, url)));
        let Some((found, url)) = given else {
            return Err(usage!(
                "--url: the text before the first = is not an engine: write ENGINE=URL, such as \
                 postgres=postgres://host/database"
            ));
        };
        let (engine, url) = (found.info().id, ServerUrl::from(url));
        let url = passwords::get(engine)
            .map_or_else(|| url.clone(), |password| url.with_password(password));
        let checked = url.check(engine).and_then(|()| found.check_url(url.reveal()));
        checked.map_err(|why| usage!("--url {engine}: {}", url.secrets().redact(engine, &why)))?;
        urls.insert(engine.to_owned(), url);
    }
    Ok(urls)
}

/// Refuses a server given by its URL together with a client, because embermark starts the servers
/// of clients.
pub fn refuse_urls_of_clients(
    urls: &BTreeMap<String, ServerUrl>,
    configurations: &Configurations,
) -> Result<(), Failure> {
    let of_url = |own: &Configuration| own.client.is_some() && urls.contains_key(&own.engine);
    let first = configurations.iter().find(|(_, own)| of_url(own));
    first.map_or(Ok(()), |(name, own)| {
        let engine = &own.engine;
        Err(usage!(
            "--url {engine}: '{name}' has a client, which is measured with a server that embermark starts: \
             leave out the URL, or the client"
        ))
    })
}
