#include "tools/lab/capsules/silent_dependency.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::Unavailable;

constexpr int kBacklog = 4096;

Status Failure(const char* what) { return Unavailable(what, ": ", std::strerror(errno)); }

// A descriptor that is closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int number() const { return number_; }

 private:
  int number_;
};

// A socket on loopback, with a port that the system chooses.
struct LocalSocket {
  Descriptor descriptor;
  sockaddr_in address{};

  const sockaddr* plain() const { return reinterpret_cast<const sockaddr*>(&address); }
  uint16_t port() const { return ntohs(address.sin_port); }
};

StatusOr<LocalSocket> BindLocally(int type) {
  LocalSocket made{.descriptor = Descriptor(socket(AF_INET, type | SOCK_CLOEXEC, 0))};
  made.address.sin_family = AF_INET;
  made.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(made.address);
  auto* const plain = reinterpret_cast<sockaddr*>(&made.address);
  if (bind(made.descriptor.number(), plain, size) != 0 ||
      getsockname(made.descriptor.number(), plain, &size) != 0) {
    return Failure("a local socket");
  }
  return made;
}

Status ReadByte(int descriptor, const char* what) {
  char byte;
  return read(descriptor, &byte, 1) == 1 ? OkStatus() : Failure(what);
}

class SilentPeer final : public SilentDependency {
 public:
  explicit SilentPeer(LocalSocket listener) : listener_(std::move(listener)) {}

  Status Ask() override {
    const Descriptor connection(socket(AF_INET, SOCK_STREAM, 0));
    if (connect(connection.number(), listener_.plain(), sizeof(listener_.address)) != 0) {
      return Failure("connecting to the peer");
    }
    return ReadByte(connection.number(), "reading from the peer");
  }
  void LetGo(int count) override {
    for (int i = 0; i < count; ++i) {
      const Descriptor connection(accept(listener_.descriptor.number(), nullptr, nullptr));
      (void)!write(connection.number(), "x", 1);
    }
  }
  std::string Rule() const override { return StrCat("inet:127.0.0.1:", listener_.port()); }

 private:
  const LocalSocket listener_;
};

class SilentFifo final : public SilentDependency {
 public:
  explicit SilentFifo(std::string folder) : folder_(std::move(folder)), path_(folder_ + "/fifo") {}
  ~SilentFifo() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  Status Make() {
    if (mkfifo(path_.c_str(), 0600) != 0) return Failure("a FIFO");
    writer_ = Descriptor(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    return writer_.number() >= 0 ? OkStatus() : Failure("opening the FIFO");
  }
  Status Ask() override {
    const Descriptor reader(open(path_.c_str(), O_RDONLY));
    if (reader.number() < 0) return Failure("opening the FIFO");
    return ReadByte(reader.number(), "reading from the FIFO");
  }
  void LetGo(int count) override {
    const std::vector<char> bytes(static_cast<size_t>(count));
    (void)!write(writer_.number(), bytes.data(), bytes.size());
  }
  std::string Rule() const override { return "disk:" + path_; }

 private:
  const std::string folder_;
  const std::string path_;
  Descriptor writer_;
};

class FullListener final : public SilentDependency {
 public:
  explicit FullListener(LocalSocket listener) : listener_(std::move(listener)) {}

  // Connects until a connection is not established.
  Status Fill() {
    if (listen(listener_.descriptor.number(), 0) != 0) return Failure("listening");
    constexpr int kFillMax = 16;
    for (int i = 0; i < kFillMax; ++i) {
      fillers_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      // Long enough for a connection on the same machine.
      const timeval limit{.tv_sec = 0, .tv_usec = 50'000};
      setsockopt(fillers_.back().number(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
      if (Connect(fillers_.back().number()) != 0) return OkStatus();
    }
    return Unavailable("a listener that does not become full");
  }
  Status Ask() override {
    const Descriptor connection(socket(AF_INET, SOCK_STREAM, 0));
    return Connect(connection.number()) == 0 ? OkStatus() : Failure("connecting to nowhere");
  }
  void LetGo(int) override { listen(listener_.descriptor.number(), kBacklog); }
  std::string Rule() const override { return StrCat("inet:127.0.0.1:", listener_.port()); }

 private:
  int Connect(int descriptor) const {
    return connect(descriptor, listener_.plain(), sizeof(listener_.address));
  }

  const LocalSocket listener_;
  std::vector<Descriptor> fillers_;
};

class SilentNameServer final : public SilentDependency {
 public:
  explicit SilentNameServer(LocalSocket socket) : socket_(std::move(socket)) {}
  ~SilentNameServer() override {
    ends_ = true;
    // Wakes the answering thread, which waits for a query.
    sendto(socket_.descriptor.number(), "", 0, 0, socket_.plain(), sizeof(socket_.address));
    if (answerer_.joinable()) answerer_.join();
  }

  Status Ask() override {
    addrinfo* list = nullptr;
    const int result = getaddrinfo("silent.example", nullptr, nullptr, &list);
    if (result == EAI_NONAME) return OkStatus();  // the resolver gave up
    return Unavailable("a name: ", gai_strerror(result));
  }
  void LetGo(int) override {
    answerer_ = std::thread([this] { Answer(); });
  }
  std::string Rule() const override { return "disk:/etc/resolv.conf"; }

 private:
  // The query, turned into the answer "no such name" (RFC 1035, 4.1.1).
  void Answer() {
    constexpr size_t kHeaderSize = 12;
    constexpr char kIsResponse = static_cast<char>(0x80);
    constexpr char kNoSuchName = 3;
    std::array<char, 512> message;
    sockaddr_in from{};
    while (!ends_) {
      socklen_t size = sizeof(from);
      auto* const plain = reinterpret_cast<sockaddr*>(&from);
      const ssize_t length =
          recvfrom(socket_.descriptor.number(), message.data(), message.size(), 0, plain, &size);
      if (length < static_cast<ssize_t>(kHeaderSize)) continue;
      message[2] |= kIsResponse;
      message[3] = static_cast<char>((message[3] & 0xf0) | kNoSuchName);
      sendto(socket_.descriptor.number(), message.data(), static_cast<size_t>(length), 0, plain,
             size);
    }
  }

  const LocalSocket socket_;
  std::atomic<bool> ends_{false};
  std::thread answerer_;
};

}  // namespace

StatusOr<std::unique_ptr<SilentDependency>> MakeSilentPeer() {
  NEPTUNE_ASSIGN_OR_RETURN(LocalSocket listener, BindLocally(SOCK_STREAM));
  if (listen(listener.descriptor.number(), kBacklog) != 0) return Failure("listening");
  return std::make_unique<SilentPeer>(std::move(listener));
}

StatusOr<std::unique_ptr<SilentDependency>> MakeSilentFifo() {
  std::string pattern = (std::filesystem::temp_directory_path() / "silent.XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return Failure("a folder for a FIFO");
  auto fifo = std::make_unique<SilentFifo>(pattern);
  NEPTUNE_RETURN_IF_ERROR(fifo->Make());
  return fifo;
}

StatusOr<std::unique_ptr<SilentDependency>> MakeFullListener() {
  NEPTUNE_ASSIGN_OR_RETURN(LocalSocket listener, BindLocally(SOCK_STREAM));
  auto full = std::make_unique<FullListener>(std::move(listener));
  NEPTUNE_RETURN_IF_ERROR(full->Fill());
  return full;
}

StatusOr<std::unique_ptr<SilentDependency>> MakeSilentNameServer(uint16_t* port) {
  NEPTUNE_ASSIGN_OR_RETURN(LocalSocket socket, BindLocally(SOCK_DGRAM));
  *port = socket.port();
  return std::make_unique<SilentNameServer>(std::move(socket));
}

void UseNameServer(uint16_t port) {
  res_init();
  _res.options |= RES_NORELOAD;
  _res.nscount = 1;
  _res.nsaddr_list[0] = {};
  _res.nsaddr_list[0].sin_family = AF_INET;
  _res.nsaddr_list[0].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  _res.nsaddr_list[0].sin_port = htons(port);
}

}  // namespace search::lab
