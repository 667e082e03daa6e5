//! The parts that all training runs share.

mod card;
mod checkpoint;
mod curve;
mod files;
mod kept;
mod log;
mod progress;
mod run;
mod ship;
mod subject;

pub use card::{Table, tables};
pub use files::{gzip_size, read, read_gz, replace, table};
pub use kept::kept;
pub use log::losses;
pub use run::{Options, Trained, drawn, gradients_of, step_of, train};
pub use ship::{GZIP, HALF, LARGEST_ALL, LARGEST_FILE, WEIGHTS, ship, ship_again};
pub use subject::{Card, Choice, Evaluation, Figure, Keep, Recipe, Subject};
