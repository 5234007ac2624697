//! Values of attributes that classes give.

use std::collections::HashMap;
use std::rc::Rc;

use oldham_space::Vec3;
use roxmltree::Node as Xml;

use crate::error::ImportError;
use crate::xml::{elements, named, numbers};

type Values = HashMap<String, Rc<HashMap<String, String>>>;

/// Most classes, each with all that it inherits.
const MOST_CLASSES: usize = 2000;

/// Attributes by class and element.
pub(super) struct Classes {
    all: HashMap<String, Values>,
}

/// The class of what names none.
const MAIN: &str = "main";

impl Classes {
    pub fn of(root: Xml<'_, '_>) -> Result<Self, ImportError> {
        let mut all = HashMap::new();
        all.insert(MAIN.to_owned(), Values::new());
        for section in named(root, "default") {
            let inherited = all[MAIN].clone();
            class(section, inherited, MAIN, &mut all)?;
        }
        Ok(Self { all })
    }

    /// An element with what its class gives, or that of the bodies around it.
    pub fn of_element<'a, 'i>(&self, xml: Xml<'a, 'i>, around: Option<&str>) -> Given<'a, 'i> {
        let class = xml.attribute("class").or(around).unwrap_or(MAIN);
        let values = self.all.get(class).or(self.all.get(MAIN));
        let key = family(xml.tag_name().name());
        Given {
            xml,
            defaults: values
                .and_then(|values| values.get(key))
                .cloned()
                .unwrap_or_default(),
        }
    }
}

/// Actuators of all sorts share their defaults only with those of the same name; a free joint has none.
fn family(tag: &str) -> &str {
    match tag {
        "freejoint" => "",
        other => other,
    }
}

fn class(
    section: Xml<'_, '_>,
    mut values: Values,
    name: &str,
    all: &mut HashMap<String, Values>,
) -> Result<(), ImportError> {
    for element in elements(section) {
        let tag = element.tag_name().name();
        if tag == "default" {
            continue;
        }
        let known = values.entry(tag.to_owned()).or_default();
        let mut changed = (**known).clone();
        for attribute in element.attributes() {
            changed.insert(attribute.name().to_owned(), attribute.value().to_owned());
        }
        *known = Rc::new(changed);
    }
    for inner in named(section, "default") {
        let inner_name = inner.attribute("class").ok_or_else(|| {
            ImportError::at(inner, "a <default> within another one needs a `class`")
        })?;
        class(inner, values.clone(), inner_name, all)?;
    }
    if all.len() >= MOST_CLASSES {
        return Err(ImportError::at(
            section,
            format!("there are more than {MOST_CLASSES} classes"),
        ));
    }
    let name = section.attribute("class").unwrap_or(name);
    if section
        .parent()
        .is_some_and(|parent| parent.has_tag_name("mujoco"))
    {
        all.insert(MAIN.to_owned(), values.clone());
    }
    all.insert(name.to_owned(), values);
    Ok(())
}

/// An element with what its class gives.
pub(super) struct Given<'a, 'i> {
    pub xml: Xml<'a, 'i>,
    defaults: Rc<HashMap<String, String>>,
}

impl Given<'_, '_> {
    pub fn get(&self, key: &str) -> Option<&str> {
        let own = self.xml.attribute(key);
        own.or_else(|| self.defaults.get(key).map(String::as_str))
    }

    /// All numbers of an attribute.
    pub fn list(&self, key: &str) -> Result<Option<Vec<f64>>, ImportError> {
        let text = self.get(key);
        text.map(|text| numbers(self.xml, key, text)).transpose()
    }

    pub fn array<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>, ImportError> {
        let Some(values) = self.list(key)? else {
            return Ok(None);
        };
        let count = values.len();
        let values = values.try_into().map_err(|_| {
            ImportError::at(
                self.xml,
                format!("`{key}` needs {N} numbers and has {count}"),
            )
        });
        values.map(Some)
    }

    pub fn vector(&self, key: &str) -> Result<Option<Vec3>, ImportError> {
        Ok(self
            .array(key)?
            .map(|[x, y, z]: [f64; 3]| Vec3::new(x, y, z)))
    }

    /// The first number of an attribute.
    pub fn first(&self, key: &str) -> Result<Option<f64>, ImportError> {
        Ok(self.list(key)?.and_then(|values| values.first().copied()))
    }

    /// The first number, which must not be negative; zero where it is not given.
    pub fn positive(&self, key: &str) -> Result<f64, ImportError> {
        let value = self.first(key)?.unwrap_or(0.0);
        crate::xml::size(self.xml, key, value, true)
    }

    /// Whether something is limited: as it says, or by whether a range is given.
    pub fn is_limited(&self, key: &str, range: &str, automatic: bool) -> bool {
        match self.get(key) {
            Some("true") => true,
            Some("false") => false,
            _ => automatic && self.get(range).is_some(),
        }
    }
}
