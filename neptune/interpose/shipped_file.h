// A file whose calls run on the helper threads of its device capsule.
//
// Source: [Chu05] IV.B (helper threads handle blocking disk I/O), V.C.
// Threads: lives on the stack of the calling thread.
// Errors, as errno: the call's; ETIMEDOUT, EAGAIN, ECANCELED as in call_permit.h.

#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/capsule/device_call.h"
#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/call_permit.h"

namespace neptune::interpose {

class ShippedFile {
 public:
  explicit ShippedFile(int fd) {
    Descriptor* const descriptor = FindTracked(fd);
    if (descriptor == nullptr || CapsulesInUse() == nullptr || ParkingThread() == nullptr) return;
    const auto file = descriptor->file();
    if (file != nullptr && file->ships) dependency_ = file->dependency();
  }

  // True if calls run on helper threads, false if on the calling thread.
  bool ships() const { return dependency_ != nullptr; }

  // REQUIRES: ships(), for Read, Write and Run. `read` is called with a buffer and its size.
  template <typename ReadCall>
  ssize_t Read(void* data, size_t size, ReadCall read) const {
    const auto bytes = std::make_shared<std::string>();
    const ssize_t result = Run([bytes, size, read] {
      bytes->resize(size);
      return read(bytes->data(), size);
    });
    if (result > 0) std::memcpy(data, bytes->data(), static_cast<size_t>(result));
    return result;
  }
  template <typename WriteCall>
  ssize_t Write(const void* data, size_t size, WriteCall write) const {
    return Run([bytes = std::string(static_cast<const char*>(data), size), write] {
      return write(bytes.data(), bytes.size());
    });
  }
  template <typename Call>
  ssize_t Run(Call call) const {
    const int error_before = errno;
    const OutsideMainPool outside;
    auto answer = RunOnDevice(*CapsulesInUse(), dependency_->path, [call = std::move(call)] {
      const ssize_t result = call();
      return std::pair(result, errno);
    });
    const bool failed = !answer.ok() || answer->first < 0;
    errno = !failed ? error_before : answer.ok() ? answer->second : ErrnoOf(answer.status(), true);
    return answer.ok() ? answer->first : -1;
  }

 private:
  std::shared_ptr<const Dependency> dependency_;
};

// True if a device capsule takes the file when the calling thread opens it.
bool IsOnDevice(const char* path);

// Normalizes an absolute path for rules: removes ".", ".." and repeated slashes. Links are not
// followed.
std::string PlainPath(std::string_view path);

}  // namespace neptune::interpose
