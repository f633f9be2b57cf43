#include "neptune/world/real/asio_edge.h"

#include <boost/asio/error.hpp>
#include <cerrno>

#include "neptune/base/strings.h"

namespace neptune {

Status FromErrorCode(const boost::system::error_code& error, std::string_view doing) {
  if (!error) return OkStatus();
  namespace asio_error = boost::asio::error;
  const std::string reason = error.message();
  if (error == asio_error::no_descriptors || error == asio_error::no_memory ||
      error == asio_error::no_buffer_space) {
    return ResourceExhausted(doing, ": ", reason);
  }
  if (error == asio_error::timed_out) return DeadlineExceeded(doing, ": ", reason);
  if (error == asio_error::address_in_use || error == asio_error::access_denied ||
      error == asio_error::invalid_argument ||
      error == boost::system::errc::address_not_available) {
    return InvalidArgument(doing, ": ", reason);
  }
  return Unavailable(doing, ": ", reason);
}

Status FromErrno(std::string_view doing) {
  return FromErrorCode({errno, boost::system::system_category()}, doing);
}

}  // namespace neptune
