// A TCP connection on one loop; internal to world/real.
//
// Layer: world. Threads: the loop's own.

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "neptune/world/network.h"

namespace neptune {

class RealLoop;

// A stream over a connected socket of `loop`'s poller.
std::unique_ptr<Stream> MakeRealStream(RealLoop& loop, boost::asio::ip::tcp::socket socket);

}  // namespace neptune
