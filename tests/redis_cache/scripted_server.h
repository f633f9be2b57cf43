// A server on a free loopback port that says the same bytes to everyone who says something, and
// hangs up.
//
// Threads: one of its own.

#pragma once

#include <cstdint>
#include <string>
#include <thread>

namespace search::cache {

class ScriptedServer {
 public:
  explicit ScriptedServer(std::string answer);
  ~ScriptedServer();
  uint16_t port() const { return port_; }

 private:
  void Serve() const;

  const std::string answer_;
  const int listener_;
  uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace search::cache
