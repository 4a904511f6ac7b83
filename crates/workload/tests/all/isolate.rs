//! Some ranks of a job by themselves.

use crate::support::graph;
use incast_cc::Bytes;
use incast_workload::isolate::isolate;
use incast_workload::lint::{Options, lint};
use incast_workload::{Builder, Collective, Graph, Kind, Pattern, Report, Task};

const THREE: &str = "num_ranks 3\nrank 0 {\na: calc 5\nb: send 9000b to 2\nc: calc 7\nb requires a\nc requires b\n}\n\
                     rank 1 {\nr: recv 9000b from 2\n}\nrank 2 {\nr: recv 9000b from 0\n\
                     s: send 9000b to 1\ns requires r\n}\n";

fn sound(job: &Graph) -> bool {
    let mut report = Report::default();
    lint(job, &Options::default(), &mut report);
    report.errors() == 0
}

#[test]
fn messages_with_others_take_no_time_and_the_order_of_tasks_stays() {
    let (job, left_out) = isolate(&graph(THREE), &[2, 0]).unwrap();
    assert_eq!((job.ranks(), left_out), (2, 1));
    assert!(sound(&job));
    let kinds = |rank: u32| job.rank(rank).unwrap().iter().map(|(_, task)| task.kind).collect::<Vec<_>>();
    assert_eq!(kinds(0), [Kind::Recv, Kind::Nop], "rank 2 comes first, and sends to nobody");
    assert_eq!(kinds(1), [Kind::Calc, Kind::Send, Kind::Calc]);
    assert_eq!(job.task(1, 1).peer, 0);
    assert_eq!(job.successors(1, 0), (&[1][..], &[][..]));
}

#[test]
fn collectives_stay_where_all_their_members_do() {
    let mut job = Builder::new(4).unwrap();
    for members in [vec![1, 3], vec![0, 1]] {
        let group = job.group(members.clone());
        let index = job.collective(Collective::new(Pattern::AllReduce, group, Bytes(4096)));
        for (position, rank) in (0..).zip(members) {
            job.task(rank, Task::collective(index, position, Bytes(4096))).unwrap();
        }
    }
    let (job, left_out) = isolate(&job.finish(), &[1, 3]).unwrap();
    assert_eq!((job.collectives().len(), job.group(job.collectives()[0].group), left_out), (1, &[0, 1][..], 1));
    assert_eq!(job.task(0, 1).kind, Kind::Nop);
    assert!(sound(&job));
}

#[test]
fn ranks_that_are_unknown_or_given_twice_are_refused() {
    let said = |ranks: &[u32]| isolate(&graph(THREE), ranks).unwrap_err().0;
    assert_eq!(said(&[]), "no ranks: expected at least one");
    assert_eq!(said(&[3]), "rank 3: expected a rank of the job, 0 to 2");
    assert_eq!(said(&[1, 1]), "rank 1 twice: expected each rank once");
    let any = graph("num_ranks 2\nrank 0 {\nsend 9000b to 1\n}\nrank 1 {\nrecv 9000b from -1\n}\n");
    assert!(isolate(&any, &[1]).unwrap_err().0.starts_with("task 1:0: a receive from any source"));
}
