// Frames: the messages that nodes exchange over a connection.
//
// README.md describes the byte layout, with a worked example and the rule for malformed input.
//
// Source: [Shen02] 2.4 (portable messages between nodes of different kinds).
// Bytes in, frames out; no I/O, no clock.
// Threads: thread-compatible.
// Units: sizes in bytes; a deadline is sent as the number of microseconds left.
// Errors: kDataLoss bad magic, version, type, size or checksum: the connection cannot be trusted
//   any more and is closed; kResourceExhausted a frame larger than the limit.
// Limits: FrameLimits; a header section of at most kSectionSizeMax.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/wire/access_mode.h"
#include "neptune/wire/name_numbers.h"
#include "neptune/wire/trace_context.h"

namespace neptune {

inline constexpr uint8_t kWireVersion = 1;
inline constexpr size_t kFramePrefixSize = 32;
inline constexpr size_t kSectionSizeMax = 16 * 1024;

enum class FrameType : uint8_t {
  kRequest = 1,   // section: RequestHeader
  kResponse = 2,  // section: ResponseHeader
  kCancel = 3,    // the caller no longer wants the answer of this call; no section, no payload
  kDrain = 4,     // the server stops: finish calls in flight, make new calls elsewhere
  kMessage = 5,   // one message of a stream; no section, the message is the payload
  kGrant = 6,     // section: window credit for a stream's messages, in bytes; no payload
  kEnd = 7,       // the caller sends no more messages on this stream; no section, no payload
  kAccepted = 8,  // the server has accepted this call and will answer; no section, no payload. For
                  // kConnectionItself: what the server understands; section: feature bits
};

// Number of no call, in frames about the connection.
inline constexpr uint64_t kConnectionItself = 0;
// What a server understands beyond version 1 of the format, in bits.
inline constexpr uint32_t kFeatureNameNumbers = 1;  // numbers for names, name_numbers.h

// One frame. `call` matches a request with its response and its cancellation on one connection.
struct Frame {
  FrameType type = FrameType::kRequest;
  uint64_t call = 0;
  std::string section;  // encoded header of the type
  std::string payload;
  // The payload was dropped, because it was not admitted; see PayloadGate.
  bool skipped = false;
};

// A frame that refers to the decoder's buffer.
struct FrameView {
  FrameType type = FrameType::kRequest;
  uint64_t call = 0;
  std::string_view section;
  std::string_view payload;
  bool skipped = false;  // see Frame
};

// Payloads of this size and larger are charged one by one, and pass a PayloadGate.
inline constexpr size_t kLargePayloadSize = 4 * 1024;

// Decides whether a large payload is received, before it is buffered.
class PayloadGate {
 public:
  virtual ~PayloadGate() = default;
  // Called once for each frame with a payload of at least kLargePayloadSize, when its section has
  // arrived. `head` has no payload yet, and its checksum is not verified. Returns false to drop the
  // payload while it arrives.
  virtual bool Admit(const FrameView& head, size_t payload_size) = 0;
};

struct RequestHeader {
  ServiceName service;
  PartitionId partition;
  MethodName method;
  AccessMode access = AccessMode::kRead;
  // Opens a stream: messages follow both ways until the response ends it.
  bool stream = false;
  // This request is already a retry or hedge; downstream callers must not retry it again.
  bool retried = false;
  // Time that was left for the call when it was sent; nullopt: no deadline.
  std::optional<std::chrono::microseconds> time_left;
  std::string service_class;
  TraceContext trace;
  // Opaque bytes of a higher layer, at most 255; see neptune/replication.
  std::string extension;
  // Time that the request was queued at its sender, if the sender limits concurrency.
  std::chrono::microseconds waited{0};
  friend bool operator==(const RequestHeader&, const RequestHeader&) = default;
};

struct ResponseHeader {
  Status status;
  // Time that the request was queued, and time that it ran, on the server.
  std::chrono::microseconds queue_time{0};
  std::chrono::microseconds run_time{0};
  // The server's load index when it answered.
  uint32_t load_index = 0;
  // The server's time limit cut the request short: the payload is the partial result so far, or the
  // status is an error if there was none. Not set for a passed deadline or a caller that is gone.
  bool ended_early = false;
  // Opaque bytes of a higher layer, at most 255.
  std::string extension;
};

// `names` unset: the names are spelled out.
std::string EncodeRequestHeader(const RequestHeader& header,
                                const std::optional<NameNumber>& names = std::nullopt);
StatusOr<RequestHeader> DecodeRequestHeader(std::string_view section);
// The same, without a move. Numbers for names are looked up in `names`, and a new one is added to
// it; null: they are refused. REQUIRES: `*header` is default-constructed.
Status DecodeRequestHeader(std::string_view section, RequestHeader* header,
                           ReceivedNames* names = nullptr);
// Decodes the requests of one connection one after the other into the same header, whose strings
// are assigned only where they differ.
class RequestDecoder {
 public:
  // `*header` is default-constructed or that of the request before, and may have been moved from.
  // After an error it is of no use but for the next request.
  Status Decode(std::string_view section, RequestHeader* header);
  // The handler's note about the names of the request that was decoded last; null if they have no
  // number. Valid until the next request.
  HandlerNote* note() { return number_ ? names_.NoteOf(*number_) : nullptr; }
  ReceivedNames& names() { return names_; }

 private:
  ReceivedNames names_;
  std::optional<uint16_t> number_;  // of the names in the header
};
std::string EncodeResponseHeader(const ResponseHeader& header);
StatusOr<ResponseHeader> DecodeResponseHeader(std::string_view section);
// The same, without a move. REQUIRES: `*header` is default-constructed.
Status DecodeResponseHeader(std::string_view section, ResponseHeader* header);
std::string EncodeGrant(uint32_t size);
StatusOr<uint32_t> DecodeGrant(std::string_view section);
std::string EncodeFeatures(uint32_t features);
// Zero if the section is malformed. What follows the known bits is for later versions.
uint32_t DecodeFeatures(std::string_view section);

// Appends the frame's bytes to `out`, which is unchanged on an error.
// Errors: kResourceExhausted the section is over kSectionSizeMax or the payload over 4 GiB.
Status AppendFrame(FrameType type, uint64_t call, std::string_view section,
                   std::string_view payload, std::string* out);
Status AppendFrame(const Frame& frame, std::string* out);
// Append a request or response. REQUIRES: the payload is below 4 GiB.
void AppendRequest(uint64_t call, const RequestHeader& header,
                   const std::optional<NameNumber>& names, std::string_view payload,
                   std::string* out);
void AppendResponse(uint64_t call, const ResponseHeader& header, std::string_view payload,
                    std::string* out);
// The same without the payload's bytes, which the caller sends next.
void AppendResponseHead(uint64_t call, const ResponseHeader& header, std::string_view payload,
                        std::string* out);

struct FrameLimits {
  // Maximum payload size. Larger: bigger answers, more memory per connection. Default: 64 MiB.
  size_t payload_size_max = 64 << 20;
};

// Splits a byte stream into frames. After an error every call returns that error.
class FrameDecoder {
 public:
  // `gate` outlives the decoder; null: all payloads are received.
  explicit FrameDecoder(const FrameLimits& limits = {}, PayloadGate* gate = nullptr);
  ~FrameDecoder();

  // Appends received bytes.
  void Feed(std::string_view bytes);
  // The same without a copy, unless a frame has begun: `bytes` must stay valid until Keep.
  void Lend(std::string_view bytes);
  // Copies what is left of the lent bytes.
  void Keep();
  // Returns the next complete frame, or nullopt if more bytes are needed. A frame whose payload was
  // not admitted is returned without it and `skipped`, once all of it has arrived and its checksum
  // was verified.
  StatusOr<std::optional<Frame>> Next();
  // The same without a copy; the view is valid until the next call on this object.
  StatusOr<std::optional<FrameView>> NextView();
  // The same; true if there is one. False: more bytes are needed, or error() says what is wrong.
  bool FindNext(FrameView* frame);
  const Status& error() const { return error_; }
  // Returns the payload of the frame that was returned last; a large one is not copied. The view is
  // not valid any more.
  std::string TakePayload(const FrameView& frame);
  // Releases the memory of frames that were returned. Their views are not valid any more.
  void LetGoOfConsumed();

  size_t buffered_size() const { return rest().size(); }
  // True if a frame has begun and is not complete.
  bool is_mid_frame() const { return buffered_size() > 0 || is_skipping(); }

 private:
  // A frame whose payload is dropped.
  struct Skipping;
  struct Sizes {
    size_t section = 0;
    size_t payload = 0;
  };

  Status CheckPrefix(std::string_view prefix, Sizes* sizes) const;
  bool is_skipping() const;
  void BeginSkipping(const FrameView& head, const Sizes& sizes);
  bool Skip(FrameView* frame);
  void MakeRoomFor(size_t whole);
  bool Fail(Status error);
  // The bytes that were received and not consumed.
  std::string_view rest() const {
    return is_lent() ? lent_ : std::string_view(buffer_).substr(consumed_);
  }
  bool is_lent() const { return lent_.data() != nullptr; }
  void Consume(size_t size) { is_lent() ? lent_.remove_prefix(size) : void(consumed_ += size); }

  const FrameLimits limits_;
  PayloadGate* const gate_;
  // The bytes are in `lent_`, or in `buffer_` without the first consumed_ ones.
  std::string_view lent_;
  std::string buffer_;
  size_t consumed_ = 0;
  bool admitted_ = false;  // the incomplete frame has passed the gate
  std::unique_ptr<Skipping> skipping_;
  Status error_;
};

}  // namespace neptune
