//! Random couplings of two parts along a line, each third of them with a part that does not show its state, each fifth with a
//! spring that hardens.

use std::fmt::Write;

use oldham_study::ModelFile;

use crate::sealed;

/// Numbers without a pattern (Weyl's sequence, mixed), always the same.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    fn one_of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[(self.unit() * all.len() as f64) as usize]
    }
}

const INTEGRATORS: [&str; 4] = ["semi-implicit-euler", "lms2", "rk4", "exact"];

/// Whether a part of model n does not show its state.
pub fn has_black_box(n: u64) -> bool {
    n.is_multiple_of(3)
}

/// Whether a spring of model n hardens: by half, where its mass swings as far as its first speed takes it.
pub fn is_bent(n: u64) -> bool {
    n % 5 == 4
}

/// Model n: an owner of a spring at the interface, and a part that it pushes.
pub fn model(n: u64) -> ModelFile {
    let mut random = Random(n.wrapping_mul(0x51_7cc1));
    let mut text = String::new();
    let slow = random.between(3.0, 12.0);
    let masses = [(); 2].map(|()| random.between(0.3, 3.0));
    let walls = [(); 2].map(|()| slow * slow * random.between(0.3, 3.0));
    let joint = slow * slow * random.between(0.1, 10.0);
    let speeds = [(); 2].map(|()| 4.0 * random.unit() - 2.0);
    // From a few steps in a period of the fastest motion to many.
    let fastest = ((joint + walls[0].max(walls[1])) / masses[0].min(masses[1])).sqrt();
    let step = random.between(0.01, 0.15) / fastest;
    let damping = random.between(0.005, 0.05) * slow;
    let load = format!(
        "{} * sin({} * t)",
        slow * slow * random.between(0.05, 1.0),
        slow * random.between(0.3, 2.0)
    );
    let steps = 300.0 + (random.unit() * 500.0).floor();
    let _ = writeln!(text, "[model]\nname = \"random {n}\"");
    let _ = writeln!(
        text,
        "[simulation]\nstep = {step:e}\nduration = {:e}",
        steps * step
    );
    // The exact integrator takes linear parts alone.
    let integrator = match is_bent(n) {
        true => random.one_of(&INTEGRATORS[..3]),
        false => random.one_of(&INTEGRATORS),
    };
    let amplitude = speeds[0].abs() / slow;
    let wall = match is_bent(n) {
        true => format!(
            "force = \"{0} * d * (1 + 0.5 * (d / {amplitude}) ^ 2) + {damping} * v\"",
            walls[0]
        ),
        false => format!("stiffness = {}, damping = {damping}", walls[0]),
    };
    let _ = write!(
        text,
        "[lumped.owner]\nintegrator = {integrator:?}\n\
         [lumped.owner.masses]\nx1 = {{ mass = {}, velocity = {} }}\n\
         [lumped.owner.springs]\n\
         wall = {{ between = [\"ground\", \"x1\"], {wall} }}\n\
         joint = {{ between = [\"x1\", \"far\"], stiffness = {joint}, damping = {} }}\n\
         [lumped.owner.loads]\nload = {{ on = \"x1\", force = \"{load}\" }}\n\
         [lumped.owner.inputs]\nfar = {{ motion = \"far\" }}\n\
         [lumped.owner.outputs]\nx1 = {{ motion = \"x1\" }}\nforce = {{ force = \"far\" }}\n",
        masses[0],
        speeds[0],
        0.3 * damping,
    );
    let integrator = random.one_of(&INTEGRATORS);
    match has_black_box(n) {
        true => {
            let _ = write!(
                text,
                "[sealed.other]\nmass = {}\nstiffness = {}\ndamping = {damping}\nposition = 0.0\nvelocity = {}\n",
                masses[1], walls[1], speeds[1]
            );
        }
        false => {
            let _ = write!(
                text,
                "[lumped.other]\nintegrator = {integrator:?}\n\
                 [lumped.other.masses]\nx = {{ mass = {}, velocity = {} }}\n\
                 [lumped.other.springs]\n\
                 wall = {{ between = [\"x\", \"ground\"], stiffness = {}, damping = {damping} }}\n\
                 [lumped.other.inputs]\npush = {{ force = \"x\" }}\n\
                 [lumped.other.outputs]\nx = {{ motion = \"x\" }}\n",
                masses[1], speeds[1], walls[1]
            );
        }
    }
    text += "[[connection]]\nfrom = \"other.x\"\nto = \"owner.far\"\n\
             [[connection]]\nfrom = \"owner.force\"\nto = \"other.push\"\n";
    let kind = random.one_of(&["jacobi", "gauss-seidel"]);
    let predictor = random.one_of(&["zero-order", "first-order"]);
    let _ = writeln!(
        text,
        "[schedule]\nkind = {kind:?}\npredictor = {predictor:?}"
    );
    ModelFile::of_text(format!("random-{n}.toml"), text).with_extensions(sealed::extensions())
}
