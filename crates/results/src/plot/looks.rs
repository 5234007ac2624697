//! Which look a curve has: curves of the same name look alike in all panels of a figure.

use std::collections::HashMap;

use super::figure::Figure;

/// The number of the look of every curve, panel by panel. A name keeps its look from the first
/// panel on; what is new in a panel takes the first look that is free there.
pub(super) fn looks(figure: &Figure) -> Vec<Vec<usize>> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let panels = figure.panels.iter().map(|panel| {
        let names: Vec<&str> = panel.series.iter().map(|s| s.label.as_str()).collect();
        let mut taken: Vec<usize> = names
            .iter()
            .filter_map(|name| known.get(name).copied())
            .collect();
        let mut look = |name| {
            if let Some(&look) = known.get(name) {
                return look;
            }
            let free = (0..)
                .find(|look| !taken.contains(look))
                .expect("some number is free");
            taken.push(free);
            if !str::is_empty(name) {
                known.insert(name, free);
            }
            free
        };
        names.into_iter().map(&mut look).collect()
    });
    panels.collect()
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Panel, Series};
    use super::*;

    fn panel(names: &[&str]) -> Panel {
        let series = |&name: &&str| Series::new(name, vec![], vec![]);
        Panel {
            series: names.iter().map(series).collect(),
            ..Panel::default()
        }
    }

    #[test]
    fn a_name_looks_the_same_in_every_panel() {
        let figure = Figure::new("")
            .with_panel(panel(&["hold", "learned"]))
            .with_panel(panel(&["reference", "hold", "learned"]))
            .with_panel(panel(&["energy"]));
        assert_eq!(looks(&figure), [vec![0, 1], vec![2, 0, 1], vec![0]]);
    }

    #[test]
    fn curves_without_a_name_differ() {
        let figure = Figure::new("").with_panel(panel(&["", "", "a", ""]));
        assert_eq!(looks(&figure), [vec![0, 1, 2, 3]]);
    }
}
