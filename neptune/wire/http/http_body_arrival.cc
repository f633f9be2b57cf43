#include "neptune/wire/http/http_body_arrival.h"

#include "neptune/wire/http/http_connection.h"
#include "neptune/wire/http/problem.h"

namespace neptune {

HttpBodyPermit HttpBodyArrival::Admit(HttpRequest* head) {
  HttpBodyPermit permit;
  if (client_.turned_away) {
    permit.refusal = ProblemResponse(ResourceExhausted("too many connections"));
    return permit;
  }
  if (core_.options.at_header == nullptr) return permit;
  head->peer = client_.peer;
  head->received = core_.loop.Now();
  head->is_encrypted = client_.is_encrypted;
  bool has_failed = false;
  HttpResponse failure = WithoutHttpExceptions(core_, "check", &has_failed, [&] {
    permit = core_.options.at_header(head);
    return HttpResponse();
  });
  if (has_failed) permit.refusal = std::move(failure);
  return permit;
}

bool HttpBodyArrival::Hold(size_t size) {
  if (size <= HttpBodyBudget::kFreeSize) return true;
  if (charge_ == nullptr) {
    charge_ = std::make_unique<HttpBodyCharge>(core_.options.bodies, client_.peer.address,
                                               [&loop = core_.loop, connection = connection_] {
                                                 loop.Post([connection] {
                                                   if (const auto alive = connection.lock())
                                                     alive->RefuseBody();
                                                 });
                                               });
  }
  return charge_->Cover(size);
}

}  // namespace neptune
