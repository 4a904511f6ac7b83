//! `make fuzz`: random scenarios of the whole grammar, and laws that hold for every one.

use incast_fuzz::case::{self, Case};
use incast_fuzz::hunt::{self, Asked};
use incast_fuzz::trial::{self, Verdict};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str =
    "usage: fuzz [--seed N] [--count N] [--minutes N] [--cores N] [--again] [--apart LAW] [--out FOLDER]
       fuzz [--seed N] --only N        draws one scenario, prints it, and makes it small where it breaks a law
       fuzz --file FILE [--draws N]    tries a scenario of a file
       fuzz [--seed N] --texts FOLDER [--count N]    writes scenarios that need no files, and tries none";

/// Options of the command line.
struct Line {
    asked: Asked,
    only: Option<u64>,
    file: Option<PathBuf>,
    texts: Option<PathBuf>,
    draws: u64,
    worker: Option<u64>,
    list: PathBuf,
}

fn read() -> Result<Line, String> {
    let asked = Asked {
        seed: 1,
        count: 1_000,
        minutes: None,
        cores: 1,
        again: false,
        apart: Vec::new(),
        out: "runs/fuzz".into(),
    };
    let mut line = Line { asked, only: None, file: None, texts: None, draws: 0, worker: None, list: PathBuf::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--again" {
            line.asked.again = true;
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{word}: expected a value\n{USAGE}"))?;
        let whole = || value.parse::<u64>().map_err(|_| format!("{word} {value}: expected a whole number"));
        match word.as_str() {
            "--seed" => line.asked.seed = whole()?,
            "--count" => line.asked.count = whole()?,
            "--cores" => line.asked.cores = whole()?.max(1),
            "--minutes" => {
                let minutes = value.parse().map_err(|_| format!("{word} {value}: expected a number of minutes"))?;
                (line.asked.minutes, line.asked.count) = (Some(minutes), line.asked.count.max(1_000_000));
            }
            "--apart" => line.asked.apart.push(value),
            "--out" => line.asked.out = value.into(),
            "--only" => line.only = Some(whole()?),
            "--file" => line.file = Some(value.into()),
            "--texts" => line.texts = Some(value.into()),
            "--draws" => line.draws = whole()?,
            "--worker" => line.worker = Some(whole()?),
            "--list" => line.list = value.into(),
            _ => return Err(format!("{word}: unknown\n{USAGE}")),
        }
    }
    Ok(line)
}

fn main() -> ExitCode {
    match read().and_then(run) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("fuzz: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(line: Line) -> Result<bool, String> {
    let text = |e: std::io::Error| e.to_string();
    if let Some(worker) = line.worker {
        return hunt::work(&line.asked, worker, &line.list).map(|()| true).map_err(text);
    }
    if let Some(folder) = &line.texts {
        return texts(&line.asked, folder).map_err(text);
    }
    if let Some(file) = &line.file {
        trial::keep_panics();
        return of_file(file, line.draws);
    }
    if let Some(number) = line.only {
        trial::keep_panics();
        return only(&line.asked, number).map_err(text);
    }
    hunt::hunt(&line.asked).map_err(text)
}

/// Draws one scenario, prints and tries it.
fn only(asked: &Asked, number: u64) -> std::io::Result<bool> {
    let dir = asked.out.join("only");
    let (problems, case, verdict) = hunt::try_one(asked.seed, number, &dir)?;
    if let Some(case) = &case {
        println!("{}", case.text());
        case.files.iter().for_each(|(name, content)| println!("# {}\n{content}", dir.join(name).display()));
    }
    println!("{problems} problems on the way; {verdict:?}");
    match (verdict, case) {
        (Verdict::Broken(broken), Some(case)) => hunt::save(asked, number, case, broken, &dir).map(|()| false),
        (verdict, _) => Ok(!matches!(verdict, Verdict::Broken(_))),
    }
}

/// Writes scenarios without files, `0.toml` and so on.
fn texts(asked: &Asked, folder: &Path) -> std::io::Result<bool> {
    fs::create_dir_all(folder)?;
    let mut written = 0;
    for number in 0.. {
        if written == asked.count {
            break;
        }
        let drawn = case::draw(asked.seed, number, folder)?;
        if drawn.spec.is_ok() && drawn.case.files.is_empty() {
            fs::write(folder.join(format!("{written}.toml")), drawn.case.text())?;
            written += 1;
        }
    }
    Ok(true)
}

/// Tries a scenario of a file, with its files beside it.
fn of_file(file: &Path, draws: u64) -> Result<bool, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let table = text.parse().map_err(|e| format!("{}: {e}", file.display()))?;
    let case = Case { table, files: Vec::new() };
    let dir = file.parent().unwrap_or(Path::new("."));
    if let Err(errors) = case.build(dir) {
        println!("{errors}");
    }
    let verdict = trial::of_case(&case, dir, draws);
    println!("{verdict:?}");
    Ok(!matches!(verdict, Verdict::Broken(_)))
}
