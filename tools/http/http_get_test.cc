#include "tools/http/http_get.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

// A server on the loopback that accepts one connection, reads the head of a request, sends `answer`
// and closes. A silent one waits until the client goes instead.
class OneShotServer {
 public:
  explicit OneShotServer(std::string answer, bool is_silent = false)
      : answer_(std::move(answer)), is_silent_(is_silent) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~OneShotServer() {
    thread_.join();
    close(listener_);
  }

  HttpOrigin target() const { return *ParseHttpOrigin(neptune::StrCat("127.0.0.1:", port_)); }
  const std::string& request() const { return request_; }

 private:
  void Serve() {
    const int connection = accept(listener_, nullptr, nullptr);
    char buffer[4096];
    while (request_.find("\r\n\r\n") == std::string::npos || is_silent_) {
      const ssize_t size = recv(connection, buffer, sizeof(buffer), 0);
      if (size <= 0) break;
      request_.append(buffer, size);
    }
    send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    close(connection);
  }

  const std::string answer_;
  const bool is_silent_;
  int listener_;
  int port_;
  std::string request_;
  std::thread thread_;
};

TEST(HttpGetTest, ReturnsStatusAndBody) {
  OneShotServer server("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nnope!");
  const auto response = HttpGet(server.target(), "/search?q=a+b", {{"Accept", "x/y"}}, {});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->body, "nope!");
  EXPECT_TRUE(server.request().starts_with("GET /search?q=a+b HTTP/1.1\r\n")) << server.request();
  EXPECT_NE(server.request().find("Accept: x/y"), std::string::npos);
}

TEST(HttpGetTest, BodyWithoutLengthEndsWithTheConnection) {
  OneShotServer server("HTTP/1.1 200 OK\r\n\r\nall of it");
  const auto response = HttpGet(server.target(), "/", {}, {});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "all of it");
}

TEST(HttpGetTest, ConnectionCutInTheMiddleIsAnError) {
  OneShotServer server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart");
  EXPECT_EQ(HttpGet(server.target(), "/", {}, {}).status().code(),
            neptune::StatusCode::kUnavailable);
}

TEST(HttpGetTest, ConnectionClosedAtOnceIsAnError) {
  OneShotServer server("");
  EXPECT_FALSE(HttpGet(server.target(), "/", {}, {}).ok());
}

TEST(HttpGetTest, NonsenseIsAnError) {
  OneShotServer server("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_FALSE(HttpGet(server.target(), "/", {}, {}).ok());
}

TEST(HttpGetTest, OversizedBodyIsAnError) {
  OneShotServer server("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n01234567890");
  EXPECT_FALSE(HttpGet(server.target(), "/", {}, {.body_size_max = 10}).ok());
}

TEST(HttpGetTest, SilentServerRunsIntoTheDeadline) {
  OneShotServer server("", /*is_silent=*/true);
  const auto response =
      HttpGet(server.target(), "/", {}, {.timeout = std::chrono::milliseconds(30)});
  EXPECT_EQ(response.status().code(), neptune::StatusCode::kDeadlineExceeded);
}

TEST(HttpGetTest, RefusedConnectionNamesTheServer) {
  // The port is bound and not listening, so that no other program gets it and connecting is
  // refused.
  const int holder = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(holder, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  socklen_t size = sizeof(address);
  getsockname(holder, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string url = neptune::StrCat("127.0.0.1:", ntohs(address.sin_port));
  const auto response = HttpGet(*ParseHttpOrigin(url), "/", {}, {});
  close(holder);
  EXPECT_EQ(response.status().code(), neptune::StatusCode::kUnavailable);
  EXPECT_NE(neptune::ToStd(response.status().message()).find(url), std::string::npos);
}

TEST(HttpOriginTest, TakesUrlsAndBareAddresses) {
  const auto url = ParseHttpOrigin("http://search.example:8080/");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->host, "search.example");
  EXPECT_EQ(url->port, "8080");
  EXPECT_EQ(url->base_url, "http://search.example:8080");
  EXPECT_EQ(ParseHttpOrigin("localhost")->port, "80");
  EXPECT_EQ(ParseHttpOrigin("[::1]:81")->host, "::1");
  EXPECT_EQ(ParseHttpOrigin("[::1]:81")->port, "81");
}

TEST(HttpOriginTest, RefusesOthers) {
  for (const char* url : {"", "http://", "https://a", "http://a:b", "a:0", "a:65536", "a/path",
                          "[::1", "[::1]80", "[]:80", "a b", "u@h", ":80", "a\r\nb"}) {
    EXPECT_FALSE(ParseHttpOrigin(url).ok()) << url;
  }
}

}  // namespace
}  // namespace search::tools
