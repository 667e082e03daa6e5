//! As much of WebDriver as measuring needs, with the standard library alone.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::driver::Driver;
use crate::failure::Failure;
use crate::system;

/// Chromium's settings: it draws without a window, and it sends nothing anywhere by itself.
const ARGUMENTS: &str = r#""--headless","--no-sandbox","--disable-gpu","--disable-dev-shm-usage","--no-first-run",
    "--disable-background-networking","--disable-component-update","--disable-sync","--disable-extensions""#;

/// A browser under its driver; both end when dropped.
pub(super) struct Session {
    driver: Driver,
    id: String,
}

impl Session {
    /// Starts a browser.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) fn start() -> Result<Self, Failure> {
        let driver = Driver::start();
        let binary = system::browser().map_or_else(String::new, |program| {
            format!(r#","binary":{}"#, quoted(&program.display().to_string()))
        });
        let body = format!(
            r#"{{"capabilities":{{"alwaysMatch":{{"goog:chromeOptions":{{"args":[{ARGUMENTS}]{binary}}}}}}}}}"#
        );
        let answer = post(&driver, "/session", &body)?;
        let id = string_behind(&answer, "\"sessionId\":")
            .ok_or_else(|| Failure::new(format!("Chromium does not start: {answer}")))?;
        Ok(Self { driver, id })
    }

    /// Opens a page.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn open(&self, url: &str) -> Result<(), Failure> {
        let body = format!(r#"{{"url":{}}}"#, quoted(url));
        post(&self.driver, &format!("/session/{}/url", self.id), &body).map(drop)
    }

    /// The text that a script returns.
    ///
    /// # Errors
    /// When the script fails, or returns something else.
    pub(super) fn text_of(&self, script: &str) -> Result<String, Failure> {
        let body = format!(r#"{{"script":{},"args":[]}}"#, quoted(script));
        let answer = post(
            &self.driver,
            &format!("/session/{}/execute/sync", self.id),
            &body,
        )?;
        string_behind(&answer, "\"value\":")
            .ok_or_else(|| Failure::new(format!("the page's script gave no text: {answer}")))
    }
}

/// Posts JSON to the driver and gives the body of its answer.
fn post(driver: &Driver, path: &str, body: &str) -> Result<String, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(format!("chromedriver does not answer: {error}"));
    let url = driver.url();
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).map_err(failed)?;
    stream
        .set_read_timeout(Some(Duration::from_secs(120)))
        .map_err(failed)?;
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
    .map_err(failed)?;
    let (head, body) = read_answer(&mut BufReader::new(stream)).map_err(failed)?;
    if head.contains(" 200 ") {
        return Ok(body);
    }
    Err(Failure::new(format!("chromedriver refuses {path}: {body}")))
}

/// The first line of an answer, and its body. The driver keeps the connection open: the body is as long as it says.
fn read_answer(stream: &mut impl BufRead) -> std::io::Result<(String, String)> {
    let mut status = String::new();
    stream.read_line(&mut status)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or(0);
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// The JSON string that stands behind `key`; `None` where none does.
fn string_behind(json: &str, key: &str) -> Option<String> {
    let (_, rest) = json.split_once(key)?;
    let mut letters = rest.trim_start().strip_prefix('"')?.chars();
    let mut text = String::new();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'u' => {
                    let code: String = letters.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&code, 16).ok()?;
                    text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                other => text.push(other),
            },
            letter => text.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{quoted, read_answer, string_behind};

    #[test]
    fn an_answer_ends_where_it_says() {
        let mut answer = &b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nX: y\r\n\r\nbodymore"[..];
        let (status, body) = read_answer(&mut answer).unwrap();
        assert!(status.contains(" 200 "));
        assert_eq!(body, "body");
    }

    #[test]
    fn texts_go_into_json_and_come_back() {
        for text in ["", "plain", "a \"word\" and \\ and\nlines"] {
            let json = format!("{{\"value\":{}}}", quoted(text));
            assert_eq!(string_behind(&json, "\"value\":").as_deref(), Some(text));
        }
        assert_eq!(
            string_behind(r#"{"value": "\u003c"}"#, "\"value\":").as_deref(),
            Some("<")
        );
        assert_eq!(string_behind(r#"{"value":null}"#, "\"value\":"), None);
    }
}
