//! Repeats of one collective in a run (W09).

use crate::finding::{Code, Place, Report};
use incast_cc::Time;

/// Percent by which repeats may differ.
const MOST: u128 = 5;

/// Compares the durations of the repeats of one collective: queues of one may last into the next, or the first ones are
/// a warm-up. W09 where the longest is more than 5 % above the shortest.
pub fn repeats(name: &str, durations: &[Time], report: &mut Report) {
    let (Some(least), Some(most)) = (durations.iter().min(), durations.iter().max()) else { return };
    if u128::from(most.0) * 100 > u128::from(least.0) * (100 + MOST) {
        report.add(Code::W09, Place::Job, || {
            let what = format!("{} repeats of {name} take {least} to {most}", durations.len());
            (what, "leave the first ones out, or pause between them".into())
        });
    }
}
