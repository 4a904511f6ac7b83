//! Busy share of a cell's channel over time.

use incast_cc::Time;

/// Passes the rows of the series up to `end` to `row`. With an interval: the busy share of each interval, at its start.
/// Without: 1 when the channel becomes busy, 0 when it becomes idle. `busy_periods`: busy periods, in order and
/// disjoint.
pub fn rows(busy_periods: &[(Time, Time)], interval: Option<Time>, end: Time, row: &mut impl FnMut(Time, f64)) {
    let busy_periods = busy_periods.iter().map(|(from, to)| (*from, (*to).min(end))).filter(|(from, to)| from < to);
    match interval {
        None => changes(busy_periods, end, row),
        Some(interval) => shares(busy_periods, interval, end, row),
    }
}

fn changes(busy_periods: impl Iterator<Item = (Time, Time)>, end: Time, row: &mut impl FnMut(Time, f64)) {
    let mut busy_periods = busy_periods.peekable();
    if busy_periods.peek().is_none_or(|(from, _)| *from > Time::ZERO) {
        row(Time::ZERO, 0.0);
    }
    for (from, to) in busy_periods {
        row(from, 1.0);
        if to < end {
            row(to, 0.0);
        }
    }
}

fn shares(
    busy_periods: impl Iterator<Item = (Time, Time)>,
    interval: Time,
    end: Time,
    row: &mut impl FnMut(Time, f64),
) {
    let mut busy_periods = busy_periods.peekable();
    let mut from = Time::ZERO;
    while from < end {
        let to = from.saturating_add(interval).min(end);
        let mut busy = Time::ZERO;
        while let Some((begins, ends)) = busy_periods.peek().copied().filter(|(begins, _)| *begins < to) {
            busy += ends.min(to) - begins.max(from);
            if ends > to {
                break;
            }
            busy_periods.next();
        }
        row(from, busy.0 as f64 / (to - from).0 as f64);
        from = to;
    }
}

#[cfg(test)]
mod tests {
    use super::{Time, rows};

    fn of(interval: Option<u64>, end: u64) -> Vec<(u64, f64)> {
        let mut found = Vec::new();
        let busy_periods = [(0, 0), (10, 20), (25, 65)].map(|(from, to)| (Time::us(from), Time::us(to)));
        rows(&busy_periods, interval.map(Time::us), Time::us(end), &mut |at, value| {
            found.push((at.0 / 1_000_000, value))
        });
        found
    }

    #[test]
    fn a_share_is_that_of_the_interval_which_begins() {
        assert_eq!(of(Some(20), 70), [(0, 0.5), (20, 0.75), (40, 1.0), (60, 0.5)]);
        assert_eq!(of(Some(20), 30), [(0, 0.5), (20, 0.5)]);
    }

    #[test]
    fn changes_are_rows() {
        assert_eq!(of(None, 70), [(0, 0.0), (10, 1.0), (20, 0.0), (25, 1.0), (65, 0.0)]);
        assert_eq!(of(None, 30), [(0, 0.0), (10, 1.0), (20, 0.0), (25, 1.0)]);
    }
}
