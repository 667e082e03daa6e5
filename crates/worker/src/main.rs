//! The worker as the browser starts it: messages in, [`Service`] turns, messages out.

#[cfg(target_arch = "wasm32")]
mod browser {
    use std::cell::RefCell;
    use std::rc::Rc;

    use js_sys::{Array, Uint8Array};
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};
    use worker::protocol::{self, Reply, Request};
    use worker::service::Service;

    /// Time after which a slice ends, so that newer messages are heard.
    const SLICE_MS: f64 = 25.0;

    /// What the browser calls back for the next slice.
    type Turn = Closure<dyn FnMut()>;

    #[derive(Clone)]
    struct Host {
        scope: DedicatedWorkerGlobalScope,
        service: Rc<RefCell<Service>>,
        turn: Rc<RefCell<Option<Turn>>>,
        scheduled: Rc<RefCell<bool>>,
    }

    impl Host {
        fn say(&self, reply: &Reply) {
            let bytes = Uint8Array::from(protocol::encode(reply).as_slice());
            let _ = self
                .scope
                .post_message_with_transfer(&bytes, &Array::of1(&bytes.buffer()));
        }

        fn schedule(&self) {
            if self.scheduled.replace(true) {
                return;
            }
            if let Some(turn) = self.turn.borrow().as_ref() {
                let _ = self
                    .scope
                    .set_timeout_with_callback(turn.as_ref().unchecked_ref());
            }
        }

        fn take_turn(&self) {
            self.scheduled.replace(false);
            let clock = self.scope.performance();
            let now_ms = || clock.as_ref().map_or(0.0, web_sys::Performance::now);
            let reply = self.service.borrow_mut().turn(SLICE_MS, now_ms);
            if let Some(reply) = reply {
                self.say(&reply);
            }
            if !self.service.borrow().is_idle() {
                self.schedule();
            }
        }
    }

    pub(super) fn start() {
        let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else {
            return;
        };
        let host = Host {
            scope,
            service: Rc::default(),
            turn: Rc::default(),
            scheduled: Rc::default(),
        };
        let turning = host.clone();
        *host.turn.borrow_mut() = Some(Closure::new(move || turning.take_turn()));
        let listening = host.clone();
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let bytes = Uint8Array::new(&event.data()).to_vec();
            if let Some(request) = protocol::decode::<Request>(&bytes) {
                listening.service.borrow_mut().accept(request);
                listening.schedule();
            }
        });
        host.scope
            .set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        on_message.forget();
        host.say(&Reply::Ready);
    }
}

fn main() {
    #[cfg(target_arch = "wasm32")]
    browser::start();
}
