#include "neptune/wire/frame.h"

#include <algorithm>
#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/inline_checksum.h"
#include "neptune/base/strings.h"
#include "neptune/security/key_handshake.h"

namespace neptune {
namespace {

constexpr uint32_t kMagic = 0x4e505431;  // "NPT1"
constexpr size_t kChecksumOffset = 24;
constexpr uint64_t kNoDeadline = ~uint64_t{0};
constexpr size_t kPayloadSizeMax = ~uint32_t{0};
// The decoder moves the rest of its buffer to the front after this many consumed bytes.
constexpr size_t kCompactSize = 64 * 1024;
// Maximum buffer size that an empty decoder keeps for the next frames.
constexpr size_t kIdleBufferSizeMax = 256 * 1024;
// A payload of at least this size gets a buffer of its own, which TakePayload returns.
constexpr size_t kOwnBufferSizeMin = 256 * 1024;
// Room for the bytes that arrive with the end of a large frame.
constexpr size_t kReadSlack = 64 * 1024;

// Bits of a request's flags byte.
constexpr uint8_t kFlagWrite = 1;
constexpr uint8_t kFlagSampled = 2;
constexpr uint8_t kFlagStream = 4;
constexpr uint8_t kFlagRetried = 8;
constexpr uint8_t kFlagExtension = 16;
constexpr uint8_t kFlagWaited = 32;
constexpr uint8_t kFlagNumbered = 64;         // the names are a number
constexpr uint8_t kFlagDefines = 128;         // that the names, which follow it, define
constexpr size_t kRequestHeaderSizeMin = 37;  // up to the names
constexpr size_t kCountedSizeMax = 255;

// `prefix`: of which the bytes before the checksum count. Inlined as a whole, since the compiler
// knows their number.
__attribute__((flatten)) uint64_t FrameChecksum(const char* prefix, std::string_view section,
                                                std::string_view payload) {
  const uint64_t head =
      InlineChecksum64(section, InlineChecksum64(std::string_view(prefix, kChecksumOffset)));
  return InlineChecksum64(payload, head);
}

// Microseconds as a header stores them, clamped to [0, 2^32 - 1].
uint32_t Saturated(std::chrono::microseconds time) {
  return static_cast<uint32_t>(std::clamp<int64_t>(time.count(), 0, ~uint32_t{0}));
}

uint64_t EncodeTimeLeft(const std::optional<std::chrono::microseconds>& left) {
  return left ? static_cast<uint64_t>(std::max<int64_t>(left->count(), 0)) : kNoDeadline;
}

// Writes a prefix without its checksum.
char* StorePrefix(FrameType type, uint64_t call, size_t section_size, size_t payload_size,
                  char* at) {
  at = StoreBigEndian(kMagic, at);
  at = StoreBigEndian(kWireVersion, at);
  at = StoreBigEndian(static_cast<uint8_t>(type), at);
  at = StoreBigEndian(uint16_t{0}, at);
  at = StoreBigEndian(call, at);
  at = StoreBigEndian(static_cast<uint32_t>(section_size), at);
  return StoreBigEndian(static_cast<uint32_t>(payload_size), at);
}

// Flag bits of a response's first byte; its other bits are the status code.
constexpr uint8_t kFlagEndedEarly = 128;
constexpr uint8_t kFlagAnswerExtension = 64;
constexpr size_t kMessageSizeMaxOfStatus = 1024;
constexpr size_t kExtensionSizeMax = 255;
constexpr size_t kResponseHeaderSizeMin = 15;

std::string_view MessageOf(const ResponseHeader& header) {
  return ToStd(header.status.message()).substr(0, kMessageSizeMaxOfStatus);
}

std::string_view ExtensionOf(const ResponseHeader& header) {
  return std::string_view(header.extension).substr(0, kExtensionSizeMax);
}

size_t SectionSize(const ResponseHeader& header) {
  const size_t extension_size = header.extension.empty() ? 0 : 1 + ExtensionOf(header).size();
  return kResponseHeaderSizeMin + MessageOf(header).size() + extension_size;
}

// Writes the fixed-size fields, without the status message and the extension.
char* StoreResponseHeader(const ResponseHeader& header, size_t message_size, char* at) {
  const auto code = static_cast<uint8_t>(header.status.code());
  const int flags = (header.ended_early ? kFlagEndedEarly : 0) |
                    (header.extension.empty() ? 0 : kFlagAnswerExtension);
  at = StoreBigEndian(static_cast<uint8_t>(code | flags), at);
  at = StoreBigEndian(Saturated(header.queue_time), at);
  at = StoreBigEndian(Saturated(header.run_time), at);
  at = StoreBigEndian(header.load_index, at);
  return StoreBigEndian(static_cast<uint16_t>(message_size), at);
}

char* StoreBytes(std::string_view bytes, char* at) {
  return std::copy(bytes.begin(), bytes.end(), at);
}

std::string_view Bounded(std::string_view text) { return text.substr(0, kCountedSizeMax); }

char* StoreCounted(std::string_view text, char* at) {
  const std::string_view bytes = Bounded(text);
  return StoreBytes(bytes, StoreBigEndian(static_cast<uint8_t>(bytes.size()), at));
}

uint8_t FlagsOf(const RequestHeader& header, const std::optional<NameNumber>& names) {
  return static_cast<uint8_t>(
      (header.access == AccessMode::kWrite ? kFlagWrite : 0) |
      (header.trace.sampled ? kFlagSampled : 0) | (header.stream ? kFlagStream : 0) |
      (header.retried ? kFlagRetried : 0) | (header.extension.empty() ? 0 : kFlagExtension) |
      (header.waited.count() > 0 ? kFlagWaited : 0) | (names ? kFlagNumbered : 0) |
      (names && names->is_new ? kFlagDefines : 0));
}

size_t SectionSize(const RequestHeader& header, const std::optional<NameNumber>& names) {
  size_t size = kRequestHeaderSizeMin + (names ? sizeof(uint16_t) : 0);
  if (!names || names->is_new) {
    size += 3 + Bounded(header.service.value()).size() + Bounded(header.method.value()).size() +
            Bounded(header.service_class).size();
  }
  if (!header.extension.empty()) size += 1 + Bounded(header.extension).size();
  return size + (header.waited.count() > 0 ? sizeof(uint32_t) : 0);
}

// Writes the whole section, of SectionSize bytes.
char* StoreSection(const RequestHeader& header, const std::optional<NameNumber>& names, char* at) {
  at = StoreBigEndian(FlagsOf(header, names), at);
  at = StoreBigEndian(header.partition.value(), at);
  at = StoreBigEndian(EncodeTimeLeft(header.time_left), at);
  at = StoreBigEndian(header.trace.trace_high, at);
  at = StoreBigEndian(header.trace.trace_low, at);
  at = StoreBigEndian(header.trace.span, at);
  if (names) at = StoreBigEndian(names->number, at);
  if (!names || names->is_new) {
    at = StoreCounted(header.service.value(), at);
    at = StoreCounted(header.method.value(), at);
    at = StoreCounted(header.service_class, at);
  }
  if (!header.extension.empty()) at = StoreCounted(header.extension, at);
  return header.waited.count() > 0 ? StoreBigEndian(Saturated(header.waited), at) : at;
}

// Writes the whole section, of SectionSize bytes.
char* StoreSection(const ResponseHeader& header, char* at) {
  const std::string_view message = MessageOf(header);
  at = StoreBytes(message, StoreResponseHeader(header, message.size(), at));
  if (header.extension.empty()) return at;
  const std::string_view extension = ExtensionOf(header);
  at = StoreBigEndian(static_cast<uint8_t>(extension.size()), at);
  return StoreBytes(extension, at);
}

}  // namespace

std::string EncodeRequestHeader(const RequestHeader& header,
                                const std::optional<NameNumber>& names) {
  std::string out(SectionSize(header, names), '\0');
  StoreSection(header, names, out.data());
  return out;
}

StatusOr<RequestHeader> DecodeRequestHeader(std::string_view section) {
  RequestHeader header;
  NEPTUNE_RETURN_IF_ERROR(DecodeRequestHeader(section, &header));
  return header;
}

namespace {

// Reads the names of a request, or their number. `*number`: of the service and method that the
// header has; set to that of those it gets.
Status DecodeNames(uint8_t flags, ByteReader& reader, ReceivedNames* known, RequestHeader* header,
                   std::optional<uint16_t>* number) {
  const bool is_numbered = (flags & kFlagNumbered) != 0;
  const bool spells_out = !is_numbered || (flags & kFlagDefines) != 0;
  const std::optional<uint16_t> before = std::exchange(*number, std::nullopt);
  if (is_numbered) *number = reader.Number<uint16_t>();
  if (spells_out) {
    header->service = ServiceName(std::string(reader.Counted<uint8_t>()));
    header->method = MethodName(std::string(reader.Counted<uint8_t>()));
    header->service_class = reader.Counted<uint8_t>();
  }
  if (!is_numbered) return OkStatus();
  if (known == nullptr || reader.failed()) return DataLoss("number for names is not understood");
  if (spells_out) {
    return known->Define(**number, {header->service, header->method, header->service_class});
  }
  const RequestNames* const names = known->Find(**number);
  if (names == nullptr) return DataLoss("number ", **number, " stands for no names");
  // A header that was moved from has lost its names.
  const auto has = [&](const std::string& in_header, const std::string& name) {
    return before == *number && in_header.size() == name.size();
  };
  if (!has(header->service.value(), names->service.value())) header->service = names->service;
  if (!has(header->method.value(), names->method.value())) header->method = names->method;
  // A handler may have replaced it.
  if (!names->service_class.empty() || !header->service_class.empty()) {
    header->service_class = names->service_class;
  }
  return OkStatus();
}

// Sets every field of the header.
Status DecodeHeader(std::string_view section, RequestHeader* header, ReceivedNames* names,
                    std::optional<uint16_t>* number) {
  ByteReader reader(section);
  const auto flags = reader.Number<uint8_t>();
  header->access = (flags & kFlagWrite) != 0 ? AccessMode::kWrite : AccessMode::kRead;
  header->trace.sampled = (flags & kFlagSampled) != 0;
  header->stream = (flags & kFlagStream) != 0;
  header->retried = (flags & kFlagRetried) != 0;
  header->partition = PartitionId(reader.Number<uint32_t>());
  const auto time_left = reader.Number<uint64_t>();
  header->time_left.reset();
  if (time_left != kNoDeadline) {
    // Clamps to a day, which is longer than any call, so that adding to it cannot overflow.
    constexpr uint64_t kDay = 86'400'000'000;
    header->time_left = std::chrono::microseconds(std::min(time_left, kDay));
  }
  header->trace.trace_high = reader.Number<uint64_t>();
  header->trace.trace_low = reader.Number<uint64_t>();
  header->trace.span = reader.Number<uint64_t>();
  NEPTUNE_RETURN_IF_ERROR(DecodeNames(flags, reader, names, header, number));
  if ((flags & kFlagExtension) != 0) {
    header->extension = reader.Counted<uint8_t>();
  } else {
    header->extension.clear();
  }
  header->waited = std::chrono::microseconds((flags & kFlagWaited) != 0 ? reader.Number<uint32_t>()
                                                                        : uint32_t{0});
  if (!reader.finished())
    return DataLoss("request header of ", section.size(), " bytes is malformed");
  if ((flags & (kFlagNumbered | kFlagDefines)) == kFlagDefines) {
    return DataLoss("request header has unknown flags ", int{flags});
  }
  return OkStatus();
}

}  // namespace

Status DecodeRequestHeader(std::string_view section, RequestHeader* header, ReceivedNames* names) {
  std::optional<uint16_t> number;
  return DecodeHeader(section, header, names, &number);
}

Status RequestDecoder::Decode(std::string_view section, RequestHeader* header) {
  Status status = DecodeHeader(section, header, &names_, &number_);
  if (!status.ok()) number_.reset();
  return status;
}

std::string EncodeResponseHeader(const ResponseHeader& header) {
  std::string out(SectionSize(header), '\0');
  StoreSection(header, out.data());
  return out;
}

StatusOr<ResponseHeader> DecodeResponseHeader(std::string_view section) {
  ResponseHeader header;
  NEPTUNE_RETURN_IF_ERROR(DecodeResponseHeader(section, &header));
  return header;
}

Status DecodeResponseHeader(std::string_view section, ResponseHeader* header) {
  ByteReader reader(section);
  const auto first = reader.Number<uint8_t>();
  header->ended_early = (first & kFlagEndedEarly) != 0;
  const auto code = static_cast<uint8_t>(first & ~(kFlagEndedEarly | kFlagAnswerExtension));
  header->queue_time = std::chrono::microseconds(reader.Number<uint32_t>());
  header->run_time = std::chrono::microseconds(reader.Number<uint32_t>());
  header->load_index = reader.Number<uint32_t>();
  const std::string_view message = reader.Counted<uint16_t>();
  if ((first & kFlagAnswerExtension) != 0) header->extension = reader.Counted<uint8_t>();
  constexpr auto kCodeMax = static_cast<uint8_t>(StatusCode::kUnauthenticated);
  if (!reader.finished() || code > kCodeMax) {
    return DataLoss("response header of ", section.size(), " bytes is malformed");
  }
  if (code != 0) header->status = Status(static_cast<StatusCode>(code), ToAbsl(message));
  return OkStatus();
}

std::string EncodeGrant(uint32_t size) {
  std::string out;
  ByteWriter(&out).Number(size);
  return out;
}

StatusOr<uint32_t> DecodeGrant(std::string_view section) {
  ByteReader reader(section);
  const auto size = reader.Number<uint32_t>();
  if (!reader.finished()) return DataLoss("grant of ", section.size(), " bytes is malformed");
  return size;
}

std::string EncodeFeatures(uint32_t features) {
  std::string out;
  ByteWriter(&out).Number(features);
  return out;
}

uint32_t DecodeFeatures(std::string_view section) { return ByteReader(section).Number<uint32_t>(); }

Status AppendFrame(const Frame& frame, std::string* out) {
  return AppendFrame(frame.type, frame.call, frame.section, frame.payload, out);
}

Status AppendFrame(FrameType type, uint64_t call, std::string_view section,
                   std::string_view payload, std::string* out) {
  if (section.size() > kSectionSizeMax) {
    return ResourceExhausted("frame header section of ", section.size(), " bytes is over ",
                             kSectionSizeMax);
  }
  if (payload.size() > kPayloadSizeMax) {
    return ResourceExhausted("payload of ", payload.size(), " bytes is over ", kPayloadSizeMax);
  }
  char prefix[kFramePrefixSize];
  char* const checksum = StorePrefix(type, call, section.size(), payload.size(), prefix);
  StoreBigEndian(FrameChecksum(prefix, section, payload), checksum);
  out->reserve(out->size() + kFramePrefixSize + section.size() + payload.size());
  out->append(prefix, sizeof(prefix));
  out->append(section);
  out->append(payload);
  return OkStatus();
}

namespace {

// Most sections are shorter, and are written on the stack.
constexpr size_t kShortSectionSizeMax = 256;

// Appends prefix and section of a frame; `store` writes the section, of `section_size` bytes.
template <typename Store>
void AppendHead(FrameType type, uint64_t call, size_t section_size, std::string_view payload,
                std::string* out, Store store) {
  char on_stack[kFramePrefixSize + kShortSectionSizeMax];
  std::string longer;
  char* prefix = on_stack;
  if (section_size > kShortSectionSizeMax) {
    longer.resize(kFramePrefixSize + section_size);
    prefix = longer.data();
  }
  char* const section = prefix + kFramePrefixSize;
  store(section);
  char* const checksum = StorePrefix(type, call, section_size, payload.size(), prefix);
  StoreBigEndian(FrameChecksum(prefix, {section, section_size}, payload), checksum);
  out->append(prefix, kFramePrefixSize + section_size);
}

}  // namespace

void AppendRequest(uint64_t call, const RequestHeader& header,
                   const std::optional<NameNumber>& names, std::string_view payload,
                   std::string* out) {
  AppendHead(FrameType::kRequest, call, SectionSize(header, names), payload, out,
             [&](char* at) { StoreSection(header, names, at); });
  out->append(payload);
}

void AppendResponse(uint64_t call, const ResponseHeader& header, std::string_view payload,
                    std::string* out) {
  AppendResponseHead(call, header, payload, out);
  out->append(payload);
}

void AppendResponseHead(uint64_t call, const ResponseHeader& header, std::string_view payload,
                        std::string* out) {
  AppendHead(FrameType::kResponse, call, SectionSize(header), payload, out,
             [&](char* at) { StoreSection(header, at); });
}

struct FrameDecoder::Skipping {
  Skipping(const FrameView& head, uint64_t seed, uint64_t expected, size_t left)
      : type(head.type),
        call(head.call),
        section(head.section),
        sum(seed),
        expected(expected),
        left(left) {}

  const FrameType type;
  const uint64_t call;
  const std::string section;
  RunningChecksum64 sum;
  const uint64_t expected;
  size_t left;  // bytes of the payload that have not arrived
};

FrameDecoder::FrameDecoder(const FrameLimits& limits, PayloadGate* gate)
    : limits_(limits), gate_(gate) {}

FrameDecoder::~FrameDecoder() = default;

void FrameDecoder::Feed(std::string_view bytes) {
  if (!error_.ok()) return;
  Keep();
  buffer_ += bytes;
}

void FrameDecoder::Lend(std::string_view bytes) {
  if (bytes.empty() || !error_.ok()) return;
  if (buffered_size() > 0) return Feed(bytes);
  LetGoOfConsumed();
  lent_ = bytes;
}

void FrameDecoder::Keep() {
  if (is_lent()) buffer_ += std::exchange(lent_, {});
}

// Drops consumed bytes once the buffer has no others, or once they are many.
void FrameDecoder::LetGoOfConsumed() {
  if (consumed_ == 0) return;
  if (consumed_ == buffer_.size()) {
    if (buffer_.capacity() > kIdleBufferSizeMax) std::string().swap(buffer_);
    buffer_.clear();
    consumed_ = 0;
  } else if (consumed_ > kCompactSize) {
    buffer_.erase(0, std::exchange(consumed_, 0));
  }
}

namespace {

// True if the prefix begins with the magic number, the version, a known type and no flags.
bool IsKnownHead(std::string_view prefix) {
  constexpr uint64_t kHead = uint64_t{kMagic} << 32 | uint64_t{kWireVersion} << 24;
  constexpr uint64_t kTypeBits = uint64_t{0xff} << 16;
  const auto head = LoadBigEndian<uint64_t>(prefix.data());
  const auto type = static_cast<uint8_t>(head >> 16);
  return (head & ~kTypeBits) == kHead && type >= static_cast<uint8_t>(FrameType::kRequest) &&
         type <= static_cast<uint8_t>(FrameType::kAccepted);
}

// Why it does not.
Status ErrorOfHead(std::string_view prefix) {
  ByteReader reader(prefix);
  if (const auto magic = reader.Number<uint32_t>(); magic != kMagic) {
    if (magic == kHandshakeMagic) {
      return DataLoss("the peer requires a cluster key, and this node has none");
    }
    return DataLoss("frame begins with ", magic, ", not with the magic number");
  }
  if (const auto version = reader.Number<uint8_t>(); version != kWireVersion) {
    return DataLoss("frame of wire version ", int{version}, "; this node supports ",
                    int{kWireVersion});
  }
  const auto type = reader.Number<uint8_t>();
  if (type < static_cast<uint8_t>(FrameType::kRequest) ||
      type > static_cast<uint8_t>(FrameType::kAccepted)) {
    return DataLoss("frame of unknown type ", int{type});
  }
  return DataLoss("frame with unknown flags");
}

}  // namespace

Status FrameDecoder::CheckPrefix(std::string_view prefix, Sizes* sizes) const {
  if (!IsKnownHead(prefix)) return ErrorOfHead(prefix);
  constexpr size_t kSizesOffset = 16;
  sizes->section = LoadBigEndian<uint32_t>(prefix.data() + kSizesOffset);
  sizes->payload = LoadBigEndian<uint32_t>(prefix.data() + kSizesOffset + sizeof(uint32_t));
  if (sizes->section > kSectionSizeMax) {
    return DataLoss("frame section of ", sizes->section, " bytes");
  }
  if (sizes->payload > limits_.payload_size_max) {
    return ResourceExhausted("frame payload of ", sizes->payload, " bytes is over ",
                             limits_.payload_size_max);
  }
  return OkStatus();
}

StatusOr<std::optional<Frame>> FrameDecoder::Next() {
  NEPTUNE_ASSIGN_OR_RETURN(const std::optional<FrameView> view, NextView());
  if (!view) return std::nullopt;
  Frame frame{view->type, view->call, std::string(view->section), "", view->skipped};
  frame.payload = TakePayload(*view);
  return frame;
}

StatusOr<std::optional<FrameView>> FrameDecoder::NextView() {
  FrameView frame;
  if (FindNext(&frame)) return frame;
  if (!error_.ok()) return error_;
  return std::nullopt;
}

bool FrameDecoder::Fail(Status error) {
  error_ = std::move(error);
  return false;
}

bool FrameDecoder::FindNext(FrameView* frame) {
  if (!error_.ok()) return false;
  if (skipping_ != nullptr) {
    if (is_skipping()) return Skip(frame);
    skipping_.reset();
  }
  if (!is_lent()) LetGoOfConsumed();
  const std::string_view rest = this->rest();
  if (rest.size() < kFramePrefixSize) return false;
  const std::string_view prefix = rest.substr(0, kFramePrefixSize);
  Sizes sizes;
  if (Status status = CheckPrefix(prefix, &sizes); !status.ok()) return Fail(std::move(status));
  const size_t payload_begin = kFramePrefixSize + sizes.section;
  if (rest.size() < payload_begin) return false;
  *frame = {static_cast<FrameType>(prefix[5]), LoadBigEndian<uint64_t>(prefix.data() + 8),
            rest.substr(kFramePrefixSize, sizes.section), std::string_view()};
  if (gate_ != nullptr && sizes.payload >= kLargePayloadSize && !admitted_) {
    admitted_ = gate_->Admit(*frame, sizes.payload);
    if (!admitted_) {
      BeginSkipping(*frame, sizes);
      return Skip(frame);
    }
  }
  const size_t whole = payload_begin + sizes.payload;
  if (rest.size() < whole) {
    if (admitted_) MakeRoomFor(whole);
    return false;
  }
  frame->payload = rest.substr(payload_begin, sizes.payload);
  if (FrameChecksum(prefix.data(), frame->section, frame->payload) !=
      LoadBigEndian<uint64_t>(prefix.data() + kChecksumOffset)) {
    return Fail(DataLoss("frame of ", whole, " bytes fails its checksum"));
  }
  Consume(whole);
  admitted_ = false;
  return true;
}

// Gives a large frame a buffer of its size, instead of one that doubles as it is filled.
void FrameDecoder::MakeRoomFor(size_t whole) {
  if (whole < kOwnBufferSizeMin || buffer_.capacity() >= consumed_ + whole) return;
  buffer_.erase(0, std::exchange(consumed_, 0));
  buffer_.reserve(whole + kReadSlack);
}

std::string FrameDecoder::TakePayload(const FrameView& frame) {
  const size_t size = frame.payload.size();
  if (size < kOwnBufferSizeMin || is_lent() || buffered_size() > kReadSlack) {
    return std::string(frame.payload);
  }
  std::string rest = buffer_.substr(consumed_);
  std::string payload = std::exchange(buffer_, std::move(rest));
  payload.resize(std::exchange(consumed_, 0));
  payload.erase(0, payload.size() - size);
  return payload;
}

bool FrameDecoder::is_skipping() const { return skipping_ != nullptr && skipping_->left > 0; }

void FrameDecoder::BeginSkipping(const FrameView& head, const Sizes& sizes) {
  const std::string_view prefix = rest().substr(0, kFramePrefixSize);
  const uint64_t seed = Checksum64(head.section, Checksum64(prefix.substr(0, kChecksumOffset)));
  skipping_ = std::make_unique<Skipping>(
      head, seed, LoadBigEndian<uint64_t>(prefix.data() + kChecksumOffset), sizes.payload);
  Consume(kFramePrefixSize + sizes.section);
}

// Drops the bytes of the payload that are there, and returns the frame after the last one.
bool FrameDecoder::Skip(FrameView* frame) {
  Skipping& skipped = *skipping_;
  const std::string_view there = rest().substr(0, skipped.left);
  skipped.sum.Add(there);
  skipped.left -= there.size();
  Consume(there.size());
  if (!is_lent()) LetGoOfConsumed();
  if (skipped.left > 0) return false;
  if (skipped.sum.value() != skipped.expected) {
    return Fail(DataLoss("frame with a payload that was not kept fails its checksum"));
  }
  *frame = {skipped.type, skipped.call, skipped.section, std::string_view(), /*skipped=*/true};
  return true;
}

}  // namespace neptune
