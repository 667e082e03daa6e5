//! The file for cells.

use std::cell::RefCell;
use std::rc::Rc;

use web_sys::File;
use worker::protocol::Request;
use worker::service::Service;

use super::line::{Host, Line};

/// Time after which a slice ends, so that newer messages are heard.
const SLICE_MS: f64 = 25.0;

struct Cells {
    line: Rc<Line>,
    service: RefCell<Service>,
}

impl Host for Cells {
    type Message = Request;

    fn hear(self: &Rc<Self>, request: Request, _: Vec<File>) {
        self.service.borrow_mut().accept(request);
    }

    fn turn(&self) -> bool {
        let mut service = self.service.borrow_mut();
        if let Some(reply) = service.turn(SLICE_MS, || self.line.now_ms()) {
            self.line.say(&reply);
        }
        !service.is_idle()
    }
}

/// Listens to the page from now on.
pub(super) fn start() {
    let Some(line) = Line::open().map(Rc::new) else {
        return;
    };
    let cells = Cells {
        line: Rc::clone(&line),
        service: RefCell::default(),
    };
    line.listen(&Rc::new(cells));
}
