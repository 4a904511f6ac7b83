//! Changes of a run between one thread and several.
//!
//! Threads in step lose time at two barriers a window: where windows have little work, one thread alone is faster. A
//! run whose number of threads is `auto` begins alone. Windows with enough work make it try several threads. From then
//! on it keeps a balance: the estimated cost of the work on one thread, less the elapsed time. Several threads go on
//! while the balance is above a small loss. A failed try is repeated after a pause, which doubles.
//!
//! The cost of one thread is its processor time; that of several threads is the elapsed time. So a thread that waits
//! for a core counts against several threads, and never against one. Results do not depend on any of this.

use super::clock::{own_ns, wall_ns};

/// Windows passed, and hops in them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Done {
    /// Windows.
    pub windows: u64,
    /// Hops.
    pub hops: u64,
}

impl Done {
    /// Pieces of work. An empty window costs about as much as a hop.
    fn pieces(self) -> f64 {
        (self.windows + self.hops) as f64
    }
}

/// Returns the time in ns: elapsed time if `true`, processor time of this thread if `false`. The other arguments are
/// the work done so far alone and in step.
pub type Clock = fn(bool, Done, Done) -> u64;

/// Choice of the mode in a run with several threads available.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// One thread, from the first window to the last.
    Alone,
    /// All in step, from the first window to the last.
    InStep,
    /// The faster of both, by a clock.
    Quicker(Clock),
    /// Starts alone. The mode changes after each window for which the function returns true. For tests.
    Given(fn(u64) -> bool),
}

impl Rule {
    /// The faster of both, by the clocks of this machine.
    pub const AUTO: Rule = Rule::Quicker(|passes, _, _| if passes { wall_ns() } else { own_ns() });
}

// times in ns
const MS: f64 = 1e6;
/// Minimum work of a window for which several threads are tried. (In step, 16 pieces take 1 us less, and barriers 1 us
/// more.)
const MIN: f64 = 16.0;
/// Time for which the cost of one thread is measured before a try, if windows have [`DENSE`] pieces or more. With fewer
/// pieces, several threads gain less and may lose, so a try waits in proportion. Short runs have no try.
const SAMPLE: f64 = MS;
const DENSE: f64 = 512.0;
/// Several threads must take less than this fraction of one thread's time.
const WORTH: f64 = 0.97;
/// Negative balance at which threads part, and the upper bound of the balance. Threads that had gained survive a pause
/// of the machine.
const LOSS: f64 = 0.5 * MS;
const CREDIT: f64 = 8.0 * MS;
/// Pause after the first failure, and maximum number of times that it doubles.
const PAUSE: f64 = 50.0 * MS;
const DOUBLINGS: i32 = 6;
/// Fraction of the total time that failures may cost.
const SPENT: f64 = 1.0 / 64.0;
/// The cost of several threads is compared in chunks of this length with the first chunk.
const CHUNK: f64 = 16.0 * MS;
/// Time between two readings of the clock.
const LOOK_ALONE: f64 = 0.1 * MS;
const LOOK_IN_STEP: f64 = 0.02 * MS;

/// Mode of a run: alone or in step. Kept by the caller's thread only.
#[derive(Debug)]
pub struct ModeControl {
    rule: Rule,
    in_step: bool,
    /// Windows so far, and the sum of windows and hops at which the clock is read next.
    windows: u64,
    look_at: u64,
    /// Windows in step.
    stepped: u64,
    /// As of the last reading: all work, and the work in each mode.
    seen: Done,
    alone: Done,
    together: Done,
    /// Clock of the mode at the last reading. `None` if a stretch on one thread has just begun.
    at: Option<u64>,
    /// Cost of a piece of work on one thread, and recent number of pieces a window.
    cost: f64,
    density: f64,
    /// Current stretch: its length, and the balance without and with its bound.
    length: f64,
    gain: f64,
    credit: f64,
    /// Pieces and time of the current chunk, cost of a piece in the first chunk, and cost of the change of mode.
    chunk: (f64, f64),
    usual: Option<f64>,
    change: f64,
    /// Consecutive failures, and the pause before the next try.
    failures: i32,
    pause: f64,
}

/// Moving average.
fn mix(mean: f64, value: f64) -> f64 {
    if mean == 0.0 { value } else { mean + 0.25 * (value - mean) }
}

impl ModeControl {
    /// The mode of a run under `rule`.
    pub fn new(rule: Rule) -> ModeControl {
        let in_step = matches!(rule, Rule::InStep);
        let none = Done::default();
        ModeControl {
            rule,
            in_step,
            windows: 0,
            stepped: 0,
            look_at: if matches!(rule, Rule::Alone | Rule::InStep) { u64::MAX } else { 0 },
            seen: none,
            alone: none,
            together: none,
            at: None,
            cost: 0.0,
            density: 0.0,
            length: 0.0,
            gain: 0.0,
            credit: 0.0,
            chunk: (0.0, 0.0),
            usual: None,
            change: 0.0,
            failures: 0,
            pause: 0.0,
        }
    }

    /// True while threads run in step.
    pub fn is_in_step(&self) -> bool {
        self.in_step
    }

    /// True if threads always run in step.
    pub fn is_fixed(&self) -> bool {
        matches!(self.rule, Rule::InStep)
    }

    /// Number of windows in step so far.
    pub fn in_step(&self) -> u64 {
        self.stepped
    }

    /// Counts a window; `hops` is the total so far. Returns whether the mode changes.
    #[inline]
    pub fn passed(&mut self, hops: u64) -> bool {
        self.windows += 1;
        self.stepped += self.in_step as u64;
        self.windows + hops >= self.look_at && self.look(hops)
    }

    /// Stays alone to the end of the run: no other threads are available.
    pub fn stay_alone(&mut self) {
        (self.rule, self.in_step, self.look_at) = (Rule::Alone, false, u64::MAX);
    }

    #[cold]
    fn look(&mut self, hops: u64) -> bool {
        let changes = match self.rule {
            Rule::Alone | Rule::InStep => return false,
            Rule::Quicker(clock) => self.measure(hops, clock),
            Rule::Given(changes) => changes(self.windows),
        };
        self.in_step ^= changes;
        changes
    }

    fn measure(&mut self, hops: u64, clock: Clock) -> bool {
        let seen = Done { windows: self.windows, hops };
        let done = Done { windows: seen.windows - self.seen.windows, hops: seen.hops - self.seen.hops };
        self.seen = seen;
        let mode = if self.in_step { &mut self.together } else { &mut self.alone };
        (mode.windows, mode.hops) = (mode.windows + done.windows, mode.hops + done.hops);
        let now = clock(self.in_step, self.alone, self.together);
        let Some(before) = self.at.replace(now) else {
            // the change of mode is not work
            self.look_at = 0;
            return false;
        };
        let elapsed = now.saturating_sub(before) as f64;
        let interval = if self.in_step { LOOK_IN_STEP } else { LOOK_ALONE };
        let later = (done.pieces() * interval / elapsed.max(1.0)).clamp(1.0, 10_000.0);
        self.look_at = seen.windows + seen.hops + later as u64;
        self.density = mix(self.density, done.pieces() / done.windows as f64);
        self.length += elapsed;
        let changes = if self.in_step { self.part(done.pieces(), elapsed) } else { self.come(done.pieces(), elapsed) };
        if changes {
            (self.length, self.gain, self.credit) = (0.0, 0.0, 0.0);
            (self.chunk, self.usual, self.change) = ((0.0, 0.0), None, 0.0);
            // in step, the change of mode counts
            self.at = (!self.in_step).then(|| clock(true, self.alone, self.together));
            self.look_at = 0;
        }
        changes
    }

    /// Accounts for the work of one thread. Returns whether several threads should start.
    fn come(&mut self, pieces: f64, elapsed: f64) -> bool {
        self.cost = mix(self.cost, elapsed / pieces);
        let sample = SAMPLE * (DENSE / self.density).max(1.0);
        self.density >= MIN && self.length >= self.pause.max(sample)
    }

    /// Accounts for the work of several threads. Returns whether they should part.
    fn part(&mut self, pieces: f64, elapsed: f64) -> bool {
        if self.change == 0.0 {
            self.change = elapsed.max(1.0);
        }
        let gain = pieces * self.cost * WORTH - elapsed;
        self.gain += gain;
        self.credit = (self.credit + gain).min(CREDIT);
        let loses = self.credit < -LOSS || self.density < MIN / 2.0;
        if loses {
            self.failures = if self.gain > 0.0 { 0 } else { self.failures + 1 };
            let pause = PAUSE * f64::from(1 << (self.failures - 1).clamp(0, DOUBLINGS));
            self.pause = if self.failures == 0 { 0.0 } else { pause.max(-self.gain / SPENT) };
        }
        loses || self.is_out_of_date(pieces, elapsed)
    }

    /// True if the cost of one thread should be measured again: that of several threads is close to it and has changed
    /// since the first chunk.
    fn is_out_of_date(&mut self, pieces: f64, elapsed: f64) -> bool {
        self.chunk = (self.chunk.0 + pieces, self.chunk.1 + elapsed);
        if self.chunk.1 < CHUNK {
            return false;
        }
        let cost = self.chunk.1 / self.chunk.0;
        self.chunk = (0.0, 0.0);
        let usual = *self.usual.get_or_insert(cost);
        let changed = cost > 0.7 * self.cost && !(0.8..1.25).contains(&(cost / usual));
        let anew = changed && self.length * SPENT > 2.0 * self.change + SAMPLE;
        self.pause = if anew { 0.0 } else { self.pause };
        anew
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Done, ModeControl, Rule};

    /// Clock of an idle machine: 100 ns for a piece alone; in step two threads share it, and a window takes 1 us more.
    fn free(_: bool, alone: Done, together: Done) -> u64 {
        let ns = |done: Done, of_piece: u64| (done.windows + done.hops) * of_piece;
        ns(alone, 100) + ns(together, 50) + together.windows * 1_000
    }

    /// Clock on a loaded machine: another program occupies the core of the second thread, and a window in step waits 1
    /// ms for it.
    fn loaded(_: bool, alone: Done, together: Done) -> u64 {
        free(true, alone, Done::default()) + together.windows * 1_000_000
    }

    /// Number of windows in step out of `windows`, and of changes of mode. Window `i` has `hops(i)` hops.
    fn in_step(clock: Clock, windows: u64, hops: impl Fn(u64) -> u64) -> (u64, u64) {
        let mut mode = ModeControl::new(Rule::Quicker(clock));
        let (mut in_step, mut changes, mut all) = (0, 0, 0);
        for i in 0..windows {
            in_step += mode.is_in_step() as u64;
            all += hops(i);
            changes += mode.passed(all) as u64;
        }
        (in_step, changes)
    }

    #[test]
    fn sparse_windows_are_one_threads() {
        assert_eq!(in_step(free, 1_000_000, |_| 10), (0, 0));
        assert_eq!(in_step(free, 1_000_000, |i| (i % 50 == 0) as u64 * 400), (0, 0));
    }

    #[test]
    fn dense_windows_are_all_threads() {
        // all except 1 ms, in which the cost of one thread is measured
        let (windows, changes) = in_step(free, 100_000, |_| 1_000);
        assert!(windows > 99_900 && changes == 1, "{windows}, {changes}");
    }

    #[test]
    fn short_runs_of_sparse_windows_have_no_try() {
        // 64 pieces a window, 6.4 us: the sample takes 8 ms, 1,250 windows
        assert_eq!(in_step(free, 1_200, |_| 63).1, 0);
        assert_eq!(in_step(free, 1_500, |_| 63).1, 1);
    }

    #[test]
    fn threads_that_lose_are_tried_less_and_less() {
        // 18 pieces: 1.8 us alone, 1.9 us in step
        let (windows, changes) = in_step(free, 1_000_000, |_| 17);
        assert!(changes >= 4 && changes.is_multiple_of(2), "{changes}");
        assert!(windows < 30_000, "{windows}");
    }

    #[test]
    fn a_busy_machine_is_left_alone() {
        let (windows, changes) = in_step(loaded, 20_000, |_| 1_000);
        assert!((2..=14).contains(&changes) && windows <= changes, "{windows}, {changes}");
    }

    #[test]
    fn threads_come_and_go_with_the_work() {
        // alternates 0.5 s and 4 ms of each: the end of the work is noticed after some 400 windows of 1.2 us
        let hops = |i: u64| if i / 10_000 % 2 == 0 { 1_000 } else { 3 };
        let (windows, changes) = in_step(free, 100_000, hops);
        assert_eq!(changes, 10);
        assert!((49_500..52_500).contains(&windows), "{windows}");
    }

    #[test]
    fn a_pause_of_the_machine_does_not_part_threads_that_gain() {
        fn hiccup(passes: bool, alone: Done, together: Done) -> u64 {
            free(passes, alone, together) + if together.windows > 5_000 { 5_000_000 } else { 0 }
        }
        assert_eq!(in_step(hiccup, 100_000, |_| 1_000).1, 1);
    }

    #[test]
    fn the_cost_of_one_thread_is_measured_anew_when_that_of_several_changes() {
        // first two threads gain, then the work per piece shrinks, and the cost of barriers does not
        fn lighter(passes: bool, alone: Done, together: Done) -> u64 {
            let late = Done { windows: together.windows.saturating_sub(50_000), hops: 0 };
            free(passes, alone, together) + late.windows * 1_200
        }
        // 5 us alone, 3.5 us in step at first, and 4.7 us later
        let (windows, changes) = in_step(lighter, 200_000, |_| 49);
        assert!(changes >= 3 && windows > 190_000, "{windows}, {changes}");
    }

    #[test]
    fn a_rule_that_is_given_is_kept() {
        let mut mode = ModeControl::new(Rule::Given(|window| window % 3 == 0));
        let forms: Vec<bool> = (0..8)
            .map(|hops| {
                mode.passed(hops);
                mode.is_in_step()
            })
            .collect();
        assert_eq!(forms, [false, false, true, true, true, false, false, false]);
        mode.passed(8);
        assert!(mode.is_in_step());
        mode.stay_alone();
        assert!(!mode.is_in_step() && !mode.passed(9) && !mode.passed(10));
        assert!(ModeControl::new(Rule::InStep).is_in_step() && !ModeControl::new(Rule::Alone).is_in_step());
    }
}
