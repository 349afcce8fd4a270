//! Schedules of flows: properties, the paper's example, and the fluid model.

mod fluid_beside_schedule;
mod properties;
mod whole_bits;
mod worked_example;
