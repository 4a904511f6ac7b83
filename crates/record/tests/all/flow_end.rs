//! Records of flows whose ends are gone.

use incast_record::FlowRecord;

#[test]
fn what_two_ends_leave_makes_the_record_of_their_flow() {
    let sender = FlowRecord {
        start_ps: 0,
        finish_ps: Some(0),
        rtt_min_ps: Some(u64::MAX),
        sent: 3,
        unopened: true,
        ..FlowRecord::blank()
    };
    let receiver = FlowRecord { delay_sum_ps: u64::MAX, fm_last_rx_ps: Some(7), ..FlowRecord::blank() };
    let mut left = Vec::new();
    sender.pack(&mut left);
    let second = left.len();
    receiver.pack(&mut left);
    let mut record = FlowRecord { flow: 5, start_ps: 9, stopped_ps: None, ..FlowRecord::default() };
    assert!(record.unpack(&left) && record.unpack(&left[second..]));
    let expected = FlowRecord {
        flow: 5,
        start_ps: 0,
        finish_ps: Some(0),
        rtt_min_ps: Some(u64::MAX),
        sent: 3,
        unopened: true,
        delay_sum_ps: u64::MAX,
        fm_last_rx_ps: Some(7),
        ..FlowRecord::default()
    };
    assert_eq!(format!("{record:?}"), format!("{expected:?}"));
    assert!(!record.unpack(&left[second..left.len() - 1]), "cut short");
}
