//! What a figure shows; how it looks is decided elsewhere.

/// A title above panels, which are stacked and share nothing but the figure.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Above the panels; may be empty.
    pub title: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// A figure without panels.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            panels: Vec::new(),
        }
    }

    /// Adds a panel below the others.
    pub fn with_panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }
}

/// How values spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences look equal.
    #[default]
    Linear,
    /// Equal ratios look equal; values that are not positive leave a gap.
    Log,
}

/// Curves over a common pair of axes.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Below the panel, with its unit: `time / s`.
    pub x_label: String,
    /// Left of the panel, with its unit: `x / m`.
    pub y_label: String,
    /// Scale along the horizontal axis.
    pub x_scale: Scale,
    /// Scale along the vertical axis.
    pub y_scale: Scale,
    /// The curves; later ones lie on top.
    pub series: Vec<Series>,
    /// Cells that are filled, behind everything else.
    pub cells: Option<Cells>,
    /// Horizontal lines to compare with.
    pub guides: Vec<Guide>,
    /// Lowest and highest value shown, where a diverging curve would flatten all others. Without
    /// it, the axis covers all values.
    pub y_limit: Option<(f64, f64)>,
    /// Whether a unit is as long along both axes: for ways, and other shapes.
    pub is_to_scale: bool,
}

impl Panel {
    /// An empty panel with linear scales.
    pub fn new(x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self {
            x_label: x_label.into(),
            y_label: y_label.into(),
            ..Self::default()
        }
    }

    /// Adds a curve on top of the others.
    pub fn with_series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Fills cells of a grid.
    pub fn with_cells(mut self, cells: Cells) -> Self {
        self.cells = Some(cells);
        self
    }

    /// Adds a horizontal line.
    pub fn with_guide(mut self, label: impl Into<String>, y: f64) -> Self {
        self.guides.push(Guide {
            label: label.into(),
            y,
        });
        self
    }

    /// Sets both scales.
    pub fn with_scales(mut self, x_scale: Scale, y_scale: Scale) -> Self {
        self.x_scale = x_scale;
        self.y_scale = y_scale;
        self
    }

    /// Draws a unit as long along both axes, which are linear.
    pub fn to_scale(mut self) -> Self {
        self.is_to_scale = true;
        self
    }

    /// Shows only values between `low` and `high`.
    pub fn with_y_limit(mut self, low: f64, high: f64) -> Self {
        self.y_limit = Some((low, high));
        self
    }
}

/// A grid of points, each with a cell around it that is filled or not: the map of a property.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// Where the columns stand, increasing.
    pub x: Vec<f64>,
    /// Where the rows stand, increasing.
    pub y: Vec<f64>,
    /// Row by row.
    pub filled: Vec<bool>,
}

/// A horizontal line to compare with.
#[derive(Clone, Debug)]
pub struct Guide {
    /// Written at the line's right end; may be empty.
    pub label: String,
    /// Where it lies.
    pub y: f64,
}

/// One curve. Points that are not finite, or beyond 1e300, leave a gap; surplus values of the
/// longer of `x` and `y` are not drawn.
#[derive(Clone, Debug)]
pub struct Series {
    /// For the legend; may be empty.
    pub label: String,
    /// Horizontal values.
    pub x: Vec<f64>,
    /// Vertical values.
    pub y: Vec<f64>,
    /// How it is drawn.
    pub style: Style,
}

impl Series {
    /// A curve drawn as a [`Style::Line`].
    pub fn new(label: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self {
            label: label.into(),
            x,
            y,
            style: Style::default(),
        }
    }

    /// The same curve in another style.
    pub fn with_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// How a curve is drawn. Colours and markers follow from its name and its place among the curves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A line whose dash pattern follows from its place, so that curves differ in grey too.
    #[default]
    Line,
    /// A solid line.
    Solid,
    /// What others are compared with: a thin dotted line in black, under which they remain visible.
    Reference,
    /// Markers only.
    Points,
    /// A solid line with a marker at each point.
    LineAndPoints,
}

impl Style {
    pub(super) fn has_line(self) -> bool {
        self != Self::Points
    }

    pub(super) fn has_points(self) -> bool {
        matches!(self, Self::Points | Self::LineAndPoints)
    }
}
