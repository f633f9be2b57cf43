// What the server answers to single requests, by the rules that an HTTP/1.1 server must keep (RFC
// 9110, RFC 9112): cases of the kind that public probes send (h1spec, http-garden), each with the
// section that says so.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/http/http_router.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint16_t kPort = 80;

// Collects the bytes that a server sends.
class RawClient final : public StreamHandler {
 public:
  RawClient(Loop& loop, const Endpoint& server, std::string bytes) {
    loop.network().Connect(server, loop.Now() + seconds(1),
                           [this, bytes](StatusOr<std::unique_ptr<Stream>> stream) {
                             stream_ = *std::move(stream);
                             stream_->Start(this);
                             stream_->Write(bytes);
                           });
  }
  const std::string& received() const { return received_; }
  bool closed() const { return closed_; }

 private:
  void OnData(std::string_view bytes) override { received_ += bytes; }
  void OnClosed(const Status&) override { closed_ = true; }

  std::unique_ptr<Stream> stream_;
  std::string received_;
  bool closed_ = false;
};

class HttpConformanceTest : public testing::Test {
 protected:
  HttpConformanceTest() {
    World& world = simulator_.AddHost({.name = "server"});
    server_loop_ = *world.StartLoop({.name = "loop"});
    client_loop_ = *simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"});
    const HttpHandler echo = [](const HttpRequest& request) {
      return HttpResponse::Text(
          200, StrCat(request.headers.Get("Host"), "|", request.target, "|", request.body));
    };
    router_.Add("GET", "/", echo).Add("GET", "/a", echo).Add("POST", "/a", echo);
    router_.Add("GET", "/empty", [](const HttpRequest&) {
      return HttpResponse{.status = 204, .headers = {}, .body = {}};
    });
    server_loop_->Post([this, &world] {
      threads_ = std::make_unique<ThreadScheduler>(*server_loop_, ThreadSchedulerOptions());
      HttpServerOptions options;
      options.at_header = [this](HttpRequest* head) { return router_.AtHeader(head); };
      server_ = std::make_unique<HttpServer>(
          world, *threads_, options,
          [this](const HttpRequest& request) { return router_.Handle(request); });
      ASSERT_TRUE(server_->Listen({0, kPort}).ok());
    });
    simulator_.RunFor(milliseconds(1));
  }
  ~HttpConformanceTest() override {
    server_.reset();
    threads_->Stop();
    simulator_.RunFor(seconds(10));
  }

  struct Answer {
    std::string bytes;
    bool closed = false;  // the server has ended the connection
    int status() const {
      return bytes.starts_with("HTTP/1.1 ") ? std::stoi(bytes.substr(9, 3)) : 0;
    }
    std::string head() const { return bytes.substr(0, bytes.find("\r\n\r\n") + 2); }
    std::string body() const { return bytes.substr(std::min(bytes.size(), head().size() + 2)); }
    bool Has(std::string_view header) const {
      return head().find(StrCat("\r\n", header)) != std::string::npos;
    }
  };
  Answer Ask(std::string_view bytes) {
    RawClient client(*client_loop_, {simulator_.host("server").address(), kPort},
                     std::string(bytes));
    simulator_.RunFor(seconds(2));
    return {client.received(), client.closed()};
  }

  Simulator simulator_{1};
  Loop* server_loop_;
  Loop* client_loop_;
  HttpRouter router_;
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<HttpServer> server_;
};

struct Case {
  std::string_view rule;
  std::string_view bytes;
  int status;  // 0: no answer yet
  bool closes = false;
};

constexpr Case kCases[] = {
    // The request line.
    {"9112 3: a request", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 200},
    {"9112 2.2: an empty line before it is skipped", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
     200},
    {"9112 2.2: a bare LF ends no line", "GET / HTTP/1.1\nHost: x\n\n", 400, true},
    {"9112 2.2: a bare CR ends nothing", "GET / HTTP/1.1\rHost: x\r\r\r\n\r\n", 400, true},
    {"9112 2.2: a bare CR in a value", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n", 400,
     true},
    {"9112 2.2: a blank before the first header", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400, true},
    {"9112 3: two blanks", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9112 3: a tab", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9112 3: a blank in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9112 3: a blank at the end", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400, true},
    {"9112 3: no target", "GET HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9112 3: no version (HTTP/0.9)", "GET /\r\n\r\n", 400, true},
    {"9112 3.1: methods are case-sensitive", "get / HTTP/1.1\r\nHost: x\r\n\r\n", 501},
    {"9110 9.1: an unknown method", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 501},
    {"9110 9.1: an unknown method and path", "BREW /no HTTP/1.1\r\nHost: x\r\n\r\n", 501},
    {"9110 9.1: a method with a separator", "G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9110 15.5.6: a method that the path does not have", "DELETE /a HTTP/1.1\r\nHost: x\r\n\r\n",
     405},
    {"9110 9.3.8: TRACE", "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 405},
    {"9110 9.3.6: CONNECT", "CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n", 501, true},
    {"9110 2.5: a higher major version", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505, true},
    {"9110 2.5: a lower major version", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505, true},
    {"9113 3.4: the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, true},
    {"9112 2.3: a version that is none", "GET / HTTP/1\r\nHost: x\r\n\r\n", 400, true},
    {"9112 2.3: more digits", "GET / HTTP/1.10\r\nHost: x\r\n\r\n", 400, true},
    {"9112 2.3: the name of the protocol is case-sensitive", "GET / http/1.1\r\nHost: x\r\n\r\n",
     400, true},
    {"9112 2.3: another protocol", "GET / FTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"a TLS client at a port without TLS", "\x16\x03\x01\x02", 400, true},
    // The target.
    {"9112 3.2.1: not a path", "GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9112 3.2: a fragment", "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9112 3.2.2: absolute form", "GET http://y/a HTTP/1.1\r\nHost: x\r\n\r\n", 200},
    {"9112 3.2.2: absolute form without a path", "GET HTTP://y HTTP/1.1\r\nHost: x\r\n\r\n", 200},
    {"9110 4.2: another scheme", "GET ftp://y/a HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9110 4.2.4: a user in the authority", "GET http://u@y/ HTTP/1.1\r\nHost: x\r\n\r\n", 400,
     true},
    {"9110 4.2.1: an empty host", "GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9112 3.2.3: authority form", "GET x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9112 3.2.4: asterisk form", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 204},
    {"9112 3.2.4: the same, absolute", "OPTIONS http://x HTTP/1.1\r\nHost: x\r\n\r\n", 204},
    {"9112 3.2.4: only for OPTIONS", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"3986 2.1: a broken escape", "GET /%4 HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"a zero byte in a parameter", "GET /a?b=1%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400, true},
    {"9110 15.5.5: an unknown path", "GET /no HTTP/1.1\r\nHost: x\r\n\r\n", 404},
    // Host.
    {"9112 3.2: no Host", "GET / HTTP/1.1\r\n\r\n", 400, true},
    {"9112 3.2: no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 200, true},
    {"9112 3.2: two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400, true},
    {"9112 3.2: two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400, true},
    {"9110 7.2: an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 200},
    {"9112 3.2: a list as Host", "GET / HTTP/1.1\r\nHost: x, y\r\n\r\n", 400, true},
    {"9112 3.2: a url as Host", "GET / HTTP/1.1\r\nHost: http://x\r\n\r\n", 400, true},
    {"9112 3.2: a path in Host", "GET / HTTP/1.1\r\nHost: x/a\r\n\r\n", 400, true},
    {"9112 3.2: a user in Host", "GET / HTTP/1.1\r\nHost: u@x\r\n\r\n", 400, true},
    {"9112 3.2: a port that is none", "GET / HTTP/1.1\r\nHost: x:8a\r\n\r\n", 400, true},
    {"9110 7.2: an address and port", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200},
    // Headers.
    {"9112 5.1: a blank before the colon", "GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", 400, true},
    {"9112 5.1: no colon", "GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n", 400, true},
    {"9112 5.1: no name", "GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n", 400, true},
    {"9110 5.6.2: a name with a separator", "GET / HTTP/1.1\r\nHost: x\r\nA(: b\r\n\r\n", 400,
     true},
    {"9110 5.5: an empty value", "GET / HTTP/1.1\r\nHost: x\r\nA:\r\n\r\n", 200},
    {"9112 5.1: blanks around a value", "GET / HTTP/1.1\r\nHost:\t x \t\r\n\r\n", 200},
    {"9110 5.5: signs beyond ASCII", "GET / HTTP/1.1\r\nHost: x\r\nA: \xc3\xa4\r\n\r\n", 200},
    {"9112 5.2: a folded header", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400, true},
    {"9112 5.2: folded with a tab", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n", 400, true},
    {"9110 5.5: a control sign", "GET / HTTP/1.1\r\nHost: x\r\nA: \x01\r\n\r\n", 400, true},
    {"9110 7.8: an upgrade is passed over",
     "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 200},
    // Connections.
    {"9112 9.3: HTTP/1.1 stays", "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
     200},
    {"9112 9.6: close", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, true},
    {"9110 7.6.1: close in a list", "GET / HTTP/1.1\r\nHost: x\r\nConnection: a, Close\r\n\r\n",
     200, true},
    {"9112 9.3: HTTP/1.0 ends", "GET / HTTP/1.0\r\nHost: x\r\n\r\n", 200, true},
    {"9112 9.3: HTTP/1.0 that stays", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200},
    // Bodies with a length.
    {"9112 6.3: a length", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", 200},
    {"9112 6.3: no length, no body", "POST /a HTTP/1.1\r\nHost: x\r\n\r\n", 200},
    {"9110 8.6: zeros before it", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 002\r\n\r\nab",
     200},
    {"9112 6.3: a part of the body", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab",
     0},
    {"9110 9.3.1: GET with a body", "GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab",
     200},
    {"9110 8.6: a sign", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\nab", 400, true},
    {"9110 8.6: below zero", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: -2\r\n\r\nab", 400,
     true},
    {"9110 8.6: hexadecimal", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0x2\r\n\r\nab", 400,
     true},
    {"9110 8.6: no number", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", 400, true},
    {"9110 8.6: two numbers", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2 2\r\n\r\nab", 400,
     true},
    {"9110 8.6: a list of equal ones",
     "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 2\r\n\r\nab", 400, true},
    {"9110 8.6: repeated",
     "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab", 400, true},
    {"9112 6.3: differing",
     "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab", 400, true},
    {"9110 8.6: beyond 64 bits",
     "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400, true},
    {"9110 15.5.14: too large", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4097\r\n\r\n", 413,
     true},
    // Bodies in chunks.
    {"9112 7.1: chunks",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
     "chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n",
     200},
    {"9112 7: the name of the coding, any case",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", 200},
    {"9112 7.1.1: extensions",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "2;a=b;c=\"d\"\r\nab\r\n0;e\r\n\r\n",
     200},
    {"9112 7.1.1: a line end in an extension",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "2;a=\"\n\"\r\nab\r\n0\r\n\r\n",
     400, true},
    {"9112 7.1.2: trailers",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nT: "
     "u\r\n\r\n",
     200},
    {"9112 5.2: a folded trailer",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "2\r\nab\r\n0;e\r\nT: u\r\n v\r\n\r\n",
     400, true},
    {"9110 6.5.1: a length in the trailers",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "2\r\nab\r\n0\r\nContent-Length: 5\r\n\r\n",
     400, true},
    {"9112 7.1: upper-case digits and zeros",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "000A\r\n0123456789\r\n000\r\n\r\n",
     200},
    {"9112 7.1: no size", "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
     400, true},
    {"9112 7.1: a size that is none",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n", 400,
     true},
    {"9112 7.1: a size with a sign",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\nab\r\n0\r\n\r\n", 400,
     true},
    {"9112 7.1: a blank before the size",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n 2\r\nab\r\n0\r\n\r\n", 400,
     true},
    {"9112 7.1: a size beyond 64 bits",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "10000000000000002\r\nab\r\n0\r\n\r\n",
     400, true},
    {"9112 7.1: more than the size",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400,
     true},
    {"9112 7.1: a bare LF after the size",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n", 400,
     true},
    {"9112 7.1: no last chunk",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", 0},
    {"9112 6.1: with a length",
     "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
     "2\r\nab\r\n0\r\n\r\n",
     400, true},
    {"9112 6.1: another coding before it",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, true},
    {"9112 6.3: chunked is not the last",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400, true},
    {"9112 6.3: no chunked",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 400, true},
    {"9112 6.3: identity is gone",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", 400, true},
    {"9112 6.1: chunked twice",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400,
     true},
    {"9112 6.1: an empty coding",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n", 400, true},
    {"9112 6.1: a disguised coding",
     "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0b"
     "chunked\r\n\r\n0\r\n\r\n",
     400, true},
    {"9112 6.1: HTTP/1.0", "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
     true},
    // Expectations.
    {"9110 10.1.1: 100-continue, body there",
     "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nab", 200},
    {"9110 10.1.1: waits for it",
     "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n", 100},
    {"9110 10.1.1: not without a body",
     "GET /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n", 200},
    {"9110 10.1.1: passed over in HTTP/1.0",
     "POST /a HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", 0},
    {"9110 10.1.1: the answer comes at once",
     "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\nExpect: 100-continue\r\n\r\n", 413,
     true},
    {"9110 15.5.18: another expectation", "GET /a HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n", 417,
     true},
};

TEST_F(HttpConformanceTest, EachRequestHasItsStatus) {
  for (const Case& one : kCases) {
    const Answer answer = Ask(one.bytes);
    EXPECT_EQ(answer.status(), one.status) << one.rule << "\n" << answer.bytes;
    EXPECT_EQ(answer.closed, one.closes) << one.rule;
  }
}

TEST_F(HttpConformanceTest, EveryAnswerHasADateAndItsFraming) {
  for (const Case& one : kCases) {
    const Answer answer = Ask(one.bytes);
    if (answer.status() < 200) continue;
    EXPECT_TRUE(answer.Has("Date: ")) << one.rule;
    EXPECT_EQ(answer.Has("Content-Length: "), answer.status() != 204) << one.rule;
    EXPECT_EQ(answer.Has("Connection: close"), one.closes) << one.rule;
    EXPECT_EQ(answer.Has("Content-Type: application/problem+json"), answer.status() >= 400)
        << one.rule;
    EXPECT_EQ(answer.Has("Allow: "), answer.status() == 405 || answer.status() == 204) << one.rule;
  }
}

TEST_F(HttpConformanceTest, HeadHasTheHeadersOfGetAndNoBody) {
  const Answer get = Ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  const Answer head = Ask("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(get.body(), "x|/a|");
  EXPECT_EQ(head.body(), "");
  EXPECT_TRUE(head.Has("Content-Length: 5\r\n"));
  for (const std::string_view refused :
       {"HEAD /no HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD / HTTP/1.1\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n", "HEAD / HTTP/3.0\r\n\r\n"}) {
    const Answer answer = Ask(refused);
    EXPECT_GE(answer.status(), 400) << refused;
    EXPECT_EQ(answer.body(), "") << refused;
  }
}

TEST_F(HttpConformanceTest, AllowNamesTheMethodsOfThePathOrOfTheServer) {
  EXPECT_TRUE(Ask("PUT /a HTTP/1.1\r\nHost: x\r\n\r\n").Has("Allow: GET, HEAD, POST, OPTIONS\r\n"));
  EXPECT_TRUE(Ask("OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n").Has("Allow: GET, HEAD, OPTIONS\r\n"));
  EXPECT_TRUE(
      Ask("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").Has("Allow: GET, HEAD, POST, OPTIONS\r\n"));
}

TEST_F(HttpConformanceTest, TheAuthorityOfTheTargetIsTheHost) {
  EXPECT_EQ(Ask("GET http://y:81/a?b HTTP/1.1\r\nHost: x\r\n\r\n").body(), "y:81|/a?b|");
  EXPECT_EQ(Ask("GET https://y?b HTTP/1.1\r\nHost: x\r\n\r\n").body(), "y|/?b|");
}

TEST_F(HttpConformanceTest, AnInterimResponseComesBeforeTheAnswer) {
  RawClient client(
      *client_loop_, {simulator_.host("server").address(), kPort},
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(client.received(), "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST_F(HttpConformanceTest, PipelinedRequestsAreAnsweredInOrderUntilOneIsMalformed) {
  const Answer answer =
      Ask("GET /a?1 HTTP/1.1\r\nHost: x\r\n\r\n"
          "POST /a?2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
          "GET /a?3 HTTP/1.1\r\nHost: x\r\n\r\n"
          "GET /a?4 HTTP/1.1\r\nHost : x\r\n\r\n"
          "GET /a?5 HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto at = [&](std::string_view text) { return answer.bytes.find(text); };
  EXPECT_LT(at("x|/a?1|"), at("x|/a?2|ab"));
  EXPECT_LT(at("x|/a?2|ab"), at("x|/a?3|"));
  EXPECT_LT(at("x|/a?3|"), at("HTTP/1.1 400 "));
  EXPECT_NE(at("HTTP/1.1 400 "), std::string::npos);
  EXPECT_EQ(at("/a?5"), std::string::npos);
  EXPECT_TRUE(answer.closed);
}

}  // namespace
}  // namespace neptune
