//! What the first bytes of a picture say: its format, its size, and whether it moves. Read before a
//! browser decodes it, so a picture that is too large is refused while there is still memory to say so.
//!
//! Sources: PNG (W3C, third edition), section 11.2.1 (IHDR) and 11.3.6.1 (acTL); JPEG, ITU-T T.81, section
//! B.2.2 (frame header); GIF89a, section 18 (screen) and the application extension NETSCAPE2.0; WebP
//! container specification, "Simple" and "Extended file format"; BMP, BITMAPINFOHEADER.

/// Bytes that are enough to find what is looked for in nearly every file.
pub(crate) const ENOUGH: usize = 1 << 18;

/// Bytes within which an SVG has its first tag.
const SVG_START: usize = 1 << 13;

/// A format of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Png,
    Jpeg,
    Gif,
    WebP,
    Bmp,
    Svg,
    Avif,
    Heic,
}

impl Format {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::WebP => "WebP",
            Self::Bmp => "BMP",
            Self::Svg => "SVG",
            Self::Avif => "AVIF",
            Self::Heic => "HEIC",
        }
    }
}

/// What a file's first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) format: Format,
    /// Width and height in pixels, as they are stored; `None` where these bytes do not say, and for an
    /// SVG that can be drawn.
    pub(crate) size: Option<(u32, u32)>,
    /// It is an animation.
    pub(crate) moves: bool,
}

/// The header of a picture; `None` where the bytes begin as no picture that is known here.
pub(crate) fn of(bytes: &[u8]) -> Option<Header> {
    let header = |format, size, moves| Header {
        format,
        size,
        moves,
    };
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        let size = big(bytes, 16).zip(big(bytes, 20));
        return Some(header(Format::Png, size, is_moving_png(bytes)));
    }
    if bytes.starts_with(b"\xff\xd8") {
        return Some(header(Format::Jpeg, jpeg_size(bytes), false));
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        let size = small_16(bytes, 6).zip(small_16(bytes, 8));
        return Some(header(Format::Gif, size, has(bytes, b"NETSCAPE2.0")));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some(header(Format::WebP, webp_size(bytes), has(bytes, b"ANIM")));
    }
    if bytes.starts_with(b"BM") {
        let size = small_32(bytes, 18).zip(small_32(bytes, 22));
        // A height below zero means that the rows go from top to bottom.
        let size = size.map(|(width, height)| (width, (height as i32).unsigned_abs()));
        return Some(header(Format::Bmp, size, false));
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        let brands = bytes.get(8..64.min(bytes.len())).unwrap_or_default();
        if has(brands, b"avif") || has(brands, b"avis") {
            return Some(header(Format::Avif, None, has(brands, b"avis")));
        }
        let heic = [b"heic", b"heix", b"mif1", b"hevc"];
        return heic
            .iter()
            .any(|brand| has(brands, *brand))
            .then(|| header(Format::Heic, None, false));
    }
    svg_tag(bytes).map(|tag| header(Format::Svg, svg_size(&tag), false))
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn big(bytes: &[u8], at: usize) -> Option<u32> {
    take(bytes, at).map(u32::from_be_bytes)
}

fn big_16(bytes: &[u8], at: usize) -> Option<u32> {
    take(bytes, at).map(|two| u16::from_be_bytes(two).into())
}

fn small_16(bytes: &[u8], at: usize) -> Option<u32> {
    take(bytes, at).map(|two| u16::from_le_bytes(two).into())
}

fn small_32(bytes: &[u8], at: usize) -> Option<u32> {
    take(bytes, at).map(u32::from_le_bytes)
}

/// Whether a PNG has the chunk of an animation before its pixels.
fn is_moving_png(bytes: &[u8]) -> bool {
    let mut at = 8;
    while let (Some(length), Some(kind)) = (big(bytes, at), take::<4>(bytes, at + 4)) {
        match &kind {
            b"acTL" => return true,
            b"IDAT" => return false,
            _ => at = at.saturating_add(12).saturating_add(length as usize),
        }
    }
    false
}

/// Width and height in the frame header of a JPEG.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [mark, kind] = take(bytes, at)?;
        if mark != 0xff {
            return None;
        }
        match kind {
            // A filling byte, and the marks that have no length.
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            // Start of a frame, but for the tables C4 and CC and the reserved C8.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return big_16(bytes, at + 7).zip(big_16(bytes, at + 5));
            }
            _ => at += 2 + big_16(bytes, at + 2)? as usize,
        }
    }
}

/// Width and height of a WebP in any of its three forms.
fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let three = |at: usize| {
        let [a, b, c] = take(bytes, at)?;
        Some(u32::from_le_bytes([a, b, c, 0]))
    };
    match bytes.get(12..16)? {
        b"VP8X" => Some((three(24)? + 1, three(27)? + 1)),
        b"VP8L" => {
            let bits = small_32(bytes, 21)?;
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8 " => Some((small_16(bytes, 26)? & 0x3fff, small_16(bytes, 28)? & 0x3fff)),
        _ => None,
    }
}

/// The first tag of an SVG, after a declaration, a document type and comments, as far as these bytes
/// reach; `None` where they begin as no SVG.
fn svg_tag(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes.get(..SVG_START.min(bytes.len()))?);
    let mut rest = text.trim_start();
    while !rest.starts_with("<svg") {
        let end = match rest {
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<?") => "?>",
            // A document type may define names between brackets.
            _ if rest.starts_with("<!")
                && rest.find('[') < rest.find('>')
                && rest.contains('[') =>
            {
                "]>"
            }
            _ if rest.starts_with("<!") => ">",
            _ => return None,
        };
        rest = rest.split_once(end)?.1.trim_start();
    }
    let tag = rest.split('>').next()?;
    Some(tag.replace(['\n', '\r', '\t'], " "))
}

/// Width and height of an SVG of which one is zero, by its attributes `width`, `height` and `viewBox`;
/// `None` for any other, which is drawn at any size.
fn svg_size(tag: &str) -> Option<(u32, u32)> {
    let value = |name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}="))?;
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        rest.get(1..)?.split(quote).next()
    };
    // A length may have a unit behind it.
    let number = |text: &str| {
        let digits = text
            .trim()
            .trim_end_matches(|c: char| c.is_alphabetic() || c == '%');
        digits.trim_end().parse::<f64>().ok()
    };
    let sides = ["width", "height"].map(|name| value(name).and_then(number));
    let view: Vec<Option<f64>> = value("viewBox")
        .unwrap_or_default()
        .split([' ', ','])
        .filter(|part| !part.is_empty())
        .map(number)
        .collect();
    let seen = match view.as_slice() {
        &[_, _, width, height] => [width, height],
        _ => [None, None],
    };
    let is_zero = |pair: [Option<f64>; 2]| pair.contains(&Some(0.0));
    let pair = [sides, seen].into_iter().find(|&pair| is_zero(pair))?;
    let [width, height] = pair.map(|side| side.unwrap_or(0.0) as u32);
    Some((width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32, chunk: &[u8; 4]) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 2, 0, 0, 0, 1, 2, 3, 4]);
        bytes.extend([0, 0, 0, 8]);
        bytes.extend(chunk);
        bytes.extend([0; 12]);
        bytes
    }

    fn found(bytes: &[u8]) -> (Format, Option<(u32, u32)>, bool) {
        let header = of(bytes).unwrap();
        (header.format, header.size, header.moves)
    }

    #[test]
    fn a_png_says_its_size_and_whether_it_moves() {
        let still = png(10_000, 10_001, b"IDAT");
        assert_eq!(found(&still), (Format::Png, Some((10_000, 10_001)), false));
        assert!(found(&png(1, 1, b"acTL")).2);
        // Cut off in the header.
        assert_eq!(found(&still[..18]), (Format::Png, None, false));
    }

    #[test]
    fn a_jpeg_says_its_size_after_other_segments() {
        let mut bytes = vec![
            0xff, 0xd8, 0xff, 0xe1, 0, 6, 1, 2, 3, 4, 0xff, 0xff, 0xc2, 0, 17, 8,
        ];
        bytes.extend([0x12, 0x34, 0x01, 0x02, 3]);
        assert_eq!(found(&bytes), (Format::Jpeg, Some((0x0102, 0x1234)), false));
        assert_eq!(found(&bytes[..12]), (Format::Jpeg, None, false));
        assert_eq!(found(b"\xff\xd8\0\0\0\0"), (Format::Jpeg, None, false));
        // A segment that says it is of no length must not hold the search up.
        let endless = [0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xe0, 0, 0];
        assert_eq!(found(&endless).1, None);
    }

    #[test]
    fn other_formats_say_their_sizes() {
        let gif = b"GIF89a\x05\0\x07\0\xf0\0\0!\xff\x0bNETSCAPE2.0";
        assert_eq!(found(gif), (Format::Gif, Some((5, 7)), true));
        let mut bmp = b"BM".to_vec();
        bmp.extend([0; 16]);
        bmp.extend(40_u32.to_le_bytes());
        bmp.extend((-30_i32).to_le_bytes());
        assert_eq!(found(&bmp), (Format::Bmp, Some((40, 30)), false));
        let webp = |kind: &[u8; 4], rest: &[u8]| {
            let mut bytes = b"RIFF\0\0\0\0WEBP".to_vec();
            bytes.extend(kind);
            bytes.extend([0; 4]);
            bytes.extend(rest);
            found(&bytes)
        };
        let extended = [2, 0, 0, 0, 99, 0, 0, 49, 0, 0];
        assert_eq!(webp(b"VP8X", &extended).1, Some((100, 50)));
        let lossless = 99_u32 | 49 << 14;
        let lossless = [&[0x2f][..], &lossless.to_le_bytes()].concat();
        assert_eq!(webp(b"VP8L", &lossless).1, Some((100, 50)));
        let simple = [0, 0, 0, 0x9d, 1, 0x2a, 100, 0, 50, 0];
        assert_eq!(webp(b"VP8 ", &simple).1, Some((100, 50)));
        assert_eq!(found(b"\0\0\0\x1cftypavif\0\0\0\0").0, Format::Avif);
        assert_eq!(found(b"\0\0\0\x1cftypmif1\0\0\0\0heic").0, Format::Heic);
        assert_eq!(
            found(b"<?xml version='1.0'?>\n<svg width='1'/>").0,
            Format::Svg
        );
    }

    #[test]
    fn a_picture_without_a_pixel_says_so() {
        assert_eq!(found(&png(0, 16, b"IDAT")).1, Some((0, 16)));
        let svg = |tag: &str| found(format!("<?xml version='1.0'?>\n{tag}<g/></svg>").as_bytes()).1;
        for (tag, size) in [
            ("<svg width='0' height='32'>", Some((0, 32))),
            ("<svg\n  height=\"0px\"\twidth=\"20.5px\">", Some((20, 0))),
            ("<svg viewBox='0 0 0 10'>", Some((0, 10))),
            (
                "<svg viewBox='0,0,24,0' width='24' height='24'>",
                Some((24, 0)),
            ),
            ("<svg width='0%'>", Some((0, 0))),
            // Any of these can be drawn.
            ("<svg>", None),
            ("<svg width='64' height='32'>", None),
            ("<svg viewBox='0 0 24 24' stroke-width='0'>", None),
            ("<svg width='auto' height=''>", None),
            ("<!-- <svg width='0'> --><svg width='10' height='10'>", None),
        ] {
            assert_eq!(svg(tag), size, "{tag}");
        }
        let typed = "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg width='0' height='1'/>";
        assert_eq!(found(typed.as_bytes()), (Format::Svg, Some((0, 1)), false));
        assert_eq!(
            found(b"<!DOCTYPE svg PUBLIC 'a' 'b'>\n<svg/>").0,
            Format::Svg
        );
    }

    #[test]
    fn what_is_no_picture_has_no_header() {
        for bytes in [
            &b""[..],
            b"this is no picture",
            b"<html>",
            b"<!doctype html><html><svg>",
            b"<!-- <svg> -->",
            b"\0\0\0\x1cftypisom",
            b"\x89PN",
        ] {
            assert_eq!(of(bytes), None);
        }
    }
}
