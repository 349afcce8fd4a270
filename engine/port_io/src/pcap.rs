//! The classic pcap file format, as libpcap writes it (pcap-savefile(5)); not pcapng.
//!
//! [`Reader`] accepts bytes in pieces of any size, because a FIFO may deliver half a record or ten. It reads both byte
//! orders, microseconds and nanoseconds. Input is not trusted: every length is checked before anything is stored.

use crate::IoError;

/// Maximum length of a record: libpcap's limit (MAXIMUM_SNAPLEN).
pub const MAX_RECORD_BYTES: usize = 262_144;

const FILE_HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const PCAPNG: u32 = 0x0a0d_0d0a;
/// LINKTYPE_ETHERNET.
const ETHERNET: u32 = 1;
/// LINKTYPE_NULL. BMv2 writes its own Ethernet files with it (`pcap_open_dead(0, 0)`).
const NULL: u32 = 0;

#[derive(Clone, Copy)]
struct Format {
    big_endian: bool,
    nanoseconds: bool,
}

impl Format {
    fn u32(self, bytes: &[u8]) -> u32 {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    }
}

/// One captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Time of capture: nanoseconds since 1970.
    pub time_ns: u64,
    /// The captured bytes.
    pub data: &'a [u8],
    /// Original length of the frame.
    pub length: u32,
}

/// Splits a stream of bytes into records.
#[derive(Default)]
pub struct Reader {
    buffer: Vec<u8>,
    /// Start of the unread part of `buffer`.
    start: usize,
    format: Option<Format>,
    records: u64,
}

impl Reader {
    /// Adds the next bytes: `read` fills the given slice of `room` bytes, and returns the number of bytes that it has written.
    pub fn fill<E>(
        &mut self,
        room: usize,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let end = self.buffer.len();
        self.buffer.resize(end + room, 0);
        let result = read(&mut self.buffer[end..]);
        self.buffer.truncate(end + result.as_ref().map_or(0, |count| (*count).min(room)));
        result
    }

    /// Returns the time of the next record, if the record is complete.
    pub fn peek(&mut self) -> Result<Option<u64>, IoError> {
        Ok(self.header()?.map(|(time_ns, ..)| time_ns))
    }

    /// Returns the next record, if it is complete.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, IoError> {
        let Some((time_ns, captured, length)) = self.header()? else { return Ok(None) };
        let data = self.start + RECORD_HEADER_BYTES;
        self.start = data + captured;
        self.records += 1;
        Ok(Some(Record { time_ns, data: &self.buffer[data..data + captured], length }))
    }

    /// Checks that the stream does not end within a record or header.
    pub fn end(&self) -> Result<(), IoError> {
        if self.format.is_some() && self.start == self.buffer.len() {
            Ok(())
        } else {
            Err(IoError(format!("ends inside its header or record {}", self.records + 1)))
        }
    }

    /// Returns the time, the captured length and the original length of the next record.
    fn header(&mut self) -> Result<Option<(u64, usize, u32)>, IoError> {
        let Some(format) = self.format()? else { return Ok(None) };
        let rest = &self.buffer[self.start..];
        if rest.len() < RECORD_HEADER_BYTES {
            return Ok(None);
        }
        let [seconds, fraction, captured, length] =
            [0, 4, 8, 12].map(|place| format.u32(&rest[place..place + 4]));
        if captured as usize > MAX_RECORD_BYTES {
            let record = self.records + 1;
            return Err(IoError(format!(
                "record {record} has {captured} bytes, at most {MAX_RECORD_BYTES} are possible; the file is damaged"
            )));
        }
        let captured = captured as usize;
        if rest.len() < RECORD_HEADER_BYTES + captured {
            return Ok(None);
        }
        let fraction_ns = u64::from(fraction) * if format.nanoseconds { 1 } else { 1_000 };
        Ok(Some((u64::from(seconds) * 1_000_000_000 + fraction_ns, captured, length)))
    }

    /// Returns the format from the file header, once the header is complete.
    fn format(&mut self) -> Result<Option<Format>, IoError> {
        if let Some(format) = self.format {
            return Ok(Some(format));
        }
        let rest = &self.buffer[self.start..];
        if rest.len() < 4 {
            return Ok(None);
        }
        let little = Format { big_endian: false, nanoseconds: false }.u32(rest);
        let (big_endian, magic) = match little {
            MICROSECONDS | NANOSECONDS => (false, little),
            _ => (true, little.swap_bytes()),
        };
        let nanoseconds = match magic {
            MICROSECONDS => false,
            NANOSECONDS => true,
            _ => {
                let hint = match rest {
                    _ if little == PCAPNG => " (it is pcapng; convert it with `editcap -F pcap`)",
                    [0x1f, 0x8b, ..] => " (it is compressed; decompress it with `gzip -d`)",
                    [0x28, 0xb5, 0x2f, 0xfd, ..] => " (it is compressed; decompress it with `zstd -d`)",
                    _ => "",
                };
                return Err(IoError(format!(
                    "starts with {little:#010x}, which is not a pcap magic number{hint}"
                )));
            }
        };
        if rest.len() < FILE_HEADER_BYTES {
            return Ok(None);
        }
        let format = Format { big_endian, nanoseconds };
        // The upper half states whether frames carry an FCS, which stays in the packet, as in BMv2.
        let link_type = format.u32(&rest[20..24]) & 0xffff;
        if link_type != ETHERNET && link_type != NULL {
            return Err(IoError(format!("has link type {link_type}; the switch takes Ethernet (1)")));
        }
        self.start += FILE_HEADER_BYTES;
        self.format = Some(format);
        Ok(Some(format))
    }
}

/// Returns the little-endian header of a file of Ethernet frames with nanosecond or microsecond times.
pub fn file_header(nanoseconds: bool) -> [u8; FILE_HEADER_BYTES] {
    let mut header = [0; FILE_HEADER_BYTES];
    header[..4].copy_from_slice(&(if nanoseconds { NANOSECONDS } else { MICROSECONDS }).to_le_bytes());
    header[4..6].copy_from_slice(&2u16.to_le_bytes());
    header[6..8].copy_from_slice(&4u16.to_le_bytes());
    header[16..20].copy_from_slice(&(MAX_RECORD_BYTES as u32).to_le_bytes());
    header[20..].copy_from_slice(&ETHERNET.to_le_bytes());
    header
}

/// Appends a record with a microsecond time.
pub fn append_record(out: &mut Vec<u8>, time_ns: u64, frame: &[u8]) {
    let seconds = (time_ns / 1_000_000_000) as u32;
    let microseconds = (time_ns % 1_000_000_000 / 1_000) as u32;
    let length = frame.len() as u32;
    for field in [seconds, microseconds, length, length] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    out.extend_from_slice(frame);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(reader: &mut Reader, bytes: &[u8]) {
        let fed = reader.fill(bytes.len(), |room| {
            room.copy_from_slice(bytes);
            Ok::<_, ()>(bytes.len())
        });
        assert_eq!(fed, Ok(bytes.len()));
    }

    fn file(big_endian: bool, magic: u32, link_type: u32, records: &[(u32, u32, &[u8])]) -> Vec<u8> {
        let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
        let mut bytes = Vec::new();
        for field in [magic, 0x0002_0004, 0, 0, 65_535, link_type] {
            bytes.extend(word(field));
        }
        for (seconds, fraction, data) in records {
            for field in [*seconds, *fraction, data.len() as u32, data.len() as u32] {
                bytes.extend(word(field));
            }
            bytes.extend_from_slice(data);
        }
        bytes
    }

    #[test]
    fn both_byte_orders_and_both_resolutions_give_the_same_record() {
        for big_endian in [false, true] {
            for (magic, fraction) in [(MICROSECONDS, 5), (NANOSECONDS, 5_000)] {
                let mut reader = Reader::default();
                feed(&mut reader, &file(big_endian, magic, ETHERNET, &[(3, fraction, b"frame")]));
                let record = Record { time_ns: 3_000_005_000, data: b"frame", length: 5 };
                assert_eq!(reader.next_record(), Ok(Some(record)));
                assert_eq!(reader.end(), Ok(()));
            }
        }
    }

    #[test]
    fn a_record_that_comes_byte_by_byte_is_given_out_once_it_is_whole() {
        let bytes = file(false, MICROSECONDS, ETHERNET, &[(0, 1, b"ab")]);
        let mut reader = Reader::default();
        for byte in &bytes[..bytes.len() - 1] {
            feed(&mut reader, &[*byte]);
            assert_eq!(reader.next_record(), Ok(None));
        }
        assert!(reader.end().unwrap_err().to_string().contains("record 1"));
        feed(&mut reader, &bytes[bytes.len() - 1..]);
        assert_eq!(reader.peek(), Ok(Some(1_000)));
        assert_eq!(reader.next_record().unwrap().unwrap().data, b"ab");
    }

    #[test]
    fn frames_that_carry_an_fcs_keep_it() {
        let mut reader = Reader::default();
        feed(&mut reader, &file(false, MICROSECONDS, 0x2400_0000 | ETHERNET, &[(0, 0, b"frame+fcs")]));
        assert_eq!(reader.next_record().unwrap().unwrap().data, b"frame+fcs");
    }

    #[test]
    fn files_that_are_not_ethernet_pcap_are_refused_by_what_they_are() {
        let refusal = |bytes: &[u8]| {
            let mut reader = Reader::default();
            feed(&mut reader, bytes);
            reader.next_record().unwrap_err().to_string()
        };
        assert!(refusal(&[0x0a, 0x0d, 0x0d, 0x0a]).contains("it is pcapng"));
        assert!(refusal(b"PK\x03\x04").ends_with("not a pcap magic number"));
        assert!(refusal(b"\x1f\x8b\x08\x00").contains("`gzip -d`"));
        assert!(refusal(b"\x28\xb5\x2f\xfd").contains("`zstd -d`"));
        assert!(refusal(&file(true, MICROSECONDS, 113, &[])).contains("link type 113"));
    }

    #[test]
    fn what_is_written_can_be_read_back() {
        let mut bytes = file_header(false).to_vec();
        append_record(&mut bytes, 7_000_001_000, b"one");
        append_record(&mut bytes, 7_000_002_999, b"");
        let mut reader = Reader::default();
        feed(&mut reader, &bytes);
        assert_eq!(reader.next_record().unwrap().unwrap().time_ns, 7_000_001_000);
        assert_eq!(reader.next_record().unwrap().unwrap().time_ns, 7_000_002_000);
        assert_eq!(reader.next_record(), Ok(None));
        assert_eq!(reader.end(), Ok(()));
    }
}
