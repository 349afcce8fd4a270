//! Hash and checksum algorithms over bytes.
//!
//! They agree with BMv2's bit for bit. The loader refuses algorithms that p4c can name but this engine cannot compute.

/// Parameters of a `crc16_custom` (`T` is `u16`) or a `crc32_custom` (`u32`), after Ross Williams' model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrcParameters<T> {
    /// The polynomial without its top bit, most significant bit first.
    pub polynomial: T,
    /// The initial value of the remainder, not reflected.
    pub initial_remainder: T,
    /// The value that is XORed with the result after it is reflected.
    pub final_xor: T,
    /// Whether bytes are processed least significant bit first.
    pub reflect_data: bool,
    /// Whether the remainder is reflected at the end.
    pub reflect_remainder: bool,
}

impl<T: Into<u32>> CrcParameters<T> {
    /// The width of the CRC in bits.
    pub(crate) const WIDTH: u32 = 8 * size_of::<T>() as u32;

    pub(crate) fn crc(self) -> Crc {
        let CrcParameters { reflect_data, reflect_remainder, .. } = self;
        let [polynomial, initial_remainder, final_xor] =
            [self.polynomial, self.initial_remainder, self.final_xor].map(Into::into);
        let parameters =
            CrcParameters { polynomial, initial_remainder, final_xor, reflect_data, reflect_remainder };
        Crc::new(Self::WIDTH, parameters)
    }
}

/// A CRC with its tables. The remainder is stored reflected, regardless of the parameters for input and output.
#[derive(Debug, Clone)]
pub(crate) struct Crc {
    width: u32,
    parameters: CrcParameters<u32>,
    /// Remainders, computed reflected: of each byte, and of each byte followed by one, two and three zero bytes.
    tables: Box<[[u32; 256]; 4]>,
}

impl Crc {
    fn new(width: u32, parameters: CrcParameters<u32>) -> Crc {
        let reflected = parameters.polynomial.reverse_bits() >> (32 - width);
        let mut tables = Box::new([[0; 256]; 4]);
        for (byte, entry) in (0u32..).zip(tables[0].iter_mut()) {
            *entry = (0..8).fold(byte, |r, _| if r & 1 == 1 { r >> 1 ^ reflected } else { r >> 1 });
        }
        for zeros in 1..4 {
            for byte in 0..256 {
                let before = tables[zeros - 1][byte];
                tables[zeros][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            }
        }
        Crc { width, parameters, tables }
    }

    pub(crate) fn compute(&self, data: &[u8]) -> u32 {
        let remainder = if self.parameters.reflect_data {
            self.remainder::<true>(data)
        } else {
            self.remainder::<false>(data)
        };
        let shown = if self.parameters.reflect_remainder { remainder } else { self.reversed(remainder) };
        shown ^ self.parameters.final_xor
    }

    fn reversed(&self, remainder: u32) -> u32 {
        remainder.reverse_bits() >> (32 - self.width)
    }

    fn remainder<const REFLECT_DATA: bool>(&self, data: &[u8]) -> u32 {
        let start = self.reversed(self.parameters.initial_remainder);
        let [one, two, three, four] = &*self.tables;
        let mut words = data.chunks_exact(4);
        let mut remainder = start;
        for word in &mut words {
            let word = [word[0], word[1], word[2], word[3]];
            // Reversing the bits of a word reverses the order of its bytes, too.
            let word =
                if REFLECT_DATA { u32::from_le_bytes(word) } else { u32::from_be_bytes(word).reverse_bits() };
            let [a, b, c, d] = (remainder ^ word).to_le_bytes();
            let [a, b, c, d] = [a, b, c, d].map(usize::from);
            remainder = four[a] ^ three[b] ^ two[c] ^ one[d];
        }
        for &byte in words.remainder() {
            let byte = if REFLECT_DATA { byte } else { byte.reverse_bits() };
            remainder = remainder >> 8 ^ one[((remainder ^ u32::from(byte)) & 0xff) as usize];
        }
        remainder
    }
}

/// A hash or checksum algorithm.
#[derive(Debug, Clone)]
pub(crate) enum Algorithm {
    Crc(Crc),
    /// A CRC whose parameters the control plane can set; those of a switch are then in its cells.
    CustomCrc(Crc),
    Csum16,
    Xor16,
    Identity,
}

impl Algorithm {
    /// Returns the algorithm with this name in BMv2 JSON.
    pub(crate) fn named(name: &str) -> Option<Algorithm> {
        let crc = |width, polynomial, initial_remainder, final_xor, is_reflected| {
            let (reflect_data, reflect_remainder) = (is_reflected, is_reflected);
            let parameters =
                CrcParameters { polynomial, initial_remainder, final_xor, reflect_data, reflect_remainder };
            Crc::new(width, parameters)
        };
        let crc16 = || crc(16, 0x8005, 0, 0, true);
        let crc32 = || crc(32, 0x04c1_1db7, u32::MAX, u32::MAX, true);
        Some(match name {
            "crc16" => Algorithm::Crc(crc16()),
            "crc16_custom" => Algorithm::CustomCrc(crc16()),
            "crc32" => Algorithm::Crc(crc32()),
            "crc32_custom" => Algorithm::CustomCrc(crc32()),
            // CRC-16/CCITT-FALSE.
            "crcCCITT" => Algorithm::Crc(crc(16, 0x1021, 0xffff, 0, false)),
            "csum16" | "cksum16" => Algorithm::Csum16,
            "xor16" => Algorithm::Xor16,
            "identity" => Algorithm::Identity,
            _ => return None,
        })
    }

    /// The names that [`Algorithm::named`] knows, for messages.
    pub(crate) const NAMES: &'static str =
        "crc16, crc16_custom, crc32, crc32_custom, crcCCITT, csum16, xor16, identity";

    /// Returns the width of a CRC whose parameters can be set.
    pub(crate) fn custom_width(&self) -> Option<u32> {
        match self {
            Algorithm::CustomCrc(crc) => Some(crc.width),
            _ => None,
        }
    }

    pub(crate) fn compute(&self, data: &[u8]) -> u64 {
        match self {
            Algorithm::Crc(crc) | Algorithm::CustomCrc(crc) => u64::from(crc.compute(data)),
            Algorithm::Csum16 => u64::from(csum16(data)),
            Algorithm::Xor16 => u64::from(words16(data).fold(0, |x, word| x ^ word)),
            Algorithm::Identity => data.iter().take(8).fold(0, |v, &byte| v << 8 | u64::from(byte)),
        }
    }
}

/// Returns the big-endian 16-bit words of `data`; an odd last byte is padded with a zero byte.
fn words16(data: &[u8]) -> impl Iterator<Item = u16> + '_ {
    data.chunks(2).map(|pair| u16::from(pair[0]) << 8 | u16::from(*pair.get(1).unwrap_or(&0)))
}

/// Returns the Internet checksum (RFC 1071): ones' complement of the ones' complement sum.
fn csum16(data: &[u8]) -> u16 {
    let mut sum = 0u64;
    let mut chunks = data.chunks_exact(4);
    for four in &mut chunks {
        sum += u64::from(u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
    }
    sum += words16(chunks.remainder()).map(u64::from).sum::<u64>();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, data: &[u8]) -> u64 {
        Algorithm::named(name).unwrap().compute(data)
    }

    #[test]
    fn crcs_of_the_check_string_are_those_of_the_crc_catalogue() {
        // The "check" values of CRC-16/ARC, CRC-32/ISO-HDLC and CRC-16/IBM-3740 for "123456789".
        assert_eq!(of("crc16", b"123456789"), 0xbb3d);
        assert_eq!(of("crc32", b"123456789"), 0xcbf4_3926);
        assert_eq!(of("crcCCITT", b"123456789"), 0x29b1);
    }
}
