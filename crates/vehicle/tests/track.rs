//! Roads along closed centre lines: against circles, against all points of a line, and by what a car feels.

mod common;

use common::car::{History, car};
use oldham_model::Model;
use oldham_space::Vec3;
use oldham_vehicle::Road;
use oldham_vehicle::road::{
    CentreLine, KerbShape, LineProblem, RoadPoint, Track, TrackShape, parse_line,
};
use std::f64::consts::TAU;

const PLAIN: TrackShape = TrackShape {
    width: 5.0,
    kerbs: None,
    verge: 2.0,
    verge_grip: 0.6,
    roughness: None,
    cones: None,
    sectors: Vec::new(),
};
const KERBS: KerbShape = KerbShape {
    width: 0.5,
    height: 0.03,
    pitch: 0.8,
    radius: 30.0,
};

fn circle(radius: f64, count: usize, height: f64) -> Vec<[f64; 3]> {
    let point = |i: usize| {
        let (sine, cosine) = (TAU * i as f64 / count as f64).sin_cos();
        [radius * cosine, radius * sine, height]
    };
    (0..count).map(point).collect()
}

/// The track of the examples.
fn handling() -> Vec<[f64; 3]> {
    parse_line(include_str!("../../../examples/handling-track.csv")).unwrap()
}

/// Numbers between 0 and 1 (Lehmer's generator with Park and Miller's multiplier).
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state * 48_271 % 2_147_483_647;
        state as f64 / 2_147_483_647.0
    }
}

fn under(road: &Road, x: f64, y: f64) -> RoadPoint {
    road.under(Vec3::new(x, y, 1.0))
}

#[test]
fn a_line_through_points_of_a_circle_is_that_circle() {
    let radius = 30.0;
    let line = CentreLine::through(&circle(radius, 60, 0.0), 8.0).unwrap();
    assert!(
        (line.length() / (TAU * radius) - 1.0).abs() < 2e-6,
        "{}",
        line.length()
    );
    for (angle, outwards) in [(0.0, 0.0), (1.1, 3.0), (2.9, -4.0), (6.2, 7.9)] {
        let r = radius + outwards;
        let beside = line
            .beside(r * f64::cos(angle), r * f64::sin(angle))
            .unwrap();
        let arc = (beside.along - radius * angle + 1.0).rem_euclid(TAU * radius) - 1.0;
        assert!(arc.abs() < 1e-3, "{arc}");
        // The left is inside of a circle that is driven anticlockwise.
        assert!((beside.left + outwards).abs() < 1e-4, "{}", beside.left);
        assert!((line.at(beside.along).2 * radius - 1.0).abs() < 1e-2);
    }
    assert_eq!(line.beside(0.0, 0.0), None);
    assert_eq!(line.beside(300.0, 0.0), None);
}

/// No point of the line is nearer than the one that is found.
#[test]
fn the_nearest_point_is_found() {
    let line = CentreLine::through(&handling(), 5.5).unwrap();
    let points: Vec<[f64; 3]> = line.evenly(0.05).map(|along| line.at(along).0).collect();
    let mut any = random(7);
    let mut found = 0;
    for _ in 0..400 {
        let [x, y] = [140.0 * any() - 70.0, 145.0 * any() - 8.0];
        let distance = |point: &[f64; 3]| (point[0] - x).hypot(point[1] - y);
        let least = points.iter().map(distance).fold(f64::INFINITY, f64::min);
        match line.beside(x, y) {
            Some(beside) => {
                found += 1;
                // Points that are 5 cm apart are nearly as near.
                let more = least * least - beside.left * beside.left;
                assert!((-1e-9..1e-3).contains(&more), "{x} {y}: {more}");
                let (point, ahead, _) = line.at(beside.along);
                // From the point to the left, and back to the place.
                let back = [
                    point[0] - ahead[1] * beside.left - x,
                    point[1] + ahead[0] * beside.left - y,
                ];
                assert!(back[0].hypot(back[1]) < 1e-9, "{back:?}");
            }
            None => assert!(least > 5.5 - 1e-3, "{x} {y} {least}"),
        }
    }
    assert!(found > 50, "{found}");
}

/// Over hills, kerbs, a rough road, and from there to the land.
#[test]
fn slopes_are_those_of_the_heights() {
    let shape = TrackShape {
        kerbs: Some(KERBS),
        roughness: Some((16e-6, 3)),
        ..PLAIN
    };
    let track = Track::new(&handling(), shape).unwrap();
    let length = track.line().length();
    let mut any = random(11);
    let places: Vec<[f64; 2]> = (0..600)
        .map(|_| {
            let ([x, y, _], ahead, _) = track.line().at(any() * length);
            let left = 14.0 * any() - 7.0;
            [x - ahead[1] * left, y + ahead[0] * left]
        })
        .collect();
    let road = Road::track(track);
    let step = 1e-5;
    let mut steepest = 0.0_f64;
    for [x, y] in places {
        let normal = under(&road, x, y).normal;
        let height = |x, y| under(&road, x, y).place[2];
        let expected = [
            (height(x + step, y) - height(x - step, y)) / (2.0 * step),
            (height(x, y + step) - height(x, y - step)) / (2.0 * step),
        ];
        for axis in [0, 1] {
            let slope = -normal[axis] / normal[2];
            assert!(
                (slope - expected[axis]).abs() < 2e-4,
                "{x} {y}: {slope} {expected:?}"
            );
            steepest = steepest.max(slope.abs());
        }
    }
    assert!(steepest > 0.05, "{steepest}");
}

#[test]
fn kerbs_stand_on_the_inside_of_corners_and_grip_ends_beside_them() {
    let shape = TrackShape {
        kerbs: Some(KERBS),
        ..PLAIN
    };
    let road = Road::track(Track::new(&circle(20.0, 60, 0.0), shape.clone()).unwrap());
    let beside = |left: f64| under(&road, 20.0 - left, 0.001);
    assert!(
        beside(2.5).place[2].abs() < 1e-9,
        "the kerb begins at the edge"
    );
    let tops = (0..200).map(|i| {
        let (sine, cosine) = (TAU * f64::from(i) / 400.0 + 1.0).sin_cos();
        under(&road, 17.0 * cosine, 17.0 * sine).place[2]
    });
    let (low, high) = tops.fold((1.0_f64, 0.0_f64), |(low, high), z| {
        (low.min(z), high.max(z))
    });
    assert!(
        (high - 0.03).abs() < 1e-4 && (low - 0.015).abs() < 1e-3,
        "{low} {high}"
    );
    assert!(
        beside(-3.0).place[2].abs() < 1e-12,
        "there is none on the outside"
    );
    for (left, grip) in [
        (0.0, 1.0),
        (2.9, 1.0),
        (-2.9, 1.0),
        (3.5, 0.6),
        (-3.5, 0.6),
        (-60.0, 0.6),
    ] {
        assert!((beside(left).grip - grip).abs() < 1e-12, "{left}");
    }
    // A corner that is wider has none.
    let wide = Road::track(Track::new(&circle(40.0, 60, 0.0), shape).unwrap());
    assert_eq!(under(&wide, 37.0, 0.0).place[2], 0.0);
}

#[test]
fn the_land_is_as_high_as_the_road_nearby() {
    let track = Track::new(&circle(40.0, 60, 2.5), PLAIN).unwrap();
    let road = Road::track(track);
    for (x, y) in [
        (40.0, 0.0),
        (0.0, 36.5),
        (0.0, 0.0),
        (90.0, 90.0),
        (-400.0, 3.0),
    ] {
        assert!((under(&road, x, y).place[2] - 2.5).abs() < 1e-9, "{x} {y}");
    }
}

#[test]
fn lines_on_which_a_road_cannot_lie_are_refused() {
    let track = |points: &[[f64; 3]], shape| Track::new(points, shape).map(|_| ()).unwrap_err();
    let tight = track(&circle(4.0, 40, 0.0), PLAIN);
    let LineProblem::Tight { radius, reach, .. } = tight else {
        panic!("{tight:?}")
    };
    assert!((radius - 4.0).abs() < 0.1 && (reach - 4.5).abs() < 1e-12);
    // A waist of 8 m.
    let bone: Vec<[f64; 3]> = (0..120)
        .map(|i| {
            let (sine, cosine) = (TAU * f64::from(i) / 120.0).sin_cos();
            [60.0 * cosine, sine * (4.0 + 30.0 * cosine * cosine), 0.0]
        })
        .collect();
    let near = track(&bone, PLAIN);
    assert!(matches!(near, LineProblem::Near { .. }), "{near:?}");
    let few = track(&circle(40.0, 5, 0.0), PLAIN);
    assert_eq!(few, LineProblem::Few(5));
    let open = track(&circle(40.0, 60, 0.0)[..40], PLAIN);
    assert!(matches!(open, LineProblem::Open(_)), "{open:?}");
    let mut twice = circle(40.0, 60, 0.0);
    twice[8] = twice[7];
    assert!(matches!(track(&twice, PLAIN), LineProblem::Twice(_)));
    let far = track(&circle(4e3, 600, 0.0), PLAIN);
    assert!(matches!(far, LineProblem::Long(_)), "{far:?}");
    for sectors in [vec![50.0, 40.0], vec![300.0], vec![0.0]] {
        let shape = TrackShape { sectors, ..PLAIN };
        let wrong = track(&circle(40.0, 60, 0.0), shape);
        assert!(matches!(wrong, LineProblem::Sector(_)), "{wrong:?}");
    }
    for problem in [tight, near, few, open, far] {
        assert!(problem.to_string().len() > 20 && problem.help().len() > 20);
    }
}

/// Two straights of 160 m with half circles between them; the first climbs by so much over 40 m.
fn stadium(climb: f64) -> String {
    let mut points = Vec::new();
    let height = |x: f64| {
        let part = ((x - 10.0) / 40.0).clamp(0.0, 1.0);
        climb * part * part * (3.0 - 2.0 * part)
    };
    for i in 0..40 {
        let x = 4.0 * f64::from(i) - 20.0;
        points.push(format!("[{x}, 0.0, {}]", height(x)));
    }
    for i in 0..16 {
        let (sine, cosine) = (TAU / 2.0 * f64::from(i) / 16.0).sin_cos();
        points.push(format!(
            "[{}, {}, {climb}]",
            140.0 + 40.0 * sine,
            40.0 - 40.0 * cosine
        ));
    }
    for i in 0..40 {
        let x = 140.0 - 4.0 * f64::from(i);
        points.push(format!("[{x}, 80.0, {}]", height(x)));
    }
    for i in 0..16 {
        let (sine, cosine) = (TAU / 2.0 * f64::from(i) / 16.0).sin_cos();
        points.push(format!(
            "[{}, {}, 0.0]",
            -20.0 - 40.0 * sine,
            40.0 + 40.0 * cosine
        ));
    }
    points.join(", ")
}

fn coasting(climb: f64) -> Model {
    let track = format!(
        "[multibody.car.elements.tyre-fl.road.track]\npoints = [{}]\nverge = 20\n",
        stadium(climb)
    );
    let still = [
        ("v0", "15"),
        ("speed_gain", "0"),
        ("t_step", "1e6"),
        ("simulation.duration", "4.8"),
        // In thicker air the faster car would lose more.
        ("multibody.car.elements.air.area", "1e-9"),
    ];
    car(&track, &still)
}

/// What a car loses on its way up a hill, over what it loses on the level, is its weight times the height.
#[test]
fn a_car_that_coasts_pays_for_a_hill_with_its_speed() {
    let climb = 2.0;
    let [level, hill] = [0.0, climb].map(|climb| History::whole(&coasting(climb), 100));
    // Chassis, rack, and for each wheel upright, rim and rocker.
    let mass = 214.0 + 1.2 + 4.0 * (7.0 + 6.5 + 0.35);
    let turning = 4.0 * 0.2 / 0.2_f64.powi(2);
    // At the same place, so that both have lost the same to the road and the air but for the lower speed.
    let speed_at = |run: &History, place: f64| {
        let (x, v) = (run.column("car.chassis.px"), run.column("car.chassis.vx"));
        let i = x.iter().position(|x| *x > place).expect("it gets there");
        let part = (place - x[i - 1]) / (x[i] - x[i - 1]);
        v[i - 1] + part * (v[i] - v[i - 1])
    };
    let squares = [&level, &hill].map(|run| speed_at(run, 56.0).powi(2));
    let lost = 0.5 * (mass + turning) * (squares[0] - squares[1]);
    let expected = mass * 9.81 * climb;
    assert!(
        (lost / expected - 1.0).abs() < 0.03,
        "{lost} J, {expected} J"
    );
    let rise = hill.last("car.chassis.pz") - level.last("car.chassis.pz");
    assert!((rise - climb).abs() < 0.005, "{rise}");
}

/// A problem names the place in the file and what to do.
#[test]
fn roads_that_cannot_be_are_reported_in_the_model() {
    let problems = |more: &str| {
        let text = format!("{}\n{more}", common::car::CAR);
        let kinds = oldham_vehicle::extensions();
        let model = Model::parse_with(&text, "car.toml", &Default::default(), &kinds);
        model.map(|_| ()).unwrap_err().to_string()
    };
    let road = "[multibody.car.elements.tyre-fl.road]\n";
    let cases = [
        (
            "track = { width = 5 }",
            "exactly one of `file` and `points`",
        ),
        ("track = { file = \"nowhere.csv\" }", "cannot be read"),
        ("track = { points = [[0,0,0],[1,0,0]] }", "six points"),
        (
            "height = 1\ntrack = { file = \"nowhere.csv\" }",
            "a track has no `height`",
        ),
        (
            "seed = 1\ntrack = { file = \"nowhere.csv\" }",
            "a track has no `seed`",
        ),
        (
            "track = { file = \"nowhere.csv\", width = 0.1 }",
            "between 1 and 100",
        ),
    ];
    for (given, expected) in cases {
        let told = problems(&format!("{road}{given}\n"));
        assert!(told.contains(expected), "{given}: {told}");
    }
}
