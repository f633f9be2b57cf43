// Loopback sockets of the peer programs that use none of the runtime.
//
// Threads: pure functions. Errors: the program ends with a message.

#pragma once

#include <cstdint>
#include <string_view>

namespace neptune::peers {

// A listening socket on any free port of the loopback interface.
int ListenOnLoopback(uint16_t* port);
int ConnectToLoopback(uint16_t port);
int AcceptFrom(int listener);
void SetNonBlocking(int socket);

// Blocking. False: the peer closed the connection.
bool SendAll(int socket, std::string_view bytes);
bool ReceiveAll(int socket, char* bytes, size_t size);

}  // namespace neptune::peers
