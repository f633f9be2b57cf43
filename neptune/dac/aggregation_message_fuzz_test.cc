// Any bytes: a task, an answer, a reference or a datagram with a whole tree is refused, or encodes
// to bytes that mean the same.

#include <glog/logging.h>

#include <cstdint>
#include <string_view>

#include "neptune/dac/aggregation_message.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

FuzzPlace accepted_task("a task is accepted");
FuzzPlace accepted_answer("an answer is accepted");
FuzzPlace accepted_tree("a datagram with a tree is accepted");
FuzzPlace accepted_reference("a reference is accepted");

void CheckTask(std::string_view bytes) {
  const auto task = DecodeTask(bytes);
  if (!task.ok()) return;
  accepted_task.Reach();
  CHECK_EQ(SubtreeLength(task->members), task->members.size());
  const auto again = DecodeTask(EncodeTask(task->plan, task->members));
  CHECK(again.ok() && again->plan == task->plan && again->members == task->members);
}

void CheckAnswer(std::string_view bytes) {
  const auto answer = DecodeAnswer(bytes);
  if (!answer.ok()) return;
  accepted_answer.Reach();
  const auto again = DecodeAnswer(EncodeAnswer(*answer));
  CHECK(again.ok() && again->contributing == answer->contributing &&
        again->ended_early == answer->ended_early && again->records == answer->records &&
        again->result == answer->result);
}

void CheckDissemination(std::string_view bytes) {
  const auto tree = DecodeDissemination(bytes);
  if (!tree.ok()) return;
  accepted_tree.Reach();
  CHECK(IsDissemination(bytes));
  const auto encoded = EncodeDissemination(*tree);
  if (!encoded.ok()) {
    CHECK(encoded.status().code() == StatusCode::kResourceExhausted) << encoded.status();
    return;
  }
  const auto again = DecodeDissemination(*encoded);
  CHECK(again.ok() && again->service == tree->service && again->time_left == tree->time_left);
  CHECK(again->service_class == tree->service_class && again->task.plan == tree->task.plan);
  CHECK(again->task.members == tree->task.members);
}

void CheckReference(std::string_view bytes) {
  const auto reference = DecodeReference(bytes);
  if (!reference) return;
  accepted_reference.Reach();
  CHECK(EncodeReference(*reference) == bytes);
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  neptune::CheckTask(bytes);
  neptune::CheckAnswer(bytes);
  neptune::CheckDissemination(bytes);
  neptune::CheckReference(bytes);
  return 0;
}
