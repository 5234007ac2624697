//! Motions in a browser: what the page is told, and the server that tells it.
//!
//! A [`Scene`] says what there is to draw and which numbers of a row move it; a [`Film`] is a scene
//! with all its rows, and can be saved as a page that needs no server. A [`Server`] shows a film, or
//! a [`Stage`] on which a model runs: the newest row wins, and one of those who look on may drive, or
//! somebody in a [`Seat`] without a page.
//!
//! The page itself is built from `web/` and embedded. Nothing here knows models or results.
//!
//! ```
//! use oldham_web::{Anchor, Drawing, Film, Frame, Item, Moves, Scene, Shape};
//!
//! let scene = Scene {
//!     title: "A ball on a rail".into(),
//!     up: [0.0, 0.0, 1.0],
//!     width: 1,
//!     frames: vec![Frame {
//!         name: "ball".into(),
//!         motion: Moves::Along { at: 0, base: [0.0; 3], room: None },
//!     }],
//!     items: vec![Item {
//!         name: "ball".into(),
//!         group: None,
//!         colour: None,
//!         drawing: Drawing::Body {
//!             on: Anchor::of(0),
//!             shape: Shape::Sphere { radius: 0.1 },
//!         },
//!     }],
//!     ..Scene::default()
//! };
//! let film = Film {
//!     scene,
//!     times: vec![0.0, 0.5, 1.0],
//!     rows: vec![0.0, 0.2, 0.8],
//! };
//! assert!(film.to_html().starts_with("<!doctype html>"));
//! ```

mod film;
mod request;
mod scene;
mod seat;
mod server;
mod spectator;
mod stage;
mod viewer;

pub use film::{Film, PAGE, row_bytes};
pub use scene::{
    Anchor, Colours, Drawing, Feedback, Force, Frame, Gauge, Input, Item, Land, Moves, Rider, Road,
    Role, Scene, Shape, Signal, Source, Symbol,
};
pub use seat::Seat;
pub use server::{MOST_CLIENTS, Server, ServerError};
pub use spectator::Spectator;
pub use stage::{RunState, RunStatus, Stage, Wish};
