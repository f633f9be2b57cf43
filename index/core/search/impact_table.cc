#include "index/core/search/impact_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <new>

#include "index/core/segment/posting_cursor.h"

namespace search::index {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePageSize = size_t{2} << 20;

size_t Aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

// Lower bound of the count-th best impact, given the histogram of upper bytes.
Impact BestOf(const std::array<uint32_t, 256>& histogram, uint32_t count) {
  uint32_t found = 0;
  for (size_t byte = histogram.size(); byte-- > 0;) {
    found += histogram[byte];
    if (found >= count) return static_cast<Impact>(byte << 8);
  }
  return 0;
}

}  // namespace

class ImpactTable::Builder {
 public:
  Builder(const Segment& segment, const Scorer& scorer, ImpactTable* table)
      : segment_(segment), scorer_(scorer), table_(*table) {}

  void Build(size_t dense_size_max) {
    CollectTerms(dense_size_max);
    Allocate();
    table_.list_of_block_.assign(segment_.totals().block_count, 0);
    table_.posting_block_bounds_.assign(segment_.totals().block_count, 0);
    table_.lists_.reserve(terms_.size());
    for (const Term& term : terms_) AddList(term);
  }

 private:
  struct Term {
    TermEntry entry;
    bool is_dense = false;
  };

  size_t DenseSize() const {
    return table_.block_count_ * (sizeof(uint64_t) + sizeof(uint32_t) + sizeof(uint8_t));
  }

  void CollectTerms(size_t dense_size_max) {
    const uint64_t block_count = segment_.totals().block_count;
    TermCursor cursor(segment_.terms());
    std::vector<uint32_t> frequencies;
    while (cursor.Next()) {
      const TermEntry& entry = cursor.entry();
      // Block numbers outside the arrays are damage, which a search reports.
      if (entry.block_count() <= 1 || entry.first_block >= block_count ||
          entry.block_count() > block_count - entry.first_block) {
        continue;
      }
      const bool is_frequent =
          uint64_t{entry.document_frequency} * kDocumentBlockSize >= segment_.document_count();
      terms_.push_back({entry, is_frequent});
      if (is_frequent) frequencies.push_back(entry.document_frequency);
    }
    const size_t dense_count = dense_size_max / DenseSize();
    if (frequencies.size() <= dense_count) return;
    std::sort(frequencies.begin(), frequencies.end(), std::greater<>());
    for (Term& term : terms_) {
      term.is_dense = term.is_dense && term.entry.document_frequency > frequencies[dense_count];
    }
  }

  // Allocates one arena for all lists, in large pages, because queries jump between lists.
  void Allocate() {
    size_t size = 0;
    for (const Term& term : terms_) {
      size += ImpactsSize(term) + (term.is_dense ? DenseSize() : 0);
    }
    size = (size + kHugePageSize - 1) / kHugePageSize * kHugePageSize;
    if (size == 0) return;
    void* arena = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED) throw std::bad_alloc();
    ::madvise(arena, size, MADV_HUGEPAGE);
    table_.arena_ = arena;
    table_.arena_size_ = size;
    free_ = static_cast<char*>(arena);
  }

  static size_t ImpactsSize(const Term& term) {
    return Aligned((term.entry.document_frequency + kImpactPadding) * sizeof(Impact));
  }

  template <typename T>
  T* Take(size_t size) {
    T* taken = reinterpret_cast<T*>(free_);
    free_ += size;
    return taken;
  }

  void AddList(const Term& term) {
    PostingCursor cursor(segment_.postings(), term.entry, segment_.document_count());
    ImpactList list{.posting_count = term.entry.document_frequency};
    Impact* const impacts = Take<Impact>(ImpactsSize(term));
    list.impacts = impacts;
    uint64_t* documents = nullptr;
    uint8_t* maxima = nullptr;
    if (term.is_dense) {
      list.documents = documents = Take<uint64_t>(table_.block_count_ * sizeof(uint64_t));
      firsts_ = Take<uint32_t>(table_.block_count_ * sizeof(uint32_t));
      list.firsts = firsts_;
      list.maxima = maxima = Take<uint8_t>(table_.block_count_);
    }
    std::array<uint32_t, 256> histogram = {};
    for (uint32_t block = 0; block < cursor.block_count() && cursor.LoadBlock(block); ++block) {
      Impact* const block_impacts = impacts + block * kPostingBlockSize;
      const auto ordinals = cursor.block_ordinals();
      Impact block_max = 0;
      ScoreBlock(&cursor, block_impacts);
      for (size_t i = 0; i < ordinals.size(); ++i) {
        ++histogram[block_impacts[i] >> 8];
        block_max = std::max(block_max, block_impacts[i]);
      }
      for (size_t i = 0; term.is_dense && i < ordinals.size(); ++i) {
        const uint32_t at = ordinals[i] / kDocumentBlockSize;
        documents[at] |= uint64_t{1} << (ordinals[i] % kDocumentBlockSize);
        maxima[at] = std::max(maxima[at], ToImpactBound(block_impacts[i]));
      }
      table_.posting_block_bounds_[term.entry.first_block + block] = ToImpactBound(block_max);
      list.impact_max = std::max(list.impact_max, block_max);
    }
    if (cursor.damaged()) return;
    if (term.is_dense) NumberPostings(documents);
    for (size_t i = 0; i < kBestCounts.size(); ++i)
      list.best[i] = BestOf(histogram, kBestCounts[i]);
    table_.lists_.push_back(list);
    table_.list_of_block_[term.entry.first_block] = static_cast<uint32_t>(table_.lists_.size());
  }

  void ScoreBlock(PostingCursor* cursor, Impact* impacts) {
    const auto ordinals = cursor->block_ordinals();
    std::array<float, kPostingBlockSize> sums = {};
    for (size_t f = 0; f < kFieldCount; ++f) {
      const auto field = static_cast<Field>(f);
      const auto frequencies = cursor->block_frequencies(field);
      for (size_t i = 0; i < frequencies.size(); ++i) {
        sums[i] += static_cast<float>(frequencies[i]) *
                   scorer_.Norm(field, segment_.length_codes()[ordinals[i]]);
      }
    }
    for (size_t i = 0; i < ordinals.size(); ++i) impacts[i] = scorer_.ToImpact(sums[i]);
  }

  void NumberPostings(const uint64_t* documents) {
    uint32_t number = 0;
    for (size_t block = 0; block < table_.block_count_; ++block) {
      firsts_[block] = number;
      number += static_cast<uint32_t>(std::popcount(documents[block]));
    }
  }

  const Segment& segment_;
  const Scorer& scorer_;
  ImpactTable& table_;
  std::vector<Term> terms_;
  char* free_ = nullptr;
  uint32_t* firsts_ = nullptr;  // of the current list
};

ImpactTable::ImpactTable(const Segment& segment, const Scorer& scorer,
                         const ImpactTableOptions& options)
    : block_count_((segment.document_count() / kDocumentBlockSize / kDocumentBlockStride + 1) *
                   kDocumentBlockStride) {
  Builder(segment, scorer, this).Build(options.dense_size_max);
}

ImpactTable::~ImpactTable() {
  if (arena_ != nullptr) ::munmap(arena_, arena_size_);
}

}  // namespace search::index
