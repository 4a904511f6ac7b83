//! Runs of a scenario: by every engine, with several partitions, threads and observations. Their outcomes must be
//! equal to the byte.

use crate::laws::{self, Broken};
use crate::random::Random;
use incast_cc::Time;
use incast_engine::Progress;
use incast_engine::spec::{RunError, Spec, TimelineSpec};
use incast_engine::testing::windows::{self, Threads};
use incast_engine::testing::{Rule, Simulation, Visit, reference};
use incast_record::{Outcome, summary};
use std::fmt::Write;
use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Number of parts of a run at whose ends its hops are counted.
const PARTS: u64 = 128;
/// Processor time of one run above which it counts as hanging.
const HANGS: Duration = Duration::from_secs(10);

/// A clock of one run.
struct Clock {
    begin: Duration,
}

impl Clock {
    fn start() -> Clock {
        Clock { begin: Clock::now() }
    }

    /// Processor time of this thread only; wall time if the system does not provide it.
    fn now() -> Duration {
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok();
        let ns = schedstat.and_then(|text| text.split(' ').next()?.parse().ok());
        ns.map_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), Duration::from_nanos)
    }

    fn goes_on(&self) -> bool {
        Clock::now().saturating_sub(self.begin) < HANGS
    }
}

/// Runs of one scenario, and the first error found.
pub struct Judged {
    /// Number of runs.
    pub runs: u64,
    /// Hops of one run.
    pub hops: u64,
    /// First broken law.
    pub broken: Option<Broken>,
}

/// A run of at most `hops` hops.
pub enum Cut {
    /// All of it.
    Whole(Box<Outcome>),
    /// The run has more; the end of a part of it.
    At(Time),
}

/// Runs a scenario until it exceeds `hops` hops.
pub fn cut(spec: &Spec, hops: u64) -> Result<Cut, RunError> {
    let mut spec = Spec { threads: Some(1), ..spec.clone() };
    let mut looked_closer = 0;
    loop {
        let every = Time((spec.duration.0 / PARTS).max(1));
        spec.progress_every = Some(every);
        let (mut next, mut end) = (every, None);
        let clock = Clock::start();
        let mut listener = |progress: Progress| {
            if progress.hops > 40 * hops {
                end = Some(next);
            }
            if progress.now >= next {
                next = Time((progress.now.0 / every.0 + 1) * every.0);
                if progress.hops > hops {
                    end = Some(Time(progress.now.0 / every.0 * every.0));
                }
            }
            end.is_none() && clock.goes_on()
        };
        match incast_engine::run(&spec, &mut listener) {
            Ok(outcome) if looked_closer == 0 => return Ok(Cut::Whole(Box::new(outcome))),
            Ok(_) => return Ok(Cut::At(spec.duration)),
            Err(RunError::Stopped) => {}
            Err(error) => return Err(error),
        }
        let Some(end) = end else { return Err(RunError::Stopped) };
        if end > every || every == Time(1) {
            return Ok(Cut::At(end));
        }
        looked_closer += 1;
        // all hops are in the first part: divide it again
        (spec.duration, spec.measure_from, spec.measure_to) = (every, Time::ZERO, every);
    }
}

/// The outcome of a plain run.
pub fn plain(spec: &Spec) -> Result<Outcome, RunError> {
    windows_run(&Spec { threads: Some(1), ..spec.clone() }, Visit::Forward, Threads::Own(1))
}

/// Runs a scenario in other ways that `random` chooses, and compares with `first`, the outcome of a plain run.
pub fn judge(spec: &Spec, first: Outcome, random: &mut Random) -> Judged {
    let mut judged = Judged { runs: 1, hops: first.hops, broken: None };
    let text = format!("{first:?}");
    let broken = laws::broken(spec, &first).or_else(|| all_numbers(&text)).or_else(|| sound_summary(&first));
    judged.broken = broken.or_else(|| compare(spec, &text, random, &mut judged.runs));
    if judged.broken.is_none() && random.chance(0.6) {
        judged.runs += 1;
        judged.broken = observed_otherwise(spec, first, random);
    }
    judged
}

fn windows_run(spec: &Spec, visit: Visit, threads: Threads) -> Result<Outcome, RunError> {
    let clock = Clock::start();
    windows::run(Simulation::new(spec)?, visit, threads, &mut |_| clock.goes_on())
}

/// Checks that no figure is infinite or not a number. A point of a time series may be missing, which is no number.
fn all_numbers(text: &str) -> Option<Broken> {
    let missing = ["value: NaN", "value: number"];
    let text = text.replace(missing[0], missing[1]);
    let at = ["NaN", ": inf", ": -inf", "(inf", "(-inf", "[inf", ", inf"].iter().find_map(|word| text.find(word))?;
    let around: String = text[text.floor_char_boundary(at.saturating_sub(200))..].chars().take(260).collect();
    Some(Broken::new("figures are numbers", around))
}

/// Checks that no figure of the summary is infinite.
fn sound_summary(outcome: &Outcome) -> Option<Broken> {
    let text = summary::summary_text(&summary::summarize(outcome, "fuzz", "0"));
    let at = ["NaN", "inf,", "Infinity"].iter().find_map(|word| text.find(word))?;
    Some(Broken::new(
        "figures of the summary are numbers",
        text[at.saturating_sub(100)..].chars().take(200).collect::<String>(),
    ))
}

/// Runs the scenario with the reference engine, and with the engine of windows with 3 and 7 threads under some
/// partitions and visiting orders; these threads work from the first window on or only now and then.
fn compare(spec: &Spec, text: &str, random: &mut Random, runs: &mut u64) -> Option<Broken> {
    let nodes = spec.node_names.len() as u32;
    let partition = |random: &mut Random| match random.below(4) {
        0 => ("one domain", vec![0; nodes as usize]),
        1 => ("a domain a node", (0..nodes).collect()),
        2 => ("as given", spec.domain_of.clone()),
        _ => ("drawn", (0..nodes).map(|_| random.below(u64::from(nodes)) as u32).collect()),
    };
    let (own, changing) = (random.chance(0.15), random.chance(0.3));
    // always the reference engine, and two of the others
    let left_out = *random.one(&[1, 3, 7]);
    for threads in [0, 1, 3, 7].into_iter().filter(|threads| *threads != left_out) {
        let (name, domain_of) = if threads == 0 { ("as given", spec.domain_of.clone()) } else { partition(random) };
        let visit = *random.one(&[Visit::Forward, Visit::Reverse, Visit::Shuffled]);
        let spec = Spec { threads: Some(threads.max(1)), domain_of: dense(domain_of), ..spec.clone() };
        *runs += 1;
        let most = threads as usize;
        let how = match own {
            _ if changing => Threads::By(Rule::Given(|window| window % 3 == 2), most, !own),
            true => Threads::Own(most),
            false => Threads::Sequential(most),
        };
        let (who, other) = match threads {
            0 => ("the reference engine".to_owned(), Simulation::new(&spec).and_then(reference::run)),
            n => (format!("{n} threads, {name}, {visit:?}, {how:?}"), windows_run(&spec, visit, how)),
        };
        match other {
            Ok(other) => {
                if let Some(difference) = different(text, &other) {
                    let law = if threads == 0 { "reference engine" } else { "partitions and threads" };
                    return Some(Broken::new(format!("the same bytes by {law}"), format!("{who}: {difference}")));
                }
            }
            Err(error) => return Some(Broken::new("every engine takes it", format!("{who}: {error}"))),
        }
    }
    None
}

/// Renumbers without gaps, as specifications require.
fn dense(domain_of: Vec<u32>) -> Vec<u32> {
    let mut used = domain_of.clone();
    used.sort_unstable();
    used.dedup();
    domain_of.iter().map(|d| used.partition_point(|u| u < d) as u32).collect()
}

/// First difference between outcomes, if any.
fn different(text: &str, other: &Outcome) -> Option<String> {
    let mut of_other = String::with_capacity(text.len());
    let _ = write!(of_other, "{other:?}");
    if of_other == text {
        return None;
    }
    let at = text.bytes().zip(of_other.bytes()).position(|(a, b)| a != b).unwrap_or(text.len().min(of_other.len()));
    let part = |text: &str| {
        let from = text.floor_char_boundary(at.saturating_sub(160));
        text[from..].chars().take(220).collect::<String>()
    };
    Some(format!("\n  {}\nand\n  {}", part(text), part(&of_other)))
}

/// Runs the scenario with other observations: none if it has some, all if it has none.
fn observed_otherwise(spec: &Spec, first: Outcome, random: &mut Random) -> Option<Broken> {
    let mut other = Spec { threads: Some(1), ..spec.clone() };
    let o = &mut other.observe;
    if o.trace.is_empty() && o.flows.is_empty() && o.ports.is_empty() && o.timeline.is_none() && o.pauses.is_none() {
        let flows = spec.flows.len() as u32;
        o.flows = (0..flows).filter(|_| random.chance(0.5)).collect();
        o.trace = (0..flows).filter(|_| random.chance(0.3)).collect();
        o.ports = (0..spec.links.len() as u32).filter(|_| random.chance(0.5)).collect();
        if random.chance(0.7) {
            o.timeline = Some(TimelineSpec { every: Time((spec.duration.0 / 100).max(1_000)), most: 200 });
        }
        o.pauses = random.chance(0.5).then_some(1_000);
    } else {
        (o.trace, o.flows, o.ports, o.timeline, o.pauses) = (Vec::new(), Vec::new(), Vec::new(), None, None);
    }
    let bare = |o: Outcome| Outcome {
        samples: Vec::new(),
        port_frames: Default::default(),
        flow_frames: Default::default(),
        timeline_events: Vec::new(),
        paths: Vec::new(),
        frame_ps: None,
        trace: Vec::new(),
        pauses: Default::default(),
        ..o
    };
    match windows_run(&other, Visit::Forward, Threads::Own(1)) {
        Ok(seen) => {
            let text = format!("{:?}", bare(first));
            different(&text, &bare(seen)).map(|what| Broken::new("the same bytes however it is observed", what))
        }
        Err(error) => Some(Broken::new("every engine takes it", format!("observed otherwise: {error}"))),
    }
}
