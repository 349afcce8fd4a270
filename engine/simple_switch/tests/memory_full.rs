//! A switch with the maximum number of ports and table entries stays below 100 MB.

#![allow(unsafe_code)] // Counting allocations requires a global allocator, whose trait is unsafe; it only forwards.

#[path = "support/counting.rs"]
mod counting;
#[path = "support/eeon.rs"]
#[allow(dead_code)]
mod eeon;
#[path = "support/full.rs"]
mod full;

const LIMIT: usize = 100_000_000;

#[test]
fn a_switch_with_every_port_and_full_tables_takes_less_than_100_mb_with_its_program() {
    let before = counting::live_bytes();
    let switch = full::switch(&eeon::program());
    let bytes = counting::live_bytes() - before;
    for table in
        switch.program().tables().iter().filter(|table| !table.const_entries && !table.key.is_empty())
    {
        let entries = switch.state().mt_get_num_entries(&table.name).expect("it is a table");
        assert_eq!(entries, table.max_size, "entries of {}", table.name);
    }
    assert!(bytes < LIMIT, "{bytes} bytes");
}
