//! Whatever the data, a figure is a valid picture.

use std::fs;
use std::path::Path;

use oldham_results::plot::{Cells, Figure, Panel, PlotError, Scale, Series, Style};

const STYLES: [Style; 5] = [
    Style::Line,
    Style::Solid,
    Style::Reference,
    Style::Points,
    Style::LineAndPoints,
];

fn assert_is_png(bytes: &[u8]) {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert!(bytes.ends_with(b"IEND\xaeB`\x82"));
}

/// No NaN that a renderer could stumble over.
fn assert_is_sound(svg: &str) {
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    for word in ["NaN", "inf", "e308"] {
        assert!(!svg.contains(word), "{word} in {svg}");
    }
}

#[test]
fn degenerate_data_gives_a_valid_picture() {
    let nan = f64::NAN;
    let data: [(&[f64], &[f64]); 9] = [
        (&[], &[]),
        (&[1.0], &[2.0]),
        (&[0.0, 1.0], &[3.0, 3.0]),
        (&[1.0, 1.0], &[0.0, 5.0]),
        (&[0.0, 1.0, 2.0], &[nan, nan, nan]),
        (&[0.0, 1.0, 2.0], &[1.0, f64::INFINITY, -1.0]),
        (&[0.0, 1.0, 2.0], &[f64::MIN, 0.0, f64::MAX]),
        (&[-1.0, 0.0, 1e-320], &[1e-320, -1e-300, 0.0]),
        (&[0.0, 1.0, 2.0], &[1.0]),
    ];
    for (x, y) in data {
        let mut figure = Figure::new("degenerate");
        for (scale, style) in [Scale::Linear, Scale::Log].into_iter().zip(STYLES) {
            let series = Series::new("data", x.to_vec(), y.to_vec()).with_style(style);
            let panel = Panel::new("x", "y").with_scales(scale, scale);
            let panel = panel.with_guide("guide", -1.0).with_series(series);
            figure = figure
                .with_panel(panel.clone().with_y_limit(2.0, 2.0))
                .with_panel(panel.clone().with_y_limit(nan, -1.0))
                .with_panel(panel);
        }
        assert_is_sound(&figure.to_svg());
        assert_is_png(&figure.to_png().unwrap());
    }
}

#[test]
fn a_figure_without_panels_is_a_picture() {
    assert_is_png(&Figure::default().to_png().unwrap());
}

#[test]
fn every_style_is_drawn() {
    for style in STYLES {
        let series = Series::new("curve", vec![0.0, 1.0], vec![0.0, 1.0]).with_style(style);
        let svg = Figure::new("").with_panel(Panel::new("x", "y").with_series(series));
        let svg = svg.to_svg();
        let discs = svg.matches("<circle").count();
        let colour = match style {
            Style::Reference => "#000000",
            _ => "#0072B2",
        };
        let lines = svg.matches(&format!(r#"stroke="{colour}""#)).count();
        // One more of each in the legend.
        let (expected_discs, expected_lines) = match style {
            Style::Points => (3, 0),
            Style::LineAndPoints => (3, 2),
            Style::Line | Style::Solid | Style::Reference => (0, 2),
        };
        assert_eq!(
            (discs, lines),
            (expected_discs, expected_lines),
            "{style:?}"
        );
    }
}

#[test]
fn filled_cells_have_no_seams() {
    let axis: Vec<f64> = (0..7).map(f64::from).collect();
    let filled = vec![true; 49];
    let cells = Cells {
        x: axis.clone(),
        y: axis,
        filled,
    };
    let svg = Figure::new("").with_panel(Panel::new("x", "y").with_cells(cells));
    // Paths of their own are blended with the page where they meet.
    assert_eq!(svg.to_svg().matches(r##"fill="#F3C9B0""##).count(), 1);
}

#[test]
fn text_is_drawn_without_system_fonts() {
    let picture = |title: &str| Figure::new(title).to_png().unwrap();
    assert_ne!(picture("A"), picture("B"));
    assert_ne!(
        picture("\u{b7}\u{d7}\u{3b1}\u{b2}"),
        picture("\u{b7}\u{d7}\u{3b2}\u{b2}")
    );
}

#[test]
fn any_text_is_allowed() {
    let odd = "a < b & \"c\" \u{0} \u{1f600} </svg>";
    let series = Series::new(odd, vec![0.0], vec![0.0]);
    let panel = Panel::new(odd, odd)
        .with_guide(odd, 1.0)
        .with_series(series);
    assert_is_png(&Figure::new(odd).with_panel(panel).to_png().unwrap());
}

#[test]
fn a_million_points_stay_small() {
    let time: Vec<f64> = (0..1_000_000).map(|i| f64::from(i) * 1e-5).collect();
    let y = time.iter().map(|t| (300.0 * t).sin()).collect();
    let panel = Panel::new("time / s", "y / m").with_series(Series::new("y", time, y));
    let svg = Figure::new("long").with_panel(panel).to_svg();
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
}

#[test]
fn a_diverging_curve_does_not_move_the_limits() {
    let time: Vec<f64> = (0..100).map(f64::from).collect();
    let diverging = time.iter().map(|t| (7.0 * t).exp()).collect();
    let panel = Panel::new("time / s", "energy / J").with_y_limit(0.0, 2.0);
    let series = Series::new("explicit", time, diverging);
    let svg = Figure::new("")
        .with_panel(panel.with_series(series))
        .to_svg();
    assert!(svg.contains(">1.5</text>") && svg.contains(">2.0</text>"));
    assert_is_sound(&svg);
}

#[test]
fn the_extension_chooses_the_format() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plot");
    let figure = Figure::new("saved");
    figure.save(&folder.join("new/f.svg")).unwrap();
    figure.save(&folder.join("new/f.PNG")).unwrap();
    assert!(
        fs::read_to_string(folder.join("new/f.svg"))
            .unwrap()
            .starts_with("<svg")
    );
    assert_is_png(&fs::read(folder.join("new/f.PNG")).unwrap());
    let unknown = figure.save(&folder.join("f.pdf")).unwrap_err();
    assert!(matches!(unknown, PlotError::UnknownFormat { .. }));
}
