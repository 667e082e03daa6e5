//! The question whether a page is ready.

/// A script's body that returns what a page still waits for, as texts such as `softmax: waiting`:
/// cells without their numbers on screen, also those that are folded away, the form of a tool, the
/// fonts. A cell that failed ends in `: error`.
///
/// Cells that no reader would have reached yet begin because the page is told that it will be
/// printed, and are laid out as in print. What was unfolded for it is in the list `unfolded`, so that
/// [`FOLD_AGAIN`] can fold it.
pub const WAITED_FOR: &str = "dispatchEvent(new Event('beforeprint'));
    if (!globalThis.laidOut) {
        // The policy of the page refuses a style element that it does not know.
        globalThis.laidOut = new CSSStyleSheet();
        laidOut.replaceSync('.cell-body { content-visibility: visible !important; }');
        document.adoptedStyleSheets = [...document.adoptedStyleSheets, laidOut];
    }
    const folded = [...document.querySelectorAll('details.more:not([open])')];
    folded.forEach(more => { more.open = true });
    globalThis.unfolded = [...globalThis.unfolded ?? [], ...folded];
    return [...document.querySelectorAll('[data-cell]')]
        .filter(cell => cell.dataset.state !== 'ready')
        .map(cell => `${cell.id}: ${cell.dataset.state ?? 'not mounted'}`)
        .concat(document.querySelector('.tool .cell-waiting') ? ['the form: not mounted'] : [])
        .concat(folded.map(more => `${more.textContent}: just opened`))
        .concat(document.fonts.status === 'loaded' ? [] : ['the fonts: not loaded'])";

/// A script's body that folds what [`WAITED_FOR`] has unfolded.
pub const FOLD_AGAIN: &str =
    "for (const more of globalThis.unfolded ?? []) more.open = false; globalThis.unfolded = [];";
