//! System packages: finds what is missing and installs it as root, or names the one command that
//! does.

use std::path::PathBuf;
use std::process::Command;

use crate::failure::Failure;
use crate::process::{command, find_program, output_of, run, say};

/// Something that only the system's package manager can provide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// A C compiler with its headers: rustc links with it, and some tools hold C code.
    Linker,
    /// A browser and its WebDriver, for every test that runs in a page.
    Browser,
    /// node and npm, for wasm-opt (binaryen) and axe-core.
    Node,
}

/// A package manager that we know package names for.
#[derive(Clone, Copy)]
enum Manager {
    Apt,
    Dnf,
    Pacman,
    Brew,
}

impl Need {
    /// Why it is needed, for the person who reads the output.
    fn reason(self) -> &'static str {
        match self {
            Self::Linker => "a C linker (`cc`): Rust links every program with it",
            Self::Browser => "Chromium and chromedriver: the tests run the site in a real browser",
            Self::Node => {
                "node and npm: they bring wasm-opt, which makes the site small, and axe-core, which checks it"
            }
        }
    }

    fn is_there(self) -> bool {
        match self {
            Self::Linker => find_program("cc").is_some(),
            Self::Browser => browser().is_some() && driver().is_some(),
            Self::Node => find_program("node").is_some() && find_program("npm").is_some(),
        }
    }

    fn packages(self, manager: Manager) -> &'static str {
        match (self, manager) {
            (Self::Linker, Manager::Apt) => "gcc libc6-dev",
            (Self::Linker, Manager::Dnf) => "gcc glibc-devel",
            (Self::Linker, Manager::Pacman | Manager::Brew) => "gcc",
            (Self::Browser, Manager::Apt) => "chromium chromium-driver",
            (Self::Browser, Manager::Dnf) => "chromium chromedriver",
            (Self::Browser, Manager::Pacman) => "chromium",
            (Self::Browser, Manager::Brew) => "--cask chromium chromedriver",
            (Self::Node, Manager::Apt | Manager::Dnf | Manager::Pacman) => "nodejs npm",
            (Self::Node, Manager::Brew) => "node",
        }
    }
}

impl Manager {
    /// The package manager of this machine.
    fn here() -> Option<Self> {
        [
            ("apt-get", Self::Apt),
            ("dnf", Self::Dnf),
            ("pacman", Self::Pacman),
            ("brew", Self::Brew),
        ]
        .into_iter()
        .find(|(program, _)| find_program(program).is_some())
        .map(|(_, manager)| manager)
    }

    /// The command that installs `packages`, as one would type it.
    fn line(self, packages: &str) -> String {
        match self {
            Self::Apt => format!("sudo apt-get update && sudo apt-get install -y {packages}"),
            Self::Dnf => format!("sudo dnf install -y {packages}"),
            Self::Pacman => format!("sudo pacman -S --needed {packages}"),
            Self::Brew => format!("brew install {packages}"),
        }
    }
}

/// Makes sure that everything in `needs` is installed.
///
/// # Errors
/// When something is missing and this program may not install it: the message holds the command
/// that does.
pub(crate) fn ensure(needs: &[Need]) -> Result<(), Failure> {
    let missing: Vec<Need> = needs
        .iter()
        .copied()
        .filter(|need| !need.is_there())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    for need in &missing {
        say(format_args!("missing: {}", need.reason()));
    }
    let Some(manager) = Manager::here() else {
        let names: Vec<&str> = missing
            .iter()
            .map(|need| need.packages(Manager::Apt))
            .collect();
        return Err(Failure::new(format!(
            "install these with your system's package manager (Debian's names): {}",
            names.join(" ")
        )));
    };
    let names: Vec<&str> = missing.iter().map(|need| need.packages(manager)).collect();
    let names = names.join(" ");
    if !matches!(manager, Manager::Apt) || !is_root() {
        let line = manager.line(&names);
        return Err(Failure::new(format!(
            "this command installs what is missing:\n\n    {line}\n"
        )));
    }
    say(format_args!("installing {names}"));
    run(command("apt-get").arg("update"))?;
    run(command("apt-get")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(["install", "-y", "--no-install-recommends"])
        .args(names.split(' ')))?;
    match missing.iter().find(|need| !need.is_there()) {
        Some(need) => Err(Failure::new(format!(
            "installed, yet still not found: {}",
            need.reason()
        ))),
        None => Ok(()),
    }
}

/// Installs a package if the system offers it in exactly this version and it can be installed
/// without asking anybody; whether it did. Where it is offered to the machine's owner only, says
/// so: that is quicker than compiling.
pub(crate) fn install_version(package: &str, version: &str) -> bool {
    let Some(manager) = Manager::here() else {
        return false;
    };
    let asked = match manager {
        Manager::Apt => output_of(command("apt-cache").args(["show", package])),
        Manager::Dnf => output_of(command("dnf").args(["--quiet", "info", package])),
        Manager::Pacman => output_of(command("pacman").args(["-Si", package])),
        Manager::Brew => output_of(command("brew").args(["info", package])),
    };
    if !asked.is_some_and(|text| offers(&text, version)) {
        return false;
    }
    match manager {
        Manager::Brew => run(command("brew").args(["install", package])).is_ok(),
        Manager::Apt if is_root() => run(command("apt-get")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["install", "-y", "--no-install-recommends", package]))
        .is_ok(),
        _ => {
            say(format_args!(
                "your system has it ready-made; `{}` is quicker than compiling it",
                manager.line(package)
            ));
            false
        }
    }
}

/// Returns whether a package manager's description names this version, with or without the
/// distribution's own number after it (`0.21.14-1`).
fn offers(description: &str, version: &str) -> bool {
    description
        .split([' ', '\t', '\n', ','])
        .any(|word| word.split(['-', '+']).next() == Some(version))
}

/// The browser's program: `CHROME` when set, else Chromium or Chrome where they usually lie.
pub(crate) fn browser() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROME") {
        return Some(path.into());
    }
    [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ]
    .into_iter()
    .find_map(find_program)
    .or_else(|| {
        [
            "/Applications/Chromium.app/Contents/MacOS/Chromium",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        ]
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file())
    })
}

/// The browser's WebDriver: `CHROMEDRIVER` when set, else the one on the path.
pub(crate) fn driver() -> Option<PathBuf> {
    std::env::var_os("CHROMEDRIVER")
        .map(PathBuf::from)
        .or_else(|| find_program("chromedriver"))
}

/// Chromium without its windows, which spends a third less time on the same page. Debian has it in a
/// package of its own.
const HEADLESS_SHELL: &str = "chromium-headless-shell";

/// Its program. The one on the path is a script that starts it and waits: chromedriver would end the
/// script alone.
fn headless_shell() -> Option<PathBuf> {
    let path = PathBuf::from("/usr/lib/chromium").join(HEADLESS_SHELL);
    path.is_file().then_some(path)
}

/// Installs [`HEADLESS_SHELL`] where that can be done without asking anybody. The tests run without
/// it, too, only slower.
pub(crate) fn ensure_headless_shell() {
    let is_there = std::env::var_os("CHROME").is_some() || headless_shell().is_some();
    if is_there || !matches!(Manager::here(), Some(Manager::Apt)) || !is_root() {
        return;
    }
    say(format_args!("installing {HEADLESS_SHELL}"));
    let installed = run(command("apt-get").arg("update")).and_then(|()| {
        run(command("apt-get")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["install", "-y", "--no-install-recommends", HEADLESS_SHELL]))
    });
    if installed.is_err() {
        say(format_args!(
            "no {HEADLESS_SHELL} here: the tests take the whole browser"
        ));
    }
}

/// The browser for pages that are only looked at and clicked: `CHROME` when set, else
/// [`HEADLESS_SHELL`] where chromedriver is of its version, else as [`browser`].
fn lightest_browser() -> Option<PathBuf> {
    if std::env::var_os("CHROME").is_some() {
        return browser();
    }
    headless_shell()
        .filter(|shell| {
            let version = |program: PathBuf| {
                let text = output_of(command(program).arg("--version"))?;
                major(&text).map(str::to_owned)
            };
            version(shell.clone()).is_some_and(|own| driver().and_then(version) == Some(own))
        })
        .or_else(browser)
}

/// The first part of the version in a program's answer, `156` of `Chromium 156.0.8078.108 built on …`.
fn major(answer: &str) -> Option<&str> {
    let version = answer
        .split_whitespace()
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    version.split('.').next()
}

/// As [`name_browser`], with the lightest browser that is here; `CHROME_WHOLE` is the whole one, which
/// alone has service workers.
pub(crate) fn name_lightest_browser(program: &mut Command) {
    name_browser(program);
    for (name, path) in [("CHROME", lightest_browser()), ("CHROME_WHOLE", browser())] {
        if let Some(path) = path {
            program.env(name, path);
        }
    }
}

/// Names the browser and its WebDriver to a program that drives them.
pub(crate) fn name_browser(program: &mut Command) {
    for (name, path) in [("CHROME", browser()), ("CHROMEDRIVER", driver())] {
        if let Some(path) = path {
            program.env(name, path);
        }
    }
}

fn is_root() -> bool {
    output_of(command("id").arg("-u")).is_some_and(|id| id.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::{major, offers};

    #[test]
    fn versions_are_compared_by_their_first_part() {
        let browser = "Chromium 156.0.8078.108 built on Debian GNU/Linux 12 (bookworm)";
        let driver = "ChromeDriver 156.0.8078.79 (0123abcd-refs/branch-heads/8078@{#1})";
        assert_eq!(major(browser), Some("156"));
        assert_eq!(major(browser), major(driver));
        assert_eq!(major("no version"), None);
    }

    #[test]
    fn a_package_counts_in_exactly_the_version_that_is_needed() {
        assert!(offers("Package: trunk\nVersion: 0.21.14-1\n", "0.21.14"));
        assert!(offers(
            "==> trunk: stable 0.21.14 (bottled), HEAD",
            "0.21.14"
        ));
        assert!(!offers("Version: 0.21.1-14\n", "0.21.14"));
        assert!(!offers("Version: 10.21.14\n", "0.21.14"));
    }
}
