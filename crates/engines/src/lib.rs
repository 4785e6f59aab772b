//! The store families, and one module per engine.
