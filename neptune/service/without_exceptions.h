// Calls code of a module, whose exceptions end here.
//
// Threads: any.
// Errors: kInternal an exception, with its text.

#pragma once

#include <exception>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

template <typename Function>
Status WithoutExceptions(std::string_view what, Function&& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    return Internal(what, " threw: ", error.what());
  } catch (...) {
    return Internal(what, " threw");
  }
}

}  // namespace neptune
