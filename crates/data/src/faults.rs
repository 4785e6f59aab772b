//! Kinds of faults with the reasons that reports show.

/// Makes the enum `Fault` of a table of its kinds, with their reasons.
macro_rules! faults {
    ($(#[$about:meta])* $($kind:ident: $reason:literal,)+) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Fault { $($kind),+ }

        impl Fault {
            /// Every kind, in the order of their discriminants.
            pub(super) const ALL: [Self; [$($reason),+].len()] = [$(Self::$kind),+];

            /// The reason as a report shows it.
            pub(super) const fn reason(self) -> &'static str {
                match self { $(Self::$kind => $reason),+ }
            }
        }
    };
}

pub(crate) use faults;
