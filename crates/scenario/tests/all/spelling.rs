//! Spellings that users may choose, and the one form that documents keep.

use incast_scenario::Scenario;
use std::path::Path;

const FABRIC: &str = r#"
controller = "dctcp"
run = { duration = "100ms" }
queue = { kind = "ecn-threshold", limit = "100p", mark = "10p" }
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
link = { rate = "RATE", delay = "1us", error_rate = ERRORS }
[[traffic]]
name = "load"
pattern = "poisson"
arrivals = { load = LOAD, sizes = "SIZES" }
"#;

fn fabric(rate: &str, errors: &str, load: &str, sizes: &str) -> Result<Scenario, String> {
    let text = FABRIC.replace("RATE", rate).replace("ERRORS", errors).replace("LOAD", load).replace("SIZES", sizes);
    let scenario = Scenario::from_toml(&text, Path::new("."), "fabric").map_err(|e| e.to_string())?;
    scenario.build().map_err(|e| e.to_string())?;
    Ok(scenario)
}

#[test]
fn short_units_percentages_and_bare_tables_are_the_long_ones() {
    let long = fabric("100Gbps", "0.001", "0.6", "builtin:websearch").unwrap();
    for (rate, errors, load, sizes) in [
        ("100G", "\"0.1%\"", "\"60%\"", "websearch"),
        ("100 G", "\"0.1 %\"", "\"60 %\"", "builtin:websearch"),
        ("100 Gbps", "0.001", "\"60.0%\"", "websearch"),
        ("0.1T", "0.001", "0.60", "websearch"),
        ("100000M", "0.001", "0.6", "websearch"),
    ] {
        let short = fabric(rate, errors, load, sizes).unwrap();
        assert_eq!(short.resolved_toml().unwrap(), long.resolved_toml().unwrap(), "{rate} {errors} {load} {sizes}");
        assert_eq!(short.hash().unwrap(), long.hash().unwrap());
    }
    let text = long.resolved_toml().unwrap();
    for canonical in ["\"100Gbps\"", "load = 0.6", "\"builtin:websearch\"", "error_rate = 0.001"] {
        assert!(text.contains(canonical), "{canonical} in {text}");
    }
}

#[test]
fn keys_set_one_by_one_take_the_same_spellings() {
    let mut set = fabric("10Gbps", "0.0", "0.1", "builtin:datamining").unwrap();
    for (key, value) in [
        ("topology.link.rate", "100G"),
        ("topology.link.error_rate", "0.1%"),
        ("traffic.arrivals.load", "60%"),
        ("traffic.arrivals.sizes", "websearch"),
    ] {
        set.set(key, value).unwrap();
    }
    let written = fabric("100Gbps", "0.001", "0.6", "builtin:websearch").unwrap();
    assert_eq!(set.resolved_toml().unwrap(), written.resolved_toml().unwrap());
    set.set("traffic.arrivals", "{ load = \"60%\", sizes = \"websearch\" }").unwrap();
    assert_eq!(set.hash().unwrap(), written.hash().unwrap());
}

#[test]
fn percentages_are_the_nearest_doubles() {
    for (text, part) in [("7%", 0.07), ("0.1%", 0.001), ("110%", 1.1), ("29%", 0.29), ("57%", 0.57)] {
        let scenario = fabric("400G", "0.0", &format!("{text:?}"), "websearch").unwrap();
        assert!(scenario.resolved_toml().unwrap().contains(&format!("load = {part}\n")), "{text}");
    }
}

#[test]
fn what_is_no_spelling_is_refused_with_what_was_expected() {
    let refused = |rate: &str, errors: &str, load: &str, sizes: &str| fabric(rate, errors, load, sizes).unwrap_err();
    let rate = refused("100X", "0.0", "0.6", "websearch");
    assert!(rate.contains("topology.link.rate = \"100X\": expected a rate with a unit"), "{rate}");
    assert!(refused("100g", "0.0", "0.6", "websearch").contains("(did you mean \"100G\"?)"));
    for wrong in ["60x%", "%", "-5%", "1e1%"] {
        let load = refused("100G", "0.0", &format!("{wrong:?}"), "websearch");
        assert!(load.contains(&format!("arrivals.load = {wrong:?}: expected a number")), "{load}");
    }
    let most = refused("100G", "0.0", "\"1100%\"", "websearch");
    assert!(most.contains("arrivals.load = 11: expected a number above 0, at most 10"), "{most}");
    let errors = refused("100G", "\"150%\"", "0.6", "websearch");
    assert!(errors.contains("topology.link.error_rate = 1.5: expected a number from 0 to 1"), "{errors}");
    let sizes = refused("100G", "0.0", "0.6", "websaerch");
    assert!(sizes.contains("no such file") && sizes.contains("(did you mean \"websearch\"?)"), "{sizes}");
    // a number that is no fraction takes no percentage
    let mut scenario = fabric("100G", "0.0", "0.6", "websearch").unwrap();
    let told = scenario.set("topology.oversubscription", "200%").unwrap_err().to_string();
    assert!(told.contains("expected a number above 0"), "{told}");
}

#[test]
fn a_file_comes_before_a_table_of_the_program() {
    let folder = std::env::temp_dir().join(format!("incast-spelling-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("websearch"), "size,cumulative\n1000,1\n").unwrap();
    let text = FABRIC.replace("RATE", "10G").replace("ERRORS", "0.0").replace("LOAD", "1%");
    let scenario = Scenario::from_toml(&text.replace("SIZES", "websearch"), &folder, "own").unwrap();
    assert!(scenario.resolved_toml().unwrap().contains("sizes = \"websearch\""));
    assert!(scenario.build().unwrap().flows.iter().all(|flow| flow.app.size() == Some(1_000)));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Every number that the program reads as a percentage may be one in an editor, and no other.
#[test]
fn the_schema_for_editors_takes_percentages_of_fractions() {
    let schema: serde_json::Value = serde_json::from_str(&Scenario::schema()).unwrap();
    let load = &schema["$defs"]["Traffic"]["properties"]["arrivals"];
    let text = load.to_string();
    assert!(text.contains("\"pattern\":\"^ *[0-9.]+ *% *$\""), "{text}");
    let duration = schema["$defs"]["Run"]["properties"]["duration"].to_string();
    assert!(!duration.contains('%'), "{duration}");
}
