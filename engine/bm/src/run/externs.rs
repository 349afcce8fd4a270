//! The interface through which v1model primitives act on the switch. The switch implements it; dispatch is static.

use crate::number::decimal;
use crate::program::{LogValue, Request};

/// One `log_msg` call: its texts and values in turn. `Display` formats it with decimal values.
#[derive(Debug, Clone, Copy)]
pub struct LogMessage<'a> {
    /// The text in front of each value, and the text behind the last.
    pub texts: &'a [String],
    /// The values.
    pub values: &'a [LogValue],
    /// The words that hold the values.
    pub words: &'a [u64],
}

impl std::fmt::Display for LogMessage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut values = self.values.iter();
        for text in self.texts {
            f.write_str(text)?;
            if let Some(&LogValue { first, count, signed }) = values.next() {
                f.write_str(&decimal(&self.words[first..first + count], signed))?;
            }
        }
        Ok(())
    }
}

/// Side effects of v1model primitives.
///
/// Only the last clone, resubmit, recirculate and digest call of a pipeline run counts, because each overwrites a packet
/// register in BMv2; the implementor must keep the last one.
pub trait Externs {
    /// Returns the port number that means "drop"; `mark_to_drop` writes it to `egress_spec`.
    fn drop_port(&self) -> u64;
    /// Returns the time in picoseconds since the start of the switch, for meters.
    fn now_ps(&self) -> u64;
    /// Returns a uniform draw from `lo..=hi`; called only with `lo <= hi`.
    fn random(&mut self, lo: u64, hi: u64) -> u64;
    /// Carries out a request with its arguments; of a request with one, both are the same.
    fn request(&mut self, request: Request, arguments: [u64; 2]);
    /// Runs `log_msg`.
    fn log_msg(&mut self, message: LogMessage<'_>);
}

/// Externs without a switch: requests and messages are ignored, and time stands still. Parsers and conditions, which
/// have no side effects on a switch, run with them.
#[derive(Clone, Copy, Debug)]
pub struct Detached;

impl Externs for Detached {
    fn drop_port(&self) -> u64 {
        0
    }
    fn now_ps(&self) -> u64 {
        0
    }
    fn random(&mut self, lo: u64, _hi: u64) -> u64 {
        lo
    }
    fn request(&mut self, _: Request, _: [u64; 2]) {}
    fn log_msg(&mut self, _message: LogMessage<'_>) {}
}
