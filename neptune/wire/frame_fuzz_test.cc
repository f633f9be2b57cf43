// Any bytes, in any cutting: the frame decoder and the decoders of headers, grants, features and
// trace identities refuse or accept, never more; what is accepted encodes to bytes that decode to
// it again. A gate that refuses payloads changes nothing but those payloads.

#include <glog/logging.h>

#include <cstdint>
#include <string_view>

#include "neptune/wire/frame.h"
#include "neptune/wire/trace_context.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

FuzzPlace accepted_frame("a frame is accepted");
FuzzPlace accepted_request("the header of a request is accepted");
FuzzPlace accepted_response("the header of a response is accepted");
FuzzPlace accepted_grant("a grant is accepted");
FuzzPlace accepted_trace("the identity of a trace is accepted");

void CheckRoundTrip(const Frame& frame) {
  std::string bytes;
  CHECK(AppendFrame(frame, &bytes).ok());
  FrameDecoder decoder;
  decoder.Feed(bytes);
  const auto again = decoder.Next();
  CHECK(again.ok() && again->has_value() && (*again)->payload == frame.payload);
}

// A header has one encoding, but for the message of a status that is OK, which is not kept.
void CheckResponse(std::string_view section) {
  const auto header = DecodeResponseHeader(section);
  if (!header.ok()) return;
  accepted_response.Reach();
  const std::string encoded = EncodeResponseHeader(*header);
  const auto again = DecodeResponseHeader(encoded);
  CHECK(again.ok() && EncodeResponseHeader(*again) == encoded);
  CHECK(again->ended_early == header->ended_early && again->status == header->status);
}

// A section that is understood has one meaning: the header it decodes to encodes to a section that
// decodes to it again. Numbers for names are learned from earlier sections.
void CheckRequest(std::string_view section, ReceivedNames* names) {
  RequestHeader header;
  if (!DecodeRequestHeader(section, &header, names).ok()) return;
  accepted_request.Reach();
  const auto again = DecodeRequestHeader(EncodeRequestHeader(header));
  CHECK(again.ok() && *again == header);
}

// A grant and features have one encoding, features but for what follows the known bits.
void CheckNumbers(std::string_view section) {
  const StatusOr<uint32_t> grant = DecodeGrant(section);
  if (grant.ok()) {
    accepted_grant.Reach();
    CHECK(EncodeGrant(*grant) == section);
  }
  const uint32_t features = DecodeFeatures(section);
  CHECK_EQ(DecodeFeatures(EncodeFeatures(features)), features);
}

// Later versions of the format may have more at the end, which is left out.
void CheckTrace(std::string_view text) {
  const StatusOr<TraceContext> trace = ParseTraceparent(text);
  if (!trace.ok()) return;
  accepted_trace.Reach();
  CHECK(trace->present());
  CHECK(ParseTraceparent(FormatTraceparent(*trace)).value() == *trace);
}

// Refuses the payloads of odd calls.
struct EvenCallsGate final : public PayloadGate {
  bool Admit(const FrameView& head, size_t) override { return head.call % 2 == 0; }
};

void Decode(std::string_view bytes, size_t chunk_size) {
  FrameDecoder decoder({.payload_size_max = 1 << 16});
  EvenCallsGate gate;
  FrameDecoder gated({.payload_size_max = 1 << 16}, &gate);
  ReceivedNames names;
  while (!bytes.empty()) {
    const std::string chunk(bytes.substr(0, chunk_size));  // gone after this round
    decoder.Feed(chunk);
    gated.Lend(chunk);
    bytes.remove_prefix(std::min(chunk_size, bytes.size()));
    for (auto frame = decoder.Next(); frame.ok() && frame->has_value(); frame = decoder.Next()) {
      const auto other = gated.Next();
      CHECK(other.ok() && other->has_value() && (*other)->section == (*frame)->section);
      CHECK((*other)->payload == ((*other)->skipped ? "" : (*frame)->payload));
      accepted_frame.Reach();
      CheckRoundTrip(**frame);
      CheckRequest((*frame)->section, &names);
      CheckResponse((*frame)->section);
    }
    gated.Keep();
  }
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  neptune::Decode(bytes, size + 1);
  neptune::Decode(bytes, 7);
  neptune::ReceivedNames names;
  names.Define(0, {neptune::ServiceName("s"), neptune::MethodName("m"), "c"}).IgnoreError();
  neptune::CheckRequest(bytes, nullptr);
  neptune::CheckRequest(bytes, &names);
  neptune::CheckResponse(bytes);
  neptune::CheckNumbers(bytes);
  neptune::CheckTrace(bytes);
  return 0;
}
