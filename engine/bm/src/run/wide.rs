//! Arithmetic on integers wider than a word. All operands of an operation have the same number of words, low word first, in
//! two's complement: for an unsigned value the top bit of the highest word must be free. The loader determines the number of
//! words that holds every value; nothing here allocates.

use crate::error::Fault;
use crate::number::{compare, word_mask};
use crate::program::{Binary, Operation, Wide};

/// Runs one operation. Only `Extend` and `TwoComp` may write over their source.
pub(crate) fn run(slots: &mut [u64], wide: Wide) -> Result<(), Fault> {
    let n = wide.words as usize;
    let (d, a, b) = (wide.d as usize, wide.a as usize, wide.b as usize);
    match wide.operation {
        Operation::Extend { signed } => {
            let given = (crate::number::words(wide.w) as usize).min(n);
            slots.copy_within(a..a + given, d);
            let fill = if signed { sign(slots, d, given) } else { 0 };
            slots[d + given..d + n].fill(fill);
        }
        Operation::Binary(Binary::Add) => add(slots, n, d, a, b, false),
        Operation::Binary(Binary::Sub) => add(slots, n, d, a, b, true),
        Operation::Binary(Binary::Mul) => {
            slots[d..d + n].fill(0);
            for i in 0..n {
                let mut carry = 0u128;
                for j in 0..n - i {
                    let product = u128::from(slots[a + i]) * u128::from(slots[b + j]);
                    let sum = product + u128::from(slots[d + i + j]) + carry;
                    slots[d + i + j] = sum as u64;
                    carry = sum >> 64;
                }
            }
        }
        Operation::Binary(Binary::And) => (0..n).for_each(|i| slots[d + i] = slots[a + i] & slots[b + i]),
        Operation::Binary(Binary::Or) => (0..n).for_each(|i| slots[d + i] = slots[a + i] | slots[b + i]),
        Operation::Binary(Binary::Xor) => (0..n).for_each(|i| slots[d + i] = slots[a + i] ^ slots[b + i]),
        Operation::Not => (0..n).for_each(|i| slots[d + i] = !slots[a + i]),
        Operation::Binary(Binary::Shl) => {
            let (whole, part) = split(slots[b], n);
            for i in 0..n {
                let word = |back: usize| i.checked_sub(whole + back).map_or(0, |at| slots[a + at]);
                slots[d + i] = if part == 0 { word(0) } else { word(0) << part | word(1) >> (64 - part) };
            }
        }
        Operation::Binary(Binary::Shr) => {
            let (whole, part) = split(slots[b], n);
            let fill = sign(slots, a, n);
            for i in 0..n {
                let word = |on: usize| if i + whole + on < n { slots[a + i + whole + on] } else { fill };
                slots[d + i] = if part == 0 { word(0) } else { word(0) >> part | word(1) << (64 - part) };
            }
        }
        Operation::Binary(Binary::Div | Binary::Mod) => divide(slots, n, d, a, b)?,
        Operation::TwoComp => {
            slots.copy_within(a..a + n, d);
            extend_sign(slots, n, d, wide.w);
        }
        Operation::Sat => {
            let negative = sign(slots, a, n) != 0;
            slots.copy_within(a..a + n, d);
            extend_sign(slots, n, d, wide.w);
            if slots[d..d + n] != slots[a..a + n] {
                // The largest value of `w` bits; the smallest is its complement.
                for i in 0..n {
                    let largest = word_mask(wide.w - 1, i);
                    slots[d + i] = if negative { !largest } else { largest };
                }
            }
        }
        Operation::USat => {
            let negative = sign(slots, a, n) != 0;
            let fits = (0..n).all(|i| slots[a + i] & !word_mask(wide.w, i) == 0);
            for i in 0..n {
                slots[d + i] = match (negative, fits) {
                    (true, _) => 0,
                    (false, true) => slots[a + i],
                    (false, false) => word_mask(wide.w, i),
                };
            }
        }
        Operation::Eq => slots[d] = u64::from(slots[a..a + n] == slots[b..b + n]),
        Operation::Lt => {
            let (left, right) = (sign(slots, a, n), sign(slots, b, n));
            let less = compare(&slots[a..a + n], &slots[b..b + n]).is_lt();
            slots[d] = u64::from(if left == right { less } else { left != 0 });
        }
    }
    Ok(())
}

/// Returns all ones if the value is negative, and zero otherwise.
fn sign(slots: &[u64], at: usize, n: usize) -> u64 {
    (slots[at + n - 1] as i64 >> 63) as u64
}

/// Splits a shift count into whole words and bits. A count beyond the value's length shifts out all of it.
fn split(count: u64, n: usize) -> (usize, u32) {
    let whole = usize::try_from(count / 64).unwrap_or(usize::MAX).min(n);
    (whole, if whole == n { 0 } else { (count % 64) as u32 })
}

fn add(slots: &mut [u64], n: usize, d: usize, a: usize, b: usize, subtract: bool) {
    let mut carry = u64::from(subtract);
    for i in 0..n {
        let right = if subtract { !slots[b + i] } else { slots[b + i] };
        let sum = u128::from(slots[a + i]) + u128::from(right) + u128::from(carry);
        slots[d + i] = sum as u64;
        carry = (sum >> 64) as u64;
    }
}

/// Extends the sign of the low `w` bits.
fn extend_sign(slots: &mut [u64], n: usize, d: usize, w: u32) {
    if w == 0 || w as usize >= 64 * n {
        return;
    }
    let top = (w - 1) as usize;
    let negative = slots[d + top / 64] >> (top % 64) & 1 == 1;
    for i in 0..n {
        let mask = word_mask(w, i);
        slots[d + i] = if negative { slots[d + i] | !mask } else { slots[d + i] & mask };
    }
}

/// Divides by long division, bit by bit.
fn divide(slots: &mut [u64], n: usize, d: usize, a: usize, b: usize) -> Result<(), Fault> {
    let is_zero = slots[b..b + n].iter().all(|&word| word == 0);
    if is_zero || sign(slots, a, n) != 0 || sign(slots, b, n) != 0 {
        return Err(Fault::Division);
    }
    let r = d + n;
    slots[d..d + 2 * n].fill(0);
    for bit in (0..64 * n).rev() {
        for i in (1..n).rev() {
            slots[r + i] = slots[r + i] << 1 | slots[r + i - 1] >> 63;
        }
        slots[r] = slots[r] << 1 | slots[a + bit / 64] >> (bit % 64) & 1;
        if compare(&slots[r..r + n], &slots[b..b + n]).is_ge() {
            add(slots, n, r, r, b, true);
            slots[d + bit / 64] |= 1 << (bit % 64);
        }
    }
    Ok(())
}
