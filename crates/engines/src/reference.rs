//! Reference engines: no candidates, but physical limits. They keep nothing on disk.

use embermark_model::Durability;

use crate::kv::KvStore;
use crate::{
    Availability, DataModel, Engine, Info, Kind, OpenOptions, Opened, Result, Store, Tier,
};

pub(crate) struct Reference {
    pub id: &'static str,
    pub name: &'static str,
    /// What it keeps.
    pub setting: &'static str,
    pub open: fn() -> Box<dyn KvStore>,
}

impl Engine for Reference {
    fn info(&self) -> Info {
        let (kind, family) = (Kind::Reference, DataModel::KeyValue);
        Info { id: self.id, name: self.name, kind, family, licence: "-" }
    }

    fn availability(&self) -> Availability {
        Availability::Ready { version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    fn has_maintenance(&self) -> bool {
        false
    }

    fn tier(&self, _: Durability) -> Tier {
        let (effective_durability, setting) = (Durability::None, self.setting);
        Tier::Offered { effective_durability, setting, manual: "" }
    }

    fn open(&self, _: &OpenOptions) -> Result<Opened> {
        let (store, version) = (Store::Kv((self.open)()), env!("CARGO_PKG_VERSION").to_owned());
        Ok(Opened { store, version, settings: Vec::new(), server: None })
    }
}
