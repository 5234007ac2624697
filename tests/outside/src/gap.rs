//! A sensor: the distance of two nodes.

// ANCHOR: sensor
use oldham_model::{At, Site};
use oldham_multibody::{CustomSensor, NodeId, References, element};
use schemars::JsonSchema;
use serde::Deserialize;

/// The distance of two nodes in m.
#[derive(Deserialize, JsonSchema)]
pub struct Settings {
    /// The two nodes.
    between: [At<String>; 2],
}

#[derive(Clone, Debug)]
pub struct Gap([NodeId; 2]);

pub fn make(settings: Settings, site: &mut Site<'_>) -> Option<Gap> {
    let [a, b] = settings.between.each_ref().map(|name| site.node(name));
    Some(Gap([a?, b?]))
}

impl CustomSensor for Gap {
    fn read(&self, at: &element::At<'_>) -> f64 {
        let [a, b] = self.0.map(|node| at.motion(node).position);
        (b - a).norm()
    }

    fn refer(&mut self, references: &mut dyn References) {
        self.0.iter_mut().for_each(|node| references.node(node));
    }
}
// ANCHOR_END: sensor
