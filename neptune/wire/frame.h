// Frames: what nodes send each other on a stream.
//
// The byte layout, with a worked example and the rule for broken input, is in README.md beside this
// file.
//
// Source: [Shen02] 2.4 (portable messages between nodes of different kinds).
// Bytes in, frames out; no I/O, no clock.
// Threads: thread-compatible.
// Units: sizes in bytes; deadlines travel as the microseconds that are left.
// Errors: kDataLoss bad magic, version, type, size or checksum: the stream cannot be trusted any
// more
//   and is closed; kResourceExhausted a frame larger than the limit.
// Limits: FrameLimits; a header section of at most kSectionSizeMax.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/wire/trace_context.h"

namespace neptune {

inline constexpr uint8_t kWireVersion = 1;
inline constexpr size_t kFramePrefixSize = 32;
inline constexpr size_t kSectionSizeMax = 16 * 1024;

enum class FrameType : uint8_t {
  kRequest = 1,   // section: RequestHeader
  kResponse = 2,  // section: ResponseHeader
  kCancel = 3,    // the caller no longer wants the answer of this call; no section, no payload
  kDrain = 4,     // the server ends: finish what is in flight, make new calls elsewhere
  kMessage = 5,   // one message of a stream; no section, the message is the payload
  kGrant = 6,     // section: how many more bytes of a stream's messages may be sent; no payload
  kEnd = 7,       // the caller sends no more messages on this stream; no section, no payload
  kAccepted = 8,  // the server has taken this call and will answer; no section, no payload
};

// One frame. `call` joins a request, its response and its cancellation on one connection.
struct Frame {
  FrameType type = FrameType::kRequest;
  uint64_t call = 0;
  std::string section;  // encoded header of the type
  std::string payload;
};

// A frame whose bytes belong to the decoder.
struct FrameView {
  FrameType type = FrameType::kRequest;
  uint64_t call = 0;
  std::string_view section;
  std::string_view payload;

  Frame Copy() const { return {type, call, std::string(section), std::string(payload)}; }
};

enum class AccessMode : uint8_t { kRead = 0, kWrite = 1 };

struct RequestHeader {
  ServiceName service;
  PartitionId partition;
  MethodName method;
  AccessMode access = AccessMode::kRead;
  // Opens a stream: messages follow both ways until the response ends it.
  bool stream = false;
  // It was decided on its way to send it a second time, as a retry or a hedge: nobody below does so again.
  bool retried = false;
  // Time left for the call when it was sent; nullopt: no deadline.
  std::optional<std::chrono::microseconds> time_left;
  std::string service_class;
  TraceContext trace;
  // Bytes of a higher layer, at most 255; see neptune/replication.
  std::string extension;
  // How long it waited for its turn before it was sent, where its sender lets in only so many.
  std::chrono::microseconds waited{0};
  friend bool operator==(const RequestHeader&, const RequestHeader&) = default;
};

struct ResponseHeader {
  Status status;
  // How long the request waited for a worker and how long it ran, on the server.
  std::chrono::microseconds queue_time{0};
  std::chrono::microseconds run_time{0};
  // The server's load index when it answered.
  uint32_t load_index = 0;
  // The server told the request to stop since it has no more time for one: the payload is what there was by then, or
  // the status says that there was nothing. Not set for a deadline or a caller that is gone.
  bool ended_early = false;
  // Bytes of a higher layer, at most 255.
  std::string extension;
};

std::string EncodeRequestHeader(const RequestHeader& header);
StatusOr<RequestHeader> DecodeRequestHeader(std::string_view section);
// Into a header that nothing was written to yet.
Status DecodeRequestHeader(std::string_view section, RequestHeader* header);
std::string EncodeResponseHeader(const ResponseHeader& header);
StatusOr<ResponseHeader> DecodeResponseHeader(std::string_view section);
std::string EncodeGrant(uint32_t size);
StatusOr<uint32_t> DecodeGrant(std::string_view section);

// Appends the frame's bytes to `out`, which keeps its contents on an error.
// Errors: kResourceExhausted the section is over kSectionSizeMax or the payload over 4 GiB.
Status AppendFrame(FrameType type, uint64_t call, std::string_view section,
                   std::string_view payload, std::string* out);
Status AppendFrame(const Frame& frame, std::string* out);
// A response without the copy of its section. REQUIRES: the payload is below 4 GiB.
void AppendResponse(uint64_t call, const ResponseHeader& header, std::string_view payload,
                    std::string* out);

struct FrameLimits {
  // Largest payload taken. Larger: bigger answers, more memory a connection. Default: 64 MiB.
  size_t payload_size_max = 64 << 20;
};

// Cuts a byte stream into frames. After an error it stays in error.
class FrameDecoder {
 public:
  explicit FrameDecoder(const FrameLimits& limits = {}) : limits_(limits) {}

  // Takes bytes as they arrive.
  void Feed(std::string_view bytes);
  // The next whole frame, or nullopt if more bytes are needed.
  StatusOr<std::optional<Frame>> Next();
  // The same without a copy: it is valid until the next call of this object.
  StatusOr<std::optional<FrameView>> NextView();
  size_t buffered_size() const { return buffer_.size() - consumed_; }

 private:
  void LetGoOfConsumed();
  Status CheckPrefix(std::string_view prefix, size_t* section_size, size_t* payload_size) const;

  const FrameLimits limits_;
  std::string buffer_;
  size_t consumed_ = 0;
  Status error_;
};

}  // namespace neptune
