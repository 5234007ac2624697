//! Loops of direct feedthrough through controllers: nothing in them takes time, so that no order of
//! evaluation finds their values.

use oldham_cosim::{Coupling, Ports};

use crate::model::{Content, Model};
use crate::problem::Problem;

/// An output component: the place of its part, and its own.
type Component = (usize, usize);

impl Model {
    /// A loop without delay that leads through a controller, if there is one and the coupling is
    /// explicit: an implicit coupling solves it.
    pub(crate) fn algebraic_loop(&self) -> Option<Problem> {
        let parts = &self.spec.parts;
        let is_control = |part: usize| matches!(parts[part].content, Content::Control(_));
        let controllers: Vec<usize> = (0..parts.len()).filter(|&part| is_control(part)).collect();
        let is_explicit = matches!(self.spec.schedule.coupling, Coupling::Explicit);
        if controllers.is_empty() || !is_explicit {
            return None;
        }
        let mut search = Search {
            model: self,
            ports: vec![None; parts.len()],
            done: Vec::new(),
        };
        let found = controllers.into_iter().find_map(|part| {
            let components = 0..search.ports(part)?.output_width();
            components.into_iter().find_map(|component| {
                let mut way = Vec::new();
                search.follow((part, component), &mut way)
            })
        })?;
        if !found.iter().any(|&(part, _)| is_control(part)) {
            return None;
        }
        let names: Vec<String> = found.iter().map(|&at| search.name(at)).collect();
        let first = found.iter().find(|&&(part, _)| is_control(part))?.0;
        let message = format!(
            "a control loop without delay: {} <- {}",
            names.join(" <- "),
            names[0]
        );
        let help = "each value needs the next one at the same instant: put a state into the loop (a \
                    filter or a `delay` block, or feed back something that has inertia), or take \
                    `schedule.coupling = \"implicit\"`, which solves it";
        let problem = Problem::new(parts[first].span.clone(), message);
        Some(problem.label("part of the loop").help(help))
    }
}

struct Search<'m> {
    model: &'m Model,
    ports: Vec<Option<Ports>>,
    /// From here no loop is reached.
    done: Vec<Component>,
}

impl Search<'_> {
    /// The ports of a part, which only its solver knows.
    fn ports(&mut self, part: usize) -> Option<&Ports> {
        if self.ports[part].is_none() {
            self.ports[part] = self.model.ports_of(part);
        }
        self.ports[part].as_ref()
    }

    fn name(&mut self, (part, component): Component) -> String {
        let name = &self.model.spec.parts[part].name;
        match self.ports(part) {
            Some(ports) => format!("{name}.{}", ports.output_component_name(component)),
            None => name.clone(),
        }
    }

    /// Follows what an output needs at the same instant until that closes a loop.
    fn follow(&mut self, at: Component, way: &mut Vec<Component>) -> Option<Vec<Component>> {
        if let Some(start) = way.iter().position(|&earlier| earlier == at) {
            return Some(way[start..].to_vec());
        }
        if self.done.contains(&at) {
            return None;
        }
        way.push(at);
        for sender in self.needed(at).unwrap_or_default() {
            if let Some(found) = self.follow(sender, way) {
                return Some(found);
            }
        }
        way.pop();
        self.done.push(at);
        None
    }

    /// The outputs of others that an output needs at the same instant.
    fn needed(&mut self, (part, component): Component) -> Option<Vec<Component>> {
        let model = self.model;
        let ports = self.ports(part)?;
        let direct: Vec<usize> = ports.direct_inputs(component).to_vec();
        let ranges = model.spec.connections.iter().filter(|c| c.to.0 == part);
        let ranges: Vec<_> = ranges
            .map(|c| (c.from, ports.input_range(c.to.1)))
            .collect();
        let mut needed = Vec::new();
        for ((sender, output), range) in ranges {
            for input in direct.iter().filter(|input| range.contains(input)) {
                let start = self.ports(sender)?.output_range(output).start;
                needed.push((sender, start + input - range.start));
            }
        }
        Some(needed)
    }
}
