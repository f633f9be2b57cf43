#include "tools/terminal/progress.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kTerminalInterval = kSecond / 5;
constexpr int64_t kLineInterval = 10 * kSecond;
constexpr int kBarWidth = 24;

std::string Span(double seconds) {
  const auto whole = static_cast<uint64_t>(std::ceil(seconds));
  if (whole < 60) return neptune::StrCat(whole, " s");
  if (whole < 3600) return neptune::StrCat(whole / 60, " min ", whole % 60, " s");
  return neptune::StrCat(whole / 3600, " h ", whole / 60 % 60, " min");
}

}  // namespace

int64_t MonotonicNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

std::string WithThousands(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string RenderProgress(const ProgressState& state, int bar_width) {
  std::string line(state.label);
  const double rate = state.elapsed_s > 0 ? state.done / state.elapsed_s : 0;
  if (state.total == 0) {
    neptune::StrAppend(&line, " ", WithThousands(state.done), " ", state.unit);
  } else {
    const double share = std::min(1.0, static_cast<double>(state.done) / state.total);
    if (bar_width > 0) {
      const int filled = static_cast<int>(share * bar_width);
      neptune::StrAppend(&line, " [", std::string(filled, '#'),
                         std::string(bar_width - filled, ' '), "]");
    }
    neptune::StrAppend(&line, " ", static_cast<int>(share * 100), " % ", WithThousands(state.done),
                       "/", WithThousands(state.total), " ", state.unit);
  }
  neptune::StrAppend(&line, ", ", WithThousands(static_cast<uint64_t>(rate)), "/s");
  if (state.total > state.done && rate > 0) {
    neptune::StrAppend(&line, ", ", Span((state.total - state.done) / rate), " left");
  } else {
    neptune::StrAppend(&line, ", ", Span(state.elapsed_s));
  }
  if (!state.note.empty()) neptune::StrAppend(&line, ", ", state.note);
  return line;
}

Progress::Progress(Options options)
    : options_(std::move(options)),
      terminal_(options_.out != nullptr && isatty(fileno(options_.out)) == 1),
      begin_(options_.clock ? options_.clock() : 0) {
  next_show_ = begin_ + (terminal_ ? kTerminalInterval : kLineInterval);
}

Progress::~Progress() { Finish(); }

void Progress::Add(uint64_t count) {
  done_.fetch_add(count, std::memory_order_relaxed);
  if (options_.out == nullptr || !options_.clock) return;
  const int64_t now = options_.clock();
  if (now < next_show_.load(std::memory_order_relaxed)) return;
  absl::MutexLock lock(&mutex_);
  if (finished_ || now < next_show_.load(std::memory_order_relaxed)) return;
  next_show_ = now + (terminal_ ? kTerminalInterval : kLineInterval);
  Show(now);
}

void Progress::Finish() {
  absl::MutexLock lock(&mutex_);
  if (finished_) return;
  finished_ = true;
  if (options_.out == nullptr || !options_.clock) return;
  Show(options_.clock());
  if (terminal_) fputc('\n', options_.out);
}

void Progress::Show(int64_t now) {
  const std::string note = options_.note ? options_.note() : std::string();
  const ProgressState state{.label = options_.label,
                            .unit = options_.unit,
                            .done = done_.load(std::memory_order_relaxed),
                            .total = options_.total,
                            .elapsed_s = static_cast<double>(now - begin_) / kSecond,
                            .note = note};
  const std::string line = RenderProgress(state, terminal_ ? kBarWidth : 0);
  fprintf(options_.out, terminal_ ? "\r%s\x1b[K" : "%s\n", line.c_str());
  fflush(options_.out);
}

}  // namespace search::tools
