#include "tools/replay/http_reply.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

TEST(HttpReplyTest, ReadsALengthGivenByteByByte) {
  HttpReplyReader reader;
  HttpReply reply;
  const std::string bytes = "HTTP/1.1 200 OK\r\ncontent-length:  5 \r\n\r\nhello";
  for (size_t i = 0; i + 1 < bytes.size(); ++i)
    EXPECT_FALSE(*reader.Feed(bytes.substr(i, 1), &reply));
  ASSERT_TRUE(*reader.Feed("o", &reply));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "hello");
  EXPECT_TRUE(reply.keep_alive);
  EXPECT_FALSE(reader.within_reply());
}

TEST(HttpReplyTest, ReadsChunksAndPassesOverInterimAnswers) {
  HttpReplyReader reader;
  HttpReply reply;
  ASSERT_TRUE(
      *reader.Feed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
                   "chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n3;x\r\nabc\r\n0\r\n\r\n",
                   &reply));
  EXPECT_EQ(reply.body, "helloabc");
  EXPECT_FALSE(reply.keep_alive);
}

TEST(HttpReplyTest, AnAnswerWithoutLengthEndsWithItsConnection) {
  HttpReplyReader reader;
  HttpReply reply;
  EXPECT_FALSE(*reader.Feed("HTTP/1.0 200 OK\r\n\r\nabc", &reply));
  ASSERT_TRUE(reader.FeedEnd(&reply));
  EXPECT_EQ(reply.body, "abc");
  EXPECT_FALSE(reply.keep_alive);
}

TEST(HttpReplyTest, MalformedAnswersAreRefused) {
  for (const char* bytes :
       {"HTTP/2 200 OK\r\n\r\n", "rubbish\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    HttpReplyReader reader;
    HttpReply reply;
    EXPECT_FALSE(reader.Feed(bytes, &reply).ok()) << bytes;
  }
}

}  // namespace
}  // namespace search::tools
