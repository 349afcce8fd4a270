//! libFuzzer's entry to [`fuzz_checks::runtime_api`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz_checks::runtime_api(input));
