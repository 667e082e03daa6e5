//! The worker's service, driven without a browser.

use cells::desk::{self, Entry, Table};
use cells::shelf::Shelf;
use cells::spec::once;
use cells::{Computation, InputValue, Inputs, registry};
use worker::protocol::{Reply, Request, decode, encode};
use worker::service::Service;

fn request(job: u64, cell: &str) -> Request {
    let inputs = registry::find(cell)
        .map(|s| Inputs::defaults(&(s.inputs)()))
        .unwrap_or_default();
    Request::Compute {
        job,
        cell: cell.to_owned(),
        inputs,
    }
}

/// A clock that moves on by a millisecond at each look.
fn clock() -> impl Fn() -> f64 {
    let now = std::cell::Cell::new(0.0);
    move || {
        now.set(now.get() + 1.0);
        now.get()
    }
}

fn run(service: &mut Service) -> Vec<Reply> {
    let now = clock();
    std::iter::from_fn(|| service.turn(3.0, &now)).collect()
}

#[test]
fn long_work_reports_progress_and_can_be_cancelled() {
    let mut service = Service::new(desk::TRAINING);
    service.accept(request(1, "why-scale"));
    service.accept(request(2, "why-scale"));
    let now = clock();
    assert!(matches!(
        service.turn(3.0, &now),
        Some(Reply::Working { job: 1, .. })
    ));
    service.accept(Request::Cancel { job: 1 });
    let rest = run(&mut service);
    assert!(
        matches!(
            rest.last(),
            Some(Reply::Finished {
                job: 2,
                result: Ok(_),
                ..
            })
        ),
        "{rest:?}"
    );
    assert!(service.is_idle());
}

#[test]
fn long_work_ends_with_the_same_numbers_as_in_one_go() {
    let spec = registry::find("why-scale").unwrap();
    let expected =
        desk::compute(spec, &Inputs::defaults(&(spec.inputs)()), &Shelf::default()).unwrap();
    let mut service = Service::new(desk::TRAINING);
    service.accept(request(1, "why-scale"));
    let Some(Reply::Finished {
        result: Ok(result), ..
    }) = run(&mut service).pop()
    else {
        panic!("no result")
    };
    assert_eq!(result, expected);
}

#[test]
fn an_unknown_cell_and_a_bad_input_are_answered_with_an_error() {
    let mut service = Service::new(desk::TRAINING);
    service.accept(request(3, "no-such-cell"));
    service.accept(Request::Compute {
        job: 4,
        cell: "why-scale".to_owned(),
        inputs: Inputs::default(),
    });
    for (reply, number) in run(&mut service).iter().zip([3, 4]) {
        assert!(
            matches!(reply, Reply::Finished { job, result: Err(_), .. } if *job == number),
            "{reply:?}"
        );
    }
}

#[test]
fn messages_survive_the_way_and_rubbish_is_refused() {
    let message = request(9, "why-scale");
    assert_eq!(decode::<Request>(&encode(&message)), Some(message));
    for bytes in [&[][..], &[9, 9, 9], &[0xff; 64]] {
        assert_eq!(decode::<Request>(bytes), None);
    }
}

/// More steps of the same training are those steps alone, also after it was dropped half-way, and give the bits of a new start.
#[test]
fn a_training_goes_on_where_it_was_dropped() {
    let steps = |job: u64, steps: f64| {
        let Request::Compute { cell, inputs, .. } = request(job, "train-tiny") else {
            unreachable!("a request to compute");
        };
        let inputs = inputs
            .with("length", InputValue::Number(8.0))
            .with("steps", InputValue::Number(steps));
        Request::Compute { job, cell, inputs }
    };
    let mut service = Service::new(desk::TRAINING);
    service.accept(steps(1, 6.0));
    service.turn(3.0, clock());
    service.accept(Request::Cancel { job: 1 });
    assert!(service.is_idle());
    service.accept(steps(2, 6.0));
    let went_on = run(&mut service);

    let mut fresh = Service::new(desk::TRAINING);
    fresh.accept(steps(2, 6.0));
    let anew = run(&mut fresh);
    assert!(went_on.len() < anew.len(), "{} turns", went_on.len());
    let tensors = |replies: &[Reply]| match replies.last() {
        Some(Reply::Finished {
            result: Ok(found), ..
        }) => found.tensors.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(tensors(&went_on), tensors(&anew));
}

/// A cell that needs a file, and one that does not, at a desk of their own.
const DESK: &Table = &[
    Some(Entry {
        spec: &cells::lessons::patches::patch_embedding::SPEC,
        files: |_| vec!["words.txt"],
        start: |_, shelf| {
            let words = shelf.opened::<String>("words.txt")?;
            Ok(once(move || {
                let mut computed = Computation::default();
                computed
                    .texts
                    .insert("words".to_owned(), vec![words.to_string()]);
                Ok(computed)
            }))
        },
    }),
    Some(Entry {
        spec: &cells::lessons::scaling::why_scale::SPEC,
        files: |_| Vec::new(),
        start: |_, _| Ok(once(|| Ok(Computation::default()))),
    }),
];

#[test]
fn who_waits_for_a_file_lets_others_go_first() {
    let mut service = Service::new(DESK);
    service.accept(request(1, "patch-embedding"));
    service.accept(request(2, "why-scale"));
    assert_eq!(service.wanted(), ["words.txt"]);
    assert!(matches!(
        run(&mut service)[..],
        [Reply::Finished {
            job: 2,
            result: Ok(_),
            ..
        }]
    ));
    assert!(service.is_idle());
    service.put("words.txt", b"here".as_slice().into());
    assert!(service.wanted().is_empty() && !service.is_idle());
    let replies = run(&mut service);
    let [
        Reply::Finished {
            job: 1,
            result: Ok(found),
            ..
        },
    ] = &replies[..]
    else {
        panic!("{replies:?}")
    };
    assert_eq!(found.texts["words"], ["here"]);
    service.accept(request(3, "patch-embedding"));
    assert!(service.wanted().is_empty(), "a file is asked for once");
}

#[test]
fn who_waits_for_a_file_that_does_not_come_is_told_and_may_ask_again() {
    let mut service = Service::new(DESK);
    service.accept(request(1, "patch-embedding"));
    let told = service.go_without("words.txt", "words.txt could not be fetched.");
    let [
        Reply::Finished {
            job: 1,
            result: Err(error),
            ..
        },
    ] = &told[..]
    else {
        panic!("{told:?}")
    };
    assert!(error.to_string().contains("words.txt could not be fetched"));
    assert!(service.is_idle() && service.wanted().is_empty());
    service.accept(request(2, "patch-embedding"));
    assert_eq!(service.wanted(), ["words.txt"]);
    service.accept(Request::Cancel { job: 2 });
    assert!(service.wanted().is_empty());
}
