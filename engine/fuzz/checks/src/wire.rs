//! The checked views of headers on any bytes: no accessor panics, slices stay within the frame, and derived values
//! agree with the headers.

use wire::{classify, classify_snapped, ecn, ethernet, tcp, udp, FiveTuple, Network, PacketClass};

/// Runs the target. Two bytes are the number of bytes that the frame had on the wire beyond those captured; the rest is the frame.
pub fn wire(bytes: &[u8]) {
    let (snapped, frame) = bytes.split_at(bytes.len().min(2));
    let snapped = snapped.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let class = classify(frame);
    assert_eq!(class, classify_snapped(frame, frame.len()));
    classify_snapped(frame, frame.len() + snapped);
    // A caller may pass a length below that of its data.
    classify_snapped(frame, snapped);
    let flow = FiveTuple::of(frame);
    assert_eq!(flow.is_some(), ecn(frame).is_some(), "both need an intact IP header");
    if class != PacketClass::Other {
        assert_eq!(flow.map(|flow| flow.protocol), Some(tcp::PROTOCOL), "{}", class.name());
    }
    network(frame);
    for payload in [frame, frame.get(14..).unwrap_or_default()] {
        transport(payload);
    }
    if let Some(frame) = ethernet::Frame::new_checked(frame) {
        std::hint::black_box((frame.destination(), frame.source(), frame.ethertype(), frame.payload()));
    }
}

fn network(frame: &[u8]) {
    match Network::of(frame) {
        Some(Network::Ipv4(packet)) => {
            let (header, total) = (packet.header_len(), usize::from(packet.total_len()));
            assert!((20..=60).contains(&header));
            assert!(packet.payload().len() <= packet.as_bytes().len() - header);
            assert_eq!(packet.payload_len(), total.checked_sub(header));
            std::hint::black_box((packet.checksum_ok(), packet.source(), packet.destination()));
            transport(packet.payload());
        }
        Some(Network::Ipv6(packet)) => {
            assert!(packet.payload().len() <= packet.payload_len());
            std::hint::black_box((packet.source(), packet.destination()));
            transport(packet.payload());
        }
        Some(Network::Other(_)) | None => {}
    }
}

fn transport(payload: &[u8]) {
    if let Some(segment) = tcp::Segment::new_checked(payload) {
        let header = segment.header_len();
        assert!((20..=60).contains(&header), "a TCP header of {header} bytes");
        // Both are limited to the available bytes.
        assert_eq!(segment.options().len(), header.min(payload.len()) - tcp::MIN_HEADER_LEN);
        assert_eq!(segment.payload().len(), payload.len().saturating_sub(header));
        std::hint::black_box((segment.sequence(), segment.acknowledgement(), segment.window()));
    }
    if let Some(datagram) = udp::Datagram::new_checked(payload) {
        assert!(datagram.payload().len() + udp::HEADER_LEN <= payload.len());
    }
}
