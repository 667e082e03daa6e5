//! The site.
