// A server that immediately answers every HTTP request with the same bytes, to measure the limits
// of the load generator.
//
// Threads: its loop's own.
// Limits: requests without a body.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "neptune/world/loop.h"
#include "neptune/world/network.h"

namespace search::tools {

class NullServer {
 public:
  struct Options {
    int status = 200;
    std::string body;
    // Delay of each answer.
    neptune::Duration delay{0};
    // Number of answers after which a connection is closed; 0: never.
    int answers_per_connection = 0;
  };

  // REQUIRES: on the loop, here and when it is destroyed.
  static neptune::StatusOr<std::unique_ptr<NullServer>> Listen(neptune::Loop& loop,
                                                               const neptune::Endpoint& at,
                                                               const Options& options);
  ~NullServer();

  neptune::Endpoint local() const { return listener_->local(); }
  uint64_t answered_count() const { return answered_count_; }

 private:
  class Client;
  friend class Client;
  NullServer(neptune::Loop& loop, const Options& options);

  neptune::Loop& loop_;
  const Options options_;
  std::string answer_;
  std::unique_ptr<neptune::Listener> listener_;
  std::map<Client*, std::shared_ptr<Client>> clients_;
  uint64_t answered_count_ = 0;
};

}  // namespace search::tools
