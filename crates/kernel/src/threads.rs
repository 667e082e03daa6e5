//! A pool of threads that share the work of one product.
//!
//! A job is cut into parts; the thread that asks for it takes part itself and returns when all
//! parts are done. Chance decides which thread takes which part; the result of a part does not
//! depend on it, so results have the same bits with any number of threads.
//!
//! Natively [`start`] starts the threads. In wasm with shared memory each is a web worker that
//! calls [`serve`] and stays in it; without shared memory there is one thread, which runs every job
//! itself.
//!
//! A thread without work polls for a short while, since the next product usually comes at once, and
//! then sleeps.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// True in a build that has one thread only: wasm without shared memory.
const ALONE: bool = cfg!(all(target_family = "wasm", not(target_feature = "atomics")));

/// The fewest elements, each changed by itself, for which waking a thread pays.
pub const LEAST_ELEMENTS: usize = 1 << 13;

/// The number of times that a thread polls for work before it sleeps. Waking a thread takes about
/// 0.4 ms, so it polls about as long: once takes a nanosecond or two in wasm and, by the hint to
/// the processor, some tens natively.
const LOOKS: usize = if cfg!(miri) {
    // Miri takes a microsecond for each poll and has one core: a thread that polls keeps the others
    // from working.
    4
} else if cfg!(target_family = "wasm") {
    1 << 18
} else {
    1 << 14
};

/// The number of parts of a job for each thread: several, so the others can take parts of a thread
/// that is held up.
const PARTS_PER_THREAD: usize = 4;

/// The most parts of a job: they are counted in 16 bits.
const MOST_PARTS: usize = 1 << 12;

/// The work of one part of a job; the argument is the number of the part.
type Task<'a> = &'a (dyn Fn(usize) + Sync);

/// The state that all threads share.
struct Pool {
    /// Number of the job (32 bits), its parts (16 bits), and the next part that is not taken yet
    /// (16 bits).
    state: AtomicU64,
    /// The address of the task, in the frame of the asking thread.
    task: AtomicPtr<Task<'static>>,
    /// The number of parts that are done.
    done: AtomicUsize,
    /// True when a part panicked.
    failed: AtomicBool,
    /// The number of threads in [`serve`].
    serving: AtomicUsize,
    /// The most threads that a job may use, 0 for all.
    most: AtomicUsize,
    /// The number of threads that sleep.
    sleeping: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
    /// Locked while a job runs: the thread that asks for a second job meanwhile, or inside the
    /// first, runs it alone, in one call.
    asking: Mutex<()>,
}

static POOL: Pool = Pool {
    state: AtomicU64::new(0),
    task: AtomicPtr::new(std::ptr::null_mut()),
    done: AtomicUsize::new(0),
    failed: AtomicBool::new(false),
    serving: AtomicUsize::new(0),
    most: AtomicUsize::new(0),
    sleeping: AtomicUsize::new(0),
    sleep: Mutex::new(()),
    wake: Condvar::new(),
    asking: Mutex::new(()),
};

/// Splits a state into the number of the job, its parts, and the next part.
fn split(state: u64) -> (u64, u64, u64) {
    (state >> 32, state >> 16 & 0xffff, state & 0xffff)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A poisoned lock guards nothing that a panic could have left half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of threads that share a job: those that serve and the one that asks, at most the
/// [`limit`].
pub fn count() -> usize {
    if ALONE {
        return 1;
    }
    let all = 1 + POOL.serving.load(Ordering::Acquire);
    match POOL.most.load(Ordering::Relaxed) {
        0 => all,
        most => all.min(most),
    }
}

/// Limits later jobs to `threads` threads; 0 lifts the limit.
pub fn limit(threads: usize) {
    POOL.most.store(threads, Ordering::Relaxed);
}

/// Starts threads until `threads`, the caller's own included, share the work. They live as long as
/// the program.
///
/// # Errors
/// When the system gives no more threads.
#[cfg(not(target_family = "wasm"))]
pub fn start(threads: usize) -> std::io::Result<()> {
    let _asking = lock(&POOL.asking);
    let there = 1 + POOL.serving.load(Ordering::Acquire);
    for n in there..threads {
        let name = format!("engine-{n}");
        std::thread::Builder::new().name(name).spawn(serve)?;
    }
    while 1 + POOL.serving.load(Ordering::Acquire) < threads {
        std::thread::yield_now();
    }
    Ok(())
}

/// Takes part in every job from now on; never returns.
pub fn serve() {
    POOL.serving.fetch_add(1, Ordering::AcqRel);
    loop {
        while !take_part() {
            wait();
        }
    }
}

/// Takes one part of the current job and runs it; returns false when none is left.
fn take_part() -> bool {
    let mut state = POOL.state.load(Ordering::Acquire);
    loop {
        let (_, parts, next) = split(state);
        if next >= parts {
            return false;
        }
        let taken =
            POOL.state
                .compare_exchange_weak(state, state + 1, Ordering::AcqRel, Ordering::Acquire);
        match taken {
            Ok(_) => {
                run(next as usize);
                return true;
            }
            Err(now) => state = now,
        }
    }
}

/// Runs a part that was taken.
fn run(part: usize) {
    let task = POOL.task.load(Ordering::Acquire);
    // SAFETY: a part that is taken and not done keeps the asking thread in `share`, in whose frame
    // the task is.
    let attempt = std::panic::AssertUnwindSafe(|| unsafe { (*task)(part) });
    let outcome = std::panic::catch_unwind(attempt);
    if outcome.is_err() {
        // This tells the asking thread of the panic; this thread continues to serve.
        POOL.failed.store(true, Ordering::Relaxed);
    }
    // Only here, where no function that got the task is running any more: the asking thread may now
    // drop it.
    POOL.done.fetch_add(1, Ordering::Release);
}

/// Waits until there may be a part to take.
fn wait() {
    let open = || {
        let (_, parts, next) = split(POOL.state.load(Ordering::SeqCst));
        next < parts
    };
    for _ in 0..LOOKS {
        if open() {
            return;
        }
        std::hint::spin_loop();
    }
    let mut guard = lock(&POOL.sleep);
    POOL.sleeping.fetch_add(1, Ordering::SeqCst);
    while !open() {
        guard = POOL
            .wake
            .wait(guard)
            .unwrap_or_else(PoisonError::into_inner);
    }
    POOL.sleeping.fetch_sub(1, Ordering::SeqCst);
}

/// Runs `task(0)` … `task(parts − 1)`, each once, and returns true when all are done; false, with
/// nothing run, while another job runs.
///
/// # Panics
/// When a part panics.
fn share(parts: usize, task: Task<'_>) -> bool {
    let _asking = match POOL.asking.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return false,
    };
    let mut task = task;
    // The pointer outlives this frame only in type: no thread follows it once all parts are done.
    let place = (&raw mut task).cast::<Task<'static>>();
    POOL.done.store(0, Ordering::Relaxed);
    POOL.failed.store(false, Ordering::Relaxed);
    POOL.task.store(place, Ordering::Release);
    let (job, ..) = split(POOL.state.load(Ordering::Relaxed));
    let state = ((job + 1) & 0xffff_ffff) << 32 | (parts as u64) << 16;
    POOL.state.store(state, Ordering::SeqCst);
    if POOL.sleeping.load(Ordering::SeqCst) > 0 {
        let _guard = lock(&POOL.sleep);
        POOL.wake.notify_all();
    }
    while take_part() {}
    let mut looks = 0;
    while POOL.done.load(Ordering::Acquire) < parts {
        looks += 1;
        if looks > LOOKS {
            // More threads than cores: let the others finish.
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
    assert!(
        !POOL.failed.load(Ordering::Relaxed),
        "a part of a job panicked on another thread"
    );
    true
}

/// Runs `task` on ranges that together are `0..total`, each at least `least` long except the last.
/// With one thread it is one call.
pub fn ranges(total: usize, least: usize, task: impl Fn(Range<usize>) + Sync) {
    let threads = count();
    if total == 0 {
        return;
    }
    let most = (PARTS_PER_THREAD * threads).min(MOST_PARTS);
    let length = total.div_ceil(most).max(least).max(1);
    if threads < 2 || length >= total {
        return task(0..total);
    }
    let shared = share(total.div_ceil(length), &|part| {
        let start = part * length;
        task(start..(start + length).min(total));
    });
    if !shared {
        task(0..total);
    }
}

/// Cuts a slice into spans of whole units of `unit` elements, the last of which may be shorter, and
/// runs `task` on each with the number of its first unit; a span has at least `least` units. With
/// one thread the slice is one span.
pub fn spans<T: Send>(
    slice: &mut [T],
    unit: usize,
    least: usize,
    task: impl Fn(usize, &mut [T]) + Sync,
) {
    /// The start of the slice, which several threads use.
    struct Start<T>(*mut T);
    // SAFETY: no two parts have an element in common, and `T` may be sent to another thread.
    unsafe impl<T: Send> Sync for Start<T> {}

    let (length, start) = (slice.len(), Start(slice.as_mut_ptr()));
    if unit == 0 {
        return;
    }
    let start = &start;
    ranges(length.div_ceil(unit), least, |units| {
        let (from, to) = (units.start * unit, (units.end * unit).min(length));
        // SAFETY: from ≤ to ≤ length, and different ranges of units do not overlap.
        let part = unsafe { std::slice::from_raw_parts_mut(start.0.add(from), to - from) };
        task(units.start, part);
    });
}

/// Runs `task` on each unit; otherwise as [`spans`].
pub fn chunks<T: Send>(
    slice: &mut [T],
    unit: usize,
    least: usize,
    task: impl Fn(usize, &mut [T]) + Sync,
) {
    spans(slice, unit, least, |first, span| {
        for (n, chunk) in span.chunks_mut(unit).enumerate() {
            task(first + n, chunk);
        }
    });
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;

    // All of these tests use the one pool of the program, from threads of their own.

    #[test]
    fn every_element_is_visited_once_with_any_number_of_threads() {
        let lengths: &[usize] = if cfg!(miri) {
            &[0, 1, 7, 40]
        } else {
            &[0, 1, 2, 7, 64, 1000, 4097]
        };
        for threads in 1..=4 {
            start(threads).unwrap();
            for &length in lengths {
                let mut seen = vec![0u32; length];
                chunks(&mut seen, 3, 1, |number, part| {
                    assert!(part.len() == 3 || number == length / 3);
                    part.iter_mut().for_each(|n| *n += 1);
                });
                assert!(seen.iter().all(|&n| n == 1), "{threads} threads, {length}");
                let total = AtomicUsize::new(0);
                ranges(length, 5, |range| {
                    assert!(range.len() >= 5 || range.end == length);
                    total.fetch_add(range.sum(), Ordering::Relaxed);
                });
                assert_eq!(total.into_inner(), (0..length).sum::<usize>());
            }
        }
    }

    #[test]
    fn a_job_in_a_job_is_done_by_its_asker() {
        start(3).unwrap();
        let mut seen = vec![0usize; 40];
        chunks(&mut seen, 1, 1, |_, outer| {
            let mut inner = vec![0usize; 40];
            chunks(&mut inner, 1, 1, |number, n| n[0] = number);
            outer[0] = inner.iter().sum();
        });
        assert!(seen.iter().all(|&n| n == 780));
    }

    #[test]
    fn a_panic_reaches_the_asking_thread_and_the_pool_continues() {
        start(2).unwrap();
        for _ in 0..if cfg!(miri) { 3 } else { 20 } {
            let attempt = std::panic::catch_unwind(|| {
                ranges(1000, 1, |range| {
                    assert!(!range.contains(&777), "as planned");
                });
            });
            assert!(attempt.is_err());
        }
        let mut seen = vec![0; 100];
        chunks(&mut seen, 1, 1, |number, n| n[0] = number);
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn askers_on_several_threads_do_not_mix() {
        start(3).unwrap();
        std::thread::scope(|scope| {
            for asker in 0..4usize {
                scope.spawn(move || {
                    for _ in 0..if cfg!(miri) { 5 } else { 200 } {
                        let mut seen = vec![0; 50];
                        chunks(&mut seen, 2, 1, |_, part| part.fill(asker + 1));
                        assert!(seen.iter().all(|&n| n == asker + 1));
                    }
                });
            }
        });
    }
}
