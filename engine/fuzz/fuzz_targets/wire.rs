//! libFuzzer's entry to [`fuzz_checks::wire`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz_checks::wire(input));
