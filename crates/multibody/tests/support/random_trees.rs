//! Trees with all joints, springs, servos and loads, and what is compared of them.

use oldham_multibody::{
    Body, Bushing, Coordinate, CoordinateForce, Direction, Drive, DrivenCoordinate, Joint, Law,
    Load, Marker, Mat3, Model, Motion, NodeId, Quaternion, Rod, Servo, System, Target, Vec3,
};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.next() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(
            self.between(-size, size),
            self.between(-size, size),
            self.between(-size, size),
        )
    }

    fn orientation(&mut self) -> Quaternion {
        Quaternion::exp(self.vector(2.0))
    }

    fn body(&mut self) -> Body {
        let parts = [0, 1, 2].map(|_| self.between(0.01, 0.05));
        let [a, b, c] = parts;
        let turn = self.orientation().matrix();
        let mut inertia = turn * Mat3::diagonal(b + c, a + c, a + b) * turn.transpose();
        for i in 0..3 {
            for j in 0..i {
                inertia.0[i][j] = inertia.0[j][i];
            }
        }
        Body::centred(self.between(0.5, 2.0), inertia).with_centre(self.vector(0.1))
    }

    fn wave(&mut self) -> Drive {
        Drive::Sine {
            mean: 0.0,
            amplitude: self.between(0.05, 0.3),
            omega: self.between(1.0, 6.0),
            phase: 0.0,
        }
    }
}

/// A tree of `bodies` with all joints, springs, servos, loads.
pub struct RandomTree {
    pub model: Model,
    pub nodes: Vec<NodeId>,
}

pub fn random_tree(seed: u64, bodies: usize, far: Vec3) -> RandomTree {
    let mut random = Random(seed);
    let mut model = Model::new();
    model.gravity(Vec3::new(0.3, -0.5, -9.81));
    let mut nodes = vec![NodeId::GROUND];
    for index in 0..bodies {
        // Long branches and short ones.
        let parent = match random.below(4) {
            0 => nodes[random.below(nodes.len())],
            1 | 2 => nodes[nodes.len() - 1],
            _ => {
                nodes[nodes
                    .len()
                    .saturating_sub(1 + random.below(4))
                    .min(nodes.len() - 1)]
            }
        };
        let base = match parent == NodeId::GROUND {
            true => far,
            false => model.initial(parent).position,
        };
        let place = base + random.vector(0.4);
        let motion = Motion::at_rest(place, random.orientation())
            .moving(random.vector(0.5), random.vector(1.0));
        let node = model.node(format!("n{index}"), motion);
        model.body(node, random.body());
        let (at, axes) = (place + random.vector(0.2), random.orientation());
        let mut ends = [parent, node].map(|n| model.oriented_marker(n, at, axes));
        if random.below(2) == 0 {
            ends.reverse();
        }
        let [a, b] = ends;
        let name = format!("j{index}");
        let joint = match random.below(15) {
            0 => Joint::clamp(a, b),
            1 | 2 => {
                decorate(&mut model, &mut random, &name, Coordinate::Angle, ends);
                Joint::revolute(a, b)
            }
            3 => {
                decorate(&mut model, &mut random, &name, Coordinate::Slide, ends);
                Joint::prismatic(a, b)
            }
            4 => Joint::cylindrical(a, b),
            5 => Joint::universal(a, b),
            6 => Joint::spherical(a, b),
            7 => Joint::planar(a, b),
            8 => Joint::in_line(a, b),
            9 => Joint::in_plane(a, b),
            10 => Joint::driven_revolute(a, b, random.wave()),
            11 => Joint::driven_prismatic(a, b, random.wave()),
            12 => Joint::driven_cylindrical(a, b, Some(random.wave()), None),
            13 => {
                let turn = [0, 1, 2].map(|_| Direction::Prescribed(random.wave()));
                let slide = [
                    Direction::Free,
                    Direction::Locked,
                    Direction::Prescribed(random.wave()),
                ];
                Joint::total(a, b, slide, turn)
            }
            _ => {
                nodes.push(node);
                continue;
            }
        };
        model.element(name, joint);
        nodes.push(node);
    }
    for index in 0..bodies {
        let pair = [0, 1].map(|_| nodes[random.below(nodes.len())]);
        if pair[0] == pair[1] {
            continue;
        }
        let ends = pair.map(|node| {
            let base = if node == NodeId::GROUND {
                far
            } else {
                Vec3::ZERO
            };
            Marker::on(node).offset(base + random.vector(0.2))
        });
        let name = format!("e{index}");
        match random.below(3) {
            0 => {
                let law = Law::Linear {
                    stiffness: random.between(10.0, 100.0),
                    damping: random.between(0.1, 1.0),
                };
                model.element(name, Rod::new(ends[0], ends[1], 0.4, law));
            }
            1 => {
                let mut bushing = Bushing::new(ends[0], ends[1]);
                bushing.stiffness = Mat3::diagonal(20.0, 30.0, 10.0);
                bushing.damping = Mat3::IDENTITY * 0.3;
                model.element(name, bushing);
            }
            _ => {
                let force = [0, 1, 2].map(|_| random.wave());
                let moment = [0, 1, 2].map(|_| random.wave());
                let load = match random.below(2) {
                    0 => Load::fixed(ends[1], force, moment),
                    _ => Load::follower(ends[1], force, moment),
                };
                model.element(name, load);
            }
        }
    }
    RandomTree { model, nodes }
}

/// Things that act along the coordinate of a joint.
fn decorate(
    model: &mut Model,
    random: &mut Random,
    name: &str,
    coordinate: Coordinate,
    ends: [Marker; 2],
) {
    match random.below(5) {
        0 => {
            let servo = Servo::new(coordinate, ends, [20.0, 2.0]).at_position(random.wave());
            model.element(format!("{name}.servo"), servo);
            model.reflected_inertia(&format!("{name}.rotor"), coordinate, ends, 0.2);
        }
        1 => {
            let law = Law::Linear {
                stiffness: 5.0,
                damping: 0.5,
            };
            let spring = CoordinateForce::new(coordinate, ends, law, 0.1);
            model.element(format!("{name}.spring"), spring);
        }
        2 => {
            model.reflected_inertia(&format!("{name}.rotor"), coordinate, ends, 0.1);
        }
        3 => {
            let drive = match random.below(2) {
                0 => Target::Value(random.wave()),
                _ => Target::Rate(random.wave()),
            };
            let drive = DrivenCoordinate::new(coordinate, ends, drive);
            model.element(format!("{name}.drive"), drive);
        }
        _ => {}
    }
}

/// What accelerates the nodes, and what the joints carry.
pub fn answers(system: &System, tree: &RandomTree) -> (Vec<Vec3>, Vec<f64>) {
    let loads = tree.nodes[1..].iter().flat_map(|&node| {
        let (force, moment) = system.inertia_load(node);
        [force, moment]
    });
    let count = tree.model.element_names().count();
    let multipliers = (0..count).flat_map(|index| {
        let name = tree.model.element_names().nth(index).expect("its name");
        let element = tree.model.find_element(name).expect("the element");
        system.multipliers(element).to_vec()
    });
    (loads.collect(), multipliers.collect())
}

/// The largest size.
pub fn largest(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()))
}

/// Differences over the largest value: of what accelerates, and of multipliers.
pub fn difference(a: &(Vec<Vec3>, Vec<f64>), b: &(Vec<Vec3>, Vec<f64>)) -> [f64; 2] {
    let flat = |vectors: &[Vec3]| -> Vec<f64> { vectors.iter().flat_map(|v| v.0).collect() };
    let relative = |x: &[f64], y: &[f64]| {
        let apart: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
        largest(&apart) / largest(y).max(1e-3)
    };
    [relative(&flat(&a.0), &flat(&b.0)), relative(&a.1, &b.1)]
}

/// Places and velocities of the nodes.
pub fn places(system: &System, tree: &RandomTree) -> Vec<f64> {
    let nodes = tree.nodes[1..].iter();
    let motions = nodes.map(|&node| system.motion(node));
    motions
        .flat_map(|m| [m.position.0, m.velocity.0, m.angular_velocity.0])
        .flatten()
        .collect()
}
