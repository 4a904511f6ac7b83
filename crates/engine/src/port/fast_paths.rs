//! Features of a port that decide on its [fast paths](crate::fast_paths).

use super::class_queue::ClassQueue;
use super::port::{Port, feature};
use super::queues::Queues;
use crate::fast_paths::{Feature, Features};
use crate::port::discipline::ActiveDiscipline;
use crate::port::discipline::trimming::Trim;
use crate::spec::{Limit, cut};
use incast_cc::{Rate, Time};

impl Port {
    /// Features that exclude fast paths. Engine windows are `length` long, and a packet, of at least `least` IP bytes,
    /// lies in a bucket from `near` before its arrival on.
    pub fn features(&self, length: Time, near: Time, least: u32) -> Features {
        let (settings, queues) = (&*self.settings, self.rare.queues.as_deref());
        let short = cut(settings.rate.serialize(least as u64), settings.tick) == Time::ZERO;
        let has = |bit: u8| self.features & bit != 0;
        let threshold = match &settings.discipline {
            ActiveDiscipline::EcnAtDeparture(discipline) => Some(discipline.threshold()),
            _ => None,
        };
        let decides_later = |queues: &Queues| !queues.classes.iter().all(ClassQueue::decides_at_arrivals);
        let decides_at_ends = |queues: &Queues| !queues.classes.iter().all(ClassQueue::decides_by_starts);
        let returns = |queues: &Queues| queues.trim.as_ref().is_some_and(Trim::returns);
        Features::of([
            (Feature::Probe, has(feature::PROBED)),
            (Feature::OwnTies, has(feature::SCHEDULED)),
            (Feature::Failures, has(feature::FAILS)),
            (Feature::Programmed, has(feature::PROGRAMMED)),
            (Feature::Explicit, has(feature::EXPLICIT)),
            (Feature::Buffer, self.pool().is_some()),
            (Feature::Station, self.station().is_some()),
            (Feature::Timeline, self.rare.frames.is_some()),
            (Feature::Loss, settings.lossy),
            (Feature::Bucket, settings.bucket > Time::ZERO),
            (Feature::Returns, queues.is_some_and(returns)),
            (Feature::DeviceQueue, settings.device_queue > 1),
            (Feature::AtDeparture, queues.is_some_and(decides_later)),
            (Feature::AtEnd, queues.is_some_and(decides_at_ends)),
            (Feature::MakesRoom, queues.is_some_and(Queues::makes_room)),
            (Feature::StampedDepartures, queues.is_some_and(|queues| queues.stamps)),
            // a packet that takes no time passes its queue
            (Feature::NoTime, settings.rate == Rate::INFINITE || short && settings.delay == Time::ZERO),
            (Feature::ShortTime, short),
            // an empty packet at an empty port leaves at once
            (Feature::NoThreshold, threshold == Some(Limit::Packets(0))),
            (Feature::ShortDelay, settings.delay < length),
            (Feature::LongDelay, settings.delay >= near),
        ])
    }
}
