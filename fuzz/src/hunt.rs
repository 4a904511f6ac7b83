//! A hunt: tries scenarios one after the other, in worker processes, so that a hanging or dying worker affects
//! nothing else. A journal has one line per scenario; an interrupted hunt resumes after it.

use crate::case::{self, Case};
use crate::grammar;
use crate::laws::Broken;
use crate::shrink;
use crate::trial::{self, Verdict};
use incast_scenario::schema;
use incast_scenario::text::schema::Schema;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Number of scenarios to shrink per broken law; of the others only the numbers are kept.
const SHRUNK: u64 = 1;
/// Time without output of a worker after which it counts as hanging.
const SILENT: Duration = Duration::from_secs(300);

/// Options of a hunt.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Seed of all scenarios.
    pub seed: u64,
    /// Number of scenarios, from number 0.
    pub count: u64,
    /// Time limit, if any.
    pub minutes: Option<f64>,
    /// Number of workers.
    pub cores: u64,
    /// Tries scenarios again that broke a law.
    pub again: bool,
    /// Laws known to be broken: counted, and kept apart.
    pub apart: Vec<String>,
    /// Folder of journals and findings.
    pub out: PathBuf,
}

impl Asked {
    fn folder(&self) -> PathBuf {
        self.out.join(format!("seed-{}", self.seed))
    }
}

/// Totals of the journal.
#[derive(Default)]
struct Counts {
    done: HashSet<u64>,
    held: u64,
    refused: u64,
    problems: u64,
    runs: u64,
    hops: u64,
    cpu_ms: u64,
    broken: BTreeMap<String, Vec<u64>>,
    places: BTreeSet<String>,
}

impl Counts {
    /// Adds a line: `NUMBER held|refused PROBLEMS RUNS HOPS MS`, `NUMBER broken PROBLEMS MS LAW`, `place PLACE`.
    fn take(&mut self, line: &str) {
        if let Some(place) = line.strip_prefix("place ") {
            self.places.insert(place.to_owned());
            return;
        }
        let parts: Vec<&str> = line.splitn(5, ' ').collect();
        let number = |i: usize| parts.get(i).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        let Some(Ok(scenario)) = parts.first().map(|n| n.parse()) else { return };
        // a scenario that broke a law may have been tried again
        self.done.insert(scenario);
        self.broken.values_mut().for_each(|numbers| numbers.retain(|n| *n != scenario));
        self.problems += number(2);
        self.cpu_ms += number(3);
        let rest = parts.get(4).copied().unwrap_or_default();
        match parts.get(1).copied() {
            Some("held") => {
                let (runs, hops) = rest.split_once(' ').unwrap_or_default();
                self.held += 1;
                self.runs += runs.parse::<u64>().unwrap_or(0);
                self.hops += hops.parse::<u64>().unwrap_or(0);
            }
            Some("refused") => self.refused += 1,
            _ => self.broken.entry(rest.to_owned()).or_default().push(scenario),
        }
    }
}

/// Hunts, prints the counts, and returns whether every law held, except those kept apart.
pub fn hunt(asked: &Asked) -> io::Result<bool> {
    let folder = asked.folder();
    fs::create_dir_all(&folder)?;
    let path = folder.join("journal");
    let mut counts = Counts::default();
    if let Ok(journal) = File::open(&path) {
        BufReader::new(journal).lines().map_while(Result::ok).for_each(|line| counts.take(&line));
    }
    if asked.again {
        let broken: HashSet<u64> = counts.broken.values().flatten().copied().collect();
        counts.done.retain(|number| !broken.contains(number));
    }
    let before = counts.done.iter().filter(|n| **n < asked.count).count();
    if before > 0 {
        println!("{before} scenarios of seed {} are done; going on ({})", asked.seed, path.display());
    }
    let journal = OpenOptions::new().create(true).append(true).open(&path)?;
    let begin = Instant::now();
    let supervised: Vec<_> = (0..asked.cores)
        .map(|worker| {
            let left: Vec<u64> =
                (0..asked.count).filter(|n| n % asked.cores == worker && !counts.done.contains(n)).collect();
            let (asked, journal) = (asked.clone(), journal.try_clone());
            thread::spawn(move || supervise(&asked, worker, left, &mut journal?, begin))
        })
        .collect();
    let lines: io::Result<Vec<Vec<String>>> =
        supervised.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect();
    lines?.iter().flatten().for_each(|line| counts.take(line));
    Ok(report(asked, counts, begin.elapsed()))
}

/// Runs one worker until its scenarios are done, and restarts it if it hangs or dies; passes on its lines. An error
/// if it dies without output.
fn supervise(
    asked: &Asked,
    worker: u64,
    mut left: Vec<u64>,
    journal: &mut File,
    begin: Instant,
) -> io::Result<Vec<String>> {
    let over = || asked.minutes.is_some_and(|minutes| begin.elapsed().as_secs_f64() > minutes * 60.0);
    let mut all = Vec::new();
    while !left.is_empty() && !over() {
        let (mut child, lines) = start(asked, worker, &left)?;
        let (mut at, mut spoke) = (None, false);
        let end = loop {
            let line = lines.recv_timeout(SILENT);
            spoke |= line.is_ok();
            match line {
                Ok(line) if line == "alive" => {}
                Ok(line) => {
                    match line.strip_prefix("begin ").and_then(|n| n.parse::<u64>().ok()) {
                        Some(number) => at = Some(number),
                        None => {
                            journal.write_all(format!("{line}\n").as_bytes())?;
                            if line.split(' ').next().and_then(|n| n.parse().ok()) == at {
                                left.retain(|n| Some(*n) != at);
                                at = None;
                            }
                            all.push(line);
                        }
                    }
                    if over() && at.is_none() {
                        break None;
                    }
                }
                Err(RecvTimeoutError::Timeout) => break Some("no hang"),
                Err(RecvTimeoutError::Disconnected) => break at.map(|_| "no death of the process"),
            }
        };
        // the worker may have ended by itself
        let _ = child.kill();
        let status = child.wait()?;
        if !spoke {
            return Err(io::Error::other(format!("worker {worker} ended before its first scenario: {status}")));
        }
        if let (Some(law), Some(number)) = (end, at) {
            let line = format!("{number} broken 0 0 {law}");
            journal.write_all(format!("{line}\n").as_bytes())?;
            println!("{number}: {law}: fuzz --seed {} --only {number}", asked.seed);
            left.retain(|n| *n != number);
            all.push(line);
        }
    }
    Ok(all)
}

/// Starts a process that tries these scenarios.
fn start(asked: &Asked, worker: u64, left: &[u64]) -> io::Result<(Child, Receiver<String>)> {
    let list = asked.folder().join(format!("left-{worker}"));
    fs::write(&list, left.iter().map(|n| format!("{n}\n")).collect::<String>())?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--seed", &asked.seed.to_string(), "--worker", &worker.to_string()]);
    command.arg("--list").arg(&list).arg("--out").arg(&asked.out);
    command.args(asked.apart.iter().flat_map(|law| ["--apart", law]));
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let (sender, receiver) = channel();
    if let Some(out) = child.stdout.take() {
        thread::spawn(move || BufReader::new(out).lines().map_while(Result::ok).try_for_each(|l| sender.send(l)));
    }
    Ok((child, receiver))
}

/// Prints the counts; returns whether all is well.
fn report(asked: &Asked, mut counts: Counts, time: Duration) -> bool {
    let places = grammar::places(Schema::new(schema()));
    let drawn = places.intersection(&counts.places).count();
    let broken: u64 = counts.broken.values().map(|n| n.len() as u64).sum();
    let apart = |law: &str| asked.apart.iter().any(|known| law.starts_with(known.as_str()));
    counts.broken.retain(|_, numbers| !numbers.is_empty());
    let known: u64 = counts.broken.iter().filter(|(law, _)| apart(law)).map(|(_, n)| n.len() as u64).sum();
    println!("seed {}", asked.seed);
    println!("scenarios drawn     {}", counts.done.len());
    println!("  accepted          {}", counts.held + broken);
    println!("  refused           {}", counts.refused);
    println!("problems that say where they are  {}", counts.problems);
    println!("runs made           {} ({} hops a run)", counts.runs, counts.hops / counts.held.max(1));
    println!("keys, kinds and words in accepted scenarios  {drawn} of {}", places.len());
    println!("violations          {}", broken - known);
    for (law, numbers) in counts.broken.iter().filter(|(law, _)| !apart(law)) {
        println!("  {:6}  {law}: scenarios {:?}", numbers.len(), &numbers[..numbers.len().min(8)]);
    }
    for (law, numbers) in counts.broken.iter().filter(|(law, _)| apart(law)) {
        println!("  {:6}  known, apart: {law}", numbers.len());
    }
    println!("time                {:.0} s, {:.0} s of work in all", time.as_secs_f64(), counts.cpu_ms as f64 / 1e3);
    let missing: Vec<&String> = places.difference(&counts.places).take(12).collect();
    if !missing.is_empty() && counts.done.len() > 20_000 {
        println!("never accepted: {missing:?} ...");
    }
    broken == known
}

/// The worker: writes one line per scenario to standard output.
pub fn work(asked: &Asked, worker: u64, list: &Path) -> io::Result<()> {
    trial::keep_panics();
    let numbers: Vec<u64> = fs::read_to_string(list)?.lines().filter_map(|n| n.parse().ok()).collect();
    let dir = asked.folder().join(format!("files-{worker}"));
    let mut places = BTreeSet::new();
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for number in numbers {
        println!("begin {number}");
        let begin = Instant::now();
        let (problems, case, verdict) = try_one(asked.seed, number, &dir)?;
        let ms = begin.elapsed().as_millis();
        if let Some(case) = case.as_ref().filter(|_| !matches!(verdict, Verdict::Refused)) {
            let mut used = BTreeSet::new();
            let value = toml::Value::Table(case.table.clone());
            grammar::used(Schema::new(schema()), &value, "", &mut used);
            used.into_iter().filter(|place| places.insert(place.clone())).for_each(|place| println!("place {place}"));
        }
        match verdict {
            Verdict::Held { runs, hops } => println!("{number} held {problems} {ms} {runs} {hops}"),
            Verdict::Refused => println!("{number} refused {problems} {ms} 0 0"),
            Verdict::Broken(broken) => {
                let times = found.entry(broken.law.clone()).or_default();
                *times += 1;
                let known = asked.apart.iter().any(|law| broken.law.starts_with(law.as_str()));
                let law = broken.law.clone();
                if let Some(case) = case.filter(|_| !known && *times <= SHRUNK) {
                    save(asked, number, case, broken, &dir)?;
                }
                println!("{number} broken {problems} {ms} {law}");
            }
        }
    }
    Ok(())
}

/// Draws and tries a scenario; returns the number of problems first.
pub fn try_one(seed: u64, number: u64, dir: &Path) -> io::Result<(u64, Option<Case>, Verdict)> {
    let drawn = match trial::caught(|| case::draw(seed, number, dir)) {
        Ok(drawn) => drawn?,
        Err(broken) => return Ok((0, None, Verdict::Broken(broken))),
    };
    if let Some(problem) = drawn.lost {
        let text = problem.to_string();
        let broken = Broken::new(trial::without_key(&text), text);
        return Ok((drawn.problems, Some(drawn.case), Verdict::Broken(broken)));
    }
    let verdict = match drawn.spec {
        Ok(spec) => trial::of_spec(spec, number),
        Err(_) => Verdict::Refused,
    };
    Ok((drawn.problems, Some(drawn.case), verdict))
}

/// Shrinks a scenario, and saves it with the command that repeats it.
pub fn save(asked: &Asked, number: u64, case: Case, broken: Broken, dir: &Path) -> io::Result<()> {
    let law = broken.law.clone();
    let (small, broken) = shrink::smallest(case, broken, &mut |case| {
        println!("alive");
        case.write(dir).ok()?;
        match trial::of_case(case, dir, number) {
            Verdict::Broken(broken) => Some(broken),
            _ => None,
        }
    });
    let name: String = law.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = asked.folder().join("found").join(format!("{name}-{number}"));
    small.write(&folder)?;
    let file = folder.join("scenario.toml");
    let command = format!("fuzz --file {} --draws {number}", file.display());
    fs::write(&file, format!("# {law}\n# {command}\n# fuzz --seed {} --only {number}\n{}", asked.seed, small.text()))?;
    fs::write(folder.join("what.txt"), format!("{law}\n{}\n", broken.what))?;
    eprintln!("scenario {number} breaks a law: {law}\n{}\n{}repeat it: {command}\n", broken.what, small.text());
    Ok(())
}
