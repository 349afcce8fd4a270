//! Independent judges of the applications: an event-by-event model of the cluster, closed forms, and properties that
//! hold for any description. All of them drive a `Workload` as `netsim` does, through its public interface.

mod cluster;
mod cluster_cases;
mod coflows;
mod driver;
mod flows;
mod incast;
mod oracle;
mod phases;
mod properties;
#[allow(dead_code)] // The judges foretell what the streams decide, but not the streams.
#[path = "../../src/random.rs"]
mod random;
mod refusals;
mod rpc;
mod scatter_gather;
mod stats;

#[test]
fn the_streams_are_those_of_the_published_results() {
    let mut stream = random::Stream::new(7, random::Purpose::StartJitter, &[1, 2]);
    let drawn = [stream.below(1 << 40), stream.unit().to_bits(), stream.log_normal(0.5).to_bits()];
    assert_eq!(drawn, [75_644_718_058, 4_604_566_028_745_121_731, 4_603_341_680_920_710_771]);
    assert_eq!(stream.exponential(units::Duration::from_us(1)).as_ps(), 353_261);
    assert_eq!([stream.choose(3, 9), stream.choose(5, 9)], [vec![0, 6, 7], vec![1, 2, 0, 8, 5]]);
}
