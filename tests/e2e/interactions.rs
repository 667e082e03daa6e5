//! What a reader does on a page: turns the theme, goes on to the next lesson and back.
