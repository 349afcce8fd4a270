//! The format of a corpus in one file.

/// Packs a corpus into one file: its inputs in order of length, each as its length (4 bytes, big-endian) and its bytes.
pub fn pack(mut inputs: Vec<Vec<u8>>) -> Vec<u8> {
    inputs.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    inputs.dedup();
    inputs.iter().flat_map(|input| [&(input.len() as u32).to_be_bytes()[..], input].concat()).collect()
}

/// Returns the inputs of a packed corpus, or `None` if the file is incomplete.
pub fn unpack(mut file: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    while !file.is_empty() {
        let (length, rest) = file.split_at_checked(4)?;
        let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let (input, rest) = rest.split_at_checked(length)?;
        inputs.push(input.to_vec());
        file = rest;
    }
    Some(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_unpacked_as_it_was_packed_and_refused_when_it_breaks_off() {
        let file = pack(vec![vec![3; 300], vec![], vec![1], vec![1]]);
        assert_eq!(unpack(&file), Some(vec![vec![], vec![1], vec![3; 300]]));
        assert_eq!(unpack(&file[..file.len() - 1]), None);
    }
}
