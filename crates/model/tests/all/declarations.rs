//! Laws of every model: names, defaults, values in the order of the declarations.

use incast_model::{MODELS, Quantity, find};
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_found() {
    let names: BTreeSet<&str> = MODELS.iter().map(|m| m.name).collect();
    assert_eq!(names.len(), MODELS.len());
    for model in MODELS {
        assert_eq!(find(model.name).map(|m| m.title), Some(model.title));
        let parameters: BTreeSet<&str> = model.parameters.iter().map(|p| p.name).collect();
        let figures: BTreeSet<&str> = model.figures.iter().map(|f| f.name).collect();
        assert_eq!((parameters.len(), figures.len()), (model.parameters.len(), model.figures.len()));
        assert!(!model.assumptions.is_empty() && !model.fails.is_empty(), "{}", model.name);
        for parameter in model.parameters {
            assert!(parameter.doc.trim().ends_with('.'), "{} {}: {}", model.name, parameter.name, parameter.doc);
            assert_eq!(parameter.required(), parameter.source.is_empty(), "{} {}", model.name, parameter.name);
        }
    }
    assert!(find("reno").is_none());
}

/// Every model works with its defaults and a hundredth of slow or lost packets, or two flows; every parameter that is
/// not a number is refused by its name; values and figures are in the order of the declarations.
#[test]
fn defaults_work_and_each_parameter_is_checked() {
    for model in MODELS {
        let values: Vec<f64> = model
            .parameters
            .iter()
            .map(|p| match p.name {
                "q" | "p" => 0.01,
                "flows" => 2.0,
                _ => p.default,
            })
            .collect();
        let mut figures = vec![f64::NAN; model.figures.len()];
        (model.evaluate)(&values, &mut figures).unwrap();
        assert!(figures.iter().all(|f| f.is_finite()), "{} {figures:?}", model.name);
        for (i, parameter) in model.parameters.iter().enumerate() {
            assert_eq!(model.parameter(parameter.name), Some(i));
            for wrong in [f64::NAN, -1.0] {
                let mut values = values.clone();
                values[i] = wrong;
                let error = (model.evaluate)(&values, &mut figures).unwrap_err();
                assert_eq!(error.parameter, parameter.name, "{}", model.name);
                assert!(error.to_string().contains("expected"), "{error}");
            }
        }
    }
}

#[test]
fn quantities_are_written_as_users_write_them() {
    let written = [
        (Quantity::Time, 14.4e-6, "14.4us"),
        (Quantity::Time, 36e-6, "36us"),
        (Quantity::Time, 0.0, "0s"),
        (Quantity::Time, 1.5, "1.5s"),
        (Quantity::Rate, 100e9, "100Gbps"),
        (Quantity::Rate, f64::INFINITY, "inf"),
        (Quantity::Size, 4000.0, "4kB"),
        (Quantity::Size, 1460.0, "1.46kB"),
        (Quantity::Number, 0.01, "0.01"),
        (Quantity::Number, 65.0, "65"),
    ];
    for (quantity, value, text) in written {
        assert_eq!(quantity.write(value), text);
    }
}
