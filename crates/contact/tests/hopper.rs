//! Grains that run out of a silo, against the law of Beverloo.

use oldham_contact::{Body, Cone, Options, Pose, Scene, Shape, Surface};
use oldham_space::{Mat3, Quaternion, Vec3};

const G: f64 = 9.81;
const RADIUS: f64 = 1e-3;
const DIAMETER: f64 = 2.0 * RADIUS;
const DENSITY: f64 = 2500.0;
/// Flat walls of the silo, and sides of its orifice.
const SIDES: usize = 12;

/// The diameter of the circle with the area of a regular polygon around a circle of this radius.
fn equivalent_diameter(inscribed: f64) -> f64 {
    let n = SIDES as f64;
    let area = n * (std::f64::consts::PI / n).tan() * inscribed * inscribed;
    2.0 * (area / std::f64::consts::PI).sqrt()
}

struct Silo {
    scene: Scene,
    plug: oldham_contact::BodyId,
    count: usize,
    area: f64,
    step: f64,
}

/// A silo with flat walls and a flat bottom, whose orifice is closed; grains fall into it from a lattice.
fn silo(width: f64, orifice: f64, height: f64, step: f64) -> Silo {
    let options = Options {
        reach: 0.1 * RADIUS,
        ..Options::default()
    };
    let mut scene = Scene::new(options, Cone::new(5e-4, 500));
    let rough = scene.add_surface(Surface::rough(0.5)).unwrap();
    let (inner, hole) = (0.5 * width, 0.5 * orifice);
    let half = Vec3::new(inner, 2.0 * inner, 0.5 * DIAMETER);
    let around = (0..SIDES).map(|k| std::f64::consts::TAU * k as f64 / SIDES as f64);
    let shapes = around.flat_map(|angle| {
        let outward = Vec3::new(angle.cos(), angle.sin(), 0.0);
        let wall = Pose {
            position: outward * inner,
            axes: Mat3::from_columns(Vec3::Z, (-outward).cross(Vec3::Z), -outward),
        };
        let plate = Pose {
            position: outward * (hole + half[0]) - Vec3::Z * half[2],
            axes: Quaternion::exp(Vec3::Z * angle).matrix(),
        };
        [
            (Shape::Plane, wall, rough),
            (Shape::Box { half }, plate, rough),
        ]
    });
    scene
        .add_compound(Body::prescribed(Vec3::ZERO), shapes)
        .unwrap();
    // Under the plate, a little into it: nothing falls through.
    let stopper = Vec3::new(1.2 * hole, 1.2 * hole, 0.5 * DIAMETER);
    let plug = Body::prescribed(Vec3::Z * -(stopper[2]));
    let plug = scene
        .add_body(plug, Shape::Box { half: stopper }, rough)
        .unwrap();
    let spacing = 1.06 * DIAMETER;
    let steps = (width / spacing) as i32;
    let mut centres = Vec::new();
    for layer in 0..(height / spacing) as i32 {
        for i in -steps..=steps {
            for j in -steps..=steps {
                // Layers are shifted against each other, and a little irregular.
                let shift = 0.25 * (layer % 2) as f64;
                let noise = |a: f64| 0.02 * (12.9898 * a + 78.233 * layer as f64).sin();
                let x = i as f64 + shift + noise(i as f64 + 0.3 * j as f64);
                let y = j as f64 + shift + noise(j as f64 - 0.7 * i as f64);
                let at = Vec3::new(x * spacing, y * spacing, (layer as f64 + 0.6) * spacing);
                if at[0].hypot(at[1]) < inner - 1.01 * RADIUS {
                    centres.push(at);
                }
            }
        }
    }
    scene.add_grains(&centres, RADIUS, DENSITY, rough).unwrap();
    scene.start().unwrap();
    let n = SIDES as f64;
    Silo {
        scene,
        plug,
        count: centres.len(),
        step,
        area: n * (std::f64::consts::PI / n).tan() * inner * inner,
    }
}

impl Silo {
    fn run(&mut self, duration: f64) {
        let h = self.step;
        for step in 0..(duration / h).round() as usize {
            self.scene.step(step as f64 * h, h).unwrap();
        }
    }

    /// Mass in a volume of the bed well below its top, over that volume.
    fn bulk_density(&self) -> f64 {
        let mut heights: Vec<f64> = self.scene.grains().iter().map(|c| c[2]).collect();
        heights.sort_by(f64::total_cmp);
        let top = heights[heights.len() * 8 / 10];
        let bottom = 2.0 * DIAMETER;
        let within = heights
            .iter()
            .filter(|z| (bottom..top).contains(*z))
            .count();
        within as f64 * mass() / (self.area * (top - bottom))
    }

    fn fallen(&self) -> usize {
        let out = |c: &&Vec3| c[2] < -2.0 * DIAMETER;
        self.scene.grains().iter().filter(out).count()
    }

    /// Settles, opens, and gives the outflow in kg/s beside the bulk density.
    fn outflow(mut self, settle: f64, run_up: f64, measured: f64) -> (f64, f64) {
        self.run(settle);
        let bulk = self.bulk_density();
        assert_eq!(self.fallen(), 0, "the plug holds");
        self.scene.prescribe(self.plug, Vec3::Z * -20.0, Vec3::ZERO);
        self.run(run_up);
        let before = self.fallen();
        self.run(measured);
        let flown = self.fallen() - before;
        assert!(self.fallen() < self.count * 3 / 4, "the silo is not empty");
        (flown as f64 * mass() / measured, bulk)
    }
}

fn mass() -> f64 {
    DENSITY * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3)
}

/// W = C ρ √g (D − k d)^(5/2) with C = 0.58 and k = 1.4 for spheres (Beverloo, Leniger, van de Velde, Chemical Engineering Science 15
/// (1961) 260–269), in silos that are 30 grains wider than their orifices (Mankoc et al., Granular Matter 9 (2007) 407–414). These are smaller, and the law
/// is met within a quarter. The flow takes 0.14 s to become steady. With `OLDHAM_SOAK` there are two orifices and shorter steps.
#[test]
fn grains_run_out_of_a_silo_as_beverloo_says() {
    let is_long = std::env::var_os("OLDHAM_SOAK").is_some();
    let (step, openings) = match is_long {
        true => (2.5e-4, &[6.0, 7.0][..]),
        false => (5e-4, &[6.0][..]),
    };
    for &opening in openings {
        let silo = silo(11.0 * DIAMETER, opening * DIAMETER, 16.0 * DIAMETER, step);
        let count = silo.count;
        let (found, bulk) = silo.outflow(0.06, 0.14, 0.1);
        let clear = equivalent_diameter(0.5 * opening * DIAMETER) - 1.4 * DIAMETER;
        let expected = 0.58 * bulk * G.sqrt() * clear.powf(2.5);
        println!(
            "{count} grains, orifice {opening} d: {found:.5} kg/s, Beverloo {expected:.5} kg/s, bulk density {bulk:.0} kg/m3"
        );
        // Random packings of spheres fill 0.55 to 0.64 of space (Onoda and Liniger, Physical Review Letters 64 (1990) 2727–2730), less at walls.
        let filled = bulk / DENSITY;
        assert!((0.52..0.64).contains(&filled), "{filled}");
        let share = found / expected;
        assert!(
            (0.75..1.25).contains(&share),
            "orifice of {opening} grains: {found} kg/s, {expected} kg/s"
        );
    }
}
