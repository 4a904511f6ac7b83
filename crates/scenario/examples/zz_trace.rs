//! Debug: prints sends of flows.
use incast_scenario::Scenario;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut s = Scenario::load(&args[0]).unwrap();
    let flows: Vec<u32> = args[1].split(',').map(|x| x.parse().unwrap()).collect();
    for set in &args[2..] {
        let (k, v) = set.split_once('=').unwrap();
        s.set(k, v).unwrap();
    }
    let mut spec = s.build().unwrap();
    spec.observe.trace = flows.clone();
    spec.observe.flows = flows;
    let o = incast_engine::run(&spec, &mut |_| true).unwrap();
    for e in &o.trace {
        let dst = spec.node_names[spec.flows[e.flow as usize].dst as usize].clone();
        let src = spec.node_names[spec.flows[e.flow as usize].src as usize].clone();
        use incast_record::Happening::*;
        if e.event == Send && e.place == src && e.size > 0 && e.payload > 0 {
            println!("{},{},tx,{},{},{}", e.time_ps, e.flow, e.seq + 1, e.payload, e.flags);
        } else if e.place == src && (e.event == Arrive || e.event == Receive) {
            println!("{},{},rx,{},{}", e.time_ps, e.flow, e.ack + 1, e.flags);
        } else if matches!(e.event, Mark | Drop | Loss) || (e.event == Receive && e.place == dst) {
            println!("{},{},{:?}@{},{},{}", e.time_ps, e.flow, e.event, e.place, e.seq + 1, e.flags);
        }
    }
    for x in &o.samples {
        println!("{},{},{},{}", x.time_ps, x.entity, x.name, x.value);
    }
}
