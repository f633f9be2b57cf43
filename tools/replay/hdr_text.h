// Writes latency histograms in the formats of the HdrHistogram tools.
//
//   percentile distribution (.hgrm): the text that its plotter draws
//   interval log, version 1.3 (.hlog): one compressed histogram (V2 encoding) a line
//
// A Histogram with 10 bits of precision has the very buckets of an HdrHistogram with three
// significant digits and lowest value 1, so that counts are written unchanged.
//
// Source: HdrHistogram's documentation and file formats (public domain, G. Tene).
// Threads: pure functions.
// Units: histograms in nanoseconds, text in milliseconds.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/histogram.h"

namespace search::tools {

std::string PercentileDistribution(const neptune::Histogram& histogram);

// Returns the compressed V2 encoding in Base64. REQUIRES: precision_bits 10.
std::string EncodeHdrHistogram(const neptune::Histogram& histogram);

class HdrIntervalLog {
 public:
  // `start_s`: start of the run in seconds since 1970.
  explicit HdrIntervalLog(double start_s);

  // Adds the values of one interval; `tag` may be empty. Times in seconds since the start.
  void Add(std::string_view tag, double begin_s, double length_s,
           const neptune::Histogram& histogram);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace search::tools
