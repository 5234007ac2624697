//! As Linux has it.

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue,
    ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};

const NEEDS_NICE: &str = "it needs the capability CAP_SYS_NICE or a limit `rtprio` of the user";
const NEEDS_LOCK: &str = "it needs the capability CAP_IPC_LOCK or a higher limit `memlock`";

pub fn thread_cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

pub fn schedule_fifo(priority: u8) -> Result<(), String> {
    let value = ThreadPriorityValue::try_from(priority);
    let value = value.map_err(|_| "a priority is from 1 to 99".to_owned())?;
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriority::Crossplatform(value);
    let set = set_thread_priority_and_policy(thread_native_id(), priority, fifo);
    set.map_err(|_| NEEDS_NICE.into())
}

pub fn schedule_as_others() {
    let other = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
    // The middle of all priorities is a niceness of zero. A thread may always become less than it is;
    // whether it may be as nice as that is left to the system.
    if let Ok(middle) = ThreadPriorityValue::try_from(49) {
        let priority = ThreadPriority::Crossplatform(middle);
        let _ = set_thread_priority_and_policy(thread_native_id(), priority, other);
    }
}

pub fn lock_memory() -> Result<(), String> {
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE;
    mlockall(all).map_err(|_| NEEDS_LOCK.into())
}

pub fn pin(core: usize) -> Result<(), String> {
    if core >= CpuSet::MAX_CPU {
        return Err(format!("cores have numbers below {}", CpuSet::MAX_CPU));
    }
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).map_err(|_| "the process has no such core".into())
}

pub fn unpin() {
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|core| all.set(core));
    // The system leaves out those that are not there.
    let _ = sched_setaffinity(None, &all);
}
