//! Pages that are made again after each change.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Project, real};
use pages::Follower;

const INDEX: &str = "index.html";

fn follow(project: &Project) -> Follower {
    let index = std::fs::read_to_string(real().join(INDEX)).unwrap();
    project.put(INDEX, &index);
    let (out, target) = (project.root.join("dist"), project.root.join("target"));
    Follower::new(&project.root, &out, &target, false)
        .with_script(Some("/_dev/client.js".to_owned()))
}

#[test]
fn only_pages_that_change_are_written() {
    let project = Project::new();
    let mut follower = follow(&project);
    let first = follower.pages().unwrap();
    for page in [
        "",
        "404.html",
        "lab/",
        "bench/",
        "models/",
        "lesson/one/",
        "lesson/two/",
    ] {
        assert!(first.iter().any(|written| written == page), "{page}");
    }
    assert!(follower.pages().unwrap().is_empty(), "nothing has changed");
    let lesson = std::fs::read_to_string(project.root.join("lessons/01-one.md")).unwrap();
    project.put(
        "lessons/01-one.md",
        &lesson.replace("Text with", "Words with"),
    );
    assert_eq!(follower.pages().unwrap(), ["lesson/one/"]);
    assert!(
        project
            .built("lesson/one/index.html")
            .contains("Words with")
    );
    // A title is in the menu of every page.
    project.put("lessons/01-one.md", &lesson.replace("One & only", "First"));
    assert_eq!(follower.pages().unwrap().len(), first.len());
}

#[test]
fn a_mistake_is_told_and_the_page_before_it_stays() {
    let project = Project::new();
    let mut follower = follow(&project);
    follower.pages().unwrap();
    let lesson = std::fs::read_to_string(project.root.join("lessons/02-two.md")).unwrap();
    project.put(
        "lessons/02-two.md",
        &format!("{lesson}\n[gone](/lesson/none)\n"),
    );
    let error = follower.pages().unwrap_err().to_string();
    assert!(error.starts_with("lessons/02-two.md:"), "{error}");
    assert!(project.has("lesson/two/index.html"));
    project.put("lessons/02-two.md", &lesson);
    assert!(follower.pages().unwrap().is_empty(), "it is as before");
    std::fs::remove_file(project.root.join("lessons/02-two.md")).unwrap();
    // Lesson one leads to the one that is gone.
    let error = follower.pages().unwrap_err().to_string();
    assert!(error.starts_with("lessons/01-one.md:"), "{error}");
}

#[test]
fn a_page_starts_the_site_and_keeps_its_style_sheets_apart() {
    let project = Project::new();
    follow(&project).pages().unwrap();
    let html = project.built("lesson/one/index.html");
    for expected in [
        "<link href=\"/style/base.css\" media=\"all\" rel=\"stylesheet\">",
        "<link href=\"/style/print.css\" media=\"print\" rel=\"stylesheet\">",
        "import init from \"/transformer-notebook.js\";",
        "import initializer from \"/boot.mjs\";",
        "<script type=\"module\" src=\"/_dev/client.js\"></script>",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ",
    ] {
        assert!(html.contains(expected), "{expected}\n{html}");
    }
    assert!(
        !html.contains("data-trunk") && !html.contains("@root") && !html.contains("@site"),
        "{html}"
    );
    assert!(project.built("sw.js").contains("unregister"));
}

#[test]
fn what_a_cell_shows_follows_its_source() {
    let project = Project::new();
    let mut follower = follow(&project);
    follower.pages().unwrap();
    project.put(
        "crates/cells/src/lessons/self_attention/three_patches.rs",
        "fn compute() {\n    shown!(record, engine::nn::attention::scale, d);\n}\n",
    );
    assert!(
        follower
            .pages()
            .unwrap()
            .contains(&"lesson/one/".to_owned())
    );
    assert!(
        project
            .built("lesson/one/code.json")
            .contains("attention::scale")
    );
}
