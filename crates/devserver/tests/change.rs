//! The parts that a saved file has built.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::{Path, PathBuf};

use devserver::{Plan, Project, Seen};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

#[test]
fn a_change_has_built_what_is_made_of_it_and_no_more() {
    let project = Project::read(&root()).unwrap();
    let plan = |path: &str| project.plan(&[root().join(path)]);
    let nothing = Plan::default();
    let pages = Plan {
        pages: true,
        ..nothing.clone()
    };
    let site = Plan {
        site: true,
        ..nothing.clone()
    };
    let computes = Plan {
        site: true,
        engines: true,
        maker: true,
        ..nothing.clone()
    };
    let cases = [
        ("lessons/01-recurrence.md", &pages),
        ("index.html", &pages),
        ("tests/golden/lessons/scaling.json", &pages),
        ("src/app.rs", &site),
        ("crates/cells/src/lib.rs", &computes),
        ("crates/engine/src/lib.rs", &computes),
        ("crates/kernel/src/lib.rs", &computes),
        ("crates/worker/src/lib.rs", &computes),
        ("Cargo.lock", &computes),
        ("crates/train/src/lib.rs", &nothing),
        ("crates/devserver/src/lib.rs", &nothing),
        ("crates/engine/tests/goldens.rs", &nothing),
        ("README.md", &nothing),
    ];
    for (path, expected) in cases {
        assert_eq!(plan(path), *expected, "{path}");
    }
    let maker = plan("crates/lesson/src/lib.rs");
    assert!(maker.maker && !maker.site);
    let style = plan("style/base.css");
    assert_eq!(style.styles, ["style/base.css"]);
    assert!(!style.pages && !style.site);
    let shipped = plan("public/models/tiny-gpt.safetensors");
    assert!(shipped.files && shipped.pages && !shipped.site);
}

#[test]
fn a_file_that_is_written_with_the_same_text_has_not_changed() {
    let folder = std::env::temp_dir().join(format!("devserver-seen-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    let (old, new) = (folder.join("inner/old.md"), folder.join("new.md"));
    std::fs::write(&old, "one").unwrap();
    let mut seen = Seen::default();
    seen.remember(std::slice::from_ref(&folder));
    std::fs::write(&old, "one").unwrap();
    assert!(seen.changed(vec![old.clone()]).is_empty());
    std::fs::write(&old, "two").unwrap();
    assert_eq!(
        seen.changed(vec![folder.join("inner")]),
        std::slice::from_ref(&old)
    );
    std::fs::write(&new, "three").unwrap();
    assert_eq!(seen.changed(vec![new.clone()]), [new]);
    std::fs::remove_file(&old).unwrap();
    assert_eq!(seen.changed(vec![old.clone()]), [old]);
    std::fs::remove_dir_all(&folder).unwrap();
}
