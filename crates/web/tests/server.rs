//! What browsers, and those who only pretend to be one, do to the server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use oldham_web::{
    Film, MOST_CLIENTS, PAGE, RunStatus, Scene, Server, ServerError, Stage, Wish, row_bytes,
};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Error, Message, WebSocket};

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

type Socket = WebSocket<TcpStream>;

fn film() -> Film {
    Film {
        scene: Scene {
            title: "Served".into(),
            width: 1,
            ..Scene::default()
        },
        times: vec![0.0],
        rows: vec![0.0],
    }
}

/// A server with a stage, and what the driver wished.
fn stage() -> (Server, Stage, Arc<Mutex<Vec<Wish>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = heard.clone();
    let stage = Stage::new(vec![0.5], move |wish| ears.lock().unwrap().push(wish));
    let server = Server::start(ANY, &film(), Some(stage.clone())).unwrap();
    (server, stage, heard)
}

/// Sends a head as it is, and gives all that comes back.
fn ask(server: &Server, head: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

fn get(server: &Server, target: &str, more: &str) -> String {
    let host = server.address();
    let answer = ask(
        server,
        &format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n"),
    );
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

fn connect_with(server: &Server, token: &str, origin: Option<&str>) -> Result<Socket, String> {
    let url = format!("ws://{}/live?token={token}", server.address());
    let mut request = url.into_client_request().unwrap();
    if let Some(origin) = origin {
        request
            .headers_mut()
            .insert("origin", origin.parse().unwrap());
    }
    let stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(error) => Err(error.to_string()),
    }
}

fn connect(server: &Server) -> Socket {
    connect_with(server, server.token(), None).unwrap()
}

/// The next message that is a row.
fn row(socket: &mut Socket) -> Vec<u8> {
    loop {
        if let Message::Binary(bytes) = socket.read().unwrap() {
            return bytes.to_vec();
        }
    }
}

fn status_with(socket: &mut Socket, wanted: &str) {
    loop {
        if let Message::Text(text) = socket.read().unwrap()
            && text.contains(wanted)
        {
            return;
        }
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_page_and_the_film_are_served() {
    let server = Server::start(ANY, &film(), None).unwrap();
    let page = get(&server, "/", "");
    assert_eq!(status(&page), "200");
    assert!(page.ends_with(PAGE));
    assert!(page.contains("X-Frame-Options: DENY"));
    let head = format!(
        "GET /film?token={} HTTP/1.1\r\nHost: {}\r\n\r\n",
        server.token(),
        server.address()
    );
    let answer = ask(&server, &head);
    assert!(answer.ends_with(&film().to_bytes()));
    assert!(server.url().contains(server.token()));
}

#[test]
fn a_port_in_use_is_told_with_what_to_do() {
    let first = Server::start(ANY, &film(), None).unwrap();
    let second = Server::start(first.address(), &film(), None);
    let error = second.err().expect("the port is in use");
    assert!(matches!(error, ServerError::InUse(_)));
    assert!(error.to_string().contains("--port"), "{error}");
}

#[test]
fn a_dropped_server_gives_its_port_back() {
    let first = Server::start(ANY, &film(), None).unwrap();
    let address = first.address();
    drop(first);
    assert!(Server::start(address, &film(), None).is_ok());
}

#[test]
fn a_wrong_token_sees_nothing() {
    let (server, ..) = stage();
    for target in [
        "/film",
        "/film?token=",
        "/film?token=0123456789abcdef0123456789abcdef",
        "/live?token=x",
    ] {
        let answer = get(&server, target, "");
        assert_eq!(status(&answer), "403", "{target}");
        assert!(answer.contains("token"), "{answer}");
    }
    assert!(connect_with(&server, "wrong", None).is_err());
}

#[test]
fn foreign_pages_and_names_are_refused() {
    let (server, ..) = stage();
    let film = format!("/film?token={}", server.token());
    let foreign = get(&server, &film, "Origin: http://evil.example\r\n");
    assert_eq!(status(&foreign), "403");
    let named = ask(
        &server,
        &format!("GET {film} HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
    );
    assert!(named.starts_with(b"HTTP/1.1 403"));
    assert!(connect_with(&server, server.token(), Some("http://evil.example")).is_err());
    let own = format!("http://{}", server.address());
    assert!(connect_with(&server, server.token(), Some(&own)).is_ok());
}

#[test]
fn no_path_leads_to_a_file() {
    let server = Server::start(ANY, &film(), None).unwrap();
    let token = server.token();
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/film/../../etc/passwd",
        "/Cargo.toml",
        "/..\\..\\etc",
    ] {
        let answer = get(&server, &format!("{path}?token={token}"), "");
        assert_eq!(status(&answer), "404", "{path}");
        assert!(!answer.contains("root:"));
    }
    assert_eq!(status(&get(&server, "film", "")), "400");
}

#[test]
fn long_heads_and_other_methods_are_refused() {
    let server = Server::start(ANY, &film(), None).unwrap();
    let long = get(&server, "/", &format!("X: {}\r\n", "x".repeat(9000)));
    assert_eq!(status(&long), "431");
    let post = ask(&server, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert!(post.starts_with(b"HTTP/1.1 405"));
    let noise = ask(&server, "\u{16}\u{3}\u{1} hello\r\n\r\n");
    assert!(noise.starts_with(b"HTTP/1.1 400"));
}

#[test]
fn a_frame_of_100_megabytes_is_not_read() {
    let (server, stage, _) = stage();
    let mut socket = connect(&server);
    until("seen", || stage.viewers() == 1);
    // The head of a masked binary message of 100 MB, then as much of it as is taken.
    let mut head = vec![0x82, 0x80 | 127];
    head.extend_from_slice(&100_000_000_u64.to_be_bytes());
    head.extend_from_slice(&[1, 2, 3, 4]);
    let stream = socket.get_mut();
    stream
        .set_write_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    let chunk = vec![0; 1 << 16];
    let mut sent = 0;
    if stream.write_all(&head).is_ok() {
        while sent < 100_000_000 && stream.write_all(&chunk).is_ok() {
            sent += chunk.len();
        }
    }
    until("gone", || stage.viewers() == 0);
    assert!(sent < 50_000_000, "{sent} bytes were taken");
    assert_eq!(status(&get(&server, "/", "")), "200");
}

#[test]
fn what_is_no_wish_ends_the_connection() {
    let (server, stage, heard) = stage();
    for text in [
        "nonsense",
        r#"{"wish":"format"}"#,
        r#"{"wish":"set","input":0}"#,
        r#"{"wish":"set","input":-1,"value":1}"#,
    ] {
        let mut socket = connect(&server);
        until("seen", || stage.viewers() == 1);
        socket.send(Message::text(text)).unwrap();
        until("gone", || stage.viewers() == 0);
    }
    assert!(heard.lock().unwrap().is_empty());
}

#[test]
fn one_drives_the_second_is_refused_until_the_first_has_left() {
    let (server, stage, heard) = stage();
    let wish = |socket: &mut Socket, text: &str| socket.send(Message::text(text)).unwrap();
    let (mut first, mut second) = (connect(&server), connect(&server));
    wish(&mut first, r#"{"wish":"drive"}"#);
    status_with(&mut first, r#""driver":"you""#);
    wish(&mut second, r#"{"wish":"drive"}"#);
    status_with(&mut second, r#""driver":"other""#);
    wish(&mut second, r#"{"wish":"set","input":0,"value":9.0}"#);
    wish(&mut first, r#"{"wish":"set","input":0,"value":2.0}"#);
    until("set", || !heard.lock().unwrap().is_empty());
    // The browser is closed in mid-drive.
    drop(first);
    until("released", || !stage.is_driven());
    wish(&mut second, r#"{"wish":"drive"}"#);
    status_with(&mut second, r#""driver":"you""#);
    let set = |value| Wish::Set { input: 0, value };
    assert_eq!(
        *heard.lock().unwrap(),
        [Wish::Drive, set(2.0), set(0.5), Wish::GoOn, Wish::Drive]
    );
}

#[test]
fn rows_and_status_arrive() {
    let (server, stage, _) = stage();
    let mut socket = connect(&server);
    status_with(&mut socket, r#""state":"running""#);
    assert!(stage.show(0.25, [1.5]));
    assert_eq!(row(&mut socket), row_bytes(0.25, &[1.5]));
    stage.tell(RunStatus {
        message: "an </script> in a message".into(),
        ..RunStatus::default()
    });
    status_with(&mut socket, "an </script> in a message");
}

#[test]
fn a_slow_client_loses_rows_and_the_run_waits_for_nobody() {
    const WIDTH: usize = 30_000;
    const SHOWN: u64 = 1500;
    let (server, stage, _) = stage();
    let (mut slow, mut quick) = (connect(&server), connect(&server));
    until("seen", || stage.viewers() == 2);
    let reader = std::thread::spawn(move || {
        let mut rows = 0_u64;
        loop {
            let bytes = row(&mut quick);
            rows += 1;
            if f64::from_le_bytes(bytes[..8].try_into().unwrap()) >= SHOWN as f64 {
                return rows;
            }
        }
    });
    // 180 MB, of which the slow one takes nothing meanwhile.
    let mut longest = Duration::ZERO;
    for number in 1..=SHOWN {
        let began = Instant::now();
        let is_last = number == SHOWN;
        while !stage.show(number as f64, std::iter::repeat_n(number as f32, WIDTH)) && is_last {}
        longest = longest.max(began.elapsed());
        sleep(Duration::from_millis(2));
    }
    let rows = reader.join().unwrap();
    assert!(rows > 10, "{rows} rows reached the quick one");
    assert!(longest < Duration::from_secs(1), "{longest:?}");
    // What waited for the slow one is a few rows, not all of them; the newest is among them.
    let (mut taken, mut last) = (0, 0.0);
    while last < SHOWN as f64 {
        let bytes = row(&mut slow);
        last = f64::from_le_bytes(bytes[..8].try_into().unwrap());
        taken += 1;
    }
    assert!(taken < SHOWN / 4, "{taken} rows were kept for the slow one");
}

#[test]
fn a_hundred_clients_are_bounded_and_the_server_lives_on() {
    let (server, stage, _) = stage();
    let attempts: Vec<_> = (0..100)
        .map(|_| connect_with(&server, server.token(), None))
        .collect();
    let served = attempts.iter().filter(|attempt| attempt.is_ok()).count();
    assert_eq!(served, MOST_CLIENTS);
    let refused = attempts
        .iter()
        .find_map(|attempt| attempt.as_ref().err())
        .unwrap();
    assert!(refused.contains("503"), "{refused}");
    drop(attempts);
    until("all have left", || {
        stage.viewers() == 0 && server.clients() == 0
    });
    let mut socket = connect(&server);
    assert!(stage.show(1.0, [1.0]));
    assert_eq!(row(&mut socket), row_bytes(1.0, &[1.0]));
}

/// Connections that have not shown the token take no place of a viewer, however many they are.
#[test]
fn silent_connections_keep_no_viewer_out() {
    let (server, stage, _) = stage();
    let silent: Vec<TcpStream> = (0..200)
        .map(|_| TcpStream::connect(server.address()).unwrap())
        .collect();
    let began = Instant::now();
    let mut socket = connect(&server);
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "{:?}",
        began.elapsed()
    );
    assert!(stage.show(1.0, [1.0]));
    assert_eq!(row(&mut socket), row_bytes(1.0, &[1.0]));
    assert_eq!(server.clients(), 1);
    drop(silent);
}

#[test]
fn a_server_that_ends_closes_its_connections() {
    let (server, stage, _) = stage();
    let mut socket = connect(&server);
    until("seen", || stage.viewers() == 1);
    drop(server);
    let end = loop {
        match socket.read() {
            Ok(Message::Close(_)) => break true,
            Ok(_) => {}
            Err(Error::ConnectionClosed | Error::AlreadyClosed | Error::Protocol(_)) => break true,
            Err(_) => break false,
        }
    };
    assert!(end);
}

/// Listening at all addresses, as for a second computer: the token is asked for all the same, and the
/// address that is told leads there.
#[test]
fn a_server_for_other_computers_wants_the_token_too() {
    let everywhere = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);
    let stage = Stage::new(Vec::new(), |_| {});
    let server = Server::start(everywhere, &film(), Some(stage)).unwrap();
    let near = SocketAddr::new(ANY.ip(), server.address().port());
    assert!(server.url().starts_with(&format!("http://{near}/?token=")));
    let ask = |token: &str| {
        let mut stream = TcpStream::connect(near).unwrap();
        let head = format!("GET /film?token={token} HTTP/1.1\r\nHost: {near}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    assert_eq!(status(&ask("0123456789abcdef0123456789abcdef")), "403");
    assert_eq!(status(&ask(server.token())), "200");
}

/// Those who look on without a browser are served like all others.
#[test]
fn spectators_take_rows_or_stall() {
    let (server, stage, _) = stage();
    let taking = oldham_web::Spectator::taking(&server).unwrap();
    let stalled = oldham_web::Spectator::stalled(&server).unwrap();
    until("seen", || stage.viewers() == 2);
    for i in 0..20_u8 {
        stage.show(f64::from(i), [f32::from(i)]);
        sleep(Duration::from_millis(10));
    }
    drop(server);
    assert!(taking.leave() > 20 * 12);
    assert_eq!(stalled.leave(), 0);
}
