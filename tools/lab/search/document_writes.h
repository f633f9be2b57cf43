// A client that adds, replaces and removes documents over HTTP while a search is in use, and checks
// that the search finds all acknowledged writes.
//
//   a write is due ─► POST or DELETE to a frontend ─► 200: acknowledged
//                          │                             ─► some are searched at every frontend
//                          │                                until their word is found
//                          └─ any other answer: retry at the next frontend
//   Verify: searches for every word at every frontend
//
// Threads: one caller; a separate event loop sends.
// Units: seconds.
// Errors: INVALID_ARGUMENT a frontend refuses a write as malformed.
// Limits: a write is given up after kWriteTimeMax; at most kWatchedMax acknowledged writes are
//   watched at the same time.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/base/status.h"
#include "neptune/world/random_source.h"
#include "neptune/world/world.h"
#include "tools/lab/search/document_ledger.h"
#include "tools/replay/http_fetcher.h"

namespace search::lab {

inline constexpr neptune::Duration kWriteTimeMax = std::chrono::seconds(15);
inline constexpr int kWatchedMax = 3;
// The time limit for finding an acknowledged write.
inline constexpr neptune::Duration kFindableGoal = std::chrono::seconds(2);

struct DocumentWritesOptions {
  // The endpoints of the frontends.
  std::vector<neptune::Endpoint> servers;
  // Poisson arrivals of writes a second.
  double rate = 10;
  uint64_t seed = 1;
  DocumentLedgerOptions ledger;
  // Returns the text of a document without its word.
  std::function<std::string(const DocumentWrite&)> text;
};

struct DocumentWriteFigures {
  double write_count = 0;
  double given_up_count = 0;
  double repeated_count = 0;
  // Times from when a write is due to its acknowledgement.
  std::vector<double> acknowledged_s;
  // Times from the acknowledgement until each frontend returned the new document, or no longer the
  // removed one.
  std::vector<double> findable_s;
};

struct VerifyFigures {
  double asked_count = 0;
  double lost_count = 0;     // words that must be found, and were not
  double undead_count = 0;   // words that must not be found, and were
  double unheard_count = 0;  // words without a valid answer
};

class DocumentWrites {
 public:
  static neptune::StatusOr<std::unique_ptr<DocumentWrites>> Make(DocumentWritesOptions options);
  ~DocumentWrites();

  // Starts the writes, which end with Finish.
  void Begin();
  // Waits until every write is acknowledged or given up, and every watched write is found.
  neptune::Status Finish();
  // The measured figures. REQUIRES: Finish returned.
  const DocumentWriteFigures& figures() const { return figures_; }
  // Searches for every word at every frontend, twice and without the cache, after the time limit
  // for finding acknowledged writes. REQUIRES: Finish returned.
  VerifyFigures Verify();

 private:
  struct Write;
  struct Watch;
  struct Verification;

  explicit DocumentWrites(DocumentWritesOptions options)
      : options_(std::move(options)), random_(options_.seed), ledger_(options_.ledger) {}

  void RunOnLoop(const std::function<void()>& body);
  void Due();
  void Send(std::shared_ptr<Write> write);
  void Answered(std::shared_ptr<Write> write,
                const neptune::StatusOr<neptune::HttpResponse>& answer);
  void Acknowledged(const std::shared_ptr<Write>& write);
  void Ask(std::shared_ptr<Watch> watch);
  void Heard(std::shared_ptr<Watch> watch, const neptune::StatusOr<neptune::HttpResponse>& answer);
  void Ended();
  void AskNext(std::shared_ptr<Verification> verification);
  void AskOne(std::shared_ptr<Verification> verification, size_t number);

  const DocumentWritesOptions options_;
  std::unique_ptr<neptune::World> world_;
  neptune::Loop* loop_ = nullptr;

  // Used on the loop only.
  neptune::RandomSource random_;
  DocumentLedger ledger_;
  std::unique_ptr<tools::HttpFetcher> fetcher_;
  neptune::TimerId due_timer_ = 0;
  size_t next_server_ = 0;
  int under_way_ = 0;
  int watched_ = 0;
  bool finishes_ = false;
  neptune::Status status_;
  DocumentWriteFigures figures_;
  neptune::Notification finished_;
};

}  // namespace search::lab
