//! RFC 9438 and the application: time in which the window is not used does not count.

use tcp::Config;
use units::Duration;

use crate::common::{config, Script};

const RTT: Duration = Duration::from_ms(10);

/// Runs `rounds` round trips in which everything permitted is sent, with one ACK per segment. Returns the windows in segments after each.
fn rounds(script: &mut Script, rounds: usize) -> Vec<u64> {
    let (mut windows, mut under_way) = (Vec::new(), script.sent_data());
    for _ in 0..rounds {
        under_way = script.round(under_way, RTT);
        windows.push(script.cwnd() / 1_000);
    }
    windows
}

/// Runs a flow that has lost one of 63 segments, and has since used its window of 44 for one round trip. Then the
/// application acts, and the window has eight round trips to grow.
fn after_a_loss(restart_after_idle: bool, application: impl FnOnce(&mut Script)) -> Vec<u64> {
    let config = Config { initial_window_segments: 63, restart_after_idle, ..config("cubic") };
    let mut script = Script::established(config, RTT);
    script.tcp.send(63_000).unwrap();
    assert_eq!(script.sent_data().len(), 63);
    script.wait(RTT);
    for held in 2..=63 {
        script.sack(0, &[(1_000, held * 1_000)]);
    }
    // Once more, because there is nothing else to send: the rescue of RFC 6675, 4 rule 4.
    assert_eq!(script.sent_data(), [0, 0]);
    script.wait(RTT);
    script.ack(63_000);
    script.tcp.send(44_000).unwrap();
    assert_eq!(rounds(&mut script, 1), [44], "0.7 of 63");
    application(&mut script);
    script.tcp.send(1 << 30).unwrap();
    rounds(&mut script, 8)
}

/// RFC 9438, 4.2: "elapsed time MUST NOT include periods during which cwnd has not been updated due to application-limited behavior".
#[test]
fn ten_seconds_of_one_segment_each_100_ms_do_not_open_the_window() {
    for restart_after_idle in [true, false] {
        let quiet = |script: &mut Script| {
            for segment in 107..207 {
                script.wait(Duration::from_ms(90));
                script.tcp.send(1_000).unwrap();
                assert_eq!(script.sent_data(), [segment * 1_000]);
                script.wait(RTT);
                script.ack((segment + 1) * 1_000);
            }
        };
        let without = after_a_loss(restart_after_idle, |_| {});
        assert_eq!(
            after_a_loss(restart_after_idle, quiet),
            without,
            "restart after idle {restart_after_idle}"
        );
        assert!((45..52).contains(&without[7]), "K is 3.6 s, and Reno would gain four segments: {without:?}");
    }
}

/// The same if nothing at all is sent, and RFC 5681, 4.1 is disabled.
#[test]
fn ten_seconds_of_nothing_do_not_open_the_window() {
    let idle = after_a_loss(false, |script| script.wait(Duration::from_secs(10)));
    assert_eq!(idle, after_a_loss(false, |_| {}));
}
