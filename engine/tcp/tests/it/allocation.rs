//! Segments of an established connection cause no allocation; after a loss, the connection reuses its vectors.

use tcp::{Config, Connection, Segment};
use units::{Bytes, Duration, Time};
use wire::Ecn;

use crate::counting;

/// Carries `rounds` windows from one end to the other. One data segment in `lost` is lost, and one in 7 is marked.
fn transfer(
    ends: &mut [Connection; 2],
    under_way: &mut Vec<Segment>,
    now: &mut Time,
    rounds: u64,
    lost: u64,
) {
    let mut number = 0;
    for _ in 0..rounds {
        while let Some(mut segment) = ends[0].poll_transmit(*now) {
            number += 1;
            if number % 7 == 0 && segment.ecn != Ecn::NotEct {
                segment.ecn = Ecn::Ce;
            }
            if lost == 0 || number % lost != 0 {
                under_way.push(segment);
            }
        }
        *now += Duration::from_us(100);
        for segment in under_way.drain(..) {
            ends[1].handle_segment(*now, &segment);
            while let Some(ack) = ends[1].poll_transmit(*now) {
                ends[0].handle_segment(*now, &ack);
            }
        }
        for end in ends.iter_mut() {
            end.handle_timeout(*now);
        }
        while let Some(ack) = ends[1].poll_transmit(*now) {
            ends[0].handle_segment(*now, &ack);
        }
    }
}

#[test]
fn a_transfer_under_way_allocates_nothing() {
    let all =
        ["newreno", "ecn", "dctcp", "cubic", "vegas"].map(|name| [false, true].map(|rack| (name, rack)));
    for (name, rack) in all.into_iter().flatten() {
        let config = Config {
            rack,
            prr: rack,
            receive_buffer: Some(Bytes::new(200_000)),
            min_rto: Duration::from_ms(1),
            ..name.parse().unwrap()
        };
        let settings = config.check().unwrap();
        let mut ends = [Connection::connect(&settings, 1), Connection::listen(&settings, 2)];
        ends[0].send(1 << 40).unwrap();
        let (mut under_way, mut now) = (Vec::with_capacity(4_096), Time::ZERO);
        for lost in [0, 40] {
            transfer(&mut ends, &mut under_way, &mut now, 500, lost);
            let (before, carried) = (counting::allocations(), ends[0].bytes_acknowledged());
            transfer(&mut ends, &mut under_way, &mut now, 500, lost);
            assert_eq!(counting::allocations() - before, 0, "{name}, one in {lost} lost");
            assert!(ends[0].bytes_acknowledged() - carried > 500_000, "{name}, one in {lost} lost");
        }
    }
}
