//! libFuzzer's entry to [`fuzz_checks::nic`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz_checks::nic(input));
