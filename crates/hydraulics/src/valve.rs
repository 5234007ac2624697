//! A control valve: a spool that opens one way as it closes the other.

/// A four-way valve. Its spool is at κ, from 0 to 1: towards 1 the pump feeds chamber 1 and the tank takes from
/// chamber 2, towards 0 the other way round. Nothing flows back into the pump or out of the tank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Valve {
    /// Area of the fully open valve in m².
    pub area: f64,
    /// Discharge coefficient.
    pub discharge: f64,
    /// What it does in the middle.
    pub centre: Centre,
}

/// What a valve does with its spool in the middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Centre {
    /// It is never quite closed: κ of the area on one way and 1 - κ on the other.
    Open,
    /// All ways are closed until the spool has left the middle by this fraction of its way to either end.
    Closed {
        /// From 0 to 1.
        overlap: f64,
    },
}

/// One of the four ways that a spool opens and closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Which chamber it leads to, 0 or 1.
    pub chamber: usize,
    /// Whether it comes from the pump; else it goes to the tank.
    pub is_feed: bool,
}

impl Edge {
    /// All four.
    pub const ALL: [Self; 4] = [
        Self::new(0, true),
        Self::new(0, false),
        Self::new(1, true),
        Self::new(1, false),
    ];

    const fn new(chamber: usize, is_feed: bool) -> Self {
        Self { chamber, is_feed }
    }

    /// How far the spool has come towards opening it, from 0 to 1, and the change of that with the spool.
    fn towards(self, spool: f64) -> (f64, f64) {
        match (self.chamber == 0) == self.is_feed {
            true => (spool, 1.0),
            false => (1.0 - spool, -1.0),
        }
    }
}

/// Small valves at a chamber, besides the one that controls it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SafetyValves {
    /// Opens to the tank where the pressure rises too far.
    pub relief: Option<Relief>,
    /// A check valve from the tank, which opens where the pressure falls below that of the tank: its conductance in
    /// m³/(s Pa).
    pub makeup: Option<f64>,
}

/// A relief valve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relief {
    /// Absolute pressure in Pa at which it opens.
    pub pressure: f64,
    /// Flow per pressure beyond that, in m³/(s Pa).
    pub conductance: f64,
}

impl Valve {
    /// A valve with an open centre, of this full area and discharge coefficient.
    pub fn new(area: f64, discharge: f64) -> Self {
        Self {
            area,
            discharge,
            centre: Centre::Open,
        }
    }

    /// The same with a closed centre.
    pub fn closed(self, overlap: f64) -> Self {
        Self {
            centre: Centre::Closed { overlap },
            ..self
        }
    }
}

impl Centre {
    /// How far an edge is open, as a fraction of the area, with the spool in its housing.
    pub(crate) fn opening(self, spool: f64, edge: Edge) -> f64 {
        let (towards, _) = edge.towards(spool.clamp(0.0, 1.0));
        match self {
            Self::Open => towards,
            Self::Closed { overlap } => {
                let away = 2.0 * towards - 1.0;
                ((away - overlap) / (1.0 - overlap)).max(0.0)
            }
        }
    }

    /// The change of an opening with the spool, wherever that is: what the search for a neutral position goes along. A
    /// closed centre has its neutral position in the middle.
    pub(crate) fn slope(self, edge: Edge) -> f64 {
        match self {
            Self::Open => edge.towards(0.0).1,
            Self::Closed { .. } => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openings(centre: Centre, spool: f64, chamber: usize) -> [f64; 2] {
        [true, false].map(|is_feed| centre.opening(spool, Edge { chamber, is_feed }))
    }

    #[test]
    fn the_spool_stays_in_its_housing() {
        for edge in Edge::ALL {
            let open = |spool: f64| Centre::Open.opening(spool, edge);
            assert_eq!(open(1.4), open(1.0));
            assert_eq!(open(-0.2), open(0.0));
            assert!((open(0.3) + Centre::Open.slope(edge) * 0.2 - open(0.5)).abs() < 1e-15);
        }
        assert_eq!(openings(Centre::Open, 0.25, 0), [0.25, 0.75]);
        assert_eq!(openings(Centre::Open, 0.25, 1), [0.75, 0.25]);
    }

    #[test]
    fn a_closed_centre_opens_beyond_its_overlap_one_way_at_a_time() {
        let centre = Valve::new(5e-4, 0.67).closed(0.2).centre;
        assert_eq!(openings(centre, 0.5, 0), [0.0, 0.0]);
        assert_eq!(openings(centre, 0.59, 1), [0.0, 0.0]);
        assert_eq!(openings(centre, 1.0, 0), [1.0, 0.0]);
        assert_eq!(openings(centre, 1.0, 1), [0.0, 1.0]);
        let [pump, tank] = openings(centre, 0.3, 1);
        assert!((pump - 0.25).abs() < 1e-15 && tank == 0.0);
    }
}
