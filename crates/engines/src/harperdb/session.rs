//! The connection to a server, which carries one operation at a time.

use super::NAME;
use super::cells::Cells;
use super::request::Request;
use super::rest::{self, Rest};
use super::row;
use crate::http::{self, HttpClient};
use crate::row::Visit;
use crate::{EngineError, OpenOptions, Result};

/// A connection to one database of a server.
pub(super) struct Session {
    pub http: HttpClient,
    /// Whether the database was created for this run on a given server, and is dropped at the end.
    drops_database: bool,
    /// How single rows are inserted, if not by the operations API.
    pub rest: Option<Rest>,
    pub request: Request,
    cells: Cells,
}

impl Session {
    /// Opens a session on a client, once the server has answered and let the user in.
    pub fn connect(http: HttpClient) -> Result<Self> {
        let (request, cells) = (Request::default(), Cells::default());
        let mut session = Self { http, drops_database: false, rest: None, request, cells };
        session.request.plain("registration_info");
        session.run().map(|()| session)
    }

    /// Connects to the operations API of a given server and makes a database for this run; nothing
    /// else on the server is touched.
    pub fn given(url: &str, options: &OpenOptions) -> Result<Self> {
        if rest::is_chosen(options) {
            let what =
                "the REST interface of a server given by its URL: its tables are not exported";
            return Err(EngineError::unsupported(NAME, what));
        }
        let mut session = Self::reach(url, &options.guest)?;
        session.remove()?;
        session.create_database()?;
        Ok(session)
    }

    /// Connects to the server that a URL names.
    pub fn reach(url: &str, name: &str) -> Result<Self> {
        let client = client(url, name).map_err(|why| {
            let wanted = "give it as http://user:password@host:9925";
            EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
        })?;
        let doing = format!("reach the server at {}", client.address);
        Self::connect(client).map_err(|error| EngineError::failed(NAME, doing, error))
    }

    /// Opens a session on a database that another process has opened; it stays when the session
    /// ends.
    pub fn join(at: &str) -> Result<Self> {
        Self::connect(HttpClient::join(NAME, at)?)
    }

    /// Creates the database, which is dropped when the session ends.
    fn create_database(&mut self) -> Result<()> {
        self.database_operation("create_database")?;
        self.drops_database = true;
        Ok(())
    }

    /// Drops the database if it was created for this run.
    pub fn drop_own_database(&mut self) -> Result<()> {
        let is_own = std::mem::take(&mut self.drops_database);
        if is_own { self.database_operation("drop_database") } else { Ok(()) }
    }

    /// Drops the database if a killed client has left it.
    pub fn remove(&mut self) -> Result<()> {
        let is_there = self.describe_all()?.get(&self.http.database).is_some();
        if is_there { self.database_operation("drop_database") } else { Ok(()) }
    }

    /// Returns all databases with their tables.
    fn describe_all(&mut self) -> Result<serde_json::Value> {
        self.request.plain("describe_all");
        self.answer()
    }

    fn database_operation(&mut self, operation: &str) -> Result<()> {
        let request = self.request.begin_plain(operation);
        request.raw(",\"database\":").json(&self.http.database).raw("}");
        self.run()
    }

    /// Drops a table of the database if it exists.
    pub fn drop_table(&mut self, table: &str) -> Result<()> {
        let all = self.describe_all()?;
        if all.get(&self.http.database).is_none_or(|tables| tables.get(table).is_none()) {
            return Ok(());
        }
        self.begin("drop_table", table).raw("}");
        self.run()
    }

    /// Begins an operation on a table of the database.
    pub fn begin(&mut self, operation: &str, table: &str) -> &mut Request {
        self.request.begin(operation, &self.http.database, table)
    }

    /// Sends the request and drops the answer, unless it is an error.
    pub fn run(&mut self) -> Result<()> {
        http::discard(NAME, send(&self.http, &self.request)?)
    }

    /// Sends the request and returns its whole answer.
    pub fn answer(&mut self) -> Result<serde_json::Value> {
        let body = http::reader(send(&self.http, &self.request)?);
        serde_json::from_reader(body).map_err(row::invalid_answer)
    }

    /// Sends the request and visits the rows of the answer.
    pub fn rows(&mut self, columns: &[&str], visit: &mut Visit<'_>) -> Result<()> {
        let body = http::reader(send(&self.http, &self.request)?);
        row::visit_rows(body, &mut self.cells, columns, visit)
    }

    /// Sends a change and returns the number of records that it changed.
    pub fn count(&mut self) -> Result<u64> {
        row::count(http::reader(send(&self.http, &self.request)?))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // If `drop_own_database` was not called, another error was already reported.
        let _ = self.drop_own_database();
    }
}

/// Makes a client of the server that a URL names.
///
/// # Errors
/// What is wrong with the URL.
pub(super) fn client(url: &str, name: &str) -> std::result::Result<HttpClient, String> {
    let client = HttpClient::from_url(NAME, url, name)?;
    client.authorization.is_some().then_some(client).ok_or_else(|| "it names no user".to_owned())
}

fn send(http: &HttpClient, request: &Request) -> Result<ureq::Body> {
    http.post("/", "application/json", &request.body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_cannot_work_is_refused_with_the_form_of_one_that_can() {
        for url in ["9925", "https://a:b@localhost:9925", "http://localhost:9925", "http://a@b:1"] {
            let error = Session::reach(url, "embermark_x").err().unwrap().to_string();
            assert!(error.contains("http://user:password@host:9925"), "{url}: {error}");
        }
    }
}
