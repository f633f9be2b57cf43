#include "tools/chaos/log_pipe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace search::chaos {
namespace {

constexpr size_t kTextSizeMax = 1 << 20;

// Writes without waiting; false if the pipe is full.
bool WriteNow(const LogPipe& pipe, const std::string& text) {
  const std::string path = neptune::StrCat("/proc/self/fd/", pipe.descriptor());
  const neptune::Descriptor end(open(path.c_str(), O_WRONLY | O_NONBLOCK));
  return write(end.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

class LogPipeTest : public testing::Test {
 protected:
  LogPipeTest() {
    unlink(file_.c_str());
    auto made = LogPipe::Make(file_);
    EXPECT_TRUE(made.ok()) << made.status();
    pipe_ = *std::move(made);
  }

  const std::string file_ = testing::TempDir() + "/pipe.log";
  std::unique_ptr<LogPipe> pipe_;
};

TEST_F(LogPipeTest, WhatIsLoggedIsInTheFile) {
  EXPECT_TRUE(WriteNow(*pipe_, "a line\n"));
  pipe_.reset();
  EXPECT_EQ(*neptune::ReadFile(file_, kTextSizeMax), "a line\n");
}

TEST_F(LogPipeTest, BlockedPipeTakesNothing) {
  ASSERT_TRUE(pipe_->Block().ok());
  EXPECT_FALSE(WriteNow(*pipe_, "x"));
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(LogPipeTest, NothingIsLostAfterTheBlock) {
  EXPECT_TRUE(WriteNow(*pipe_, "before\n"));
  ASSERT_TRUE(pipe_->Block().ok());
  pipe_->Unblock();
  while (!WriteNow(*pipe_, "after\n")) {
  }
  pipe_.reset();
  const auto text = neptune::ReadFile(file_, kTextSizeMax);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->find("before\n"), 0u);
  EXPECT_TRUE(text->ends_with("\nafter\n"));
}

}  // namespace
}  // namespace search::chaos
