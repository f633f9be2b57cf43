#include "neptune/sert/resource_ledger.h"

#include <sys/mman.h>

#include <algorithm>
#include <type_traits>

namespace neptune {

template <typename Entry>
LedgerList<Entry>::~LedgerList() {
  if (entries_ != inline_) munmap(entries_, capacity_ * sizeof(Entry));
}

template <typename Entry>
bool LedgerList<Entry>::Grow() {
  static_assert(std::is_trivially_copyable_v<Entry>);
  const size_t capacity = std::max<size_t>(2 * capacity_, 4096 / sizeof(Entry));
  if (capacity > kLedgerEntryMax) return false;
  void* const at = mmap(nullptr, capacity * sizeof(Entry), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  auto* const grown = static_cast<Entry*>(at);
  std::copy(begin(), end(), grown);
  if (entries_ != inline_) munmap(entries_, capacity_ * sizeof(Entry));
  entries_ = grown;
  capacity_ = capacity;
  return true;
}

template <typename Entry>
bool LedgerList<Entry>::Add(const Entry& entry) {
  if (size_ == capacity_ && !Grow()) return false;
  entries_[size_++] = entry;
  return true;
}

template <typename Entry>
bool LedgerList<Entry>::Remove(const Entry& entry) {
  for (size_t i = size_; i-- > 0;) {
    if (!(entries_[i] == entry)) continue;
    entries_[i] = entries_[--size_];
    return true;
  }
  return false;
}

template class LedgerList<int>;
template class LedgerList<void*>;
template class LedgerList<Mapping>;
template class LedgerList<PopenChild>;

void ResourceLedger::RemoveMapping(uintptr_t begin, size_t size) {
  const uintptr_t end = begin + size;
  for (size_t i = mappings_.size(); i-- > 0;) {
    const Mapping mapping = mappings_.begin()[i];
    if (mapping.end <= begin || end <= mapping.begin) continue;
    mappings_.Remove(mapping);
    if (mapping.begin < begin) Note(mappings_.Add({mapping.begin, begin}));
    if (end < mapping.end) Note(mappings_.Add({end, mapping.end}));
  }
}

void ResourceLedger::Clear() {
  descriptors_.Clear();
  streams_.Clear();
  directories_.Clear();
  mappings_.Clear();
  children_.Clear();
  unaccounted_ = 0;
}

}  // namespace neptune
