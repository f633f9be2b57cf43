#include "neptune/base/status_section.h"

namespace neptune {
namespace {

StatusReport RenderOne(const std::string& name, const StatusSections::RenderFunction& render) {
  StatusReport report;
  render(&report);
  report.name = name;
  return report;
}

}  // namespace

StatusSection& StatusSection::operator=(StatusSection&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  sections_ = std::exchange(other.sections_, nullptr);
  name_ = std::move(other.name_);
  return *this;
}

void StatusSection::Remove() {
  if (sections_ != nullptr) std::exchange(sections_, nullptr)->Remove(name_);
}

StatusOr<StatusSection> StatusSections::Add(std::string_view name, RenderFunction render) {
  if (name.empty() || render == nullptr) {
    return InvalidArgument("add status section: empty name or function");
  }
  LeafLock lock(&mutex_);
  if (sections_.contains(name)) return FailedPrecondition("status section ", name, " exists");
  if (sections_.size() >= kStatusSectionCountMax) {
    return ResourceExhausted("add status section ", name, ": more than ", kStatusSectionCountMax);
  }
  sections_.emplace(std::string(name), std::move(render));
  return StatusSection(this, std::string(name));
}

std::vector<StatusReport> StatusSections::Render() const {
  std::vector<StatusReport> reports;
  LeafLock lock(&mutex_);
  for (const auto& [name, render] : sections_) reports.push_back(RenderOne(name, render));
  return reports;
}

StatusOr<StatusReport> StatusSections::Render(std::string_view name) const {
  LeafLock lock(&mutex_);
  const auto entry = sections_.find(name);
  if (entry == sections_.end()) return NotFound("no status section ", name);
  return RenderOne(entry->first, entry->second);
}

void StatusSections::Remove(const std::string& name) {
  LeafLock lock(&mutex_);
  sections_.erase(name);
}

}  // namespace neptune
