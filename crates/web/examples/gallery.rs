//! Writes a page with one of everything that can be drawn, to see that all of it is.
//!
//!     cargo run -p oldham-web --example gallery -- gallery.html

use std::f64::consts::TAU;

use oldham_web::{
    Anchor, Colours, Drawing, Film, Force, Frame, Item, Moves, Role, Scene, Shape, Signal, Symbol,
};

const ROWS: usize = 241;
const BEAM: usize = 9;
const GRID: usize = 7;
const GRAINS: usize = 60;

/// Frames in the making, and the numbers that move them.
#[derive(Default)]
struct Gallery {
    scene: Scene,
    /// Each gives its numbers at a time.
    numbers: Vec<Box<dyn Fn(f64) -> Vec<f64>>>,
}

impl Gallery {
    fn numbers(&mut self, count: usize, at_time: impl Fn(f64) -> Vec<f64> + 'static) -> usize {
        let at = self.scene.width;
        self.scene.width += count;
        self.numbers.push(Box::new(at_time));
        at
    }

    /// A frame at a place, turned by an angle about the vertical axis.
    fn moving(&mut self, name: &str, at_time: impl Fn(f64) -> ([f64; 3], f64) + 'static) -> usize {
        let at = self.numbers(7, move |t| {
            let ([x, y, z], angle) = at_time(t);
            let (s, c) = (angle / 2.0).sin_cos();
            vec![x, y, z, c, 0.0, 0.0, s]
        });
        self.scene.frames.push(Frame {
            name: name.into(),
            motion: Moves::Freely { at },
        });
        self.scene.frames.len() - 1
    }

    fn item(&mut self, name: &str, group: Option<usize>, drawing: Drawing) {
        self.scene.items.push(Item {
            name: name.into(),
            group,
            colour: None,
            drawing,
        });
    }

    fn body(&mut self, name: &str, x: f64, shape: Shape) {
        let frame = self.moving(name, move |t| ([x, 0.0, 0.6], TAU * t / 4.0));
        let on = Anchor::of(frame);
        self.item(name, None, Drawing::Body { on, shape });
    }
}

fn fixed(place: [f64; 3]) -> Anchor {
    Anchor {
        frame: 0,
        offset: place,
        turn: None,
    }
}

fn main() -> std::io::Result<()> {
    let out = std::env::args().nth(1).unwrap_or("gallery.html".into());
    std::fs::write(&out, film().to_html())?;
    println!("{out}");
    Ok(())
}

fn film() -> Film {
    let mut all = Gallery::default();
    all.scene.title = "Everything that can be drawn <b>&amp; escaped</b>".into();
    all.scene.description = "Bodies, lines, surfaces, grains, forces".into();
    all.scene.up = [0.0, 0.0, 1.0];
    all.scene.groups = vec!["left <i>part</i>".into(), "right part".into()];
    all.scene.frames.push(Frame {
        name: "ground".into(),
        motion: Moves::Not { base: [0.0; 3] },
    });
    bodies(&mut all);
    lines(&mut all);
    surface(&mut all);
    heap(&mut all);
    rail(&mut all);
    let at = all.numbers(2, |t| vec![(TAU * t).cos(), 0.05 * t]);
    for (place, name, role) in [
        (0, "energy.total", Role::Energy),
        (1, "a <u>name</u>", Role::Spurious),
    ] {
        all.scene.signals.push(Signal {
            name: name.into(),
            unit: "J".into(),
            at: at + place,
            role: Some(role),
        });
    }
    let times: Vec<f64> = (0..ROWS).map(|row| row as f64 / 60.0).collect();
    let row = |&t: &f64| {
        let numbers: Vec<f32> = all
            .numbers
            .iter()
            .flat_map(|n| n(t))
            .map(|x| x as f32)
            .collect();
        assert_eq!(numbers.len(), all.scene.width);
        numbers
    };
    let rows = times.iter().flat_map(row).collect();
    Film {
        scene: all.scene,
        times,
        rows,
    }
}

fn bodies(all: &mut Gallery) {
    let sides = [0.5, 0.35, 0.25];
    all.body("box", -3.0, Shape::Box { sides });
    all.body("ball", -2.0, Shape::Sphere { radius: 0.25 });
    let cylinder = |inner| Shape::Cylinder {
        radius: 0.22,
        inner,
        length: 0.5,
    };
    all.body("cylinder", -1.0, cylinder(0.0));
    all.body("tube", 0.0, cylinder(0.15));
    let capsule = Shape::Capsule {
        radius: 0.14,
        length: 0.4,
    };
    all.body("capsule", 1.0, capsule);
    let wheel = Shape::Wheel {
        radius: 0.32,
        width: 0.2,
    };
    all.body("wheel", 2.0, wheel);
    let points = vec![
        [0.0, 0.0, 0.3],
        [0.3, 0.0, -0.1],
        [-0.15, 0.26, -0.1],
        [-0.15, -0.26, -0.1],
    ];
    let triangles = vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
    all.body("mesh", 3.0, Shape::Mesh { points, triangles });
}

fn lines(all: &mut Gallery) {
    let node = |i: usize| {
        move |t: f64| {
            let part = i as f64 / (BEAM - 1) as f64;
            let sag = 0.25 * (TAU * part / 2.0).sin() * (TAU * t / 2.0).sin();
            ([-3.0 + 2.5 * part, 1.5, 0.8 + sag], 0.0)
        }
    };
    let nodes: Vec<usize> = (0..BEAM)
        .map(|i| all.moving(&format!("beam.{i}"), node(i)))
        .collect();
    for (group, nodes) in [(0, &nodes[..=BEAM / 2]), (1, &nodes[BEAM / 2..])] {
        let through = nodes.iter().map(|&node| Anchor::of(node)).collect();
        let colours = None;
        all.item("beam", Some(group), Drawing::Beam { through, colours });
    }
    for &node in [&nodes[0], &nodes[BEAM - 1]] {
        let on = Anchor::of(node);
        all.item(
            "hinge",
            None,
            Drawing::Joint {
                symbol: Symbol::Pin,
                on,
            },
        );
        all.item("support", None, Drawing::Support { on });
    }
    let block = all.moving("block", |t| {
        ([1.2 + 0.3 * (TAU * t / 2.0).sin(), 1.5, 0.8], 0.0)
    });
    let on = Anchor::of(block);
    let sides = [0.25; 3];
    all.item(
        "block",
        None,
        Drawing::Body {
            on,
            shape: Shape::Box { sides },
        },
    );
    all.item(
        "spring",
        None,
        Drawing::Spring {
            ends: [fixed([0.1, 1.5, 0.8]), on],
        },
    );
    all.item(
        "cylinder",
        None,
        Drawing::Actuator {
            ends: [fixed([2.8, 1.5, 0.8]), on],
        },
    );
    all.item(
        "guide",
        None,
        Drawing::Joint {
            symbol: Symbol::Slide,
            on,
        },
    );
    let through = vec![fixed([2.8, 1.5, 0.0]), fixed([2.8, 1.5, 0.8])];
    all.item("post", None, Drawing::Bar { through });
    let from = all.numbers(6, |t| {
        let push = (TAU * t / 2.0).cos();
        vec![1.2 + 0.3 * (TAU * t / 2.0).sin(), 1.5, 1.0, 0.0, 0.0, push]
    });
    let (force, vector) = (Force::Load, from + 3);
    all.item(
        "load",
        None,
        Drawing::Arrow {
            force,
            from,
            vector,
        },
    );
    let nothing = all.numbers(6, |_| vec![f64::NAN; 6]);
    let force = Force::Contact;
    all.item(
        "no contact",
        None,
        Drawing::Arrow {
            force,
            from: nothing,
            vector: nothing + 3,
        },
    );
    let points = (0..=40)
        .map(|i| TAU * f64::from(i) / 40.0)
        .map(|a| [3.6 * a.cos(), 2.6 * a.sin(), 0.02]);
    all.item(
        "road",
        None,
        Drawing::Path {
            points: points.collect(),
        },
    );
}

fn surface(all: &mut Gallery) {
    let mut nodes = Vec::new();
    for (i, j) in (0..GRID).flat_map(|i| (0..GRID).map(move |j| (i, j))) {
        let node = move |t: f64| {
            let (u, v) = (i as f64 / (GRID - 1) as f64, j as f64 / (GRID - 1) as f64);
            let bend = 0.3 * u * u * (TAU * t / 2.0).sin() + 0.1 * (v - 0.5) * u * (TAU * t).cos();
            ([-3.0 + 2.0 * u, -2.2 + 1.2 * v, 0.7 + bend], 0.0)
        };
        nodes.push(all.moving(&format!("shell.{i}.{j}"), node));
    }
    let face = |i: usize, j: usize| {
        [
            i * GRID + j,
            (i + 1) * GRID + j,
            (i + 1) * GRID + j + 1,
            i * GRID + j + 1,
        ]
    };
    let faces = (0..GRID - 1)
        .flat_map(|i| (0..GRID - 1).map(move |j| face(i, j)))
        .collect();
    // The height of each corner stands for a load.
    let height = |&node: &usize| match all.scene.frames[node].motion {
        Moves::Freely { at } => vec![at + 2],
        _ => Vec::new(),
    };
    let colours = Some(Colours {
        name: "m11 <u>".into(),
        unit: "N".into(),
        of: nodes.iter().map(height).collect(),
    });
    let shell = Drawing::Shell {
        nodes,
        faces,
        colours,
    };
    all.item("shell", None, shell);
}

fn heap(all: &mut Gallery) {
    let place = |i: usize, t: f64| {
        let turn = i as f64 * 2.4;
        let radius = 0.09 * (i as f64).sqrt();
        let bounce = 0.12 * (TAU * (t / 2.0 + i as f64 / 7.0)).sin().abs();
        [
            1.5 + radius * turn.cos(),
            -1.6 + radius * turn.sin(),
            0.15 + bounce,
        ]
    };
    let at = all.numbers(3 * GRAINS, move |t| {
        (0..GRAINS).flat_map(|i| place(i, t)).collect()
    });
    let radii = (0..GRAINS).map(|i| 0.06 + 0.03 * (i % 3) as f32).collect();
    all.item(
        "grains",
        None,
        Drawing::Grains {
            at,
            stride: 3,
            radii,
        },
    );
}

fn rail(all: &mut Gallery) {
    let at = all.numbers(2, |t| vec![200.0 * (TAU * t / 2.0).sin(), TAU * t]);
    let motions = [
        (
            "mass",
            Moves::Along {
                at,
                base: [2.6, -0.9, 0.3],
                room: Some(0.3),
            },
        ),
        (
            "disc",
            Moves::About {
                at: at + 1,
                base: [3.3, -0.9, 0.3],
            },
        ),
    ];
    for (name, motion) in motions {
        all.scene.frames.push(Frame {
            name: name.into(),
            motion,
        });
        let on = Anchor::of(all.scene.frames.len() - 1);
        let shape = match motion {
            Moves::Along { .. } => Shape::Box { sides: [0.25; 3] },
            _ => Shape::Cylinder {
                radius: 0.2,
                inner: 0.0,
                length: 0.1,
            },
        };
        all.item(name, None, Drawing::Body { on, shape });
    }
}
