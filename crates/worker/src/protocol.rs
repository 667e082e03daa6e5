//! Messages between the page and a worker, as bytes, and the check that both are of one build of
//! the site.
//!
//! | first byte | the rest | sender |
//! |---|---|---|
//! | 1 | the name of the worker's build ([`BUILD`]), UTF-8 | the worker, first of all |
//! | 2 | an [`Envelope`] in postcard | both |
//! | 3 | why the worker could not read or write a message, UTF-8 | the worker |
//!
//! Postcard does not describe itself: bytes of another build could decode to something else. So the
//! page sends nothing before the worker has named its build, and refuses a worker of another one.
//! The table is the same for all builds. The bodies are those of [`crate::cell_protocol`] or
//! [`crate::model::protocol`].

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The name of this build: a hash of the sources of the crates whose code runs in a worker
/// (`build.rs`).
pub const BUILD: &str = env!("WORKER_BUILD");

/// The id of a message that answers no request.
pub const UNASKED: u64 = 0;

const GREETING: u8 = 1;
const ENVELOPE: u8 = 2;
const FAILURE: u8 = 3;

/// A request, or an answer to the request of the same id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// Number of the request, chosen by the page; [`UNASKED`] where the worker speaks unasked.
    pub id: u64,
    /// The message.
    pub body: T,
}

/// Why a message was not understood. The `Display` text is what the reader sees.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The worker is of another build, or does not say of which.
    #[error(
        "This page and the code that computes for it are of two versions of the site ({BUILD} and {worker}). Reload the page to get one."
    )]
    OtherBuild {
        /// The name of the worker's build.
        worker: String,
    },
    /// Bytes that are no message.
    #[error("A message of {bytes} bytes could not be read. Reload the page.")]
    Unreadable {
        /// Their number.
        bytes: usize,
    },
    /// A message that cannot be written as bytes.
    #[error("A message could not be written: {0}.")]
    Unwritable(String),
    /// A message that the worker could not read or write.
    #[error("The worker refused a message. {0}")]
    Refused(String),
}

/// The first message of a worker.
pub fn greeting() -> Vec<u8> {
    framed(GREETING, BUILD.as_bytes())
}

/// A worker's message that says what it could not read or write.
pub fn failure(error: &ProtocolError) -> Vec<u8> {
    framed(FAILURE, error.to_string().as_bytes())
}

fn framed(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend(content);
    bytes
}

/// The bytes of a message.
///
/// # Errors
/// [`ProtocolError::Unwritable`] when the body holds what postcard cannot write.
pub fn encode<T: Serialize>(envelope: &Envelope<T>) -> Result<Vec<u8>, ProtocolError> {
    postcard::to_extend(envelope, vec![ENVELOPE])
        .map_err(|error| ProtocolError::Unwritable(error.to_string()))
}

/// A message from bytes; for the worker, which is told nothing else.
///
/// # Errors
/// [`ProtocolError::Unreadable`] for anything that [`encode`] did not write.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<Envelope<T>, ProtocolError> {
    let unreadable = ProtocolError::Unreadable { bytes: bytes.len() };
    let Some((&ENVELOPE, content)) = bytes.split_first() else {
        return Err(unreadable);
    };
    match postcard::take_from_bytes(content) {
        Ok((envelope, [])) => Ok(envelope),
        _ => Err(unreadable),
    }
}

/// The bytes of a message within a message, which only a part of the workers' files can read.
///
/// # Errors
/// [`ProtocolError::Unwritable`] when it holds what postcard cannot write.
pub fn pack<T: Serialize>(body: &T) -> Result<Vec<u8>, ProtocolError> {
    postcard::to_extend(body, Vec::new())
        .map_err(|error| ProtocolError::Unwritable(error.to_string()))
}

/// A message within a message, from the bytes that [`pack`] wrote.
///
/// # Errors
/// [`ProtocolError::Unreadable`] for anything else.
pub fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ProtocolError> {
    match postcard::take_from_bytes(bytes) {
        Ok((body, [])) => Ok(body),
        _ => Err(ProtocolError::Unreadable { bytes: bytes.len() }),
    }
}

/// The page's reading of what a worker sends.
#[derive(Debug, Default)]
pub struct Inbox {
    is_greeted: bool,
}

impl Inbox {
    /// Reads a message; `None` for the worker's greeting, after which it may be sent requests.
    ///
    /// # Errors
    /// When the worker is of another build, could not read a message itself, or sent bytes that are
    /// no message. It must not be used any more then.
    pub fn read<T: DeserializeOwned>(
        &mut self,
        bytes: &[u8],
    ) -> Result<Option<Envelope<T>>, ProtocolError> {
        let text = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
        match (bytes.split_first(), self.is_greeted) {
            (Some((&GREETING, content)), _) if content == BUILD.as_bytes() => {
                self.is_greeted = true;
                Ok(None)
            }
            (Some((&GREETING, content)), _) => Err(ProtocolError::OtherBuild {
                worker: text(content),
            }),
            (Some((&FAILURE, content)), _) => Err(ProtocolError::Refused(text(content))),
            (_, false) => Err(ProtocolError::OtherBuild {
                worker: "unknown".to_owned(),
            }),
            (_, true) => decode(bytes).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: u64) -> Envelope<(String, Option<f32>)> {
        let body = ("a cell".to_owned(), Some(0.5));
        Envelope { id, body }
    }

    /// The page's end of a worker that has greeted it.
    fn greeted() -> Inbox {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.read::<()>(&greeting()), Ok(None));
        inbox
    }

    #[test]
    fn messages_keep_their_id_on_the_way() {
        let mut inbox = greeted();
        for id in [UNASKED, 7, u64::MAX] {
            let bytes = encode(&message(id)).unwrap();
            assert_eq!(decode(&bytes), Ok(message(id)));
            assert_eq!(inbox.read(&bytes), Ok(Some(message(id))));
        }
    }

    #[test]
    fn rubbish_is_an_error_and_never_silence() {
        let whole = encode(&message(3)).unwrap();
        let cut = &whole[..whole.len() - 1];
        let longer = [&whole[..], &[0]].concat();
        for bytes in [
            &[][..],
            &[9, 9, 9],
            &[0xff; 64],
            &[ENVELOPE],
            cut,
            &longer[..],
        ] {
            let unreadable = ProtocolError::Unreadable { bytes: bytes.len() };
            let found = decode::<(String, Option<f32>)>(bytes);
            assert_eq!(found, Err(unreadable.clone()));
            let found = greeted().read::<(String, Option<f32>)>(bytes);
            assert_eq!(found, Err(unreadable));
        }
    }

    #[test]
    fn a_worker_of_another_build_is_refused_in_words() {
        let other = framed(GREETING, b"0123456789abcdef");
        let error = Inbox::default().read::<()>(&other).unwrap_err();
        assert_eq!(
            error,
            ProtocolError::OtherBuild {
                worker: "0123456789abcdef".to_owned()
            }
        );
        let words = error.to_string();
        assert!(
            words.contains("0123456789abcdef") && words.contains(BUILD),
            "{words}"
        );
        assert!(words.contains("Reload"), "{words}");
        // A worker from before there were greetings speaks at once, in any bytes.
        for bytes in [&[][..], &[0, 1], &encode(&message(1)).unwrap()[..]] {
            let found = Inbox::default().read::<(String, Option<f32>)>(bytes);
            assert!(
                matches!(found, Err(ProtocolError::OtherBuild { .. })),
                "{found:?}"
            );
        }
    }

    #[test]
    fn what_the_worker_cannot_read_reaches_the_page() {
        let error = decode::<()>(&[9]).unwrap_err();
        let found = greeted().read::<()>(&failure(&error));
        assert_eq!(found, Err(ProtocolError::Refused(error.to_string())));
    }

    #[test]
    fn a_message_within_a_message_is_whole_or_an_error() {
        let bytes = pack(&message(3)).unwrap();
        assert_eq!(unpack(&bytes), Ok(message(3)));
        let found = unpack::<Envelope<(String, Option<f32>)>>(&bytes[1..]);
        assert!(matches!(found, Err(ProtocolError::Unreadable { .. })));
    }

    #[test]
    fn a_message_that_cannot_be_written_is_an_error() {
        /// A list that does not know its length, which postcard refuses.
        struct Endless;
        impl Serialize for Endless {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeSeq;
                serializer.serialize_seq(None)?.end()
            }
        }
        let found = encode(&Envelope {
            id: 1,
            body: Endless,
        });
        assert!(
            matches!(found, Err(ProtocolError::Unwritable(_))),
            "{found:?}"
        );
    }

    #[test]
    fn a_build_has_a_name() {
        assert!(BUILD.len() == 16 && BUILD.bytes().all(|digit| digit.is_ascii_hexdigit()));
    }
}
