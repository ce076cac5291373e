#include "models/mechanism/calendar.h"

#include <gtest/gtest.h>

#include <vector>

namespace trnsim {
namespace {

std::vector<int> drain(Calendar<int>& calendar) {
  std::vector<int> order;
  while (!calendar.empty()) order.push_back(calendar.pop().payload);
  return order;
}

TEST(Calendar, EarlierEventsComeFirst) {
  Calendar<int> calendar;
  calendar.insert(Time(20), 2);
  calendar.insert(Time(10), 1);
  calendar.insert(Time(30), 3);
  EXPECT_EQ(drain(calendar), (std::vector<int>{1, 2, 3}));
}

TEST(Calendar, OwnEventsOfOneInstantKeepTheirOrderOfInsertion) {
  Calendar<int> calendar;
  for (int i = 0; i < 100; ++i) calendar.insert(Time(5), i);
  const std::vector<int> order = drain(calendar);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Calendar, PostedEventsSortByTheirOrderWhoeverPostedFirst) {
  Calendar<int> forwards;
  Calendar<int> backwards;
  for (int i = 0; i < 10; ++i) forwards.post(Time(5), static_cast<std::uint64_t>(i), i);
  for (int i = 9; i >= 0; --i) backwards.post(Time(5), static_cast<std::uint64_t>(i), i);
  EXPECT_EQ(drain(forwards), drain(backwards));
}

TEST(Calendar, PostedEventsPrecedeOwnEventsOfTheSameInstant) {
  Calendar<int> calendar;
  calendar.insert(Time(5), 1);
  calendar.post(Time(5), 7, 0);
  EXPECT_EQ(drain(calendar), (std::vector<int>{0, 1}));
}

TEST(Calendar, NothingIsScheduledIntoThePast) {
  Calendar<int> calendar;
  calendar.insert(Time(10), 1);
  calendar.pop();
  EXPECT_THROW(calendar.insert(Time(9), 2), InvariantError);
}

}  // namespace
}  // namespace trnsim
