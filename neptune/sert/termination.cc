#include "neptune/sert/termination.h"

#include <cxxabi.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "neptune/sert/child_processes.h"
#include "neptune/sert/code_ranges.h"
#include "neptune/sert/interrupted_context.h"

namespace neptune::sert {

__thread RequestRecord* own_record = nullptr;
__thread RequestRecord* accounting_record = nullptr;
constinit Totals totals;

namespace {

// Static storage of a record, constructed when claimed and never destroyed, because threads may
// outlive statics.
struct RecordPlace {
  alignas(RequestRecord) unsigned char bytes[sizeof(RequestRecord)] = {};
  std::atomic<RequestRecord*> record;
};
constinit RecordPlace places[kRecordCount];
pthread_key_t thread_end;
std::atomic<bool> region_is_reserved{false};

// Exception state of a thread in the C++ ABI: caught exceptions, and the number of uncaught ones.
struct ExceptionGlobals {
  void* caught;
  unsigned uncaught_count;
};
ExceptionGlobals& Exceptions() {
  return *reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals());
}

void Forget(RequestRecord* record) {
  record->armed = 0;
  record->arena_only = 0;
  record->outside = 0;
  record->lock_count = 0;
  record->nested = 0;
  record->library_call = 0;
  record->ledger.Clear();
}

void ReleaseRecord(void* own) {
  auto* const record = static_cast<RequestRecord*>(own);
  // If a thread ends within a request, its objects live until they are freed.
  if (record->running()) SERT_end();
  own_record = nullptr;
  AdoptAlternateStack(std::exchange(record->alternate_stack, nullptr));
  record->thread_id.store(0, std::memory_order_release);
}

void Prepare() {
  if (pthread_key_create(&thread_end, &ReleaseRecord) == 0) {
    region_is_reserved = process_arena_region.Reserve(kArenaRegionSize);
  }
  FindCode();
}

bool PrepareOnce() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, &Prepare);
  return region_is_reserved.load(std::memory_order_relaxed);
}

// Kills the process and closes its stream; buffered output is discarded, because no process reads
// it any more.
void ReleaseChild(const PipedChild& child) {
  KillChild(child.id);
  if (child.stream == nullptr) return;
  ForgetChild(child.stream);
  auto* const stream = static_cast<FILE*>(child.stream);
  __fpurge(stream);
  fclose(stream);
}

void ReleaseHeld(RequestRecord* record) {
  ResourceLedger& ledger = record->ledger;
  totals.released_streams += ledger.streams().size();
  totals.released_directories += ledger.directories().size();
  totals.released_descriptors += ledger.descriptors().size();
  totals.released_mappings += ledger.mappings().size();
  totals.released_processes += ledger.children().size();
  totals.released_memory += record->arena.held_size();
  for (const PipedChild& child : ledger.children()) ReleaseChild(child);
  // Streams and directories first, because closing them closes their descriptors.
  for (void* const stream : ledger.streams()) fclose(static_cast<FILE*>(stream));
  for (void* const directory : ledger.directories()) closedir(static_cast<DIR*>(directory));
  for (const int fd : ledger.descriptors()) close(fd);
  for (const Mapping& mapping : ledger.mappings()) {
    munmap(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin);
  }
  // Exceptions in flight are objects of the arena.
  Exceptions() = {record->caught_exceptions, 0};
  record->arena.Drop();
}

// The generation is already even, so signals for this request are ignored.
[[noreturn]] void Take(RequestRecord* record) {
  accounting_record = nullptr;
  record->depth = 1;
  ++totals.terminated;
  ReleaseHeld(record);
  Forget(record);
  sigjmp_buf* const rollback = std::exchange(record->rollback, nullptr);
  record->taken_after_ns = NowNs() - record->asked_ns.load(std::memory_order_relaxed);
  record->depth = 0;
  siglongjmp(*rollback, 1);
}

// The function in which the thread continues after the handler.
[[noreturn]] void TerminateOwn() { Take(own_record); }

// True if the function of the rollback point has not returned. Stacks grow downwards.
bool IsRollbackThere(RequestRecord* record, uintptr_t stack_pointer) {
  if (record->rollback == nullptr) return false;
  if (stack_pointer <= record->rollback_frame) return true;
  record->rollback = nullptr;
  ++totals.gone_rollback_points;
  return false;
}

bool MayBeTaken(RequestRecord* record, const void* at, uintptr_t stack_pointer) {
  return record->depth == 0 && record->lock_count == 0 && record->outside == 0 &&
         record->ledger.unaccounted() == 0 && program_code.Contains(at) &&
         IsRollbackThere(record, stack_pointer);
}

void OnSignal(int, siginfo_t* info, void* raw_context) {
  RequestRecord* const record = own_record;
  if (record == nullptr || info->si_code != SI_QUEUE) return;
  const uint64_t generation = record->generation.load(std::memory_order_relaxed);
  if ((generation & 1) == 0 ||
      static_cast<uint32_t>(generation) != static_cast<uint32_t>(info->si_value.sival_int)) {
    record->stray = 1;
    return;
  }
  record->armed = 1;
  auto* const context = static_cast<ucontext_t*>(raw_context);
  if (record->arena_only == 0 || !MayBeTaken(record, CodeAt(*context), StackAt(*context))) return;
  record->generation.store(generation + 1, std::memory_order_relaxed);
  record->depth = 1;
  totals.terminated_between.fetch_add(1, std::memory_order_relaxed);
  GoOnIn(context, &TerminateOwn);
}

}  // namespace

int64_t NowNs() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

RequestRecord* ClaimRecord() {
  if (own_record != nullptr) return own_record;
  if (!PrepareOnce()) return nullptr;
  const auto thread_id = static_cast<int>(syscall(SYS_gettid));
  for (RecordPlace& place : places) {
    RequestRecord* record = place.record.load(std::memory_order_acquire);
    if (record == nullptr) {
      // Several threads may find the record missing; the flag ensures that only one constructs it.
      static std::atomic<bool> making{false};
      while (making.exchange(true, std::memory_order_acquire)) sched_yield();
      record = place.record.load(std::memory_order_relaxed);
      if (record == nullptr) {
        record = new (place.bytes) RequestRecord();
        place.record.store(record, std::memory_order_release);
      }
      making.store(false, std::memory_order_release);
    }
    int free = 0;
    if (!record->thread_id.compare_exchange_strong(free, thread_id)) continue;
    own_record = record;
    pthread_setspecific(thread_end, record);
    record->alternate_stack = GiveAlternateStack();
    return record;
  }
  return nullptr;
}

RequestRecord* RecordAt(size_t number) {
  return places[number].record.load(std::memory_order_acquire);
}

RequestCounts CountRequests() {
  RequestCounts counts{.ended = totals.terminated.load(std::memory_order_relaxed)};
  for (size_t i = 0; i < kRecordCount; ++i) {
    const RequestRecord* const record = RecordAt(i);
    if (record == nullptr) break;  // records are claimed in order
    counts.begun += record->begun_count.load(std::memory_order_relaxed);
    counts.ended += record->done_count.load(std::memory_order_relaxed);
  }
  return counts;
}

int InstallHandler(int signum) {
  struct sigaction present {};
  if (sigaction(signum, nullptr, &present) != 0) return EINVAL;
  const bool is_free = (present.sa_flags & SA_SIGINFO) == 0 &&
                       (present.sa_handler == SIG_DFL || present.sa_handler == SIG_IGN);
  if (!is_free) return EBUSY;
  struct sigaction ours {};
  ours.sa_sigaction = &OnSignal;
  // SA_RESTART is not set, so that a blocking call returns and its end is a check.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  return sigaction(signum, &ours, nullptr) == 0 ? 0 : EINVAL;
}

bool SendSignal(const RequestRecord& record, uint64_t generation, int signum) {
  siginfo_t info{};
  info.si_signo = signum;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_int = static_cast<int>(static_cast<uint32_t>(generation));
  const int thread_id = record.thread_id.load(std::memory_order_acquire);
  if (thread_id == 0) return false;
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread_id, signum, &info) == 0;
}

void TerminateAtCheck(RequestRecord* record, const void* caller) {
  if (record->armed == 0 || !record->running()) return;
  if (!MayBeTaken(record, caller, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)))) return;
  record->depth = 1;
  record->generation.fetch_add(1, std::memory_order_relaxed);
  Take(record);
}

}  // namespace neptune::sert

using neptune::sert::accounting_record;
using neptune::sert::ClaimRecord;
using neptune::sert::own_record;
using neptune::sert::RequestRecord;
using neptune::sert::totals;

extern "C" {

void SERT_start() {
  RequestRecord* const record = ClaimRecord();
  if (record == nullptr) return;
  if (record->running()) {
    ++record->nested;
    return;
  }
  record->caught_exceptions = neptune::sert::Exceptions().caught;
  neptune::sert::AddOwn<uint64_t>(record->begun_count, 1);
  record->begun_ns.store(neptune::sert::NowNs(), std::memory_order_relaxed);
  accounting_record = record;
  neptune::sert::AddOwn<uint64_t>(record->generation, 1);
}

void SERT_end() {
  RequestRecord* const record = own_record;
  if (record == nullptr || !record->running()) return;
  if (record->nested > 0) {
    --record->nested;
    return;
  }
  // From here on the request has ended normally: a signal sees a region, and then another
  // generation.
  record->depth = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  neptune::sert::AddOwn<uint64_t>(record->generation, 1);
  accounting_record = nullptr;
  record->arena.End();
  neptune::sert::Forget(record);
  record->rollback = nullptr;
  record->depth = 0;
  neptune::sert::AddOwn<uint64_t>(record->done_count, 1);
}

void SERT_register_rollbackpoint(void* env) {
  RequestRecord* const record = ClaimRecord();
  if (record == nullptr) return;
  record->depth = record->depth + 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  record->rollback = static_cast<sigjmp_buf*>(env);
  // The caller's stack pointer; the stack pointer stays at or below it until the caller returns.
  record->rollback_frame = reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
  std::atomic_signal_fence(std::memory_order_seq_cst);
  record->depth = record->depth - 1;
}

void SERT_count_lost(unsigned count) { totals.lost.fetch_add(count, std::memory_order_relaxed); }

void SERT_check() {
  RequestRecord* const record = own_record;
  if (record != nullptr && record->armed != 0) {
    neptune::sert::TerminateAtCheck(record, __builtin_return_address(0));
  }
}

void SERT_begin_arena_only() {
  if (own_record != nullptr && own_record->running()) {
    own_record->arena_only = own_record->arena_only + 1;
  }
}

void SERT_end_arena_only() {
  RequestRecord* const record = own_record;
  if (record != nullptr && record->arena_only > 0) record->arena_only = record->arena_only - 1;
}

void SERT_begin_outside() {
  RequestRecord* const record = own_record;
  if (record == nullptr || !record->running()) return;
  record->outside = record->outside + 1;
  accounting_record = nullptr;
}

void SERT_end_outside() {
  RequestRecord* const record = own_record;
  if (record == nullptr || !record->running() || record->outside == 0) return;
  if (record->outside == 1) accounting_record = record;
  record->outside = record->outside - 1;
  if (record->armed != 0) neptune::sert::TerminateAtCheck(record, __builtin_return_address(0));
}

int SERT_add_code(const void* address) {
  const int error = neptune::sert::program_code.AddLibraryOf(address);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

void SERT_get_statistics(sert_statistics* statistics) {
  *statistics = {};
  statistics->requests = neptune::sert::CountRequests().begun;
  statistics->terminated = totals.terminated;
  statistics->terminated_between = totals.terminated_between;
  statistics->released_memory = totals.released_memory;
  statistics->released_descriptors = totals.released_descriptors;
  statistics->released_streams = totals.released_streams;
  statistics->released_directories = totals.released_directories;
  statistics->released_mappings = totals.released_mappings;
  statistics->released_processes = totals.released_processes;
  statistics->gone_rollback_points = totals.gone_rollback_points;
  statistics->memory_of_all = neptune::process_arena_region.taken_size();
  statistics->threshold_s = static_cast<double>(totals.threshold_ns.load()) * 1e-9;
  RequestRecord* const record = own_record;
  if (record == nullptr) return;
  statistics->taken_after_ns = record->taken_after_ns;
  if (!record->running()) return;
  statistics->held_memory = record->arena.held_size();
  statistics->held_objects = record->arena.live_count();
  statistics->held_descriptors = record->ledger.descriptors().size();
  statistics->held_streams = record->ledger.streams().size();
  statistics->held_directories = record->ledger.directories().size();
  statistics->held_mappings = record->ledger.mappings().size();
  statistics->held_processes = record->ledger.children().size();
  statistics->held_locks = record->lock_count;
  statistics->is_overdue = record->armed;
}

}  // extern "C"
