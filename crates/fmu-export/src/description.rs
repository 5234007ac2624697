//! `modelDescription.xml`, for both versions.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::manifest::{Manifest, Role, TIME, Variable, Version};
use crate::units::base;

/// The name of the library.
pub const IDENTIFIER: &str = "oldham_fmu";

/// What a description says besides the manifest.
pub struct Texts<'a> {
    /// What the model shows.
    pub about: &'a str,
    /// Simulated time in s.
    pub duration: f64,
}

/// The description of an FMU.
pub fn description(manifest: &Manifest, texts: &Texts<'_>, version: Version) -> String {
    match version {
        Version::Two => two(manifest, texts),
        Version::Three => three(manifest, texts),
    }
}

fn two(manifest: &Manifest, texts: &Texts<'_>) -> String {
    let mut xml = head(manifest, texts, "fmiVersion=\"2.0\"", "guid");
    let _ = writeln!(
        xml,
        "  variableNamingConvention=\"flat\">\n  <CoSimulation modelIdentifier=\"{IDENTIFIER}\" \
         canHandleVariableCommunicationStepSize=\"false\" canInterpolateInputs=\"true\" \
         canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\" providesDirectionalDerivative=\"false\" maxOutputDerivativeOrder=\"{}\"/>",
        manifest.most_derivatives()
    );
    units(&mut xml, manifest, "Unit");
    experiment(&mut xml, manifest, texts);
    xml += "  <ModelVariables>\n";
    for (reference, variable) in manifest.numbered() {
        let (causality, rest) = attributes(variable);
        let start = match variable.role {
            Role::Output => String::new(),
            _ => format!(" start=\"{:?}\"", variable.start),
        };
        let _ = writeln!(
            xml,
            "    <ScalarVariable name=\"{}\" valueReference=\"{reference}\" causality=\"{causality}\"{rest}>\
             <Real{}{start}/></ScalarVariable>",
            escaped(&variable.name),
            unit(variable),
        );
    }
    xml += "  </ModelVariables>\n  <ModelStructure>\n";
    let outputs: Vec<u32> = outputs(manifest).collect();
    if !outputs.is_empty() {
        for tag in ["Outputs", "InitialUnknowns"] {
            let _ = writeln!(xml, "    <{tag}>");
            for index in &outputs {
                let _ = writeln!(xml, "      <Unknown index=\"{index}\" dependencies=\"\"/>");
            }
            let _ = writeln!(xml, "    </{tag}>");
        }
    }
    xml += "  </ModelStructure>\n</fmiModelDescription>\n";
    xml
}

fn three(manifest: &Manifest, texts: &Texts<'_>) -> String {
    let mut xml = head(manifest, texts, "fmiVersion=\"3.0\"", "instantiationToken");
    let _ = writeln!(
        xml,
        "  variableNamingConvention=\"flat\">\n  <CoSimulation modelIdentifier=\"{IDENTIFIER}\" \
         canHandleVariableCommunicationStepSize=\"false\" fixedInternalStepSize=\"{:?}\" \
         canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" providesIntermediateUpdate=\"true\" \
         maxOutputDerivativeOrder=\"{}\"/>",
        manifest.step,
        manifest.most_derivatives()
    );
    units(&mut xml, manifest, "Unit");
    experiment(&mut xml, manifest, texts);
    let _ = writeln!(
        xml,
        "  <ModelVariables>\n    <Float64 name=\"time\" valueReference=\"{TIME}\" causality=\"independent\" \
         variability=\"continuous\"/>"
    );
    for (reference, variable) in manifest.numbered() {
        let (causality, rest) = attributes(variable);
        let start = match variable.role {
            Role::Output => String::new(),
            _ => format!(" start=\"{:?}\"", variable.start),
        };
        let _ = writeln!(
            xml,
            "    <Float64 name=\"{}\" valueReference=\"{reference}\" causality=\"{causality}\"{rest}{}{}{start}/>",
            escaped(&variable.name),
            match variable.role {
                Role::Parameter => "",
                _ => " intermediateUpdate=\"true\"",
            },
            unit(variable),
        );
    }
    xml += "  </ModelVariables>\n  <ModelStructure>\n";
    for tag in ["Output", "InitialUnknown"] {
        for reference in outputs(manifest) {
            let _ = writeln!(
                xml,
                "    <{tag} valueReference=\"{reference}\" dependencies=\"\"/>"
            );
        }
    }
    xml += "  </ModelStructure>\n</fmiModelDescription>\n";
    xml
}

fn head(manifest: &Manifest, texts: &Texts<'_>, version: &str, token: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription {version} modelName=\"{}\" \
         {token}=\"{}\" description=\"{}\" generationTool=\"{}\"\n",
        escaped(&manifest.name),
        manifest.token,
        escaped(texts.about),
        escaped(&manifest.program),
    )
}

fn experiment(xml: &mut String, manifest: &Manifest, texts: &Texts<'_>) {
    let _ = writeln!(
        xml,
        "  <DefaultExperiment startTime=\"{:?}\" stopTime=\"{:?}\" stepSize=\"{:?}\"/>",
        manifest.start,
        manifest.start + texts.duration,
        manifest.step
    );
}

/// References of outputs, which are their places from one as well.
fn outputs(manifest: &Manifest) -> impl Iterator<Item = u32> {
    let all = manifest.numbered();
    all.filter(|(_, variable)| variable.role == Role::Output)
        .map(|(reference, _)| reference)
}

fn attributes(variable: &Variable) -> (&'static str, &'static str) {
    match variable.role {
        Role::Input { .. } => ("input", " variability=\"continuous\""),
        Role::Output => (
            "output",
            " variability=\"continuous\" initial=\"calculated\"",
        ),
        Role::Parameter => ("parameter", " variability=\"fixed\" initial=\"exact\""),
    }
}

fn units(xml: &mut String, manifest: &Manifest, tag: &str) {
    let all: BTreeSet<&str> = manifest
        .variables
        .iter()
        .map(|variable| variable.unit.as_str())
        .filter(|unit| base(unit).is_some())
        .collect();
    if all.is_empty() {
        return;
    }
    *xml += "  <UnitDefinitions>\n";
    for symbol in all {
        let powers = base(symbol).unwrap_or_default();
        let _ = writeln!(
            xml,
            "    <{tag} name=\"{}\"><BaseUnit{powers}/></{tag}>",
            escaped(symbol)
        );
    }
    *xml += "  </UnitDefinitions>\n";
}

fn unit(variable: &Variable) -> String {
    match base(&variable.unit) {
        Some(_) => format!(" unit=\"{}\"", escaped(&variable.unit)),
        None => String::new(),
    }
}

/// A text as the value of an attribute.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\t' | '\n' | '\r' => out.push(' '),
            // Others cannot stand in XML at all.
            control if control.is_control() => {}
            other => out.push(other),
        }
    }
    out
}
