//! Ids of the requests that the lab waits for: an answer goes to the part of the page that asked.

use worker::model::protocol::ModelRequest;

/// A part of the lab that makes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The text that is written.
    Text,
    /// The attention weights of a token or a patch.
    Attention,
    /// Sentences, gaps and pictures.
    Answers,
}

impl Part {
    /// The part that makes a request.
    fn of(request: &ModelRequest) -> Self {
        match request {
            ModelRequest::Write(_) => Self::Text,
            ModelRequest::Attend(_) => Self::Attention,
            _ => Self::Answers,
        }
    }
}

/// The newest request of each part. Answers to older ones come too late.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Requests {
    text: Option<u64>,
    attention: Option<u64>,
    answers: Option<u64>,
}

impl Requests {
    /// Takes note of a request.
    pub(super) fn add(&mut self, id: u64, request: &ModelRequest) {
        let newest = match Part::of(request) {
            Part::Text => &mut self.text,
            Part::Attention => &mut self.attention,
            Part::Answers => &mut self.answers,
        };
        *newest = Some(id);
    }

    /// The part that waits for answers to this request; `None` where a newer request has taken its
    /// place.
    pub(super) fn part(&self, id: u64) -> Option<Part> {
        let parts = [
            (self.text, Part::Text),
            (self.attention, Part::Attention),
            (self.answers, Part::Answers),
        ];
        let found = parts.into_iter().find(|(newest, _)| *newest == Some(id));
        found.map(|(_, part)| part)
    }

    /// The request of the text.
    pub(super) fn text(&self) -> Option<u64> {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worker::model::protocol::AttentionPosition;

    #[test]
    fn an_answer_goes_to_the_newest_request_of_its_part() {
        let attend = ModelRequest::Attend(AttentionPosition {
            token: 0,
            layer: 0,
            head: 0,
        });
        let fill = ModelRequest::Fill("a [MASK]".to_owned());
        let mut requests = Requests::default();
        assert_eq!((requests.part(0), requests.text()), (None, None));
        for (id, request) in [(4, &attend), (5, &fill), (6, &attend)] {
            requests.add(id, request);
        }
        assert_eq!(requests.part(5), Some(Part::Answers));
        assert_eq!(requests.part(6), Some(Part::Attention));
        for late_or_unknown in [4, 7] {
            assert_eq!(requests.part(late_or_unknown), None);
        }
    }
}
