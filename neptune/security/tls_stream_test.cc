// Two ends of TLS over a connection of the simulated world, and the bytes they write below.

#include "neptune/security/tls_stream.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>

#include "neptune/base/strings.h"
#include "neptune/security/certificate_maker.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::seconds;

// Bytes written below.
struct Written {
  int count = 0;
  size_t size = 0;
};

class CountingStream final : public Stream {
 public:
  CountingStream(std::unique_ptr<Stream> below, Written* written)
      : below_(std::move(below)), written_(*written) {}
  void Start(StreamHandler* handler) override { below_->Start(handler); }
  void Write(std::string bytes) override {
    ++written_.count;
    written_.size += bytes.size();
    below_->Write(std::move(bytes));
  }
  size_t unsent_size() const override { return below_->unsent_size(); }
  void SetReading(bool on) override { below_->SetReading(on); }
  void Close() override { below_->Close(); }
  Endpoint peer() const override { return below_->peer(); }

 private:
  const std::unique_ptr<Stream> below_;
  Written& written_;
};

struct End final : public StreamHandler {
  void OnData(std::string_view bytes) override { received += bytes; }
  void OnClosed(const Status& status) override { closed = status; }

  std::unique_ptr<TlsStream> stream;
  std::string received;
  std::optional<Status> closed;
};

std::string Put(const std::string& name, const std::string& contents) {
  const std::string path = StrCat(testing::TempDir(), "/", name);
  std::filesystem::remove(path);
  std::ofstream(path) << contents;
  chmod(path.c_str(), 0600);
  return path;
}

class TlsStreamTest : public testing::Test {
 protected:
  TlsStreamTest() : simulator_(1) {
    for (const char* name : {"caller", "server"}) {
      HostOptions options;
      options.name = name;
      options.boot = [](World&) { return std::make_shared<int>(0); };
      simulator_.AddHost(std::move(options));
    }
    const Validity validity{WallTime{1500000000ll * 1000000000},
                            WallTime{4000000000ll * 1000000000}};
    const auto authority = MakeAuthority("test", validity);
    const auto own = MakeCertificate(*authority, "node", {}, validity);
    const TlsFiles files = {Put("own.crt", own->certificate), Put("own.key", own->key),
                            Put("authority.crt", authority->certificate)};
    context_ = *TlsContext::Load(TlsUse::kNodes, files,
                                 [] { return WallTime{1600000000ll * 1000000000}; });
    caller_loop_ = *simulator_.host("caller").StartLoop({.name = "loop"});
    server_loop_ = *simulator_.host("server").StartLoop({.name = "loop"});
    Connect();
  }
  ~TlsStreamTest() override {
    caller_.stream.reset();
    server_.stream.reset();
    listener_.reset();
  }

  void Connect() {
    const Endpoint address{simulator_.host("server").address(), 77};
    server_loop_->Post([this, address] {
      listener_ =
          *server_loop_->network().Listen(address, {}, [this](std::unique_ptr<Stream> stream) {
            Open(std::move(stream), *server_loop_, true, &server_);
          });
    });
    simulator_.RunFor(seconds(1));
    caller_loop_->Post([this, address] {
      caller_loop_->network().Connect(
          address, caller_loop_->Now() + seconds(1), [this](StatusOr<std::unique_ptr<Stream>> s) {
            Open(std::make_unique<CountingStream>(*std::move(s), &written_), *caller_loop_, false,
                 &caller_);
          });
    });
    simulator_.RunFor(seconds(1));
    ASSERT_EQ(open_count_, 2);
    written_ = Written();
  }

  void Open(std::unique_ptr<Stream> below, Loop& loop, bool accepts, End* end) {
    end->stream = std::make_unique<TlsStream>(loop, std::move(below), *context_, accepts);
    end->stream->Secure([this, end](const Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      ++open_count_;
      end->stream->Start(end);
    });
  }

  // Runs `work` in one turn of the caller's loop, then lets the simulation continue.
  void OnCaller(std::function<void()> work) {
    caller_loop_->Post([work = std::move(work)] { work(); });
    simulator_.RunFor(seconds(5));
  }

  Simulator simulator_;
  Loop* caller_loop_ = nullptr;
  Loop* server_loop_ = nullptr;
  std::shared_ptr<TlsContext> context_;
  std::unique_ptr<Listener> listener_;
  Written written_;  // written by the caller since the stream was opened
  End caller_;
  End server_;
  int open_count_ = 0;
};

TEST_F(TlsStreamTest, APeerWithoutTlsIsPassedOnIfThatIsTaken) {
  const Endpoint address{simulator_.host("server").address(), 78};
  std::unique_ptr<Listener> listener;
  End plain;
  server_loop_->Post([&] {
    listener = *server_loop_->network().Listen(address, {}, [&](std::unique_ptr<Stream> stream) {
      plain.stream = std::make_unique<TlsStream>(*server_loop_, std::move(stream), *context_, true);
      plain.stream->TakePlain();
      plain.stream->Secure([&](const Status& status) {
        EXPECT_TRUE(status.ok()) << status;
        plain.stream->Start(&plain);
      });
    });
  });
  simulator_.RunFor(seconds(1));
  End caller;
  std::unique_ptr<Stream> stream;
  OnCaller([&] {
    caller_loop_->network().Connect(address, caller_loop_->Now() + seconds(1),
                                    [&](StatusOr<std::unique_ptr<Stream>> made) {
                                      stream = *std::move(made);
                                      stream->Start(&caller);
                                      stream->Write("GET / ");
                                    });
  });
  OnCaller([&] { stream->Write("HTTP/1.1"); });
  EXPECT_EQ(plain.received, "GET / HTTP/1.1");
  EXPECT_FALSE(plain.stream->is_encrypted());
  EXPECT_TRUE(server_.stream->is_encrypted());
  server_loop_->Post([&] {
    plain.stream->Write(std::string(100'000, 'x'));
    plain.stream->Close();
  });
  simulator_.RunFor(seconds(5));
  EXPECT_EQ(caller.received, std::string(100'000, 'x'));
  ASSERT_TRUE(caller.closed.has_value());
  EXPECT_TRUE(caller.closed->ok());
  stream.reset();
  plain.stream.reset();
  listener.reset();
}

TEST_F(TlsStreamTest, SmallWritesOfOneTurnLeaveTogether) {
  std::string all;
  OnCaller([&] {
    for (int i = 0; i < 100; ++i) {
      const std::string message = StrCat("message ", i, ";");
      all += message;
      caller_.stream->Write(message);
      EXPECT_EQ(caller_.stream->unsent_size(), all.size());
    }
  });
  EXPECT_EQ(server_.received, all);
  EXPECT_EQ(written_.count, 1);
  EXPECT_LE(written_.size, all.size() + 64);  // one record
}

TEST_F(TlsStreamTest, WritesOfSeveralTurnsArriveInOrder) {
  for (const char* text : {"one ", "two ", "three"}) {
    OnCaller([&] { caller_.stream->Write(text); });
  }
  EXPECT_EQ(server_.received, "one two three");
  EXPECT_EQ(written_.count, 3);
}

TEST_F(TlsStreamTest, BytesOfAllSizesArriveUnchanged) {
  std::mt19937_64 random(7);
  std::string all;
  OnCaller([&] {
    for (int i = 0; i < 200; ++i) {
      const size_t size = random() % (i % 20 == 0 ? 100'000 : 3'000);
      std::string bytes(size, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      all += bytes;
      caller_.stream->Write(std::move(bytes));
    }
  });
  EXPECT_TRUE(server_.received == all) << server_.received.size() << " of " << all.size();
}

TEST_F(TlsStreamTest, WritesInTheTurnOfTheCloseArrive) {
  OnCaller([&] {
    caller_.stream->Write("last words");
    caller_.stream->Close();
  });
  EXPECT_EQ(server_.received, "last words");
  ASSERT_TRUE(server_.closed.has_value());
  EXPECT_TRUE(server_.closed->ok()) << *server_.closed;
}

TEST_F(TlsStreamTest, ADestroyedStreamWritesNothing) {
  OnCaller([&] {
    caller_.stream->Write("never sent");
    caller_.stream.reset();
  });
  EXPECT_EQ(server_.received, "");
  EXPECT_EQ(written_.count, 0);
}

TEST_F(TlsStreamTest, ReadsNothingWhileReadingIsOff) {
  server_loop_->Post([&] { server_.stream->SetReading(false); });
  OnCaller([&] { caller_.stream->Write(std::string(50'000, 'x')); });
  EXPECT_EQ(server_.received.size(), 0u);
  server_loop_->Post([&] { server_.stream->SetReading(true); });
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(server_.received.size(), 50'000u);
}

}  // namespace
}  // namespace neptune
