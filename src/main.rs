//! Mounts the site.

fn main() {
    site::start();
}
