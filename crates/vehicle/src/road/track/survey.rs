//! Centre lines from files: comma-separated values with headings.
//!
//! ```text
//! # anticlockwise, from the start
//! distance,x,y,z
//! 0.0,0.0,0.0,0.1
//! 2.0,2.0,0.0,0.1
//! ```
//!
//! `x` and `y` are needed, `z` is zero if it is not given, other columns belong to others.

use crate::road::RoadProblem;

/// Reads the points of a centre line in m; all problems are told at once.
pub fn parse_line(text: &str) -> Result<Vec<[f64; 3]>, Vec<RoadProblem>> {
    let lines = text.lines().enumerate();
    let mut lines = lines.filter_map(|(index, line)| {
        let content = line.split('#').next().unwrap_or("").trim();
        (!content.is_empty()).then_some((index + 1, content))
    });
    let problem = |line, what: String, help: &str| RoadProblem {
        line: Some(line),
        what,
        help: help.to_owned(),
    };
    let Some((first, headings)) = lines.next() else {
        return Err(vec![RoadProblem {
            line: None,
            what: "the file is empty".into(),
            help: "give the headings x, y and z, and a line for each point".into(),
        }]);
    };
    let headings: Vec<&str> = headings.split(',').map(str::trim).collect();
    let column = |name: &str| headings.iter().position(|heading| *heading == name);
    let (Some(x), Some(y)) = (column("x"), column("y")) else {
        let what = "there is no column `x`, or none `y`".to_owned();
        let help = "begin the file with headings such as `x,y,z`";
        return Err(vec![problem(first, what, help)]);
    };
    let z = column("z");
    let mut points = Vec::new();
    let mut problems = Vec::new();
    for (number, content) in lines {
        let fields: Vec<&str> = content.split(',').map(str::trim).collect();
        let value = |place: usize| {
            let number = fields.get(place)?.parse::<f64>().ok()?;
            number.is_finite().then_some(number)
        };
        let height = z.map_or(Some(0.0), value);
        match (value(x), value(y), height) {
            (Some(x), Some(y), Some(z)) => points.push([x, y, z]),
            _ => problems.push(problem(
                number,
                format!("`{content}` does not give a point"),
                "give a number in m for each of x, y and z",
            )),
        }
    }
    if problems.is_empty() {
        Ok(points)
    } else {
        Err(problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_their_headings() {
        let text = "# a lap\ndistance, y, x\n0, 1, 2 # start\n\n1, 3, 4\n";
        assert_eq!(
            parse_line(text).unwrap(),
            [[2.0, 1.0, 0.0], [4.0, 3.0, 0.0]]
        );
    }

    #[test]
    fn all_problems_are_told() {
        let problems = parse_line("x,y,z\n0,0,0\n1,zero,0\n1,0\nnan,0,0\n").unwrap_err();
        let lines: Vec<_> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [Some(3), Some(4), Some(5)]);
        assert!(
            parse_line("a,b\n0,0\n").unwrap_err()[0]
                .what
                .contains("`x`")
        );
        assert!(parse_line("# nothing\n").is_err());
    }
}
