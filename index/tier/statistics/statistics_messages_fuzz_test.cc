// Arbitrary bytes are refused, or are a page of changed terms that can be summed up.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/tier/statistics/statistics_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace search::index;
  const auto page = ReadPage({reinterpret_cast<const char*>(data), size});
  if (!page.ok()) return 0;
  ChangedTermsSum sum;
  if (!sum.Add(page->changed).ok()) std::abort();
  for (const auto& [key, frequency] : sum.Numbers().document_frequencies) {
    if (frequency == 0) std::abort();
  }
  return 0;
}
