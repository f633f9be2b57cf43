#include "neptune/interpose/pthread/exit.h"

#include <glog/logging.h>
#include <pthread.h>
#include <unwind.h>

#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "neptune/interpose/preload/call_names.h"
#include "neptune/thread/thread_specific.h"
#include "neptune/thread/user_thread.h"

// libc declares these to C only: there pthread_cleanup_push calls the first, pthread_cleanup_pop
// the second, and a handler that was called for an exit the third.
extern "C" {
void __pthread_register_cancel(__pthread_unwind_buf_t* buffer);
void __pthread_unregister_cancel(__pthread_unwind_buf_t* buffer);
[[noreturn]] void __pthread_unwind_next(__pthread_unwind_buf_t* buffer);
}

namespace neptune::interpose {
namespace {

// State of one RunUntilExit, on its stack.
struct ExitFrame {
  jmp_buf end;
  void* result = nullptr;
  __pthread_unwind_buf_t* cleanup = nullptr;  // the innermost registered buffer
  _Unwind_Exception exception{};
};

const ThreadSpecific<ExitFrame>& CurrentFrame() {
  static const ThreadSpecific<ExitFrame> current;
  return current;
}

ExitFrame* FrameOfCaller() {
  return UserThread::Current() == nullptr ? nullptr : CurrentFrame().get();
}

__pthread_unwind_buf_t*& OuterOf(__pthread_unwind_buf_t* buffer) {
  return *reinterpret_cast<__pthread_unwind_buf_t**>(&buffer->__pad[0]);
}

// Called before each frame is unwound. Everything below the frame's stack pointer has been unwound.
_Unwind_Reason_Code LeaveFrame(int /*version*/, _Unwind_Action actions, _Unwind_Exception_Class,
                               _Unwind_Exception*, _Unwind_Context* context, void* argument) {
  auto* const frame = static_cast<ExitFrame*>(argument);
  const bool is_last = (actions & _UA_END_OF_STACK) != 0;
  const uintptr_t stack_pointer = _Unwind_GetCFA(context);
  const auto is_left = [&](const void* place) {
    return is_last || stack_pointer > reinterpret_cast<uintptr_t>(place);
  };
  if (frame->cleanup != nullptr && is_left(frame->cleanup)) {
    // The handler then calls __pthread_unwind_next. The buffer begins with a jump buffer.
    std::longjmp(reinterpret_cast<__jmp_buf_tag*>(frame->cleanup->__cancel_jmp_buf), 1);
  }
  if (is_left(frame)) std::longjmp(frame->end, 1);
  return _URC_NO_REASON;
}

[[noreturn]] void Unwind(ExitFrame* frame) {
  frame->exception = {};
  frame->exception.exception_cleanup = [](_Unwind_Reason_Code, _Unwind_Exception*) {
    LOG(FATAL) << "pthread_exit was caught by a catch (...) that does not throw it again";
  };
  _Unwind_ForcedUnwind(&frame->exception, &LeaveFrame, frame);
  // A frame cannot be unwound: skip the remaining frames.
  std::longjmp(frame->end, 1);
}

}  // namespace

void* RunUntilExit(void* (*routine)(void*), void* argument) {
  ExitFrame frame;
  ExitFrame* const outer = CurrentFrame().get();
  CurrentFrame().set(&frame);
  if (setjmp(frame.end) == 0) frame.result = routine(argument);
  if (UserThread::Current() != nullptr) CurrentFrame().set(outer);
  return frame.result;
}

void UnwindToExit(void* result) {
  ExitFrame* const frame = FrameOfCaller();
  if (frame == nullptr) std::exit(0);  // the only thread of a forked child
  frame->result = result;
  Unwind(frame);
}

}  // namespace neptune::interpose

using neptune::interpose::ExitFrame;

NEPTUNE_PRELOAD_CALL void neptune___pthread_register_cancel(__pthread_unwind_buf_t* buffer) {
  ExitFrame* const frame = neptune::interpose::FrameOfCaller();
  if (frame == nullptr) return __pthread_register_cancel(buffer);
  neptune::interpose::OuterOf(buffer) = std::exchange(frame->cleanup, buffer);
}

NEPTUNE_PRELOAD_CALL void neptune___pthread_unregister_cancel(__pthread_unwind_buf_t* buffer) {
  ExitFrame* const frame = neptune::interpose::FrameOfCaller();
  if (frame == nullptr) return __pthread_unregister_cancel(buffer);
  frame->cleanup = neptune::interpose::OuterOf(buffer);
}

NEPTUNE_PRELOAD_CALL void neptune___pthread_unwind_next(__pthread_unwind_buf_t* buffer) {
  ExitFrame* const frame = neptune::interpose::FrameOfCaller();
  if (frame == nullptr) __pthread_unwind_next(buffer);
  frame->cleanup = neptune::interpose::OuterOf(buffer);
  neptune::interpose::Unwind(frame);
}
