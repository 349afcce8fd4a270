//! The reader of pcap files, fed in pieces: the boundaries of the pieces make no difference, records are in the file,
//! in order, and no more is stored than a record can have.

use port_io::pcap::{Reader, MAX_RECORD_BYTES};
use port_io::IoError;

/// The result of reading a file.
#[derive(Debug, PartialEq, Eq)]
struct Read {
    records: Vec<(u64, u32, Vec<u8>)>,
    outcome: Result<(), IoError>,
}

/// Runs the target. The first byte of the input is the size of the pieces; the rest is the file.
pub fn pcap(bytes: &[u8]) {
    let Some((piece, file)) = bytes.split_first() else { return };
    let whole = read(file, file.len().max(1));
    let pieces = read(file, usize::from(*piece).max(1));
    assert_eq!(whole, pieces, "a file fed in pieces of {piece} bytes");
    let mut rest = file;
    for (_, _, data) in &whole.records {
        let at = rest.windows(data.len().max(1)).position(|part| part.starts_with(data));
        assert!(data.is_empty() || at.is_some(), "a record that is not in the file");
        rest = &rest[at.unwrap_or(0) + data.len()..];
    }
    if let Err(error) = whole.outcome {
        assert!(!error.to_string().is_empty());
    }
}

fn read(file: &[u8], piece: usize) -> Read {
    let mut reader = Reader::default();
    let mut records = Vec::new();
    for part in file.chunks(piece) {
        let filled = reader.fill(part.len(), |room| {
            room.copy_from_slice(part);
            Ok::<_, std::convert::Infallible>(part.len())
        });
        assert_eq!(filled, Ok(part.len()));
        loop {
            let peeked = reader.peek();
            match reader.next_record() {
                Ok(Some(record)) => {
                    assert_eq!(peeked, Ok(Some(record.time_ns)));
                    assert!(record.data.len() <= MAX_RECORD_BYTES);
                    records.push((record.time_ns, record.length, record.data.to_vec()));
                }
                Ok(None) => break,
                Err(error) => return Read { records, outcome: Err(error) },
            }
        }
    }
    Read { records, outcome: reader.end() }
}
