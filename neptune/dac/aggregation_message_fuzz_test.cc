// Any bytes: a task or answer is refused, or encodes to bytes that mean the same.

#include <glog/logging.h>

#include <cstdint>
#include <string_view>

#include "neptune/dac/aggregation_message.h"

namespace neptune {
namespace {

void CheckTask(std::string_view bytes) {
  const auto task = DecodeTask(bytes);
  if (!task.ok()) return;
  CHECK_EQ(SubtreeLength(task->members), task->members.size());
  const auto again = DecodeTask(EncodeTask(task->plan, task->members));
  CHECK(again.ok() && again->plan == task->plan && again->members == task->members);
}

void CheckAnswer(std::string_view bytes) {
  const auto answer = DecodeAnswer(bytes);
  if (!answer.ok()) return;
  const auto again = DecodeAnswer(EncodeAnswer(*answer));
  CHECK(again.ok() && again->contributing == answer->contributing &&
        again->ended_early == answer->ended_early && again->records == answer->records &&
        again->result == answer->result);
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  neptune::CheckTask(bytes);
  neptune::CheckAnswer(bytes);
  return 0;
}
