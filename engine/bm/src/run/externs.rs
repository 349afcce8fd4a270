//! The interface through which v1model primitives act on the switch. The switch implements it; dispatch is static.

use super::phv::Phv;
use crate::number::decimal;
use crate::program::LogValue;

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

/// Side effects of v1model primitives. `phv` is the packet at the moment of the call.
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
    /// Runs `clone_ingress_pkt_to_egress`, with the session id and the field list to keep (0: none).
    fn clone_ingress(&mut self, phv: &Phv, session: u64, field_list: u64);
    /// Runs `clone_egress_pkt_to_egress`, with the session id and the field list to keep (0: none).
    fn clone_egress(&mut self, phv: &Phv, session: u64, field_list: u64);
    /// Runs `resubmit`, with the field list to keep.
    fn resubmit(&mut self, phv: &Phv, field_list: u64);
    /// Runs `recirculate`, with the field list to keep.
    fn recirculate(&mut self, phv: &Phv, field_list: u64);
    /// Runs `generate_digest`, with the receiver and the id of the learn list.
    fn generate_digest(&mut self, phv: &Phv, receiver: u64, learn_list: u64);
    /// Runs `truncate`: the packet keeps at most this many bytes when it is deparsed.
    fn truncate(&mut self, phv: &Phv, bytes: u64);
    /// Runs `log_msg`.
    fn log_msg(&mut self, message: LogMessage<'_>);
}

/// The externs of parsers and conditions, which have no side effects on a switch; `log_msg` is ignored there.
pub(crate) struct Detached;

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
    fn clone_ingress(&mut self, _phv: &Phv, _session: u64, _field_list: u64) {}
    fn clone_egress(&mut self, _phv: &Phv, _session: u64, _field_list: u64) {}
    fn resubmit(&mut self, _phv: &Phv, _field_list: u64) {}
    fn recirculate(&mut self, _phv: &Phv, _field_list: u64) {}
    fn generate_digest(&mut self, _phv: &Phv, _receiver: u64, _learn_list: u64) {}
    fn truncate(&mut self, _phv: &Phv, _bytes: u64) {}
    fn log_msg(&mut self, _message: LogMessage<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::{LogMessage, LogValue};

    #[test]
    fn a_value_of_several_words_is_shown_whole() {
        let values = [false, true].map(|signed| LogValue { first: 1, count: 3, signed });
        let texts = ["", " ", ""].map(str::to_owned);
        let message = LogMessage { texts: &texts, values: &values, words: &[9, 0, 0, 1 << 63, 9] };
        // 2 to the power of 191.
        let power = "3138550867693340381917894711603833208051177722232017256448";
        assert_eq!(message.to_string(), format!("{power} -{power}"));
    }
}
