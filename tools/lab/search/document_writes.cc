#include "tools/lab/search/document_writes.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/world/real/real_world.h"
#include "tools/search/answer_reader.h"

namespace search::lab {
namespace {

using neptune::FromSeconds;
using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr neptune::Duration kPatience = seconds(2);
constexpr neptune::Duration kPauseAfterFailure = milliseconds(50);
constexpr neptune::Duration kWatchInterval = milliseconds(50);
// Limit of the search for a write; Verify reports those that are never found.
constexpr neptune::Duration kWatchTimeMax = seconds(10);
constexpr int kAsksOfAWord = 2;  // of each frontend
constexpr int kTriesOfAnAsk = 20;
constexpr int kVerifiedAtOnce = 8;

std::string TitleOf(const DocumentWrite& write) { return "Document " + write.word; }

tools::HttpExchange ExchangeOf(const DocumentWrite& write, const std::string& text) {
  if (write.removes) {
    return {.method = "DELETE", .target = StrCat("/documents/", write.doc_id)};
  }
  nlohmann::json document = {{"url", write.url}, {"title", TitleOf(write)}, {"text", text}};
  if (!write.is_new) document["id"] = std::to_string(write.doc_id);
  return {.method = "POST",
          .target = "/documents",
          .headers = {{"Content-Type", "application/json"}},
          .body = document.dump()};
}

tools::HttpExchange QuestionOf(const std::string& word, bool may_use_cache) {
  tools::HttpExchange question{.target = "/search?format=json&spell=0&q=" + word};
  if (!may_use_cache) question.headers.Set("Cache-Control", "no-cache");
  return question;
}

// Outdated: the word was found, but the result shows another document, or none.
enum class Finding { kNothing, kAbsent, kOutdated, kFound };

// The information of an answer about a word; none if a partition is missing.
Finding FindingOf(const StatusOr<HttpResponse>& response, const std::string& word) {
  if (!response.ok() || response->status != 200) return Finding::kNothing;
  const auto answer = tools::ReadAnswer(response->body);
  if (!answer.ok() || !answer->coverage.complete()) return Finding::kNothing;
  if (answer->results.empty()) return Finding::kAbsent;
  return answer->results.front().title == "Document " + word ? Finding::kFound : Finding::kOutdated;
}

void Count(Finding finding, const Expectation& expectation, VerifyFigures* figures) {
  if (finding == Finding::kNothing) {
    ++figures->unheard_count;
  } else if (expectation.doc_id.has_value()) {
    figures->lost_count += finding != Finding::kFound;
  } else {
    figures->undead_count += finding != Finding::kAbsent;
  }
}

}  // namespace

struct DocumentWrites::Write {
  DocumentWrite write;
  tools::HttpExchange exchange;
  TimePoint due;
};

// Searches at one frontend for the effect of one acknowledged write.
struct DocumentWrites::Watch {
  std::shared_ptr<Write> write;
  std::string word;
  Finding awaited = Finding::kFound;
  neptune::Endpoint server;
  TimePoint acknowledged;
  std::shared_ptr<int> left;  // frontends that have not given it yet
};

struct DocumentWrites::Verification {
  struct Ask {
    Expectation expectation;
    neptune::Endpoint server;
    int tries = 0;
  };
  std::vector<Ask> asks;
  size_t next = 0;
  int running = kVerifiedAtOnce;
  VerifyFigures figures;
  neptune::Notification done;
};

StatusOr<std::unique_ptr<DocumentWrites>> DocumentWrites::Make(DocumentWritesOptions options) {
  std::unique_ptr<DocumentWrites> writes(new DocumentWrites(std::move(options)));
  writes->world_ = neptune::MakeRealWorld({});
  NEPTUNE_ASSIGN_OR_RETURN(writes->loop_, writes->world_->StartLoop({.name = "writes"}));
  writes->RunOnLoop(
      [&] { writes->fetcher_ = std::make_unique<tools::HttpFetcher>(*writes->loop_); });
  return writes;
}

DocumentWrites::~DocumentWrites() {
  if (loop_ == nullptr) return;
  RunOnLoop([this] {
    if (due_timer_ != 0) loop_->CancelTimer(due_timer_);
    fetcher_.reset();
  });
  world_->Stop();
}

void DocumentWrites::RunOnLoop(const std::function<void()>& body) {
  neptune::Notification done;
  loop_->Post([&] {
    body();
    done.Notify();
  });
  done.WaitForNotification();
}

void DocumentWrites::Begin() {
  loop_->Post([this] { Due(); });
}

Status DocumentWrites::Finish() {
  loop_->Post([this] {
    finishes_ = true;
    if (due_timer_ != 0) loop_->CancelTimer(std::exchange(due_timer_, 0));
    if (under_way_ == 0) finished_.Notify();
  });
  finished_.WaitForNotification();
  return status_;
}

void DocumentWrites::Due() {
  due_timer_ = 0;
  if (finishes_ || !status_.ok()) return;
  auto write = std::make_shared<Write>();
  write->write = ledger_.Next(random_);
  write->exchange = ExchangeOf(write->write, options_.text(write->write));
  write->due = loop_->Now();
  ++figures_.write_count;
  ++under_way_;
  Send(std::move(write));
  const double gap_s = random_.Exponential(1 / options_.rate);
  due_timer_ = loop_->RunAt(loop_->Now() + FromSeconds(gap_s), [this] { Due(); });
}

void DocumentWrites::Send(std::shared_ptr<Write> write) {
  const neptune::Endpoint& server = options_.servers[next_server_++ % options_.servers.size()];
  const tools::HttpExchange& exchange = write->exchange;
  fetcher_->Send(server, exchange, kPatience,
                 [this, write = std::move(write)](const StatusOr<HttpResponse>& answer) {
                   Answered(write, answer);
                 });
}

void DocumentWrites::Answered(std::shared_ptr<Write> write, const StatusOr<HttpResponse>& answer) {
  if (answer.ok() && answer->status == 200) return Acknowledged(write);
  if (answer.ok() && answer->status < 500 && answer->status != 429) {
    status_.Update(
        neptune::InvalidArgument("a write was answered with ", answer->status, ": ", answer->body));
  }
  if (!status_.ok() || loop_->Now() > write->due + kWriteTimeMax) {
    ledger_.GiveUp(write->write);
    ++figures_.given_up_count;
    return Ended();
  }
  ++figures_.repeated_count;
  loop_->RunAt(loop_->Now() + kPauseAfterFailure,
               [this, write = std::move(write)]() mutable { Send(std::move(write)); });
}

void DocumentWrites::Acknowledged(const std::shared_ptr<Write>& write) {
  figures_.acknowledged_s.push_back(neptune::ToSeconds(loop_->Now() - write->due));
  const bool can_be_watched = !write->write.removes || !write->write.word_before.empty();
  if (watched_ >= kWatchedMax || !can_be_watched) {
    ledger_.Acknowledge(write->write);
    return Ended();
  }
  ++watched_;
  const auto left = std::make_shared<int>(static_cast<int>(options_.servers.size()));
  for (const neptune::Endpoint& server : options_.servers) {
    const bool removes = write->write.removes;
    Ask(std::make_shared<Watch>(
        Watch{.write = write,
              .word = removes ? write->write.word_before : write->write.word,
              .awaited = removes ? Finding::kAbsent : Finding::kFound,
              .server = server,
              .acknowledged = loop_->Now(),
              .left = left}));
  }
}

void DocumentWrites::Ask(std::shared_ptr<Watch> watch) {
  const neptune::Endpoint server = watch->server;
  const tools::HttpExchange question = QuestionOf(watch->word, /*may_use_cache=*/true);
  fetcher_->Send(server, question, kPatience,
                 [this, watch = std::move(watch)](const StatusOr<HttpResponse>& answer) {
                   Heard(watch, answer);
                 });
}

void DocumentWrites::Heard(std::shared_ptr<Watch> watch, const StatusOr<HttpResponse>& answer) {
  const TimePoint now = loop_->Now();
  if (FindingOf(answer, watch->word) != watch->awaited &&
      now < watch->acknowledged + kWatchTimeMax) {
    loop_->RunAt(now + kWatchInterval,
                 [this, watch = std::move(watch)]() mutable { Ask(std::move(watch)); });
    return;
  }
  figures_.findable_s.push_back(neptune::ToSeconds(now - watch->acknowledged));
  if (--*watch->left > 0) return;
  --watched_;
  ledger_.Acknowledge(watch->write->write);
  Ended();
}

void DocumentWrites::Ended() {
  if (--under_way_ == 0 && finishes_) finished_.Notify();
}

VerifyFigures DocumentWrites::Verify() {
  auto verification = std::make_shared<Verification>();
  for (const Expectation& expectation : ledger_.Expectations()) {
    for (const neptune::Endpoint& server : options_.servers) {
      for (int i = 0; i < kAsksOfAWord; ++i) verification->asks.push_back({expectation, server});
    }
  }
  if (verification->asks.empty()) return {};
  loop_->Post([this, verification] {
    loop_->RunAt(loop_->Now() + kFindableGoal, [this, verification] {
      for (int i = 0; i < kVerifiedAtOnce; ++i) AskNext(verification);
    });
  });
  verification->done.WaitForNotification();
  return verification->figures;
}

// Several of these run concurrently; each ends when no search is left.
void DocumentWrites::AskNext(std::shared_ptr<Verification> verification) {
  if (verification->next == verification->asks.size()) {
    if (--verification->running == 0) verification->done.Notify();
    return;
  }
  const size_t number = verification->next++;
  ++verification->figures.asked_count;
  AskOne(std::move(verification), number);
}

void DocumentWrites::AskOne(std::shared_ptr<Verification> verification, size_t number) {
  const Verification::Ask& ask = verification->asks[number];
  const tools::HttpExchange question = QuestionOf(ask.expectation.word, /*may_use_cache=*/false);
  fetcher_->Send(ask.server, question, kPatience,
                 [this, verification, number](const StatusOr<HttpResponse>& answer) {
                   Verification::Ask& asked = verification->asks[number];
                   const Finding heard = FindingOf(answer, asked.expectation.word);
                   if (heard == Finding::kNothing && ++asked.tries < kTriesOfAnAsk) {
                     loop_->RunAt(loop_->Now() + kWatchInterval,
                                  [this, verification, number] { AskOne(verification, number); });
                     return;
                   }
                   Count(heard, asked.expectation, &verification->figures);
                   AskNext(verification);
                 });
}

}  // namespace search::lab
