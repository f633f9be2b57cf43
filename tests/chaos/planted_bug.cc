#include "tests/chaos/planted_bug.h"

#include <utility>

#include "neptune/membership/announcement.h"
#include "neptune/membership/availability_listener.h"
#include "neptune/wire/frame.h"

namespace neptune::chaos {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Occasional bugs affect one message in this many.
constexpr int kOneIn = 100;

// Returns false if the frame is lost.
using ChangeFrame = std::function<bool(Frame* frame)>;
// The same for announcements.
using ChangeAnnouncement = std::function<bool(Announcement* announcement)>;

// Applies `change` to every frame that is written. A piece that does not consist of whole frames
// passes unchanged.
Tamper OnFrames(ChangeFrame change) {
  return [change = std::move(change)](Carrier carrier, std::string* bytes) {
    if (carrier != Carrier::kStream) return true;
    FrameDecoder decoder;
    decoder.Feed(*bytes);
    std::string changed;
    while (true) {
      StatusOr<std::optional<Frame>> frame = decoder.Next();
      if (!frame.ok()) return true;
      if (!frame->has_value()) break;
      if (change(&**frame) && !AppendFrame(**frame, &changed).ok()) return true;
    }
    if (decoder.buffered_size() > 0) return true;
    *bytes = std::move(changed);
    return true;
  };
}

Tamper OnAnnouncements(ChangeAnnouncement change) {
  return [change = std::move(change)](Carrier carrier, std::string* bytes) {
    if (carrier != Carrier::kDatagram) return true;
    StatusOr<Announcement> announcement = DecodeAnnouncement(*bytes);
    if (!announcement.ok()) return true;
    if (!change(&*announcement)) return false;
    *bytes = *EncodeAnnouncement(*announcement);
    return true;
  };
}

Tamper SwapAnswers() {
  return OnFrames([count = 0, before = std::string()](Frame* frame) mutable {
    if (frame->type != FrameType::kResponse || frame->payload.empty()) return true;
    const std::string own = frame->payload;
    if (++count % kOneIn == 0) frame->payload = before;
    before = own;
    return true;
  });
}

Tamper LoseAnswers() {
  return OnFrames([count = 0](Frame* frame) mutable {
    return frame->type != FrameType::kResponse || ++count % kOneIn != 0;
  });
}

Tamper ForgetDeadlines() {
  return OnFrames([](Frame* frame) {
    if (frame->type == FrameType::kCancel) return false;
    if (frame->type != FrameType::kRequest) return true;
    StatusOr<RequestHeader> header = DecodeRequestHeader(frame->section);
    if (header.ok() && header->time_left) {
      *header->time_left += seconds(10);
      frame->section = EncodeRequestHeader(*header);
    }
    return true;
  });
}

Tamper LoseProbes() {
  return [](Carrier carrier, std::string* bytes) {
    return carrier != Carrier::kDatagram || bytes->empty() || bytes->front() != kProbeByte;
  };
}

constexpr std::pair<PlantedBug, const char*> kNames[] = {
    {PlantedBug::kSharedAnswer, "shared_answer"},
    {PlantedBug::kWriteTwice, "write_twice"},
    {PlantedBug::kIgnoredCancellation, "ignored_cancellation"},
    {PlantedBug::kHastyExpiry, "hasty_expiry"},
    {PlantedBug::kNoExpiry, "no_expiry"},
    {PlantedBug::kLongQueue, "long_queue"},
    {PlantedBug::kManyAtOnce, "many_at_once"},
    {PlantedBug::kSwappedAnswers, "swapped_answers"},
    {PlantedBug::kLostAnswers, "lost_answers"},
    {PlantedBug::kSilentGoodbye, "silent_goodbye"},
    {PlantedBug::kLostProbes, "lost_probes"},
    {PlantedBug::kFrozenSequence, "frozen_sequence"},
    {PlantedBug::kForgottenDeadline, "forgotten_deadline"},
};

}  // namespace

std::vector<PlantedBug> AllPlantedBugs() {
  std::vector<PlantedBug> all;
  for (const auto& [bug, name] : kNames) all.push_back(bug);
  return all;
}

const char* NameOf(PlantedBug bug) {
  for (const auto& [named, name] : kNames) {
    if (named == bug) return name;
  }
  return "none";
}

PlantedBug PlantedBugOf(std::string_view name) {
  for (const auto& [bug, known] : kNames) {
    if (name == known) return bug;
  }
  return PlantedBug::kNone;
}

void PlantInOptions(PlantedBug bug, SimulatedClusterOptions* options) {
  ServiceSpec& service = *options->spec.mutable_services(0);
  if (bug == PlantedBug::kHastyExpiry) {
    options->yellow_page.expiry = milliseconds(1100);
    options->yellow_page.probe_timeout = milliseconds(1);
  } else if (bug == PlantedBug::kNoExpiry) {
    options->yellow_page.expiry = hours(1);
  } else if (bug == PlantedBug::kLongQueue) {
    service.set_queue_length_max(100'000);
  } else if (bug == PlantedBug::kManyAtOnce) {
    service.set_concurrency(10'000);
  }
}

void PlantInMessages(PlantedBug bug, Simulator& simulator) {
  switch (bug) {
    case PlantedBug::kSwappedAnswers:
      return simulator.TamperWith(SwapAnswers());
    case PlantedBug::kLostAnswers:
      return simulator.TamperWith(LoseAnswers());
    case PlantedBug::kForgottenDeadline:
      return simulator.TamperWith(ForgetDeadlines());
    case PlantedBug::kLostProbes:
      return simulator.TamperWith(LoseProbes());
    case PlantedBug::kSilentGoodbye:
      return simulator.TamperWith(
          OnAnnouncements([](Announcement* announcement) { return !announcement->goodbye; }));
    case PlantedBug::kFrozenSequence:
      return simulator.TamperWith(OnAnnouncements([](Announcement* announcement) {
        announcement->sequence = std::min<uint64_t>(announcement->sequence, 10);
        return true;
      }));
    default:
      return;
  }
}

}  // namespace neptune::chaos
