//! NSCC: sender window from queueing delay and marks. The reaction to an ACK depends on its quadrant (mark or not,
//! delay above or below the target). Trimmed packets and long delays let the window fall to what has arrived (quick
//! adapt).

use incast_cc::{Rate, Time};

/// Reference of the gains: bytes of 12 us at 100 Gb/s.
const REFERENCE_BYTES: f64 = 150_000.0;
/// Reference of the gains: 12 us, in ps.
const REFERENCE_RTT: f64 = 12e6;
/// Delays below this count as no queue.
const NO_QUEUE: Time = Time::us(1);
/// Weight of a sample in the average delay.
const G: f64 = 0.0125;
/// Weight of a reduction, and the smallest factor that one applies.
const GAMMA: f64 = 0.8;
const LARGEST_CUT: f64 = 0.5;
/// Quick adapt applies if less than the largest window, shifted right by this, has arrived.
const GATE: u32 = 3;

/// Constants of a flow.
#[derive(Clone, Debug)]
struct Gains {
    alpha: f64,
    fair: f64,
    eta: f64,
    fast: f64,
    target: Time,
    /// Round-trip time of the fabric.
    rtt: Time,
    min: i64,
    rate: Rate,
}

/// Congestion window.
#[derive(Clone, Debug)]
pub struct Nscc {
    gains: Gains,
    /// Window and its upper bound, in bytes.
    pub cwnd: i64,
    pub max: i64,
    /// Smallest round-trip time so far.
    pub base_rtt: Time,
    average: Time,
    increase: u64,
    received: i64,
    /// Bytes since the last quick adapt, and number of these to ignore.
    ignored: i64,
    to_ignore: i64,
    achieved: i64,
    adapts_at: Time,
    /// Set if a packet was trimmed.
    armed: bool,
    fast: bool,
    fast_count: i64,
    cut_at: Time,
    adjusted_at: Time,
}

/// Whole bytes of a time at a rate.
fn bytes(time: Time, rate: Rate) -> i64 {
    (time.as_secs_f64() * (rate.0 / 8) as f64) as i64
}

/// Upper bound of the window: 1.5 bandwidth-delay products.
pub fn largest_window(rtt: Time, rate: Rate) -> i64 {
    (1.5 * bytes(rtt, rate) as f64) as i64
}

impl Nscc {
    /// Window for a fabric of round-trip time `rtt`, between hosts of `base_rtt` at `rate`. `target`: queueing delay to
    /// aim at.
    pub fn new(rtt: Time, base_rtt: Time, rate: Rate, target: Time, mss: u32, header: u32) -> Nscc {
        let (a, b) = (bytes(rtt, rate) as f64 / REFERENCE_BYTES, target.0 as f64 / REFERENCE_RTT);
        let mss = mss as f64;
        let max = largest_window(base_rtt, rate);
        Nscc {
            gains: Gains {
                alpha: 4.0 * mss * a * b / target.0 as f64,
                fair: 5.0 * mss * a,
                eta: 0.15 * mss * a,
                fast: 0.25 * a,
                target,
                rtt,
                min: mss as i64 + header as i64,
                rate,
            },
            cwnd: max,
            max,
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

    /// Average queueing delay.
    pub fn average(&self) -> Time {
        self.average
    }

    /// Counts newly received bytes.
    pub fn on_received(&mut self, bytes: i64) {
        self.achieved += bytes;
        self.received += bytes;
        self.ignored += bytes;
    }

    /// Updates the smallest round-trip time.
    pub fn note_rtt(&mut self, rtt: Time) {
        if rtt < self.base_rtt {
            self.base_rtt = rtt;
            self.max = (1.5 * (rtt.0 as f64 / 1e6 * self.gains.rate.as_f64() / 8e6).floor()) as i64;
        }
    }

    /// Adds a valid RTT sample. Returns its queueing delay.
    pub fn sample(&mut self, rtt: Time, marked: bool) -> Time {
        self.note_rtt(rtt);
        self.count(rtt - self.base_rtt, marked)
    }

    /// Adds a queueing delay to the average.
    pub fn count(&mut self, delay: Time, marked: bool) -> Time {
        let counted = match !marked && delay > self.gains.target {
            true => self.base_rtt.0 as f64 * 0.25,
            false => delay.0 as f64,
        };
        self.average = Time((G * counted + (1.0 - G) * self.average.0 as f64) as u64);
        delay
    }

    /// Handles an ACK of `bytes` new bytes with a queueing delay.
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
        if self.received > 8 * self.gains.min || now - self.adjusted_at > self.gains.rtt {
            self.cwnd = self.cwnd.saturating_add_unsigned(self.increase / self.cwnd as u64);
            if now - self.adjusted_at >= self.gains.rtt {
                self.cwnd = (self.cwnd as f64 + self.gains.eta) as i64;
                self.adjusted_at = now;
            }
            (self.increase, self.received) = (0, 0);
        }
        self.bound();
    }

    /// Handles the NACK of a trimmed packet of `bytes`. `spared`: it was trimmed at the last hop, where the receiver
    /// controls too.
    pub fn on_nack(&mut self, now: Time, bytes: i64, spared: bool, in_flight: i64) {
        self.ignored += bytes;
        self.count(self.gains.rtt, true);
        self.armed = true;
        if !self.adapts(now, true, true, Time::ZERO, in_flight) && !spared {
            self.lose(bytes);
        }
    }

    /// Reduces the window by a lost packet of `bytes`.
    pub fn lose(&mut self, bytes: i64) {
        self.cwnd -= bytes;
        self.bound();
    }

    /// Quick adapt. Returns true if it acted, or if the feedback is to be ignored.
    fn adapts(&mut self, now: Time, lost: bool, marked: bool, delay: Time, in_flight: i64) -> bool {
        let mut acts = self.ignored < self.to_ignore && marked;
        if !acts && now > self.adapts_at {
            let due = self.armed || lost || delay > self.gains.target.saturating_mul(4);
            if self.adapts_at != Time::ZERO && due && self.achieved < self.max >> GATE {
                self.cwnd = self.achieved.max(self.gains.min);
                (self.to_ignore, self.ignored, self.armed) = (in_flight, 0, false);
                acts = true;
            }
            self.achieved = 0;
            self.adapts_at = (now + self.base_rtt).saturating_add(self.gains.target);
        }
        if acts {
            (self.increase, self.received) = (0, 0);
        }
        acts
    }

    /// Increases the window: fast increase after more than a window without a queue, else in proportion to the distance
    /// from the target.
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
            self.cwnd = ((self.cwnd as f64 * by) as i64).max(self.gains.min);
            self.cut_at = now;
        }
    }

    fn bound(&mut self) {
        self.cwnd = self.cwnd.min(self.max).max(self.gains.min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Window in a k = 8 fat tree at 100 Gb/s with links of 1 us.
    fn window(cwnd: i64) -> Nscc {
        let rtt = Time(14_027_520);
        let nscc = Nscc::new(rtt, rtt, Rate::gbps(100), Time(10_520_640), 4096, 64);
        Nscc { cwnd, ..nscc }
    }

    #[test]
    fn gains_are_those_of_the_fabric() {
        let Nscc { gains, max, .. } = window(0);
        assert!((gains.alpha - 0.00159602).abs() < 1e-8 && (gains.fair - 23_940.3).abs() < 0.05, "{gains:?}");
        assert!((gains.eta - 718.209).abs() < 5e-4 && (gains.fast - 0.29224).abs() < 1e-6, "{gains:?}");
        assert_eq!((max, max >> GATE), (263_016, 32_877));
    }

    /// Increase after an ACK of 16,640 bytes before its adjustment is due, and window after the adjustment.
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
        // one fabric round trip later the window grows by eta
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
        // nothing was achieved in the next period: the window falls to one packet
        nscc.on_nack(Time::us(100), 4160, false, 50_000);
        assert_eq!((nscc.cwnd, nscc.to_ignore), (4160, 50_000));
    }
}
