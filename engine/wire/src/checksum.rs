//! The Internet checksum (RFC 1071).

/// Returns the complement of the one's complement sum of `data`: the value of a header's checksum field.
/// Returns zero for intact data that include their own checksum.
pub fn internet(data: &[u8]) -> u16 {
    finish(sum(0, data))
}

/// Adds `data` to a running sum, and folds it to 16 bits. Every piece except the last must have an even length.
pub fn sum(start: u32, data: &[u8]) -> u32 {
    // In one's complement arithmetic, a 32-bit word equals the sum of its halves.
    let mut long_words = data.chunks_exact(4);
    let mut total = u64::from(start);
    for word in &mut long_words {
        total += u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    }
    let mut words = long_words.remainder().chunks_exact(2);
    for word in &mut words {
        total += u64::from(u16::from_be_bytes([word[0], word[1]]));
    }
    if let [last] = words.remainder() {
        total += u64::from(*last) << 8;
    }
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u32
}

/// Returns the complement of a folded running sum.
pub fn finish(sum: u32) -> u16 {
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}
