//! The workload files that are included in the program.

/// Names and texts of the built-in workload files, in the order in which they are listed.
pub static BUILT_IN: &[(&str, &str)] = &[
    ("ycsb-a", include_str!("../files/ycsb-a.toml")),
    ("ycsb-b", include_str!("../files/ycsb-b.toml")),
    ("ycsb-c", include_str!("../files/ycsb-c.toml")),
    ("ycsb-d", include_str!("../files/ycsb-d.toml")),
    ("ycsb-e", include_str!("../files/ycsb-e.toml")),
    ("ycsb-f", include_str!("../files/ycsb-f.toml")),
    ("cache", include_str!("../files/cache.toml")),
    ("gateway", include_str!("../files/gateway.toml")),
    ("shop", include_str!("../files/shop.toml")),
];

/// Workloads of published comparisons that are files, in the same form.
pub static PUBLISHED: &[(&str, &str)] = &[
    ("sensors", include_str!("../files/sensors.toml")),
    ("contacts", include_str!("../files/contacts.toml")),
    ("events", include_str!("../files/events.toml")),
    ("htap", include_str!("../files/htap.toml")),
    ("retention", include_str!("../files/retention.toml")),
];
