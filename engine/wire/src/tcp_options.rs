//! TCP options: maximum segment size (RFC 9293, 3.7.1), window scale and timestamps (RFC 7323, 2.2 and 3.2),
//! SACK-permitted and SACK (RFC 2018, 2 and 3).

/// Maximum number of bytes of options: the data offset limits the header to 60 bytes.
pub const MAX_LEN: usize = 40;
/// Largest shift of a window (RFC 7323, 2.3).
pub const MAX_WINDOW_SCALE: u8 = 14;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The timestamps option (RFC 7323, 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock, in ticks of its choice.
    pub value: u32,
    /// TSecr: the echoed TSval of the other end; valid if ACK is set.
    pub echo_reply: u32,
}

/// A block of data received out of order (RFC 2018, 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: u32,
    /// The sequence number after the last of the block.
    pub right: u32,
}

/// At most four blocks; with timestamps only three fit into the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; SackBlocks::MAX],
    len: u8,
}

impl SackBlocks {
    /// Maximum number of blocks in a segment without other options.
    pub const MAX: usize = 4;

    /// Adds a block, unless there are four already.
    pub fn push(&mut self, block: SackBlock) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }

    /// Returns the blocks, in the option's order.
    #[inline]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Returns whether it has no blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size: the maximum number of bytes of payload in a segment without options; only with SYN.
    pub mss: Option<u16>,
    /// Shift count of the windows that the sender of this segment will announce, 0 to 14; only with SYN.
    pub window_scale: Option<u8>,
    /// The sender of this segment accepts SACK; only with SYN.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// Blocks received out of order.
    pub sack: SackBlocks,
}

impl Options {
    /// Parses options, and never fails. A receiver ignores options that are unknown or have a wrong length; the bytes after an
    /// option that exceeds the header are lost (RFC 9293, 3.1, MUST-6 and MUST-7).
    /// A scale above 14 counts as 14 (RFC 7323, 2.3).
    pub fn parse(mut bytes: &[u8]) -> Self {
        let mut options = Self::default();
        loop {
            match *bytes {
                [NO_OPERATION, ref rest @ ..] => bytes = rest,
                [] | [END, ..] => return options,
                [kind, len, ..] if usize::from(len) >= 2 && usize::from(len) <= bytes.len() => {
                    let (option, rest) = bytes.split_at(len.into());
                    options.read(kind, &option[2..]);
                    bytes = rest;
                }
                _ => return options,
            }
        }
    }

    fn read(&mut self, kind: u8, value: &[u8]) {
        let word = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        match (kind, value) {
            (MSS, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            (WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift.min(MAX_WINDOW_SCALE)),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (TIMESTAMPS, value) if value.len() == 8 => {
                self.timestamps = Some(Timestamps { value: word(value), echo_reply: word(&value[4..]) });
            }
            (SACK, value) if value.len() % 8 == 0 => {
                self.sack = SackBlocks::default();
                for block in value.chunks_exact(8) {
                    self.sack.push(SackBlock { left: word(block), right: word(&block[4..]) });
                }
            }
            _ => {}
        }
    }

    /// Returns the length of the options in the header in bytes, a multiple of four.
    #[inline]
    pub fn header_len(&self) -> usize {
        // SACK-permitted replaces the two no-operations before timestamps.
        let aligned = |present: bool, len: usize| if present { len } else { 0 };
        aligned(self.mss.is_some(), 4)
            + aligned(self.window_scale.is_some(), 4)
            + aligned(self.sack_permitted && self.timestamps.is_none(), 4)
            + aligned(self.timestamps.is_some(), 12)
            + match self.sack_that_fits() {
                0 => 0,
                blocks => 4 + 8 * blocks,
            }
    }

    /// Returns the number of blocks that fit beside the other options.
    fn sack_that_fits(&self) -> usize {
        let others = Self { sack: SackBlocks::default(), ..*self };
        let room = if self.sack.is_empty() { 0 } else { MAX_LEN - others.header_len() };
        self.sack.as_slice().len().min(room.saturating_sub(4) / 8)
    }

    /// Writes the options, aligned to four bytes as the RFCs' appendices advise. `buffer` has [`Options::header_len`] bytes.
    ///
    /// # Panics
    /// If the buffer is shorter.
    pub fn write(&self, buffer: &mut [u8]) {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            buffer[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        if let Some(mss) = self.mss {
            put(&[MSS, 4]);
            put(&mss.to_be_bytes());
        }
        if self.sack_permitted {
            put(&[SACK_PERMITTED, 2]);
        }
        if let Some(timestamps) = self.timestamps {
            if !self.sack_permitted {
                put(&[NO_OPERATION; 2]);
            }
            put(&[TIMESTAMPS, 10]);
            put(&timestamps.value.to_be_bytes());
            put(&timestamps.echo_reply.to_be_bytes());
        } else if self.sack_permitted {
            put(&[NO_OPERATION; 2]);
        }
        if let Some(shift) = self.window_scale {
            put(&[NO_OPERATION, WINDOW_SCALE, 3, shift]);
        }
        let blocks = self.sack_that_fits();
        if blocks > 0 {
            put(&[NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * blocks as u8]);
            for block in &self.sack.as_slice()[..blocks] {
                put(&block.left.to_be_bytes());
                put(&block.right.to_be_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_syn_carries_20_bytes_and_an_ack_with_three_blocks_and_timestamps_40() {
        let timestamps = Some(Timestamps { value: 1, echo_reply: 2 });
        let syn = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps,
            ..Options::default()
        };
        assert_eq!(syn.header_len(), 20);
        let mut ack = Options { timestamps, ..Options::default() };
        assert_eq!(ack.header_len(), 12);
        for (blocks, len) in [(1, 24), (2, 32), (3, 40), (4, 40)] {
            ack.sack.push(SackBlock { left: blocks, right: blocks + 1 });
            assert_eq!(ack.header_len(), len, "{blocks} blocks");
        }
        assert_eq!(Options { timestamps: None, ..ack }.header_len(), 36);
    }

    #[test]
    fn the_bytes_of_a_syn_are_those_of_the_rfcs() {
        let syn = Options { mss: Some(0x05b4), window_scale: Some(7), ..Options::default() };
        let mut bytes = [0xff; 8];
        syn.write(&mut bytes);
        assert_eq!(bytes, [2, 4, 0x05, 0xb4, 1, 3, 3, 7]);
    }

    #[test]
    fn options_that_are_unknown_or_cut_off_are_passed_over() {
        let mss = [2, 4, 5, 180];
        let with = |before: &[u8]| Options::parse(&[before, &mss].concat()).mss;
        assert_eq!(with(&[254, 4, 9, 9]), Some(1460), "an unknown kind");
        assert_eq!(with(&[3, 4, 9, 9]), Some(1460), "a known kind of another length");
        assert_eq!(with(&[0]), None, "the end of the list");
        assert_eq!(with(&[8, 10]), None, "longer than what is there");
        assert_eq!(with(&[8, 1]), None, "shorter than its own head");
        assert_eq!(Options::parse(&[3, 3, 255]).window_scale, Some(14));
    }

    fn any_options() -> impl Strategy<Value = Options> {
        let block = (any::<u32>(), any::<u32>()).prop_map(|(left, right)| SackBlock { left, right });
        (
            prop::option::of(any::<u16>()),
            prop::option::of(0..=14_u8),
            any::<bool>(),
            prop::option::of((any::<u32>(), any::<u32>())),
            prop::collection::vec(block, 0..5),
        )
            .prop_map(|(mss, window_scale, sack_permitted, timestamps, blocks)| {
                let mut sack = SackBlocks::default();
                blocks.into_iter().for_each(|block| sack.push(block));
                let timestamps = timestamps.map(|(value, echo_reply)| Timestamps { value, echo_reply });
                Options { mss, window_scale, sack_permitted, timestamps, sack }
            })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(options in any_options()) {
            let mut buffer = [0; MAX_LEN];
            let len = options.header_len();
            prop_assert_eq!(len % 4, 0);
            options.write(&mut buffer[..len]);
            let read = Options::parse(&buffer[..len]);
            let blocks = options.sack_that_fits();
            prop_assert_eq!(read.sack.as_slice(), &options.sack.as_slice()[..blocks]);
            prop_assert_eq!(read, Options { sack: read.sack, ..options });
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = Options::parse(&bytes);
        }
    }
}
