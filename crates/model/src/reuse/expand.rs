//! `template`, `use` and `repeat`: things that are written once and stand in the model several times.

use std::collections::BTreeMap;

use oldham_expression::Expression;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

use super::scope::{Filled, Scope, number_of, written};
use super::{REPEAT, TEMPLATE, USE};
use crate::format::{Formula, Named};
use crate::parameters::Parameters;
use crate::problem::{Findings, Problem};
use crate::source::{Source, Span};
use crate::tree::{Clash, Key, Value, put_over, table_in};
use crate::words;

/// Most keys and values that come out of templates and repetitions.
const MAX_MADE: usize = 1_000_000;

/// Most bytes of text that come out of them.
const MAX_TEXT: usize = 64 << 20;

/// Templates that use each other, at most so deep.
const MAX_NESTED: usize = 32;

/// The key of a template that names what is put in.
const PARAMETERS: &str = "parameters";

/// What is always put in: the name under which a template is used.
const NAME: &str = "name";

/// Writes out templates and repetitions. Gives the parameters on which the number of things depends:
/// with other values of them the tree is another one.
pub(crate) fn expand<'i>(
    tree: &mut DeTable<'i>,
    source: &'i Source,
    findings: &mut Findings,
) -> Vec<String> {
    let templates = tree.remove(TEMPLATE);
    let is_plain = !source.mentions(USE) && !source.mentions(REPEAT);
    if is_plain && templates.is_none() {
        return Vec::new();
    }
    let mut expansion = Expansion {
        numbers: numbers(tree, source),
        structural: Vec::new(),
        templates: BTreeMap::new(),
        active: Vec::new(),
        made: 0,
        text: 0,
        findings,
    };
    if let Some(templates) = templates {
        expansion.read_templates(templates);
    }
    *tree = expansion.table(std::mem::take(tree), &Scope::default());
    let structural = expansion.structural;
    dependencies(tree, structural)
}

/// The parameters of the model as far as they can be computed; their mistakes are reported elsewhere.
fn numbers(tree: &DeTable<'_>, source: &Source) -> Vec<(String, f64)> {
    let Some(table) = table_in(tree, "parameters") else {
        return Vec::new();
    };
    let table = Spanned::new(0..0, table.clone());
    let Ok(named) = Named::<Formula>::deserialize(Deserializer::from(table)) else {
        return Vec::new();
    };
    Parameters::evaluate(&named, &[], source, &mut Findings::default()).known()
}

/// Parameters, and those that they are computed from.
fn dependencies(tree: &DeTable<'_>, mut names: Vec<String>) -> Vec<String> {
    let Some(parameters) = table_in(tree, "parameters") else {
        return names;
    };
    let mut next = 0;
    while let Some(name) = names.get(next) {
        let formula = parameters.get(name.as_str());
        let text = formula.and_then(|formula| formula.get_ref().as_str());
        let used: Vec<String> = words::names(text.unwrap_or_default())
            .filter(|used| parameters.contains_key(*used) && !names.iter().any(|n| n == used))
            .map(str::to_owned)
            .collect();
        names.extend(used);
        next += 1;
    }
    names
}

struct Template<'i> {
    /// What is put in, with what stands there if nothing is given.
    parameters: Vec<(String, Option<Value<'i>>)>,
    body: DeTable<'i>,
}

struct Expansion<'i, 'f> {
    /// Parameters of the model.
    numbers: Vec<(String, f64)>,
    structural: Vec<String>,
    templates: BTreeMap<String, Template<'i>>,
    /// The templates that are being written out, each used by the one before it.
    active: Vec<String>,
    /// Keys and values that were written, and bytes of text that were put together.
    made: usize,
    text: usize,
    findings: &'f mut Findings,
}

impl<'i> Expansion<'i, '_> {
    fn refuse(&mut self, span: Span, message: String, label: &str, help: impl Into<String>) {
        self.findings.report(&span, message).label(label).help(help);
    }

    /// Counts what is written; false once that is more than a model may have, which is reported once.
    fn count(&mut self, things: usize, bytes: usize, span: &Span) -> bool {
        let had_room = self.has_room();
        self.made = self.made.saturating_add(things);
        self.text = self.text.saturating_add(bytes);
        if had_room && !self.has_room() {
            let limit = match self.made > MAX_MADE {
                true => format!("{MAX_MADE} things"),
                false => format!("{} MiB of text", MAX_TEXT >> 20),
            };
            // What else is wrong with so many things follows from it.
            let message = format!("templates and repetitions make more than {limit}");
            let problem = Problem::new(span.clone(), message).label("the limit is reached here");
            let help = "repeat less, or let templates use fewer others";
            self.findings.replace_all(problem.help(help));
        }
        self.has_room()
    }

    fn has_room(&self) -> bool {
        self.made <= MAX_MADE && self.text <= MAX_TEXT
    }

    fn read_templates(&mut self, templates: Value<'i>) {
        let span = templates.span();
        let DeValue::Table(templates) = templates.into_inner() else {
            let message = format!("`{TEMPLATE}` must be a table of templates");
            self.refuse(span, message, "no table", "such as [template.wheel]");
            return;
        };
        for (key, value) in templates {
            let span = value.span();
            let DeValue::Table(mut body) = value.into_inner() else {
                let message = format!("the template `{}` must be a table", key.get_ref());
                self.refuse(span, message, "no table", "such as [template.wheel]");
                continue;
            };
            let mut parameters = Vec::new();
            if let Some(list) = body.remove(PARAMETERS) {
                self.read_parameters(list, &mut parameters);
            }
            let name = key.into_inner().into_owned();
            self.templates.insert(name, Template { parameters, body });
        }
    }

    /// Names that must be given, and tables of names with what stands there otherwise.
    fn read_parameters(&mut self, list: Value<'i>, read: &mut Vec<(String, Option<Value<'i>>)>) {
        let span = list.span();
        let items = match list.into_inner() {
            DeValue::Array(items) => items.into_iter().collect(),
            one => vec![Spanned::new(span, one)],
        };
        for item in items {
            let span = item.span();
            let names = match item.into_inner() {
                DeValue::String(name) => vec![(name.into_owned(), span, None)],
                DeValue::Table(defaults) => in_text_order(defaults)
                    .into_iter()
                    .map(|(key, value)| {
                        let span = key.span();
                        (key.into_inner().into_owned(), span, Some(value))
                    })
                    .collect(),
                _ => {
                    let message = "a parameter of a template is a name, or a table of names with \
                                   values";
                    let help = "such as parameters = [\"mass\", { stiffness = 2e5 }]";
                    self.refuse(span, message.into(), "neither", help);
                    continue;
                }
            };
            for (name, span, default) in names {
                if [NAME, TEMPLATE, REPEAT].contains(&name.as_str()) || !words::is_variable(&name) {
                    let message = format!("a parameter of a template cannot be called `{name}`");
                    let help = "a name has letters, digits and `_`; `name`, `template` and \
                                `repeat` have a meaning of their own";
                    self.refuse(span, message, "not possible", help);
                } else if read.iter().any(|(known, _)| *known == name) {
                    let message = format!("the template has two parameters `{name}`");
                    self.refuse(span, message, "given twice", "take one of them away");
                } else {
                    read.push((name, default));
                }
            }
        }
    }

    fn table(&mut self, table: DeTable<'i>, scope: &Scope<'i>) -> DeTable<'i> {
        let mut own = DeTable::new();
        let mut uses = None;
        for (key, value) in in_text_order(table) {
            if key.get_ref() == USE && value.get_ref().is_table() {
                uses = Some(value);
                continue;
            }
            self.add(&mut own, key, value, scope);
        }
        let Some(uses) = uses.map(Value::into_inner) else {
            return own;
        };
        let DeValue::Table(uses) = uses else {
            return own;
        };
        let mut named = DeTable::new();
        for (key, value) in in_text_order(uses) {
            self.add(&mut named, key, value, scope);
        }
        let mut all = DeTable::new();
        for (name, arguments) in in_text_order(named) {
            if let Some(instance) = self.instance(&name, arguments) {
                self.join(&mut all, instance, &name);
            }
        }
        // What stands in the table itself goes over what templates say.
        put_over(&mut all, own, &mut |_| {});
        all
    }

    /// Adds an entry to a table, or several if it is repeated.
    fn add(&mut self, table: &mut DeTable<'i>, key: Key<'i>, value: Value<'i>, scope: &Scope<'i>) {
        for (value, scope) in self.repeated(value, scope) {
            let Some(name) = self.key(&key, &scope) else {
                continue;
            };
            let value = self.value(value, &scope);
            if table.contains_key(name.get_ref().as_ref()) {
                let message = format!("`{}` is there already", name.get_ref());
                let help = "put what is repeated into the key, such as \"p{i}\"";
                self.refuse(key.span(), message, "written twice", help);
                return;
            }
            table.insert(name, value);
        }
    }

    fn key(&mut self, key: &Key<'i>, scope: &Scope<'i>) -> Option<Key<'i>> {
        if !self.count(1, key.get_ref().len(), &key.span()) {
            return None;
        }
        let filled = match scope.fill(key.get_ref(), &key.span()) {
            Ok(filled) => filled,
            Err(problem) => {
                self.findings.push(problem);
                return None;
            }
        };
        let name = match filled {
            Filled::Same => return Some(key.clone()),
            Filled::Text(text) => text,
            Filled::Value(value) => match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                other => match number_of(other) {
                    Some(number) => written(number),
                    None => {
                        let message = "a key cannot be a list or a table".to_owned();
                        self.refuse(key.span(), message, "no name", "put a name in");
                        return None;
                    }
                },
            },
        };
        Some(Spanned::new(key.span(), name.into()))
    }

    fn value(&mut self, value: Value<'i>, scope: &Scope<'i>) -> Value<'i> {
        let span = value.span();
        if !self.count(1, 0, &span) {
            return Spanned::new(span, DeValue::Boolean(false));
        }
        let inner = match value.into_inner() {
            DeValue::Table(table) => DeValue::Table(self.table(table, scope)),
            DeValue::Array(items) => {
                let mut all = DeArray::new();
                for item in items {
                    for (item, scope) in self.repeated(item, scope) {
                        all.push(self.value(item, &scope));
                    }
                }
                DeValue::Array(all)
            }
            DeValue::String(text) => match scope.fill(&text, &span) {
                Ok(Filled::Same) => DeValue::String(text),
                Ok(Filled::Text(text)) => {
                    self.count(0, text.len(), &span);
                    DeValue::String(text.into())
                }
                Ok(Filled::Value(value)) => {
                    let (things, bytes) = size(value.get_ref());
                    self.count(things, bytes, &span);
                    return value;
                }
                Err(problem) => {
                    self.findings.push(problem);
                    DeValue::String(text)
                }
            },
            other => other,
        };
        Spanned::new(span, inner)
    }

    /// The value once for each combination of what its `repeat` says; once if it has none.
    fn repeated(&mut self, mut value: Value<'i>, scope: &Scope<'i>) -> Vec<(Value<'i>, Scope<'i>)> {
        let table = match value.get_mut() {
            DeValue::Table(table) if table_in(table, REPEAT).is_some() => table,
            _ => return vec![(value, scope.clone())],
        };
        let variables = table.remove(REPEAT).map(Value::into_inner);
        let Some(DeValue::Table(variables)) = variables else {
            return Vec::new();
        };
        let mut scopes = vec![scope.clone()];
        for (name, range) in in_text_order(variables) {
            let place = range.span();
            let Some(values) = self.values(range, scope) else {
                return Vec::new();
            };
            let count = scopes.len().saturating_mul(values.len());
            if self.made.saturating_add(count) > MAX_MADE {
                self.count(count, 0, &place);
                return Vec::new();
            }
            let name = name.get_ref();
            let one_more = |scope: &Scope<'i>, value: &Value<'i>| {
                scope.with([(name.to_string(), value.clone())])
            };
            let longer = scopes
                .iter()
                .flat_map(|scope| values.iter().map(move |v| (scope, v)));
            scopes = longer
                .map(|(scope, value)| one_more(scope, value))
                .collect();
        }
        scopes
            .into_iter()
            .map(|scope| (value.clone(), scope))
            .collect()
    }

    /// The values of a variable of `repeat`: a count, `first:last`, `first:last:step`, or a list.
    fn values(&mut self, range: Value<'i>, scope: &Scope<'i>) -> Option<Vec<Value<'i>>> {
        let range = self.value(range, scope);
        let span = range.span();
        let text = match range.into_inner() {
            DeValue::Array(items) => return Some(items.into_iter().collect()),
            DeValue::Integer(number) => number.to_string(),
            DeValue::String(text) => text.into_owned(),
            _ => {
                let message = "this cannot be repeated over".to_owned();
                let help = "give a count such as 10, \"2:10\", or a list of values";
                self.refuse(span, message, "neither count nor list", help);
                return None;
            }
        };
        let ends: Vec<f64> = text
            .split(':')
            .map(|part| self.whole(part, &span, scope))
            .collect::<Option<_>>()?;
        let (first, last, step) = match ends[..] {
            [count] => (1.0, count, 1.0),
            [first, last] => (first, last, 1.0),
            [first, last, step] if step != 0.0 => (first, last, step),
            _ => {
                let message = format!("`{text}` is no range");
                let help = "write first:last or first:last:step, such as \"2:10\"";
                self.refuse(span, message, "no range", help);
                return None;
            }
        };
        let count = ((last - first) / step).floor() + 1.0;
        if count > MAX_MADE as f64 {
            self.count(count as usize, 0, &span);
            return None;
        }
        let index = |place: usize| {
            let index = written(first + place as f64 * step);
            Spanned::new(span.clone(), DeValue::String(index.into()))
        };
        Some((0..count.max(0.0) as usize).map(index).collect())
    }

    /// A whole number: an expression of parameters and of what is put in.
    fn whole(&mut self, text: &str, span: &Span, scope: &Scope<'i>) -> Option<f64> {
        let parameters = self
            .numbers
            .iter()
            .map(|(name, value)| (name.as_str(), *value));
        let (mut names, mut values): (Vec<&str>, Vec<f64>) = (Vec::new(), Vec::new());
        for (name, value) in scope.numbers().chain(parameters) {
            if !names.contains(&name) {
                names.push(name);
                values.push(value);
            }
        }
        let number = Expression::parse(text, &names).map(|expression| expression.eval(&values));
        match number {
            Ok(number) if (number - number.round()).abs() < 1e-9 => {
                let used = words::names(text).filter(|name| names.contains(name));
                let used: Vec<String> = used.map(str::to_owned).collect();
                self.structural.extend(used);
                Some(number.round())
            }
            Ok(number) => {
                let message = format!("a whole number is needed, `{text}` is {number}");
                let help = "what is counted has no fractions: floor(...) makes it whole";
                self.refuse(span.clone(), message, "not whole", help);
                None
            }
            Err(error) => {
                let message = format!("`{text}` is not a number: {error}");
                let help = "a count is a whole number, or an expression of parameters";
                self.refuse(span.clone(), message, "how often?", help);
                None
            }
        }
    }

    /// A template written out under a name.
    fn instance(&mut self, name: &Key<'i>, arguments: Value<'i>) -> Option<DeTable<'i>> {
        if !self.has_room() {
            return None;
        }
        let used_as = name.get_ref().to_string();
        let place = arguments.span();
        let DeValue::Table(mut arguments) = arguments.into_inner() else {
            let message = format!("`{USE}.{used_as}` must be a table that names a template");
            let help = format!("such as [{USE}.{used_as}] with template = \"wheel\"");
            self.refuse(place, message, "no table", help);
            return None;
        };
        let Some(chosen) = arguments.remove(TEMPLATE) else {
            let message = format!("`{TEMPLATE}` is missing from `{USE}.{used_as}`");
            let known = self
                .templates
                .keys()
                .map(String::as_str)
                .collect::<Vec<_>>();
            let help = format!("say which template is used: {}", known.join(", "));
            self.refuse(name.span(), message, "which template?", help);
            return None;
        };
        let template = chosen.get_ref().as_str().unwrap_or_default().to_owned();
        if self.active.contains(&template) {
            let chain = self.active.iter().chain([&template]);
            let chain: Vec<&str> = chain.map(String::as_str).collect();
            let message = format!("templates use each other in a loop: {}", chain.join(" → "));
            let help = "a template cannot contain itself";
            self.refuse(chosen.span(), message, "closes the loop", help);
            return None;
        }
        if self.active.len() == MAX_NESTED {
            let message = format!("templates use each other more than {MAX_NESTED} deep");
            let help = "let a template use others directly, not through many";
            self.refuse(chosen.span(), message, "the limit is reached here", help);
            return None;
        }
        let Some(Template { parameters, body }) = self.templates.get(&template) else {
            let known: Vec<&str> = self.templates.keys().map(String::as_str).collect();
            let message = format!("there is no template `{template}`");
            let help = match known.is_empty() {
                true => format!("write one: [{TEMPLATE}.{template}]"),
                false => format!("the templates are {}", known.join(", ")),
            };
            let reported = self.findings.report(&chosen.span(), message);
            reported
                .label("unknown template")
                .help(help)
                .suggest(&template, known);
            return None;
        };
        let (parameters, body) = (parameters.clone(), body.clone());
        let scope = self.arguments(name, &template, arguments, parameters)?;
        self.active.push(template);
        let instance = self.table(body, &scope);
        self.active.pop();
        Some(instance)
    }

    /// What is put into a template: all that it needs, and nothing that it does not know.
    fn arguments(
        &mut self,
        name: &Key<'i>,
        template: &str,
        mut given: DeTable<'i>,
        parameters: Vec<(String, Option<Value<'i>>)>,
    ) -> Option<Scope<'i>> {
        let used_as = DeValue::String(name.get_ref().clone());
        let mut scope = Scope::default();
        scope.add(NAME.into(), Spanned::new(name.span(), used_as));
        let known: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
        let mut is_complete = true;
        for (key, _) in given
            .iter()
            .filter(|(key, _)| !known.contains(&key.get_ref().as_ref()))
        {
            let message = format!("template `{template}` has no parameter `{}`", key.get_ref());
            let help = match known.is_empty() {
                true => "it has no parameters".to_owned(),
                false => format!("its parameters are {}", known.join(", ")),
            };
            let reported = self.findings.report(&key.span(), message);
            reported
                .label("unknown parameter")
                .help(help)
                .suggest(key.get_ref(), known.iter().copied());
        }
        for (parameter, default) in &parameters {
            let value = match (given.remove(parameter.as_str()), default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.value(default.clone(), &scope),
                (None, None) => {
                    let used_as = name.get_ref();
                    let message = format!(
                        "`{parameter}` is missing from `{USE}.{used_as}`: template `{template}` needs it"
                    );
                    let label = format!("has no `{parameter}`");
                    let help =
                        format!("give it here, or a value for all in [{TEMPLATE}.{template}]");
                    self.refuse(name.span(), message, &label, help);
                    is_complete = false;
                    continue;
                }
            };
            scope.add(parameter.clone(), value);
        }
        is_complete.then_some(scope)
    }

    /// Adds what a template gives to what others have given.
    fn join(&mut self, all: &mut DeTable<'i>, instance: DeTable<'i>, name: &Key<'i>) {
        let findings = &mut *self.findings;
        let used_as = name.get_ref();
        put_over(all, instance, &mut |clash: Clash<'_>| {
            let path = clash.path.join(".");
            let message = format!("`{USE}.{used_as}` gives `{path}`, which another use gives too");
            findings
                .report(&name.span(), message)
                .label("used here")
                .help("put {name} into its name in the template");
        });
    }
}

/// How many values a value consists of, and the bytes of its texts.
fn size(value: &DeValue<'_>) -> (usize, usize) {
    let sum = |(things, bytes): (usize, usize), (more, text)| (things + more, bytes + text);
    match value {
        DeValue::Table(table) => table.iter().fold((1, 0), |all, (key, value)| {
            let (things, bytes) = size(value.get_ref());
            sum(all, (1 + things, key.get_ref().len() + bytes))
        }),
        DeValue::Array(items) => items
            .iter()
            .map(|item| size(item.get_ref()))
            .fold((1, 0), sum),
        DeValue::String(text) => (1, text.len()),
        _ => (1, 0),
    }
}

/// The entries of a table as they were written; the parser hands over in alphabetical order.
fn in_text_order<'i>(table: DeTable<'i>) -> Vec<(Key<'i>, Value<'i>)> {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by(|(a, _), (b, _)| {
        let places = a.span().start.cmp(&b.span().start);
        places.then_with(|| words::natural_order(a.get_ref(), b.get_ref()))
    });
    entries
}
