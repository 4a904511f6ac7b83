//! Match-action tables under every engine: windows, one heap, one domain or one for each node, any order of visits.

use crate::support::*;
use incast_engine::spec::table::*;

/// Steps of a formula.
fn formula(ops: &[Op]) -> Formula {
    ops.into()
}

fn entry(name: &str, priority: u16, fields: &[(Field, u32, u32)], actions: Vec<Action>) -> Entry {
    let fields = fields.iter().map(|(field, value, mask)| Masked { field: *field, value: *value, mask: *mask });
    Entry {
        name: name.into(),
        priority,
        matches: Match { fields: fields.collect(), ..Match::default() },
        when: None,
        actions,
        idle: None,
        hard: None,
    }
}

fn stage(name: &str, entries: Vec<Entry>, miss: Miss) -> Stage {
    Stage { name: name.into(), entries, miss, egress: false }
}

/// SCCP as in the built-in program, with 300 us and no window below a byte.
fn sccp() -> Vec<Stage> {
    let flags = |flags: u32| [(Field::Flags, flags, flags), (Field::Kind, KindOf::TCP, KindOf::TCP)];
    let flows = Target::Port(0, Side::Egress);
    let open = |side| Some(formula(&[Op::Number(0), Op::Port(0, side), Op::Less]));
    let adds = |by| vec![Action::Add(flows, formula(&[Op::Number(by)]))];
    let opens = entry("opens", 1, &flags(tcp_flag::SYN), adds(1));
    let closes = Entry { when: open(Side::Egress), ..entry("closes", 1, &flags(tcp_flag::FIN), adds(-1)) };
    let share = [
        Op::Rate(Side::Ingress),
        Op::Number(300_000_000),
        Op::Bits,
        Op::Number(8),
        Op::Divide,
        Op::Port(0, Side::Ingress),
        Op::Divide,
        Op::Number(1),
        Op::Max,
    ];
    let acks = [(Field::Flags, tcp_flag::ACK, tcp_flag::ACK | tcp_flag::RST), flags(0)[1]];
    let lowers = vec![Action::Lower(Target::Window, formula(&share))];
    let window = Entry { when: open(Side::Ingress), ..entry("share", 1, &acks, lowers) };
    vec![stage("count", vec![opens, closes], Miss::Pass), stage("window", vec![window], Miss::Pass)]
}

fn table(stages: Vec<Stage>, controller: Option<Controller>) -> Program {
    let registers = [Register { name: "flows", per_port: true }].into();
    Program::Table(Table { registers, meters: Vec::new(), stages: stages.into(), controller })
}

/// `workers` hosts of a star at 1 Gb/s send 25 kB each to host 0 through buffers of 8 packets, which drop SYNs, data
/// and FINs. Some segments are lost on the wire, and the receivers of some flows reset them.
fn hard(workers: u32, program: Program) -> Spec {
    let mut spec = star(workers + 1, Rate::gbps(1), Time::us(25));
    spec.transports =
        vec![changed!(tcp(), connection.handshake = true, acks.delayed_ack = 1, windows.sws_avoidance = false)];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = (1..=workers).map(|w| bulk(w, 0, Some(25_000))).collect();
    spec.flows.iter_mut().step_by(5).for_each(|f| f.sink_stop = Time::ms(2));
    spec.queues = vec![drop_tail(8)];
    spec.links[2].loss = Loss::List(vec![3, 7]);
    spec.programs = vec![ProgramSpec { nodes: vec![3, workers + 1], program }];
    run_for(&mut spec, Time::s(8));
    spec
}

/// Results of a run, without its tables and series.
fn results(o: &Outcome) -> String {
    format!("{:?} {:?} {} {}", o.flows, o.ports, o.hops, o.packets_dropped)
}

#[test]
fn sccp_as_tables_gives_the_bytes_of_the_program_under_every_engine() {
    let built_in = Sccp {
        common_rtt: Time::us(300),
        floor: 1,
        accepted: false,
        reset: false,
        remembers: false,
        scale: 0,
        up: false,
        ignorant: false,
    };
    let o = compared(&hard(20, table(sccp(), None)));
    let program = compared(&hard(20, Program::Sccp(built_in)));
    assert_eq!(results(&o), results(&program));
    let (timeouts, drops) = (o.flows.iter().map(|f| f.timeouts).sum::<u64>(), o.packets_dropped);
    assert!(timeouts > 0 && drops > 20, "{timeouts} timeouts, {drops} dropped");
    assert!(o.entries.iter().filter(|e| e.node == "s").all(|e| e.packets > 0), "{:?}", o.entries);
}

#[test]
fn timeouts_answers_of_the_controller_and_ways_do_not_depend_on_the_engine() {
    let tcp = [(Field::Kind, KindOf::TCP, KindOf::TCP)];
    let mut learned = entry("learned", 5, &tcp, vec![Action::Goto(2)]);
    (learned.idle, learned.hard) = (Some(Time::us(400)), Some(Time::ms(3)));
    let template =
        Template { stage: 0, entry: learned, exact: vec![Exact::Field(Field::Flow), Exact::Port(Side::Egress)] };
    let mut acks = entry("acks", 9, &[(Field::Kind, KindOf::Ack.bits(), 31)], Vec::new());
    acks.hard = Some(Time::ms(2));
    let rule = |drops: bool, buffer: Option<u32>| Controller {
        latency: Time::us(30),
        ways: Vec::new(),
        processing: Time::us(2),
        buffer,
        drops,
        install: [template.clone()].into(),
    };
    let mut stages = vec![stage("ways", vec![acks], Miss::Controller), stage("passed", Vec::new(), Miss::Pass)];
    stages.extend(sccp());
    let o = compared(&hard(12, table(stages.clone(), Some(rule(false, Some(6))))));
    assert!(o.entries.iter().filter(|e| e.entry.starts_with("learned")).count() > 24, "{}", o.entries.len());
    assert!(o.entries.iter().any(|e| e.entry == "acks" && e.ended_ps == Some(2_000_000_000)));
    assert!(o.flows.iter().filter(|f| f.finish_ps.is_some()).count() > 6);
    // packets are still queued at the end of the run
    let mut short = hard(12, table(stages, Some(rule(true, None))));
    run_for(&mut short, Time::us(120));
    assert!(compared(&short).packets_in_flight > 0);
}
