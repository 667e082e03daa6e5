//! The worker's service, driven without a browser.

use cells::jobs::{self, Entry};
use cells::model_cache::ModelCache;
use cells::spec::once;
use cells::{Computation, InputValue, Inputs, registry};
use worker::cell_protocol::{CellReply, CellRequest, Fetched};
use worker::protocol::{Envelope, decode, encode};
use worker::service::Service;

fn request(id: u64, cell: &str) -> Envelope<CellRequest> {
    let inputs = registry::find(cell)
        .map(|s| Inputs::defaults(&(s.inputs)()))
        .unwrap_or_default();
    let cell = cell.to_owned();
    let body = CellRequest::Compute { cell, inputs };
    Envelope { id, body }
}

fn cancel(id: u64) -> Envelope<CellRequest> {
    let body = CellRequest::Cancel;
    Envelope { id, body }
}

/// A service that has the code of every cell.
fn with_all_code() -> Service {
    let mut service = Service::new(ModelCache::default());
    jobs::all().for_each(|entry| service.add_cell(entry));
    service
}

/// A service that has the code of these cells.
fn with_code(entries: &[&'static Entry]) -> Service {
    let mut service = Service::new(ModelCache::default());
    entries.iter().for_each(|entry| service.add_cell(entry));
    service
}

/// A clock that moves on by a millisecond at each look.
fn clock() -> impl Fn() -> f64 {
    let now = std::cell::Cell::new(0.0);
    move || {
        now.set(now.get() + 1.0);
        now.get()
    }
}

fn run(service: &mut Service) -> Vec<Envelope<CellReply>> {
    let now = clock();
    std::iter::from_fn(|| service.run_slice(3.0, &now)).collect()
}

/// The error of the one reply, which answers the request `to`.
fn only_error(replies: &[Envelope<CellReply>], to: u64) -> String {
    match replies {
        [
            Envelope {
                id,
                body:
                    CellReply::Finished {
                        result: Err(error), ..
                    },
            },
        ] if *id == to => error.to_string(),
        _ => panic!("{replies:?}"),
    }
}

#[test]
fn long_work_reports_progress_and_can_be_cancelled() {
    let mut service = with_all_code();
    service.accept(request(1, "why-scale"));
    service.accept(request(2, "why-scale"));
    let now = clock();
    assert!(matches!(
        service.run_slice(3.0, &now),
        Some(Envelope {
            id: 1,
            body: CellReply::Working(_)
        })
    ));
    service.accept(cancel(1));
    let rest = run(&mut service);
    assert!(
        matches!(
            rest.last(),
            Some(Envelope {
                id: 2,
                body: CellReply::Finished { result: Ok(_), .. }
            })
        ),
        "{rest:?}"
    );
    assert!(service.is_idle());
}

#[test]
fn long_work_ends_with_the_same_numbers_as_in_one_go() {
    let spec = registry::find("why-scale").unwrap();
    let expected = jobs::compute(
        spec,
        &Inputs::defaults(&(spec.inputs)()),
        &ModelCache::default(),
    )
    .unwrap();
    let mut service = with_all_code();
    service.accept(request(1, "why-scale"));
    let Some(Envelope {
        body: CellReply::Finished {
            result: Ok(result), ..
        },
        ..
    }) = run(&mut service).pop()
    else {
        panic!("no result")
    };
    assert_eq!(result, expected);
}

#[test]
fn an_unknown_cell_and_a_bad_input_are_answered_with_an_error() {
    let mut service = with_all_code();
    service.accept(request(3, "no-such-cell"));
    service.accept(Envelope {
        id: 4,
        body: CellRequest::Compute {
            cell: "why-scale".to_owned(),
            inputs: Inputs::default(),
        },
    });
    for (reply, number) in run(&mut service).iter().zip([3, 4]) {
        assert!(
            matches!(reply, Envelope { id, body: CellReply::Finished { result: Err(_), .. } } if *id == number),
            "{reply:?}"
        );
    }
}

#[test]
fn requests_survive_the_way_and_rubbish_is_refused() {
    let message = request(9, "why-scale");
    assert_eq!(
        decode::<CellRequest>(&encode(&message).unwrap()),
        Ok(message)
    );
    for bytes in [&[][..], &[9, 9, 9], &[0xff; 64]] {
        let error = decode::<CellRequest>(bytes).unwrap_err();
        assert!(error.to_string().contains("Reload the page"), "{error}");
    }
}

#[test]
fn a_cancelled_request_gets_no_answer_and_an_unknown_id_cancels_nothing() {
    let mut service = with_all_code();
    service.accept(request(1, "why-scale"));
    service.accept(cancel(8));
    service.accept(request(2, "why-scale"));
    service.accept(cancel(1));
    let ids: Vec<u64> = run(&mut service).iter().map(|reply| reply.id).collect();
    assert!(!ids.is_empty() && ids.iter().all(|&id| id == 2), "{ids:?}");
}

/// More steps of the same training are those steps alone, also after it was dropped half-way, and
/// give the bits of a new start.
#[test]
fn a_training_goes_on_where_it_was_dropped() {
    let steps = |id: u64, steps: f64| {
        let CellRequest::Compute { cell, inputs } = request(id, "train-tiny").body else {
            unreachable!("a request to compute");
        };
        let inputs = inputs
            .with("length", InputValue::Number(8.0))
            .with("steps", InputValue::Number(steps));
        let body = CellRequest::Compute { cell, inputs };
        Envelope { id, body }
    };
    let mut service = with_all_code();
    service.accept(steps(1, 6.0));
    service.run_slice(3.0, clock());
    service.accept(cancel(1));
    assert!(service.is_idle());
    service.accept(steps(2, 6.0));
    let went_on = run(&mut service);

    let mut fresh = with_all_code();
    fresh.accept(steps(2, 6.0));
    let anew = run(&mut fresh);
    assert!(went_on.len() < anew.len(), "{} turns", went_on.len());
    let tensors = |replies: &[Envelope<CellReply>]| match replies.last().map(|reply| &reply.body) {
        Some(CellReply::Finished {
            result: Ok(found), ..
        }) => found.tensors.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(tensors(&went_on), tensors(&anew));
}

/// A cell that needs a file.
const WITH_FILE: &Entry = &Entry {
    name: cells::lessons::patches::patch_embedding::SPEC.name,
    files: |_| vec!["words.txt"],
    start: |_, cache| {
        let words = cache.opened::<String>("words.txt")?;
        Ok(once(move || {
            let mut computed = Computation::default();
            computed
                .texts
                .insert("words".to_owned(), vec![words.to_string()]);
            Ok(computed)
        }))
    },
    partial_from: None,
};

/// A cell that needs none.
const WITHOUT: &Entry = &Entry {
    name: cells::lessons::scaling::why_scale::SPEC.name,
    files: |_| Vec::new(),
    start: |_, _| Ok(once(|| Ok(Computation::default()))),
    partial_from: None,
};

#[test]
fn a_request_that_lacks_a_file_lets_others_go_first() {
    let mut service = with_code(&[WITH_FILE, WITHOUT]);
    service.accept(request(1, "patch-embedding"));
    service.accept(request(2, "why-scale"));
    assert_eq!(service.missing_files(), ["words.txt"]);
    assert!(matches!(
        run(&mut service)[..],
        [Envelope {
            id: 2,
            body: CellReply::Finished { result: Ok(_), .. }
        }]
    ));
    assert!(service.is_idle());
    service.add_file("words.txt", b"here".as_slice().into());
    assert!(service.missing_files().is_empty() && !service.is_idle());
    let replies = run(&mut service);
    let [
        Envelope {
            id: 1,
            body: CellReply::Finished {
                result: Ok(found), ..
            },
        },
    ] = &replies[..]
    else {
        panic!("{replies:?}")
    };
    assert_eq!(found.words("words"), ["here"]);
    service.accept(request(3, "patch-embedding"));
    assert!(
        service.missing_files().is_empty(),
        "a file is asked for once"
    );
}

#[test]
fn a_request_whose_file_cannot_be_had_is_answered_and_may_be_made_again() {
    let mut service = with_code(&[WITH_FILE, WITHOUT]);
    service.accept(request(1, "patch-embedding"));
    let told = service.fail_file("words.txt", "words.txt could not be fetched.");
    assert!(only_error(&told, 1).contains("words.txt could not be fetched"));
    assert!(service.is_idle() && service.missing_files().is_empty());
    service.accept(request(2, "patch-embedding"));
    assert_eq!(service.missing_files(), ["words.txt"]);
    service.accept(cancel(2));
    assert!(service.missing_files().is_empty());
}

/// The files of [`SEVERAL`]: the first one is needed in any case.
const FILES: [&str; 3] = ["list.txt", "one.txt", "two.txt"];

/// A cell that shows which of its files are here.
const SEVERAL: &Entry = &Entry {
    name: cells::lessons::patches::patch_embedding::SPEC.name,
    files: |_| FILES.to_vec(),
    start: |_, cache| {
        let here = FILES.into_iter().filter(|file| cache.has(file));
        let here: Vec<String> = here.map(str::to_owned).collect();
        Ok(once(move || {
            let mut computed = Computation::default();
            computed.texts.insert("here".to_owned(), here);
            Ok(computed)
        }))
    },
    partial_from: Some(1),
};

/// The files that a partial or whole result was computed with; whether it is the whole one.
fn computed_with(replies: &[Envelope<CellReply>]) -> (Vec<String>, bool) {
    let (found, is_whole) = match replies {
        [
            Envelope {
                body: CellReply::Partial(found),
                ..
            },
        ] => (found, false),
        [
            Envelope {
                body:
                    CellReply::Finished {
                        result: Ok(found), ..
                    },
                ..
            },
        ] => (found, true),
        _ => panic!("{replies:?}"),
    };
    (found.words("here").to_vec(), is_whole)
}

fn arrives(service: &mut Service, file: &str) -> Vec<Envelope<CellReply>> {
    service.add_file(file, b"here".as_slice().into());
    run(service)
}

#[test]
fn a_cell_of_several_files_shows_a_part_as_each_arrives() {
    let mut service = with_code(&[SEVERAL]);
    service.accept(request(1, "patch-embedding"));
    assert_eq!(service.missing_files(), FILES);
    let fetched = Fetched {
        bytes: 10,
        total: Some(20),
    };
    let told = service.note_fetched("list.txt", fetched);
    let [
        Envelope {
            id: 1,
            body: CellReply::Fetching(lacking),
        },
    ] = &told[..]
    else {
        panic!("{told:?}")
    };
    let names: Vec<&str> = lacking.iter().map(|one| one.file.as_str()).collect();
    assert_eq!((names, lacking[0].fetched), (FILES.to_vec(), fetched));
    assert_eq!(
        lacking[1].fetched,
        Fetched {
            bytes: 0,
            total: None
        }
    );
    assert!(
        arrives(&mut service, "two.txt").is_empty(),
        "it needs the first file"
    );
    assert_eq!(
        computed_with(&arrives(&mut service, "list.txt")),
        (vec!["list.txt".to_owned(), "two.txt".to_owned()], false)
    );
    assert!(service.is_idle(), "nothing is computed twice");
    assert_eq!(service.missing_files(), ["one.txt"]);
    let (here, is_whole) = computed_with(&arrives(&mut service, "one.txt"));
    assert_eq!((here.len(), is_whole), (3, true));
    // What is here once is here for the next request.
    service.accept(request(2, "patch-embedding"));
    assert!(computed_with(&run(&mut service)).1);
}

#[test]
fn a_file_that_fails_leaves_what_the_others_give() {
    let mut service = with_code(&[SEVERAL]);
    service.accept(request(1, "patch-embedding"));
    assert!(arrives(&mut service, "list.txt").is_empty());
    let told = service.fail_file("one.txt", "one.txt could not be fetched.");
    assert!(
        told.is_empty() && service.is_idle(),
        "the other may still come"
    );
    assert_eq!(service.missing_files(), ["two.txt"]);
    let replies = arrives(&mut service, "two.txt");
    assert_eq!(computed_with(&replies[..1]).0, ["list.txt", "two.txt"]);
    assert!(only_error(&replies[1..], 1).contains("one.txt could not be fetched"));
    assert!(service.is_idle() && service.missing_files().is_empty());
    // Retry asks for the missing file alone, and shows the part meanwhile.
    service.accept(request(2, "patch-embedding"));
    assert_eq!(service.missing_files(), ["one.txt"]);
    assert!(!computed_with(&run(&mut service)).1);
    service.accept(cancel(2));
    assert!(service.is_idle() && service.missing_files().is_empty());
}

#[test]
fn a_partial_result_survives_the_way_to_the_page() {
    let mut service = with_code(&[SEVERAL]);
    service.accept(request(1, "patch-embedding"));
    arrives(&mut service, "list.txt");
    for reply in arrives(&mut service, "one.txt") {
        let bytes = encode(&reply).unwrap();
        assert_eq!(decode::<CellReply>(&bytes), Ok(reply));
        assert!(decode::<CellReply>(&bytes[..bytes.len() - 1]).is_err());
    }
}

#[test]
fn a_request_waits_for_the_code_of_its_cell_and_can_be_cancelled_meanwhile() {
    let mut service = Service::new(ModelCache::default());
    service.accept(request(1, "patch-embedding"));
    service.accept(request(2, "why-scale"));
    service.accept(request(3, "why-scale"));
    assert_eq!(service.missing_cells(), ["patch-embedding", "why-scale"]);
    assert!(
        service.missing_files().is_empty(),
        "the code names the files"
    );
    assert!(service.is_idle());
    service.accept(cancel(2));
    service.add_cell(WITHOUT);
    assert_eq!(service.missing_cells(), ["patch-embedding"]);
    let ids: Vec<u64> = run(&mut service).iter().map(|reply| reply.id).collect();
    assert_eq!(ids, [3]);
    service.add_cell(WITH_FILE);
    assert!(service.missing_cells().is_empty());
    assert_eq!(service.missing_files(), ["words.txt"]);
}

#[test]
fn a_request_whose_code_cannot_be_had_is_answered_and_may_be_made_again() {
    let mut service = Service::new(ModelCache::default());
    service.accept(request(1, "why-scale"));
    service.accept(request(2, "patch-embedding"));
    let told = service.fail_cell("why-scale", "the code could not be fetched.");
    assert!(only_error(&told, 1).contains("the code could not be fetched"));
    assert_eq!(service.missing_cells(), ["patch-embedding"]);
    service.accept(request(3, "why-scale"));
    assert_eq!(service.missing_cells(), ["patch-embedding", "why-scale"]);
}
