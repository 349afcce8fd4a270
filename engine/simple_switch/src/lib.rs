//! The v1model target around `bm`: traffic manager, replication, recirculation, port gate.
