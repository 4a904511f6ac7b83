//! Runs a scenario without Python around it, for profiles and instruction counts:
//! `run SCENARIO [KEY=VALUE ...]`. Prints hops, CPU-bound wall seconds and the summary's flows.
use incast_scenario::Scenario;

fn run(args: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let (name, sets) = args.split_first().ok_or("usage: run SCENARIO [KEY=VALUE ...]")?;
    let mut scenario = Scenario::load(name)?;
    for set in sets {
        let (key, value) = set.split_once('=').ok_or_else(|| format!("{set}: expected KEY=VALUE"))?;
        scenario.set(key, value)?;
    }
    let spec = scenario.build()?;
    let begin = std::time::Instant::now();
    let (outcome, cost) = incast_engine::run_timed(&spec, &mut |_| true)?;
    let s = begin.elapsed().as_secs_f64();
    let summary = incast_record::summary::summarize(&outcome, scenario.name(), env!("CARGO_PKG_VERSION"));
    println!("{} hops in {s:.3} s: {:.2} million a second", outcome.hops, outcome.hops as f64 / s / 1e6);
    println!("processor time by thread: {:.3?}, windows in step: {}", cost.threads, cost.in_step);
    for key in ["flows", "fct", "queues", "radios", "flowmonitor"] {
        println!("{:#}", summary[key]);
    }
    for key in ["queries", "writes"].into_iter().filter(|key| summary[*key]["count"] != 0) {
        println!("{key} {:#}", summary[key]);
    }
    Ok(())
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Err(error) = run(&args) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
