// A service's data on a simulated disk, and a model of them, for the tests of StoreState.
//
// Threads: the test's.

#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_storage.h"

namespace neptune::store_state_testing {

using Contents = std::map<std::string, std::string>;

// The service: a request is "KEY VALUE".
inline std::pair<std::string, std::string> Parse(std::string_view request) {
  const size_t space = request.find(' ');
  return {std::string(request.substr(0, space)), std::string(request.substr(space + 1))};
}

inline std::map<MethodName, WriteFunction> Writes() {
  std::map<MethodName, WriteFunction> writes;
  // Answers with the number of calls for the key, which reveals duplicate executions.
  writes[MethodName("Append")] = [](const WriteContext& context, std::string_view request,
                                    std::string* response) -> Status {
    const auto [key, value] = Parse(request);
    NEPTUNE_ASSIGN_OR_RETURN(const auto before, context.store.Get(key));
    const std::string after = before.value_or("") + value;
    context.changes.Put(key, after);
    *response = StrCat(after.size(), " at ", context.lsn);
    return OkStatus();
  };
  writes[MethodName("Erase")] = [](const WriteContext& context, std::string_view request,
                                   std::string*) {
    const auto [first, end] = Parse(request);
    context.changes.DeleteRange(first, end);
    return OkStatus();
  };
  // Makes a change, and then returns an error.
  writes[MethodName("Refuse")] = [](const WriteContext& context, std::string_view request,
                                    std::string* response) {
    context.changes.Put("refused", request);
    *response = "never given";
    return Status(StatusCode::kFailedPrecondition,
                  absl::string_view(request.data(), request.size()));
  };
  writes[MethodName("Large")] = [](const WriteContext& context, std::string_view request,
                                   std::string* response) {
    context.changes.Put(std::string(request.size(), 'k'), "v");
    *response = std::string(kAnswerSizeMax + 1, 'r');
    return OkStatus();
  };
  return writes;
}

inline LogEntry Entry(Lsn lsn, std::string method, std::string payload, RequestId id = {}) {
  return {.lsn = lsn,
          .epoch = 1,
          .method = MethodName(std::move(method)),
          .request_id = id,
          .payload = std::move(payload)};
}

// Model of the state.
class Model {
 public:
  WriteOutcome Apply(const LogEntry& entry) {
    for (const auto& [id, lsn, outcome] : answers_) {
      const bool is_remembered = lsn + kAnswersKept > entry.lsn;
      if (id.given() && id == entry.request_id && is_remembered) return outcome;
    }
    const WriteOutcome outcome = Execute(entry);
    answers_.push_front({entry.request_id, entry.lsn, outcome});
    return outcome;
  }
  const Contents& contents() const { return contents_; }

 private:
  struct Answered {
    RequestId id;
    Lsn lsn;
    WriteOutcome outcome;
  };

  WriteOutcome Execute(const LogEntry& entry) {
    const auto [key, value] = Parse(entry.payload);
    if (entry.method.value() == "Append") {
      contents_[key] += value;
      return {OkStatus(), StrCat(contents_[key].size(), " at ", entry.lsn)};
    }
    if (entry.method.value() == "Refuse") return {FailedPrecondition(entry.payload), ""};
    std::erase_if(contents_, [&, &k = key, &v = value](const auto& pair) {
      return pair.first >= k && pair.first < v;
    });
    return {};
  }

  Contents contents_;
  std::deque<Answered> answers_;  // the newest first
};

// Gaps between LSNs represent entries that are not writes; occasionally a client resubmits a write.
class RandomWrites {
 public:
  explicit RandomWrites(uint64_t seed) : random_(seed) {}

  LogEntry Next() {
    lsn_ += 1 + (random_.Below(4) == 0 ? random_.Below(kAnswersKept / 4) : 0);
    if (!entries_.empty() && random_.Below(3) == 0) {
      LogEntry again = entries_[random_.Below(entries_.size())];
      again.lsn = lsn_;
      return again;
    }
    RequestId id;
    if (random_.Below(5) > 0) id = {1 + random_.Below(3), ++number_};
    entries_.push_back(Entry(lsn_, Method(), Payload(), id));
    return entries_.back();
  }
  RandomSource& random() { return random_; }

 private:
  std::string Method() {
    switch (random_.Below(6)) {
      case 0:
        return "Refuse";
      case 1:
        return "Erase";
      default:
        return "Append";
    }
  }
  std::string Payload() { return StrCat("k", random_.Below(9), " k", random_.Below(9)); }

  RandomSource random_;
  Lsn lsn_ = 0;
  uint64_t number_ = 0;
  std::vector<LogEntry> entries_;
};

inline Contents ContentsOf(const StoreState& state) {
  Contents contents;
  const Status status = state.view().Scan({}, [&](std::string_view key, std::string_view value) {
    contents.emplace(key, value);
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return contents;
}

class StoreStateTest : public testing::Test {
 protected:
  std::unique_ptr<StoreState> Open(std::string_view name) {
    auto state = StoreState::Open(*storage_.Open(name), {.writes = Writes()});
    EXPECT_TRUE(state.ok()) << state.status();
    return *std::move(state);
  }
  void Reopen() {
    state_.reset();
    state_ = Open("data");
  }
  void Crash(RandomSource& random) {
    storage_.Crash(random);
    Reopen();
  }
  void StartOver() {
    state_.reset();
    ASSERT_TRUE(storage_.Destroy("data").ok());
    Reopen();
  }
  WriteOutcome Apply(const LogEntry& entry) {
    const StatusOr<WriteOutcome> outcome = state_->Apply(entry);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? *outcome : WriteOutcome();
  }
  // Executes writes [begin, end) of the log, or the first of them, as a run.
  std::vector<WriteOutcome> ApplyRun(const std::vector<LogEntry>& log, size_t begin, size_t end) {
    std::vector<const LogEntry*> run;
    for (size_t i = begin; i < end; ++i) run.push_back(&log[i]);
    StatusOr<std::vector<WriteOutcome>> outcomes = state_->ApplyRun(run, nullptr);
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    return outcomes.ok() ? *std::move(outcomes) : std::vector<WriteOutcome>(end - begin);
  }
  // All keys and values of a store that is not open.
  Contents StoredIn(std::string_view name) {
    Contents contents;
    const Status status = (*storage_.Open(name))->Scan({}, [&](auto key, auto value) {
      contents.emplace(key, value);
      return true;
    });
    EXPECT_TRUE(status.ok()) << status;
    return contents;
  }

  SimStorage storage_;
  std::unique_ptr<StoreState> state_ = Open("data");
};

}  // namespace neptune::store_state_testing
