//! Reference frames, each after the one in which it is given.

use std::collections::HashMap;

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::multibody::{Frame, Multibody};
use crate::format::{At, Entry};
use crate::mechanism::Pose;

impl Checker<'_> {
    pub(crate) fn frames<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        let entries = section.frames.as_slice();
        let places: HashMap<&str, usize> = section.frames.names().zip(0..).collect();
        for entry in entries {
            self.name(&entry.name, "a frame");
        }
        // The walk in which each frame was met.
        let mut met = vec![None; entries.len()];
        for start in 0..entries.len() {
            // Not by recursion: a chain may be as long as the file.
            let mut chain: Vec<usize> = Vec::new();
            let mut next = Some(start);
            while let Some(place) = next {
                let name = entries[place].name.value.as_str();
                if draft.frames.contains_key(name) {
                    break;
                }
                if met[place].replace(start) == Some(start) {
                    self.circle(&entries[place], draft);
                    break;
                }
                chain.push(place);
                let parent = entries[place].value.value.parent.as_ref();
                next = parent.and_then(|parent| places.get(parent.value.as_str()).copied());
            }
            for place in chain.into_iter().rev() {
                let entry = &entries[place];
                if !draft.frames.contains_key(entry.name.value.as_str()) {
                    let frame = self.frame(&entry.value.value, draft);
                    draft.frames.insert(&entry.name.value, frame);
                }
            }
        }
    }

    fn circle<'f>(&mut self, entry: &'f Entry<Frame>, draft: &mut MechanismDraft<'f>) {
        let message = format!("the frame `{}` is given in itself", entry.name.value);
        self.report(&entry.name.span, message).label("in a circle");
        draft.frames.insert(&entry.name.value, None);
    }

    fn frame(&mut self, given: &Frame, draft: &MechanismDraft<'_>) -> Option<Pose> {
        let parent = self.frame_named(&given.parent, draft);
        let position = self.vector_or_zero(&given.position);
        let orientation = self.orientation_in(&Pose::ABSOLUTE, &given.orientation);
        Some(parent?.pose(Pose {
            position: position?,
            orientation: orientation?,
        }))
    }

    /// The frame of this name; the absolute one, if none is named.
    pub(crate) fn frame_named(
        &mut self,
        name: &Option<At<String>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Pose> {
        let Some(name) = name else {
            return Some(Pose::ABSOLUTE);
        };
        self.known(name, "frame", &draft.frames).copied()
    }
}
