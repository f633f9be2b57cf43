#include "docserver/flat_file/page_residency.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace search::docserver::flat_file {
namespace {

constexpr size_t kPagesPerCall = 256;

}  // namespace

bool IsInMemory(std::string_view mapped) {
  static const auto page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (mapped.empty()) return true;
  const auto begin = reinterpret_cast<uintptr_t>(mapped.data());
  uintptr_t page = begin - begin % page_size;
  const uintptr_t end = begin + mapped.size();
  std::array<unsigned char, kPagesPerCall> pages;
  while (page < end) {
    const size_t count = std::min((end - page + page_size - 1) / page_size, kPagesPerCall);
    if (mincore(reinterpret_cast<void*>(page), count * page_size, pages.data()) != 0) return false;
    const auto is_absent = [](unsigned char state) { return (state & 1) == 0; };
    if (std::any_of(pages.begin(), pages.begin() + static_cast<ptrdiff_t>(count), is_absent)) {
      return false;
    }
    page += count * page_size;
  }
  return true;
}

}  // namespace search::docserver::flat_file
