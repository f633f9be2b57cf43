#include "index/versions/version_watch.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace search::index {

using neptune::LeafLock;
using neptune::Status;
using neptune::StatusOr;

std::string VersionSectionName(std::string_view service) {
  return neptune::StrCat("index versions of ", service);
}

StatusOr<std::shared_ptr<VersionWatch>> VersionWatch::Start(neptune::World& world,
                                                            const std::string& name,
                                                            const std::string& path, Take take) {
  std::shared_ptr<VersionWatch> watch(new VersionWatch(path, std::move(take)));
  const Status first = watch->Poll();
  if (!watch->is_taken_) return neptune::Annotate(first, path);
  NEPTUNE_ASSIGN_OR_RETURN(
      watch->loop_,
      world.StartLoop({.name = name, .priority = neptune::LoopPriority::kBackground}));
  watch->loop_->Post([watch] { watch->Turn(); });
  return watch;
}

void VersionWatch::Stop() {
  LeafLock lock(&mutex_);
  take_ = nullptr;
}

void VersionWatch::Turn() {
  LeafLock lock(&mutex_);
  if (take_ == nullptr) return;
  const Status status = Poll();
  LOG_IF(ERROR, !status.ok()) << path_ << ": " << status;
  wait_ = status.ok() ? kVersionLookInterval : std::min(2 * wait_, kVersionLookIntervalMax);
  loop_->RunAt(loop_->Now() + wait_, [self = shared_from_this()] { self->Turn(); });
}

Status VersionWatch::Poll() {
  StatusOr<std::string> text = neptune::ReadFile(path_, kVersionListSizeMax);
  // Only a missing file at first means no list; once a list was read, a missing file is an error.
  if (text.status().code() == neptune::StatusCode::kNotFound && text_.empty()) {
    return std::exchange(is_taken_, true) ? neptune::OkStatus() : take_(nullptr);
  }
  StatusOr<VersionList> list = VersionList();
  Status status = text.status();
  if (status.ok() && *text == text_) return neptune::OkStatus();
  if (status.ok()) {
    list = ParseVersionList(*text);
    status = list.status();
  }
  if (status.ok()) {
    is_taken_ = true;
    status = take_(&*list);
  }
  LeafLock shown(&shown_mutex_);
  trouble_ = status.ok() ? std::string() : neptune::ToStd(status.message());
  if (!status.ok()) return status;
  text_ = *std::move(text);
  change_ = list->change;
  current_ = list->current;
  return neptune::OkStatus();
}

void VersionWatch::Describe(neptune::StatusReport* report, bool is_ready) const {
  LeafLock lock(&shown_mutex_);
  report->AddFact("change", is_ready || change_ == 0 ? change_ : change_ - 1);
  report->AddFact("current", current_);
  report->AddFact("trouble", trouble_);
}

}  // namespace search::index
