//! Integers of any width as words, low word first: values in the loader and the runtime interface, and wide fields in slots.
//! `run::wide` does arithmetic on them for packets.

use crate::error::clip;

/// Maximum number of digits in a hexadecimal constant. p4c's widest type has 2048 bits.
const MAX_DIGITS: usize = 4096;

/// Returns the number of words of a value of `width` bits.
pub(crate) const fn words(width: u32) -> u32 {
    if width <= 64 {
        1
    } else {
        width.div_ceil(64)
    }
}

/// Returns the mask of word `at` of a value of `width` bits.
pub(crate) fn word_mask(width: u32, at: usize) -> u64 {
    match width.saturating_sub(64 * at as u32) {
        0 => 0,
        left if left >= 64 => u64::MAX,
        left => (1 << left) - 1,
    }
}

/// Returns a number with the low `width` bits set.
pub(crate) fn ones(width: u32) -> Vec<u64> {
    (0..words(width) as usize).map(|at| word_mask(width, at)).collect()
}

/// Returns the value cut to `width` bits, in the number of words that `width` needs.
pub(crate) fn cut(mut value: Vec<u64>, width: u32) -> Vec<u64> {
    value.resize(words(width) as usize, 0);
    for (at, word) in value.iter_mut().enumerate() {
        *word &= word_mask(width, at);
    }
    value
}

/// Returns the low `width` bits; `width` is 1 to 64.
#[inline(always)]
pub(crate) fn cut_word(value: u64, width: u8) -> u64 {
    value & u64::MAX >> (64 - width)
}

/// Returns the mask of a prefix.
pub(crate) fn prefix_mask(width: u32, length: u32) -> Vec<u64> {
    ones(width).iter().zip(cut(ones(width - length), width)).map(|(all, rest)| all & !rest).collect()
}

/// Returns the position of the highest set bit, counted from 1; 0 if no bit is set.
pub(crate) fn bits(value: &[u64]) -> u32 {
    let top = value.iter().rposition(|&word| word != 0);
    top.map_or(0, |at| 64 * at as u32 + 64 - value[at].leading_zeros())
}

/// Returns the two's complement negation.
pub(crate) fn negated(value: &[u64]) -> Vec<u64> {
    let mut carry = true;
    let negate = |&word: &u64| {
        let (word, overflow) = (!word).overflowing_add(u64::from(carry));
        carry = overflow;
        word
    };
    value.iter().map(negate).collect()
}

/// Compares two values with the same number of words.
pub(crate) fn compare(a: &[u64], b: &[u64]) -> std::cmp::Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

/// Returns the value of big-endian bytes.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<u64> {
    let chunk = |chunk: &[u8]| chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let words: Vec<u64> = bytes.rchunks(8).map(chunk).collect();
    if words.is_empty() {
        vec![0]
    } else {
        words
    }
}

/// Returns the value as big-endian bytes; `width` determines their number.
pub(crate) fn to_bytes(value: &[u64], width: u32) -> Vec<u8> {
    let count = width.div_ceil(8) as usize;
    let byte = |at: usize| (value.get(at / 8).copied().unwrap_or(0) >> (8 * (at % 8))) as u8;
    (0..count).rev().map(byte).collect()
}

/// Parses BMv2's `hexstr`: hexadecimal digits, optionally after `-` and `0x`. Returns whether it is negative, and its magnitude.
pub(crate) fn parse_hex(text: &str) -> Result<(bool, Vec<u64>), String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(format!("'{}' is not a hexadecimal number", clip(text)));
    }
    let digits = digits.trim_start_matches('0').as_bytes();
    if digits.len() > MAX_DIGITS {
        return Err(format!("constant {} is wider than {} bits, the limit", clip(text), 4 * MAX_DIGITS));
    }
    let nibble = |&digit: &u8| u64::from((digit as char).to_digit(16).unwrap_or(0));
    let chunk = |chunk: &[u8]| chunk.iter().map(nibble).fold(0, |word, digit| word << 4 | digit);
    let mut magnitude: Vec<u64> = digits.rchunks(16).map(chunk).collect();
    if magnitude.is_empty() {
        magnitude.push(0);
    }
    let negative = negative && magnitude.iter().any(|&word| word != 0);
    Ok((negative, magnitude))
}

/// Parses as [`parse_hex`] does, and cuts the value to `width` bits. A non-negative value must fit into them.
pub(crate) fn parse_cut(text: &str, width: u32) -> Result<Vec<u64>, String> {
    let (negative, magnitude) = parse_hex(text)?;
    if !negative {
        if bits(&magnitude) > width {
            return Err(format!("does not fit {width} bits"));
        }
        return Ok(cut(magnitude, width));
    }
    let mut value = magnitude;
    value.resize(value.len().max(words(width) as usize) + 1, 0);
    Ok(cut(negated(&value), width))
}

/// Returns the number in decimal. A signed number is in two's complement.
pub(crate) fn decimal(value: &[u64], signed: bool) -> String {
    let negative = signed && value.last().is_some_and(|&top| top >> 63 == 1);
    let mut left = if negative { negated(value) } else { value.to_vec() };
    // The largest power of ten that a word can hold.
    const GROUP: u64 = 10_000_000_000_000_000_000;
    let mut groups = Vec::new();
    while left.iter().any(|&word| word != 0) {
        let mut remainder = 0u128;
        for word in left.iter_mut().rev() {
            let part = remainder << 64 | u128::from(*word);
            *word = (part / u128::from(GROUP)) as u64;
            remainder = part % u128::from(GROUP);
        }
        groups.push(remainder as u64);
    }
    let mut text = if negative { "-".to_owned() } else { String::new() };
    match groups.pop() {
        None => text.push('0'),
        Some(first) => text.push_str(&first.to_string()),
    }
    groups.iter().rev().for_each(|group| text.push_str(&format!("{group:019}")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_constant_wider_than_a_word_keeps_every_digit() {
        let (negative, value) = parse_hex("-0x1_0000".replace('_', "0000000000000000").as_str()).unwrap();
        assert_eq!((negative, value), (true, vec![0, 0x1_0000]));
        assert_eq!(parse_cut("-0x1", 130).unwrap(), [u64::MAX, u64::MAX, 3]);
        assert!(parse_cut("0x7", 2).unwrap_err().contains("2 bits"));
        assert!(parse_hex("0xg").is_err());
        assert!(parse_hex(&"f".repeat(MAX_DIGITS + 1)).unwrap_err().contains("the limit"));
    }

    proptest! {
        #[test]
        fn bytes_and_decimals_are_those_of_the_number(value in any::<u128>()) {
            let words = vec![value as u64, (value >> 64) as u64];
            prop_assert_eq!(decimal(&words, false), value.to_string());
            prop_assert_eq!(decimal(&words, true), (value as i128).to_string());
            prop_assert_eq!(bits(&words), 128 - value.leading_zeros());
            prop_assert_eq!(to_bytes(&words, 128), value.to_be_bytes());
            prop_assert_eq!(from_bytes(&value.to_be_bytes()), words);
        }
    }
}
