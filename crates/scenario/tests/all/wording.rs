//! Wording of errors, in one file: `errors.txt` has the expected messages of each test, in order. Tests state key,
//! value and kind; `UPDATE_SNAPSHOTS=1 cargo test -p incast-scenario` writes the wording again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

/// Messages of each test.
type Wording = BTreeMap<String, Vec<String>>;

/// Messages of this run.
static SAID: Mutex<Wording> = Mutex::new(Wording::new());

fn read(text: &str) -> Wording {
    let mut wording = Wording::new();
    let mut test = "";
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("# ") {
            Some(name) => test = name,
            None => wording.entry(test.to_owned()).or_default().push(line.to_owned()),
        }
    }
    wording
}

fn write(wording: &Wording) -> String {
    let section = |(test, messages): (&String, &Vec<String>)| format!("# {test}\n{}\n", messages.join("\n"));
    wording.iter().map(section).collect::<Vec<_>>().join("\n")
}

/// Checks that `message` begins with its key, its value and its kind, and has the wording of the file.
#[track_caller]
pub fn said(message: impl ToString, begins: &str) {
    let message = message.to_string();
    assert!(message.starts_with(begins), "{message}\nexpected: {begins} ...");
    let test = std::thread::current().name().unwrap_or("main").to_owned();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/errors.txt");
    // a message that is not the expected one ends its test, not the others
    let mut said = SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let of_test = said.entry(test.clone()).or_default();
    of_test.push(message.clone());
    let number = of_test.len() - 1;
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        return std::fs::write(file, write(&said)).unwrap();
    }
    drop(said);
    let wording = read(&std::fs::read_to_string(file).unwrap());
    // a single thread has no test's name
    let known = match wording.get(&test) {
        Some(messages) => messages.get(number) == Some(&message),
        None => wording.values().flatten().any(|known| *known == message),
    };
    assert!(known, "not the wording of errors.txt (UPDATE_SNAPSHOTS=1 writes it): {message}");
}
