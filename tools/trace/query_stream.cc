#include "tools/trace/query_stream.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/trace/trace_record.h"

namespace search::tools {
namespace {

// The integral of x^-s from 1 to x, and its inverse.
double Integral(double x, double s) {
  const double log_x = std::log(x);
  const double a = (1 - s) * log_x;
  return std::abs(a) > 1e-8 ? std::expm1(a) / (1 - s) : log_x * (1 + a / 2);
}

double Inverse(double y, double s) {
  const double a = y * (1 - s);
  return std::abs(a) > 1e-8 ? std::exp(std::log1p(a) / (1 - s)) : std::exp(y * (1 - a / 2));
}

std::vector<std::string_view> WordsOf(std::string_view query) {
  std::vector<std::string_view> words;
  while (!query.empty()) {
    const size_t end = std::min(query.find(' '), query.size());
    if (end > 0) words.push_back(query.substr(0, end));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return words;
}

// std::shuffle may differ between libraries; this does not.
void Shuffle(std::vector<std::string>* list, neptune::RandomSource& random) {
  for (size_t i = list->size(); i > 1; --i) std::swap((*list)[i - 1], (*list)[random.Below(i)]);
}

}  // namespace

uint64_t DrawZipf(neptune::RandomSource& random, double exponent, uint64_t count) {
  const double s = exponent;
  const double low = Integral(1.5, s) - 1;
  const double high = Integral(static_cast<double>(count) + 0.5, s);
  const double squeeze = 2 - Inverse(Integral(2.5, s) - std::pow(2, -s), s);
  for (;;) {
    const double u = high + random.Uniform() * (low - high);
    const double x = Inverse(u, s);
    const double k = std::clamp(std::round(x), 1.0, static_cast<double>(count));
    if (k - x <= squeeze || u >= Integral(k + 0.5, s) - std::pow(k, -s)) {
      return static_cast<uint64_t>(k);
    }
  }
}

QueryStream::QueryStream(std::vector<std::string> queries, const TraceProfile& profile,
                         uint64_t seed)
    : random_(seed ^ 0x71756572),
      zipf_exponent_(profile.zipf_exponent()),
      repeat_share_(profile.has_repeat_share() ? profile.repeat_share() : -1) {
  for (std::string& query : queries) {
    if (known_.insert(query).second) list_.push_back(std::move(query));
  }
  Shuffle(&list_, random_);
}

const std::string& QueryStream::Next() {
  if (repeat_share_ < 0) return list_[DrawZipf(random_, zipf_exponent_, list_.size()) - 1];
  if (asked_.empty() || random_.Uniform() >= repeat_share_) return Fresh();
  return asked_[DrawZipf(random_, zipf_exponent_, asked_.size()) - 1];
}

const std::string& QueryStream::Fresh() {
  if (asked_.size() < list_.size()) {
    asked_.push_back(list_[asked_.size()]);
  } else {
    asked_.push_back(Compose());
    ++composed_count_;
  }
  return asked_.back();
}

// Some first words of one query and some last ones of another. Short lists have few such pairs;
// then a number makes the query a new one.
std::string QueryStream::Compose() {
  constexpr int kAttempts = 20;
  std::string query;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto first = WordsOf(list_[random_.Below(list_.size())]);
    const auto second = WordsOf(list_[random_.Below(list_.size())]);
    query.clear();
    for (size_t i = 0; i <= random_.Below(first.size()) && i < first.size(); ++i) {
      neptune::StrAppend(&query, query.empty() ? "" : " ", first[i]);
    }
    for (size_t i = random_.Below(second.size() + 1); i < second.size(); ++i) {
      neptune::StrAppend(&query, " ", second[i]);
    }
    query = CleanQuery(query);
    if (!query.empty() && known_.insert(query).second) return query;
  }
  for (;;) {
    std::string numbered = neptune::StrCat(query.substr(0, 64), " ", random_.Below(1'000'000'000));
    numbered = CleanQuery(numbered);
    if (known_.insert(numbered).second) return numbered;
  }
}

}  // namespace search::tools
