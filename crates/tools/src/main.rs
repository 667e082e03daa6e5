//! `notebook`: the engine's models on the command line.

mod command;

use command::arguments::{Arguments, Failure};
use command::{
    classify, embed, fill_mask, generate, inspect, learn, quantize, reference, translate,
};
use std::ffi::OsString;
use std::process::ExitCode;

/// A command of the program.
struct Command {
    name: &'static str,
    help: &'static str,
    run: fn(Arguments) -> Result<(), Failure>,
}

const COMMANDS: [Command; 9] = [
    Command {
        name: "generate",
        help: generate::HELP,
        run: generate::run,
    },
    Command {
        name: "fill-mask",
        help: fill_mask::HELP,
        run: fill_mask::run,
    },
    Command {
        name: "embed",
        help: embed::HELP,
        run: embed::run,
    },
    Command {
        name: "translate",
        help: translate::HELP,
        run: translate::run,
    },
    Command {
        name: "classify",
        help: classify::HELP,
        run: classify::run,
    },
    Command {
        name: "learn",
        help: learn::HELP,
        run: learn::run,
    },
    Command {
        name: "inspect",
        help: inspect::HELP,
        run: inspect::run,
    },
    Command {
        name: "quantize",
        help: quantize::HELP,
        run: quantize::run,
    },
    Command {
        name: "reference",
        help: reference::HELP,
        run: reference::run,
    },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(name) = arguments.next() else {
        eprintln!("{}", overview());
        return ExitCode::from(2);
    };
    if is_help(&name) {
        println!("{}", overview());
        return ExitCode::SUCCESS;
    }
    match COMMANDS.iter().find(|command| name == command.name) {
        Some(command) => run(command, arguments.collect()),
        None => {
            let name = name.display();
            eprintln!("there is no command {name}\n{}", overview());
            ExitCode::from(2)
        }
    }
}

fn is_help(argument: &OsString) -> bool {
    argument == "--help" || argument == "-h"
}

/// The list of commands: the first sentence of each one's help.
fn overview() -> String {
    let lines = COMMANDS.iter().map(|command| {
        let summary = command.help.lines().next().unwrap_or_default();
        format!("  {:<11}{summary}", command.name)
    });
    let lines: Vec<String> = lines.collect();
    format!(
        "Runs, inspects, converts and checks models.\n\nusage: notebook COMMAND ...\n\n{}\n\nnotebook COMMAND --help says more.",
        lines.join("\n")
    )
}

/// Runs a command and turns its failure into a message and an exit code.
fn run(command: &Command, arguments: Vec<OsString>) -> ExitCode {
    if arguments.iter().any(is_help) {
        println!("{}", command.help);
        return ExitCode::SUCCESS;
    }
    match (command.run)(Arguments(arguments)) {
        Ok(()) | Err(Failure::NobodyReads) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            let mut lines = command.help.lines();
            let usage = lines.find(|line| line.starts_with("usage:"));
            eprintln!(
                "{message}\n{}\n--help says more.",
                usage.unwrap_or_default()
            );
            ExitCode::from(2)
        }
        Err(Failure::Other(message)) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
        Err(Failure::Code(code)) => ExitCode::from(code),
    }
}
