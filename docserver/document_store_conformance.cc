#include "docserver/document_store_conformance.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <thread>

namespace search::docserver {
namespace {

using neptune::StatusCode;

std::string RandomText(std::mt19937_64& random, size_t size) {
  static const std::vector<std::string> kWords = {"cluster ", "query\n", "café ", "index ", "a ",
                                                  "replica ", "\0\x01 ", "日本 ", "lock "};
  std::string text;
  while (text.size() < size) {
    text += kWords[random() % kWords.size()];
    if (random() % 8 == 0) text += std::to_string(random());
  }
  return text;
}

std::string ReadBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteBytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<std::filesystem::path> Files(const std::string& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string VariantName(const testing::TestParamInfo<DocumentStoreVariant>& info) {
  return std::string(info.param.name);
}

void PrintTo(const DocumentStoreVariant& variant, std::ostream* out) { *out << variant.name; }

void DocumentStoreConformance::SetUp() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  std::replace(name.begin(), name.end(), '/', '_');
  root_ = std::filesystem::path(testing::TempDir()) / (name + "." + std::to_string(getpid()));
  std::filesystem::remove_all(root_);
  std::filesystem::create_directories(root_);
}

void DocumentStoreConformance::TearDown() { std::filesystem::remove_all(root_); }

std::string DocumentStoreConformance::Directory(const std::string& name) const {
  return (root_ / name).string();
}

std::unique_ptr<DocumentStore> DocumentStoreConformance::Build(const std::string& directory) const {
  DocumentStoreOptions options;
  options.mode = DocumentStoreOptions::Mode::kBuild;
  options.block_size = 2048;
  auto store = GetParam().open(directory, options);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? std::move(*store) : nullptr;
}

neptune::StatusOr<std::unique_ptr<DocumentStore>> DocumentStoreConformance::Serve(
    const std::string& directory) const {
  return GetParam().open(directory, DocumentStoreOptions());
}

std::vector<StoredDocument> DocumentStoreConformance::RandomDocuments(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<StoredDocument> documents(count);
  for (StoredDocument& document : documents) {
    document.set_doc_id(random() >> (random() % 64));
    document.set_url("http://host/" + std::to_string(random() % 1000));
    document.set_title(RandomText(random, random() % 40));
    document.set_text(RandomText(random, random() % (random() % 16 == 0 ? 20000 : 600)));
    document.set_site("site-" + std::to_string(random() % 5));
    if (random() % 2 == 0) {
      document.set_public_url("https://host/" + std::to_string(random() % 1000));
      document.set_structure("p" + std::to_string(document.text().size()) + "/");
      document.set_signature(random());
    }
  }
  return documents;
}

Oracle DocumentStoreConformance::BuildSealed(const std::string& directory,
                                             const std::vector<StoredDocument>& documents) {
  const auto store = Build(directory);
  Oracle oracle;
  for (size_t begin = 0; begin < documents.size(); begin += 17) {
    const size_t size = std::min<size_t>(17, documents.size() - begin);
    EXPECT_TRUE(store->Put(std::span(documents).subspan(begin, size)).ok());
    for (size_t i = begin; i < begin + size; ++i) oracle[documents[i].doc_id()] = documents[i];
  }
  EXPECT_EQ(store->document_count(), oracle.size());
  const neptune::Status sealed = store->Seal();
  EXPECT_TRUE(sealed.ok()) << sealed;
  return oracle;
}

neptune::Status DocumentStoreConformance::CompareWithOracle(const DocumentStore& store,
                                                            const Oracle& oracle, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> ids;
  for (const auto& [id, document] : oracle) {
    ids.insert(ids.end(), {id, id + 1});  // the second one is usually not stored
    if (random() % 8 == 0) ids.push_back(id);
  }
  std::shuffle(ids.begin(), ids.end(), random);
  for (size_t begin = 0; begin < ids.size();) {
    const size_t size = std::min<size_t>(random() % (kFetchCountMax + 1), ids.size() - begin);
    const auto batch = std::span<const uint64_t>(ids).subspan(begin, size);
    NEPTUNE_ASSIGN_OR_RETURN(const FetchedDocuments fetched, store.Fetch(batch));
    EXPECT_EQ(fetched.size(), size);
    for (size_t i = 0; i < size; ++i) {
      const auto expected = oracle.find(batch[i]);
      EXPECT_EQ(fetched[i].has_value(), expected != oracle.end()) << "document " << batch[i];
      if (!fetched[i] || expected == oracle.end()) continue;
      EXPECT_EQ(fetched[i]->SerializeAsString(), expected->second.SerializeAsString());
    }
    begin += size;
  }
  return neptune::OkStatus();
}

neptune::Status DocumentStoreConformance::OpenAndCompare(const std::string& directory,
                                                         const Oracle& oracle) const {
  NEPTUNE_ASSIGN_OR_RETURN(const auto store, Serve(directory));
  NEPTUNE_RETURN_IF_ERROR(CompareWithOracle(*store, oracle, 1));
  EXPECT_EQ(store->document_count(), oracle.size());
  return store->Verify();
}

TEST_P(DocumentStoreConformance, GivesBackWhatWasPut) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const std::string directory = Directory(std::to_string(seed));
    const Oracle oracle = BuildSealed(directory, RandomDocuments(seed, 100 * seed));
    const neptune::Status status = OpenAndCompare(directory, oracle);
    EXPECT_TRUE(status.ok()) << status << ", seed " << seed;
  }
}

TEST_P(DocumentStoreConformance, ReadsThroughTheSameObjectOnceSealed) {
  const auto store = Build(Directory());
  const std::vector<StoredDocument> documents = RandomDocuments(4, 3);
  ASSERT_TRUE(store->Put(documents).ok());
  EXPECT_EQ(store->Fetch({}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(store->Verify().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(store->FindUrl("a").status().code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(store->Seal().ok());
  EXPECT_TRUE(store->Seal().ok());
  const std::vector<uint64_t> ids = {documents[2].doc_id()};
  const auto fetched = store->Fetch(ids);
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  EXPECT_EQ((*fetched)[0]->text(), documents[2].text());
  EXPECT_EQ(store->Put(documents).code(), StatusCode::kFailedPrecondition);
}

TEST_P(DocumentStoreConformance, KeepsTheLastOfEqualIds) {
  std::vector<StoredDocument> documents = RandomDocuments(5, 60);
  for (size_t i = 0; i < documents.size(); ++i) documents[i].set_doc_id(i % 7);
  const Oracle oracle = BuildSealed(Directory(), documents);
  EXPECT_EQ(oracle.size(), 7u);
  const neptune::Status status = OpenAndCompare(Directory(), oracle);
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(DocumentStoreConformance, FindsDocumentsByUrl) {
  const Oracle oracle = BuildSealed(Directory(), RandomDocuments(22, 120));
  std::map<std::string, uint64_t> first;  // in the order of numbers
  for (const auto& [doc_id, document] : oracle) first.emplace(document.url(), doc_id);
  const auto store = Serve(Directory());
  ASSERT_TRUE(store.ok()) << store.status();
  for (const auto& [url, doc_id] : first) EXPECT_EQ((*store)->FindUrl(url).value(), doc_id) << url;
  EXPECT_EQ((*store)->FindUrl("http://host/nothing").value(), std::nullopt);
  EXPECT_EQ((*store)->FindUrl("").value(), std::nullopt);
}

TEST_P(DocumentStoreConformance, AReplacedUrlIsNotFound) {
  std::vector<StoredDocument> documents = RandomDocuments(23, 2);
  for (StoredDocument& document : documents) document.set_doc_id(7);
  documents[0].set_url("http://old/");
  documents[1].set_url("http://new/");
  BuildSealed(Directory(), documents);
  const auto store = Serve(Directory());
  EXPECT_EQ((*store)->FindUrl("http://old/").value(), std::nullopt);
  EXPECT_EQ((*store)->FindUrl("http://new/").value(), 7U);
}

TEST_P(DocumentStoreConformance, MayBeEmpty) {
  BuildSealed(Directory(), {});
  const auto store = Serve(Directory());
  ASSERT_TRUE(store.ok()) << store.status();
  const std::vector<uint64_t> ids = {0, UINT64_MAX};
  const auto fetched = (*store)->Fetch(ids);
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  EXPECT_FALSE((*fetched)[0].has_value());
  EXPECT_FALSE((*fetched)[1].has_value());
}

TEST_P(DocumentStoreConformance, HoldsALargeDocumentAndRefusesAHugeOne) {
  StoredDocument document;
  document.set_doc_id(1);
  document.set_text(std::string(kDocumentSizeMax - 100, 'x'));
  const Oracle oracle = BuildSealed(Directory("large"), {document});
  EXPECT_TRUE(OpenAndCompare(Directory("large"), oracle).ok());
  document.set_text(std::string(kDocumentSizeMax, 'x'));
  const auto store = Build(Directory("huge"));
  EXPECT_EQ(store->Put(std::span(&document, 1)).code(), StatusCode::kInvalidArgument);
}

// What enters is checked once, so that nothing read from a store need be.
TEST_P(DocumentStoreConformance, RefusesADocumentThatIsNotUtf8) {
  for (const std::string text :
       {"caf\xE9", "\xC3", "a long beginning in ASCII, \xF4\x90\x80\x80"}) {
    StoredDocument document;
    document.set_doc_id(1);
    document.set_text(text);
    const auto store = Build(Directory());
    EXPECT_EQ(store->Put(std::span(&document, 1)).code(), StatusCode::kInvalidArgument) << text;
    document.set_text("café 日本");
    document.set_title(text);
    const auto other = Build(Directory("title"));
    EXPECT_EQ(other->Put(std::span(&document, 1)).code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST_P(DocumentStoreConformance, RefusesTooManyIds) {
  BuildSealed(Directory(), RandomDocuments(6, 1));
  const auto store = Serve(Directory());
  ASSERT_TRUE(store.ok());
  const std::vector<uint64_t> ids(kFetchCountMax + 1);
  EXPECT_EQ((*store)->Fetch(ids).status().code(), StatusCode::kInvalidArgument);
}

TEST_P(DocumentStoreConformance, RefusesMissingUnsealedAndSealedStores) {
  EXPECT_EQ(Serve(Directory("nothing")).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(Build(Directory())->Put(RandomDocuments(7, 40)).ok());
  EXPECT_EQ(Serve(Directory()).status().code(), StatusCode::kFailedPrecondition);

  // An unsealed store is replaced; a sealed store is not overwritten.
  const Oracle oracle = BuildSealed(Directory(), RandomDocuments(8, 20));
  EXPECT_TRUE(OpenAndCompare(Directory(), oracle).ok());
  DocumentStoreOptions options;
  options.mode = DocumentStoreOptions::Mode::kBuild;
  EXPECT_EQ(GetParam().open(Directory(), options).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(OpenAndCompare(Directory(), oracle).ok());
}

TEST_P(DocumentStoreConformance, RefusesOptionsOutOfRange) {
  DocumentStoreOptions options;
  options.mode = DocumentStoreOptions::Mode::kBuild;
  options.block_size = 1;
  EXPECT_EQ(GetParam().open(Directory(), options).status().code(), StatusCode::kInvalidArgument);
  options.block_size = 4096;
  options.compression_level = 99;
  EXPECT_EQ(GetParam().open(Directory(), options).status().code(), StatusCode::kInvalidArgument);
}

TEST_P(DocumentStoreConformance, IsReadByManyThreadsAndObjectsAndWritesNothing) {
  const Oracle oracle = BuildSealed(Directory(), RandomDocuments(9, 150));
  const std::vector<std::filesystem::path> files = Files(Directory());
  {
    const auto first = Serve(Directory());
    const auto second = Serve(Directory());
    ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < 4; ++i) {
      const DocumentStore& store = i % 2 == 0 ? **first : **second;
      threads.emplace_back(
          [&store, &oracle, i] { EXPECT_TRUE(CompareWithOracle(store, oracle, i).ok()); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(Files(Directory()), files);
}

// Two replicas of one partition on one machine read the same directory.
TEST_P(DocumentStoreConformance, IsReadByTwoProcessesAtOnce) {
  const Oracle oracle = BuildSealed(Directory(), RandomDocuments(20, 50));
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();  // before any store of this test is open
  ASSERT_GE(child, 0);
  if (child == 0) {
    char byte = 0;
    const bool may_begin = read(go[0], &byte, 1) == 1;  // the parent has opened its store
    _exit(may_begin && OpenAndCompare(Directory(), oracle).ok() && !HasFailure() ? 0 : 1);
  }
  const auto store = Serve(Directory());
  EXPECT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(write(go[1], "g", 1), 1);
  int exit_status = -1;
  EXPECT_EQ(waitpid(child, &exit_status, 0), child);
  EXPECT_TRUE(WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 0) << exit_status;
  if (store.ok()) {
    EXPECT_TRUE(CompareWithOracle(**store, oracle, 21).ok());
  }
  close(go[0]);
  close(go[1]);
}

// A flipped bit anywhere gives the right documents or DATA_LOSS, never a wrong document.
TEST_P(DocumentStoreConformance, NeverGivesWrongDocumentsAfterABitFlip) {
  const Oracle oracle = BuildSealed(Directory(), RandomDocuments(10, 60));
  std::mt19937_64 random(11);
  size_t found_count = 0;
  for (const std::filesystem::path& file : Files(Directory())) {
    const std::string bytes = ReadBytes(file);
    for (int round = 0; round < 40 && !bytes.empty(); ++round) {
      std::string damaged = bytes;
      const size_t bit = random() % (8 * bytes.size());
      damaged[bit / 8] ^= static_cast<char>(1 << (bit % 8));
      WriteBytes(file, damaged);
      const neptune::Status status = OpenAndCompare(Directory(), oracle);
      if (!status.ok()) {
        ++found_count;
        EXPECT_EQ(status.code(), StatusCode::kDataLoss) << file << " bit " << bit << ": " << status;
      }
    }
    WriteBytes(file, bytes);
  }
  EXPECT_GE(found_count, 60u);
}

// Far from the ends of large files: a fetch meets damage only if it reads there, Verify always
// does.
TEST_P(DocumentStoreConformance, VerifiesEveryByteOfALargeStore) {
  std::mt19937_64 random(17);
  std::vector<StoredDocument> documents = RandomDocuments(18, 400);
  for (StoredDocument& document : documents) {
    std::string text;  // hardly compressible
    while (text.size() < 1500) text += std::to_string(random());
    document.set_text(text);
  }
  const Oracle oracle = BuildSealed(Directory(), documents);
  size_t large_count = 0;
  for (const std::filesystem::path& file : Files(Directory())) {
    const std::string bytes = ReadBytes(file);
    if (bytes.size() < 200'000) continue;
    ++large_count;
    for (int round = 0; round < 20; ++round) {
      std::string damaged = bytes;
      damaged[random() % (bytes.size() / 2)] ^= static_cast<char>(1 << random() % 8);
      WriteBytes(file, damaged);
      const auto store = Serve(Directory());
      neptune::Status status = store.status();
      if (store.ok()) {
        const neptune::Status fetched = CompareWithOracle(**store, oracle, 19);
        EXPECT_TRUE(fetched.ok() || fetched.code() == StatusCode::kDataLoss) << fetched;
        status = (*store)->Verify();
      }
      EXPECT_EQ(status.code(), StatusCode::kDataLoss) << file << ": " << status;
    }
    WriteBytes(file, bytes);
  }
  EXPECT_EQ(large_count, 1u);
}

TEST_P(DocumentStoreConformance, FindsACutFileWhenOpened) {
  const Oracle oracle = BuildSealed(Directory(), RandomDocuments(12, 60));
  std::mt19937_64 random(13);
  size_t found_count = 0;
  for (const std::filesystem::path& file : Files(Directory())) {
    const std::string bytes = ReadBytes(file);
    for (int round = 0; round < 12 && !bytes.empty(); ++round) {
      const size_t size = round == 0 ? bytes.size() - 1 : round == 1 ? 0 : random() % bytes.size();
      WriteBytes(file, bytes.substr(0, size));
      const auto store = Serve(Directory());
      if (!store.ok()) {
        ++found_count;
        EXPECT_EQ(store.status().code(), StatusCode::kDataLoss) << file << ": " << store.status();
      } else {  // a file that does not matter
        EXPECT_TRUE(CompareWithOracle(**store, oracle, 14).ok()) << file << " cut to " << size;
      }
    }
    WriteBytes(file, bytes);
  }
  EXPECT_GE(found_count, 20u);
}

TEST_P(DocumentStoreConformance, FindsALostFileWhenOpened) {
  const Oracle oracle = BuildSealed(Directory(), RandomDocuments(15, 60));
  for (const std::filesystem::path& file : Files(Directory())) {
    const std::string bytes = ReadBytes(file);
    std::filesystem::remove(file);
    const auto store = Serve(Directory());
    if (store.ok()) {
      EXPECT_TRUE(CompareWithOracle(**store, oracle, 16).ok()) << file;
    } else {  // a store whose seal is lost looks unsealed
      EXPECT_TRUE(store.status().code() == StatusCode::kDataLoss ||
                  store.status().code() == StatusCode::kFailedPrecondition)
          << file << ": " << store.status();
    }
    WriteBytes(file, bytes);
  }
}

}  // namespace search::docserver
