//! libFuzzer's entry to [`fuzz_checks::edited_program`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz_checks::edited_program(input));
