//! Jobs from a model's numbers: resolved scenarios, placement of tensor parallelism, errors.

use incast_cc::Time;
use incast_scenario::Scenario;
use incast_scenario::document::job_llm::Llm;
use std::path::Path;

/// 16 hosts on one switch, and a job of these numbers.
fn scenario(scale_up: &str, llm: &str) -> Scenario {
    let text = format!(
        "controller = \"dctcp\"\n[run]\nduration = \"1s\"\nuntil = \"finished\"\n[topology]\nkind = \"leaf-spine\"\n\
         leaves = 1\nspines = 1\nhosts_per_leaf = 16\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n\
         [queue]\nkind = \"ecn-threshold\"\nlimit = \"2MB\"\nmark = \"200kB\"\n\
         [[job]]\nname = \"a\"\n{scale_up}\n[job.llm]\n{llm}\n"
    );
    Scenario::from_toml(&text, Path::new("."), "t").unwrap()
}

const LLM: &str = "layers = 4\nhidden = 512\nseq = 128\nmicro_batches = 4\ntp = 4\npp = 2\ndp = 2\nvocab = 4096";

fn refused(scale_up: &str, llm: &str) -> String {
    scenario(scale_up, llm).build().err().map(|errors| errors.to_string()).unwrap_or_default()
}

#[test]
fn a_resolved_scenario_has_times_in_place_of_a_rate_and_the_same_tasks() {
    let given = scenario("", &format!("{LLM}\nflops = \"10Tflops\"\nschedule = \"zero-bubble\""));
    let text = given.resolved_toml().unwrap();
    // (8 h^2 + 24 h^2) s + 4 s^2 h operations, over 4 parts
    let forward = Time::from_secs_f64((32.0 * 512.0 * 512.0 * 128.0 + 4.0 * 128.0 * 128.0 * 512.0) / 4.0 / 10e12);
    assert!(text.contains(&format!("forward = \"{forward}\"")), "{text}");
    assert!(!text.contains("flops") && text.contains("head_backward = \"") && text.contains("attention = 0."));
    let again = Scenario::from_toml(&text, Path::new("."), "t").unwrap();
    assert_eq!(again.resolved_toml().unwrap(), text);
    assert_eq!(again.hash().unwrap(), given.hash().unwrap());
    let (one, other) = (given.build().unwrap(), again.build().unwrap());
    assert_eq!(one.jobs[0].tasks.graph(), other.jobs[0].tasks.graph());
    assert_eq!(one.jobs[0].connections.len(), other.jobs[0].connections.len());
}

#[test]
fn tensor_parallelism_stays_in_servers_that_are_large_enough() {
    let llm = format!("{LLM}\nforward = \"5us\"");
    let server = |gpus: u32| format!("scale_up = {{ gpus = {gpus}, rate = \"3.6Tbps\", delay = \"500ns\" }}");
    let inside = scenario(&server(4), &llm).build().unwrap();
    let crosses = |one: &incast_engine::spec::JobConnection| one.from / 4 != one.to / 4;
    assert!(inside.jobs[0].connections.iter().all(crosses));
    // servers of two cannot hold four: the network takes the rest
    assert!(scenario(&server(2), &llm).build().is_ok());
    let wrong = refused(&server(6), &llm);
    assert_eq!(wrong, "job.a.llm.tp = 4: a group would be in two servers of 6 GPUs; expected a divisor of 6");
    let wrong = refused(&server(4), &format!("{llm}\norder = \"dp,tp,pp\""));
    let expected = "job.a.llm.order = \"dp,tp,pp\": a group of tensor parallelism is in servers of 4; expected \
                    tp first";
    assert_eq!(wrong, expected);
}

#[test]
fn numbers_that_do_not_fit_are_told_by_their_keys() {
    let change = |from: &str, to: &str| format!("{}\nforward = \"5us\"", LLM.replace(from, to));
    for (llm, expected) in [
        (LLM.to_owned(), "job.a.llm.flops: missing; expected a rate of a GPU, such as \"400Tflops\", or forward"),
        (format!("{LLM}\nforward = \"5us\"\nflops = \"1Tflops\""), "forward = \"5us\": flops has the times"),
        (change("pp = 2", "pp = 3"), "job.a.llm.layers = 4: expected a multiple of pp x virtual = 3"),
        (change("dp = 2", "dp = 4"), "job.a.llm: tp x pp x dp = 32 ranks, and 16 hosts without a job"),
        (change("vocab = 4096", "vocab = 50257"), "job.a.llm.vocab = 50257: expected a multiple of tp = 4"),
        (change("dp = 2", "dp = 2\norder = \"tp,dp\""), "order = \"tp,dp\": expected tp, pp and dp, each once"),
        (change("dp = 2", "dp = 2\noverlap = [\"tp\"]"), "overlap = \"tp\": calculations wait for these collectives"),
        (change("hidden = 512", "hidden = 513"), "heads = 4: expected a divisor of hidden = 513, or head_dim"),
    ] {
        let found = refused("", &llm);
        assert!(found.contains(expected), "{found}\n{expected}");
    }
    let both = refused("collective = { kind = \"all-reduce\", size = \"1MB\" }", &format!("{LLM}\nforward = \"5us\""));
    assert!(both.contains("job.a.llm: the tasks are those of collective; expected one of both"), "{both}");
}

#[test]
fn pairs_of_texts_are_read_as_a_scenario_is() {
    let pairs = |text: &str| -> Vec<(String, String)> {
        let pair = |word: &str| word.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        text.split(' ').filter_map(pair).collect()
    };
    let read = |text: &str| Llm::read(&pairs(text)).map_err(|errors| errors.to_string());
    let llm = read(
        "layers=4 hidden=512 seq=128 micro_batches=4 tp=4 pp=2 dp=2 vocab=4096 flops=10Tflops schedule=zero-bubble \
         overlap=dp,pp",
    );
    let mut given = scenario("", &format!("{LLM}\nflops = \"10Tflops\"\nschedule = \"zero-bubble\""));
    given.set("job.llm.overlap", "[\"dp\", \"pp\"]").unwrap();
    let job = given.document().unwrap().jobs[0].clone();
    assert_eq!(llm, Ok(job.llm.unwrap()));
    for (text, expected) in [
        ("layers=4 hidden=512", "seq: missing"),
        ("layers=4 hidden=512 seq=1 layer=3", "layer: no such key (did you mean \"layers\"?)"),
        ("layers=four hidden=512 seq=1", "layers = \"four\": expected a whole number"),
        ("layers=4 hidden=512 seq=1 flops=400Tbps", "flops = \"400Tbps\": expected a rate of floating-"),
        ("layers=4 hidden=512 seq=1 flops=1Gflops tp=3", "heads = 4: expected a multiple of tp = 3"),
        ("layers=4 hidden=512 seq=1 flops=1Gflops schedule=2f2b", "schedule = \"2f2b\": expected one of"),
    ] {
        let found = read(text).unwrap_err();
        assert!(found.contains(expected), "{found}\n{expected}");
    }
}
