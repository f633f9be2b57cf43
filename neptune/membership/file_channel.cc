#include "neptune/membership/file_channel.h"

#include <glog/logging.h>

#include <functional>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/membership/announcement_folder.h"
#include "neptune/security/datagram_seal.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

constexpr Duration kLogInterval = std::chrono::minutes(1);

// Shared with the work of the helper thread.
class FileAgent final : public std::enable_shared_from_this<FileAgent> {
 public:
  FileAgent(Loop& loop, FileChannelOptions options, AnnouncementChannel::Handler on_message)
      : loop_(loop),
        options_(std::move(options)),
        folder_(std::make_shared<AnnouncementFolder>(options_.folder)),
        on_message_(std::move(on_message)) {
    if (options_.keys != nullptr) mac_ = std::make_unique<ClusterMac>(*options_.keys);
  }

  // Reads the existing files first, so that only later contents are news.
  void Begin() {
    HandleNews(folder_->Poll());
    LookLater();
  }

  void Publish(std::string_view bytes) {
    next_ = mac_ == nullptr ? std::string(bytes) : SealDatagram(bytes, *mac_);
    Write();
  }

  // Stops calling the handler, and waits for the work of the helper thread.
  void Close() {
    closed_ = true;
    if (timer_ != 0) loop_.CancelTimer(std::exchange(timer_, 0));
    options_.helpers.reset();
  }

 private:
  // Runs `work` on a thread that may block, then `take` with its result on the loop, unless the
  // channel was closed in the meantime.
  template <typename Result>
  void Ship(std::function<Result()> work, void (FileAgent::*take)(Result)) {
    if (options_.helpers == nullptr) return (this->*take)(work());
    options_.helpers->Run([&loop = loop_, weak = weak_from_this(), work = std::move(work), take] {
      loop.Post([weak, take, result = work()]() mutable {
        const auto self = weak.lock();
        if (self != nullptr && !self->closed_) ((*self).*take)(std::move(result));
      });
    });
  }

  void Write() {
    if (writing_ || !next_ || closed_) return;
    writing_ = true;
    Ship<Status>(
        [folder = folder_, node = options_.node, bytes = *std::exchange(next_, std::nullopt)] {
          return folder->Write(node, bytes);
        },
        &FileAgent::HandleWritten);
  }

  void HandleWritten(Status status) {
    writing_ = false;
    if (!status.ok()) Fail(status);
    Write();
  }

  void LookLater() {
    const auto half = static_cast<uint64_t>(options_.poll_interval.count()) / 2;
    const Duration pause = options_.poll_interval / 2 + Duration(loop_.random().Below(half + 1));
    timer_ = loop_.RunAt(loop_.Now() + pause, [this] {
      timer_ = 0;
      const auto self = shared_from_this();
      Poll();
      if (!closed_) LookLater();
    });
  }

  void Poll() {
    if (looking_) return Fail(DeadlineExceeded("the last poll has not ended"));
    looking_ = true;
    Ship<StatusOr<FolderNews>>([folder = folder_] { return folder->Poll(); },
                               &FileAgent::HandleNews);
  }

  void HandleNews(StatusOr<FolderNews> news) {
    looking_ = false;
    if (!news.ok()) return Fail(news.status());
    if (options_.metrics.available != nullptr) options_.metrics.available->Set(1);
    LOG_IF(INFO, failed_logged_) << "the directory " << options_.folder << " can be read again";
    failed_logged_ = false;
    if (news->refused_count > 0) Refuse(news->refused_count, "not regular files, or too large");
    for (const std::string& bytes : news->contents) Receive(bytes);
  }

  void Receive(const std::string& bytes) {
    if (closed_) return;
    if (mac_ == nullptr) return on_message_(bytes);
    const StatusOr<std::string_view> opened = OpenDatagramSeal(bytes, *mac_);
    if (opened.ok()) return on_message_(*opened);
    Refuse(1, ToStd(opened.status().message()));
  }

  void Refuse(size_t count, std::string_view why) {
    if (options_.metrics.refused != nullptr) options_.metrics.refused->Increment(count);
    LOG_IF(WARNING, MayLog(&refused_logged_at_))
        << count << " files of the directory " << options_.folder
        << " are not announcements of this cluster: " << why;
  }

  void Fail(const Status& why) {
    if (options_.metrics.failures != nullptr) options_.metrics.failures->Increment();
    if (options_.metrics.available != nullptr) options_.metrics.available->Set(0);
    if (!MayLog(&failed_logged_at_)) return;
    failed_logged_ = true;
    LOG(WARNING) << "the directory " << options_.folder
                 << " cannot be used, known nodes are kept: " << why;
  }

  bool MayLog(std::optional<TimePoint>* last) {
    const TimePoint now = loop_.Now();
    if (*last && now < **last + kLogInterval) return false;
    *last = now;
    return true;
  }

  Loop& loop_;
  FileChannelOptions options_;
  const std::shared_ptr<AnnouncementFolder> folder_;  // used by one poll or write at a time
  AnnouncementChannel::Handler on_message_;
  std::unique_ptr<ClusterMac> mac_;
  std::optional<std::string> next_;  // to be written
  bool writing_ = false;
  bool looking_ = false;
  bool closed_ = false;
  bool failed_logged_ = false;
  TimerId timer_ = 0;
  std::optional<TimePoint> failed_logged_at_;
  std::optional<TimePoint> refused_logged_at_;
};

class FileChannel final : public AnnouncementChannel {
 public:
  explicit FileChannel(std::shared_ptr<FileAgent> agent) : agent_(std::move(agent)) {}
  ~FileChannel() override { agent_->Close(); }
  void Publish(std::string_view bytes) override { agent_->Publish(bytes); }

 private:
  const std::shared_ptr<FileAgent> agent_;
};

}  // namespace

StatusOr<std::unique_ptr<AnnouncementChannel>> OpenFileChannel(
    Loop& loop, FileChannelOptions options, AnnouncementChannel::Handler on_message) {
  if (!options.folder.starts_with('/')) {
    return InvalidArgument("the directory's folder '", options.folder, "' is not an absolute path");
  }
  if (options.node.empty() || options.node.find('/') != std::string::npos) {
    return InvalidArgument("the node's name '", options.node, "' is not a valid file name");
  }
  auto agent = std::make_shared<FileAgent>(loop, std::move(options), std::move(on_message));
  agent->Begin();
  return std::make_unique<FileChannel>(std::move(agent));
}

}  // namespace neptune
