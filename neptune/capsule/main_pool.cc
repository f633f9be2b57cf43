#include "neptune/capsule/main_pool.h"

#include <cerrno>

#include "neptune/thread/thread_specific.h"

namespace neptune {
namespace {

const ThreadSpecific<MainPoolPlace>& PlaceOfThread() {
  static const ThreadSpecific<MainPoolPlace> place;
  return place;
}

}  // namespace

MainPoolPlace* MainPoolPlace::Current() {
  return UserThread::Current() == nullptr ? nullptr : PlaceOfThread().get();
}

void MainPoolPlace::SetCurrent(MainPoolPlace* place) { PlaceOfThread().set(place); }

OutsideMainPool::OutsideMainPool() : place_(MainPoolPlace::Current()) {
  if (place_ == nullptr) return;
  MainPoolPlace::SetCurrent(nullptr);
  place_->GiveBack();
}

OutsideMainPool::~OutsideMainPool() {
  if (place_ == nullptr) return;
  const int error = errno;  // preserve the errno of the call that waited
  place_->Readmit();
  MainPoolPlace::SetCurrent(place_);
  errno = error;
}

}  // namespace neptune
