//! The methods that a store with a tape passes on to the store.

/// Passes all methods of the lifecycle to the store itself.
macro_rules! lifecycle {
    ($taped:ident) => {
        impl Lifecycle for $taped {
            fn maintain(&mut self) -> Result<()> {
                self.store.maintain()
            }

            fn upkeep(&mut self) -> Result<()> {
                self.store.upkeep()
            }

            fn limits(&self) -> Limits {
                self.store.limits()
            }

            fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
                self.store.tier_settings()
            }

            fn join(&self) -> Join {
                self.store.join()
            }

            fn open_client(&mut self) -> Result<ClientOpener> {
                let why = "one client in another language works at a time";
                Err(EngineError::impossible(why))
            }

            fn connection(&mut self) -> Result<ConnectionParameters> {
                self.store.connection()
            }

            fn reconnect(&mut self) -> Option<Result<()>> {
                self.store.reconnect()
            }

            fn connects_by_request(&self) -> bool {
                self.store.connects_by_request()
            }

            fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
                self.store.background(into)
            }

            fn close(self: Box<Self>) -> Result<()> {
                self.tape.close();
                self.store.close()
            }

            fn check(&mut self) -> Result<Checked> {
                self.store.check()
            }
        }
    };
}

pub(crate) use lifecycle;
