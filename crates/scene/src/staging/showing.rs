//! Rows of a run that goes on, for those who look on.

use std::io;

use oldham_cosim::Recorder;
use oldham_web::Stage;

/// Shows every row that it gets on a stage.
pub struct Showing(pub Stage);

impl Recorder for Showing {
    fn record(&mut self, t: f64, row: &[f64]) -> io::Result<()> {
        self.0.show(t, row.iter().map(|&value| value as f32));
        Ok(())
    }
}
