// Reorders the documents of a segment in memory and prints the cost and the savings:
// measure_reordering DIRECTORY [THREADS]

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <utility>

#include "index/core/reordering/forward_index.h"
#include "index/core/reordering/graph_bisection.h"

namespace {

using search::index::LogGapCost;

constexpr size_t kMemorySizeMax = size_t{1} << 30;

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int Run(const char* folder, int thread_count) {
  const auto segment = search::index::Segment::Open(folder);
  if (!segment.ok()) {
    std::fprintf(stderr, "%s\n", segment.status().ToString().c_str());
    return 1;
  }
  const double start = ProcessorSeconds();
  auto index = search::index::MakeForwardIndex(**segment, kMemorySizeMax);
  if (!index.ok()) {
    std::fprintf(stderr, "%s\n", index.status().ToString().c_str());
    return 1;
  }
  const double inverted = ProcessorSeconds();
  const auto order = search::index::ReorderDocuments(*index, {.thread_count = thread_count});
  const double reordered = ProcessorSeconds();
  std::vector<uint32_t> given(order.size());
  std::iota(given.begin(), given.end(), 0);
  const auto posting_count = static_cast<double>(index->terms.size());
  std::printf("%zu documents, %zu terms, %.0f postings\n", order.size(),
              static_cast<size_t>(index->term_count), posting_count);
  std::printf("processor seconds: forward index %.2f, reordering %.2f\n", inverted - start,
              reordered - inverted);
  std::printf("bits per gap: %.3f given, %.3f reordered\n",
              LogGapCost(*index, given) / posting_count, LogGapCost(*index, order) / posting_count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: measure_reordering FOLDER [THREADS]\n");
    return 2;
  }
  return Run(argv[1], argc == 3 ? std::atoi(argv[2]) : 1);
}
