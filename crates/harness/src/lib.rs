//! From a plan to a result file: cells, worker processes, probes, journal.
