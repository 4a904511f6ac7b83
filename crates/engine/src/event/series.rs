//! Time series of an entity's state.

use incast_cc::Time;
use incast_record::{Recorder, Sample};
use std::sync::Arc;

/// Callback that lists values by name.
pub type Show<'a> = dyn FnMut(&mut dyn FnMut(&'static str, f64)) + 'a;

/// Time series of one entity: a sample at every interval, or at every change.
#[derive(Clone, Debug)]
pub struct Series {
    entity: Arc<str>,
    /// Time of the next sample, with an interval.
    next: Time,
    /// Last values, without an interval.
    last: Vec<(&'static str, f64)>,
}

impl Series {
    /// An empty series of the named entity.
    pub fn new(entity: &str) -> Series {
        Series { entity: entity.into(), next: Time::ZERO, last: Vec::new() }
    }

    /// With an interval: records the samples due before `now`. Values hold until the next event, so all are the current
    /// ones.
    pub fn before(&mut self, now: Time, every: Option<Time>, show: &mut Show, rec: &mut impl Recorder) {
        let Some(every) = every else { return };
        while self.next < now {
            let time_ps = self.next.0;
            show(&mut |name, value| rec.sample(Sample { entity: self.entity.clone(), name, time_ps, value }));
            self.next += every.max(Time::ps(1));
        }
    }

    /// Without an interval: records the values that have changed.
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
