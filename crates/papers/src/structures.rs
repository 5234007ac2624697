//! The structures of Fontana 2026, Sect. 5.1 and 5.2, as model files of any size, cut into parts.

use std::fmt::Write;

/// The beam of Table 3: 24 m, both ends hinged and fixed in all translations, from straight under
/// its own weight. The paper does not say how its mass is lumped; here at points, with the rotary
/// inertia that its table gives for the sections and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Beam {
    /// Three-node elements, a multiple of the number of parts.
    pub elements: usize,
    /// Equal parts along the beam.
    pub parts: usize,
    /// Damping per stiffness in s; the paper does not say what its factor 0.05 means.
    pub damping: f64,
    /// Time step in s.
    pub step: f64,
}

impl Beam {
    /// The displacement of mid-span.
    pub const SIGNAL: &str = "beam.middle.x";

    /// As a model file.
    pub fn model(&self) -> String {
        let Self {
            elements,
            parts,
            damping,
            step,
        } = *self;
        assert!(elements.is_multiple_of(parts), "parts are equal");
        let last = 2 * elements;
        let cuts = (1..parts).map(|k| format!("\"girder.{}\"", k * last / parts));
        let cut = table("beam", &cuts.collect::<Vec<_>>().join(", "));
        format!(
            r#"
[model]
name = "Beam"
[simulation]
duration = 10.0
step = {step:e}
[multibody.beam]
gravity = [0, 0, -9.81]
rho = 0.6
[record]
nodes = false
{cut}
[multibody.beam.sections.girder]
axial = 1e6
shear = [0.6e6, 0.6e6]
torsion = 1e3
bending = [2e3, 1e4]
mass = 5.0
inertia = [0.1, 0.05, 0.05]
damping = {damping:e}
[multibody.beam.beams.girder]
from = [0, 0, 0]
to = [24, 0, 0]
elements = {elements}
section = "girder"
up = [0, 1, 0]
lumping = "points"
[multibody.beam.joints]
left = {{ type = "revolute", between = ["ground", "girder.0"], axis = [0, 1, 0] }}
right = {{ type = "revolute", between = ["ground", "girder.{last}"], axis = [0, 1, 0] }}
[multibody.beam.outputs]
middle = {{ translation = "girder.{elements}", axis = [0, 0, 1] }}
"#
        )
    }
}

/// The shell of Table 5: 1 m × 0.2 m × 1 mm, both short ends clamped, pushed up along its middle
/// line by a force that grows smoothly to 20 N in 1 s. The density is not printed: 1000 kg/m³.
#[derive(Clone, Copy, Debug)]
pub struct Shell {
    /// Elements along and across, both even.
    pub divisions: [usize; 2],
    /// One or two parts.
    pub parts: usize,
    /// Damping per stiffness in s.
    pub damping: f64,
    /// Time step in s.
    pub step: f64,
}

impl Shell {
    /// The displacement of the middle.
    pub const SIGNAL: &str = "shell.middle.x";

    /// As a model file.
    pub fn model(&self) -> String {
        let Self {
            divisions: [along, across],
            parts,
            damping,
            step,
        } = *self;
        let middle = along / 2;
        let line = if parts == 2 {
            format!("\"sheet.{middle}.*\"")
        } else {
            String::new()
        };
        let cut = table("shell", &line);
        let mut loads = String::new();
        for row in 0..=across {
            let is_side = row == 0 || row == across;
            let share = if is_side { 10.0 } else { 20.0 } / across as f64;
            let push = format!("{{ smooth_step = [0, 1, 0, {share}] }}");
            let on = format!("sheet.{middle}.{row}");
            writeln!(
                loads,
                "push{row} = {{ on = \"{on}\", force = [0, 0, {push}] }}"
            )
            .expect("a text takes everything");
        }
        let centre = across / 2;
        format!(
            r#"
[model]
name = "Shell"
[simulation]
duration = 1.5
step = {step:e}
[multibody.shell]
rho = 0.6
[record]
nodes = false
{cut}
[multibody.shell.shells.sheet]
rectangle = [[-0.5, -0.1, 0], [1, 0, 0], [0, 0.2, 0]]
elements = [{along}, {across}]
thickness = 1e-3
young = 6.825e7
poisson = 0.3
density = 1000
damping = {damping:e}
clamp = ["u0", "u1"]
[multibody.shell.loads]
{loads}
[multibody.shell.outputs]
middle = {{ translation = "sheet.{middle}.{centre}", axis = [0, 0, 1] }}
"#
        )
    }
}

/// The table that cuts a mechanism at some nodes, if there are any.
fn table(mechanism: &str, at: &str) -> String {
    if at.is_empty() {
        return String::new();
    }
    format!("[multibody.{mechanism}.cut]\nat = [{at}]")
}
