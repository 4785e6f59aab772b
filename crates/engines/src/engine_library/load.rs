//! Loads a library, and reads and validates its description.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::mem::{MaybeUninit, offset_of, size_of};
use std::path::Path;

use embermark_abi as abi;
use embermark_model::Durability;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::api::{Api, Functions, KeyValue, Sql};
use super::description::{
    AllowedValues, EngineDescription, Offer, SettingDescription, TierDescription,
};
use super::dialect::LibraryDialect;
use crate::library::with_cause;

/// Maximum number of entries of a list. A longer list probably lacks its end mark.
const MAX_ENTRIES: usize = 1_000;

/// Loads a library, which stays loaded, and reads its description.
///
/// # Errors
/// Returns the reason that the library cannot be used.
pub(super) fn load(path: &Path) -> Result<(Api, EngineDescription), String> {
    // SAFETY: a library is code that the user has chosen to run. All its symbols have to be
    // resolved now.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| with_cause(&error))?;
    // It stays loaded: its threads and its memory can outlive the last database.
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: the function of that name has this type in the header.
    let entry = unsafe { library.get::<abi::Entry>(abi::ENTRY.as_bytes()) };
    let entry = entry.map_err(|error| {
        format!("it exports no function `{}`: {}", abi::ENTRY, with_cause(&error))
    })?;
    // SAFETY: as the header requires: the function is called with a version, and returns null or an
    // engine that lives as long as the library, which stays loaded.
    unsafe { read(entry(abi::ABI)) }
}

/// Reads an engine's struct.
///
/// # Safety
/// It must be null, or as the header requires, and live as long as the process.
unsafe fn read(engine: *const abi::Engine) -> Result<(Api, EngineDescription), String> {
    if engine.is_null() {
        return Err(format!("it does not know version {} of the interface", abi::ABI));
    }
    // SAFETY: the caller's promise: every version has the first two numbers.
    let version = unsafe { (&raw const (*engine).abi).read() };
    if version != abi::ABI {
        return Err(format!(
            "it has version {version} of the interface, and this embermark knows version {}: compile it \
             with the header of this embermark",
            abi::ABI
        ));
    }
    // SAFETY: the caller's promise: each is as in the header.
    unsafe {
        let least = offset_of!(abi::Engine, error);
        let engine: abi::Engine = read_struct(engine, least, "embermark_engine")?;
        let functions = match engine.family {
            abi::KEY_VALUE => {
                let least = offset_of!(abi::KeyValue, table);
                let of = read_struct(engine.key_value, least, "embermark_key_value")?;
                Functions::KeyValue(KeyValue::new(of)?)
            }
            abi::SQL => {
                let of: abi::Sql =
                    read_struct(engine.sql, offset_of!(abi::Sql, bulk), "embermark_sql")?;
                let least = offset_of!(abi::Dialect, type_int);
                let dialect: abi::Dialect = read_struct(of.dialect, least, "embermark_dialect")?;
                Functions::Sql(Box::new(Sql::new(of, LibraryDialect::read(&dialect)?)?))
            }
            other => {
                return Err(format!("its family is {other}, but must be 1 (key-value) or 2 (SQL)"));
            }
        };
        let about = read_description(&engine)?;
        Ok((Api::new(engine, functions)?, about))
    }
}

/// Reads a struct that begins with its size. Fields missing at its end become zero.
///
/// # Safety
/// It must be null, or begin with its size in bytes. Zeros must be valid for each field.
unsafe fn read_struct<T>(at: *const T, least: usize, name: &str) -> Result<T, String> {
    if at.is_null() {
        return Err(format!("its `struct {name}` is NULL"));
    }
    // SAFETY: the caller's promise.
    let size = unsafe { at.cast::<u32>().read_unaligned() } as usize;
    if size < least {
        return Err(format!(
            "its `struct {name}` has {size} bytes, but needs at least {least}: set its size to its sizeof"
        ));
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: that many bytes exist, and no more than there is room for; the rest is zero.
    unsafe {
        let (from, bytes) = (at.cast::<u8>(), size.min(size_of::<T>()));
        from.copy_to_nonoverlapping(copy.as_mut_ptr().cast(), bytes);
        Ok(copy.assume_init())
    }
}

/// Returns whether a text can be an engine's id.
pub(super) fn is_id(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    !text.is_empty() && text.chars().all(plain) && !text.ends_with("-defaults")
}

/// Reads an engine's description.
///
/// # Safety
/// Its texts and lists must be as the header requires.
unsafe fn read_description(engine: &abi::Engine) -> Result<EngineDescription, String> {
    // SAFETY: the caller's promise.
    unsafe {
        let id = text(engine.id, "id")?;
        if !is_id(&id) {
            return Err(format!(
                "its id '{}' is invalid: use lower-case letters, digits, '-' and '_', and do not end it with \
                 '-defaults'",
                id.escape_debug()
            ));
        }
        if engine.tiers.is_null() {
            return Err("its `tiers` are NULL".to_owned());
        }
        let tier = |durability: Durability| {
            let tier = engine.tiers.add(durability as usize).read();
            read_tier(&tier, durability).map_err(|why| format!("its tier '{durability}' {why}"))
        };
        Ok(EngineDescription {
            id,
            name: text(engine.name, "name")?,
            version: text(engine.version, "version")?,
            licence: text(engine.licence, "licence")?,
            answers_sql: engine.family == abi::SQL,
            forbids_publishing: engine.flags & abi::FORBIDS_PUBLISHING != 0,
            appends_only: engine.flags & abi::APPENDS_ONLY != 0,
            has_maintenance: engine.maintain.is_some(),
            check: optional_text(engine.check_name, "check_name")?,
            exclusive: optional_text(engine.exclusive, "exclusive")?,
            tiers: Durability::ALL.into_iter().map(tier).collect::<Result<_, _>>()?,
            settings: settings(engine.settings)?,
        })
    }
}

/// # Safety
/// The same as for [`read_description`].
unsafe fn read_tier(tier: &abi::Tier, promised: Durability) -> Result<TierDescription, String> {
    // SAFETY: the caller's promise.
    let (setting, why, read_back) = unsafe {
        let setting = optional_text(tier.setting, "setting")?;
        (setting, optional_text(tier.unsupported, "unsupported")?, pairs(tier.read_back)?)
    };
    let offer = match (setting, why) {
        (Some(_), Some(_)) => {
            return Err("has both a `setting` and a reason `unsupported`".to_owned());
        }
        (None, None) => return Err("has neither a `setting` nor a reason `unsupported`".to_owned()),
        (None, Some(why)) => Offer::Unsupported { why },
        (Some(setting), None) => {
            let survives = Durability::ALL.into_iter().find(|known| *known as u32 == tier.survives);
            let survives = survives
                .ok_or_else(|| format!("survives {}, which is not a tier", tier.survives))?;
            if survives < promised {
                return Err(format!(
                    "survives '{survives}', which is less than it promises: make it `unsupported`"
                ));
            }
            // SAFETY: the caller's promise.
            let manual = unsafe { optional_text(tier.manual, "manual")? }.unwrap_or_default();
            Offer::Offered { survives, setting, manual }
        }
    };
    Ok(TierDescription { offer, read_back })
}

/// Returns the values of each name, in the order of their first occurrence.
///
/// # Safety
/// It must be null or end with a null name, and its texts must be as the header requires.
unsafe fn pairs(first: *const abi::Pair) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    // SAFETY: the caller's promise.
    unsafe {
        for pair in list(first, |pair| pair.name.is_null(), "read_back")? {
            let (name, value) = (text(pair.name, "name")?, text(pair.value, "value")?);
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(value),
                None => found.push((name, vec![value])),
            }
        }
    }
    Ok(found)
}

/// # Safety
/// The same as for [`pairs`].
unsafe fn settings(first: *const abi::Setting) -> Result<Vec<SettingDescription>, String> {
    let (mut found, mut names) = (Vec::new(), BTreeSet::new());
    // SAFETY: the caller's promise.
    unsafe {
        for setting in list(first, |setting| setting.name.is_null(), "settings")? {
            let name = text(setting.name, "name")?;
            if name == "library" || !names.insert(name.clone()) {
                return Err(format!("its setting '{name}' has a reserved or repeated name"));
            }
            let takes = match setting.takes {
                abi::ANY => AllowedValues::Any,
                abi::NUMBER => AllowedValues::Number,
                abi::WORD => {
                    let words = list(setting.words, |word| word.is_null(), "words")?;
                    let words = words.into_iter().map(|word| text(word, "word"));
                    AllowedValues::Word(words.collect::<Result<_, _>>()?)
                }
                other => {
                    return Err(format!(
                        "its setting '{name}' takes {other}, which is not a known kind of value"
                    ));
                }
            };
            let by_default = optional_text(setting.by_default, "by_default")?;
            found.push(SettingDescription { name, takes, by_default });
        }
    }
    Ok(found)
}

/// Returns a list up to its end mark. Null is empty.
///
/// # Safety
/// It must be null or have its end mark.
unsafe fn list<T: Copy>(
    first: *const T,
    ends: impl Fn(&T) -> bool,
    name: &str,
) -> Result<Vec<T>, String> {
    let mut found = Vec::new();
    if first.is_null() {
        return Ok(found);
    }
    for position in 0..MAX_ENTRIES {
        // SAFETY: the caller's promise: the end was not reached yet.
        let next = unsafe { first.add(position).read() };
        if ends(&next) {
            return Ok(found);
        }
        found.push(next);
    }
    Err(format!("its `{name}` have no end: the last entry must have the name NULL"))
}

/// Reads a required text that is not empty.
///
/// # Safety
/// It must be null or end with a NUL.
unsafe fn text(at: *const c_char, name: &str) -> Result<String, String> {
    // SAFETY: the caller's promise.
    let text = unsafe { optional_text(at, name) }?;
    text.filter(|text| !text.trim().is_empty()).ok_or_else(|| format!("its `{name}` is empty"))
}

/// Reads an optional text.
///
/// # Safety
/// The same as for [`text`].
unsafe fn optional_text(at: *const c_char, name: &str) -> Result<Option<String>, String> {
    if at.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(at) }.to_str();
    text.map(|text| Some(text.to_owned())).map_err(|_| format!("its `{name}` is not UTF-8"))
}
