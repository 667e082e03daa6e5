//! The cost of a download, told before it starts.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use leptos::html::Button;
use leptos::prelude::*;
use worker::build::Purpose;
use worker::model::file::{addresses, too_large};
use worker::model::kept::{kept_bytes, kept_type, stored_types, type_name};
use worker::model::packing::Packing;
use worker::model::protocol::{ModelEvent, ModelRequest};

use super::message::message;
use super::session::{Engine, Lab, OpenError, OpenRequest, STOPPED, failed};
use crate::browser::storage::megabytes;
use crate::browser::{address, fetch, storage};
use crate::model_worker::{ModelWorker, WorkerEvent};

/// Why a file is not fetched that is not on this device either.
const REFUSED: &str =
    "This page fetches over https:// only, or over http:// from its own host or this machine.";

/// Memory of the engine by itself.
const ENGINE_BYTES: u64 = 4_000_000;

/// A download that the reader is asked about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DownloadOffer {
    name: String,
    /// Bytes of the file, where the host says so.
    bytes: Option<u64>,
    /// Number of them that are on this device.
    here: u64,
    /// The reader's choice of a form for the matrices, `None` for the usual one.
    packing: Option<Packing>,
    /// Bytes of weights in that form that this device reads in a second.
    bandwidth: f64,
}

impl DownloadOffer {
    fn words(&self) -> String {
        let Some(bytes) = self.bytes else {
            if self.here > 0 {
                return format!(
                    "Of {}, {} are on this device, and its host does not say how large it is.",
                    self.name,
                    megabytes(self.here)
                );
            }
            return format!(
                "{} is not on this device, and its host does not say how large it is.",
                self.name
            );
        };
        let size = match self.here {
            0 => format!("{}: {} to fetch.", self.name, megabytes(bytes)),
            here => format!(
                "{} is {}, of which {} are here.",
                self.name,
                megabytes(bytes),
                megabytes(here)
            ),
        };
        // The file is read where it is stored, tensor by tensor.
        let [fewest, most] = kept_bytes(&self.name, bytes, self.packing);
        let memory = span([fewest, most].map(|kept| megabytes(kept + ENGINE_BYTES)));
        let tokens = span([most, fewest].map(|kept| {
            let rate = self.bandwidth / kept as f64;
            if rate < 10.0 {
                format!("{rate:.1}")
            } else {
                format!("{rate:.0}")
            }
        }));
        let repacked = match self.packing {
            None => {
                " Matrices in types that are slow here keep their numbers in another one: \
                 Q4_K becomes Q4_1, Q5_0 and Q5_K become Q5_1, Q6_K becomes Q6."
            }
            Some(_) => "",
        };
        format!(
            "{size}{repacked} Opening it takes about {memory} of memory. This device reads about {:.1} GB of weights a second, \
             measured just now, so a model that uses all of them writes at most about {tokens} tokens a second.",
            self.bandwidth / 1e9
        )
    }
}

/// A number, or two where the name of the file leaves open which it is.
fn span([low, high]: [String; 2]) -> String {
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

/// The size that the host states of all files together, and whether there is something to ask about.
async fn size(urls: &[String]) -> (Option<u64>, bool) {
    let mut all = Some(0);
    for url in urls {
        let (bytes, comes) = size_of_one(url).await;
        if !comes {
            return (None, false);
        }
        all = all.and_then(|all| Some(all + bytes?));
    }
    (all, true)
}

async fn size_of_one(url: &str) -> (Option<u64>, bool) {
    let Some(head) = fetch::head(url).await else {
        return (None, true);
    };
    let knows_no_head = matches!(head.status, 405 | 501);
    // What the host refuses is not fetched: the worker says so in its words.
    let comes = head.ok || knows_no_head;
    (head.bytes.filter(|_| head.ok), comes)
}

/// As [`size`], unless the reader gives up meanwhile; `ready` gets what the worker says of itself.
///
/// # Errors
/// When the reader gives up, or the worker failed.
async fn size_while(
    worker: &ModelWorker,
    urls: &[String],
    ready: &mut Option<Engine>,
) -> Result<(Option<u64>, bool), String> {
    let mut size = pin!(size(urls));
    loop {
        let first = poll_fn(|context| match size.as_mut().poll(context) {
            Poll::Ready(size) => Poll::Ready(Ok(size)),
            Poll::Pending => pin!(worker.next_event()).poll(context).map(Err),
        });
        match first.await {
            Ok(size) => return Ok(size),
            Err(WorkerEvent::Ready { build, threads, .. }) => {
                *ready = Some(Engine { build, threads });
            }
            Err(WorkerEvent::Terminated) => return Err(STOPPED.to_owned()),
            Err(WorkerEvent::Failed(why)) => return Err(failed(&why)),
            Err(WorkerEvent::Confirmed | WorkerEvent::Model(..)) => {}
        }
    }
}

/// Bytes of weights of the model that this device reads in a second, in the form that the reader
/// chose, by the engine that is to run it. Measured in a worker of its own, whose memory is given
/// back.
///
/// # Errors
/// When the worker failed.
async fn bandwidth(asked: &OpenRequest, engine: Engine) -> Result<f64, String> {
    // Where the name leaves it open whether numbers have 32 or 16 bits, those of 32 are measured:
    // products that memory limits read as many bytes of either in a second.
    let [stored, _] = stored_types(&asked.name);
    let kept = type_name(kept_type(stored, asked.packing));
    let worker = ModelWorker::start(Purpose::Lab, engine.build, engine.threads)?;
    worker.send(ModelRequest::MeasureBandwidth(kept.to_owned()));
    loop {
        match worker.next_event().await {
            WorkerEvent::Model(_, ModelEvent::Bandwidth(bandwidth)) => return Ok(bandwidth),
            WorkerEvent::Model(_, ModelEvent::Failed(why)) => return Err(why),
            WorkerEvent::Failed(why) => return Err(failed(&why)),
            _ => {}
        }
    }
}

/// Waits for the worker of an engine, and for the reader's consent where something has to be
/// fetched and an engine before this one has not got it; returns the engine that runs.
///
/// # Errors
/// When the file is too large for the engine, the reader declines, the page may not fetch the
/// address, or the worker failed.
pub(super) async fn confirm(
    lab: Lab,
    worker: &Rc<ModelWorker>,
    (engine, has_agreed): (Engine, bool),
    asked: &OpenRequest,
    url: &str,
) -> Result<Engine, OpenError> {
    let urls = addresses(url);
    let stored = storage::list().await;
    let stored = stored.iter().filter(|file| urls.contains(&file.url));
    let stored: Vec<_> = stored.collect();
    let here = stored.iter().map(|file| file.bytes).sum();
    // What the host said when a part came, for a host that says nothing now.
    let known: Option<u64> = (stored.len() == urls.len())
        .then(|| stored.iter().map(|file| file.total).sum::<Option<u64>>())
        .flatten();
    let is_whole = |file: &&storage::StoredFile| file.total == Some(file.bytes);
    let mut ready = None;
    let asks = if has_agreed || stored.len() == urls.len() && stored.iter().all(is_whole) {
        None
    } else if address::may_be_fetched(url) {
        let size = size_while(worker, &urls, &mut ready).await?;
        Some(size).filter(|(_, asks)| *asks)
    } else {
        return Err(REFUSED.to_owned().into());
    };
    // Nothing is fetched, and nobody asked, before there is an engine that can hold it.
    let bytes = asks.and_then(|(bytes, _)| bytes).or(known);
    if let Some(bytes) = bytes.filter(|&bytes| bytes > engine.build.largest_weights()) {
        let why = too_large(engine.build, bytes).to_string();
        return Err(OpenError::TooLarge {
            bytes,
            why,
            agreed: false,
        });
    }
    if asks.is_some() {
        let bandwidth = bandwidth(asked, engine).await?;
        // The reader may have given up, or left the page.
        if lab.has(worker) {
            lab.show(String::new(), None);
            lab.offer.try_set(Some(DownloadOffer {
                name: asked.name.clone(),
                bytes,
                here,
                packing: asked.packing,
                bandwidth,
            }));
        }
    }
    loop {
        if let (None, Some(ready)) = (asks, ready) {
            return Ok(ready);
        }
        match worker.next_event().await {
            WorkerEvent::Ready { build, threads, .. } => ready = Some(Engine { build, threads }),
            WorkerEvent::Confirmed => {
                lab.offer.try_set(None);
                return Ok(ready.unwrap_or(engine));
            }
            WorkerEvent::Terminated => return Err(STOPPED.to_owned().into()),
            WorkerEvent::Failed(why) => return Err(failed(&why).into()),
            WorkerEvent::Model(..) => {}
        }
    }
}

/// The question, while there is one.
pub(super) fn question(lab: Lab) -> AnyView {
    let yes = NodeRef::<Button>::new();
    // The reader has just pressed a button; the answer is where the keyboard is.
    Effect::new(move |_| {
        if let Some(yes) = yes.get() {
            yes.focus().ok();
        }
    });
    let asked = move |offer: DownloadOffer| {
        view! {
            <div class="panel lab-ahead" role="group" aria-label="Before it is fetched">
                <p>{message(&offer.words())}</p>
                <div class="lab-row">
                    <button type="button" class="button primary" node_ref=yes on:click=move |_| lab.confirm_download()>"Fetch it"</button>
                    <button type="button" class="button" on:click=move |_| lab.stop_opening()>"Leave it"</button>
                </div>
            </div>
        }
    };
    view! { {move || lab.offer.get().map(asked)} }.into_any()
}

#[cfg(test)]
mod tests {
    use super::{DownloadOffer, Packing};

    #[test]
    fn size_memory_and_speed_are_said() {
        let offer = |name: &str, bytes, here| DownloadOffer {
            name: name.to_owned(),
            bytes,
            here,
            packing: None,
            bandwidth: 13.4e9,
        };
        let words = offer("a-q8_0.gguf", Some(134_000_000), 0).words();
        for part in [
            "134.0 MB to fetch",
            "138.0 MB of memory",
            "13.4 GB",
            "100 tokens",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
        let words = offer("a-q4_0.gguf", Some(4_000_000_000), 1_000_000).words();
        assert!(
            words.contains("1.0 MB are here") && words.contains("3.4 tokens"),
            "{words}"
        );
        let words = offer("a-q4_k_m.gguf", Some(134_000_000), 0).words();
        for part in ["152.9 MB of memory", "90 tokens", "Q4_K becomes Q4_1"] {
            assert!(words.contains(part), "{part}: {words}");
        }
        // The name does not say whether its numbers have 32 or 16 bits.
        let words = offer("model.safetensors", Some(134_000_000), 0).words();
        for part in ["138.0 MB of memory", "about 100 tokens"] {
            assert!(words.contains(part), "{part}: {words}");
        }
        assert!(
            offer("a.gguf", None, 0)
                .words()
                .contains("not on this device")
        );
        let words = offer("a.gguf", None, 1_500_000).words();
        assert!(
            words.contains("1.5 MB are on this device") && words.contains("does not say"),
            "{words}"
        );
    }

    #[test]
    fn the_readers_choice_of_a_form_changes_the_forecast() {
        let words = |packing| {
            let offer = DownloadOffer {
                name: "a-f32.gguf".to_owned(),
                bytes: Some(320_000_000),
                here: 0,
                packing,
                bandwidth: 6.4e9,
            };
            offer.words()
        };
        for (packing, memory, rate) in [
            (None, "324.0 MB of memory", "about 20 tokens"),
            (Some(Packing::F32), "324.0 MB of memory", "about 20 tokens"),
            (
                Some(Packing::Stored),
                "324.0 MB of memory",
                "about 20 tokens",
            ),
            (Some(Packing::Q8_0), "89.0 MB of memory", "about 75 tokens"),
            (Some(Packing::Q4_0), "49.0 MB of memory", "about 142 tokens"),
        ] {
            let words = words(packing);
            for part in [memory, rate] {
                assert!(words.contains(part), "{part}, {packing:?}: {words}");
            }
            assert_eq!(words.contains("slow here"), packing.is_none(), "{words}");
        }
    }
}
