//! A MAC address in a spec: text such as "02:00:00:00:01:01".

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A MAC address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(try_from = "String")]
pub struct Mac(pub [u8; 6]);

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Mac {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let shown: String = text.chars().take(30).collect();
            format!("{shown:?} is not a MAC address; write six pairs of hex digits, as 02:00:00:00:01:01")
        };
        let mut bytes = [0; 6];
        let mut pairs = text.split(':');
        for byte in &mut bytes {
            let pair =
                pairs.next().filter(|pair| pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit()));
            *byte = u8::from_str_radix(pair.ok_or_else(wrong)?, 16).map_err(|_| wrong())?;
        }
        if pairs.next().is_some() {
            return Err(wrong());
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Mac {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::Mac;

    #[test]
    fn an_address_is_read_and_written() {
        let mac: Mac = "02:00:00:00:0A:ff".parse().unwrap();
        assert_eq!(mac, Mac([2, 0, 0, 0, 10, 255]));
        assert_eq!(mac.to_string(), "02:00:00:00:0a:ff");
    }

    #[test]
    fn what_is_not_an_address_is_refused() {
        for text in [
            "",
            "02:00:00:00:01",
            "02:00:00:00:01:01:01",
            "2:0:0:0:1:1",
            "02:00:00:00:01:+1",
            "02-00-00-00-01-01",
        ] {
            assert!(text.parse::<Mac>().unwrap_err().contains("six pairs"), "{text}");
        }
    }
}
