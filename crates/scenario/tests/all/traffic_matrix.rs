//! Traffic matrices: the flows of their cells, and error messages for wrong ones.

use incast_engine::spec::{App, Bulk, Spec};
use incast_scenario::{Scenario, builtin};

/// `hotspot` (16 hosts) with this matrix and entry.
fn built(name: &str, matrix: &str, entry: &str) -> Result<Spec, String> {
    let dir = std::env::temp_dir().join(format!("incast-cells-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("m.csv"), matrix).unwrap();
    let text = builtin::text("hotspot").unwrap();
    let head = &text[..text.find("[[traffic]]").unwrap()];
    let text = format!("{head}[[traffic]]\nname = \"m\"\nfile = \"m.csv\"\n{entry}\n");
    let spec = Scenario::from_toml(&text, &dir, "m").and_then(|s| s.build()).map_err(|e| e.to_string());
    std::fs::remove_dir_all(&dir).unwrap();
    spec
}

const MATRIX: &str = "pattern = \"matrix\"";

#[test]
fn cells_become_flows() {
    let matrix = "# bytes\nsource,h0,h1,5\nh1,2MB,0,\nh0,,1000,7kB\n";
    let flows = |spec: Spec| -> Vec<_> { spec.flows.iter().map(|f| (f.src, f.dst, f.app)).collect() };
    let bulk = |size| App::Bulk(Bulk { size: Some(size), write: 64_000 });
    let all = [(1, 0, bulk(2_000_000)), (0, 1, bulk(1000)), (0, 5, bulk(7000))];
    assert_eq!(flows(built("cells", matrix, MATRIX).unwrap()), all);
    assert_eq!(flows(built("marked", &format!("\u{feff}{}", &matrix[8..]), MATRIX).unwrap()), all);
    assert_eq!(flows(built("first", matrix, &format!("{MATRIX}\nflows = 2")).unwrap()), all[..2]);
}

#[test]
fn what_is_wrong_is_said() {
    let host = "expected a host: h0 to h15, or a number from 0 to 15";
    let bytes = "expected bytes, such as 2000000 or \"2MB\"; 0 or nothing sends nothing";
    let cases = [
        ("source,h0,h99\nh1,1,1\n", format!("m.csv, line 1, column h99 = h99: {host}")),
        ("source,h1,1\nh0,1,1\n", "m.csv, line 1, column 1 = 1: the column h1 is of this host".to_owned()),
        ("source,h0\nh1,1\nh77,1\n", format!("m.csv, line 3, column source = h77: {host}")),
        (
            "source,h0\nh1,1\n1,1\n",
            "m.csv, line 3, column source = 1: a row before has this source; expected one row a host".to_owned(),
        ),
        ("source,h0,h2\nh1,1,few\n", format!("m.csv, line 2, column h2 = few: {bytes}")),
        ("source,h0,h2\nh1,1,-1\n", format!("m.csv, line 2, column h2 = -1: {bytes}")),
        (
            "source,h0\nh0,1\n",
            "m.csv, line 2, column h0 = 1: a host sends nothing to itself; expected 0 or nothing".to_owned(),
        ),
        (
            "source,h0,h2\nh1,1,1\nh3,1\n",
            "m.csv, line 3: 2 values under 3 columns; expected as many, empty ones included".to_owned(),
        ),
        ("source,h0\nh1,0\n", "m.csv: the matrix has no cell above 0; expected at least one".to_owned()),
        ("h0,h1\n1,1\n", "m.csv, line 1: the column source is missing".to_owned()),
        ("", "m.csv: empty; expected a header line such as source,h0,h1".to_owned()),
    ];
    for (i, (matrix, expected)) in cases.iter().enumerate() {
        assert_eq!(built(&format!("wrong{i}"), matrix, MATRIX).unwrap_err(), *expected);
    }
    assert_eq!(
        built("many", "source,h0\nh1,1\n", &format!("{MATRIX}\nflows = 2")).unwrap_err(),
        "traffic.m.flows = 2: the matrix has 1 cells above 0; expected at most as many"
    );
    assert_eq!(
        built("app", "source,h0\nh1,1\n", &format!("{MATRIX}\napp = {{ kind = \"bulk\", size = \"1MB\" }}"))
            .unwrap_err(),
        "traffic.m.app: expected kind = \"bulk\" without a size: the sizes are in the matrix"
    );
}

#[test]
fn parts_of_a_load() {
    let poisson = "pattern = \"poisson\"\narrivals = { load = 0.4, sizes = \"builtin:homa-w3\" }";
    let spec = built("load", "source,h1,h2,h3\nh0,0.25,0.75,\nh5,,,1\n", poisson).unwrap();
    let count = |src, dst| spec.flows.iter().filter(|f| (f.src, f.dst) == (src, dst)).count() as f64;
    let all = [count(0, 1), count(0, 2), count(5, 3)];
    assert_eq!(all.iter().sum::<f64>(), spec.flows.len() as f64, "nobody else sends");
    // hosts of equal links and equal row sums send equally often; four standard deviations
    let n = all[2];
    assert!(n > 100.0 && (all[0] + all[1] - n).abs() < 4.0 * (2.0 * n).sqrt(), "{all:?}");
    assert!((all[0] - n / 4.0).abs() < 4.0 * (n * 0.25 * 0.75).sqrt() + 4.0 * n.sqrt() / 4.0, "{all:?}");
    assert_eq!(
        built("much", "source,h1\nh0,26\n", poisson).unwrap_err(),
        "m.csv, line 2: expected a matrix whose rows add up to at most 25 with load = 0.4; that of h0 adds up to 26"
    );
    assert_eq!(
        built("part", "source,h1\nh0,a lot\n", poisson).unwrap_err(),
        "m.csv, line 2, column h1 = a lot: expected a number from 0, the part of arrivals.load that goes there"
    );
}
