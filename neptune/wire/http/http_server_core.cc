#include "neptune/wire/http/http_server_core.h"

#include <algorithm>

namespace neptune {

void HttpServerCore::NoteResponse(int status, Duration took) const {
  if (options.metrics == nullptr) return;
  options.metrics->responses[std::clamp(status / 100, 1, 5)]->Increment();
  options.metrics->duration->Record(took);
}

void HttpServerCore::NoteReadError() const {
  if (options.metrics != nullptr) options.metrics->read_errors->Increment();
}

void HttpServerCore::NoteTimeout() const {
  if (options.metrics != nullptr) options.metrics->timeouts->Increment();
}

void HttpServerCore::HandlerEnded() {
  --running_count;
  if (server != nullptr) server->CheckDrained();
}

}  // namespace neptune
