#include "tests/membership/channel_bed.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "neptune/base/notification.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

class SimulatedBed final : public ChannelBed {
 public:
  SimulatedBed(Simulator& simulator, Open open)
      : ChannelBed(std::move(open)), simulator_(simulator) {}
  ~SimulatedBed() override { RemoveAll(); }

  bool RunUntil(const std::function<bool(const HeardByName&)>& done, Duration limit) override {
    return simulator_.RunUntilTrue([&] { return done(heard()); }, simulator_.now() + limit);
  }

 private:
  Loop& StartLoop(const std::string& name, uint32_t* address) override {
    SimWorld& world = simulator_.AddHost({.name = name});
    *address = world.address();
    return **world.StartLoop({.name = name});
  }

  void RunOn(Loop& loop, const std::function<void()>& work) override {
    bool done = false;
    loop.Post([&] {
      work();
      done = true;
    });
    CHECK(simulator_.RunUntilTrue([&] { return done; }, kNever));
  }

  Simulator& simulator_;
};

class RealBed final : public ChannelBed {
 public:
  explicit RealBed(Open open) : ChannelBed(std::move(open)), world_(MakeRealWorld({})) {}
  ~RealBed() override {
    RemoveAll();
    world_->Stop();
  }

  bool RunUntil(const std::function<bool(const HeardByName&)>& done, Duration limit) override {
    Notification met;
    {
      BlockingLock lock(&mutex_);
      if (done(heard_)) return true;
      on_heard_ = [&, is_met = false]() mutable {
        if (is_met || !done(heard_)) return;
        is_met = true;
        met.Notify();
      };
    }
    const bool has_met = met.WaitForNotificationWithTimeout(absl::FromChrono(limit));
    BlockingLock lock(&mutex_);
    on_heard_ = nullptr;
    return has_met;
  }

 private:
  Loop& StartLoop(const std::string& name, uint32_t* address) override {
    *address = kLoopbackAddress;
    return **world_->StartLoop({.name = name});
  }

  void RunOn(Loop& loop, const std::function<void()>& work) override {
    Notification done;
    loop.Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }

  const std::unique_ptr<World> world_;
};

}  // namespace

std::unique_ptr<ChannelBed> ChannelBed::MakeReal(Open open) {
  return std::make_unique<RealBed>(std::move(open));
}

std::unique_ptr<ChannelBed> ChannelBed::MakeSimulated(Simulator& simulator, Open open) {
  return std::make_unique<SimulatedBed>(simulator, std::move(open));
}

void ChannelBed::Add(const std::string& name) {
  Member& member = members_[name];
  if (member.loop == nullptr) member.loop = &StartLoop(name, &member.address);
  {
    BlockingLock lock(&mutex_);
    heard_[name].clear();
  }
  RunOn(*member.loop, [&] {
    auto channel = open_(*member.loop, member.address, name, [this, name](std::string_view bytes) {
      BlockingLock lock(&mutex_);
      heard_[name].emplace_back(bytes);
      if (on_heard_) on_heard_();
    });
    CHECK(channel.ok()) << channel.status();
    member.channel = *std::move(channel);
  });
}

void ChannelBed::Publish(const std::string& name, const std::string& bytes) {
  Member& member = members_.at(name);
  RunOn(*member.loop, [&] { member.channel->Publish(bytes); });
}

void ChannelBed::Remove(const std::string& name) {
  Member& member = members_.at(name);
  RunOn(*member.loop, [&] { member.channel.reset(); });
}

void ChannelBed::RemoveAll() {
  for (const auto& [name, member] : members_) Remove(name);
}

HeardByName ChannelBed::heard() const {
  BlockingLock lock(&mutex_);
  return heard_;
}

bool ChannelBed::AllHear(const std::vector<std::string>& names, const std::string& bytes,
                         Duration limit) {
  return RunUntil(
      [&](const HeardByName& heard) {
        return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
          const auto& list = heard.at(name);
          return std::find(list.begin(), list.end(), bytes) != list.end();
        });
      },
      limit);
}

}  // namespace neptune
