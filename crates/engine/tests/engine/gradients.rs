//! What the tests of gradients share.

pub(crate) mod bits;
pub(crate) mod check;
