#include "neptune/wire/http/short_answers.h"

#include <utility>

#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/problem.h"
#include "neptune/wire/http/request_glance.h"

namespace neptune {
namespace {

void AppendRefusal(HttpServerCore* core, TimePoint now, std::string* out) {
  HttpResponse refusal = NoMemoryForResponse();
  if (core->options.security_headers) AddSecurityHeaders(&refusal);
  *out +=
      MoveHttpResponse(std::move(refusal), {.head = core->glance.is_head}, core->Date(now)).first;
}

// Appends the answer to the request of core->glance; false: it goes the ordinary way.
bool AppendAnswer(HttpServerCore* core, TimePoint now, std::string* out) {
  const size_t before = out->size();
  AppendHttpStart(200, core->Date(now), out);
  if (core->options.short_way->Answer(core->glance, out)) return true;
  out->resize(before);
  return false;
}

}  // namespace

ShortAnswers AnswerShort(std::string_view bytes, const Endpoint& peer, size_t unsent_size,
                         HttpMemory* memory, HttpServerCore* core) {
  ShortAnswers answers{.received = core->loop.Now()};
  core->glance.peer = peer;
  core->glance.received = answers.received;
  std::string& out = answers.bytes;
  while (answers.answered_count + answers.refused_count < kShortAnswersMax) {
    const size_t size =
        GlanceAt(bytes.substr(answers.request_size), core->options.reader, &core->glance);
    const size_t before = out.size();
    if (size == 0 || !AppendAnswer(core, answers.received, &out)) break;
    answers.request_size += size;
    if (memory->Send(out.size() - before, unsent_size + before)) {
      ++answers.answered_count;
    } else {
      out.resize(before);
      AppendRefusal(core, answers.received, &out);
      ++answers.refused_count;
    }
    if (unsent_size + out.size() > core->options.unsent_size_max) break;
  }
  return answers;
}

HttpResponse NoMemoryForResponse() {
  return ProblemResponse(ResourceExhausted("the server has no memory for the response now"));
}

}  // namespace neptune
