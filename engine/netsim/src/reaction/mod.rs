//! Reaction points: how the rate of one flow reacts to congestion at its sender.
//!
//! * [`QcnSettings`]: to congestion notification messages of switches (IEEE 802.1Q-2022 clauses 30 to 33, first IEEE 802.1Qau-2010);
//! * [`DcqcnSettings`]: to congestion notification packets of the flow's receiver (Zhu et al., SIGCOMM 2015, section 3).
//!
//! Both cut the rate on feedback and recover it by the same [`recovery`]. A point is a state machine without a clock:
//! times and bytes go in, a rate comes out. Each call first runs the timers due by its time, in order, so a caller may
//! read the rate at any moment. Rates are whole bits per second on the wire; nothing is random.

mod dcqcn;
mod qcn;
mod recovery;

use units::{DataRate, Time};

use crate::spec::SpecError;

pub use dcqcn::DcqcnSettings;
pub use qcn::{QcnScope, QcnSettings, MAX_FEEDBACK};

/// The kind of a NIC's reaction points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReactionSettings {
    /// Reaction points of IEEE 802.1Q.
    Qcn(QcnSettings),
    /// Reaction points of Zhu et al.
    Dcqcn(DcqcnSettings),
}

/// The reaction point of a flow, or of all flows that share it. At line rate it limits nothing and may be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReactionPoint {
    recovery: recovery::Recovery,
    cut: Cut,
}

/// How feedback cuts the rate.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cut {
    Qcn(QcnSettings),
    Dcqcn(dcqcn::Estimate),
}

impl ReactionPoint {
    /// Creates a reaction point at line rate. The settings must have been checked.
    pub(crate) fn new(settings: ReactionSettings, line: DataRate) -> Self {
        let (rules, cut) = match settings {
            ReactionSettings::Qcn(settings) => (settings.rules(), Cut::Qcn(settings)),
            ReactionSettings::Dcqcn(settings) => {
                (settings.rules(), Cut::Dcqcn(dcqcn::Estimate::new(settings)))
            }
        };
        Self { recovery: recovery::Recovery::new(rules, line.as_bps()), cut }
    }

    /// Handles feedback. DCQCN's notifications have no strength.
    pub(crate) fn handle(&mut self, now: Time, feedback: u8) {
        self.advance(now);
        match &mut self.cut {
            Cut::Qcn(settings) => settings.cut(&mut self.recovery, now, feedback),
            Cut::Dcqcn(estimate) => estimate.cut(&mut self.recovery, now),
        }
    }

    /// Counts bytes of frames that the flow has sent.
    pub(crate) fn sent(&mut self, now: Time, bytes: u64) {
        self.advance(now);
        self.recovery.sent(bytes);
    }

    /// Runs the timers due by `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        self.recovery.advance(now);
        if let Cut::Dcqcn(estimate) = &mut self.cut {
            estimate.advance(now);
        }
    }

    /// Returns when the rate may change by itself.
    pub(crate) fn next_timeout(&self) -> Time {
        self.recovery.next_timeout()
    }

    /// Returns the rate in bits per second on the wire, as of the last call with a time.
    pub(crate) fn rate_bps(&self) -> u64 {
        self.recovery.rate_bps
    }

    /// Returns whether the rate is the line rate.
    pub(crate) fn is_at_line_rate(&self) -> bool {
        self.recovery.is_complete()
    }
}

/// Minimum period of a timer, in picoseconds: 1 us.
const MIN_PERIOD_PS: u64 = 1_000_000;
/// Maximum period of a timer: 1000 s.
const MAX_PERIOD_PS: u64 = 1_000_000_000_000_000;
/// Maximum rate that is added in one step: 1 Tb/s.
const MAX_INCREASE_BPS: u64 = 1_000_000_000_000;

/// Checks that the value of a setting, `name` in the settings at `place`, is within its range.
fn within(
    place: &str,
    name: &str,
    value: u64,
    range: std::ops::RangeInclusive<u64>,
    reason: &str,
) -> Result<(), SpecError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(SpecError(format!("{place}.{name}: {value}: {reason}")))
}

/// Checks the settings that both kinds share.
fn check_recovery(place: &str, rules: &recovery::Rules, min_bps: u64) -> Result<(), SpecError> {
    within(place, "cycle_bytes", rules.cycle_bytes, 1_000..=u64::MAX >> 1, "must be at least 1000")?;
    within(
        place,
        "timer_ps",
        rules.cycle.as_ps(),
        MIN_PERIOD_PS..=MAX_PERIOD_PS,
        "must be from 1 us to 1000 s",
    )?;
    within(place, "fast_cycles", rules.fast_cycles.into(), 1..=1_000, "must be from 1 to 1000")?;
    within(place, "active_bps", rules.active_bps, 1..=MAX_INCREASE_BPS, "must be from 1 to 10^12")?;
    within(place, "hyper_bps", rules.hyper_bps, 1..=MAX_INCREASE_BPS, "must be from 1 to 10^12")?;
    within(place, "min_bps", min_bps, 1..=MAX_INCREASE_BPS, "must be from 1 to 10^12")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use units::Duration;

    use super::*;

    const MICROSECOND: u64 = 1_000_000;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn point(settings: &Value) -> ReactionPoint {
        let (kind, settings) = settings.as_object().unwrap().iter().next().unwrap();
        let (settings, gbps) = match kind.as_str() {
            "qcn" => (ReactionSettings::Qcn(serde_json::from_value(settings.clone()).unwrap()), 10),
            _ => (ReactionSettings::Dcqcn(serde_json::from_value(settings.clone()).unwrap()), 40),
        };
        ReactionPoint::new(settings, DataRate::from_bps(gbps * 1_000_000_000))
    }

    fn value(point: &ReactionPoint, name: &str) -> String {
        match (name, &point.cut) {
            ("rate", _) => point.rate_bps().to_string(),
            ("target", _) => point.recovery.target_bps.to_string(),
            ("alpha", Cut::Dcqcn(estimate)) => estimate.alpha.to_string(),
            ("next", _) if point.next_timeout() == Time::MAX => "never".to_owned(),
            ("next", _) => (point.next_timeout().as_ps() / MICROSECOND).to_string(),
            _ => panic!("no value is called {name}"),
        }
    }

    /// Plays the scripts of `tests/reaction.txt`, which says what their lines mean.
    #[test]
    fn scripts_of_reaction_points_pass() {
        for script in include_str!("../../tests/reaction.txt").split("\n[").skip(1) {
            let mut lines = script.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with('#'));
            let mut point = point(&serde_json::from_str(lines.next().unwrap()).unwrap());
            for line in lines {
                let (happens, expected) = line.split_once(" -> ").unwrap_or((line, ""));
                let words: Vec<&str> = happens.split(' ').collect();
                let number = |at: usize| words[at].parse::<u64>().unwrap();
                let now = at(number(0));
                match words[1] {
                    "feedback" => {
                        let times = if words.len() > 3 { number(3) } else { 1 };
                        (0..times).for_each(|_| point.handle(now, number(2) as u8));
                    }
                    "sent" => point.sent(now, number(2)),
                    _ => point.advance(now),
                }
                for (name, expected) in expected.split(", ").filter_map(|one| one.split_once(' ')) {
                    assert_eq!(value(&point, name), expected, "{name} at {line:?} of [{script}");
                }
            }
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Feedback(u8),
        Sent(u64),
        Wait(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0..=u8::MAX).prop_map(Step::Feedback),
            (0_u64..3_000_000).prop_map(Step::Sent),
            (0_u64..40_000).prop_map(Step::Wait),
        ];
        prop::collection::vec(step, 1..100)
    }

    proptest! {
        #[test]
        fn the_rate_stays_between_its_bounds_only_feedback_lowers_it_and_asking_often_makes_no_difference(
            steps in steps(), is_qcn in any::<bool>(), min_bps in 1_u64..10_000_000_000, line in 1_000_u64..400_000_000_000,
        ) {
            let settings = if is_qcn {
                ReactionSettings::Qcn(QcnSettings { min_bps, ..QcnSettings::default() })
            } else {
                ReactionSettings::Dcqcn(DcqcnSettings { min_bps, ..DcqcnSettings::default() })
            };
            let mut flow = ReactionPoint::new(settings, DataRate::from_bps(line));
            let mut seldom = flow.clone();
            let mut now = 0;
            for step in steps {
                let before = flow.rate_bps();
                match step {
                    Step::Feedback(feedback) => {
                        flow.handle(at(now), feedback);
                        seldom.handle(at(now), feedback);
                    }
                    Step::Sent(bytes) => {
                        flow.sent(at(now), bytes);
                        seldom.sent(at(now), bytes);
                    }
                    Step::Wait(us) => {
                        (0..=us / 1_000).for_each(|part| flow.advance(at(now + part * 1_000)));
                        now += us;
                        flow.advance(at(now));
                    }
                }
                prop_assert!(flow.rate_bps() <= flow.recovery.target_bps && flow.recovery.target_bps <= line);
                prop_assert!(flow.rate_bps() >= min_bps.min(line));
                // Feedback of 0 is none in QCN; DCQCN's notifications have no strength.
                let is_cut = matches!(step, Step::Feedback(feedback) if feedback > 0 || !is_qcn);
                if is_cut {
                    prop_assert!(flow.rate_bps() <= before && flow.rate_bps() >= before / 2);
                } else {
                    prop_assert!(flow.rate_bps() >= before);
                }
                if let Cut::Dcqcn(estimate) = &flow.cut {
                    prop_assert!(estimate.alpha <= 1 << 32, "above 1");
                }
            }
            seldom.advance(at(now));
            prop_assert_eq!(&flow, &seldom);
            // Left alone, it comes back: each later cycle adds more than the one before.
            flow.advance(at(now + 1_000_000_000));
            prop_assert!(flow.is_at_line_rate(), "{} of {}", flow.rate_bps(), line);
            prop_assert_eq!(flow.next_timeout(), Time::MAX);
        }
    }
}
