// Conversions between Boost.Asio's types and the project's; internal to world/real.
//
// Threads: pure functions.

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/system/error_code.hpp>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/world/network.h"

namespace neptune {

inline boost::asio::ip::tcp::endpoint ToTcp(const Endpoint& endpoint) {
  return {boost::asio::ip::address_v4(endpoint.address), endpoint.port};
}
inline boost::asio::ip::udp::endpoint ToUdp(const Endpoint& endpoint) {
  return {boost::asio::ip::address_v4(endpoint.address), endpoint.port};
}
template <typename AsioEndpoint>
Endpoint FromAsio(const AsioEndpoint& endpoint) {
  if (!endpoint.address().is_v4()) return {};
  return {endpoint.address().to_v4().to_uint(), endpoint.port()};
}

// Returns OK for no error. `doing` describes the operation.
Status FromErrorCode(const boost::system::error_code& error, std::string_view doing);
// Returns the error of the system call that just failed.
Status FromErrno(std::string_view doing);

}  // namespace neptune
