#include "tools/bench_server/load_run.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "tools/bench_server/client_sockets.h"

namespace search::tools {
namespace {

constexpr int64_t kNsPerS = 1'000'000'000;
constexpr size_t kReadSize = size_t{64} << 10;
constexpr int kEventCountMax = 256;
// Requests of an open loop that are sent before answers are read again.
constexpr int kBurstMax = 64;
constexpr int64_t kPauseNs = 10'000'000;
constexpr int64_t kLongWaitNs = kNsPerS / 10;

int64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}

}  // namespace

struct LoadRun::Source {
  Source(const LoadSource& source, uint64_t seed)
      : config(source),
        meter(source.meter),
        arrivals(source.rate > 0 ? source.rate : 1, seed),
        next_request(source.next_request % source.requests->size()) {}

  bool is_open_loop() const { return config.rate > 0; }
  const std::string& TakeRequest() {
    const std::string& request = (*config.requests)[next_request];
    next_request = (next_request + 1) % config.requests->size();
    return request;
  }

  struct Timeout {
    int64_t at_ns;
    Client* client;
    uint64_t serial;
  };

  const LoadSource config;
  LoadMeter meter;
  Arrivals arrivals;
  size_t next_request;
  size_t client_count = 0;
  size_t busy_count = 0;
  std::vector<Client*> free_clients;  // of an open loop; the last one was used last
  std::deque<Timeout> timeouts;       // in order of time, as all have the same timeout
};

struct LoadRun::Client {
  Source* source = nullptr;
  int socket = -1;
  bool is_busy = false;
  bool is_fresh = false;  // the connection was made for this request
  bool wants_write = false;
  uint64_t serial = 0;  // of the request, so that old timeouts are recognised
  int64_t due_ns = 0;
  std::string_view request;
  size_t written_size = 0;
  std::string answer;
};

LoadRun::LoadRun(const LoadRunOptions& options, const std::vector<LoadSource>& sources)
    : options_(options), poller_(epoll_create1(EPOLL_CLOEXEC)), read_buffer_(kReadSize, '\0') {
  for (const LoadSource& source : sources) {
    sources_.push_back(std::make_unique<Source>(source, options.seed + sources_.size()));
  }
}

LoadRun::~LoadRun() {
  for (const auto& client : clients_) Close(client.get());
  close(poller_);
}

const LoadMeter& LoadRun::meter(size_t source) const { return sources_[source]->meter; }

int64_t LoadRun::NowNs() const { return MonotonicNs() - zero_ns_; }

void LoadRun::Run() {
  zero_ns_ = MonotonicNs();
  for (const auto& source : sources_) {
    for (int i = 0; !source->is_open_loop() && i < source->config.connection_count; ++i) {
      ready_.push_back(NewClient(source.get()));
    }
  }
  while (true) {
    now_ns_ = NowNs();
    for (const auto& source : sources_) {
      DropTimedOut(source.get());
      if (source->is_open_loop()) SendDue(source.get());
    }
    StartReady();
    if (IsOver()) return;
    Wait();
  }
}

bool LoadRun::IsOver() const {
  return now_ns_ >= options_.duration_ns &&
         std::all_of(sources_.begin(), sources_.end(), [this](const auto& source) {
           return !source->is_open_loop() ||
                  (source->busy_count == 0 && source->arrivals.next_ns() >= options_.duration_ns);
         });
}

void LoadRun::SendDue(Source* source) {
  for (int i = 0; i < kBurstMax; ++i) {
    const int64_t due_ns = source->arrivals.next_ns();
    if (due_ns > now_ns_ || due_ns >= options_.duration_ns) return;
    Client* client = nullptr;
    if (!source->free_clients.empty()) {
      client = source->free_clients.back();
      source->free_clients.pop_back();
    } else if (source->client_count < options_.client_count_max) {
      client = NewClient(source);
    } else {
      return;
    }
    source->arrivals.Advance();
    Start(client, due_ns);
  }
}

void LoadRun::StartReady() {
  while (!paused_.empty() && paused_.front().first <= now_ns_) {
    ready_.push_back(paused_.front().second);
    paused_.pop_front();
  }
  for (size_t count = ready_.size(); count > 0 && now_ns_ < options_.duration_ns; --count) {
    Client* const client = ready_.front();
    ready_.pop_front();
    Start(client, now_ns_);
  }
}

int64_t LoadRun::NextWakeNs() const {
  int64_t wake_ns = now_ns_ < options_.duration_ns ? options_.duration_ns : now_ns_ + kLongWaitNs;
  if (!ready_.empty() && now_ns_ < options_.duration_ns) wake_ns = now_ns_;
  if (!paused_.empty()) wake_ns = std::min(wake_ns, paused_.front().first);
  for (const auto& source : sources_) {
    if (!source->timeouts.empty()) wake_ns = std::min(wake_ns, source->timeouts.front().at_ns);
    const bool may_send =
        source->is_open_loop() &&
        (!source->free_clients.empty() || source->client_count < options_.client_count_max);
    if (may_send && source->arrivals.next_ns() < options_.duration_ns) {
      wake_ns = std::min(wake_ns, source->arrivals.next_ns());
    }
  }
  return wake_ns;
}

void LoadRun::Wait() {
  const int64_t wait_ns = std::clamp<int64_t>(NextWakeNs() - NowNs(), 0, kLongWaitNs);
  const timespec timeout{.tv_sec = wait_ns / kNsPerS, .tv_nsec = wait_ns % kNsPerS};
  std::array<epoll_event, kEventCountMax> events;
  const int count = epoll_pwait2(poller_, events.data(), kEventCountMax, &timeout, nullptr);
  now_ns_ = NowNs();
  for (int i = 0; i < count; ++i) {
    HandleEvent(static_cast<Client*>(events[i].data.ptr), events[i].events);
  }
}

LoadRun::Client* LoadRun::NewClient(Source* source) {
  clients_.push_back(std::make_unique<Client>());
  clients_.back()->source = source;
  ++source->client_count;
  return clients_.back().get();
}

void LoadRun::Start(Client* client, int64_t due_ns) {
  Source& source = *client->source;
  client->request = source.TakeRequest();
  client->due_ns = due_ns;
  client->is_busy = true;
  ++client->serial;
  ++source.busy_count;
  source.timeouts.push_back({now_ns_ + source.config.timeout_ns, client, client->serial});
  source.meter.CountSent(now_ns_ - due_ns);
  client->is_fresh = client->socket < 0;
  if (client->is_fresh && !Open(client)) return ConnectionLost(client);
  client->written_size = 0;
  client->answer.clear();
  Write(client);
}

bool LoadRun::Open(Client* client) {
  client->socket = BeginConnection(options_.port);
  if (client->socket < 0) return false;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = client;
  client->wants_write = false;
  return epoll_ctl(poller_, EPOLL_CTL_ADD, client->socket, &event) == 0;
}

void LoadRun::Watch(Client* client, bool wants_write) {
  if (client->wants_write == wants_write) return;
  client->wants_write = wants_write;
  epoll_event event{};
  event.events = EPOLLIN;
  if (wants_write) event.events |= EPOLLOUT;
  event.data.ptr = client;
  epoll_ctl(poller_, EPOLL_CTL_MOD, client->socket, &event);
}

void LoadRun::Write(Client* client) {
  while (client->written_size < client->request.size()) {
    const std::string_view rest = client->request.substr(client->written_size);
    const ssize_t size = send(client->socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (size < 0) {
      if (errno == EAGAIN || errno == ENOTCONN) return Watch(client, true);
      return ConnectionLost(client);
    }
    client->written_size += static_cast<size_t>(size);
  }
  Watch(client, false);
}

void LoadRun::HandleEvent(Client* client, uint32_t events) {
  if (client->socket < 0) return;  // closed by an earlier event of the same wait
  if ((events & EPOLLOUT) != 0 && client->is_busy) Write(client);
  if (client->socket >= 0 && (events & ~uint32_t{EPOLLOUT}) != 0) Read(client);
}

void LoadRun::Read(Client* client) {
  const ssize_t size = recv(client->socket, read_buffer_.data(), read_buffer_.size(), 0);
  if (size < 0 && errno == EAGAIN) return;
  // A server may close a connection that is not in use.
  if (!client->is_busy) return Close(client);
  if (size > 0) client->answer.append(read_buffer_.data(), static_cast<size_t>(size));
  const bool at_end = size <= 0;
  const AnswerScan scan = options_.scan(client->answer, at_end);
  if (scan.state == AnswerScan::State::kDone) return Answered(client, scan);
  if (at_end || scan.state == AnswerScan::State::kBroken) ConnectionLost(client);
}

void LoadRun::Answered(Client* client, const AnswerScan& scan) {
  const std::string_view bytes = std::string_view(client->answer).substr(0, scan.size);
  client->source->meter.CountAnswer(scan.status, bytes, client->due_ns, now_ns_);
  // What follows an answer was not asked for.
  if (scan.closes || client->answer.size() > scan.size) Close(client);
  Release(client);
}

void LoadRun::ConnectionLost(Client* client) {
  const bool may_retry = !client->is_fresh && client->answer.empty();
  Close(client);
  if (may_retry && Open(client)) {
    client->is_fresh = true;
    client->written_size = 0;
    return Write(client);
  }
  client->source->meter.CountFailure();
  if (!client->source->is_open_loop()) {
    client->is_busy = false;
    --client->source->busy_count;
    paused_.emplace_back(now_ns_ + kPauseNs, client);
    return;
  }
  Release(client);
}

void LoadRun::DropTimedOut(Source* source) {
  while (!source->timeouts.empty()) {
    const Source::Timeout first = source->timeouts.front();
    const bool is_under_way = first.client->is_busy && first.client->serial == first.serial;
    if (is_under_way && first.at_ns > now_ns_) return;
    source->timeouts.pop_front();
    if (!is_under_way) continue;
    source->meter.CountTimeout();
    Close(first.client);
    Release(first.client);
  }
}

// The client's request is over, and it may take another one.
void LoadRun::Release(Client* client) {
  client->is_busy = false;
  --client->source->busy_count;
  if (client->source->is_open_loop()) {
    client->source->free_clients.push_back(client);
  } else {
    ready_.push_back(client);
  }
}

void LoadRun::Close(Client* client) {
  if (client->socket >= 0) close(client->socket);
  client->socket = -1;
}

}  // namespace search::tools
