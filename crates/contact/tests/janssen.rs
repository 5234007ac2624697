//! The load on the bottom of a silo, against Janssen's law.
//!
//! H. Janssen, Zeitschrift des Vereines Deutscher Ingenieure 39 (1895) 1045–1049: walls carry what friction takes over, and the pressure in a bed of grains
//! saturates at ρ g λ, with λ = A/(P μ K), K being the ratio of the stress on the walls to that from above.

use oldham_contact::{Body, Coulomb, Options, Pose, Scene, Shape, Surface};
use oldham_space::{Mat3, Vec3};

const G: f64 = 9.81;
/// Two sizes, so that grains do not order.
const RADII: [f64; 2] = [0.9e-3, 1.1e-3];
const DENSITY: f64 = 2500.0;
/// Of a square tube.
const SIDE: f64 = 9e-3;
const FRICTION: f64 = 0.4;
const STEP: f64 = 5e-4;
/// Walls creep upwards, so that friction is at its bound everywhere.
const CREEP: f64 = 4e-3;

fn mass(radius: f64) -> f64 {
    DENSITY * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
}

/// What a bed at rest between creeping walls does, as means over time.
#[derive(Debug, Default)]
struct Bed {
    weight: f64,
    height: f64,
    /// Force on the bottom.
    bottom: f64,
    /// Friction and pressure of the walls.
    carried: f64,
    pressed: f64,
    /// The force that passes through a level, summed over levels times their distance.
    through: f64,
}

/// Levels at which the force through the bed is looked at.
const LEVELS: usize = 20;

fn bed(layers: usize) -> Bed {
    let options = Options {
        reach: 1e-4,
        ..Options::default()
    };
    let mut scene = Scene::new(options, Coulomb::new(2e-5, 500));
    let rough = scene.add_surface(Surface::rough(FRICTION)).unwrap();
    let half = 0.5 * SIDE;
    let walls = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y].map(|inwards| {
        let beside = inwards.perpendicular();
        let axes = Mat3::from_columns(beside, inwards.cross(beside), inwards);
        let position = inwards * -half;
        (Shape::Plane, Pose { position, axes }, rough)
    });
    let walls = scene.add_compound(Body::prescribed(Vec3::ZERO), walls);
    let walls = walls.unwrap();
    let floor = Body::prescribed(Vec3::ZERO);
    let floor = scene.add_body(floor, Shape::Plane, rough).unwrap();
    let mut seed = 3_u64;
    let mut noise = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let (spacing, shake) = (2.05 * RADII[1], 0.02 * RADII[1]);
    let first = RADII[1] + shake - half;
    let room = -2.0 * first;
    let along = (room / spacing) as usize + 1;
    let rest = 0.5 * (room - spacing * (along - 1) as f64);
    let mut centres = [Vec::new(), Vec::new()];
    for i in 0..along * along * layers {
        let site = [i % along, i / along % along, i / (along * along)].map(|k| k as f64);
        let place = usize::from(noise() > 0.0);
        let shaken = Vec3::new(noise(), noise(), noise()) * shake;
        let beside = |k: usize| first + rest + spacing * site[k];
        let lattice = Vec3::new(beside(0), beside(1), spacing * (site[2] + 0.55));
        centres[place].push(lattice + shaken);
    }
    for (centres, radius) in centres.iter().zip(RADII) {
        scene.add_grains(centres, radius, DENSITY, rough).unwrap();
    }
    scene.start().unwrap();
    let first = scene.first_grain().0 as usize;
    let masses: Vec<f64> = centres
        .iter()
        .zip(RADII)
        .flat_map(|(centres, radius)| centres.iter().map(move |_| mass(radius)))
        .collect();

    scene.prescribe(walls, Vec3::Z * CREEP, Vec3::ZERO);
    let (settling, measured) = (150 + 8 * layers, 50);
    let mut bed = Bed {
        weight: G * masses.iter().sum::<f64>(),
        ..Bed::default()
    };
    for step in 0..settling + measured {
        scene.step(step as f64 * STEP, STEP).unwrap();
        if step < settling {
            continue;
        }
        let share = 1.0 / measured as f64;
        bed.bottom -= share * scene.reaction(floor)[0][2];
        let grains = scene.grains();
        let mut heights: Vec<f64> = grains.iter().map(|at| at[2]).collect();
        heights.sort_by(f64::total_cmp);
        // The loose top is not counted; half a grain is above its centre.
        let height = heights[heights.len() - along * along / 2] + RADII[1];
        bed.height += share * height;
        // Wall forces by the height of the grain.
        let mut forces: Vec<(f64, f64, f64)> = Vec::new();
        for (touch, impulse) in scene.touches().iter().zip(scene.impulses()) {
            if touch.ends[0].body() == walls.0 as usize {
                let impulse = Vec3::new(impulse[0], impulse[1], impulse[2]) * (1.0 / STEP);
                let pressed = impulse.dot(touch.normal);
                let grain = touch.ends[1].body() - first;
                forces.push((grains[grain][2], impulse[2], pressed));
            }
        }
        bed.carried += share * forces.iter().map(|f| f.1).sum::<f64>();
        bed.pressed += share * forces.iter().map(|f| f.2).sum::<f64>();
        for level in 0..LEVELS {
            let at = height * (level as f64 + 0.5) / LEVELS as f64;
            let above = grains.iter().zip(&masses).filter(|(c, _)| c[2] > at);
            let weight: f64 = above.map(|(_, mass)| G * mass).sum();
            let carried: f64 = forces.iter().filter(|f| f.0 > at).map(|f| f.1).sum();
            bed.through += share * (weight - carried) * height / LEVELS as f64;
        }
    }
    bed
}

impl Bed {
    /// The ratio of wall friction to the stress from above: spheres roll along walls, so that not all of the friction is used.
    fn slope(&self) -> f64 {
        self.carried / self.pressed * self.lateral()
    }

    /// K: the stress on the walls over that from above.
    fn lateral(&self) -> f64 {
        self.pressed * SIDE * SIDE / (4.0 * SIDE * self.through)
    }

    /// The share of the weight on the bottom by Janssen's law, for a ratio of wall friction to the stress from above.
    fn share(&self, slope: f64) -> f64 {
        let depth = self.height * 4.0 * slope / SIDE;
        (1.0 - (-depth).exp()) / depth
    }
}

/// The force on the bottom is Janssen's for the ratio of stresses in the bed itself; with `OLDHAM_SOAK` beds of several heights have one ratio.
#[test]
fn walls_carry_a_bed_of_grains_as_janssen_says() {
    let layers: &[usize] = match std::env::var_os("OLDHAM_SOAK") {
        Some(_) => &[12, 24, 48],
        None => &[12],
    };
    let beds: Vec<Bed> = layers.iter().map(|&layers| bed(layers)).collect();
    let tallest = beds.last().expect("there is one");
    for bed in &beds {
        let (found, expected) = (bed.bottom / bed.weight, bed.share(bed.slope()));
        println!(
            "{:.1} mm: {found:.3} of the weight on the bottom, Janssen {expected:.3}; K {:.2}, wall friction {:.3}",
            bed.height * 1e3,
            bed.lateral(),
            bed.carried / bed.pressed
        );
        // What rests is in balance.
        let sum = bed.bottom + bed.carried;
        assert!((sum / bed.weight - 1.0).abs() < 0.03, "{bed:?}");
        assert!((found / expected - 1.0).abs() < 0.06, "{found} {expected}");
        assert!((0.3..1.2).contains(&bed.lateral()), "{bed:?}");
        assert!(bed.carried / bed.pressed < FRICTION * 1.001);
        let by_one = bed.share(tallest.slope());
        assert!((found / by_one - 1.0).abs() < 0.1, "{found} {by_one}");
    }
    assert!(tallest.carried > 0.2 * tallest.weight, "{tallest:?}");
}
