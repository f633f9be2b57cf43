#include "neptune/wire/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

RequestHeader EchoHeader() {
  RequestHeader header;
  header.service = ServiceName("echo");
  header.partition = PartitionId(3);
  header.method = MethodName("Echo");
  header.time_left = std::chrono::microseconds(2'000'000);
  header.service_class = "gold";
  header.trace = {0x0102, 0x0304, 0x05, true};
  return header;
}

std::string Encoded(const Frame& frame) {
  std::string bytes;
  EXPECT_TRUE(AppendFrame(frame, &bytes).ok());
  return bytes;
}

StatusOr<std::vector<Frame>> DecodeAll(std::string_view bytes, size_t chunk_size) {
  FrameDecoder decoder;
  std::vector<Frame> frames;
  for (size_t at = 0; at < bytes.size(); at += chunk_size) {
    decoder.Feed(bytes.substr(at, chunk_size));
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(std::optional<Frame> frame, decoder.Next());
      if (!frame) break;
      frames.push_back(*std::move(frame));
    }
  }
  return frames;
}

// README.md shows these bytes; they are the contract with nodes of other versions and machines.
TEST(FrameTest, GoldenBytesOfARequest) {
  const std::string bytes =
      Encoded({FrameType::kRequest, 7, EncodeRequestHeader(EchoHeader()), "hi"});
  EXPECT_EQ(absl::BytesToHexString(ToAbsl(bytes)),
            "4e505431"  // magic
            "01"
            "01"
            "0000"              // version, type, flags
            "0000000000000007"  // call
            "00000034"
            "00000002"  // section and payload sizes
                + absl::BytesToHexString(ToAbsl(std::string_view(bytes).substr(24, 8))) +
                "02"
                "00000003"
                "00000000001e8480"  // flags, partition, time left
                "0000000000000102"
                "0000000000000304"
                "0000000000000005"
                "046563686f"
                "044563686f"
                "04676f6c64"
                "6869");
  EXPECT_EQ(absl::BytesToHexString(ToAbsl(std::string_view(bytes).substr(24, 8))),
            "8c5610e347f0fb90");
}

TEST(FrameTest, GoldenBytesOfNumberedNames) {
  const auto hex = [](const NameNumber& names) {
    return absl::BytesToHexString(ToAbsl(EncodeRequestHeader(EchoHeader(), names)));
  };
  const std::string rest =
      "00000003"
      "00000000001e8480"
      "0000000000000102"
      "0000000000000304"
      "0000000000000005"
      "0000";
  EXPECT_EQ(hex({0, /*is_new=*/true}), "c2" + rest + "046563686f" + "044563686f" + "04676f6c64");
  EXPECT_EQ(hex({0}), "42" + rest);
}

TEST(FrameTest, NumbersStandForTheirNames) {
  RequestHeader header = EchoHeader();
  header.extension = "more";
  header.waited = std::chrono::microseconds(17);
  ReceivedNames names;
  const auto decoded = [&](const NameNumber& number) -> StatusOr<RequestHeader> {
    RequestHeader into;
    NEPTUNE_RETURN_IF_ERROR(
        DecodeRequestHeader(EncodeRequestHeader(header, number), &into, &names));
    return into;
  };
  EXPECT_EQ(decoded({0}).status().code(), StatusCode::kDataLoss) << "not defined yet";
  EXPECT_EQ(*decoded({0, /*is_new=*/true}), header);
  EXPECT_EQ(*decoded({0}), header);
  EXPECT_EQ(decoded({1}).status().code(), StatusCode::kDataLoss);
  header.method = MethodName("Other");
  EXPECT_EQ(decoded({0, /*is_new=*/true}).status().code(), StatusCode::kDataLoss)
      << "it stands for other names";
  EXPECT_FALSE(DecodeRequestHeader(EncodeRequestHeader(header, NameNumber{0, true})).ok())
      << "numbers are understood on connections only";
}

TEST(FrameTest, AppendedRequestIsTheFrameOfItsHeader) {
  for (const auto& names : {std::optional<NameNumber>(), std::optional(NameNumber{3, true}),
                            std::optional(NameNumber{3, false})}) {
    std::string bytes = "before";
    AppendRequest(7, EchoHeader(), names, "payload", &bytes);
    EXPECT_EQ(bytes, "before" + Encoded({FrameType::kRequest, 7,
                                         EncodeRequestHeader(EchoHeader(), names), "payload"}));
  }
}

TEST(FrameTest, FeaturesRoundTrip) {
  EXPECT_EQ(DecodeFeatures(EncodeFeatures(kFeatureNameNumbers)), kFeatureNameNumbers);
  EXPECT_EQ(DecodeFeatures(EncodeFeatures(kFeatureNameNumbers) + "later"), kFeatureNameNumbers);
  EXPECT_EQ(DecodeFeatures("abc"), 0u);
}

TEST(FrameTest, HeadersRoundTrip) {
  EXPECT_EQ(*DecodeRequestHeader(EncodeRequestHeader(EchoHeader())), EchoHeader());
  RequestHeader open_ended = EchoHeader();
  open_ended.time_left.reset();
  open_ended.access = AccessMode::kWrite;
  open_ended.retried = true;
  open_ended.waited = std::chrono::milliseconds(300);
  EXPECT_EQ(*DecodeRequestHeader(EncodeRequestHeader(open_ended)), open_ended);

  ResponseHeader response;
  response.status = ResourceExhausted("queue of echo is full");
  response.queue_time = std::chrono::microseconds(5);
  response.run_time = std::chrono::microseconds(6);
  response.load_index = 7;
  const auto decoded = DecodeResponseHeader(EncodeResponseHeader(response));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->status, response.status);
  EXPECT_EQ(decoded->queue_time, response.queue_time);
  EXPECT_EQ(decoded->run_time, response.run_time);
  EXPECT_EQ(decoded->load_index, 7u);
  EXPECT_FALSE(decoded->ended_early);
}

TEST(FrameTest, ThatARequestWasEndedEarlyIsKeptBesideAnyStatus) {
  for (int code = 0; code <= static_cast<int>(StatusCode::kUnauthenticated); ++code) {
    for (const bool ended_early : {false, true}) {
      ResponseHeader header;
      header.status = Status(static_cast<StatusCode>(code), code == 0 ? "" : "because");
      header.ended_early = ended_early;
      const auto decoded = DecodeResponseHeader(EncodeResponseHeader(header));
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      EXPECT_EQ(decoded->status, header.status);
      EXPECT_EQ(decoded->ended_early, ended_early) << header.status;
    }
  }
}

// The flag is no way around the check of the code.
TEST(FrameTest, ResponseWithAnUnknownCodeIsRefused) {
  const std::string section = EncodeResponseHeader({});
  for (int first = 0; first < 256; ++first) {
    std::string changed = section;
    changed[0] = static_cast<char>(first);
    EXPECT_EQ(DecodeResponseHeader(changed).ok(),
              (first & 127) <= static_cast<int>(StatusCode::kUnauthenticated))
        << first;
  }
}

TEST(FrameTest, GoldenBytesOfAResponse) {
  ResponseHeader header;
  header.status = DeadlineExceeded("late");
  header.queue_time = std::chrono::microseconds(5);
  header.run_time = std::chrono::microseconds(6);
  header.load_index = 7;
  header.ended_early = true;
  EXPECT_EQ(absl::BytesToHexString(ToAbsl(EncodeResponseHeader(header))),
            "84"        // ended early, kDeadlineExceeded
            "00000005"  // queued
            "00000006"  // run
            "00000007"  // load index
            "00046c617465");
}

TEST(FrameTest, ResponseIsTheSameWithoutACopyOfItsSection) {
  ResponseHeader header;
  header.status = ResourceExhausted("queue of echo is full");
  header.queue_time = std::chrono::microseconds(5);
  header.load_index = 7;
  header.ended_early = true;
  std::string bytes = "what was there before";
  std::string expected = bytes;
  ASSERT_TRUE(
      AppendFrame({FrameType::kResponse, 9, EncodeResponseHeader(header), "payload"}, &expected)
          .ok());
  AppendResponse(9, header, "payload", &bytes);
  EXPECT_EQ(bytes, expected);
}

TEST(FrameTest, GrantsRoundTrip) {
  EXPECT_EQ(absl::BytesToHexString(ToAbsl(EncodeGrant(0x01020304))), "01020304");
  EXPECT_EQ(*DecodeGrant(EncodeGrant(131'072)), 131'072u);
  EXPECT_FALSE(DecodeGrant("abc").ok());
  EXPECT_FALSE(DecodeGrant("abcde").ok());
}

TEST(FrameTest, ViewsAreDecodedLikeCopies) {
  FrameDecoder decoder;
  decoder.Feed(Encoded({FrameType::kRequest, 1, "", std::string(1'000'000, 'x')}));
  const auto view = decoder.NextView();
  ASSERT_TRUE(view->has_value());
  EXPECT_EQ((*view)->payload, std::string(1'000'000, 'x'));
  EXPECT_EQ(decoder.buffered_size(), 0u);
  EXPECT_FALSE(decoder.NextView()->has_value());
}

TEST(FrameTest, StreamFlagRoundTrips) {
  RequestHeader header = EchoHeader();
  header.stream = true;
  EXPECT_EQ(*DecodeRequestHeader(EncodeRequestHeader(header)), header);
}

TEST(FrameTest, FramesSurviveAnyCutting) {
  std::string bytes;
  for (int i = 0; i < 5; ++i) {
    const Frame frame{FrameType::kResponse, static_cast<uint64_t>(i), EncodeResponseHeader({}),
                      std::string(i * 1000, 'x')};
    ASSERT_TRUE(AppendFrame(frame, &bytes).ok());
  }
  for (size_t chunk_size : {size_t{1}, size_t{31}, size_t{1000}, bytes.size()}) {
    const auto frames = DecodeAll(bytes, chunk_size);
    ASSERT_TRUE(frames.ok()) << frames.status();
    ASSERT_EQ(frames->size(), 5u);
    EXPECT_EQ(frames->back().payload, std::string(4000, 'x'));
    EXPECT_EQ(frames->back().call, 4u);
  }
}

TEST(FrameTest, EveryFlippedBitIsFound) {
  const std::string bytes =
      Encoded({FrameType::kRequest, 9, EncodeRequestHeader(EchoHeader()), "hi"});
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    // A size that grew makes the decoder wait for more bytes; that is not acceptance.
    const auto frames = DecodeAll(damaged, damaged.size());
    EXPECT_TRUE(!frames.ok() || frames->empty()) << "bit " << bit;
  }
}

TEST(FrameTest, DecoderStaysInError) {
  FrameDecoder decoder;
  decoder.Feed(std::string(64, 'z'));
  EXPECT_EQ(decoder.Next().status().code(), StatusCode::kDataLoss);
  decoder.Feed(Encoded({FrameType::kCancel, 1, "", ""}));
  EXPECT_EQ(decoder.Next().status().code(), StatusCode::kDataLoss);
  EXPECT_LE(decoder.buffered_size(), 64u);
}

TEST(FrameTest, PayloadOverTheLimitIsRefusedBeforeItArrives) {
  FrameDecoder decoder({.payload_size_max = 10});
  decoder.Feed(Encoded({FrameType::kRequest, 1, "", std::string(11, 'x')}).substr(0, 32));
  EXPECT_EQ(decoder.Next().status().code(), StatusCode::kResourceExhausted);
}

// Admits payloads up to a size, and notes what it was asked.
struct SizeGate final : public PayloadGate {
  bool Admit(const FrameView& head, size_t payload_size) override {
    asked.push_back({head.call, payload_size});
    EXPECT_EQ(head.section, EncodeRequestHeader(EchoHeader()));
    EXPECT_EQ(head.payload, "");
    return payload_size <= 300'000;
  }
  std::vector<std::pair<uint64_t, size_t>> asked;
};

TEST(FrameTest, PayloadThatIsNotAdmittedIsDroppedInAnyCutting) {
  const std::vector<size_t> sizes = {10, 400'000, 4095, 300'000, 500'000, 5000, 1};
  std::string bytes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_TRUE(AppendFrame(FrameType::kRequest, i + 1, EncodeRequestHeader(EchoHeader()),
                            std::string(sizes[i], static_cast<char>('a' + i)), &bytes)
                    .ok());
  }
  for (const size_t chunk_size : {size_t{999}, size_t{65'536}, size_t{350'000}, bytes.size()}) {
    SizeGate gate;
    FrameDecoder decoder({}, &gate);
    std::vector<Frame> frames;
    for (size_t at = 0; at < bytes.size(); at += chunk_size) {
      decoder.Feed(std::string_view(bytes).substr(at, chunk_size));
      while (std::optional<Frame> frame = *decoder.Next()) frames.push_back(*std::move(frame));
      EXPECT_LE(decoder.buffered_size(), std::max<size_t>(chunk_size, 301'000));
    }
    ASSERT_EQ(frames.size(), sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(frames[i].call, i + 1);
      EXPECT_EQ(frames[i].skipped, sizes[i] > 300'000);
      const size_t kept = frames[i].skipped ? 0 : sizes[i];
      EXPECT_EQ(frames[i].payload, std::string(kept, static_cast<char>('a' + i)));
      EXPECT_EQ(frames[i].section, EncodeRequestHeader(EchoHeader()));
    }
    const std::vector<std::pair<uint64_t, size_t>> asked = {
        {2, 400'000}, {4, 300'000}, {5, 500'000}, {6, 5000}};
    EXPECT_EQ(gate.asked, asked) << "once for each large payload";
    EXPECT_FALSE(decoder.is_mid_frame());
  }
}

// Bytes that are lent are decoded as those that are copied, in any cutting, and are never read
// after Keep.
TEST(FrameTest, LentBytesAreDecodedLikeCopies) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    constexpr size_t kSizes[] = {0, 5, 100, 4096, 40'000, 300'000, 400'000};
    std::string bytes;
    for (uint64_t call = 1; call <= 20; ++call) {
      const size_t size = kSizes[random() % std::size(kSizes)];
      ASSERT_TRUE(AppendFrame(FrameType::kRequest, call, EncodeRequestHeader(EchoHeader()),
                              std::string(size, static_cast<char>('a' + call)), &bytes)
                      .ok());
    }
    SizeGate gate;
    SizeGate gate_of_copies;
    FrameDecoder decoder({}, &gate);
    FrameDecoder copying({}, &gate_of_copies);
    for (size_t at = 0; at < bytes.size();) {
      const size_t size = 1 + random() % (random() % 2 == 0 ? 200 : 100'000);
      std::string read = bytes.substr(at, size);
      at += read.size();
      decoder.Lend(read);
      copying.Feed(read);
      FrameView frame;
      while (decoder.FindNext(&frame)) {
        const Frame expected = **copying.Next();
        EXPECT_EQ(frame.call, expected.call) << "seed " << seed;
        EXPECT_EQ(frame.section, expected.section) << "seed " << seed;
        EXPECT_EQ(frame.skipped, expected.skipped) << "seed " << seed;
        EXPECT_EQ(decoder.TakePayload(frame), expected.payload) << "seed " << seed;
      }
      ASSERT_TRUE(decoder.error().ok()) << decoder.error();
      EXPECT_FALSE(copying.Next()->has_value());
      decoder.Keep();
      EXPECT_EQ(decoder.buffered_size(), copying.buffered_size());
      read.assign(read.size(), '#');
    }
    EXPECT_FALSE(decoder.is_mid_frame());
  }
}

TEST(FrameTest, AHeaderThatIsUsedAgainIsTheSameAsAFreshOne) {
  std::mt19937_64 random(7);
  constexpr const char* kNames[] = {"echo", "eche", "a-name-that-is-longer-than-most", ""};
  const auto any_name = [&] { return std::string(kNames[random() % std::size(kNames)]); };
  SentNames sent;
  RequestDecoder decoder;
  RequestHeader again;
  for (int i = 0; i < 5000; ++i) {
    RequestHeader header;
    header.service = ServiceName(any_name());
    header.method = MethodName(any_name());
    header.service_class = any_name();
    header.extension = any_name();
    header.access = random() % 2 == 0 ? AccessMode::kWrite : AccessMode::kRead;
    header.partition = PartitionId(static_cast<uint32_t>(random() % 3));
    if (random() % 2 == 0) header.time_left = std::chrono::microseconds(random() % 1000);
    header.waited = std::chrono::microseconds(random() % 2);
    header.trace.sampled = random() % 2 == 0;
    header.trace.span = random() % 2;
    std::optional<NameNumber> number;
    if (random() % 4 > 0) {
      number = sent.NumberOf(header.service, header.method, header.service_class);
    }
    ASSERT_TRUE(decoder.Decode(EncodeRequestHeader(header, number), &again).ok());
    EXPECT_EQ(again, header) << "request " << i;
    EXPECT_EQ(decoder.note() != nullptr, number.has_value());
    // What handlers do to a request.
    if (random() % 5 == 0) again.service_class = any_name();
    if (random() % 5 == 0) (void)RequestHeader(std::move(again));
    if (random() % 5 == 0) (void)std::string(std::move(again.extension));
    if (random() % 9 == 0) {
      EXPECT_FALSE(decoder.Decode("malformed", &again).ok());
    }
  }
}

TEST(FrameTest, ANoteBelongsToTheNamesOfANumber) {
  SentNames sent;
  RequestDecoder decoder;
  RequestHeader decoded;
  const auto note_of = [&](const char* method) {
    RequestHeader header = EchoHeader();
    header.method = MethodName(method);
    const auto number = sent.NumberOf(header.service, header.method, header.service_class);
    EXPECT_TRUE(decoder.Decode(EncodeRequestHeader(header, number), &decoded).ok());
    return decoder.note();
  };
  const int first = 1;
  const int second = 2;
  note_of("First")->method = &first;
  EXPECT_EQ(note_of("Second")->method, nullptr);
  note_of("Second")->method = &second;
  EXPECT_EQ(note_of("First")->method, &first);
  EXPECT_EQ(note_of("Second")->method, &second);
}

TEST(FrameTest, DamageInADroppedPayloadIsFound) {
  std::string bytes;
  ASSERT_TRUE(AppendFrame(FrameType::kRequest, 1, EncodeRequestHeader(EchoHeader()),
                          std::string(400'000, 'x'), &bytes)
                  .ok());
  bytes[bytes.size() / 2] ^= 1;
  SizeGate gate;
  FrameDecoder decoder({}, &gate);
  decoder.Feed(std::string_view(bytes).substr(0, 1000));
  EXPECT_FALSE(decoder.Next()->has_value());
  EXPECT_TRUE(decoder.is_mid_frame());
  decoder.Feed(std::string_view(bytes).substr(1000));
  EXPECT_EQ(decoder.Next().status().code(), StatusCode::kDataLoss);
}

TEST(FrameTest, TruncatedHeadersAreRefused) {
  const std::string section = EncodeRequestHeader(EchoHeader());
  for (size_t size = 0; size < section.size(); ++size) {
    EXPECT_FALSE(DecodeRequestHeader(section.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(DecodeRequestHeader(section + "x").ok());
}

}  // namespace
}  // namespace neptune
