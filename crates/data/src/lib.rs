//! Where rows come from: files, generators, sampling, conversion.
