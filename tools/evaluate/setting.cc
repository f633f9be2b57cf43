#include "tools/evaluate/setting.h"

#include <array>
#include <charconv>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/evaluate/columns.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

struct Part {
  std::string_view name;
  void (*set)(float value, Setting* setting);
};

constexpr std::array<Part, 17> kParts = {{
    {"k1", [](float value, Setting* setting) { setting->ranking.k1 = value; }},
    {"title_weight",
     [](float value, Setting* setting) { setting->ranking.fields[0].weight = value; }},
    {"title_b", [](float value, Setting* setting) { setting->ranking.fields[0].b = value; }},
    {"body_b", [](float value, Setting* setting) { setting->ranking.fields[1].b = value; }},
    {"extra_weight",
     [](float value, Setting* setting) { setting->ranking.fields[2].weight = value; }},
    {"extra_b", [](float value, Setting* setting) { setting->ranking.fields[2].b = value; }},
    {"static_rank_weight",
     [](float value, Setting* setting) { setting->ranking.static_rank_weight = value; }},
    {"second_phase",
     [](float value, Setting* setting) {
       setting->second_phase_count = static_cast<size_t>(value);
     }},
    {"proximity", [](float value, Setting* setting) { setting->second_phase.proximity = value; }},
    {"title_cover", [](float value, Setting* setting) { setting->second_phase.title = value; }},
    {"lead", [](float value, Setting* setting) { setting->second_phase.lead = value; }},
    {"lead_half", [](float value, Setting* setting) { setting->second_phase.lead_half = value; }},
    {"link_texts",
     [](float value, Setting* setting) {
       setting->evidence.link_texts.count_max = static_cast<size_t>(value);
     }},
    {"link_text_size",
     [](float value, Setting* setting) {
       setting->evidence.link_texts.size_max = static_cast<size_t>(value);
     }},
    {"link_text_copies",
     [](float value, Setting* setting) {
       setting->evidence.link_texts.copies_max = static_cast<uint32_t>(value);
     }},
    {"heading_copies",
     [](float value, Setting* setting) {
       setting->evidence.heading_copies = static_cast<uint32_t>(value);
     }},
    {"rank_slope", [](float value, Setting* setting) { setting->evidence.rank_slope = value; }},
}};

Status SetPart(std::string_view name, std::string_view value, Setting* setting) {
  float number = 0;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(number >= 0 && number <= 10'000)) {
    return InvalidArgument("setting ", std::string(name), "=", std::string(value),
                           ": not a number from 0 to 10000");
  }
  for (const Part& part : kParts) {
    if (part.name != name) continue;
    part.set(number, setting);
    return neptune::OkStatus();
  }
  return InvalidArgument("setting '", std::string(name), "' is not one of ", SettingNames());
}

// Each of `settings` with each of the values of `part`.
StatusOr<std::vector<Setting>> Multiply(const std::vector<Setting>& settings,
                                        std::string_view part) {
  const size_t sign = part.find('=');
  const std::vector<std::string_view> values = sign == std::string_view::npos
                                                   ? std::vector<std::string_view>()
                                                   : Columns(part.substr(sign + 1), ",");
  if (values.empty()) return InvalidArgument("setting '", std::string(part), "' has no value");
  if (settings.size() * values.size() > kSettingsMax) {
    return InvalidArgument("more than ", kSettingsMax, " settings");
  }
  std::vector<Setting> product;
  for (const Setting& setting : settings) {
    for (const std::string_view value : values) {
      Setting& made = product.emplace_back(setting);
      const std::string_view name = part.substr(0, sign);
      NEPTUNE_RETURN_IF_ERROR(SetPart(name, value, &made));
      made.text += StrCat(made.text.empty() ? "" : " ", std::string(name), "=", std::string(value));
    }
  }
  return product;
}

}  // namespace

std::string SettingNames() {
  std::string names;
  for (const Part& part : kParts) {
    names += names.empty() ? "" : ", ";
    names += part.name;
  }
  return names;
}

StatusOr<std::vector<Setting>> ExpandSettings(std::string_view text) {
  std::vector<Setting> settings(1);
  for (const std::string_view part : Columns(text, " \t\n")) {
    NEPTUNE_ASSIGN_OR_RETURN(settings, Multiply(settings, part));
  }
  for (const Setting& setting : settings) {
    if (IsValid(setting.ranking) && IsValid(setting.second_phase)) continue;
    return InvalidArgument("setting '", setting.text, "': a value is out of range");
  }
  return settings;
}

StatusOr<Setting> ParseSetting(std::string_view text) {
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<Setting> settings, ExpandSettings(text));
  if (settings.size() != 1) {
    return InvalidArgument("setting '", std::string(text), "': give one value for each parameter");
  }
  return std::move(settings[0]);
}

}  // namespace search::tools
