#include "neptune/sert/code_ranges.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cerrno>

namespace neptune::sert {
namespace {

struct Search {
  uintptr_t address;  // 0: the program
  bool found = false;
  const ElfW(Phdr) * headers = nullptr;
  int header_count = 0;
  uintptr_t base = 0;
};

bool IsIn(const dl_phdr_info& library, uintptr_t address) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& header = library.dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    if (address - (library.dlpi_addr + header.p_vaddr) < header.p_memsz) return true;
  }
  return false;
}

// dl_iterate_phdr callback; the program is visited first.
int Look(dl_phdr_info* library, size_t, void* argument) {
  auto* const search = static_cast<Search*>(argument);
  if (search->address != 0 && !IsIn(*library, search->address)) return 0;
  search->found = true;
  search->headers = library->dlpi_phdr;
  search->header_count = library->dlpi_phnum;
  search->base = library->dlpi_addr;
  return 1;
}

}  // namespace

constinit CodeRanges program_code;
constinit CodeRanges library_code;
constinit CodeRanges stream_buffer_code;

int CodeRanges::Add(const void* begin, size_t size) {
  while (adding_.exchange(true, std::memory_order_acquire)) sched_yield();
  const size_t count = count_.load(std::memory_order_relaxed);
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const bool is_known =
      std::any_of(ranges_, ranges_ + count, [&](const Range& other) { return other.begin == at; });
  const bool has_room = count < kCodeRangeMax;
  if (!is_known && has_room) {
    ranges_[count] = {at, size};
    count_.store(count + 1, std::memory_order_release);
  }
  adding_.store(false, std::memory_order_release);
  return is_known || has_room ? 0 : ENOSPC;
}

int CodeRanges::AddWhatHas(const void* address) {
  Search search{.address = reinterpret_cast<uintptr_t>(address)};
  dl_iterate_phdr(&Look, &search);
  if (!search.found) return ENOENT;
  int error = 0;
  for (int i = 0; i < search.header_count; ++i) {
    const auto& header = search.headers[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const int added =
        Add(reinterpret_cast<const void*>(search.base + header.p_vaddr), header.p_memsz);
    if (added != 0) error = added;
  }
  return error;
}

int CodeRanges::AddLibraryOf(const void* address) {
  return address == nullptr ? ENOENT : AddWhatHas(address);
}

void FindCode() {
  program_code.AddProgram();
  library_code.AddLibraryOf(dlsym(RTLD_NEXT, "abort"));
  library_code.AddLibraryOf(reinterpret_cast<const void*>(getauxval(AT_BASE)));
  void* const allocate = dlsym(RTLD_NEXT, "_IO_file_doallocate");
  Dl_info library;
  void* symbol = nullptr;
  if (allocate != nullptr && dladdr1(allocate, &library, &symbol, RTLD_DL_SYMENT) != 0 &&
      symbol != nullptr) {
    stream_buffer_code.Add(allocate, static_cast<const ElfW(Sym)*>(symbol)->st_size);
  }
}

}  // namespace neptune::sert
