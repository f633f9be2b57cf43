// Members of a channel of announcements, each on a loop of its own, in the real or the simulated
// world.
//
// Threads: the test's; members run on theirs.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/blocking_mutex.h"
#include "neptune/membership/announcement_channel.h"
#include "neptune/world/sim/simulator.h"
#include "neptune/world/world.h"

namespace neptune {

// All that each member heard, in order.
using HeardByName = std::map<std::string, std::vector<std::string>>;

class ChannelBed {
 public:
  // Opens the channel of the member `name`, on its loop.
  using Open = std::function<StatusOr<std::unique_ptr<AnnouncementChannel>>(
      Loop& loop, uint32_t address, const std::string& name, AnnouncementChannel::Handler handler)>;

  static std::unique_ptr<ChannelBed> MakeReal(Open open);
  // In `simulator`, which outlives it.
  static std::unique_ptr<ChannelBed> MakeSimulated(Simulator& simulator, Open open);
  virtual ~ChannelBed() = default;

  // A member that was removed begins again, having heard nothing.
  void Add(const std::string& name);
  void Publish(const std::string& name, const std::string& bytes);
  // Removes it without a goodbye, like a crash.
  void Remove(const std::string& name);
  // Whether `done` holds within the limit.
  virtual bool RunUntil(const std::function<bool(const HeardByName&)>& done, Duration limit) = 0;
  // Whether all `names` hear `bytes` within the limit.
  bool AllHear(const std::vector<std::string>& names, const std::string& bytes, Duration limit);
  HeardByName heard() const;

 protected:
  explicit ChannelBed(Open open) : open_(std::move(open)) {}
  virtual Loop& StartLoop(const std::string& name, uint32_t* address) = 0;
  virtual void RunOn(Loop& loop, const std::function<void()>& work) = 0;
  void RemoveAll();

  mutable BlockingMutex mutex_;
  HeardByName heard_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_heard_ ABSL_GUARDED_BY(mutex_);  // called after each message

 private:
  struct Member {
    Loop* loop = nullptr;
    uint32_t address = 0;
    std::unique_ptr<AnnouncementChannel> channel;
  };

  const Open open_;
  std::map<std::string, Member> members_;
};

}  // namespace neptune
