#include "neptune/base/shared_writes.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

#include "absl/debugging/symbolize.h"
#include "neptune/base/notification.h"
#include "neptune/base/strings.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NEPTUNE_WATCHES_WRITES 1
#endif

namespace neptune {
namespace {

constexpr uintptr_t kPageSize = 4096;
constexpr int64_t kTrapFlag = 0x100;  // of the processor: trap after the next instruction
constexpr size_t kAlignmentMin = 16;
constexpr size_t kChunkSize = 64 << 10;

// One pair of a line and a thread.
struct Record {
  std::atomic<uint64_t> key{0};  // line number in the arena and thread; 0: unused
  std::atomic<uint64_t> count{0};
  std::atomic<uintptr_t> instruction{0};
};

// Set up before main by the first allocation that is kept; never destroyed.
struct Arena {
  std::atomic<uintptr_t> begin{0};
  std::atomic<size_t> used{0};
  std::atomic<bool> keeps{false};
  std::atomic<bool> watches{false};
};
Arena arena;
std::array<Record, SharedWrites::kRecordCountMax> records;

// Pages that the instruction at hand of this thread may write.
struct OpenPages {
  std::array<uintptr_t, 8> pages;
  size_t count;
};
__attribute__((tls_model("initial-exec"))) thread_local OpenPages open_pages{};

bool IsKept(uintptr_t at) {
  const uintptr_t begin = arena.begin.load(std::memory_order_relaxed);
  return begin != 0 && at >= begin && at < begin + SharedWrites::kWatchedSizeMax;
}

// What a thread allocates from, as malloc has an arena for each thread: what two threads allocate
// does not share a line by chance.
struct Chunk {
  uintptr_t at;
  uintptr_t end;
};
__attribute__((tls_model("initial-exec"))) thread_local Chunk chunk{};

uintptr_t RoundUp(uintptr_t at, size_t alignment) {
  return (at + alignment - 1) / alignment * alignment;
}

// Null: the allocation is an ordinary one.
void* Keep(size_t size, size_t alignment) {
  if (!arena.keeps.load(std::memory_order_relaxed)) return nullptr;
  if (size > SharedWrites::kAllocationSizeMax || alignment > kPageSize) return nullptr;
  uintptr_t at = RoundUp(chunk.at, alignment);
  if (at + size > chunk.end) {
    const size_t used = arena.used.fetch_add(kChunkSize, std::memory_order_relaxed);
    if (used + kChunkSize > SharedWrites::kWatchedSizeMax) return nullptr;
    at = arena.begin.load(std::memory_order_relaxed) + used;
    chunk.end = at + kChunkSize;
  }
  chunk.at = at + RoundUp(std::max<size_t>(size, 1), kAlignmentMin);
  return reinterpret_cast<void*>(at);
}

[[maybe_unused]] void* Allocate(size_t size, size_t alignment) {
  if (void* const kept = Keep(size, alignment)) return kept;
  void* const made = alignment <= kAlignmentMin
                         ? std::malloc(size)
                         : std::aligned_alloc(alignment, RoundUp(size, alignment));
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

[[maybe_unused]] void Free(void* at) {
  if (!IsKept(reinterpret_cast<uintptr_t>(at))) std::free(at);
}

void Count(uintptr_t at, uintptr_t instruction) {
  const uint64_t line = (at - arena.begin.load()) / SharedWrites::kLineSize + 1;
  const uint64_t key = line << 32 | static_cast<uint32_t>(syscall(SYS_gettid));
  for (size_t i = 0; i < records.size(); ++i) {
    Record& record = records[(key * 0x9e3779b97f4a7c15 >> 40) + i & (records.size() - 1)];
    uint64_t present = 0;
    if (record.key.compare_exchange_strong(present, key) || present == key) {
      record.count.fetch_add(1);
      record.instruction.store(instruction);
      return;
    }
  }
}

#ifdef NEPTUNE_WATCHES_WRITES

void OnWrite(int signal, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  if (!IsKept(at) || open_pages.count == open_pages.pages.size()) {
    std::signal(signal, SIG_DFL);  // the instruction is tried again, and ends the program
    return;
  }
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (arena.watches.load()) Count(at, static_cast<uintptr_t>(registers[REG_RIP]));
  const uintptr_t page = at / kPageSize * kPageSize;
  open_pages.pages[open_pages.count++] = page;
  mprotect(reinterpret_cast<void*>(page), kPageSize, PROT_READ | PROT_WRITE);
  registers[REG_EFL] |= kTrapFlag;
}

void OnInstructionEnd(int, siginfo_t*, void* context) {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  while (open_pages.count > 0) {
    const uintptr_t page = open_pages.pages[--open_pages.count];
    if (arena.watches.load()) mprotect(reinterpret_cast<void*>(page), kPageSize, PROT_READ);
  }
}

void Handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

#endif

size_t UsedPagesSize() { return std::min(arena.used.load(), SharedWrites::kWatchedSizeMax); }

}  // namespace

#ifdef NEPTUNE_WATCHES_WRITES

bool SharedWrites::IsSupported() { return true; }

void SharedWrites::KeepAllocations(bool on) {
  if (arena.begin.load() == 0) {
    void* const memory = mmap(nullptr, kWatchedSizeMax, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    arena.begin = reinterpret_cast<uintptr_t>(memory);
  }
  arena.keeps = on;
}

void SharedWrites::AdmitThisThread() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGSEGV);
  sigaddset(&signals, SIGTRAP);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void SharedWrites::Watch(const std::function<void()>& work) {
  for (Record& record : records) {
    record.key = 0;
    record.count = 0;
  }
  Handle(SIGSEGV, &OnWrite);
  Handle(SIGTRAP, &OnInstructionEnd);
  void* const begin = reinterpret_cast<void*>(arena.begin.load());
  arena.watches = true;
  mprotect(begin, UsedPagesSize(), PROT_READ);
  work();
  arena.watches = false;
  mprotect(begin, UsedPagesSize(), PROT_READ | PROT_WRITE);
}

#else

bool SharedWrites::IsSupported() { return false; }
void SharedWrites::KeepAllocations(bool) {}
void SharedWrites::AdmitThisThread() {}
void SharedWrites::Watch(const std::function<void()>& work) { work(); }

#endif

std::vector<SharedWrites::Line> SharedWrites::WrittenByAtLeast(size_t thread_count,
                                                               uint64_t write_count) {
  std::map<uintptr_t, Line> by_address;
  for (const Record& record : records) {
    if (record.count.load() < write_count || record.key.load() == 0) continue;
    const uintptr_t address = arena.begin.load() + ((record.key.load() >> 32) - 1) * kLineSize;
    Line& line = by_address[address];
    line.address = address;
    line.write_count[static_cast<int>(record.key.load() & UINT32_MAX)] = record.count.load();
    std::array<char, 256> name{};
    if (absl::Symbolize(reinterpret_cast<void*>(record.instruction.load()), name.data(),
                        name.size())) {
      line.writer = name.data();
    }
  }
  std::vector<Line> lines;
  for (auto& [address, line] : by_address) {
    if (line.write_count.size() >= thread_count) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<SharedWrites::Line> SharedWrites::SharedByTwoThreads(const std::function<void()>& work,
                                                                 uint64_t rounds) {
  std::array<Notification, 2> warm;
  std::array<Notification, 2> go;
  std::array<Notification, 2> done;
  Notification end;  // a thread that ends writes, too
  std::vector<std::thread> threads;
  KeepAllocations(true);
  for (size_t i = 0; i < warm.size(); ++i) {
    threads.emplace_back([&, i] {
      work();
      warm[i].Notify();
      go[i].WaitForNotification();
      for (uint64_t round = 0; round < rounds; ++round) work();
      done[i].Notify();
      end.WaitForNotification();
    });
    warm[i].WaitForNotification();
  }
  KeepAllocations(false);
  Watch([&] {
    for (size_t i = 0; i < go.size(); ++i) {
      go[i].Notify();
      done[i].WaitForNotification();
    }
  });
  end.Notify();
  for (std::thread& thread : threads) thread.join();
  return WrittenByAtLeast(2, rounds);
}

std::string SharedWrites::Describe(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) {
    StrAppend(&text, "line ", line.address, ":");
    for (const auto& [thread, count] : line.write_count) {
      StrAppend(&text, " thread ", thread, " wrote ", count, " times;");
    }
    StrAppend(&text, " in ", line.writer, "\n");
  }
  return text;
}

}  // namespace neptune

#ifdef NEPTUNE_WATCHES_WRITES

// The whole program's memory passes here.
void* operator new(size_t size) { return neptune::Allocate(size, neptune::kAlignmentMin); }
void* operator new[](size_t size) { return neptune::Allocate(size, neptune::kAlignmentMin); }
void* operator new(size_t size, std::align_val_t alignment) {
  return neptune::Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return neptune::Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* at) noexcept { neptune::Free(at); }
void operator delete[](void* at) noexcept { neptune::Free(at); }
void operator delete(void* at, size_t) noexcept { neptune::Free(at); }
void operator delete[](void* at, size_t) noexcept { neptune::Free(at); }
void operator delete(void* at, std::align_val_t) noexcept { neptune::Free(at); }
void operator delete[](void* at, std::align_val_t) noexcept { neptune::Free(at); }
void operator delete(void* at, size_t, std::align_val_t) noexcept { neptune::Free(at); }
void operator delete[](void* at, size_t, std::align_val_t) noexcept { neptune::Free(at); }

#endif
