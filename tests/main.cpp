#include <gtest/gtest.h>

#include <cstdlib>
#include <systemc>

// Our main shadows the one in libsystemc; the library still refers to sc_main.
int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}

int main(int argc, char* argv[]) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
