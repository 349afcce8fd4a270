//! What every model is.

use units::Time;

use crate::report::Measures;
use crate::{Out, Outcome};

/// One application. Its calls are in order of time.
pub(crate) trait Application: Send {
    /// Sets the first timers.
    fn start(&mut self, out: &mut Out<'_>);

    /// A timer that it has set.
    fn handle_timer(&mut self, token: u64, out: &mut Out<'_>);

    /// What has become of a transfer that it has begun.
    fn handle_transfer(&mut self, token: u64, outcome: Outcome, out: &mut Out<'_>);

    /// When it finished, if it has.
    fn finished_at(&self) -> Option<Time>;

    /// What it has measured.
    fn report(&self) -> Measures;
}
