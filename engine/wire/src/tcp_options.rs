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
