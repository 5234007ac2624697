//! How columns, units and metadata are laid down in an Arrow schema, and found again.

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

/// The time column, which every result has.
pub(crate) fn time_column() -> Column {
    Column {
        name: TIME.into(),
        unit: Unit::SECOND,
    }
}

/// Schema of a result: time first, then the columns.
pub(crate) fn schema_of(columns: &[Column], metadata: &Metadata) -> Schema {
    let fields: Vec<_> = std::iter::once(&time_column())
        .chain(columns)
        .map(field_of)
        .collect();
    Schema::new_with_metadata(fields, metadata.pairs())
}

fn field_of(column: &Column) -> Field {
    let unit = Pairs::from([(UNIT, column.unit.to_string())]);
    Field::new(&column.name, DataType::Float64, false).with_metadata(unit)
}

/// Columns of a schema; a field without unit counts as dimensionless.
pub(crate) fn columns_of(schema: &Schema) -> Vec<Column> {
    let column = |field: &std::sync::Arc<Field>| Column {
        name: field.name().clone(),
        unit: match field.metadata().get(UNIT) {
            Some(unit) => Unit(unit.clone().into()),
            None => Unit::ONE,
        },
    };
    schema.fields().iter().map(column).collect()
}

/// Metadata of a schema.
pub(crate) fn metadata_of(schema: &Schema) -> Metadata {
    Metadata::from_pairs(schema.metadata())
}
