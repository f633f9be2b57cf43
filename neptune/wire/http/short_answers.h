// Answers of the usual requests that arrived together, as one text. Internal to http_server.
//
//   bytes ─► GlanceAt ─► HttpShortWay ─► answer │ answer │ ...        one write for all of them
//              └ not recognised ──┴ not known: the rest goes the ordinary way
//
// Threads: the loop of its server only.
// Limits: kShortAnswersMax requests, and HttpServerOptions::unsent_size_max.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "neptune/wire/http/http_memory.h"
#include "neptune/wire/http/http_server_core.h"

namespace neptune {

// Requests answered before the loop's other connections get a turn.
inline constexpr int kShortAnswersMax = 32;

struct ShortAnswers {
  std::string bytes;        // to be sent
  size_t request_size = 0;  // bytes of the requests that they answer
  TimePoint received;
  int answered_count = 0;
  int refused_count = 0;  // 503, for lack of memory

  bool empty() const { return answered_count + refused_count == 0; }
};

// `unsent_size`: bytes of earlier answers that the client has not taken.
ShortAnswers AnswerShort(std::string_view bytes, const Endpoint& peer, size_t unsent_size,
                         HttpMemory* memory, HttpServerCore* core);

// The answer instead of one that finds no memory.
HttpResponse NoMemoryForResponse();

}  // namespace neptune
