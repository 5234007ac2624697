//! What a page draws: frames of reference that move, things that hang on them, signals.
//!
//! A motion is a row of numbers for each instant. The scene says which of them is what; it is sent
//! once, the rows follow. Lengths are in m, angles in rad, quaternions scalar first.

use serde::Serialize;

/// Everything that stays the same while things move.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scene {
    /// Title of the model.
    pub title: String,
    /// What it shows.
    pub description: String,
    /// Where the rows come from.
    pub source: Source,
    /// The direction that is up.
    pub up: [f64; 3],
    /// Numbers in a row.
    pub width: usize,
    /// The first one stands still.
    pub frames: Vec<Frame>,
    /// The frame that the camera follows at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<usize>,
    /// What is drawn.
    pub items: Vec<Item>,
    /// Parts of the model, each with a colour.
    pub groups: Vec<String>,
    /// What can be plotted.
    pub signals: Vec<Signal>,
    /// What somebody at the page may set.
    pub inputs: Vec<Input>,
    /// What a camera rides on, if anything travels or the model says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rider: Option<Rider>,
    /// Instruments.
    pub gauges: Vec<Gauge>,
    /// Remarks that a viewer should read.
    pub notes: Vec<String>,
}

/// Where the rows of a scene come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A result: all rows are there.
    #[default]
    Recorded,
    /// A run that goes on.
    Live,
}

/// A frame of reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Frame {
    /// Its name in the model.
    pub name: String,
    /// How it moves.
    #[serde(flatten)]
    pub motion: Moves,
}

/// How a frame of reference moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "moves", rename_all = "kebab-case")]
pub enum Moves {
    /// It stays where it is.
    Not {
        /// Its origin.
        base: [f64; 3],
    },
    /// Freely: seven numbers of the row are its origin and its quaternion.
    Freely {
        /// The first of them.
        at: usize,
    },
    /// Along the first axis by one number of the row. All such motions of a scene are shown to one
    /// scale, at which each has room enough; where none needs any, as they are.
    Along {
        /// The displacement.
        at: usize,
        /// Where it is at no displacement.
        base: [f64; 3],
        /// How far it may be drawn from there, if others are in its way.
        #[serde(skip_serializing_if = "Option::is_none")]
        room: Option<f64>,
    },
    /// About the first axis by one number of the row.
    About {
        /// The angle.
        at: usize,
        /// Its origin.
        base: [f64; 3],
    },
}

/// A place with axes that is fixed to a frame of reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Anchor {
    /// Number of the frame.
    pub frame: usize,
    /// In the frame's axes, from its origin.
    pub offset: [f64; 3],
    /// Relative to the frame's axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<[f64; 4]>,
}

impl Anchor {
    /// The origin and the axes of a frame.
    pub fn of(frame: usize) -> Self {
        Self {
            frame,
            ..Self::default()
        }
    }
}

/// Something that is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// Its name in the model; may be empty.
    pub name: String,
    /// The part that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<usize>,
    /// Red, green and blue of a body as `#rrggbb`, if it has a colour of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// What it is.
    #[serde(flatten)]
    pub drawing: Drawing,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Drawing {
    /// A rigid body.
    Body {
        /// Its centre and axes.
        on: Anchor,
        /// What it looks like.
        shape: Shape,
    },
    /// A rigid bar through points.
    Bar {
        /// At least two.
        through: Vec<Anchor>,
    },
    /// A deformable line through frames.
    Beam {
        /// At least two.
        through: Vec<Anchor>,
        /// What its colours show.
        #[serde(skip_serializing_if = "Option::is_none")]
        colours: Option<Colours>,
    },
    /// A deformable surface between frames.
    Shell {
        /// Corners of the faces.
        nodes: Vec<usize>,
        /// Places among the nodes, around each face.
        faces: Vec<[usize; 4]>,
        /// What its colours show.
        #[serde(skip_serializing_if = "Option::is_none")]
        colours: Option<Colours>,
    },
    /// A coil between two points.
    Spring {
        /// Where it is attached.
        ends: [Anchor; 2],
    },
    /// A cylinder with its piston rod between two points.
    Actuator {
        /// Where it is attached.
        ends: [Anchor; 2],
    },
    /// Where two bodies are connected.
    Joint {
        /// How.
        symbol: Symbol,
        /// Where; a slide goes along the third axis.
        on: Anchor,
    },
    /// Where something is held.
    Support {
        /// Where.
        on: Anchor,
    },
    /// A large number of balls.
    Grains {
        /// The first number of the row that belongs to them.
        at: usize,
        /// Numbers of the row for each: three of its centre, or seven of its pose.
        stride: usize,
        /// One radius for each ball.
        radii: Vec<f32>,
    },
    /// A force, drawn as an arrow. Nothing is drawn where one of its numbers is not finite.
    Arrow {
        /// What it is.
        force: Force,
        /// Three numbers of the row: where it acts.
        from: usize,
        /// Three numbers of the row: the vector.
        vector: usize,
    },
    /// A line that stays where it is: a road, a rail.
    Path {
        /// Its points.
        points: Vec<[f64; 3]>,
    },
    /// A road, and the land around it.
    Road(Road),
}

/// A road along a closed centre line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Road {
    /// Of the centre line, in m.
    pub length: f64,
    /// Where the points of a cross-section are, in m to the left of the centre line, from left to right: the ends of the
    /// verges, the tops of kerbs if there are any, the edges, the middle.
    pub across: Vec<f64>,
    /// Points of the cross-sections at equal distances from the start on, one cross-section after the other.
    pub points: Vec<[f64; 3]>,
    /// Kerbs: from which cross-section to which, counted beyond the lap where they go beyond the start, and whether
    /// they are on the left.
    pub kerbs: Vec<(i64, i64, bool)>,
    /// Where cones stand on the left and on the right.
    pub cones: Vec<[[f64; 3]; 2]>,
    /// Left and right end of the lines at which times are taken: the start, then the ends of sectors.
    pub gates: Vec<[[f64; 3]; 2]>,
    /// None where the land is level at zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub land: Option<Land>,
}

/// Heights at equal distances along x and y.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Land {
    /// The first point.
    pub origin: [f64; 2],
    /// Distance of the points.
    pub spacing: f64,
    /// How many there are along x.
    pub columns: usize,
    /// Row by row of equal y.
    pub heights: Vec<f64>,
}

/// Colours by a quantity, from its largest negative to its largest positive value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Colours {
    /// The quantity.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// For each point, the places in the row of numbers whose mean it shows.
    pub of: Vec<Vec<usize>>,
}

/// What a body looks like. What is round lies along the first axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Shape {
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A box.
    Box {
        /// Its sides.
        sides: [f64; 3],
    },
    /// A cylinder, or a tube.
    Cylinder {
        /// Outer radius.
        radius: f64,
        /// Inner radius; none is zero.
        inner: f64,
        /// Along the first axis.
        length: f64,
    },
    /// A cylinder with round ends.
    Capsule {
        /// Of cylinder and ends.
        radius: f64,
        /// Between the centres of the ends.
        length: f64,
    },
    /// A wheel with its tyre; the first axis is its axle.
    Wheel {
        /// Outer radius.
        radius: f64,
        /// Along the axle.
        width: f64,
    },
    /// A mass of unknown extent.
    Point,
    /// Triangles.
    Mesh {
        /// Corners.
        points: Vec<[f32; 3]>,
        /// Places among the points.
        triangles: Vec<[u32; 3]>,
    },
}

/// How a joint is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symbol {
    /// It turns about the third axis, or about all axes.
    Pin,
    /// It slides along the third axis.
    Slide,
}

/// What an arrow stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Force {
    /// The force at a contact.
    Contact,
    /// Any other force.
    Load,
}

/// A number of the row that can be plotted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signal {
    /// Such as `left.x1.v`.
    pub name: String,
    /// Its SI unit.
    pub unit: String,
    /// Its place in the row.
    pub at: usize,
    /// What it tells, where the page shows it without being asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// What a signal tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// An energy of the whole model.
    Energy,
    /// Spurious energy of an interface, or of the whole.
    Spurious,
    /// An output of the model, among which the first ones are plotted.
    Output,
}

/// A number that somebody at the page may set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Input {
    /// The name of the external input.
    pub name: String,
    /// Its component, where it has several.
    pub component: usize,
    /// Its unit.
    pub unit: String,
    /// What it is until somebody sets it, and when nobody does any longer.
    pub initial: f64,
    /// The lowest value that it is given.
    pub low: f64,
    /// The highest one.
    pub high: f64,
    /// What whoever sets it feels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Feedback>,
}

/// Where somebody sits who rides along.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rider {
    /// The frame that carries them; its first axis points ahead.
    pub frame: usize,
    /// Where their eye is in its axes, if the model says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eye: Option<[f64; 3]>,
}

/// An instrument for a number of the row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gauge {
    /// What is written beside it.
    pub label: String,
    /// Its place in the row.
    pub at: usize,
    /// The unit that it is shown in.
    pub unit: String,
    /// SI units in one of it.
    pub factor: f64,
    /// The ends of its scale in that unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
}

/// A signal that is felt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Feedback {
    /// The name of the signal.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its place in the row.
    pub at: usize,
    /// Its magnitude at full strength.
    pub full: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_motions_are_told_by_name() {
        let frame = Frame {
            name: "cart".into(),
            motion: Moves::Along {
                at: 3,
                base: [1.0, 0.0, 0.0],
                room: Some(0.5),
            },
        };
        let text = serde_json::to_string(&frame).unwrap();
        assert_eq!(
            text,
            r#"{"name":"cart","moves":"along","at":3,"base":[1.0,0.0,0.0],"room":0.5}"#
        );
        let item = Item {
            name: "rim".into(),
            group: None,
            colour: None,
            drawing: Drawing::Body {
                on: Anchor::of(2),
                shape: Shape::Wheel {
                    radius: 0.3,
                    width: 0.2,
                },
            },
        };
        let text = serde_json::to_string(&item).unwrap();
        assert_eq!(
            text,
            r#"{"name":"rim","kind":"body","on":{"frame":2,"offset":[0.0,0.0,0.0]},"shape":{"form":"wheel","radius":0.3,"width":0.2}}"#
        );
    }
}
