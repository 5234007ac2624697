//! The printed eigenvalues do not follow from the printed parameters; both sets are shown.

use std::f64::consts::TAU;

use oldham_stability::CoupledModel;

use super::PROPOSED;
use crate::item::{PaperError, Report, model};

/// Real part, imaginary part, frequency, damping factor.
type Printed = [f64; 4];

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let printed = [
        [-1.9236, 15.787, 2.5126, 0.12095],
        [-11.525, 32.535, 5.1782, 0.33389],
        [-11.552, 45.594, 7.2565, 0.24560],
    ];
    let note = "the print has these digits with c1 = c2 = 20, c3 = c4 = 10";
    eigenvalues(report, 20.0, "c1 = c2 = 20", printed.map(Some), note)?;
    let note = "Table 1 as printed, all dampers 10 N.s/m: does not give Table 2";
    eigenvalues(report, 10.0, "Table 1", [None; 3], note)
}

fn eigenvalues(
    report: &mut Report,
    c_left: f64,
    set: &str,
    printed: [Option<Printed>; 3],
    note: &str,
) -> Result<(), PaperError> {
    let model = model(PROPOSED, &[("c_left", c_left)])?;
    let poles = CoupledModel::of(&mut model.monolithic(None)?)?.monolithic();
    for (number, (pole, printed)) in poles.iter().zip(printed).enumerate() {
        let columns = [
            ("real part", pole.re, "1/s"),
            ("imaginary part", pole.im, "rad/s"),
            ("frequency", pole.im / TAU, "Hz"),
            ("damping factor", -pole.re / pole.norm(), "1"),
        ];
        for (column, (what, computed, unit)) in columns.into_iter().enumerate() {
            let name = format!("{set}, eigenvalue {}, {what}", number + 1);
            report.row(name, printed.map(|row| row[column]), computed, unit, note);
        }
    }
    Ok(())
}
