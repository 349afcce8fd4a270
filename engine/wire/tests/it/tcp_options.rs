//! Options of TCP: their bytes, their lengths, and what a receiver ignores.

use proptest::prelude::*;
use wire::tcp_options::{Options, SackBlock, SackBlocks, Timestamps, MAX_LEN};

#[test]
fn a_syn_carries_20_bytes_and_an_ack_with_three_blocks_and_timestamps_40() {
    let timestamps = Some(Timestamps { value: 1, echo_reply: 2 });
    let syn = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps,
        ..Options::default()
    };
    assert_eq!(syn.header_len(), 20);
    let mut ack = Options { timestamps, ..Options::default() };
    assert_eq!(ack.header_len(), 12);
    for (blocks, len) in [(1, 24), (2, 32), (3, 40), (4, 40)] {
        ack.sack.push(SackBlock { left: blocks, right: blocks + 1 });
        assert_eq!(ack.header_len(), len, "{blocks} blocks");
    }
    assert_eq!(Options { timestamps: None, ..ack }.header_len(), 36);
}

#[test]
fn the_bytes_of_a_syn_are_those_of_the_rfcs() {
    let syn = Options { mss: Some(0x05b4), window_scale: Some(7), ..Options::default() };
    let mut bytes = [0xff; 8];
    syn.write(&mut bytes);
    assert_eq!(bytes, [2, 4, 0x05, 0xb4, 1, 3, 3, 7]);
}

#[test]
fn options_that_are_unknown_or_cut_off_are_passed_over() {
    let mss = [2, 4, 5, 180];
    let with = |before: &[u8]| Options::parse(&[before, &mss].concat()).mss;
    assert_eq!(with(&[254, 4, 9, 9]), Some(1460), "an unknown kind");
    assert_eq!(with(&[3, 4, 9, 9]), Some(1460), "a known kind of another length");
    assert_eq!(with(&[0]), None, "the end of the list");
    assert_eq!(with(&[8, 10]), None, "longer than what is there");
    assert_eq!(with(&[8, 1]), None, "shorter than its own head");
    assert_eq!(Options::parse(&[3, 3, 255]).window_scale, Some(14));
}

fn any_options() -> impl Strategy<Value = Options> {
    let block = (any::<u32>(), any::<u32>()).prop_map(|(left, right)| SackBlock { left, right });
    (
        prop::option::of(any::<u16>()),
        prop::option::of(0..=14_u8),
        any::<bool>(),
        prop::option::of((any::<u32>(), any::<u32>())),
        prop::collection::vec(block, 0..5),
    )
        .prop_map(|(mss, window_scale, sack_permitted, timestamps, blocks)| {
            let mut sack = SackBlocks::default();
            blocks.into_iter().for_each(|block| sack.push(block));
            let timestamps = timestamps.map(|(value, echo_reply)| Timestamps { value, echo_reply });
            Options { mss, window_scale, sack_permitted, timestamps, sack }
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(options in any_options()) {
        let mut buffer = [0; MAX_LEN];
        let len = options.header_len();
        prop_assert_eq!(len % 4, 0);
        options.write(&mut buffer[..len]);
        let read = Options::parse(&buffer[..len]);
        let others = Options { sack: SackBlocks::default(), ..options }.header_len();
        let blocks = options.sack.as_slice().len().min((MAX_LEN - others).saturating_sub(4) / 8);
        prop_assert_eq!(read.sack.as_slice(), &options.sack.as_slice()[..blocks]);
        prop_assert_eq!(read, Options { sack: read.sack, ..options });
    }
}
