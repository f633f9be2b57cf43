#include "neptune/base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <set>
#include <thread>

namespace neptune {
namespace {

using testing::HasSubstr;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = text.find('\n', start);
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

// The family a sample line belongs to, given the families declared so far.
std::string FamilyOf(const std::string& sample_name, const std::set<std::string>& histograms) {
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (!sample_name.ends_with(suffix)) continue;
    const std::string stem = sample_name.substr(0, sample_name.size() - suffix.size());
    if (histograms.contains(stem)) return stem;
  }
  return sample_name;
}

// The format's grammar: HELP, TYPE, then samples of that family only; no line twice.
void ExpectGrammar(const std::string& text) {
  static const std::regex help(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (?:[^\\]|\\\\|\\n)*)");
  static const std::regex type(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram))");
  static const std::string pair = R"([a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\["\\n])*")";
  static const std::regex sample("([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{" + pair + "(?:," + pair +
                                 R"()*\})? (NaN|[+-]Inf|-?[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?))");
  ASSERT_TRUE(text.empty() || text.back() == '\n');
  std::set<std::string> families, histograms, series;
  std::string family;
  bool wants_type = false;
  for (const std::string& line : Lines(text)) {
    std::smatch match;
    if (std::regex_match(line, match, help)) {
      family = match[1];
      ASSERT_TRUE(families.insert(family).second) << line;
      ASSERT_FALSE(wants_type) << line;
      wants_type = true;
    } else if (std::regex_match(line, match, type)) {
      ASSERT_TRUE(wants_type && match[1] == family) << line;
      if (match[2] == "histogram") histograms.insert(family);
      wants_type = false;
    } else {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      ASSERT_FALSE(wants_type) << line;
      ASSERT_EQ(FamilyOf(match[1], histograms), family) << line;
      ASSERT_TRUE(series.insert(match[1].str() + match[2].str()).second) << line;
    }
  }
}

TEST(MetricsTest, TextShowsFamiliesAndSeriesInOrder) {
  MetricsRegistry registry;
  Gauge* const queue = *registry.AddGauge("queue_length", "Waiting requests.");
  Counter* const b = *registry.AddCounter("calls_total", "Calls.", {{"service", "b"}});
  Counter* const a = *registry.AddCounter("calls_total", "Calls.", {{"service", "a"}});
  queue->Set(2.5);
  a->Increment();
  b->Increment(18446744073709551614u);
  EXPECT_EQ(registry.Text(),
            "# HELP calls_total Calls.\n"
            "# TYPE calls_total counter\n"
            "calls_total{service=\"a\"} 1\n"
            "calls_total{service=\"b\"} 18446744073709551614\n"
            "# HELP queue_length Waiting requests.\n"
            "# TYPE queue_length gauge\n"
            "queue_length 2.5\n");
}

TEST(MetricsTest, ACounterMayBeKeptByItsOwner) {
  MetricsRegistry registry;
  double count = 7;
  StatusOr<CallbackGauge> series =
      registry.AddCallbackCounter("calls_total", "Calls.", {}, [&] { return count; });
  ASSERT_TRUE(series.ok()) << series.status();
  EXPECT_EQ(registry.Text(),
            "# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total 7\n");
  EXPECT_FALSE(registry.AddCallbackCounter("calls", "Calls.", {}, [] { return 0; }).ok());
  series->Remove();
  EXPECT_EQ(registry.Text(), "");
}

TEST(MetricsTest, HistogramShowsCumulativeBucketsInSeconds) {
  MetricsRegistry registry;
  HistogramMetricOptions options;
  options.bounds = {1'000'000, 20'000'000};
  HistogramMetric* const latency =
      *registry.AddHistogram("call_seconds", "Time of calls.", {{"class", "gold"}}, options);
  latency->Record(std::chrono::microseconds(500));
  latency->Record(std::chrono::milliseconds(10));
  latency->Record(std::chrono::milliseconds(10));
  latency->Record(std::chrono::seconds(1));
  EXPECT_EQ(registry.Text(),
            "# HELP call_seconds Time of calls.\n"
            "# TYPE call_seconds histogram\n"
            "call_seconds_bucket{class=\"gold\",le=\"0.001\"} 1\n"
            "call_seconds_bucket{class=\"gold\",le=\"0.02\"} 3\n"
            "call_seconds_bucket{class=\"gold\",le=\"+Inf\"} 4\n"
            "call_seconds_sum{class=\"gold\"} 1.0205\n"
            "call_seconds_count{class=\"gold\"} 4\n");
}

TEST(MetricsTest, DefaultBoundsReadAsShortNumbers) {
  MetricsRegistry registry;
  ASSERT_TRUE(registry.AddHistogram("call_seconds", "Time of calls.").ok());
  const std::string text = registry.Text();
  EXPECT_THAT(text, HasSubstr("{le=\"2e-05\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("{le=\"0.05\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("{le=\"10\"} 0\n"));
}

TEST(MetricsTest, TextOfHostileLabelsAndNumbersKeepsTheGrammar) {
  MetricsRegistry registry;
  const double numbers[] = {
      0, -1.5, 1e300, 5e-324, std::numeric_limits<double>::infinity(), -1e-7, std::nan("")};
  int i = 0;
  for (const std::string value : {"", "\"", "\\", "\n", "a\\nb", "},{", "\xC3\xA9"}) {
    Gauge* const gauge = *registry.AddGauge("g", "Quote \" back \\ line\nend.", {{"v", value}});
    gauge->Set(numbers[i++]);
    ASSERT_TRUE(registry.AddHistogram("h", "Histogram.", {{"v", value}}).ok());
  }
  const std::string text = registry.Text();
  ExpectGrammar(text);
  EXPECT_THAT(text, HasSubstr("# HELP g Quote \" back \\\\ line\\nend.\n"));
  EXPECT_THAT(text, HasSubstr("g{v=\"\\n\"} 5e-324\n"));
}

TEST(MetricsTest, CallbackGaugeIsReadWhenShownAndGoesWithItsOwner) {
  MetricsRegistry registry;
  double level = 3;
  {
    const CallbackGauge gauge =
        *registry.AddCallbackGauge("level", "Level.", {}, [&level] { return level; });
    level = 4;
    EXPECT_EQ(*registry.Value("level"), 4);
    EXPECT_THAT(registry.Text(), HasSubstr("\nlevel 4\n"));
  }
  EXPECT_EQ(registry.Text(), "");
  EXPECT_TRUE(registry.AddGauge("level", "Another.").ok());
}

TEST(MetricsTest, ValueReadsEachKind) {
  MetricsRegistry registry;
  (*registry.AddCounter("c_total", "C.", {{"a", "1"}, {"b", "2"}}))->Increment(3);
  (*registry.AddHistogram("h", "H."))->Record(7);
  EXPECT_EQ(*registry.Value("c_total", {{"b", "2"}, {"a", "1"}}), 3);
  EXPECT_EQ(*registry.Value("h"), 1);
  EXPECT_EQ(registry.Value("c_total").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(registry.Value("none").status().code(), StatusCode::kNotFound);
}

TEST(MetricsTest, DuplicateSeriesIsRefusedWhateverTheLabelOrder) {
  MetricsRegistry registry;
  ASSERT_TRUE(registry.AddGauge("g", "G.", {{"a", "1"}, {"b", "2"}}).ok());
  EXPECT_EQ(registry.AddGauge("g", "G.", {{"b", "2"}, {"a", "1"}}).status(),
            FailedPrecondition("add metric g: series {a=\"1\",b=\"2\"} exists"));
}

TEST(MetricsTest, SeriesUnlikeItsFamilyIsRefused) {
  MetricsRegistry registry;
  ASSERT_TRUE(registry.AddGauge("g", "G.", {{"a", "1"}}).ok());
  EXPECT_FALSE(registry.AddHistogram("g", "G.", {{"a", "2"}}).ok());
  EXPECT_FALSE(registry.AddGauge("g", "Other help.", {{"a", "2"}}).ok());
  EXPECT_FALSE(registry.AddGauge("g", "G.", {{"b", "2"}}).ok());
  EXPECT_TRUE(registry.AddGauge("g", "G.", {{"a", "2"}}).ok());
}

TEST(MetricsTest, BadNamesAndLabelsAreRefused) {
  MetricsRegistry registry;
  const auto code = [&](const char* name, const MetricLabels& labels) {
    return registry.AddGauge(name, "Help.", labels).status().code();
  };
  for (const char* name : {"", "1a", "a-b", "a b", "a\n", "calls_total"}) {
    EXPECT_EQ(code(name, {}), StatusCode::kInvalidArgument) << name;
  }
  for (const char* label : {"", "1", "a:b", "__name", "a b"}) {
    EXPECT_EQ(code("g", {{label, "v"}}), StatusCode::kInvalidArgument) << label;
  }
  EXPECT_EQ(code("g", {{"a", "1"}, {"a", "2"}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("g", {{"a", "\xC3"}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("g", {{"a", std::string(kLabelSizeMax + 1, 'x')}}), StatusCode::kInvalidArgument);
  EXPECT_FALSE(registry.AddCounter("calls", "No _total.").ok());
  EXPECT_FALSE(registry.AddHistogram("h", "H.", {{"le", "1"}}).ok());
  EXPECT_EQ(registry.Text(), "");
}

TEST(MetricsTest, NamesOfHistogramLinesAreTaken) {
  MetricsRegistry registry;
  ASSERT_TRUE(registry.AddHistogram("h", "H.").ok());
  ASSERT_TRUE(registry.AddGauge("x_sum", "X.").ok());
  EXPECT_EQ(registry.AddGauge("h_count", "H.").status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(registry.AddHistogram("x", "X.").status().code(), StatusCode::kFailedPrecondition);
}

TEST(MetricsTest, BadBoundsAreRefused) {
  MetricsRegistry registry;
  HistogramMetricOptions options;
  options.bounds = {2, 2};
  EXPECT_FALSE(registry.AddHistogram("h", "H.", {}, options).ok());
  options.bounds.assign(kHistogramBoundCountMax + 1, 0);
  for (size_t i = 0; i < options.bounds.size(); ++i) options.bounds[i] = i;
  EXPECT_FALSE(registry.AddHistogram("h", "H.", {}, options).ok());
}

TEST(MetricsTest, SeriesOfAFamilyAreBounded) {
  MetricsRegistry registry;
  for (size_t i = 0; i < kSeriesCountMax; ++i) {
    ASSERT_TRUE(registry.AddGauge("g", "G.", {{"i", StrCat(i)}}).ok());
  }
  EXPECT_EQ(registry.AddGauge("g", "G.", {{"i", "one more"}}).status().code(),
            StatusCode::kResourceExhausted);
}

TEST(MetricsTest, ConcurrentIncrementsAreAllCounted) {
  MetricsRegistry registry;
  Counter* const counter = *registry.AddCounter("c_total", "C.");
  Gauge* const gauge = *registry.AddGauge("g", "G.");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        counter->Increment();
        gauge->Add(1);
        if (i % 1000 == 0) ExpectGrammar(registry.Text());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter->value(), 40'000u);
  EXPECT_EQ(gauge->value(), 40'000);
}

TEST(MetricsTest, CountersThatShareMemoryCountApart) {
  MetricsRegistry registry;
  std::vector<Counter*> counters;
  for (uint64_t i = 0; i < 200; ++i) {
    counters.push_back(*registry.AddCounter("c_total", "C.", {{"i", StrCat(i)}}));
    counters.back()->Increment(i);
  }
  std::thread([&] {
    for (Counter* const counter : counters) counter->Increment();
  }).join();
  for (uint64_t i = 0; i < counters.size(); ++i) EXPECT_EQ(counters[i]->value(), i + 1) << i;
}

TEST(MetricsTest, ACounterMayBelongToNoRegistry) {
  Counter counter;
  counter.Increment(3);
  EXPECT_EQ(counter.value(), 3u);
}

}  // namespace
}  // namespace neptune
