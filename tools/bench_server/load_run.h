// Generates load on one server on the loopback interface, and measures what its clients see.
//
//   source ─ due ─► client ─ connection ─► server      closed loop: a client for each connection,
//     ▲               │                                 which sends again once it is answered
//     └─ meter ◄──────┘ answer, refusal, failure,      open loop: requests are due at random times
//                       or the client left              whatever becomes of earlier ones
//
// A client that waits for longer than its source's timeout closes the connection, as users who
// leave do. A kept connection that the server closed before the first byte of an answer is replaced
// once for a request, as browsers do.
//
// Threads: the calling thread does everything; Run blocks until the load is over.
// Units: nanoseconds of the monotonic clock.
// Limits: LoadRunOptions::client_count_max open-loop clients; a request that finds none is sent
//   when one is free, and its latency counts from the time at which it was due.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench_server/answer_scan.h"
#include "tools/bench_server/arrivals.h"
#include "tools/bench_server/load_meter.h"

namespace search::tools {

// Requests of one kind.
struct LoadSource {
  const std::vector<std::string>* requests = nullptr;  // sent in turn
  size_t next_request = 0;
  int connection_count = 0;  // of a closed loop
  double rate = 0;           // requests a second of an open loop; 0: closed loop
  int64_t timeout_ns = 0;
  LoadMeterOptions meter = {};
};

struct LoadRunOptions {
  uint16_t port = 0;
  AnswerScan (*scan)(std::string_view bytes, bool at_end) = &ScanHttpAnswer;
  int64_t duration_ns = 0;
  size_t client_count_max = 10'000;
  uint64_t seed = 1;
};

class LoadRun {
 public:
  LoadRun(const LoadRunOptions& options, const std::vector<LoadSource>& sources);
  ~LoadRun();
  LoadRun(const LoadRun&) = delete;
  LoadRun& operator=(const LoadRun&) = delete;

  // Sends for the duration, then waits for the answers of open loops. Call it once.
  void Run();

  // The measurements of the source with this index.
  const LoadMeter& meter(size_t source) const;

 private:
  struct Source;
  struct Client;

  int64_t NowNs() const;
  void SendDue(Source* source);
  void StartReady();
  bool IsOver() const;
  void Wait();
  int64_t NextWakeNs() const;

  Client* NewClient(Source* source);
  void Start(Client* client, int64_t due_ns);
  bool Open(Client* client);
  void Watch(Client* client, bool wants_write);
  void Write(Client* client);
  void Read(Client* client);
  void HandleEvent(Client* client, uint32_t events);
  void Answered(Client* client, const AnswerScan& scan);
  void ConnectionLost(Client* client);
  void DropTimedOut(Source* source);
  void Release(Client* client);
  void Close(Client* client);

  const LoadRunOptions options_;
  int poller_ = -1;
  int64_t zero_ns_ = 0;
  int64_t now_ns_ = 0;  // since zero_ns_
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::deque<Client*> ready_;  // clients of closed loops
  // Clients of closed loops whose connection failed, by the time at which they try again.
  std::deque<std::pair<int64_t, Client*>> paused_;
  std::string read_buffer_;
};

}  // namespace search::tools
