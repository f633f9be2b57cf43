// Merges segments and prints the time and memory used: measure_merge RESULT_DIRECTORY DIRECTORY...

#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include "index/core/builder/segment_merger.h"

namespace {

int Fail(const neptune::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

int Run(const char* result, int count, char** folders) {
  std::vector<std::unique_ptr<search::index::Segment>> segments;
  std::vector<search::index::MergeInput> inputs;
  uint64_t size = 0;
  for (int i = 0; i < count; ++i) {
    auto segment = search::index::Segment::Open(folders[i]);
    if (!segment.ok()) return Fail(segment.status());
    size += (*segment)->size();
    segments.push_back(std::move(*segment));
    inputs.push_back({segments.back().get()});
  }
  const std::clock_t start = std::clock();
  const auto summary = search::index::MergeSegments(inputs, result);
  if (!summary.ok()) return Fail(summary.status());
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%llu documents, %llu postings, %llu words in %.2f s of processor time: %.0f MB/s\n",
              static_cast<unsigned long long>(summary->document_count),
              static_cast<unsigned long long>(summary->posting_count),
              static_cast<unsigned long long>(summary->token_count), seconds,
              static_cast<double>(size) / 1e6 / seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: measure_merge FOLDER_OF_RESULT FOLDER...\n");
    return 2;
  }
  return Run(argv[1], argc - 2, argv + 2);
}
