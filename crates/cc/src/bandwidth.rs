//! Bandwidth estimated from ACKs, as in Westwood and Westwood+: the definition of a sample, and the averaging of
//! samples. Controllers own an [`Estimate`] and decide how to use it.

use crate::{Ack, Time};

choice! {
    /// The definition of one sample of the bandwidth.
    Sampling {
        /// Westwood: the bytes newly reported by an ACK over the time since the previous ACK.
        Ack = "ack",
        /// Westwood+: the bytes reported by the ACKs of a round trip, over the time from the first to the last.
        Rtt = "rtt",
        /// ns-3's Westwood+: the bytes reported within one smoothed round-trip time, over that time; it starts with
        /// the first ACK after the previous sample.
        Scheduled = "scheduled",
        /// Linux: the bytes reported in a window longer than the latest round-trip time and than 50 ms, in whole
        /// ticks and whole bytes per tick.
        Ticks = "ticks",
    }
}

choice! {
    /// Averaging of samples.
    Filter {
        /// Westwood: Tustin's discretization of a first-order low-pass filter of time constant tau, with the
        /// intervals of the samples; an interval of tau/2 without reports counts as a sample of zero.
        Interval = "interval",
        /// The same filter with a coefficient of 0.9, whatever the interval (ns-3).
        Tustin = "tustin",
        /// Westwood+: 0.9 of the average and 0.1 of the sample.
        FirstOrder = "first-order",
        /// Linux: 7/8 of the average and 1/8 of a first average, which weights the samples the same way; the first
        /// sample counts whole.
        Eighths = "eighths",
        /// The latest sample.
        None = "none",
    }
}

choice! {
    /// Quantity whose minimum is the shortest round trip.
    MinOf {
        /// The samples.
        Rtt = "rtt",
        /// The smoothed round-trip time (ns-3).
        Srtt = "srtt",
    }
}

/// Weight of the old average in filters with a constant coefficient.
const KEPT: f64 = 0.9;
/// Number of virtual samples of zero after which an average is 0 in double precision: 0.6 to this power.
const VANISHED: u64 = 64;
/// Linux: the shortest window of a sample.
const SHORTEST_WINDOW: Time = Time::ms(50);

/// Settings of an [`Estimate`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) sampling: Sampling,
    pub(crate) filter: Filter,
    pub(crate) min_of: MinOf,
    /// Time constant of [`Filter::Interval`].
    pub(crate) tau: Time,
    /// Clock of [`Sampling::Ticks`].
    pub(crate) tick: Time,
    /// Rounds rates to whole bits per second (ns-3).
    pub(crate) whole: bool,
    /// Counts time from zero instead of the first ACK (ns-3).
    pub(crate) from_zero: bool,
}

/// A running estimate of the bandwidth and the shortest round-trip time.
#[derive(Clone, Debug)]
pub(crate) struct Estimate {
    /// Bits per second.
    rate: f64,
    /// Latest sample; for [`Filter::Eighths`] the first of the two averages.
    sample: f64,
    /// Bytes reported since `since`.
    bytes: u64,
    /// Start of the current sample.
    since: Time,
    /// End of a scheduled sample; [`Time::NEVER`] without one.
    until: Time,
    /// The latest round-trip time, or the length of a scheduled sample.
    span: Time,
    /// Shortest round trip; [`Time::NEVER`] before the first.
    shortest: Time,
    started: bool,
    settings: Settings,
}

impl Estimate {
    pub(crate) fn new(settings: Settings) -> Estimate {
        Estimate {
            rate: 0.0,
            sample: 0.0,
            bytes: 0,
            since: Time::ZERO,
            until: Time::NEVER,
            span: Time::ZERO,
            shortest: Time::NEVER,
            started: settings.from_zero,
            settings,
        }
    }

    /// Bits per second.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// Shortest round-trip time, if there is one.
    pub(crate) fn shortest(&self) -> Option<Time> {
        (self.shortest != Time::NEVER).then_some(self.shortest)
    }

    /// Bytes in flight that the bandwidth carries in the shortest round trip; zero before the first sample.
    pub(crate) fn product(&self) -> f64 {
        let Some(shortest) = self.shortest() else { return 0.0 };
        let bytes = self.rate * shortest.as_secs_f64() / 8.0;
        // whole bytes per tick times whole ticks is a whole number: rounding removes the error of the double
        if self.settings.sampling == Sampling::Ticks { libm::round(bytes) } else { bytes }
    }

    /// Restarts the shortest round trip with the next sample (Linux, after a timeout).
    pub(crate) fn forget_shortest(&mut self) {
        self.shortest = Time::NEVER;
    }

    /// Brings the estimate to a time.
    pub(crate) fn advance(&mut self, now: Time) {
        if self.until <= now {
            self.until = Time::NEVER;
            self.take(self.span);
        }
    }

    /// An ACK that newly reports `bytes`.
    pub(crate) fn on_ack(&mut self, ack: &Ack, bytes: u64) {
        if self.settings.sampling == Sampling::Ticks {
            return self.on_tick(ack, bytes);
        }
        let rtt = match self.settings.min_of {
            MinOf::Rtt => ack.rtt,
            MinOf::Srtt => Some(ack.srtt).filter(|srtt| *srtt > Time::ZERO),
        };
        if let Some(rtt) = rtt {
            self.shortest = self.shortest.min(rtt.max(Time(1)));
        }
        match self.settings.sampling {
            Sampling::Scheduled => {
                self.advance(ack.now);
                if ack.srtt == Time::ZERO {
                    return;
                }
                self.bytes += bytes;
                if self.until == Time::NEVER {
                    self.span = ack.srtt;
                    self.until = ack.now.saturating_add(ack.srtt);
                }
            }
            Sampling::Ack | Sampling::Rtt => {
                if !self.started {
                    (self.started, self.since) = (true, ack.now);
                    return;
                }
                self.bytes += bytes;
                let least =
                    if self.settings.sampling == Sampling::Rtt { ack.rtt.unwrap_or(ack.srtt) } else { Time::ZERO };
                let interval = ack.now.saturating_sub(self.since);
                // no rate at one instant: the bytes of such ACKs count towards the next sample
                if self.bytes > 0 && interval > Time::ZERO && interval >= least {
                    self.since = ack.now;
                    self.take(interval);
                }
            }
            Sampling::Ticks => {}
        }
    }

    /// [`Sampling::Ticks`]: a round trip counts from the ACK after its own.
    fn on_tick(&mut self, ack: &Ack, bytes: u64) {
        let tick = self.settings.tick;
        let now = Time(ack.now.0 / tick.0 * tick.0);
        if !self.started {
            (self.started, self.since) = (true, now);
        } else {
            let window = now.saturating_sub(self.since);
            if self.span > Time::ZERO && window > self.span.max(SHORTEST_WINDOW) {
                self.since = now;
                self.take(window);
            }
            self.bytes += bytes;
        }
        if self.span > Time::ZERO {
            self.shortest = self.shortest.min(self.span);
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt >= Time::us(1)) {
            self.span = Time(rtt.0.div_ceil(tick.0) * tick.0);
        }
    }

    /// Ends a sample: the reported bytes over `interval`.
    fn take(&mut self, interval: Time) {
        let bits = 8.0 * core::mem::take(&mut self.bytes) as f64;
        let sample = self.whole(bits / interval.as_secs_f64());
        match self.settings.filter {
            Filter::None => self.rate = sample,
            Filter::FirstOrder => self.rate = KEPT * self.rate + (1.0 - KEPT) * sample,
            Filter::Tustin => {
                // each step is a whole number in ns-3
                let mean = self.whole((sample + self.sample) * 0.5);
                self.rate = self.whole(self.rate * KEPT) + self.whole(mean * (1.0 - KEPT));
            }
            Filter::Interval => return self.low_pass(sample, interval),
            Filter::Eighths => {
                let per = 8.0 / self.settings.tick.as_secs_f64();
                let bytes = |rate: f64| libm::round(rate / per);
                let sample = libm::floor(sample / per * (1.0 + 1e-12));
                if self.rate == 0.0 && self.sample == 0.0 {
                    (self.sample, self.rate) = (sample * per, sample * per);
                } else {
                    let step = |average: f64, new: f64| libm::floor((7.0 * average + new) / 8.0);
                    let first = step(bytes(self.sample), sample);
                    self.rate = step(bytes(self.rate), first) * per;
                    self.sample = first * per;
                }
                return;
            }
        }
        self.sample = sample;
    }

    /// [`Filter::Interval`].
    fn low_pass(&mut self, sample: f64, interval: Time) {
        let tau = self.settings.tau.as_secs_f64();
        let half = Time((self.settings.tau.0 / 2).max(1));
        let mut step = |sample: f64, interval: f64| {
            let kept = (2.0 * tau - interval) / (2.0 * tau + interval);
            self.rate = kept * self.rate + (1.0 - kept) * (sample + self.sample) / 2.0;
            self.sample = sample;
        };
        let silent = (interval.0 - 1) / half.0;
        for _ in 0..silent.min(VANISHED) {
            step(0.0, half.as_secs_f64());
        }
        step(sample, Time(interval.0 - silent * half.0).as_secs_f64());
    }

    fn whole(&self, rate: f64) -> f64 {
        if self.settings.whole { libm::floor(rate) } else { rate }
    }
}
