//! Random programs of switches and hosts: those with parameters, and match-action tables drawn entry by entry.

use super::networks::pick;
use crate::support::*;
use incast_engine::spec::table::*;
use proptest::prelude::*;

/// A program, before the network is known.
#[derive(Clone, Debug)]
enum Draft {
    Sccp(Sccp),
    Idle(Idle),
    Phantom(Phantom),
    Pacer(Pacer),
    Qjump(Qjump),
    Rcp(Rcp),
    D3(D3),
    Xcp(Xcp),
    Bolt(Bolt),
    Table(Box<TableDraft>),
}

/// Tables, before the network is known: links and hosts are draws, which [`table`] maps to those of the network.
#[derive(Clone, Debug)]
struct TableDraft {
    stages: Vec<StageDraft>,
    meters: Vec<Meter>,
    controller: Option<(Controller, Vec<TemplateDraft>)>,
    /// True if the last table is one of leaving packets, where ports support it.
    egress: bool,
}

#[derive(Clone, Debug)]
struct StageDraft {
    entries: Vec<EntryDraft>,
    miss: Miss,
}

#[derive(Clone, Debug)]
struct TemplateDraft {
    entry: EntryDraft,
    exact: Vec<Exact>,
    stage: usize,
}

#[derive(Clone, Debug)]
struct EntryDraft {
    priority: u16,
    fields: Vec<Masked>,
    /// Ports, by draws. 0 is the stack.
    ways: [Option<u32>; 2],
    when: Option<Vec<Op>>,
    actions: Vec<ActionDraft>,
    ends: [Option<Time>; 2],
}

#[derive(Clone, Debug)]
enum ActionDraft {
    Does(Action),
    Output(u32),
    Class(u8),
    Goto(usize),
    Meter(usize),
}

fn sccp() -> impl Strategy<Value = Sccp> {
    (pick(&[1u64, 1448]), pick(&[0u8, 7]), any::<[bool; 4]>()).prop_map(|(floor, scale, b)| Sccp {
        common_rtt: Time::us(300),
        floor,
        accepted: b[0],
        reset: b[1],
        remembers: b[2],
        scale,
        up: b[3] && scale > 0,
        ignorant: false,
    })
}

fn rcp() -> impl Strategy<Value = Rcp> {
    let gains = pick(&[(0.4, 0.4), (0.1, 1.0), (0.5, 0.0)]);
    let shares = (pick(&[1.0, 0.9]), pick(&[0.05, 1.0]));
    let times =
        (pick(&[Time::NEVER, Time::us(50), Time::ms(5)]), pick(&[None, Some(Time::us(200)), Some(Time::ms(10))]));
    (gains, shares, times, pick(&[1u64, 1500])).prop_map(
        |((alpha, beta), (utilisation, initial), (period, rtt), least)| Rcp {
            alpha,
            beta,
            utilisation,
            period,
            rtt,
            initial,
            least,
        },
    )
}

fn d3() -> impl Strategy<Value = D3> {
    let times = (pick(&[Time::us(30), Time::ms(1)]), pick(&[Time::us(500), Time::ms(10)]));
    (pick(&[(0.1, 1.0), (1.0, 0.0)]), times, pick(&[1u64, 1500]))
        .prop_map(|((alpha, beta), (period, forget), least)| D3 { alpha, beta, period, least, forget })
}

fn xcp() -> impl Strategy<Value = Xcp> {
    let gains = (pick(&[(0.4, 0.226), (1.0, 0.0)]), pick(&[0.1, 0.0, 1.0]), pick(&[1.0, 0.9]));
    let times = pick(&[Time::ZERO, Time::us(40), Time::ms(4)]);
    let queues = pick(&[(1.0, Time::ZERO), (0.5, Time::ms(2))]);
    (gains, times, queues, pick(&[None, Some(Time::us(200)), Some(Time::ms(50))])).prop_map(
        |(((alpha, beta), shuffle, utilisation), interval, (queue_share, queue_interval), rtt)| Xcp {
            alpha,
            beta,
            shuffle,
            utilisation,
            interval,
            queue_share,
            queue_interval,
            rtt,
        },
    )
}

fn pacer() -> impl Strategy<Value = Pacer> {
    let times = (pick(&[Time::us(7), Time::us(64), Time::ms(3)]), pick(&[Time::us(200), Time::ms(10)]));
    let gains = (pick(&[0.0, 0.125, 1.0]), pick(&[0.0, 16e3]), pick(&[0.125, 1.0]));
    let sizes = (pick(&[None, Some(1), Some(9_000)]), pick(&[Rate::mbps(1), Rate::mbps(10)]));
    (times, gains, sizes).prop_map(|((period, timeout), (eta, beta, share), (burst, least))| Pacer {
        period,
        eta,
        beta,
        burst,
        least,
        share,
        timeout,
    })
}

fn qjump() -> impl Strategy<Value = Qjump> {
    let sizes = (pick(&[None, Some(1u32)]), pick(&[None, Some(500u64)]), pick(&[None, Some(Time::us(30))]));
    (pick(&[0.5, 1.0, 20.0]), 1usize..3, sizes).prop_map(|(factor, levels, (hosts, packet, epoch))| Qjump {
        factors: vec![factor; levels],
        hosts,
        packet,
        processing: Time::us(1),
        rate: None,
        epoch,
    })
}

fn bolt() -> impl Strategy<Value = Bolt> {
    let sizes = (pick(&[None, Some(1), Some(20_000)]), pick(&[None, Some(500), Some(10_000)]));
    (sizes, pick(&[0u32, 3, 256]), any::<[bool; 3]>()).prop_map(|((threshold, supply), tokens, [src, pru, sm])| Bolt {
        threshold,
        supply,
        tokens,
        src,
        pru,
        sm,
    })
}

/// Registers of every pipeline: one for each port, and one for the node.
const REGISTERS: [Register; 2] =
    [Register { name: "drawn", per_port: true }, Register { name: "total", per_port: false }];

fn sides() -> impl Strategy<Value = Side> {
    pick(&[Side::Ingress, Side::Egress])
}

/// A formula of few steps.
fn formulas() -> impl Strategy<Value = Vec<Op>> {
    let leaf = prop_oneof![
        3 => pick(&[-7i64, 0, 1, 2, 3, 1448, 3000, 20_000, 300_000_000, i64::MAX]).prop_map(Op::Number),
        3 => pick(&[Op::Window, Op::Size, Op::Len, Op::Flow, Op::Now, Op::Node(1)]),
        3 => (sides(), 0u8..4).prop_map(|(side, of)| match of {
            0 => Op::Rate(side),
            1 => Op::Queue(side),
            2 => Op::Sent(side),
            _ => Op::Port(0, side),
        }),
    ];
    let two = [Op::Add, Op::Subtract, Op::Multiply, Op::Bits, Op::Divide, Op::Min, Op::Max];
    let truths = [Op::Less, Op::AtMost, Op::Equal];
    leaf.prop_map(|op| vec![op]).prop_recursive(3, 12, 2, move |inner| {
        let both = (inner.clone(), inner.clone());
        prop_oneof![
            4 => (both.clone(), pick(&two)).prop_map(|((a, b), op)| [a, b, vec![op]].concat()),
            3 => (both.clone(), pick(&truths)).prop_map(|((a, b), op)| [a, b, vec![op]].concat()),
            1 => (inner, pick(&[Op::Negate, Op::Not])).prop_map(|(a, op)| [a, vec![op]].concat()),
            1 => (both, any::<bool>()).prop_map(|((a, b), and)| {
                let steps = b.len() as u16;
                let skips = if and { Op::UnlessFalse(steps) } else { Op::UnlessTrue(steps) };
                [a, vec![skips], b].concat()
            }),
        ]
    })
}

/// Bits of one field.
fn masked() -> impl Strategy<Value = Masked> {
    let numbers = (pick(&[Field::Flow, Field::Source, Field::Destination]), 0u32..6, pick(&[u32::MAX, 1, 3]));
    let flags = [0, tcp_flag::FIN, tcp_flag::SYN, tcp_flag::RST, tcp_flag::PSH, tcp_flag::ACK, tcp_flag::ECE];
    let kinds = [KindOf::Data, KindOf::Ack, KindOf::Syn, KindOf::Rst, KindOf::Datagram, KindOf::Idle];
    let bits = |(field, value, mask): (Field, u32, u32)| Masked { field, value: value & mask, mask };
    prop_oneof![
        numbers.prop_map(bits),
        (pick(&flags), pick(&flags)).prop_map(move |(value, other)| bits((Field::Flags, value, value | other))),
        (pick(&kinds), pick(&[31, KindOf::TCP])).prop_map(move |(kind, mask)| bits((Field::Kind, kind.bits(), mask))),
        (0u32..3).prop_map(move |class| bits((Field::Class, class, 255))),
        (0u32..4, 1u32..4).prop_map(move |(value, mask)| bits((Field::Ecn, value, mask))),
        (pick(&[Field::Size, Field::Len]), pick(&[0, 1024])).prop_map(move |(field, value)| bits((field, value, 1024))),
    ]
}

fn actions() -> impl Strategy<Value = ActionDraft> {
    let targets = (0u8..8, sides()).prop_map(|(of, side)| match of {
        0..3 => Target::Window,
        3 => Target::Mark,
        4..6 => Target::Node(1),
        _ => Target::Port(0, side),
    });
    let writes = (targets, formulas(), 0u8..4).prop_map(|(target, formula, how)| {
        let formula: Formula = formula.into();
        ActionDraft::Does(match how {
            0 => Action::Add(target, formula),
            1 => Action::Set(target, formula),
            2 => Action::Lower(target, formula),
            _ => Action::Raise(target, formula),
        })
    });
    prop_oneof![
        10 => writes,
        2 => Just(ActionDraft::Does(Action::Mark)),
        1 => pick(&[Action::Drop, Action::Back]).prop_map(ActionDraft::Does),
        2 => any::<u32>().prop_map(ActionDraft::Output),
        2 => (0u8..7).prop_map(ActionDraft::Class),
        2 => (0usize..4).prop_map(ActionDraft::Goto),
        2 => (0usize..4).prop_map(ActionDraft::Meter),
    ]
}

fn entries() -> impl Strategy<Value = EntryDraft> {
    let way = || prop_oneof![5 => Just(None), 2 => any::<u32>().prop_map(Some), 1 => Just(Some(0))];
    let end = || pick(&[None, None, None, Some(Time::us(700)), Some(Time::ms(20))]);
    let matches = (prop::collection::vec(masked(), 0..3), [way(), way()]);
    let rest = (prop::option::of(formulas()), prop::collection::vec(actions(), 0..4), [end(), end()]);
    (0u16..9, matches, rest).prop_map(|(priority, (fields, ways), (when, actions, ends))| EntryDraft {
        priority,
        fields,
        ways,
        when,
        actions,
        ends,
    })
}

fn tables() -> impl Strategy<Value = TableDraft> {
    let misses = pick(&[Miss::Pass, Miss::Pass, Miss::Pass, Miss::Pass, Miss::Drop, Miss::Controller]);
    let stage =
        (prop::collection::vec(entries(), 0..6), misses).prop_map(|(entries, miss)| StageDraft { entries, miss });
    let meter = (pick(&[Rate::mbps(10), Rate::mbps(90)]), pick(&[1600u64, 20_000]), pick(&[Above::Drop, Above::Mark]))
        .prop_map(|(rate, burst, above)| Meter { rate, burst, above });
    let parts = [
        Exact::Field(Field::Flow),
        Exact::Field(Field::Source),
        Exact::Field(Field::Destination),
        Exact::Field(Field::Kind),
        Exact::Port(Side::Ingress),
        Exact::Port(Side::Egress),
    ];
    let template = (entries(), prop::sample::subsequence(parts.to_vec(), 0..4), 0usize..4)
        .prop_map(|(entry, exact, stage)| TemplateDraft { entry, exact, stage });
    let times = (pick(&[0u64, 30, 2000]), pick(&[0u64, 3]));
    let rule =
        (times, pick(&[None, Some(0), Some(3)]), any::<bool>()).prop_map(|((latency, processing), buffer, drops)| {
            Controller {
                latency: Time::us(latency),
                ways: Vec::new(),
                processing: Time::us(processing),
                buffer,
                drops,
                install: [].into(),
            }
        });
    let controller = prop::option::weighted(0.8, (rule, prop::collection::vec(template, 0..3)));
    let stages = prop::collection::vec(stage, 1..5);
    (stages, prop::collection::vec(meter, 0..3), controller, any::<bool>())
        .prop_map(|(stages, meters, controller, egress)| TableDraft { stages, meters, controller, egress })
}

fn drafts() -> impl Strategy<Value = Draft> {
    prop_oneof![
        2 => sccp().prop_map(Draft::Sccp),
        2 => pick(&[Time::us(100), Time::ms(2)]).prop_map(|timeout| Draft::Idle(Idle { timeout })),
        1 => pick(&[(0.95, 3000u64), (0.5, 20_000)]).prop_map(|(drain, mark)| Draft::Phantom(Phantom { drain, mark })),
        2 => pacer().prop_map(Draft::Pacer),
        1 => qjump().prop_map(Draft::Qjump),
        3 => rcp().prop_map(Draft::Rcp),
        2 => d3().prop_map(Draft::D3),
        3 => xcp().prop_map(Draft::Xcp),
        3 => bolt().prop_map(Draft::Bolt),
        4 => tables().prop_map(|table| Draft::Table(Box::new(table))),
    ]
}

/// Nodes that run a program.
#[derive(Clone, Copy, Debug)]
enum On {
    Switches,
    Hosts,
    All,
    /// Nodes whose bits are set.
    Some(u64),
}

/// Programs of a network. Half of the networks have none.
#[derive(Clone, Debug)]
pub struct Drafts(Vec<(On, Draft)>);

pub fn programs() -> impl Strategy<Value = Drafts> {
    let on = prop_oneof![
        4 => Just(On::Switches),
        1 => Just(On::Hosts),
        1 => Just(On::All),
        2 => any::<u64>().prop_map(On::Some),
    ];
    prop_oneof![Just(Drafts(Vec::new())), prop::collection::vec((on, drafts()), 1..4).prop_map(Drafts),]
}

impl Drafts {
    /// The programs as placed on the nodes of a network.
    pub fn place(&self, spec: &Spec) -> Vec<ProgramSpec> {
        let placed = self.0.iter().map(|(on, draft)| {
            let nodes = match draft {
                // packets handled by these programs begin at hosts
                Draft::Idle(_) | Draft::Pacer(_) | Draft::Qjump(_) => (0..spec.hosts).collect(),
                Draft::Phantom(_) => on.nodes(spec).into_iter().filter(|node| is_plain(spec, *node)).collect(),
                _ => on.nodes(spec),
            };
            let program = match draft {
                Draft::Sccp(sccp) => Program::Sccp(sccp.clone()),
                Draft::Idle(idle) => Program::Idle(idle.clone()),
                Draft::Phantom(phantom) => Program::Phantom(phantom.clone()),
                Draft::Pacer(pacer) => Program::Pacer(pacer.clone()),
                Draft::Qjump(qjump) => Program::Qjump(qjump.clone()),
                Draft::Rcp(rcp) => Program::Rcp(rcp.clone()),
                Draft::D3(d3) => Program::D3(d3.clone()),
                Draft::Xcp(xcp) => Program::Xcp(xcp.clone()),
                Draft::Bolt(bolt) => Program::Bolt(bolt.clone()),
                Draft::Table(draft) => Program::Table(table(draft, spec, &nodes)),
            };
            ProgramSpec { nodes, program }
        });
        placed.filter(|own| !own.nodes.is_empty()).collect()
    }
}

impl On {
    fn nodes(self, spec: &Spec) -> Vec<u32> {
        let nodes = spec.node_names.len() as u32;
        match self {
            On::Switches => (spec.hosts..nodes).collect(),
            On::Hosts => (0..spec.hosts).collect(),
            On::All => (0..nodes).collect(),
            On::Some(bits) => (0..nodes).filter(|node| bits >> (node % 64) & 1 > 0).collect(),
        }
    }
}

/// True if the departures of a node's ports follow from its arrivals.
fn is_plain(spec: &Spec, node: u32) -> bool {
    let plain = |l: &LinkSpec| !spec.is_explicit(l) && l.bucket == 0 && l.rate != Rate::INFINITE;
    spec.links.iter().filter(|link| link.from == node).all(plain)
}

/// The tables of a draft.
fn table(draft: &TableDraft, spec: &Spec, nodes: &[u32]) -> Table {
    let explicit = |link: &LinkSpec| spec.is_explicit(link);
    let own = |link: &&LinkSpec| nodes.contains(&link.from);
    let leaving = draft.egress && draft.stages.len() > 1 && spec.links.iter().filter(own).all(explicit);
    let last = draft.stages.len() - 1;
    let context = Context { spec, stages: draft.stages.len(), meters: draft.meters.len() };
    let stages = draft.stages.iter().enumerate().map(|(number, stage)| {
        let egress = leaving && number == last;
        let mut entries: Vec<Entry> = stage
            .entries
            .iter()
            .enumerate()
            .map(|(i, entry)| context.entry(format!("{i}"), number, egress, entry))
            .collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.priority));
        let miss = match stage.miss {
            Miss::Controller if egress || draft.controller.is_none() => Miss::Pass,
            miss => miss,
        };
        Stage { name: format!("t{number}"), entries, miss, egress }
    });
    let controller = draft.controller.as_ref().map(|(rule, templates)| {
        let arriving = if leaving { last } else { last + 1 };
        let install = templates.iter().enumerate().map(|(i, template)| {
            let stage = template.stage % arriving;
            let entry = context.entry(format!("installed{i}"), stage, false, &template.entry);
            Template { stage, entry, exact: template.exact.clone() }
        });
        // the delay to a controller differs from node to node
        let ways = nodes.iter().map(|node| (*node, Time::us(*node as u64 % 5))).collect();
        Controller { install: install.collect(), ways, ..rule.clone() }
    });
    Table { registers: REGISTERS.into(), meters: draft.meters.clone(), stages: stages.collect(), controller }
}

/// Objects that entries may refer to.
struct Context<'a> {
    spec: &'a Spec,
    stages: usize,
    meters: usize,
}

impl Context<'_> {
    /// A port of each node, by a draw.
    fn links(&self, draw: u32) -> Vec<u32> {
        let of = |node: u32| (0u32..).zip(&self.spec.links).filter(move |(_, link)| link.from == node).map(|own| own.0);
        let nodes = 0..self.spec.node_names.len() as u32;
        nodes.filter_map(|node| of(node).nth(draw as usize % of(node).count().max(1))).collect()
    }

    fn way(&self, draw: u32) -> Way {
        if draw == 0 { Way::Stack } else { Way::Links(self.links(draw)) }
    }

    fn entry(&self, name: String, stage: usize, egress: bool, draft: &EntryDraft) -> Entry {
        let mut fields: Vec<Masked> = Vec::new();
        for masked in &draft.fields {
            if fields.iter().all(|known| known.field != masked.field) {
                fields.push(*masked);
            }
        }
        let [ingress, egress_way] = draft.ways.map(|draw| draw.map(|draw| self.way(draw)));
        Entry {
            name,
            priority: draft.priority,
            matches: Match { fields, ingress, egress: egress_way },
            when: draft.when.clone().map(Formula::from),
            actions: draft.actions.iter().filter_map(|draft| self.action(stage, egress, draft)).collect(),
            idle: draft.ends[0],
            hard: draft.ends[1],
        }
    }

    /// An action, if it makes sense in table `stage`. `egress`: the table handles leaving packets, not arriving ones.
    fn action(&self, stage: usize, egress: bool, draft: &ActionDraft) -> Option<Action> {
        let paused = self.spec.buffer.as_ref().is_some_and(|buffer| buffer.pfc.is_some());
        match draft {
            ActionDraft::Does(Action::Drop | Action::Back) | ActionDraft::Output(_) if egress => None,
            ActionDraft::Class(_) | ActionDraft::Meter(_) if egress => None,
            ActionDraft::Does(action) => Some(action.clone()),
            ActionDraft::Output(draw) => Some(Action::Output(self.links(*draw))),
            // a class decides the account of pauses
            ActionDraft::Class(class) => (!paused).then_some(Action::Class(*class)),
            ActionDraft::Goto(ahead) => {
                Some(Action::Goto(stage + 1 + ahead)).filter(|_| stage + 1 + ahead < self.stages)
            }
            ActionDraft::Meter(meter) => (self.meters > 0).then(|| Action::Meter(meter % self.meters)),
        }
    }
}

/// Removes programs that derive departures from arrivals, as at FIFO ports.
pub fn drop_those_of_fifo_ports(spec: &mut Spec) {
    spec.programs.retain(|own| !matches!(own.program, Program::Phantom(_)));
}

/// Removes programs that see packets leave, or ask when they will leave.
pub fn keep_those_without_queues(spec: &mut Spec) {
    spec.programs.retain(|own| match &own.program {
        Program::Sccp(_) | Program::Idle(_) | Program::Pacer(_) | Program::Qjump(_) => true,
        Program::Phantom(_) | Program::Rcp(_) | Program::Xcp(_) | Program::Bolt(_) | Program::D3(_) => false,
        Program::Table(table) => table.stages.iter().all(|stage| !stage.egress),
    });
}
