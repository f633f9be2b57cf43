// The connections of an HttpServer: their places, and who is closed for whom. Internal to
// http_server.
//
//   HttpServer ─ MakeRoom, TakeSlot, Add ─► table ◄─ NotePlace, Remove ─ HttpConnection
//                                             │
//        other loops ─ IdleConnections ───────┘ closes idle ones in time, and for new ones
//
// Threads: the loop of its server only.
// Limits: HttpServerOptions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "neptune/wire/connection_slots.h"
#include "neptune/wire/http/deadline_timer.h"
#include "neptune/wire/http/http_places.h"
#include "neptune/wire/http/http_server_core.h"

namespace neptune {

class HttpConnection;

class HttpConnectionTable {
 public:
  // The core names this table until it is destroyed.
  explicit HttpConnectionTable(const std::shared_ptr<HttpServerCore>& core);
  // Closes all connections at once.
  ~HttpConnectionTable();
  HttpConnectionTable(const HttpConnectionTable&) = delete;
  HttpConnectionTable& operator=(const HttpConnectionTable&) = delete;

  // Makes room for a connection of the address; false: those that have the places are at work.
  bool MakeRoom(uint32_t address);
  // True if the connection could not even be answered that there is no room.
  bool IsOverfull(uint32_t address) const;
  // Takes a slot of the node, that of an idle connection if none is free.
  bool TakeSlot(ConnectionSlot* slot);
  uint64_t NextId() { return next_id_++; }
  void Add(uint64_t id, uint32_t address, const std::shared_ptr<HttpConnection>& connection);

  void Remove(uint64_t id);
  void NotePlace(HttpPlaces::Place* place, HttpStanding standing, bool progressed, TimePoint now);
  // Closes the slowest client in a later turn, because memory is short.
  void RelieveSoon();

  void DrainAll();
  void CloseAll();
  size_t size() const { return connections_.size(); }

 private:
  class Idle;

  // Closes the connection for a new one; false: there is none.
  bool Evict(std::optional<uint64_t> id);
  bool GiveWay() { return Evict(places_.ChooseToGiveWay(core_.loop.Now())); }
  void CloseSlowest();
  void CloseIdle();
  void IdleChanged();

  HttpServerCore& core_;
  const std::weak_ptr<HttpServerCore> weak_core_;  // for tasks, which may run after the end
  HttpPlaces places_;
  const std::shared_ptr<Idle> idle_;  // what other loops see of the idle connections
  DeadlineTimer idle_timer_;
  bool relief_posted_ = false;
  std::map<uint64_t, std::shared_ptr<HttpConnection>> connections_;
  uint64_t next_id_ = 1;
};

}  // namespace neptune
