// The C library's streams over descriptors of user-level threads: they park where they would block.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "neptune/interpose/user_threads.h"

namespace neptune::interpose {
namespace {

TEST(StreamTest, LinesOfAPipeAreWaitedFor) {
  UserThreads threads;
  int ends[2];
  std::string lines;
  threads.Run({[&] {
                 ASSERT_EQ(pipe(ends), 0);
                 std::FILE* const stream = fdopen(ends[0], "r");
                 ASSERT_NE(stream, nullptr);
                 EXPECT_EQ(fileno(stream), ends[0]);
                 char line[64];
                 while (std::fgets(line, sizeof(line), stream) != nullptr) lines += line;
                 EXPECT_TRUE(std::feof(stream));
                 EXPECT_EQ(std::fclose(stream), 0);
                 EXPECT_EQ(close(ends[0]), -1) << "closed with its stream";
               },
               [&] {
                 std::FILE* const stream = fdopen(ends[1], "w");
                 for (int i = 0; i < 3; ++i) {
                   EXPECT_EQ(std::fprintf(stream, "line %d\n", i), 7);
                   EXPECT_EQ(std::fflush(stream), 0);
                   this_thread::Yield();
                 }
                 EXPECT_EQ(std::fclose(stream), 0);
               }});
  EXPECT_EQ(lines, "line 0\nline 1\nline 2\n");
}

TEST(StreamTest, MoreThanThePipeHoldsIsWritten) {
  UserThreads threads;
  int ends[2];
  const std::string sent(1 << 20, 's');
  std::string received(sent.size(), ' ');
  threads.Run({[&] {
                 ASSERT_EQ(pipe(ends), 0);
                 std::FILE* const stream = fdopen(ends[1], "w");
                 EXPECT_EQ(std::fwrite(sent.data(), 1, sent.size(), stream), sent.size());
                 EXPECT_EQ(std::fclose(stream), 0);
               },
               [&] {
                 std::FILE* const stream = fdopen(ends[0], "r");
                 EXPECT_EQ(std::fread(received.data(), 1, received.size(), stream), sent.size());
                 EXPECT_EQ(std::fclose(stream), 0);
               }});
  EXPECT_EQ(received, sent);
}

TEST(StreamTest, OtherDescriptorsHaveTheirOrdinaryStreams) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  UserThreads threads;
  threads.Run({[&] {
    std::FILE* const stream = fdopen(ends[1], "w");
    EXPECT_EQ(fileno(stream), ends[1]);
    EXPECT_EQ(std::fclose(stream), 0);
    std::FILE* const memory = fmemopen(nullptr, 10, "w+");
    errno = 0;
    EXPECT_EQ(fileno(memory), -1);
    EXPECT_EQ(errno, EBADF);
    std::fclose(memory);
  }});
  close(ends[0]);
}

}  // namespace
}  // namespace neptune::interpose
