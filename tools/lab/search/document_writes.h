// A client that has documents added, replaced and removed over HTTP while a search is in use, and holds the search to
// what it acknowledged.
//
//   a write is due ─► POST or DELETE to a frontend ─► 200: acknowledged ─► some of them: every frontend is asked for its
//                          │                                                word again and again until it is found
//                          └─ anything else: again, at the next frontend
//   Verify: every frontend is asked for every word
//
// Threads: one caller; a loop of its own sends.
// Units: seconds.
// Errors: INVALID_ARGUMENT a frontend refuses a write as malformed.
// Limits: a write is given up after kWriteTimeMax; at most kWatchedMax acknowledged ones are watched at once.

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
// Within which an acknowledged write has to be found.
inline constexpr neptune::Duration kFindableGoal = std::chrono::seconds(2);

struct DocumentWritesOptions {
  // Of the frontends.
  std::vector<neptune::Endpoint> servers;
  // Writes a second; they are due as in a Poisson process.
  double rate = 10;
  uint64_t seed = 1;
  DocumentLedgerOptions ledger;
  // The text of a document but for its word.
  std::function<std::string(const DocumentWrite&)> text;
};

struct DocumentWriteFigures {
  double write_count = 0;
  double given_up_count = 0;
  double repeated_count = 0;
  // From when it was due to its acknowledgement.
  std::vector<double> acknowledged_s;
  // From its acknowledgement until each frontend gave the new document, or no longer the removed one.
  std::vector<double> findable_s;
};

struct VerifyFigures {
  double asked_count = 0;
  double lost_count = 0;     // words that are to be found, and were not
  double undead_count = 0;   // words that are not to be found, and were
  double unheard_count = 0;  // without an answer that counts
};

class DocumentWrites {
 public:
  static neptune::StatusOr<std::unique_ptr<DocumentWrites>> Make(DocumentWritesOptions options);
  ~DocumentWrites();

  // Writes are due from now on, until Finish.
  void Begin();
  // Waits until every write was acknowledged or given up, and what is watched was found.
  neptune::Status Finish();
  // What was measured. REQUIRES: Finish returned.
  const DocumentWriteFigures& figures() const { return figures_; }
  // Asks every frontend for every word, twice, past the cache, once all that was acknowledged has to be found. REQUIRES: the
  // same.
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

  // The loop's.
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
