// Tests the frontend in the real world: a whole cluster in one process, accessed over loopback.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "frontend/http/frontend_module.h"
#include "frontend/testing/fake_services.h"
#include "frontend/testing/http_user.h"
#include "neptune/node/node.h"
#include "neptune/security/certificate_maker.h"
#include "neptune/testing/real_node.h"

namespace search::frontend {
namespace {

using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusOr;

// One node that hosts every service, with one partition each.
constexpr char kSpec[] = R"(
  name: 'frontend-real-test' multicast_group: '239.192.7.3:7403'
  services { name: 'tier1' module: 'fake_tier' }
  services { name: 'tier2' module: 'fake_tier' }
  services { name: 'docs' module: 'fake_documents' }
  services { name: 'cache' module: 'fake_cache' }
  services { name: 'frontend' module: 'frontend' PARAMETERS }
  nodes {
    name: 'all'
    serving_threads: 2
    hosts { service: 'tier1' } hosts { service: 'tier2' } hosts { service: 'docs' }
    hosts { service: 'cache' } hosts { service: 'frontend' }
  })";

class FrontendNode {
 public:
  explicit FrontendNode(const std::string& parameters)
      : real_(OptionsOf(parameters)), status_(real_.Start()) {}

  const Status& status() const { return status_; }

  neptune::Endpoint http_endpoint() const { return module_->http_endpoint(); }

  StatusOr<HttpResponse> Get(const std::string& target) {
    if (user_loop_ == nullptr) user_loop_ = *real_.world().StartLoop({.name = "user"});
    std::promise<StatusOr<HttpResponse>> promise;
    std::unique_ptr<HttpUser> user;
    user_loop_->Post([&] {
      user = std::make_unique<HttpUser>(*user_loop_, [&](StatusOr<HttpResponse> answer) {
        // Posted, because the user object is still executing.
        user_loop_->Post([&, answer = std::move(answer)]() mutable {
          user.reset();
          promise.set_value(std::move(answer));
        });
      });
      user->Send(module_->http_endpoint(), "GET", target, {});
    });
    return promise.get_future().get();
  }

 private:
  neptune::NodeOptions OptionsOf(const std::string& parameters) {
    std::string text = kSpec;
    text.replace(text.find("PARAMETERS"), 10, parameters);
    neptune::NodeOptions options;
    options.spec = neptune::ParseClusterSpec(text, "test").value();
    options.name = neptune::NodeId("all");
    options.modules =
        [this](const std::string& name) -> StatusOr<std::unique_ptr<neptune::ServiceModule>> {
      if (name != "frontend") return MakeFakeService(name);
      auto module = std::make_unique<FrontendModule>();
      module_ = module.get();
      return module;
    };
    return options;
  }

  FrontendModule* module_ = nullptr;
  neptune::RealNode real_;
  const Status status_;
  neptune::Loop* user_loop_ = nullptr;
};

TEST(FrontendRealTest, AnswersOverALoopbackPort) {
  FrontendNode node(
      "parameters { key: 'tier_timeout_ms' value: '5000' } "
      "parameters { key: 'document_timeout_ms' value: '5000' }");
  ASSERT_TRUE(node.status().ok()) << node.status();
  // The node receives its own announcement shortly after start-up.
  StatusOr<HttpResponse> ready = neptune::Unavailable("not asked");
  for (int i = 0; i < 100'000; ++i) {
    ready = node.Get("/readyz?complete=1");
    if (ready.ok() && ready->status == 200) break;
  }
  ASSERT_TRUE(ready.ok()) << ready.status();
  ASSERT_EQ(ready->status, 200) << ready->body;
  const StatusOr<HttpResponse> response = node.Get("/search?q=rare&format=json");
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->status, 200) << response->body;
  const auto answer = nlohmann::json::parse(response->body);
  EXPECT_EQ(answer["results"].size(), 1u + kTier2HitCount);
  EXPECT_EQ(answer["results"][0]["title"], "Document 10000");
  EXPECT_EQ(answer["partial"], false);
}

TEST(FrontendRealTest, AnInvalidBaseUrlKeepsTheNodeFromStarting) {
  FrontendNode node("parameters { key: 'base_url' value: 'https://search.test/path' }");
  EXPECT_NE(node.status().message().find("parameter base_url is 'https://search.test/path'"),
            absl::string_view::npos)
      << node.status();
}

// A blocking OpenSSL client over a system socket.
class HttpsUser {
 public:
  explicit HttpsUser(const std::string& authority) : context_(SSL_CTX_new(TLS_client_method())) {
    BIO* const text = BIO_new_mem_buf(authority.data(), static_cast<int>(authority.size()));
    X509* const certificate = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), certificate);
    X509_free(certificate);
    BIO_free(text);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  }
  ~HttpsUser() { SSL_CTX_free(context_); }

  // Returns the whole response; empty if the certificate is not trusted.
  std::string Send(const neptune::Endpoint& to, const std::string& request, const char* host) {
    SSL* const session = SSL_new(context_);
    const int socket = Connect(to);
    SSL_set_fd(session, socket);
    SSL_set1_host(session, host);
    std::string answer;
    if (SSL_connect(session) == 1) {
      SSL_write(session, request.data(), static_cast<int>(request.size()));
      char piece[4096];
      for (int size = 0; (size = SSL_read(session, piece, sizeof(piece))) > 0;) {
        answer.append(piece, static_cast<size_t>(size));
      }
    }
    SSL_free(session);
    close(socket);
    return answer;
  }

  static int Connect(const neptune::Endpoint& to) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(to.address);
    address.sin_port = htons(to.port);
    EXPECT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return socket;
  }

 private:
  SSL_CTX* const context_;
};

class FrontendHttpsTest : public testing::Test {
 protected:
  static neptune::KeyAndCertificate MakeAuthority(const std::string& name) {
    return *neptune::MakeAuthority(name, Validity());
  }
  static neptune::Validity Validity() {
    const int64_t now = int64_t{time(nullptr)} * 1000000000;
    return {neptune::WallTime{now - 3600'000'000'000}, neptune::WallTime{now + 3600'000'000'000}};
  }
  std::string Write(const std::string& file, const std::string& contents) const {
    const std::string path = testing::TempDir() + "/" + file;
    std::filesystem::remove(path);
    std::ofstream(path) << contents;
    chmod(path.c_str(), 0600);
    return path;
  }
  void PutCertificate(const neptune::KeyAndCertificate& authority) const {
    const auto own = neptune::MakeCertificate(authority, "search.test", {"127.0.0.1"}, Validity());
    Write("web.key", own->key);
    Write("web.crt", own->certificate);
  }
  std::string Parameters() const {
    return "parameters { key: 'http_certificate_file' value: '" + testing::TempDir() +
           "/web.crt' } parameters { key: 'http_key_file' value: '" + testing::TempDir() +
           "/web.key' } ";
  }
};

constexpr char kGetHealth[] =
    "GET /healthz HTTP/1.1\r\nHost: search.test\r\nConnection: close\r\n\r\n";

TEST_F(FrontendHttpsTest, AnswersTrustingClientsAndReloadsTheCertificate) {
  const neptune::KeyAndCertificate authority = MakeAuthority("first");
  PutCertificate(authority);
  FrontendNode node(Parameters());
  ASSERT_TRUE(node.status().ok()) << node.status();
  HttpsUser user(authority.certificate);
  const std::string answer = user.Send(node.http_endpoint(), kGetHealth, "search.test");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK")) << answer;
  EXPECT_NE(answer.find("\r\nStrict-Transport-Security: max-age=86400\r\n"), std::string::npos)
      << answer;
  EXPECT_EQ(user.Send(node.http_endpoint(), kGetHealth, "elsewhere.test"), "");
  const neptune::KeyAndCertificate second = MakeAuthority("second");
  HttpsUser other(second.certificate);
  EXPECT_EQ(other.Send(node.http_endpoint(), kGetHealth, "search.test"), "");
  PutCertificate(second);
  std::string taken;
  for (int i = 0; i < 100'000 && taken.empty(); ++i) {
    taken = other.Send(node.http_endpoint(), kGetHealth, "search.test");
  }
  EXPECT_TRUE(taken.starts_with("HTTP/1.1 200 OK"));
}

TEST_F(FrontendHttpsTest, AbsoluteLinksAreHttpsToo) {
  const neptune::KeyAndCertificate authority = MakeAuthority("first");
  PutCertificate(authority);
  FrontendNode node(Parameters());
  ASSERT_TRUE(node.status().ok()) << node.status();
  HttpsUser user(authority.certificate);
  const auto get = [&](const std::string& headers) {
    return user.Send(node.http_endpoint(),
                     "GET /opensearch.xml HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n",
                     "search.test");
  };
  const std::string description = get("Host: search.test\r\n");
  EXPECT_NE(description.find("template=\"https://search.test/search?"), std::string::npos)
      << description;
  EXPECT_EQ(description.find("http://search.test"), std::string::npos);
  EXPECT_EQ(get("Host: search.test\r\nX-Forwarded-Proto: http\r\n").find("http://search.test"),
            std::string::npos);
}

TEST_F(FrontendHttpsTest, PlainHttpGetsNoAnswer) {
  PutCertificate(MakeAuthority("first"));
  FrontendNode node(Parameters());
  ASSERT_TRUE(node.status().ok()) << node.status();
  const int socket = HttpsUser::Connect(node.http_endpoint());
  ASSERT_GT(send(socket, kGetHealth, sizeof(kGetHealth) - 1, MSG_NOSIGNAL), 0);
  std::string answer;
  char piece[4096];
  for (ssize_t size = 0; (size = recv(socket, piece, sizeof(piece), 0)) > 0;) {
    answer.append(piece, static_cast<size_t>(size));
  }
  close(socket);
  EXPECT_EQ(answer.find("HTTP/1.1 200"), std::string::npos);
  EXPECT_LT(answer.size(), 16u) << "at most an alert of TLS";
}

TEST_F(FrontendHttpsTest, AKeyOfAnotherCertificateKeepsTheNodeFromStarting) {
  PutCertificate(MakeAuthority("first"));
  const auto another = neptune::MakeCertificate(MakeAuthority("x"), "x", {}, Validity());
  Write("web.key", another->key);
  FrontendNode node(Parameters());
  EXPECT_NE(node.status().message().find("is not the key of certificate"), absl::string_view::npos)
      << node.status();
}

TEST(FrontendRealTest, OperatorsPagesNeedALocalHost) {
  FrontendNode node("parameters { key: 'base_url' value: 'https://search.test' }");
  ASSERT_TRUE(node.status().ok()) << node.status();
  // The user asks for search.test, as a page whose name was made to lead to 127.0.0.1 does. A proxy
  // serves https://search.test, since this frontend has no certificate.
  for (const char* page : {"/tracez", "/console", "/statusz", "/metrics"}) {
    const StatusOr<HttpResponse> refused = node.Get(page);
    ASSERT_TRUE(refused.ok()) << refused.status();
    EXPECT_EQ(refused->status, 421) << page;
  }
}

TEST(FrontendRealTest, AZeroByteIsRefusedAtOnce) {
  FrontendNode node("");
  ASSERT_TRUE(node.status().ok()) << node.status();
  for (const char* target : {"/search?q=a&start=1%00", "/search?q=a%00b", "/suggest?q=%00",
                             "/doc/1%00", "/search%00?q=a", "/?%00=1"}) {
    const StatusOr<HttpResponse> refused = node.Get(target);
    ASSERT_TRUE(refused.ok()) << refused.status();
    EXPECT_EQ(refused->status, 400) << target;
    EXPECT_NE(refused->body.find("zero byte"), std::string::npos) << refused->body;
  }
}

TEST(FrontendRealTest, ChangesForEveryoneKeepTheNodeFromStarting) {
  const std::string parameters =
      "parameters { key: 'documents_change' value: 'true' } "
      "parameters { key: 'http_address' value: '0.0.0.0' } ";
  const FrontendNode node(parameters);
  EXPECT_NE(node.status().message().find("document_token_file"), absl::string_view::npos)
      << node.status();
  const std::string path = testing::TempDir() + "/document.token";
  std::filesystem::remove(path);
  std::ofstream(path) << "0123456789abcdef\n";
  chmod(path.c_str(), 0600);
  const FrontendNode with_token(parameters + "parameters { key: 'document_token_file' value: '" +
                                path + "' } ");
  EXPECT_TRUE(with_token.status().ok()) << with_token.status();
}

// Sends the bytes and returns the first bytes of what comes back; empty if the connection ends.
std::string FirstAnswer(const neptune::Endpoint& server, const std::string& bytes) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port);
  std::string answer(4096, '\0');
  ssize_t size = -1;
  if (connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size())) {
    size = recv(client, answer.data(), answer.size(), 0);
  }
  close(client);
  answer.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return answer;
}

TEST(FrontendRealTest, ABodyWithoutATokenIsRefusedBeforeItIsRead) {
  const std::string path = testing::TempDir() + "/body.token";
  std::filesystem::remove(path);
  std::ofstream(path) << "0123456789abcdef\n";
  chmod(path.c_str(), 0600);
  const FrontendNode node(
      "parameters { key: 'documents_change' value: 'true' } "
      "parameters { key: 'document_token_file' value: '" +
      path + "' } ");
  ASSERT_TRUE(node.status().ok()) << node.status();
  // No byte of the body is sent, so an answer is one to the header.
  const auto answer = [&node](size_t size, const std::string& header) {
    return FirstAnswer(node.http_endpoint(),
                       "POST /documents HTTP/1.1\r\nHost: localhost\r\n"
                       "Content-Type: application/json\r\nExpect: 100-continue\r\n"
                       "Content-Length: " +
                           std::to_string(size) + "\r\n" + header + "\r\n");
  };
  constexpr size_t kLargest = size_t{16} << 20;
  const std::string token = "Authorization: Bearer 0123456789abcdef\r\n";
  EXPECT_EQ(answer(kLargest, "").substr(0, 12), "HTTP/1.1 401");
  EXPECT_EQ(answer(kLargest, "Authorization: Bearer 0123456789abcdeX\r\n").substr(0, 12),
            "HTTP/1.1 401");
  EXPECT_EQ(answer(kLargest, token).substr(0, 12), "HTTP/1.1 100");
  EXPECT_EQ(answer(kLargest + 1, token).substr(0, 12), "HTTP/1.1 413");
}

TEST(FrontendRealTest, AnInvalidParameterKeepsTheNodeFromStarting) {
  const auto error = [](const std::string& parameter) {
    return std::string(neptune::ToStd(FrontendNode(parameter).status().message()));
  };
  EXPECT_NE(error("parameters { key: 'tier1_partitons' value: '2' }").find("'tier1_partitons'"),
            std::string::npos);
  EXPECT_NE(error("parameters { key: 'http_port' value: '70000' }").find("http_port"),
            std::string::npos);
  EXPECT_NE(error("parameters { key: 'http_address' value: 'here' }").find("http_address"),
            std::string::npos);
  EXPECT_NE(error("parameters { key: 'quality_min' value: 'nan' }").find("quality_min"),
            std::string::npos);
}

}  // namespace
}  // namespace search::frontend
