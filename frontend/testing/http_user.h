// One HTTP request over a stream of any world, for tests.
//
// Threads: made and used on one loop; `on_done` runs there.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "neptune/wire/http/http_message.h"
#include "neptune/wire/http/response_reader.h"
#include "neptune/world/loop.h"
#include "neptune/world/network.h"

namespace search::frontend {

class HttpUser final : private neptune::StreamHandler {
 public:
  // `on_done` is called once, with the response or the error. The loop outlives the user.
  using DoneHandler = absl::AnyInvocable<void(neptune::StatusOr<neptune::HttpResponse>)>;
  HttpUser(neptune::Loop& loop, DoneHandler on_done) : loop_(loop), on_done_(std::move(on_done)) {}

  void Send(const neptune::Endpoint& to, std::string_view method, std::string_view target,
            const neptune::HttpHeaders& headers);

 private:
  void OnData(std::string_view bytes) override;
  void OnClosed(const neptune::Status& reason) override;
  void Finish(neptune::StatusOr<neptune::HttpResponse> response);

  neptune::Loop& loop_;
  DoneHandler on_done_;
  std::unique_ptr<neptune::Stream> stream_;
  neptune::HttpResponseReader reader_;
};

}  // namespace search::frontend
