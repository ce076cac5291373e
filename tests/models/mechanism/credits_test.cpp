#include "models/mechanism/credits.h"

#include <gtest/gtest.h>

namespace trnsim {
namespace {

TEST(Credits, AreGoneUntilGivenBack) {
  Credits queue(8);
  EXPECT_TRUE(queue.holds(8));
  queue.take(5);
  EXPECT_TRUE(queue.holds(3));
  EXPECT_FALSE(queue.holds(4));
  queue.give_back(5);
  EXPECT_EQ(queue.free(), 8U);
}

TEST(Credits, ARequestForMoreThanTheQueueIsServedWhenItIsEmpty) {
  Credits queue(8);
  EXPECT_TRUE(queue.holds(100));
  queue.take(100);
  EXPECT_FALSE(queue.holds(1));
  queue.give_back(100);
  EXPECT_EQ(queue.free(), 8U);
  queue.take(1);
  EXPECT_FALSE(queue.holds(100));
}

}  // namespace
}  // namespace trnsim
