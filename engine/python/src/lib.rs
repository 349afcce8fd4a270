//! PyO3 glue between the engine's crates and the Python package `eeon_engine`; it decides nothing itself.
