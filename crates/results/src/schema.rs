//! How columns, units and metadata are laid down in an Arrow schema, and found again.
//!
//! A column is a field of numbers. Many columns that are numbered, `NAME.1`, `NAME.2` and so on, such as the
//! coordinates of particles, are one field `NAME` of lists: a file with thousands of fields is slow to
//! open anywhere. Whoever reads results here sees the columns.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Metadata as Pairs, Schema};
use oldham_cosim::Column;
use oldham_cosim::Unit;

/// Name of the time column.
pub(crate) const TIME: &str = "time";

const UNIT: &str = "unit";
const TITLE: &str = "title";
const MODEL: &str = "model";

/// What parquet adds on its own account: the schema once more, in Arrow's encoding.
const ARROW_SCHEMA: &str = "ARROW:schema";

/// Fewer numbered columns than this are fields of their own: those are easier to use elsewhere.
const SHORTEST_LIST: usize = 16;

/// What a result file says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// One line for people.
    pub title: String,
    /// The model that was run: its file's text, or its name.
    pub model: String,
    /// Anything else. Read back in alphabetical order; the keys `title` and `model` are taken.
    pub entries: Vec<(String, String)>,
}

impl Metadata {
    /// All entries as key-value pairs, title and model among them.
    fn pairs(&self) -> Pairs {
        let entries: Pairs = self.entries.iter().cloned().collect();
        entries.with(TITLE, &self.title).with(MODEL, &self.model)
    }

    fn from_pairs(pairs: &Pairs) -> Self {
        let text = |key| pairs.get(key).cloned().unwrap_or_default();
        let entries = pairs
            .iter()
            .filter(|(key, _)| ![TITLE, MODEL, ARROW_SCHEMA].contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Self {
            title: text(TITLE),
            model: text(MODEL),
            entries,
        }
    }
}

/// Schema of a result: time first, then the columns.
pub(crate) fn schema_of(columns: &[Column], metadata: &Metadata) -> Schema {
    let names: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let mut fields = vec![field_of(TIME, &Unit::SECOND, DataType::Float64)];
    let mut rest = columns;
    while let Some(first) = rest.first() {
        let list = numbered(rest).filter(|(name, _)| !names.contains(name) && *name != TIME);
        let (field, width) = match list {
            Some((name, width)) => (field_of(name, &first.unit, list_of(width)), width),
            None => (field_of(&first.name, &first.unit, DataType::Float64), 1),
        };
        fields.push(field);
        rest = &rest[width..];
    }
    Schema::new_with_metadata(fields, metadata.pairs())
}

/// The common name and the number of columns that are numbered from one, if they are many.
fn numbered(columns: &[Column]) -> Option<(&str, usize)> {
    let first = columns.first()?;
    let name = first.name.strip_suffix(".1")?;
    let is_next = |(index, column): &(usize, &Column)| {
        let number = column.name.strip_prefix(name);
        let number = number.and_then(|rest| rest.strip_prefix('.'));
        number == Some(&(index + 1).to_string()) && column.unit == first.unit
    };
    let width = columns.iter().enumerate().take_while(is_next).count();
    (width >= SHORTEST_LIST).then_some((name, width))
}

fn list_of(width: usize) -> DataType {
    let item = Arc::new(Field::new("item", DataType::Float64, false));
    DataType::FixedSizeList(item, width as i32)
}

fn field_of(name: &str, unit: &Unit, data_type: DataType) -> Field {
    let unit = Pairs::from([(UNIT, unit.to_string())]);
    Field::new(name, data_type, false).with_metadata(unit)
}

/// How many columns a field stands for.
pub(crate) fn width_of(field: &Field) -> usize {
    match field.data_type() {
        DataType::FixedSizeList(_, width) => usize::try_from(*width).unwrap_or(0),
        _ => 1,
    }
}

/// How many columns a schema stands for.
pub(crate) fn column_count(schema: &Schema) -> usize {
    let widths = schema.fields().iter().map(|field| width_of(field));
    widths.fold(0, usize::saturating_add)
}

/// Columns of a schema; a field without unit counts as dimensionless.
pub(crate) fn columns_of(schema: &Schema) -> Vec<Column> {
    let mut columns = Vec::new();
    for field in schema.fields() {
        let unit = match field.metadata().get(UNIT) {
            Some(unit) => Unit(unit.clone().into()),
            None => Unit::ONE,
        };
        let name = field.name();
        let column = |name| Column {
            name,
            unit: unit.clone(),
        };
        match field.data_type() {
            DataType::FixedSizeList(..) => {
                let numbers = 1..=width_of(field);
                columns.extend(numbers.map(|number| column(format!("{name}.{number}"))));
            }
            _ => columns.push(column(name.clone())),
        }
    }
    columns
}

/// Metadata of a schema.
pub(crate) fn metadata_of(schema: &Schema) -> Metadata {
    Metadata::from_pairs(schema.metadata())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: impl IntoIterator<Item = String>, unit: Unit) -> Vec<Column> {
        let column = |name| Column {
            name,
            unit: unit.clone(),
        };
        names.into_iter().map(column).collect()
    }

    fn fields(columns: &[Column]) -> Vec<(String, usize)> {
        let schema = schema_of(columns, &Metadata::default());
        assert_eq!(columns_of(&schema)[1..], *columns, "they are found again");
        let fields = schema.fields().iter();
        fields
            .map(|field| (field.name().clone(), width_of(field)))
            .collect()
    }

    #[test]
    fn many_numbered_columns_are_one_list() {
        let numbers =
            |name: &'static str, most: usize| (1..=most).map(move |k| format!("{name}.{k}"));
        let mut all = columns(["x.v".into()], Unit::METRE);
        all.extend(columns(numbers("few", SHORTEST_LIST - 1), Unit::METRE));
        all.extend(columns(numbers("many", 40), Unit::METRE));
        all.extend(columns(numbers("more", 40), Unit::NEWTON));
        let found = fields(&all);
        assert_eq!(found.len(), 1 + 1 + SHORTEST_LIST - 1 + 2);
        assert_eq!(
            found[found.len() - 2..],
            [("many".into(), 40), ("more".into(), 40)]
        );
    }

    #[test]
    fn what_would_not_be_found_again_stays_as_it_is() {
        let numbers = |from: usize| (from..from + 30).map(|k| format!("a.{k}"));
        // It does not start with one, its name is taken, it is called like time.
        assert!(
            fields(&columns(numbers(2), Unit::ONE))
                .iter()
                .all(|(_, width)| *width == 1)
        );
        let taken = numbers(1).chain(["a".into()]);
        assert!(
            fields(&columns(taken, Unit::ONE))
                .iter()
                .all(|(_, width)| *width == 1)
        );
        let time = (1..30).map(|k| format!("{TIME}.{k}"));
        assert!(
            fields(&columns(time, Unit::ONE))
                .iter()
                .all(|(_, width)| *width == 1)
        );
        // A change of the unit ends a list.
        let mut mixed = columns(numbers(1).take(20), Unit::METRE);
        mixed.extend(columns((21..=40).map(|k| format!("a.{k}")), Unit::NEWTON));
        assert_eq!(fields(&mixed)[1], ("a".into(), 20));
    }
}
