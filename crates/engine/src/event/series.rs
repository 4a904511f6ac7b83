//! Time series of the state of one thing.

use incast_cc::Time;
use incast_record::{Recorder, Sample};
use std::sync::Arc;

/// Shows values by their names.
pub type Show<'a> = dyn FnMut(&mut dyn FnMut(&'static str, f64)) + 'a;

/// The time series of one thing: at every instant of an interval, or at every change.
#[derive(Clone, Debug)]
pub struct Series {
    entity: Arc<str>,
    /// Next instant, where there is an interval.
    next: Time,
    /// Last values, where there is none.
    last: Vec<(&'static str, f64)>,
}

impl Series {
    /// Of the thing of this name, from the beginning.
    pub fn new(entity: &str) -> Series {
        Series { entity: entity.into(), next: Time::ZERO, last: Vec::new() }
    }

    /// With an interval: values hold until the next event, so every instant before `now` shows the state as it is now.
    pub fn before(&mut self, now: Time, every: Option<Time>, show: &mut Show, rec: &mut impl Recorder) {
        let Some(every) = every else { return };
        while self.next < now {
            let time_ps = self.next.0;
            show(&mut |name, value| rec.sample(Sample { entity: self.entity.clone(), name, time_ps, value }));
            self.next += every.max(Time::ps(1));
        }
    }

    /// Without an interval: reports what differs from the last report.
    pub fn after(&mut self, now: Time, every: Option<Time>, show: &mut Show, rec: &mut impl Recorder) {
        if every.is_some() {
            return;
        }
        show(&mut |name, value| {
            let known = self.last.iter_mut().find(|(n, _)| *n == name);
            match known {
                Some((_, last)) if last.to_bits() == value.to_bits() => return,
                Some((_, last)) => *last = value,
                None => self.last.push((name, value)),
            }
            rec.sample(Sample { entity: self.entity.clone(), name, time_ps: now.0, value });
        });
    }
}
