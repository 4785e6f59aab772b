//! From result files to what a person or a program reads.
