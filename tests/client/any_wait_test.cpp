// acquire_options::wait takes any duration and any clock's time_point.
#include <gtest/gtest.h>

#include <chrono>

#include "baton/client.hpp"
#include "bounded.hpp"

namespace baton::client_tests {
namespace {

using namespace std::chrono_literals;

class AnyWait : public testing::Test {
protected:
    std::string url = "memory:" + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
    client first{url};
    client second{url};

    template <typename Wait> std::error_code result(const std::string& name, Wait wait) {
        std::error_code error;
        bounded(second, [&] { return second.acquire(exclusive(name), {.wait = wait}, error).valid(); });
        return error;
    }
};

TEST_F(AnyWait, OfAnyLengthAcquiresAFreeName) {
    EXPECT_FALSE(result("free", std::chrono::duration<int, std::micro>::min()));
    EXPECT_FALSE(result("free", std::chrono::duration<int, std::micro>::max()));
    EXPECT_FALSE(result("free", 0ns));
    EXPECT_FALSE(result("free", 1h));
    EXPECT_FALSE(result("free", std::chrono::hours::max()));
    EXPECT_FALSE(result("free", std::chrono::duration<double>{0.5}));
    EXPECT_FALSE(result("free", std::chrono::steady_clock::time_point::min()));
    EXPECT_FALSE(result("free", std::chrono::steady_clock::time_point::max()));
    EXPECT_FALSE(result("free", std::chrono::system_clock::time_point::min()));
    EXPECT_FALSE(result("free", std::chrono::system_clock::time_point::max()));
    EXPECT_FALSE(result("free", std::chrono::sys_days::max()));
}

TEST_F(AnyWait, InThePastTimesOutOnABusyName) {
    const lease held = first.acquire(exclusive("busy"));
    EXPECT_EQ(result("busy", std::chrono::duration<int, std::micro>::min()), errc::timed_out);
    EXPECT_EQ(result("busy", 1us), errc::timed_out);
    EXPECT_EQ(result("busy", std::chrono::duration<double>{0.002}), errc::timed_out);
    EXPECT_EQ(result("busy", std::chrono::steady_clock::time_point::min()), errc::timed_out);
    EXPECT_EQ(result("busy", std::chrono::system_clock::time_point::min()), errc::timed_out);
    EXPECT_EQ(result("busy", std::chrono::steady_clock::now() + 2ms), errc::timed_out);
    EXPECT_EQ(result("busy", std::chrono::system_clock::now() + 2ms), errc::timed_out);
}

}  // namespace
}  // namespace baton::client_tests
