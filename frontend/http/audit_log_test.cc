#include "frontend/http/audit_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace search::frontend {
namespace {

using nlohmann::json;

constexpr neptune::WallTime kNow{1'700'000'000'123'456'000};

DocumentAudit Audit(const ChangedDocuments& changed) {
  return {.at = kNow,
          .method = "POST",
          .address = "127.0.0.1",
          .forwarded_for = {},
          .right = "token",
          .service_class = "gold",
          .status = 200,
          .changed = changed};
}

TEST(AuditLogTest, ALineSaysWhoChangedWhichDocuments) {
  const ChangedDocuments changed{.written = {17, UINT64_MAX}, .failed_count = 3};
  EXPECT_EQ(AuditLine(Audit(changed)),
            R"({"time_us":1700000000123456,"action":"documents","method":"POST",)"
            R"("address":"127.0.0.1","right":"token","class":"gold","status":200,)"
            R"("documents":["17","18446744073709551615"],"failed":3})");
}

TEST(AuditLogTest, LinesAreBounded) {
  ChangedDocuments changed;
  for (uint64_t i = 0; i < 1000; ++i) changed.written.push_back(i);
  DocumentAudit audit = Audit(changed);
  const std::string forwarded(10'000, 'x');
  audit.forwarded_for = forwarded;
  const json line = json::parse(AuditLine(audit));
  EXPECT_EQ(line["documents"].size(), kAuditedDocumentsMax);
  EXPECT_EQ(line["more"], 1000 - kAuditedDocumentsMax);
  EXPECT_EQ(line["forwarded_for"].get<std::string>().size(), kAuditedForwardedSizeMax);
}

TEST(AuditLogTest, WhatClientsSendCannotForgeALine) {
  const ChangedDocuments changed;
  DocumentAudit audit = Audit(changed);
  audit.forwarded_for = "1.2.3.4\n{\"action\":\"drain\"}\xff";
  const std::string line = AuditLine(audit);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(line)["action"], "documents");
}

TEST(AuditLogTest, SwitchesAndStopsHaveLines) {
  const json version =
      json::parse(AuditLine(VersionAudit{.at = kNow, .change = 7, .current = "may", .number = 5}));
  EXPECT_EQ(version, (json{{"time_us", 1700000000123456},
                           {"action", "index_version"},
                           {"change", 7},
                           {"current", "may"},
                           {"number", 5}}));
  EXPECT_EQ(AuditLineOfDrain(kNow), R"({"time_us":1700000000123456,"action":"drain"})");
}

}  // namespace
}  // namespace search::frontend
