#include "neptune/wire/http/http_connection_table.h"

#include <utility>

#include "neptune/wire/http/http_connection.h"

namespace neptune {
namespace {

// Idle connections whose time is over that are closed in one turn of the loop.
constexpr int kClosedPerTurnMax = 256;

}  // namespace

// Lives until the last task that it posted has run.
class HttpConnectionTable::Idle final : public IdleConnections,
                                        public std::enable_shared_from_this<Idle> {
 public:
  explicit Idle(const std::shared_ptr<HttpServerCore>& core) : core_(core), loop_(core->loop) {}

  void CloseOneSoon() override {
    loop_.Post([self = shared_from_this()] {
      const auto core = self->core_.lock();
      if (core != nullptr && core->table != nullptr) core->table->GiveWay();
    });
  }

 private:
  const std::weak_ptr<HttpServerCore> core_;
  Loop& loop_;
};

HttpConnectionTable::HttpConnectionTable(const std::shared_ptr<HttpServerCore>& core)
    : core_(*core),
      weak_core_(core),
      places_({.count_max = core->options.connection_count_max,
               .per_address_max = core->options.connections_per_address_max,
               .grace = core->options.give_way_after}),
      idle_(std::make_shared<Idle>(core)),
      idle_timer_(core->loop) {
  core_.table = this;
  if (core_.options.slots != nullptr) core_.options.slots->Add(idle_);
}

HttpConnectionTable::~HttpConnectionTable() {
  core_.table = nullptr;
  if (core_.options.slots != nullptr) core_.options.slots->Remove(idle_.get());
  CloseAll();
}

bool HttpConnectionTable::MakeRoom(uint32_t address) {
  // Several may have to go, because those that are turned away are beyond the limit.
  while (places_.AtAddressLimit(address)) {
    if (!Evict(places_.ChooseOfAddress(address))) return false;
  }
  while (places_.AtLimit()) {
    if (!GiveWay()) return false;
  }
  return true;
}

bool HttpConnectionTable::IsOverfull(uint32_t address) const {
  const size_t more = core_.options.turned_away_count_max;
  return places_.AtLimit(more) || places_.AtAddressLimit(address, more);
}

bool HttpConnectionTable::TakeSlot(ConnectionSlot* slot) {
  const std::shared_ptr<ConnectionSlots>& slots = core_.options.slots;
  if (slot->TryTake(slots)) return true;
  // A connection of this loop is closed at once, one of another loop in its next turn.
  const bool others_first = slots->OldestBeside(idle_.get()) < places_.OldestIdle();
  if (others_first && slot->TryBorrow(slots, idle_.get())) return true;
  if (GiveWay() && slot->TryTake(slots)) return true;
  slots->NoteRefused();
  return false;
}

bool HttpConnectionTable::Evict(std::optional<uint64_t> id) {
  if (!id) return false;
  if (core_.options.slots != nullptr) core_.options.slots->NoteEvicted();
  const std::shared_ptr<HttpConnection> connection = connections_.at(*id);
  connection->Abort();
  return true;
}

void HttpConnectionTable::Add(uint64_t id, uint32_t address,
                              const std::shared_ptr<HttpConnection>& connection) {
  connections_.emplace(id, connection);
  places_.Add(&connection->place(), id, address, core_.loop.Now());
  IdleChanged();
}

void HttpConnectionTable::Remove(uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  places_.Remove(&found->second->place());
  connections_.erase(found);
  IdleChanged();
}

void HttpConnectionTable::NotePlace(HttpPlaces::Place* place, HttpStanding standing,
                                    bool progressed, TimePoint now) {
  places_.Note(place, standing, progressed, now);
  IdleChanged();
}

void HttpConnectionTable::IdleChanged() {
  const TimePoint oldest = places_.OldestIdle();
  idle_->Publish(oldest);
  idle_timer_.RunBy(AddSaturated(oldest, core_.options.idle_timeout),
                    [this] { return [this] { CloseIdle(); }; });
}

// Ends connections that have been idle for too long. What does not fit into this turn is closed in
// the next one, because the timer is then due at once.
void HttpConnectionTable::CloseIdle() {
  idle_timer_.HasFired();
  const TimePoint until = core_.loop.Now() - core_.options.idle_timeout;
  for (int i = 0; i < kClosedPerTurnMax; ++i) {
    const std::optional<uint64_t> id = places_.ChooseIdleSince(until);
    if (!id) break;
    const std::shared_ptr<HttpConnection> connection = connections_.at(*id);
    connection->Abort();
  }
  IdleChanged();
}

void HttpConnectionTable::RelieveSoon() {
  if (std::exchange(relief_posted_, true)) return;
  core_.loop.Post([core = weak_core_] {
    const auto alive = core.lock();
    if (alive != nullptr && alive->table != nullptr) alive->table->CloseSlowest();
  });
}

void HttpConnectionTable::CloseSlowest() {
  relief_posted_ = false;
  const std::optional<uint64_t> slowest = places_.ChooseSlowest(core_.loop.Now());
  if (!slowest) return;
  core_.NoteTimeout();
  const std::shared_ptr<HttpConnection> connection = connections_.at(*slowest);
  connection->Abort();
}

// Copies, because a connection that ends is removed from the map.
void HttpConnectionTable::DrainAll() {
  const auto connections = connections_;
  for (const auto& [id, connection] : connections) connection->Drain();
}

void HttpConnectionTable::CloseAll() {
  const auto connections = connections_;
  for (const auto& [id, connection] : connections) connection->Abort();
}

}  // namespace neptune
