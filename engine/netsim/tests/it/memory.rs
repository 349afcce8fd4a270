//! The papers' 160 hosts, 4 leaves and 2 spines take less than 500 MB before a packet is sent.

use crate::common::LeafSpine;
use crate::counting;

const LIMIT: usize = 500_000_000;

#[test]
fn the_twin_of_leaf_spine_160_takes_less_than_500_mb() {
    let size = LeafSpine { leaves: 4, hosts_per_leaf: 40, spines: 2, ..LeafSpine::default() };
    let before = counting::live_bytes();
    let fabric = size.marking(30_000);
    let bytes = counting::live_bytes() - before;
    assert_eq!(fabric.spec().hosts.len(), 160);
    assert!(bytes < LIMIT, "{bytes} bytes");
}
