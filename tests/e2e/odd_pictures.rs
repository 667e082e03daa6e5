//! Pictures that are odd, damaged, huge or none, as a reader drops, pastes or takes them: each gets a clear
//! word in its place or is read, the page lives on, and nothing that was there is lost.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fantoccini::Locator;
use serde_json::{Value, json};

use super::browser::{Browser, Look, pause, with_browser, with_camera};
use super::reader::click;
use super::site;
use browser_harness::Habits;

/// The cell that takes pictures.
const CELL: &str = "[data-cell=patch-cutter]";

/// What happens to a file.
enum Outcome {
    /// It is refused, and these words are in the message.
    Refused(&'static str),
    /// It is read: what is said of it (nothing, where empty), and a colour that its middle is near to.
    Read(&'static str, [i64; 3]),
    /// It is read where the browser can, and otherwise refused with these words.
    ReadOr(&'static str),
}

/// A PNG of one colour.
fn png(size: (u32, u32), depth: png::BitDepth, colour: png::ColorType, pixel: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.0, size.1);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    let row = match depth {
        png::BitDepth::One => vec![pixel[0]; size.0.div_ceil(8) as usize],
        _ => pixel.repeat(size.0 as usize),
    };
    let mut writer = encoder.write_header().expect("a header");
    writer
        .write_image_data(&row.repeat(size.1 as usize))
        .expect("pixels");
    writer.finish().expect("an end");
    bytes
}

/// A PNG in the colours of Display P3: the chunk cICP after the header.
fn wide_gamut() -> Vec<u8> {
    let plain = png(
        (16, 16),
        png::BitDepth::Eight,
        png::ColorType::Rgb,
        &[200, 60, 60],
    );
    // Primaries of P3, the curve of sRGB, no matrix, full range; and the checksum of kind and content.
    let chunk = [b"cICP".as_slice(), &[12, 13, 0, 1]].concat();
    let length = 4_u32.to_be_bytes();
    let sum = crc(&chunk).to_be_bytes();
    // The signature has 8 bytes, the header 25.
    [&plain[..33], &length, &chunk, &sum, &plain[33..]].concat()
}

/// The checksum of PNG: CRC-32.
fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    };
    !bytes.iter().fold(!0, step)
}

/// Two pictures of 16 x 16 pixels, red and then blue. Every two pixels the table of codes is cleared, so
/// that all codes have three bits: 4 clears it, 5 ends.
fn animation() -> Vec<u8> {
    let frame = |colour: u32| {
        let codes = (0..128).flat_map(|_| [4, colour, colour]).chain([5]);
        let (mut packed, mut bits, mut count) = (Vec::new(), 0_u32, 0);
        for code in codes {
            bits |= code << count;
            count += 3;
            while count >= 8 {
                packed.push((bits & 0xff) as u8);
                bits >>= 8;
                count -= 8;
            }
        }
        packed.push(bits as u8);
        let mut bytes = vec![0x21, 0xf9, 4, 0, 10, 0, 0, 0];
        bytes.extend([0x2c, 0, 0, 0, 0, 16, 0, 16, 0, 0, 2, packed.len() as u8]);
        bytes.extend(packed);
        bytes.push(0);
        bytes
    };
    let mut bytes =
        b"GIF89a\x10\0\x10\0\x80\0\0\xff\0\0\0\0\xff!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0".to_vec();
    bytes.extend(frame(0));
    bytes.extend(frame(1));
    bytes.push(0x3b);
    bytes
}

/// A JPEG of four inks, 8 x 8 pixels, each ink at its middle: one code for each table is enough.
fn cmyk() -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8];
    let mut segment = |mark: u8, content: &[u8]| {
        bytes.extend([0xff, mark]);
        bytes.extend((content.len() as u16 + 2).to_be_bytes());
        bytes.extend(content);
    };
    // Adobe's segment: no transform of the colours.
    segment(0xee, b"Adobe\0\x64\0\0\0\0\0");
    segment(0xdb, &[&[0][..], &[1; 64]].concat());
    let mut frame = vec![8, 0, 8, 0, 8, 4];
    for ink in 1..=4 {
        frame.extend([ink, 0x11, 0]);
    }
    segment(0xc0, &frame);
    for table in [0x00, 0x10] {
        // One code of one bit, for "nothing".
        let mut content = vec![table, 1];
        content.extend([0; 15]);
        content.push(0);
        segment(0xc4, &content);
    }
    segment(0xda, &[4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0]);
    bytes.extend([0x00, 0xff, 0xd9]);
    bytes
}

/// Gives a box a file by a drop or by a paste. The page has several boxes, so a paste elsewhere is
/// nobody's.
async fn give(browser: &Browser, by: &str, name: &str, bytes: &[u8]) {
    let script = "const [by, name, text, cell] = arguments;
        const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([bytes], name));
        const common = { bubbles: true, cancelable: true };
        const event = by === 'drop'
            ? new DragEvent('drop', { ...common, dataTransfer: data })
            : new ClipboardEvent('paste', { ...common, clipboardData: data });
        document.querySelector(`${cell} .picture-box`).dispatchEvent(event);";
    let arguments = [
        json!(by),
        json!(name),
        json!(STANDARD.encode(bytes)),
        json!(CELL),
    ];
    browser.script(script, &arguments).await;
}

/// What is said of the last picture, and what is shown: the colour in the middle, and the rest of it.
async fn state(browser: &Browser) -> Value {
    let script = "const cell = document.querySelector(arguments[0]);
        const canvas = cell.querySelector('.patch-grid canvas');
        const [x, y] = [canvas.width, canvas.height].map(side => Math.floor(side / 2) - 4);
        // Chromium warns of reading often from a canvas that was not made for it.
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        return {
            problem: cell.querySelector('.entry-problem').textContent.trim(),
            note: cell.querySelector('.picture-note').textContent.trim(),
            colour: [...copy.getImageData(x, y, 1, 1).data].slice(0, 3),
            shown: canvas.toDataURL().length + ':' + canvas.toDataURL().slice(-200),
            chosen: [...cell.querySelectorAll('.picture-box [aria-pressed=true]')].map(b => b.textContent),
            slider: document.querySelector(`${arguments[0]} input[type=range]`)?.value,
        };";
    browser.script(script, &[json!(CELL)]).await
}

/// Waits until a file was refused or taken, and says how.
async fn settled(browser: &Browser, before: &Value) -> Value {
    for _ in 0..300 {
        let now = state(browser).await;
        let is_refused = now["problem"] != "" && now["problem"] != before["problem"];
        if is_refused || now["shown"] != before["shown"] {
            // The picture is drawn a moment after it was taken.
            pause(300).await;
            return state(browser).await;
        }
        pause(50).await;
    }
    panic!("nothing happened to the file after {}", before["problem"]);
}

async fn open(browser: &Browser, url: &str) {
    browser.look(Look::DESK_LIGHT).await;
    browser.open_ready(url).await.expect("the page gets ready");
}

#[test]
fn each_odd_picture_is_read_or_gets_a_clear_word() {
    let eight = png::BitDepth::Eight;
    let plain = png((300, 300), eight, png::ColorType::Rgb, &[10, 120, 10]);
    let svg = b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' width='64' height='32'><rect width='64' height='32' fill='#00f'/></svg>";
    // A header that says that a row has no pixel; it is read before anything is decoded.
    let mut no_width = plain.clone();
    no_width[16..20].fill(0);
    let flat = b"<svg xmlns='http://www.w3.org/2000/svg' width='0' height='32'><rect width='9' height='9'/></svg>";
    let files: [(&str, Vec<u8>, Outcome); 13] = [
        ("green.png", plain.clone(), Outcome::Read("", [10, 120, 10])),
        (
            "text.png",
            b"this is no picture".to_vec(),
            Outcome::Refused("its content is of no kind"),
        ),
        ("empty.png", Vec::new(), Outcome::Refused("is empty")),
        (
            "no-width.png",
            no_width,
            Outcome::Refused("without a pixel: 0 \u{d7} 300"),
        ),
        (
            "flat.svg",
            flat.to_vec(),
            Outcome::Refused("without a pixel: 0 \u{d7} 32"),
        ),
        (
            "cut.png",
            plain[..plain.len() - 40].to_vec(),
            Outcome::Refused("damaged or cut off"),
        ),
        (
            "huge.png",
            png(
                (10_000, 10_000),
                png::BitDepth::One,
                png::ColorType::Grayscale,
                &[0x55],
            ),
            Outcome::Refused("has 100 megapixels"),
        ),
        (
            "clear.png",
            png((40, 20), eight, png::ColorType::Rgba, &[0, 0, 0, 0]),
            Outcome::Read("put on white", [255, 255, 255]),
        ),
        (
            "moving.gif",
            animation(),
            Outcome::Read("the first picture", [255, 0, 0]),
        ),
        ("drawing.svg", svg.to_vec(), Outcome::Read("", [0, 0, 255])),
        ("inks.jpg", cmyk(), Outcome::ReadOr("JPEG")),
        // Red of P3 is more than red of sRGB.
        ("wide.png", wide_gamut(), Outcome::Read("", [215, 40, 50])),
        (
            "large.png",
            png((2_000, 1_000), eight, png::ColorType::Grayscale, &[90]),
            Outcome::Read("scaled down from 2000", [90, 90, 90]),
        ),
    ];
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server.url("lesson/patches/")).await;
        for (n, (name, bytes, outcome)) in files.iter().enumerate() {
            let before = state(browser).await;
            let by = if n % 2 == 0 { "drop" } else { "paste" };
            give(browser, by, name, bytes).await;
            let after = settled(browser, &before).await;
            let says = |key: &str, words: &str| {
                after[key].as_str().is_some_and(|said| said.contains(words))
            };
            let refused = |words: &str| {
                assert!(
                    says("problem", name) && says("problem", words),
                    "{name}: {after}"
                );
                for kept in ["shown", "chosen", "note", "slider"] {
                    assert_eq!(after[kept], before[kept], "{name}: {kept} is kept");
                }
            };
            match outcome {
                Outcome::Refused(words) => refused(words),
                Outcome::ReadOr(words) if after["problem"] != "" => refused(words),
                Outcome::ReadOr(_) => assert_ne!(after["shown"], before["shown"], "{name}"),
                Outcome::Read(note, colour) => {
                    assert_eq!(after["problem"], "", "{name}");
                    assert!(says("note", note), "{name}: {after}");
                    assert_eq!(note.is_empty(), after["note"] == "", "{name}: {after}");
                    for (k, expected) in colour.iter().enumerate() {
                        let found = after["colour"][k].as_i64().expect("a colour");
                        assert!((found - expected).abs() <= 20, "{name}: {after}");
                    }
                }
            }
            let failed = "return [...document.querySelectorAll('[data-cell][data-state=error]')].map(c => c.id)";
            assert_eq!(browser.script(failed, &[]).await, json!([]), "{name}");
        }
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// The browser makes a JPEG, 40 x 20, black at its left and white at its right; EXIF says that it is to be
/// turned to the right: black is then at the top.
#[test]
fn a_photograph_is_shown_upright() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server.url("lesson/patches/")).await;
        let before = state(browser).await;
        let script = "const [cell, done] = arguments;
            const canvas = document.createElement('canvas');
            [canvas.width, canvas.height] = [40, 20];
            const pen = canvas.getContext('2d');
            pen.fillRect(0, 0, 20, 20);
            pen.fillStyle = '#fff';
            pen.fillRect(20, 0, 20, 20);
            canvas.toBlob(async blob => {
                const own = new Uint8Array(await blob.arrayBuffer());
                const tiff = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0];
                const exif = [...'Exif'].map(letter => letter.charCodeAt(0)).concat([0, 0], tiff);
                const segment = [0xff, 0xe1, 0, exif.length + 2, ...exif];
                const bytes = new Uint8Array([...own.slice(0, 2), ...segment, ...own.slice(2)]);
                const data = new DataTransfer();
                data.items.add(new File([bytes], 'turned.jpg'));
                document.querySelector(`${cell} .picture-box`)
                    .dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
                done();
            }, 'image/jpeg', 0.95);";
        browser.script_async(script, &[json!(CELL)]).await;
        let after = settled(browser, &before).await;
        assert_eq!(after["problem"], "");
        // The cell shows the square in the middle of it.
        let ends = "const canvas = document.querySelector(`${arguments[0]} .patch-grid canvas`);
            const at = share => canvas.getContext('2d').getImageData(canvas.width / 2 + 5, canvas.height * share, 1, 1).data[0];
            return [at(0.2) < 60, at(0.9) > 200]";
        assert_eq!(
            browser.script(ends, &[json!(CELL)]).await,
            json!([true, true])
        );
    });
}

/// A browser would open a file that is dropped beside every place for it, in place of the page.
#[test]
fn a_file_that_is_dropped_beside_the_box_does_not_replace_the_page() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server.url("lesson/patches/")).await;
        let before = state(browser).await;
        let script = "const data = new DataTransfer();
            data.items.add(new File(['x'], 'beside.png'));
            return ['dragover', 'drop'].map(kind => document.querySelector('h1')
                .dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data })))";
        // False: the browser's own answer was prevented.
        assert_eq!(browser.script(script, &[]).await, json!([false, false]));
        assert_eq!(state(browser).await, before);
    });
}

/// Notes every camera that the page asks for.
const WATCH: &str = "window.cameras = [];
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async wish => {
        const camera = await ask(wish);
        window.cameras.push(camera);
        return camera;
    };";

/// The states of the cameras so far.
const CAMERAS: &str =
    "return window.cameras.map(camera => camera.getTracks().map(track => track.readyState).join())";

async fn open_camera(browser: &Browser) {
    let button = "//*[@data-cell='patch-cutter']//button[.='Camera']";
    click(browser, Locator::XPath(button)).await;
    browser
        .wait_for(
            "the camera's picture",
            "const take = [...document.querySelectorAll('dialog[open] button')].find(b => b.textContent === 'Take the picture');
             return !!take && !take.disabled && document.querySelector('dialog video').videoWidth > 0",
        )
        .await;
}

#[test]
fn the_camera_is_asked_for_on_a_click_and_switched_off_again() {
    let server = site::serve(Habits::ROOT);
    with_camera(async |browser| {
        open(browser, &server.url("lesson/patches/")).await;
        browser.script(WATCH, &[]).await;
        pause(300).await;
        assert_eq!(browser.script(CAMERAS, &[]).await, json!([]));

        open_camera(browser).await;
        assert_eq!(browser.script(CAMERAS, &[]).await, json!(["live"]));
        let before = state(browser).await;
        click(
            browser,
            Locator::XPath("//dialog//button[.='Take the picture']"),
        )
        .await;
        let after = settled(browser, &before).await;
        assert_eq!(after["problem"], "");
        assert_eq!(browser.script(CAMERAS, &[]).await, json!(["ended"]));
        assert_eq!(
            browser
                .script(
                    "return document.querySelectorAll('dialog[open]').length",
                    &[]
                )
                .await,
            json!(0)
        );

        // Closed with Escape.
        open_camera(browser).await;
        let focused = browser.client().active_element().await.expect("a focus");
        focused.send_keys("\u{e00c}").await.expect("Escape");
        browser
            .wait_for(
                "the camera to be off",
                &format!(
                    "{} === 'ended,ended'",
                    CAMERAS.replace("return ", "return (") + ").join()"
                ),
            )
            .await;

        // The page is left while the camera is on.
        open_camera(browser).await;
        let leave = "[...document.links].find(a => a.href.includes('/lesson/') && new URL(a.href).pathname !== location.pathname).click()";
        browser.script(leave, &[]).await;
        browser
            .wait_for(
                "the camera to be off",
                &format!(
                    "{} === 'ended,ended,ended'",
                    CAMERAS.replace("return ", "return (") + ").join()"
                ),
            )
            .await;
    });
}

#[test]
fn a_camera_that_is_refused_is_explained() {
    let server = site::serve(Habits::ROOT);
    with_camera(async |browser| {
        open(browser, &server.url("lesson/patches/")).await;
        for (name, words) in [
            ("NotAllowedError", "was not allowed"),
            ("NotFoundError", "No camera was found"),
            ("NotReadableError", "another program"),
        ] {
            let refuse = "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', arguments[0]))";
            browser.script(refuse, &[json!(name)]).await;
            let before = state(browser).await;
            let button = "//*[@data-cell='patch-cutter']//button[.='Camera']";
            click(browser, Locator::XPath(button)).await;
            browser
                .wait_for(words, &format!("return !!document.querySelector('dialog[open] [role=status]')?.textContent.includes('{words}')"))
                .await;
            click(browser, Locator::XPath("//dialog//button[.='Close']")).await;
            assert_eq!(state(browser).await, before);
        }
    });
}
