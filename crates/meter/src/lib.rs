//! The clock around a phase: elapsed time, sampled latencies, the time cap.
