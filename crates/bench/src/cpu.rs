//! The instructions that Chromium may use: what other processors than this one would run.

use std::fmt;

/// A set of instructions, from the largest to the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cpu {
    /// With AVX-VNNI: one instruction multiplies and sums four bytes.
    Vnni,
    /// AVX2 without VNNI: most processors of laptops from before 2022.
    Avx2,
    /// Without AVX: the oldest processors that run WebAssembly's SIMD.
    Sse4,
}

/// What V8 is told to do without. Each set adds to the one before.
const WITHOUT: [&str; 3] = [
    // Signed bytes, which only the newest processors multiply.
    "--no-enable-avx-vnni-int8",
    "--no-enable-avx-vnni",
    "--no-enable-avx2 --no-enable-fma3 --no-enable-avx",
];

impl Cpu {
    const ALL: [Self; 3] = [Self::Vnni, Self::Avx2, Self::Sse4];

    /// The set of a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cpu| cpu.to_string() == name)
    }

    /// The argument of Chromium that leaves it these instructions.
    pub(crate) fn argument(self) -> String {
        let count = match self {
            Self::Vnni => 1,
            Self::Avx2 => 2,
            Self::Sse4 => 3,
        };
        format!("--js-flags={}", WITHOUT[..count].join(" "))
    }

    /// The flags of `/proc/cpuinfo` that a processor needs to have for it.
    fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Vnni => &["avx2", "avx_vnni"],
            Self::Avx2 => &["avx2", "fma"],
            Self::Sse4 => &["sse4_1"],
        }
    }

    /// What a processor with these flags lacks for it.
    pub(crate) fn lacks(self, flags: &str) -> Vec<&'static str> {
        let has = |flag: &str| flags.split_whitespace().any(|own| own == flag);
        let needs = self.needs().iter().copied();
        needs.filter(|flag| !has(flag)).collect()
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vnni => "vnni",
            Self::Avx2 => "avx2",
            Self::Sse4 => "sse4",
        })
    }
}

/// A line of `/proc/cpuinfo`: the processor's name, or its flags. Empty where there is no such file.
pub(crate) fn of_this_machine(line: &str) -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let found = text.lines().find_map(|all| {
        let (name, value) = all.split_once(':')?;
        (name.trim() == line).then(|| value.trim().to_owned())
    });
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Cpu;

    #[test]
    fn a_smaller_set_leaves_out_all_that_a_larger_one_does() {
        let all = Cpu::ALL.map(Cpu::argument);
        assert!(all[1].starts_with(&all[0]) && all[2].starts_with(&all[1]));
        let has = |cpu: usize, flag: &str| all[cpu].split(' ').any(|part| part.ends_with(flag));
        assert!(!has(0, "--no-enable-avx-vnni") && has(1, "--no-enable-avx-vnni"));
        assert!(!has(1, "--no-enable-avx2") && has(2, "--no-enable-avx2"));
    }

    #[test]
    fn what_a_processor_lacks_is_named() {
        let zen3 = "sse4_1 avx avx2 fma";
        assert_eq!(Cpu::Vnni.lacks(zen3), ["avx_vnni"]);
        assert!(Cpu::Avx2.lacks(zen3).is_empty() && Cpu::Sse4.lacks(zen3).is_empty());
        // A part of another name is not the flag.
        assert_eq!(Cpu::Sse4.lacks("sse4_1x"), ["sse4_1"]);
        assert_eq!(Cpu::from_name("avx2"), Some(Cpu::Avx2));
        assert_eq!(Cpu::from_name("avx9"), None);
    }
}
