//! Kinds of faults, with the reasons that reports show.

/// Defines the enum `Fault` from a table of its kinds and their reasons.
macro_rules! faults {
    ($(#[$about:meta])* $($kind:ident: $reason:literal,)+) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Fault { $($kind),+ }

        impl Fault {
            /// Every kind, in the order of their discriminants.
            pub(super) const ALL: [Self; [$($reason),+].len()] = [$(Self::$kind),+];

            /// Returns the reason that a report shows.
            pub(super) const fn reason(self) -> &'static str {
                match self { $(Self::$kind => $reason),+ }
            }
        }
    };
}

pub(crate) use faults;
