//! Eigenstructure as Tables 1 to 3 print it: poles, natural frequencies, damping ratios and shapes.

use nalgebra::Complex;
use oldham_cosim::{Simulation, SubsystemId};

use crate::item::Report;

/// A mode as it is printed; of a shape the parts that are.
pub(super) struct Printed {
    pub pole: (f64, f64),
    pub frequency: f64,
    pub damping: f64,
    /// Real and imaginary part of both displacements.
    pub shape: [(Option<f64>, Option<f64>); 2],
}

/// A mode as it comes out.
pub(super) struct Mode {
    pub pole: Complex<f64>,
    pub shape: Vec<Complex<f64>>,
}

/// Where the displacements of the two masses are.
pub(super) fn displacements(simulation: &Simulation) -> Vec<(SubsystemId, usize)> {
    let parts = simulation.names().count();
    let mut found = Vec::new();
    for part in (0..parts).map(SubsystemId) {
        let ports = simulation.ports(part);
        for component in 0..ports.output_width() {
            let name = ports.output_component_name(component);
            if ["x1.x", "x2.x"].contains(&name.as_str()) {
                found.push((part, component));
            }
        }
    }
    found
}

/// All rows of a mode. A shape is known up to a factor: ours has the printed size and the printed phase of its first
/// displacement.
pub(super) fn rows(
    report: &mut Report,
    what: &str,
    number: usize,
    mode: &Mode,
    printed: &Printed,
    note: &str,
) {
    let pole = |part: &str| format!("{what}, pole {number}, {part} part");
    report
        .row(pole("real"), printed.pole.0, mode.pole.re, "1/s", note)
        .if_different();
    report
        .row(
            pole("imaginary"),
            printed.pole.1,
            mode.pole.im,
            "rad/s",
            note,
        )
        .if_different();
    let of = |quantity: &str| format!("{what}, mode {number}, {quantity}");
    report
        .row(
            of("natural frequency"),
            printed.frequency,
            mode.pole.norm(),
            "rad/s",
            note,
        )
        .if_different();
    let damping = -mode.pole.re / mode.pole.norm();
    report
        .row(of("damping ratio"), printed.damping, damping, "1", note)
        .if_different();
    let full =
        |(re, im): (Option<f64>, Option<f64>)| Complex::new(re.unwrap_or(0.0), im.unwrap_or(0.0));
    let phase = |value: Complex<f64>| value / value.norm();
    let size = mode
        .shape
        .iter()
        .map(|value| value.norm_sqr())
        .sum::<f64>()
        .sqrt();
    let turn = phase(full(printed.shape[0])) / phase(mode.shape[0]);
    for (mass, (own, printed)) in mode.shape.iter().zip(&printed.shape).enumerate() {
        let own = own * turn / size;
        for (part, printed, own) in [
            ("real", printed.0, own.re),
            ("imaginary", printed.1, own.im),
        ] {
            if printed.is_some() {
                let name = of(&format!("x{} of the shape, {part} part", mass + 1));
                report.row(name, printed, own, "1", note).if_different();
            }
        }
    }
}
