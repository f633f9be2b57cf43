// BLAST over partitions finds what one blastp run over the whole database finds, including
// e-values.
//
// NEPTUNE_BLAST_DATABASE and NEPTUNE_BLAST_QUERIES name larger FASTA files than the synthetic
// proteins.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/examples/blast/blast_aggregation.h"
#include "neptune/examples/blast/blast_hits.h"
#include "neptune/examples/blast/blast_module.h"
#include "neptune/examples/blast/protein_database.h"
#include "neptune/examples/testing/example_cluster.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

using std::chrono::seconds;

constexpr uint64_t kSeed = 20;
constexpr uint32_t kPartitionCount = 3;
constexpr size_t kQueryCountMax = 40;
constexpr double kEvalueMax = 0.001;

// Returns the output and exit status of a shell command.
std::pair<std::string, int> RunCommand(const std::string& command) {
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (const size_t size = fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, size);
  return {output, pclose(pipe)};
}

bool HasBlast() {
  static const bool has = RunCommand("blastp -version && makeblastdb -version").second == 0;
  if (!has) std::cerr << "SKIPPED: no blastp and makeblastdb; install ncbi-blast+\n";
  return has;
}

std::vector<Protein> ReadOr(const char* variable, std::vector<Protein> otherwise) {
  const char* const path = std::getenv(variable);
  if (path == nullptr) return otherwise;
  return ParseFasta(*ReadFile(path, size_t{1} << 30)).value();
}

BlastHit MakeHit(const std::string& subject, double evalue, uint32_t score) {
  BlastHit hit;
  hit.set_subject(subject);
  hit.set_evalue(evalue);
  hit.set_bit_score(score);
  hit.set_score(score);
  return hit;
}

TEST(ProteinDatabaseTest, FastaRoundTrips) {
  const std::vector<Protein> made = MakeProteins(kSeed, 50);
  std::string text;
  for (const Protein& protein : made) text += ToFasta(protein);
  const std::vector<Protein> read = ParseFasta(text).value();
  ASSERT_EQ(read.size(), made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(read[i].title, made[i].title);
    EXPECT_EQ(read[i].letters, made[i].letters);
  }
}

TEST(ProteinDatabaseTest, FastaMayBreakLinesAndMustBeginWithATitle) {
  const auto proteins = ParseFasta(">a x\r\nAC\r\n\r\nDE\r\n>b\n");
  ASSERT_EQ(proteins->size(), 2u);
  EXPECT_EQ((*proteins)[0].letters, "ACDE");
  EXPECT_EQ((*proteins)[1].letters, "");
  EXPECT_EQ(ParseFasta("ACDE\n").status().code(), StatusCode::kInvalidArgument);
}

TEST(BlastHitsTest, MergeIsCommutativeAndAssociativeWithTies) {
  RandomSource random(kSeed);
  for (int round = 0; round < 200; ++round) {
    std::vector<BlastHits> parts(3);
    int number = 0;
    for (BlastHits& part : parts) {
      for (uint64_t i = random.Below(6); i > 0; --i) {
        const auto score = static_cast<uint32_t>(random.Below(3));
        *part.add_hits() = MakeHit(StrCat("s", number++), 1.0 / (1 + score), score);
      }
      KeepBestHits(4, &part);
    }
    const BlastHits left = MergeBlastHits(MergeBlastHits(parts[0], parts[1], 4), parts[2], 4);
    const BlastHits right = MergeBlastHits(MergeBlastHits(parts[2], parts[1], 4), parts[0], 4);
    ASSERT_EQ(left.SerializeAsString(), right.SerializeAsString()) << "round " << round;
  }
}

TEST(BlastHitsTest, AnInvalidTableLineIsAnError) {
  EXPECT_EQ(ParseBlastTable("s1\t1e-5\n").status().code(), StatusCode::kInternal);
  EXPECT_EQ(ParseBlastTable("")->hits_size(), 0);
}

TEST(BlastHitsTest, QueryOutsideTheLimitsIsRefused) {
  BlastQuery good;
  good.set_sequence("ACDE");
  good.set_evalue_max(1);
  good.set_hit_count_max(1);
  EXPECT_TRUE(ValidateBlastQuery(good).ok());
  const auto refused = [&](auto change) {
    BlastQuery query = good;
    change(&query);
    return ValidateBlastQuery(query).code() == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](BlastQuery* query) { query->set_sequence(""); }));
  EXPECT_TRUE(refused([](BlastQuery* query) { query->set_sequence("AC\n>x\nDE"); }));
  EXPECT_TRUE(refused([](BlastQuery* query) { query->set_evalue_max(0); }));
  EXPECT_TRUE(refused([](BlastQuery* query) { query->set_evalue_max(11); }));
  EXPECT_TRUE(refused([](BlastQuery* query) { query->set_hit_count_max(0); }));
}

class BlastTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasBlast()) GTEST_SKIP() << "SKIPPED: no ncbi-blast+";
    const char* const temporary = std::getenv("TEST_TMPDIR");
    folder_ = StrCat(temporary, "/", testing::UnitTest::GetInstance()->current_test_info()->name());
    proteins_ = ReadOr("NEPTUNE_BLAST_DATABASE", MakeProteins(kSeed, 300));
    ASSERT_TRUE(WritePartitions(proteins_, kPartitionCount, folder_).ok());
  }

  // Makes the whole database for blastp alone; returns its path.
  std::string WholeDatabase() {
    std::string text;
    for (const Protein& protein : proteins_) text += ToFasta(protein);
    const std::string path = folder_ + "/whole";
    EXPECT_TRUE(WriteFileAtomically(path, text).ok());
    EXPECT_EQ(RunCommand(StrCat("makeblastdb -dbtype prot -in ", path)).second, 0);
    return path;
  }

  std::string QueryFile(const Protein& query) {
    const std::string path = folder_ + "/query";
    EXPECT_TRUE(WriteFileAtomically(path, ToFasta(query)).ok());
    return path;
  }

  BlastHits SearchWhole(const std::string& database, const Protein& query, uint32_t hit_count_max) {
    const auto [table, status] = RunCommand(
        StrCat("blastp -max_hsps 1 -max_target_seqs ", kBlastHitCountMax, " -evalue ", kEvalueMax,
               " -outfmt '", kBlastTableFormat, "' -db ", database, " -query ", QueryFile(query)));
    EXPECT_EQ(status, 0);
    BlastHits hits = ParseBlastTable(table).value();
    KeepBestHits(hit_count_max, &hits);
    return hits;
  }

  ExampleClusterOptions Cluster() {
    ExampleClusterOptions options;
    options.service = "blast";
    options.partition_count = kPartitionCount;
    options.node_count = 2;
    options.parameters["path"] = folder_;
    options.module = [] { return std::make_unique<BlastModule>(); };
    options.register_operators = RegisterBlastReduce;
    return options;
  }

  static Status Search(RealExample& cluster, const Protein& query, uint32_t hit_count_max,
                       BlastHits* hits, AggregationReport* report) {
    BlastQuery asked;
    asked.set_sequence(query.letters);
    asked.set_evalue_max(kEvalueMax);
    asked.set_hit_count_max(hit_count_max);
    Status status;
    cluster.RunOnClient([&](ClientSession& session) {
      AggregationRequest request = BlastAggregation(ServiceName("blast"), kPartitionCount, asked,
                                                    this_thread::Now() + seconds(60));
      request.aggregation_quality_min = 0.5;
      Data data;
      status = Aggregate(session, request, &data, report);
      if (status.ok()) *hits = **data.As<BlastHits>();
    });
    return status;
  }

  std::string folder_;
  std::vector<Protein> proteins_;
};

TEST_F(BlastTest, PartitionsFindWhatOneRunFinds) {
  const std::string whole = WholeDatabase();
  std::vector<Protein> queries;
  for (size_t i = 0; i < proteins_.size(); i += 25) queries.push_back(proteins_[i]);
  queries = ReadOr("NEPTUNE_BLAST_QUERIES", queries);
  queries.resize(std::min(queries.size(), kQueryCountMax));
  RealExample cluster(Cluster());
  int hit_count = 0;
  for (const Protein& query : queries) {
    for (const uint32_t hit_count_max : {kBlastHitCountMax, 5u}) {
      BlastHits found;
      AggregationReport report;
      const Status status = Search(cluster, query, hit_count_max, &found, &report);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_TRUE(report.missing.empty()) << report.missing[0].reason;
      const BlastHits expected = SearchWhole(whole, query, hit_count_max);
      EXPECT_EQ(found.SerializeAsString(), expected.SerializeAsString())
          << query.title << ": " << found.hits_size() << " hits, not " << expected.hits_size();
      hit_count += found.hits_size();
    }
  }
  std::cerr << queries.size() << " queries, " << hit_count << " hits\n";
  EXPECT_GT(hit_count, static_cast<int>(queries.size()) * 5);
}

TEST_F(BlastTest, CrashOfOneProgramAffectsOnlyItsPartition) {
  const std::string program = folder_ + "/blastp";
  ASSERT_TRUE(WriteFileAtomically(program,
                                  "#!/bin/sh\ncase \"$2\" in\n*-p1) kill -SEGV $$ ;;\n"
                                  "*) exec blastp \"$@\" ;;\nesac\n")
                  .ok());
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ExampleClusterOptions options = Cluster();
  options.parameters["blastp"] = program;
  RealExample cluster(options);
  for (int round = 0; round < 3; ++round) {
    BlastHits found;
    AggregationReport report;
    const Status status = Search(cluster, proteins_[0], kBlastHitCountMax, &found, &report);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_GT(found.hits_size(), 0);
    ASSERT_EQ(report.missing.size(), 1u);
    EXPECT_EQ(report.missing[0].partition, PartitionId(1));
    EXPECT_NE(ToStd(report.missing[0].reason.message()).find("signal 11"), std::string::npos)
        << report.missing[0].reason;
  }
}

}  // namespace
}  // namespace neptune::examples
