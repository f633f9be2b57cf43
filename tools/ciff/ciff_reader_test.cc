#include "tools/ciff/ciff_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tools/ciff/ciff_writer.h"
#include "tools/ciff/document_name.h"

namespace search::tools {
namespace {

using neptune::StatusCode;

class StringSource : public ByteSource {
 public:
  explicit StringSource(std::string bytes) : bytes_(std::move(bytes)) {}

  neptune::StatusOr<size_t> Read(char* buffer, size_t size) override {
    const size_t taken = std::min(size, bytes_.size() - at_);
    std::memcpy(buffer, bytes_.data() + at_, taken);
    at_ += taken;
    return taken;
  }
  uint64_t file_position() const override { return at_; }

 private:
  const std::string bytes_;
  size_t at_ = 0;
};

class StringSink : public FileSink {
 public:
  neptune::Status Write(std::string_view bytes) override {
    text.append(bytes);
    return neptune::OkStatus();
  }
  neptune::Status Commit() override { return neptune::OkStatus(); }

  std::string text;
};

// Encodes with the library's own encoder, independent of ours.
std::string Delimited(const google::protobuf::MessageLite& message) {
  const std::string bytes = message.SerializeAsString();
  EXPECT_LT(bytes.size(), 128U);
  return std::string(1, static_cast<char>(bytes.size())) + bytes;
}

ciff::Header HeaderOf(int lists, int documents) {
  ciff::Header header;
  header.set_version(1);
  header.set_num_postings_lists(lists);
  header.set_num_docs(documents);
  return header;
}

// The numbers are the message's: distances behind the first.
ciff::PostingsList ListOf(const std::string& term, const std::vector<CiffPosting>& postings) {
  ciff::PostingsList list;
  list.set_term(term);
  list.set_df(static_cast<int64_t>(postings.size()));
  for (const CiffPosting& posting : postings) {
    list.set_cf(list.cf() + posting.tf);
    list.add_postings()->set_docid(static_cast<int32_t>(posting.docid));
    list.mutable_postings()->rbegin()->set_tf(static_cast<int32_t>(posting.tf));
  }
  return list;
}

ciff::DocRecord DocumentOf(int docid, const std::string& name, int length) {
  ciff::DocRecord document;
  document.set_docid(docid);
  document.set_collection_docid(name);
  document.set_doclength(length);
  return document;
}

// Three documents, two words.
std::string ToyFile() {
  return Delimited(HeaderOf(2, 3)) + Delimited(ListOf("cat", {{0, 2}, {2, 1}})) +
         Delimited(ListOf("dog", {{1, 5}})) + Delimited(DocumentOf(0, "A", 2)) +
         Delimited(DocumentOf(1, "B", 5)) + Delimited(DocumentOf(2, "C", 1));
}

// Everything in a file as one text, or the error.
neptune::StatusOr<std::string> ReadAll(const std::string& bytes) {
  StringSource source(bytes);
  NEPTUNE_ASSIGN_OR_RETURN(CiffReader reader, CiffReader::Open(&source));
  std::string text;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool found, reader.NextList());
    if (!found) break;
    neptune::StrAppend(&text, reader.term(), ":");
    CiffPosting posting;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader.NextPosting(&posting));
      if (!more) break;
      neptune::StrAppend(&text, " ", posting.docid, "x", posting.tf);
    }
    text += "\n";
  }
  ciff::DocRecord document;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool found, reader.NextDocument(&document));
    if (!found) return text;
    neptune::StrAppend(&text, document.docid(), " ", document.collection_docid(), " ",
                       document.doclength(), "\n");
  }
}

void ExpectDamage(const std::string& bytes, std::string_view message) {
  const auto read = ReadAll(bytes);
  ASSERT_EQ(read.status().code(), StatusCode::kDataLoss) << read.status();
  const std::string found(read.status().message());
  EXPECT_NE(found.find(message), std::string::npos) << found;
  EXPECT_NE(found.find("byte "), std::string::npos) << found;
}

TEST(CiffReaderTest, ReadsWhatProtocolBuffersWrite) {
  const auto read = ReadAll(ToyFile());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, "cat: 0x2 2x1\ndog: 1x5\n0 A 2\n1 B 5\n2 C 1\n");
}

TEST(CiffReaderTest, EveryCutIsNoticed) {
  const std::string bytes = ToyFile();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto read = ReadAll(bytes.substr(0, size));
    if (size == 0) {
      EXPECT_FALSE(read.ok());
    } else {
      EXPECT_EQ(read.status().code(), StatusCode::kDataLoss) << size << ": " << read.status();
    }
  }
}

TEST(CiffReaderTest, EveryChangedBitIsRefusedOrReadable) {
  const std::string bytes = ToyFile();
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    const auto read = ReadAll(changed);
    EXPECT_TRUE(read.ok() || read.status().code() == StatusCode::kDataLoss ||
                read.status().code() == StatusCode::kInvalidArgument)
        << read.status();
  }
}

TEST(CiffReaderTest, RefusesContradictions) {
  const std::string head = Delimited(HeaderOf(1, 3));
  auto list = ListOf("cat", {{0, 2}, {1, 1}});
  list.set_df(3);
  ExpectDamage(head + Delimited(list), "instead of 3");
  list = ListOf("cat", {{0, 2}, {1, 1}});
  list.set_cf(9);
  ExpectDamage(head + Delimited(list), "instead of 9");
  ExpectDamage(head + Delimited(ListOf("cat", {{0, 2}, {0, 1}})), "twice");
  ExpectDamage(head + Delimited(ListOf("cat", {{3, 2}})), "document 3 of 3");
  ExpectDamage(head + Delimited(ListOf("cat", {{0, 0}})), "0 times");
  list = ListOf("cat", {{0, 1}});
  list.mutable_postings(0)->set_tf(-1);
  ExpectDamage(head + Delimited(list), "negative");
  const std::string document_head = Delimited(HeaderOf(0, 1));
  ExpectDamage(document_head + Delimited(DocumentOf(1, "", 0)), "where 0 should be");
  ExpectDamage(document_head + Delimited(DocumentOf(0, "", -1)), "negative length");
  ExpectDamage(ToyFile() + "x", "after the last");
}

TEST(CiffReaderTest, HugeSizesCostNothing) {
  const std::string huge = "\xff\xff\xff\xff\x07";  // 2^31 - 1
  ExpectDamage(Delimited(HeaderOf(1, INT32_MAX)) + huge, "ends inside");
  ExpectDamage(Delimited(HeaderOf(1, 1)) + std::string("\xff\xff\xff\xff\xff\x7f"), "posting list");
  const auto record = ReadAll(huge);
  EXPECT_EQ(record.status().code(), StatusCode::kInvalidArgument) << record.status();
}

TEST(CiffReaderTest, RefusesOtherVersions) {
  auto header = HeaderOf(0, 0);
  header.set_version(2);
  EXPECT_EQ(ReadAll(Delimited(header)).status().code(), StatusCode::kInvalidArgument);
}

TEST(CiffReaderTest, SkipsUnknownFields) {
  // In the list field 9 (a number) before the posting, in the posting field 15 (4 bytes).
  const std::string posting = std::string("\x10\x02\x7d", 3) + "abcd";
  const std::string list = std::string("\x0a\x01") + "a" + std::string("\x10\x01\x18\x02\x48\x05") +
                           "\x22" + static_cast<char>(posting.size()) + posting;
  const auto read = ReadAll(Delimited(HeaderOf(1, 1)) + static_cast<char>(list.size()) + list +
                            Delimited(DocumentOf(0, "A", 2)));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, "a: 0x2\n0 A 2\n");
}

TEST(CiffWriterTest, WritesWhatProtocolBuffersWrite) {
  StringSink sink;
  CiffWriter writer(&sink);
  ASSERT_TRUE(writer.WriteHeader(HeaderOf(2, 3)).ok());
  CiffPostings postings;
  postings.Add({0, 2});
  postings.Add({2, 1});
  ASSERT_TRUE(writer.WriteList("cat", postings).ok());
  postings.Clear();
  postings.Add({1, 5});
  ASSERT_TRUE(writer.WriteList("dog", postings).ok());
  ASSERT_TRUE(writer.WriteDocument(DocumentOf(0, "A", 2)).ok());
  ASSERT_TRUE(writer.WriteDocument(DocumentOf(1, "B", 5)).ok());
  ASSERT_TRUE(writer.WriteDocument(DocumentOf(2, "C", 1)).ok());
  EXPECT_EQ(sink.text, ToyFile());
}

TEST(DocumentNameTest, NamesAndAddressesUndoEachOther) {
  for (const std::string name : {"FBIS3-1", "http://a.example/x", "doc:p/q", "id:odd:x"}) {
    EXPECT_EQ(NameOfAddress(AddressOfName(name)), name);
  }
}

}  // namespace
}  // namespace search::tools
