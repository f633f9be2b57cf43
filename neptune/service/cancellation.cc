#include "neptune/service/cancellation.h"

#include "neptune/wire/incoming_call.h"

namespace neptune {

Cancellation::Cancellation() : call_(std::make_shared<IncomingCall>()) {}

void Cancellation::Cancel() { call_->Cancel(); }

}  // namespace neptune
