//! Steering wheels and pedals that are plugged into this computer, without a browser between.
//!
//! A [`Device`] gives records as the system writes them, and pushes back where it can. A
//! [`Calibration`] says which axis sets which input, where it rests and how far it goes. A [`Wheel`]
//! is both: it tells how far each input was moved and what was pressed. [`Learning`] makes a
//! calibration of what somebody moves. Nothing here knows models.
//!
//! ```
//! use oldham_wheel::{AxisCode, Response};
//!
//! // A pedal that reads 255 when nobody touches it, and 0 when it is pressed down.
//! let pedal = Response { axis: AxisCode(2), rest: 255, high: 0, low: None, dead: 0.0 };
//! assert_eq!(pedal.share(255), 0.0);
//! assert_eq!(pedal.share(51), 0.8);
//! ```

mod axis;
mod calibration;
mod device;
mod error;
mod event;
mod learning;
mod response;
mod wheel;

pub use axis::{Axis, AxisCode};
pub use calibration::{Button, Calibration};
pub use device::{Device, Found, Recording, found, open};
pub use error::WheelError;
pub use event::{Event, RECORD, What};
pub use learning::Learning;
pub use response::Response;
pub use wheel::{Turn, Wheel};
