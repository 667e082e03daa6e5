//! Nothing is canned: every digit that a cell shows names where it comes from, and is what the
//! engine gives natively for the same inputs, also after every input was changed at random.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use cells::format::{self, Format};
use cells::model_cache::ModelCache;
use cells::{CellError, CellSpec, Computation, InputKind, InputValue, Inputs, jobs};
use engine::rng::Rng;
use serde_json::{Map, Value, json};

use super::browser::{Browser, Look, with_browser};
use super::perturb;
use super::site;
use super::state::assert_shared_and_taken_back;
use browser_harness::Habits;

/// Props that every cell takes and that are no inputs.
const COMMON_PROPS: &[&str] = &["title", "caption", "height"];

/// Relative difference between the browser's kernels and the native ones: their sums run in another
/// order.
const RELATIVE: f64 = 2e-5;
/// Absolute difference, for numbers that cancel to nearly nothing.
const ABSOLUTE: f64 = 2e-6;

/// Finds the digits in a cell that are in no element which says where they come from. Titles,
/// captions, labels and formulas belong to the lesson; the value of a form control is an input.
pub(crate) const STRAY_DIGITS: &str = r"
    const exempt = '[data-from], [data-label], .cell-title, .cell-caption, math, input, textarea, select, script, style';
    const stray = [];
    for (const cell of document.querySelectorAll('[data-cell]')) {
        const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode;
            if (/\p{Nd}/u.test(node.data) && !node.parentElement.closest(exempt)) {
                stray.push(`${cell.id}: “${node.data.trim()}” in ${node.parentElement.outerHTML.slice(0, 160)}`);
            }
        }
    }
    return stray";

/// Every number that a cell shows: where it comes from, how it is printed, what stands there.
const SHOWN: &str = "
    return [...document.getElementById(arguments[0]).querySelectorAll('[data-from]')]
        .map(element => [element.dataset.from, element.dataset.format ?? '', element.textContent.trim()])";

/// A cell on a page.
pub(crate) struct Placed {
    pub(crate) id: String,
    pub(crate) spec: &'static CellSpec,
    /// Key of the page's state for each input.
    pub(crate) keys: BTreeMap<String, String>,
    pub(crate) inputs: Inputs,
}

/// The cells of the open page with the inputs that the lesson gives them.
pub(crate) async fn placed(browser: &Browser) -> Vec<Placed> {
    let shared = browser
        .script(
            "return document.querySelector('main').dataset.inputs ?? '{}'",
            &[],
        )
        .await;
    let shared: BTreeMap<String, Value> =
        serde_json::from_str(shared.as_str().unwrap_or("{}")).expect("shared inputs are JSON");
    let cells = browser
        .script(
            "return [...document.querySelectorAll('[data-cell]')]
                .map(cell => [cell.id, cell.dataset.cell, cell.dataset.props ?? '{}'])",
            &[],
        )
        .await;
    let cells: Vec<(String, String, String)> =
        serde_json::from_value(cells).expect("a list of cells");
    cells
        .into_iter()
        .map(|(id, name, props)| place(id, &name, &props, &shared))
        .collect()
}

fn place(id: String, name: &str, props: &str, shared: &BTreeMap<String, Value>) -> Placed {
    let spec =
        cells::registry::find(name).unwrap_or_else(|| panic!("{id}: no cell is called {name}"));
    let mut props: Map<String, Value> = serde_json::from_str(props).expect("props are JSON");
    props.retain(|key, _| !COMMON_PROPS.contains(&key.as_str()));
    let keys = (spec.inputs)()
        .iter()
        .map(|input| {
            let common = props.get(input.name).and_then(cells::spec::shared_name);
            let key = common.map_or_else(
                || format!("{id}.{}", input.name),
                |common| format!("${common}"),
            );
            (input.name.to_owned(), key)
        })
        .collect();
    let mut inputs = spec
        .inputs_from(&props, shared)
        .unwrap_or_else(|error| panic!("{id}: {error}"));
    for (_, value) in inputs.0.iter_mut() {
        if let InputValue::Picture(sample) = value {
            *value = perturb::picture(&sample.name.clone());
        }
    }
    Placed {
        id,
        spec,
        keys,
        inputs,
    }
}

/// Compares every shown number of a cell with the native computation.
async fn compare(
    browser: &Browser,
    cell: &Placed,
    inputs: &Inputs,
    computed: &Computation,
) -> Vec<String> {
    let shown = browser.script(SHOWN, &[json!(cell.id)]).await;
    let shown: Vec<(String, String, String)> =
        serde_json::from_value(shown).expect("a list of numbers");
    let mut faults = Vec::new();
    let mut compared = 0;
    for (from, format, text) in shown {
        // Runs of other seeds are compared by the tests of the cells that keep them.
        if from.starts_with("time:") || from.starts_with("kept:") {
            continue;
        }
        compared += 1;
        if let Err(fault) = compare_one(inputs, computed, &from, &format, &text) {
            faults.push(format!("{}: {fault}", cell.id));
        }
    }
    if compared == 0 {
        faults.push(format!("{}: shows no number at all", cell.id));
    }
    faults
}

pub(crate) fn compare_one(
    inputs: &Inputs,
    computed: &Computation,
    from: &str,
    format: &str,
    text: &str,
) -> Result<(), String> {
    if let Some(words) = words_of(inputs, computed, from) {
        // Read from the page without spaces at its ends.
        let is_one = words.iter().any(|word| word.trim() == text);
        return if is_one {
            Ok(())
        } else {
            Err(format!("{from} shows “{text}”, which is none of {words:?}"))
        };
    }
    let value = match from.strip_prefix("input:") {
        Some(input) => input_element(inputs, input),
        None => computed.resolve(from),
    };
    let value = value
        .ok_or_else(|| format!("{from} names nothing that was computed; it shows “{text}”"))?;
    let format = Format::from_str(format)?;
    if reads_as(value, format, text) {
        return Ok(());
    }
    Err(format!(
        "{from} shows “{text}”, natively it is {value}, “{}”",
        format::number(value, format)
    ))
}

/// The words that may stand where `data-from` names a text: the one at the index, or the tokens of
/// an input.
fn words_of(inputs: &Inputs, computed: &Computation, from: &str) -> Option<Vec<String>> {
    let (name, index) =
        cells::computation::parse_reference(from.strip_prefix("input:").unwrap_or(from))?;
    if let (false, Some(list)) = (from.starts_with("input:"), computed.texts.get(name)) {
        return list.get(*index.first()?).map(|word| vec![word.clone()]);
    }
    match inputs.0.get(name)? {
        InputValue::Text(text) if from.starts_with("input:") => {
            Some(engine::token::words::split(text, usize::MAX))
        }
        _ => None,
    }
}

/// Whether `text` prints `value` or a number so near that only the order of a sum can tell them
/// apart.
fn reads_as(value: f64, format: Format, text: &str) -> bool {
    let near = ABSOLUTE + RELATIVE * value.abs();
    let at = |candidate: f64| format::number(candidate, format);
    let ends = [at(value - near), at(value + near)];
    if at(value) == text || ends.iter().any(|end| end == text) {
        return true;
    }
    // Many digits of a large number leave room for others between the ends.
    if let ([Some(low), Some(high)], Some(shown)) = (ends.map(|end| parse(&end)), parse(text))
        && (low..=high).contains(&shown)
        && at(shown) == text
    {
        return true;
    }
    // A number printed with its magnitude may be nothing but rounding: 3.1e-8 here, 0 there.
    matches!(format, Format::Power(_))
        && parse(text).is_some_and(|shown| (shown - value).abs() <= near + 0.05 * value.abs())
}

fn parse(text: &str) -> Option<f64> {
    text.replace(format::MINUS, "-")
        .replace(',', "")
        .parse()
        .ok()
}

/// The element of an input that `data-from="input:NAME[i,j]"` names.
fn input_element(inputs: &Inputs, reference: &str) -> Option<f64> {
    let (name, index) = cells::computation::parse_reference(reference)?;
    match (inputs.0.get(name)?, index.as_slice()) {
        (InputValue::Number(number), []) => Some(*number),
        (InputValue::Toggle(on), []) => Some(f64::from(u8::from(*on))),
        (InputValue::Matrix(matrix), [row, column]) => {
            matrix.get((*row, *column)).copied().map(f64::from)
        }
        (InputValue::Matrix(matrix), [column]) if matrix.nrows() == 1 => {
            matrix.get((0, *column)).copied().map(f64::from)
        }
        (InputValue::Order(order), [place]) => order.get(*place).map(|&item| item as f64),
        _ => None,
    }
}

/// New inputs for a cell that it can compute with, their state for the address, and the result.
pub(crate) fn shaken(
    random: &mut Rng,
    cell: &Placed,
) -> (Inputs, BTreeMap<String, Value>, Computation) {
    let mut last_error = None;
    for attempt in 0..40 {
        let mut inputs = cell.inputs.clone();
        for spec in (cell.spec.inputs)() {
            // Texts may have to agree, as sentences with one common word: most of them stay, then.
            let is_text = matches!(spec.kind, InputKind::Text { .. });
            if is_text && attempt >= 10 && random.below(4) > 0 {
                continue;
            }
            let present = inputs
                .0
                .get(spec.name)
                .cloned()
                .unwrap_or_else(|| spec.default.clone());
            inputs.0.insert(
                spec.name.to_owned(),
                perturb::value(random, &spec, &present),
            );
        }
        let state = inputs
            .0
            .iter()
            .map(|(name, value)| (cell.keys[name].clone(), value.to_json()))
            .collect();
        match computed(cell.spec, &inputs) {
            Ok(computed) => return (inputs, state, computed),
            Err(error) => last_error = Some(error),
        }
    }
    panic!("{}: no random input works: {last_error:?}", cell.id);
}

thread_local! {
    /// The files that the site ships.
    static CACHE: ModelCache = ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/public/models"));
}

/// What the engine gives natively.
pub(crate) fn computed(spec: &CellSpec, inputs: &Inputs) -> Result<Computation, CellError> {
    CACHE.with(|cache| jobs::compute(spec, inputs, cache))
}

/// Results of the lessons' own inputs, by cell and inputs: several tests need each of them.
static OWN: Mutex<BTreeMap<String, Arc<Computation>>> = Mutex::new(BTreeMap::new());

/// The result of a cell with the inputs that the lesson gives it.
pub(crate) fn own(cell: &Placed) -> Result<Arc<Computation>, CellError> {
    let key = format!("{} {:?}", cell.spec.name, cell.inputs);
    let known = || OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known().get(&key) {
        return Ok(Arc::clone(found));
    }
    let found = Arc::new(computed(cell.spec, &cell.inputs)?);
    known().insert(key, Arc::clone(&found));
    Ok(found)
}

/// The digits of the open page that are of unknown origin.
pub(crate) async fn stray_digits(browser: &Browser) -> Vec<String> {
    let stray = browser.script(STRAY_DIGITS, &[]).await;
    serde_json::from_value(stray).expect("a list")
}

/// The figures that pages are served with, before anything has computed in the tab.
#[test]
fn served_figures_show_what_the_engine_gives_natively() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        super::failing::block(browser, &["*.wasm"]).await;
        let mut faults = Vec::new();
        for page in site::pages() {
            browser.open(&server.url(&page)).await;
            let served = "return [...document.querySelectorAll('[data-cell]:has(.served)')].map(cell => cell.id)";
            let served = browser.script(served, &[]).await;
            let served: Vec<String> = serde_json::from_value(served).expect("a list");
            // A cell without a figure says its inputs in words.
            let mut stray = stray_digits(browser).await;
            stray.retain(|fault| served.iter().any(|id| fault.starts_with(&format!("{id}:"))));
            faults.extend(stray.into_iter().map(|fault| format!("/{page} {fault}")));
            for cell in placed(browser).await {
                if !served.contains(&cell.id) {
                    continue;
                }
                let computed = own(&cell).unwrap_or_else(|error| panic!("{}: {error}", cell.id));
                faults.extend(compare(browser, &cell, &cell.inputs, &computed).await);
            }
        }
        assert!(
            faults.is_empty(),
            "served figures and engine differ:\n{}",
            faults.join("\n")
        );
    });
}

/// What is left of the figures that the open page was served with, and which cells differ from them:
/// the tab recomputes them to the last bit.
pub(crate) async fn differing_from_served(browser: &Browser) -> Vec<String> {
    let faults = "return [
        ...[...document.querySelectorAll('[data-cell]:has(.served)')].map(cell => `${cell.id} still shows its served figure`),
        ...[...document.querySelectorAll('[data-cell]:has([data-differs])')].map(cell => `${cell.id} differs from its served figure`),
    ]";
    let faults = browser.script(faults, &[]).await;
    serde_json::from_value(faults).expect("a list")
}

/// A result that is another one than the served one is not shown in silence.
#[test]
fn a_figure_with_other_numbers_is_told_to_the_reader() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        // The page arrives with another fingerprint than the one that it was made with.
        let change = json!({ "source": "document.addEventListener('DOMContentLoaded', () => {
            document.querySelector('#qkv-by-hand .served').dataset.fingerprint = '0123456789abcdef';
        })" });
        browser
            .devtools("Page.addScriptToEvaluateOnNewDocument", change)
            .await;
        let url = server.url("lesson/self-attention/");
        browser.open_ready(&url).await.expect("the lesson works");
        let told = "return [...document.querySelectorAll('[data-differs]')].map(body =>
            [body.closest('[data-cell]').id, body.textContent.includes('other numbers')])";
        let told = browser.script(told, &[]).await;
        assert_eq!(told, json!([["qkv-by-hand", true]]));
    });
}

/// What the open page shows of the lesson's own inputs and the engine gives otherwise natively.
pub(crate) async fn differing_from_engine(browser: &Browser) -> Vec<String> {
    let (mut faults, mut computations) = (Vec::new(), BTreeMap::new());
    for cell in placed(browser).await {
        let computed = own(&cell).unwrap_or_else(|error| panic!("{}: {error}", cell.id));
        faults.extend(compare(browser, &cell, &cell.inputs, &computed).await);
        computations.insert(cell.id, computed);
    }
    faults.extend(compare_quoted(browser, &computations).await);
    faults
}

/// As [`compare_quoted`], with time for what is computed apart from the cell, in the worker.
async fn quoted_in_time(
    browser: &Browser,
    computations: &BTreeMap<String, Arc<Computation>>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for _ in 0..100 {
        faults = compare_quoted(browser, computations).await;
        if faults.is_empty() {
            break;
        }
        super::browser::pause(100).await;
    }
    faults
}

/// Results that prose quotes: `data-inline="CELL-ID.TENSOR[i,j]"`.
async fn compare_quoted(
    browser: &Browser,
    computations: &BTreeMap<String, Arc<Computation>>,
) -> Vec<String> {
    let quoted = browser
        .script(
            "return [...document.querySelectorAll('[data-inline]')]
                .map(element => [element.dataset.inline, element.dataset.format ?? '', element.textContent.trim()])",
            &[],
        )
        .await;
    let quoted: Vec<(String, String, String)> =
        serde_json::from_value(quoted).expect("a list of quoted numbers");
    let check = |(reference, format, text): (String, String, String)| {
        let (id, element) = reference.split_once('.')?;
        let value = computations.get(id)?.resolve(element)?;
        let format = Format::from_str(&format).ok()?;
        reads_as(value, format, &text).then_some(())
    };
    let fault =
        |quote: &(String, String, String)| format!("prose quotes {} as “{}”", quote.0, quote.2);
    quoted
        .into_iter()
        .filter_map(|quote| check(quote.clone()).is_none().then(|| fault(&quote)))
        .collect()
}

/// Cells that one link edits: what each is computed from and shows, by cell, and all edits.
#[derive(Default)]
struct Edited {
    cells: Vec<(Placed, Inputs, Computation)>,
    edits: BTreeMap<String, Value>,
}

/// Puts random inputs into each cell, and as many cells into one link as it can hold. Cells that share
/// an input come into different links; a cell without inputs into none.
fn links(random: &mut Rng, cells: Vec<Placed>) -> Vec<Edited> {
    let mut links: Vec<Edited> = Vec::new();
    for cell in cells.into_iter().filter(|cell| !cell.keys.is_empty()) {
        let (inputs, edits, computed) = shaken(random, &cell);
        let has_room = |link: &&mut Edited| {
            let mut all = link.edits.clone();
            all.extend(edits.clone());
            all.len() == link.edits.len() + edits.len() && cells::state::encode(&all).is_ok()
        };
        if let Some(link) = links.iter_mut().find(has_room) {
            link.edits.extend(edits);
            link.cells.push((cell, inputs, computed));
        } else {
            let cells = vec![(cell, inputs, computed)];
            links.push(Edited { cells, edits });
        }
    }
    links
}

#[test]
fn links_with_random_inputs_give_what_the_engine_gives_natively_and_can_be_taken_back() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let mut random = Rng::new(20_240_607);
        let mut faults = Vec::new();
        for page in site::pages() {
            browser.open(&server.url(&page)).await;
            let all = placed(browser).await;
            // Prose speaks of the lesson's own inputs, whatever the reader edits.
            let own: BTreeMap<String, Arc<Computation>> = all
                .iter()
                .filter_map(|cell| Some((cell.id.clone(), self::own(cell).ok()?)))
                .collect();
            for Edited { cells, edits } in links(&mut random, all) {
                let first = &cells[0].0.id;
                let state =
                    cells::state::encode(&edits).unwrap_or_else(|error| panic!("{first}: {error}"));
                let url = server.url(&format!("{page}#{first}?s={state}"));
                if let Err(waiting) = browser.open_ready(&url).await {
                    faults.push(format!("{url}: {waiting}"));
                    continue;
                }
                for (cell, inputs, computed) in &cells {
                    faults.extend(compare(browser, cell, inputs, computed).await);
                }
                faults.extend(quoted_in_time(browser, &own).await);
                // A number with more digits than any control gives is read as its neighbour.
                let edits = cells::state::decode(&state).expect("a link of ours").values;
                let ids: Vec<&str> = cells.iter().map(|(cell, ..)| cell.id.as_str()).collect();
                assert_shared_and_taken_back(browser, &ids, &edits).await;
            }
            let complaints = browser.complaints(&server.origin()).await;
            faults.extend(
                complaints
                    .into_iter()
                    .map(|what| format!("/{page}: {what}")),
            );
        }
        assert!(
            faults.is_empty(),
            "page and engine differ:\n{}",
            faults.join("\n")
        );
    });
}
