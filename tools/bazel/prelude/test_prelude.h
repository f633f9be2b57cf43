// The prelude of tests: that of other files, and GoogleTest.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/bazel/prelude/prelude.h"
