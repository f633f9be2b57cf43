// The body of the request that arrives at a connection: whether it is read, and what it is charged.
// Internal to http_server.
//
// Threads: the loop of its server only.

#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "neptune/wire/http/http_body_budget.h"
#include "neptune/wire/http/http_server_core.h"
#include "neptune/wire/http/request_reader.h"

namespace neptune {

class HttpConnection;

class HttpBodyArrival final : public HttpBodyGate {
 public:
  // What the connection knows about its client. `turned_away`: no body is read.
  struct Client {
    Endpoint peer;
    bool is_encrypted;
    bool turned_away;
  };
  HttpBodyArrival(HttpServerCore& core, const Client& client) : core_(core), client_(client) {}

  // `connection` learns of a refusal by HttpConnection::RefuseBody.
  void Start(std::weak_ptr<HttpConnection> connection) { connection_ = std::move(connection); }

  HttpBodyPermit Admit(HttpRequest* head) override;
  bool Hold(size_t size) override;

  bool IsRefused() const { return charge_ != nullptr && charge_->IsRefused(); }
  void Drop() { charge_.reset(); }
  // The request is complete: its handler keeps the charge, which is null for a small body. False:
  // the body was refused before.
  bool Finish(std::unique_ptr<HttpBodyCharge>* charge) {
    *charge = std::move(charge_);
    return *charge == nullptr || (*charge)->Finish();
  }

 private:
  HttpServerCore& core_;
  const Client client_;
  std::weak_ptr<HttpConnection> connection_;
  std::unique_ptr<HttpBodyCharge> charge_;  // null: little has arrived
};

}  // namespace neptune
