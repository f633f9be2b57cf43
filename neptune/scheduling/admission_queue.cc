#include "neptune/scheduling/admission_queue.h"

#include <algorithm>

namespace neptune {
namespace {

// The last 69 picks have half of the weight.
constexpr double kPaceWeight = 0.01;
constexpr double kServiceWeight = 0.02;
// Picks after which the pace is believed.
constexpr uint64_t kPaceCountMin = 16;

}  // namespace

AdmissionQueue::Class::Class() : pace_ns(kPaceWeight), service_ns(kServiceWeight) {}

AdmissionQueue::AdmissionQueue(const Options& options)
    : options_(options),
      scheduler_(options_.scheduling),
      classes_(options_.scheduling.classes.size()) {}

TimePoint AdmissionQueue::LatestBegin(const Request& request) const {
  const ServiceClassOptions& of = options_.scheduling.classes[request.service_class];
  TimePoint answer_by = request.deadline;
  if (of.yield && of.yield->deadline() != Duration::max()) {
    answer_by = std::min(answer_by, AddSaturated(request.arrived, of.yield->deadline()));
  }
  if (answer_by == kNever) return request.begin_by;
  const TimePoint latest = answer_by - MeanServiceOf(request.service_class);
  return std::min(request.begin_by, std::max(request.arrived, latest));
}

Duration AdmissionQueue::ExpectedWait(ClassNumber number, uint64_t client) const {
  const Class& of = classes_[number];
  if (of.pace_ns.count() < kPaceCountMin) return Duration(0);
  const auto turns = static_cast<double>(of.waiting.Ahead(client) + 1);
  return Duration(static_cast<int64_t>(turns * of.pace_ns.value()));
}

AdmissionQueue::Pushed AdmissionQueue::Push(const Request& request, TimePoint now) {
  Class& of = classes_[request.service_class];
  const TimePoint latest = LatestBegin(request);
  // The scheduler drops a request that would end after its deadline.
  const WaitingRequest waiting = {
      request.ticket, request.arrived,
      std::min(request.deadline, AddSaturated(latest, MeanServiceOf(request.service_class))),
      request.service_class};
  const bool newest_first = NewestFirst(request.service_class, now);
  of.leaving.OnArrival(now);
  Pushed pushed;
  const bool waits = !newest_first && of.waiting.size() > 0;
  if (waits && AddSaturated(now, ExpectedWait(request.service_class, request.client)) > latest) {
    pushed.entry = Entry::kWaitTooLong;
  } else if (of.waiting.size() >= options_.waiting_count_max) {
    pushed.displaced = of.waiting.Displace(request.client);
    if (!pushed.displaced) pushed.entry = Entry::kQueueFull;
  }
  if (pushed.displaced) classes_of_.erase(*pushed.displaced);
  scheduler_.NoteArrival(waiting, /*is_refused=*/pushed.entry != Entry::kTaken);
  if (pushed.entry != Entry::kTaken) return pushed;
  of.waiting.Push(waiting, request.client, newest_first);
  classes_of_.emplace(request.ticket, request.service_class);
  return pushed;
}

void AdmissionQueue::Offer(ClassNumber number, TimePoint now) {
  Class& of = classes_[number];
  const WaitingRequest* const next = of.waiting.Next(NewestFirst(number, now));
  scheduler_.Offer(number, next, of.waiting.size());
}

void AdmissionQueue::NotePick(Class* of, TimePoint now) {
  if (of->waiting_since_pick) {
    of->pace_ns.Add(static_cast<double>((now - *of->waiting_since_pick).count()));
  }
  of->waiting_since_pick.reset();
  if (of->waiting.size() > 0) of->waiting_since_pick = now;
}

AdmissionQueue::Picked AdmissionQueue::Pick(TimePoint now, const ClassThreads& threads) {
  Picked picked;
  for (bool found_late = true; found_late;) {
    for (ClassNumber number = 0; number < classes_.size(); ++number) Offer(number, now);
    ClassScheduler::Picked chosen = scheduler_.Pick(now, threads);
    for (const WaitingRequest& late : chosen.dropped) {
      Remove(late.ticket);
      picked.dropped.push_back(late);
    }
    found_late = !chosen.next && !chosen.dropped.empty();
    picked.next = chosen.next;
  }
  if (!picked.next) return picked;
  Class& of = classes_[picked.next->service_class];
  of.waiting.Take(picked.next->ticket);
  classes_of_.erase(picked.next->ticket);
  NotePick(&of, now);
  return picked;
}

bool AdmissionQueue::Remove(RequestTicket ticket) {
  const auto found = classes_of_.find(ticket);
  if (found == classes_of_.end()) return false;
  Class& of = classes_[found->second];
  of.waiting.Remove(ticket);
  if (of.waiting.size() == 0) of.waiting_since_pick.reset();
  classes_of_.erase(found);
  return true;
}

void AdmissionQueue::NoteGone(ClassNumber service_class, TimePoint now) {
  classes_[service_class].leaving.OnDrop(now);
}

void AdmissionQueue::OnServed(ClassNumber service_class, Duration consumed, Duration served_for,
                              TimePoint now) {
  classes_[service_class].service_ns.Add(static_cast<double>(served_for.count()));
  scheduler_.OnServed(service_class, consumed, served_for, now);
}

}  // namespace neptune
