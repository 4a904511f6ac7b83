//! Rate of a receiver's credits, controlled by their losses. Pure.

use crate::spec::{ExpressPass, Feedback};
use incast_cc::Time;

/// Rate control of a receiver.
#[derive(Clone, Debug)]
pub struct Control {
    /// Share of the maximum rate.
    rate: f64,
    weight: f64,
    /// The last change was an increase.
    rising: bool,
    /// Moving average of the round trip from a credit to its data.
    rtt: Option<Time>,
    /// Time of the last change, and since then: credits accounted for by data, and lost ones among them.
    since: Time,
    total: u32,
    lost: u32,
}

impl Control {
    /// State before the first request.
    pub fn new() -> Control {
        Control { rate: 1.0, weight: 0.0, rising: false, rtt: None, since: Time::ZERO, total: 0, lost: 0 }
    }

    /// Starts a session for a sender that asks at `now` for credit for `packets` packets.
    pub fn begin(&mut self, own: &ExpressPass, now: Time, packets: u32) {
        let part = if packets < own.ramp { packets as f64 / own.ramp as f64 } else { 1.0 };
        (self.rate, self.weight, self.rising) = (own.alpha * part, own.weight, false);
        (self.since, self.total, self.lost) = (now, 0, 0);
    }

    /// Share of the maximum rate.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Counts data for a credit sent `rtt` ago, with `lost` credits lost before it.
    pub fn arrived(&mut self, rtt: Time, lost: u32) {
        self.rtt = Some(self.rtt.map_or(rtt, |mean| Time((0.8 * mean.0 as f64 + 0.2 * rtt.0 as f64) as u64)));
        self.total += lost + 1;
        self.lost += lost;
    }

    /// Updates the rate before a credit is sent, once per round trip. `gap` is the time between credits at the maximum
    /// rate.
    pub fn change(&mut self, own: &ExpressPass, now: Time, gap: Time) {
        let Some(rtt) = self.rtt else { return };
        let took = now - self.since;
        if took < rtt || self.total == 0 {
            return;
        }
        // rate of `credits` in `time`, as a share of the maximum
        let share = |credits: f64, time: Time| credits * gap.0 as f64 / time.0.max(1) as f64;
        let loss = self.lost as f64 / self.total as f64;
        let (before, received) = (self.rate, (self.total - self.lost) as f64);
        let target = match own.feedback {
            Feedback::Code => (1.0 - before) * own.target_loss,
            Feedback::Paper => own.target_loss,
        };
        let congested = loss > target;
        self.rate = match own.feedback {
            Feedback::Code if congested => before.min(share(received, took) * (1.0 + target)),
            Feedback::Paper if congested => before * (1.0 - loss) * (1.0 + target),
            Feedback::Code | Feedback::Paper => {
                if self.rising {
                    self.weight = match own.feedback {
                        Feedback::Code => (self.weight + 0.05).min(0.5),
                        Feedback::Paper => (self.weight + 0.5) / 2.0,
                    };
                }
                let goal = if own.feedback == Feedback::Paper { 1.0 + target } else { 1.0 };
                (1.0 - self.weight) * before + self.weight * goal
            }
        };
        if congested {
            self.weight = (self.weight / 2.0).max(own.min_weight);
        }
        self.rising = !congested;
        self.rate = self.rate.max(share(1.0, rtt)).min(1.0);
        (self.since, self.total, self.lost) = (now, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time of 84 + 1538 bytes at 10 Gb/s.
    const GAP: Time = Time(1622 * 800);
    /// Time of 200 credits at the maximum rate.
    const RTT: Time = Time(200 * GAP.0);

    fn own(feedback: Feedback) -> ExpressPass {
        let target_loss = if feedback == Feedback::Code { 0.125 } else { 0.1 };
        ExpressPass {
            credit_min: 76,
            credit_max: 92,
            alpha: 0.5,
            ramp: 40,
            feedback,
            target_loss,
            weight: 0.0625,
            min_weight: 0.01,
            jitter: 0.1,
            early_stop: true,
        }
    }

    /// Rate and weight after round trips, each with a number of arrived and of lost credits.
    fn after(feedback: Feedback, rounds: &[(u32, u32)]) -> (f64, f64) {
        let own = own(feedback);
        let mut control = Control::new();
        control.begin(&own, Time::ZERO, 1000);
        for (i, (received, lost)) in (1..).zip(rounds) {
            control.arrived(RTT, *lost);
            (1..*received).for_each(|_| control.arrived(RTT, 0));
            control.change(&own, RTT * i, GAP);
        }
        (control.rate, control.weight)
    }

    fn near(a: (f64, f64), b: (f64, f64)) {
        assert!((a.0 - b.0).abs() < 1e-5 && (a.1 - b.1).abs() < 1e-9, "{a:?} {b:?}");
    }

    #[test]
    fn quiet_round_trips_bring_the_rate_near_the_greatest() {
        near(after(Feedback::Code, &[(100, 0)]), (0.53125, 0.0625));
        near(after(Feedback::Code, &[(100, 0), (100, 0)]), (0.583_984, 0.1125));
        // distance to the maximum: half, times 1 - w for each w: 0.0625, 0.1125 ... 0.4625, and three of 0.5
        near(after(Feedback::Code, &[(100, 0); 12]), (0.996_499_3, 0.5));
        near(after(Feedback::Paper, &[(100, 0)]), (0.5375, 0.0625));
        near(after(Feedback::Paper, &[(100, 0), (100, 0)]), (0.695_703_1, 0.28125));
        // losses up to the target are ignored: 1/16 of the unused half, or a tenth
        near(after(Feedback::Code, &[(94, 6)]), (0.53125, 0.0625));
        near(after(Feedback::Paper, &[(90, 10)]), (0.5375, 0.0625));
    }

    #[test]
    fn losses_bring_it_to_what_has_arrived() {
        // 80 of 100 arrive in the time of 200: 85 of 200 are next; in the paper's form, 0.5 less a fifth, plus a tenth
        near(after(Feedback::Code, &[(80, 20)]), (0.425, 0.03125));
        near(after(Feedback::Paper, &[(80, 20)]), (0.44, 0.03125));
        // the first round trip without loss does not raise the weight
        near(after(Feedback::Code, &[(80, 20), (80, 0)]), (0.03125 + 0.96875 * 0.425, 0.03125));
        // 1 of 100: one credit a round trip plus 1/16, then no lower; the weight stays at its minimum
        near(after(Feedback::Code, &[(1, 99); 4]), (1.0625 / 200.0, 0.01));
    }

    #[test]
    fn short_messages_begin_slower() {
        let (own, mut control) = (own(Feedback::Code), Control::new());
        for (packets, rate) in [(1, 0.0125), (20, 0.25), (39, 0.4875), (40, 0.5), (9999, 0.5)] {
            control.begin(&own, Time::ZERO, packets);
            assert!((control.rate() - rate).abs() < 1e-12, "{packets}");
        }
        // nothing changes before data has arrived
        control.change(&own, RTT * 9, GAP);
        assert_eq!(control.rate(), 0.5);
    }
}
