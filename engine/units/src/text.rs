//! Exact conversions between numbers with units and text, without floating point.

use std::fmt;

/// The reason why a quantity could not be parsed. The message names the text and the valid form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{quantity} {text:?}: {reason}")]
pub struct ParseError {
    text: String,
    quantity: &'static str,
    reason: String,
}

impl ParseError {
    fn new(text: &str, quantity: &'static str, reason: impl Into<String>) -> Self {
        // Text from outside may have any length; the error quotes its beginning only.
        let text = text.chars().take(40).collect();
        Self { text, quantity, reason: reason.into() }
    }

    pub(crate) fn zero(text: &str, quantity: &'static str) -> Self {
        Self::new(text, quantity, "must be more than zero")
    }
}

/// Parses a decimal number with one of `units` (case-insensitive, optional space between) into a whole number
/// of base units.
pub(crate) fn parse(s: &str, quantity: &'static str, units: &[(&str, u64)]) -> Result<u64, ParseError> {
    let fail = |reason: String| ParseError::new(s, quantity, reason);
    let trimmed = s.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim_start().replace(['µ', 'μ'], "u");
    let known = || units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let &(_, factor) = units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(&unit))
        .ok_or_else(|| fail(format!("needs a number and one of the units {}", known())))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(fail(format!("{number:?} is not a decimal number")));
    }
    let too_large = || fail("is larger than 64 bits can hold".to_owned());
    let too_fine = || fail(format!("is not a whole number of the smallest unit, {}", smallest(units)));
    let fraction = fraction.trim_end_matches('0');
    let scale = u32::try_from(fraction.len()).ok().and_then(|places| 10_u128.checked_pow(places));
    let scale = scale.ok_or_else(too_fine)?;
    // A whole part that is empty counts as 0.
    let digits: u128 = format!("0{whole}{fraction}").parse().map_err(|_| too_large())?;
    let scaled = digits.checked_mul(factor.into()).ok_or_else(too_large)?;
    if scaled % scale != 0 {
        return Err(too_fine());
    }
    u64::try_from(scaled / scale).map_err(|_| too_large())
}

fn smallest<'a>(units: &[(&'a str, u64)]) -> &'a str {
    units.iter().min_by_key(|(_, factor)| *factor).map_or("", |(name, _)| name)
}

/// Writes `value` in the largest of `units` (sorted, largest first, powers of ten) that does not exceed it,
/// with as many decimals as an exact result needs: parsing the text gives `value` again.
pub(crate) fn write_exact(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let &(name, factor) =
        units.iter().find(|(_, factor)| value >= *factor).unwrap_or(&units[units.len() - 1]);
    let (whole, rest) = (value / factor, value % factor);
    if rest == 0 {
        return f.pad(&format!("{whole}{name}"));
    }
    let places = factor.ilog10() as usize;
    let decimals = format!("{rest:0places$}");
    f.pad(&format!("{whole}.{}{name}", decimals.trim_end_matches('0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: [(&str, u64); 3] = [("k", 1000), ("u", 1), ("Ki", 1024)];

    #[test]
    fn numbers_with_units_are_read_exactly() {
        for (text, value) in
            [("3k", 3000), ("0.25k", 250), (".5k", 500), ("7 u", 7), ("1.5Ki", 1536), ("2.k", 2000)]
        {
            assert_eq!(parse(text, "thing", &UNITS), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_text_and_the_units() {
        for text in ["", "5", "k", "1..2k", "-1k", "1e3k", "0.0001k", "0.3Ki", "99999999999999999999k"] {
            let error = parse(text, "thing", &UNITS).unwrap_err().to_string();
            assert!(error.starts_with("thing \""), "{text}: {error}");
        }
        assert!(parse("5", "thing", &UNITS).unwrap_err().to_string().contains("k, u, Ki"));
    }

    #[test]
    fn an_error_does_not_repeat_text_without_bound() {
        let error = parse(&"9".repeat(10_000), "thing", &UNITS).unwrap_err().to_string();
        assert!(error.len() < 200, "{}", error.len());
    }
}
