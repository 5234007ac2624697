//! A mechanism at rest, with the given configuration in grey.

use oldham_model::{Mechanism, Pose};

use crate::{Page, View, ViewName, marks};

/// A page with the poses as given, and those in equilibrium.
pub fn statics_page(
    title: impl Into<String>,
    mechanism: Mechanism<'_>,
    given: &[Pose],
    poses: &[Pose],
    view: ViewName,
) -> Page {
    let sketch = mechanism.sketch();
    let both = given.iter().chain(poses);
    let view = View::of(view, both.skip(1).map(|pose| pose.position));
    Page::new(title, view)
        .layer(marks(sketch, given, &view), 0.25)
        .layer(marks(sketch, poses, &view), 1.0)
}
