//! Quantities with their units in the type: simulated time, data rates, byte counts.
