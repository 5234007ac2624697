//! The reference as pages: one for what every model has, one for each kind of subsystem.

use std::collections::HashMap;

/// A page of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencePage {
    /// Its place beside the first page.
    pub path: &'static str,
    /// In Markdown.
    pub text: String,
}

/// A page: its place, its title, what it is about, and the tables whose sections it takes. A table of a mechanism is
/// given by its own name.
struct Chapter {
    path: &'static str,
    title: &'static str,
    about: &'static str,
    tables: &'static [&'static str],
}

const FIRST: &str = "model-file-reference.md";

const CHAPTERS: [Chapter; 8] = [
    Chapter {
        path: "reference/lumped.md",
        title: "Reference: lumped subsystems",
        about: "Masses, springs, dampers and loads along one line or about one axis.",
        tables: &["lumped"],
    },
    Chapter {
        path: "reference/multibody.md",
        title: "Reference: mechanisms",
        about: "Nodes, bodies, joints, and what a mechanism is as a whole. Springs, beams and loads are on the page of \
                forces, sensors and ports on a page of their own.",
        tables: &[
            "",
            "frames",
            "nodes",
            "bodies",
            "joints",
            "transmissions",
            "rigid_links",
            "visuals",
            "cut",
        ],
    },
    Chapter {
        path: "reference/forces.md",
        title: "Reference: forces and flexible parts of mechanisms",
        about: "Springs, cables, motors, servos, loads, beams and shells.",
        tables: &[
            "motors",
            "servos",
            "springs",
            "cables",
            "clearances",
            "actuators",
            "torsion_springs",
            "bushings",
            "loads",
            "sections",
            "beams",
            "shells",
        ],
    },
    Chapter {
        path: "reference/sensors.md",
        title: "Reference: sensors and ports of mechanisms",
        about: "What is measured, received and sent.",
        tables: &["sensors", "inputs", "outputs"],
    },
    Chapter {
        path: "reference/contact.md",
        title: "Reference: contact",
        about: "Shapes, particles and contacts of mechanisms.",
        tables: &["contact", "shapes", "particles", "compliant_contacts"],
    },
    Chapter {
        path: "reference/vehicles.md",
        title: "Reference: vehicles",
        about: "Tyres, brakes, drives and air as elements of mechanisms.",
        tables: &["elements"],
    },
    Chapter {
        path: "reference/control.md",
        title: "Reference: controllers and tables",
        about: "Controllers, and tables that expressions call.",
        tables: &["control", "table"],
    },
    Chapter {
        path: "reference/hydraulics.md",
        title: "Reference: hydraulics",
        about: "Circuits of cylinders, and networks.",
        tables: &["hydraulics", "hydraulic_network"],
    },
];

/// Other programs: what is not among the chapters and of a registered kind.
const FOREIGN: Chapter = Chapter {
    path: "reference/foreign.md",
    title: "Reference: FMUs, programs and others",
    about: "Subsystems that are computed by other programs.",
    tables: &["fmu", "process"],
};

/// The reference in pages, the first page first.
pub(crate) fn pages(reference: &str) -> Vec<ReferencePage> {
    let mut sections = reference.split("\n## ");
    let introduction = sections.next().unwrap_or_default();
    let chapters: Vec<&Chapter> = CHAPTERS.iter().chain([&FOREIGN]).collect();
    let mut first = introduction.to_owned();
    first.push_str("\nSubsystems have pages of their own:\n\n");
    for chapter in &chapters {
        let (title, path) = (
            chapter.title.trim_start_matches("Reference: "),
            chapter.path,
        );
        first.push_str(&format!("- [{title}]({path})\n"));
    }
    let mut texts: Vec<String> = chapters
        .iter()
        .map(|chapter| format!("# {}\n\n{}\n", chapter.title, chapter.about))
        .collect();
    let mut known = HashMap::new();
    for section in sections {
        let title = section.lines().next().unwrap_or_default();
        let place = chapters
            .iter()
            .position(|chapter| chapter.tables.iter().any(|table| belongs(title, table)));
        let (path, text) = match place {
            Some(place) => (chapters[place].path, &mut texts[place]),
            None => (FIRST, &mut first),
        };
        text.push_str("\n## ");
        text.push_str(&said_once(section, path, &mut known));
    }
    let pages = chapters.iter().zip(texts);
    let pages = pages.map(|(chapter, text)| ReferencePage {
        path: chapter.path,
        text,
    });
    let first = ReferencePage {
        path: FIRST,
        text: first,
    };
    std::iter::once(first).chain(pages).collect()
}

/// Whether a section with this title is about a table, or about a table of a mechanism; an empty name stands for the
/// mechanism itself.
fn belongs(title: &str, table: &str) -> bool {
    let Some(start) = title.find(|c: char| c.is_alphanumeric()) else {
        return false;
    };
    // "Tables in `lumped.<name>.inputs`"
    let path = title[start..].trim_start_matches("Tables in `");
    let end = path.find(['`', ']']).unwrap_or(path.len());
    let mut names = path[..end].split('.').filter(|name| *name != "<name>");
    match names.next() {
        Some("multibody") => names.next().unwrap_or_default() == table,
        first => !table.is_empty() && first == Some(table),
    }
}

/// A section in which the values of a key are explained only if no section before has explained the same.
fn said_once(
    section: &str,
    path: &'static str,
    known: &mut HashMap<String, (String, &'static str)>,
) -> String {
    let mut parts = section.split("\nPossible values of ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    let title = text.lines().next().unwrap_or_default().to_owned();
    for part in parts {
        match known.get(part.trim_end()) {
            Some((other, place)) => {
                let key = part
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .trim_end_matches(':');
                let up = if path == FIRST { "" } else { "../" };
                let link = format!("{up}{place}#{}", anchor(other));
                text.push_str(&format!(
                    "\nPossible values of {key}: those of [{}]({link}).\n",
                    other
                ));
            }
            None => {
                known.insert(part.trim_end().to_owned(), (title.clone(), path));
                text.push_str("\nPossible values of ");
                text.push_str(part);
            }
        }
    }
    text
}

/// How a heading is called in links.
fn anchor(title: &str) -> String {
    let letters = title.to_lowercase();
    letters
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_stands_on_one_page() {
        let reference = crate::reference_markdown();
        let titles = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.starts_with("## "));
            lines.map(str::to_owned).collect()
        };
        let mut all = titles(&reference);
        let mut found: Vec<String> = pages(&reference)
            .iter()
            .flat_map(|page| titles(&page.text))
            .collect();
        all.sort();
        found.sort();
        assert_eq!(all, found);
    }

    #[test]
    fn sections_are_found_by_their_titles() {
        assert!(belongs(
            "`[multibody.<name>.springs.<name>.map]`",
            "springs"
        ));
        assert!(belongs("`[multibody.<name>]`", ""));
        assert!(belongs("Tables in `lumped.<name>.predictor`", "lumped"));
        assert!(belongs(
            "`[multibody.<name>.elements.<name>]` with `type = \"tyre\"`",
            "elements"
        ));
        assert!(!belongs("`[simulation]`", "") && !belongs("`[multibody.<name>]`", "lumped"));
    }

    #[test]
    fn values_are_explained_once() {
        let reference = crate::reference_markdown();
        let text: String = pages(&reference)
            .into_iter()
            .map(|page| page.text)
            .collect();
        assert_eq!(text.matches("- `\"hermite-velocity\"`: ").count(), 1);
    }
}
