//! One module per workload: phases, oracle, one implementation per store family.
