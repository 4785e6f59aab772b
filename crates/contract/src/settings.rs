//! Engine settings that a configuration may change.

use std::num::ParseIntError;
use std::str::FromStr;

use embermark_model::choice;

use crate::tier::AS_SET;
use crate::{Candidate, EngineError, OpenOptions, Result, as_set};

/// Action that fails, in errors.
const DOING: &str = "set what its configuration has";

/// Engine settings that a configuration may change. They override those that embermark sets.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Known settings. An engine that takes settings one by one takes them in this order.
    pub known: &'static [Setting],
    /// Describes further settings that the engine accepts, and whose names it checks itself. `None`
    /// if there are none.
    pub others: Option<&'static str>,
    /// Settings that the engine has and a configuration may not change, each with the reason.
    pub reserved: &'static [(&'static str, &'static str)],
    /// Settings that tuning tries.
    pub candidates: &'static [Candidate],
    /// Writes the lines that set these names and values in the user's own program or in the
    /// engine's file.
    pub written: fn(&[(&str, &str)]) -> Vec<String>,
}

/// Formats one `name=value` line per setting, the form of most settings files.
pub fn assignments(set: &[(&str, &str)]) -> Vec<String> {
    set.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// Formats one line per setting below a comment that says where they belong.
pub fn lines(
    place: &str,
    set: &[(&str, &str)],
    line: impl Fn(&str, &str) -> String,
) -> Vec<String> {
    let each = set.iter().map(|(name, value)| line(name, value));
    std::iter::once(place.to_owned()).chain(each).collect()
}

/// A setting that a configuration can have.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name in the engine's manual.
    pub name: &'static str,
    /// Values that it accepts.
    pub takes: SettingValues,
    /// The engine's own default, if embermark sets another value. The configuration
    /// `ENGINE-defaults` uses it.
    pub default: Option<&'static str>,
}

/// The values of a setting.
#[derive(Clone, Copy, Debug)]
pub enum SettingValues {
    /// One of these words, or its number among them, from 0.
    Word(&'static [&'static str]),
    /// A whole number.
    Number,
    /// Any value. The engine itself refuses what it does not accept.
    Any,
}

/// Stands for the engine's own value, which may depend on its version and machine. embermark then
/// does not set it.
pub const ENGINE_DEFAULT: &str = "default";

/// On or off.
pub const SWITCH: SettingValues = SettingValues::Word(&["OFF", "ON"]);

/// Whether a value of a [switch](SWITCH) is on.
pub fn is_on(value: &str) -> bool {
    number(value, &["OFF", "ON"]) == Some(1)
}

impl Setting {
    /// A setting that embermark leaves unset.
    pub const fn new(name: &'static str, takes: SettingValues) -> Self {
        Self { name, takes, default: None }
    }

    /// Marks a setting that embermark sets, and gives the engine's own value.
    #[must_use]
    pub const fn by_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// Marks a setting that embermark sets, and whose own value the engine decides.
    #[must_use]
    pub const fn engine_default(self) -> Self {
        self.by_default(ENGINE_DEFAULT)
    }

    /// Whether this value leaves the setting to the engine.
    fn is_engine_default(&self, value: &str) -> bool {
        self.default == Some(ENGINE_DEFAULT) && value == ENGINE_DEFAULT
    }

    /// Whether the value read back is the value that was given.
    pub fn matches(&self, given: &str, found: &str) -> bool {
        if self.is_engine_default(given) {
            return true;
        }
        let of = |value: &str| match self.takes {
            SettingValues::Word(words) => number(value, words).map(|number| number as i128),
            SettingValues::Number => value.parse().ok(),
            // In any form that is read back: the engine accepted it, or it would have refused.
            SettingValues::Any => Some(0),
        };
        given.eq_ignore_ascii_case(found) || of(given).is_some_and(|given| Some(given) == of(found))
    }

    fn check(&self, value: &str) -> std::result::Result<(), String> {
        let name = self.name;
        match self.takes {
            _ if self.is_engine_default(value) => Ok(()),
            SettingValues::Word(words) if number(value, words).is_none() => {
                Err(format!("{name}: {}", choice::unknown("value", value, words.iter().copied())))
            }
            SettingValues::Number if value.parse::<i64>().is_err() => {
                Err(format!("{name}: '{value}' is not a whole number"))
            }
            _ => Ok(()),
        }
    }
}

impl OpenOptions {
    /// Returns the value of a setting if a configuration has it.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// Returns what a configuration sets: all settings that it does not leave to the engine
    /// ([`ENGINE_DEFAULT`]).
    pub fn configured(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.settings.iter().filter(|(_, value)| value != ENGINE_DEFAULT);
        own.map(|(name, value)| (&**name, &**value))
    }

    /// Returns those of an adapter's settings that a configuration does not mention.
    pub fn not_configured<'a, V>(
        &self,
        ours: impl IntoIterator<Item = (&'a str, V)>,
    ) -> impl Iterator<Item = (&'a str, V)> {
        ours.into_iter().filter(|(name, _)| self.setting(name).is_none())
    }

    /// Returns the value of a [switch](SWITCH) if a configuration has it.
    pub fn switch(&self, name: &str) -> Option<bool> {
        self.setting(name).map(is_on)
    }

    /// Returns the value of a numeric setting if a configuration has it.
    ///
    /// # Errors
    /// If it is not a number or outside of the range that `engine` accepts.
    pub fn number<T: FromStr<Err = ParseIntError>>(
        &self,
        engine: &'static str,
        name: &str,
    ) -> Result<Option<T>> {
        let failed = |error| EngineError::failed(engine, DOING, format!("{name}: {error}"));
        self.setting(name).map(|value| value.parse().map_err(failed)).transpose()
    }
}

/// Returns the index of the word that `value` is, by name or by number.
fn number(value: &str, words: &[&str]) -> Option<usize> {
    let word = words.iter().position(|word| word.eq_ignore_ascii_case(value));
    word.or_else(|| value.parse().ok().filter(|number| *number < words.len()))
}

impl Settings {
    /// For an engine without settings.
    pub const NONE: Self =
        Self { known: &[], others: None, reserved: &[], candidates: &[], written: assignments };

    /// Finds a setting by name.
    pub fn find(&self, name: &str) -> Option<&'static Setting> {
        self.known.iter().find(|setting| setting.name == name)
    }

    /// Checks the names of settings, and their values as far as they can be checked before the
    /// engine is asked.
    ///
    /// # Errors
    /// The first setting that cannot be set, and why: unknown, with the nearest name; reserved; or
    /// with an invalid value.
    pub fn check<'a>(
        &self,
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> std::result::Result<(), String> {
        for (name, value) in given {
            if let Some((_, why)) = self.reserved.iter().find(|(reserved, _)| *reserved == name) {
                return Err(format!("{name} cannot be set: {why}"));
            }
            // The value is used in statements, arguments and lines of files.
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
            match self.find(name) {
                Some(setting) => setting.check(value)?,
                None if self.others.is_some() && !name.is_empty() && name.chars().all(plain) => {}
                None if self.known.is_empty() && self.others.is_none() => {
                    return Err(format!("{name} cannot be set: it takes no settings"));
                }
                None => {
                    let known = self.known.iter().map(|setting| setting.name);
                    return Err(choice::unknown("setting", name, known).to_string());
                }
            }
        }
        Ok(())
    }

    /// Returns the settings that embermark sets, with the engine's own values. Empty if those are
    /// not known.
    pub fn defaults(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.known.iter().filter_map(|setting| Some((setting.name, setting.default?)))
    }

    /// Returns the lines that set these in the user's own program, in the order in which the engine
    /// takes them: SQLite accepts `page_size` only before `journal_mode=WAL`.
    pub fn in_a_program<'a>(
        &self,
        set: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Vec<String> {
        let mut set: Vec<(&str, &str)> = set.into_iter().collect();
        let place = |name: &str| self.known.iter().position(|setting| setting.name == name);
        set.sort_by_key(|(name, _)| (place(name).unwrap_or(self.known.len()), *name));
        (self.written)(&set)
    }

    /// Returns those of the settings read back that embermark set. A program needs them in
    /// addition to those of its configuration to be as fast and to keep the tier.
    pub fn set_by_embermark<'a>(
        &'a self,
        read_back: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        read_back.into_iter().filter_map(|(name, value)| {
            let setting = self.find(name).filter(|setting| setting.default.is_some())?;
            let value = value.strip_suffix(AS_SET).map_or(value, str::trim_end);
            let value = value.strip_suffix(" bytes").unwrap_or(value);
            setting.check(value).is_ok().then_some((setting.name, value))
        })
    }

    /// Checks in the settings read back that the engine accepted its configuration. Adds what was
    /// not read back, [as set](crate::as_set).
    ///
    /// # Errors
    /// If a setting has another value. For a setting that is not [known](Self::known) the engine
    /// has reported the error itself.
    pub fn check_accepted(
        &self,
        engine: &'static str,
        options: &OpenOptions,
        read_back: &mut Vec<(String, String)>,
    ) -> Result<()> {
        for (name, value) in &options.settings {
            let Some((_, found)) = read_back.iter().find(|(known, _)| known == name) else {
                read_back.push((name.clone(), as_set(value)));
                continue;
            };
            let told = !found.ends_with(AS_SET);
            if told && self.find(name).is_some_and(|setting| !setting.matches(value, found)) {
                let why = format!("it did not accept {name}={value}: it has {found}");
                return Err(EngineError::failed(engine, DOING, why));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use embermark_model::Durability;

    use super::*;

    const SETTINGS: Settings = Settings {
        known: &[
            Setting::new("synchronous", SettingValues::Word(&["OFF", "NORMAL", "FULL"]))
                .by_default("FULL"),
            Setting::new("cache_size", SettingValues::Number),
            Setting::new("compression", SettingValues::Any),
            Setting::new("threads", SettingValues::Number).engine_default(),
        ],
        others: None,
        reserved: &[("port", "a free port is used for each trial")],
        ..Settings::NONE
    };

    #[test]
    fn a_name_or_a_value_that_is_none_is_refused_with_the_nearest() {
        let refused = |name, value| SETTINGS.check([(name, value)]).unwrap_err();
        let unknown = refused("synchronus", "OFF");
        assert!(unknown.contains("unknown setting 'synchronus', did you mean 'synchronous'"));
        assert!(refused("synchronous", "FUL").contains("did you mean 'FULL'"));
        assert!(refused("synchronous", "3").contains("unknown value '3'"));
        assert!(refused("cache_size", "64MB").contains("'64MB' is not a whole number"));
        assert!(refused("port", "1").contains("port cannot be set: a free port is used"));
        assert!(Settings::NONE.check([("a", "b")]).unwrap_err().contains("it takes no settings"));
        let good = [("synchronous", "full"), ("synchronous", "0"), ("cache_size", "-2000")];
        assert_eq!(SETTINGS.check(good.into_iter().chain([("compression", "a b")])), Ok(()));
    }

    #[test]
    fn an_engine_that_takes_others_is_asked_for_names_that_could_be_one() {
        let open = Settings { others: Some("any setting"), ..SETTINGS };
        assert_eq!(open.check([("work_mem", "4MB")]), Ok(()));
        for name in ["a b", "", "x;y"] {
            assert!(open.check([(name, "1")]).unwrap_err().contains("unknown setting"), "{name}");
        }
    }

    #[test]
    fn a_value_that_comes_back_in_another_form_is_the_same() {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let taken = |given: (&str, &str), found: &[(&str, &str)]| {
            let mut options = OpenOptions::new("/nowhere", Durability::Power, 0);
            options.settings.push(pair(given));
            let mut found = found.iter().copied().map(pair).collect();
            SETTINGS.check_accepted("toy", &options, &mut found).map(|()| found)
        };
        let off = ("synchronous", "OFF");
        assert_eq!(taken(off, &[("synchronous", "0")]).unwrap(), [pair(("synchronous", "0"))]);
        assert_eq!(taken(off, &[]).unwrap(), [pair(("synchronous", "OFF (as set)"))]);
        assert!(taken(("cache_size", "+07"), &[("cache_size", "7")]).is_ok());
        let error = taken(off, &[("synchronous", "2")]).unwrap_err().to_string();
        assert!(error.contains("it did not accept synchronous=OFF: it has 2"), "{error}");
    }

    #[test]
    fn the_defaults_are_those_of_what_is_set_otherwise() {
        let defaults = [("synchronous", "FULL"), ("threads", ENGINE_DEFAULT)];
        assert_eq!(SETTINGS.defaults().collect::<Vec<_>>(), defaults);
    }

    #[test]
    fn a_program_has_settings_in_the_order_in_which_the_engine_takes_them() {
        let set = [("zeal", "1"), ("compression", "lz4"), ("apt", "2"), ("synchronous", "FULL")];
        let lines = ["synchronous=FULL", "compression=lz4", "apt=2", "zeal=1"];
        assert_eq!(SETTINGS.in_a_program(set), lines);
    }

    #[test]
    fn what_embermark_gives_an_engine_is_told_from_what_came_back() {
        let back = [
            ("cache_size", "7"),
            ("synchronous", "2"),
            ("threads", "12 bytes (as set)"),
            ("other", "1"),
        ];
        let given: Vec<(&str, &str)> = SETTINGS.set_by_embermark(back).collect();
        assert_eq!(given, [("synchronous", "2"), ("threads", "12")]);
    }

    #[test]
    fn what_is_left_to_an_engine_is_set_by_nobody_and_whatever_it_has() {
        assert_eq!(SETTINGS.check([("threads", ENGINE_DEFAULT), ("threads", "2")]), Ok(()));
        assert!(
            SETTINGS.check([("cache_size", ENGINE_DEFAULT)]).is_err(),
            "this one has no such value"
        );
        let mut options = OpenOptions::new("/nowhere", Durability::Power, 0);
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        options.settings = [("threads", ENGINE_DEFAULT), ("cache_size", "7")].map(pair).to_vec();
        assert_eq!(options.configured().collect::<Vec<_>>(), [("cache_size", "7")]);
        let ours = [("cache_size", 1), ("page_size", 2), ("threads", 3)];
        assert_eq!(options.not_configured(ours).collect::<Vec<_>>(), [("page_size", 2)]);
        let mut found = [("threads", "12"), ("cache_size", "7")].map(pair).to_vec();
        assert!(SETTINGS.check_accepted("toy", &options, &mut found).is_ok());
        let mut silent = [pair(("cache_size", "7"))].to_vec();
        SETTINGS.check_accepted("toy", &options, &mut silent).unwrap();
        assert_eq!(silent[1], pair(("threads", "default (as set)")));
    }
}
