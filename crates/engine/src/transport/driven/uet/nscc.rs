//! NSCC: the sender's window, from queueing delay and marks. Four quadrants say what an ACK does; cut packets and a
//! long delay let the window fall to what has arrived (quick adapt).

use incast_cc::{Rate, Time};

/// Bytes at 100 Gb/s in 12 us, to which its gains refer.
const REFERENCE_BYTES: f64 = 150_000.0;
/// ... and the 12 us, ps.
const REFERENCE_RTT: f64 = 12e6;
/// Delays below this are no queue.
const NO_QUEUE: Time = Time::us(1);
/// Weight of a delay in the average.
const G: f64 = 0.0125;
/// Weight of a reduction, and the largest.
const GAMMA: f64 = 0.8;
const LARGEST_CUT: f64 = 0.5;
/// Quick adapt asks for less than the largest window by this shift.
const GATE: u32 = 3;

/// What does not change.
#[derive(Clone, Debug)]
struct Gains {
    alpha: f64,
    fair: f64,
    eta: f64,
    fast: f64,
    target: Time,
    /// The round-trip time of the fabric.
    rtt: Time,
    least: i64,
    rate: Rate,
}

/// The window.
#[derive(Clone, Debug)]
pub struct Nscc {
    gains: Gains,
    /// Window, and the largest that it may be, bytes.
    pub cwnd: i64,
    pub most: i64,
    /// Smallest round-trip time so far.
    pub base_rtt: Time,
    average: Time,
    increase: u64,
    received: i64,
    /// Bytes since the last adaptation, of which so many are to be ignored.
    ignored: i64,
    to_ignore: i64,
    achieved: i64,
    adapts_at: Time,
    /// A packet was cut.
    armed: bool,
    fast: bool,
    fast_count: i64,
    cut_at: Time,
    adjusted_at: Time,
}

/// Bytes of a time at a rate, whole.
fn bytes(time: Time, rate: Rate) -> i64 {
    (time.as_secs_f64() * (rate.0 / 8) as f64) as i64
}

/// One and a half times the bytes of a round trip.
pub fn largest_window(rtt: Time, rate: Rate) -> i64 {
    (1.5 * bytes(rtt, rate) as f64) as i64
}

impl Nscc {
    /// On a fabric of round-trip time `rtt`, between hosts of `base_rtt` at `rate`. `target`: of the queueing delay.
    pub fn new(rtt: Time, base_rtt: Time, rate: Rate, target: Time, mss: u32, header: u32) -> Nscc {
        let (a, b) = (bytes(rtt, rate) as f64 / REFERENCE_BYTES, target.0 as f64 / REFERENCE_RTT);
        let mss = mss as f64;
        let most = largest_window(base_rtt, rate);
        Nscc {
            gains: Gains {
                alpha: 4.0 * mss * a * b / target.0 as f64,
                fair: 5.0 * mss * a,
                eta: 0.15 * mss * a,
                fast: 0.25 * a,
                target,
                rtt,
                least: mss as i64 + header as i64,
                rate,
            },
            cwnd: most,
            most,
            base_rtt,
            average: Time::ZERO,
            increase: 0,
            received: 0,
            ignored: 0,
            to_ignore: 0,
            achieved: 0,
            adapts_at: Time::ZERO,
            armed: false,
            fast: false,
            fast_count: 0,
            cut_at: Time::ZERO,
            adjusted_at: Time::ZERO,
        }
    }

    /// The average queueing delay.
    pub fn average(&self) -> Time {
        self.average
    }

    /// So many bytes have come that had not before.
    pub fn on_received(&mut self, bytes: i64) {
        self.achieved += bytes;
        self.received += bytes;
        self.ignored += bytes;
    }

    /// A round trip took so long.
    pub fn note_rtt(&mut self, rtt: Time) {
        if rtt < self.base_rtt {
            self.base_rtt = rtt;
            self.most = (1.5 * (rtt.0 as f64 / 1e6 * self.gains.rate.as_f64() / 8e6).floor()) as i64;
        }
    }

    /// The queueing delay of a valid sample, which counts in the average.
    pub fn sample(&mut self, rtt: Time, marked: bool) -> Time {
        self.note_rtt(rtt);
        self.count(rtt - self.base_rtt, marked)
    }

    /// A queueing delay counts in the average.
    pub fn count(&mut self, delay: Time, marked: bool) -> Time {
        let counted = match !marked && delay > self.gains.target {
            true => self.base_rtt.0 as f64 * 0.25,
            false => delay.0 as f64,
        };
        self.average = Time((G * counted + (1.0 - G) * self.average.0 as f64) as u64);
        delay
    }

    /// An ACK, of `bytes` that are new and a queueing delay, with so much in flight.
    pub fn on_ack(&mut self, now: Time, marked: bool, delay: Time, bytes: i64, in_flight: i64) {
        if self.adapts(now, false, marked, delay, in_flight) {
            return;
        }
        match (marked, delay >= self.gains.target) {
            (false, true) => self.increase = self.increase.saturating_add((self.gains.fair * bytes as f64) as u64),
            (false, false) => self.grow(delay, bytes),
            (true, true) => self.cut(now),
            (true, false) => {}
        }
        self.bound();
        if self.received > 8 * self.gains.least || now - self.adjusted_at > self.gains.rtt {
            self.cwnd = self.cwnd.saturating_add_unsigned(self.increase / self.cwnd as u64);
            if now - self.adjusted_at >= self.gains.rtt {
                self.cwnd = (self.cwnd as f64 + self.gains.eta) as i64;
                self.adjusted_at = now;
            }
            (self.increase, self.received) = (0, 0);
        }
        self.bound();
    }

    /// A packet of `bytes` was cut; `spared`: at the last hop, where the receiver controls too.
    pub fn on_nack(&mut self, now: Time, bytes: i64, spared: bool, in_flight: i64) {
        self.ignored += bytes;
        self.count(self.gains.rtt, true);
        self.armed = true;
        if !self.adapts(now, true, true, Time::ZERO, in_flight) && !spared {
            self.lose(bytes);
        }
    }

    /// A packet of `bytes` was lost.
    pub fn lose(&mut self, bytes: i64) {
        self.cwnd -= bytes;
        self.bound();
    }

    /// Quick adapt. Whether it acted, or ignores what comes.
    fn adapts(&mut self, now: Time, lost: bool, marked: bool, delay: Time, in_flight: i64) -> bool {
        let mut acts = self.ignored < self.to_ignore && marked;
        if !acts && now > self.adapts_at {
            let due = self.armed || lost || delay > self.gains.target * 4;
            if self.adapts_at != Time::ZERO && due && self.achieved < self.most >> GATE {
                self.cwnd = self.achieved.max(self.gains.least);
                (self.to_ignore, self.ignored, self.armed) = (in_flight, 0, false);
                acts = true;
            }
            self.achieved = 0;
            self.adapts_at = now + self.base_rtt + self.gains.target;
        }
        if acts {
            (self.increase, self.received) = (0, 0);
        }
        acts
    }

    /// No queue for more than a window: fast increase; else in proportion to what is missing to the target.
    fn grow(&mut self, delay: Time, bytes: i64) {
        self.fast_count = if delay < NO_QUEUE { self.fast_count + bytes } else { 0 };
        self.fast = delay < NO_QUEUE && (self.fast_count > self.cwnd || self.fast);
        if self.fast {
            self.cwnd = (self.cwnd as f64 + bytes as f64 * self.gains.fast) as i64;
            return;
        }
        let missing = (self.gains.target - delay).0 as f64;
        self.increase = self.increase.saturating_add((self.gains.alpha * bytes as f64 * missing) as u64);
    }

    fn cut(&mut self, now: Time) {
        (self.fast, self.fast_count) = (false, 0);
        let (average, target) = (self.average.0 as f64, self.gains.target.0 as f64);
        if average > target && now - self.cut_at > self.base_rtt {
            let by = (1.0 - GAMMA * (average - target) / average).max(LARGEST_CUT);
            self.cwnd = ((self.cwnd as f64 * by) as i64).max(self.gains.least);
            self.cut_at = now;
        }
    }

    fn bound(&mut self) {
        self.cwnd = self.cwnd.min(self.most).max(self.gains.least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A k = 8 fat tree at 100 Gb/s with links of 1 us.
    fn window(cwnd: i64) -> Nscc {
        let rtt = Time(14_027_520);
        let nscc = Nscc::new(rtt, rtt, Rate::gbps(100), Time(10_520_640), 4096, 64);
        Nscc { cwnd, ..nscc }
    }

    #[test]
    fn gains_are_those_of_the_fabric() {
        let Nscc { gains, most, .. } = window(0);
        assert!((gains.alpha - 0.00159602).abs() < 1e-8 && (gains.fair - 23_940.3).abs() < 0.05, "{gains:?}");
        assert!((gains.eta - 718.209).abs() < 5e-4 && (gains.fast - 0.29224).abs() < 1e-6, "{gains:?}");
        assert_eq!((most, most >> GATE), (263_016, 32_877));
    }

    /// The window after an ACK of 16,640 bytes, none of which is due for an adjustment, and after that adjustment.
    fn adjusted(delay_ns: u64) -> (u64, i64) {
        let mut nscc = window(100_000);
        nscc.on_ack(Time::us(1), false, Time::ns(delay_ns), 16_640, 0);
        let increase = nscc.increase;
        nscc.received = 40_000;
        nscc.gains.fair = 0.0;
        nscc.on_ack(Time::us(1), true, Time::ZERO, 0, 0);
        (increase, nscc.cwnd)
    }

    #[test]
    fn an_ack_without_a_mark_grows_the_window() {
        assert_eq!(adjusted(12_000), (398_366_605, 103_983));
        let (increase, cwnd) = adjusted(4000);
        assert!((173_160_000..173_180_000).contains(&increase), "{increase}");
        assert_eq!(cwnd, 101_731);
        let mut fast = Nscc { fast: true, ..window(100_000) };
        fast.on_ack(Time::us(1), false, Time::ns(500), 16_640, 0);
        assert_eq!(fast.cwnd, 104_862);
        // a round trip of the fabric later it gets its share of one
        let mut late = window(100_000);
        late.on_ack(Time::us(20), true, Time::ZERO, 0, 0);
        assert_eq!(late.cwnd, 100_718);
    }

    #[test]
    fn marks_above_the_target_cut_the_window_by_the_average_delay() {
        for (average, expected) in [(15, 76_110), (30, 50_000), (10, 100_000)] {
            let mut nscc = Nscc { average: Time::us(average), adjusted_at: Time::us(99), ..window(100_000) };
            nscc.on_ack(Time::us(100), true, Time::us(12), 4160, 0);
            assert_eq!(nscc.cwnd, expected);
        }
    }

    #[test]
    fn a_cut_packet_costs_its_bytes_and_counts_in_the_average() {
        let mut nscc = Nscc { average: Time::us(10), ..window(100_000) };
        nscc.on_nack(Time::us(1), 4160, false, 0);
        assert_eq!((nscc.cwnd, nscc.average), (95_840, Time(10_050_344)));
        // in the next period nothing has been achieved: the window falls to a packet
        nscc.on_nack(Time::us(100), 4160, false, 50_000);
        assert_eq!((nscc.cwnd, nscc.to_ignore), (4160, 50_000));
    }
}
